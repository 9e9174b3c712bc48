//! DWARF that is made to take for ever, or all memory.

use gimli::constants as dw;

use super::*;

/// A unit of version 4 with this abbreviation table and these entries.
fn unit(abbreviations: Vec<u8>, entries: &[u8]) -> Vec<Section> {
    let mut info = vec![4, 0, 0, 0, 0, 0, 4];
    info.extend(entries);
    let mut whole = (info.len() as u32).to_le_bytes().to_vec();
    whole.extend(info);
    vec![
        (".debug_abbrev".to_owned(), abbreviations),
        (".debug_info".to_owned(), whole),
    ]
}

/// An abbreviation: its number, tag, whether it has children, and attributes with their forms.
fn abbreviation(code: u8, tag: dw::DwTag, attributes: &[(dw::DwAt, dw::DwForm)]) -> Vec<u8> {
    let mut bytes = vec![code, tag.0 as u8, 1];
    for (name, form) in attributes {
        leb128(&mut bytes, usize::from(name.0));
        leb128(&mut bytes, usize::from(form.0));
    }
    bytes.extend([0, 0]);
    bytes
}

const ROOT: dw::DwTag = dw::DW_TAG_compile_unit;
const INLINED: dw::DwTag = dw::DW_TAG_inlined_subroutine;

/// Addresses 0x10 to 0x30, as a unit's or a function's attributes.
const RANGE: [(dw::DwAt, dw::DwForm); 2] = [
    (dw::DW_AT_low_pc, dw::DW_FORM_addr),
    (dw::DW_AT_high_pc, dw::DW_FORM_data1),
];
const RANGE_BYTES: [u8; 5] = [0x10, 0, 0, 0, 0x20];

/// A line program of version 4 with a file `a.c`, at 0x10.
fn program(instructions: &[u8]) -> Section {
    let header = b"\x01\x01\x01\xfb\x0e\x0d\0\x01\x01\x01\x01\0\0\0\x01\0\0\x01\0a.c\0\0\0\0\0";
    let start = [0, 5, 2, 0x10, 0, 0, 0];
    let mut rest = vec![4, 0];
    rest.extend((header.len() as u32).to_le_bytes());
    rest.extend(header);
    rest.extend(start);
    rest.extend(instructions);
    let mut whole = (rest.len() as u32).to_le_bytes().to_vec();
    whole.extend(rest);
    (".debug_line".to_owned(), whole)
}

/// The abbreviations and entries of a unit with lines.
fn with_lines() -> (Vec<u8>, Vec<u8>) {
    let attributes = [
        RANGE[0],
        RANGE[1],
        (dw::DW_AT_stmt_list, dw::DW_FORM_sec_offset),
    ];
    let mut entries = vec![1];
    entries.extend(RANGE_BYTES);
    entries.extend([0; 4]);
    (abbreviation(1, ROOT, &attributes), entries)
}

/// What is told of address 0x18, in so many steps.
fn within(sections: &[Section], steps: u64) -> (Vec<FrameSymbol>, Option<NoSymbols>) {
    let wasm = module(sections);
    let symbols = DebugInfo::of(&wasm).unwrap().within([CODE + 0x18], steps);
    (symbols.at(CODE + 0x18).to_vec(), symbols.trouble().cloned())
}

/// A row at 0x10, and the end at 0x30.
const ROW: [u8; 1] = [1];
const END: [u8; 5] = [2, 0x20, 0, 1, 1];

#[test]
fn calls_that_are_nested_for_ever_have_an_end() {
    let (mut abbreviations, mut entries) = with_lines();
    abbreviations.extend(abbreviation(2, INLINED, &RANGE));
    abbreviations.push(0);
    for _ in 0..200_000 {
        entries.push(2);
        entries.extend(RANGE_BYTES);
    }
    let mut sections = unit(abbreviations, &entries);
    sections.push(program(&[&ROW[..], &END].concat()));
    let (symbols, trouble) = within(&sections, STEPS_MAX);
    assert_eq!(symbols.len(), 1 + crate::facts::source::INLINED_MAX);
    // They are not closed.
    assert!(
        matches!(trouble, Some(NoSymbols::Damaged(_)) | None),
        "{trouble:?}"
    );
}

#[test]
fn a_name_that_refers_to_itself_is_none() {
    let (mut abbreviations, mut entries) = with_lines();
    let origin = (dw::DW_AT_abstract_origin, dw::DW_FORM_ref4);
    abbreviations.extend(abbreviation(2, INLINED, &[RANGE[0], RANGE[1], origin]));
    abbreviations.push(0);
    // From the start of the unit, behind its header.
    let own = 11 + entries.len() as u32;
    entries.push(2);
    entries.extend(RANGE_BYTES);
    entries.extend(own.to_le_bytes());
    entries.extend([0, 0]);
    let mut sections = unit(abbreviations, &entries);
    sections.push(program(&[&ROW[..], &END].concat()));
    let (symbols, trouble) = within(&sections, STEPS_MAX);
    assert_eq!((symbols.len(), trouble), (2, None));
    assert_eq!(symbols[0].name(), None);
    assert_eq!(symbols[0].file(), Some("a.c"));
}

/// A byte of an entry stands for thousands of attributes without any.
#[test]
fn attributes_without_a_byte_cost_steps() {
    let flag = (dw::DW_AT_external, dw::DW_FORM_flag_present);
    let (mut abbreviations, mut entries) = with_lines();
    abbreviations.extend(abbreviation(2, dw::DW_TAG_variable, &vec![flag; 10_000]));
    abbreviations.push(0);
    entries.extend(vec![2; 100_000]);
    let mut sections = unit(abbreviations, &entries);
    sections.push(program(&[&ROW[..], &END].concat()));
    let (symbols, trouble) = within(&sections, 1 << 20);
    assert_eq!(trouble, Some(NoSymbols::TooMuch));
    // What was read before is right, and told.
    assert_eq!(symbols.len(), 1);
}

#[test]
fn programs_of_lines_without_end_cost_steps() {
    // Copies, of which each is a row; files that are added; and a program that goes nowhere.
    let file = [0, 6, 3, b'x', 0, 0, 0, 0];
    for instruction in [&[1][..], &file, &[6]] {
        let (mut abbreviations, entries) = with_lines();
        abbreviations.push(0);
        let mut sections = unit(abbreviations, &entries);
        sections.push(program(&instruction.repeat(1 << 20)));
        let (_, trouble) = within(&sections, 1 << 18);
        assert_eq!(trouble, Some(NoSymbols::TooMuch), "{instruction:?}");
        within(&sections, STEPS_MAX);
    }
}

/// What is kept of a unit is a table of its files, of which there may be so many.
#[test]
fn a_table_of_files_may_only_be_so_long() {
    let (mut abbreviations, entries) = with_lines();
    abbreviations.push(0);
    let mut sections = unit(abbreviations, &entries);
    let (name, mut lines) = program(&[&ROW[..], &END].concat());
    // Before the table's end, and the program.
    let at = lines.len() - ROW.len() - END.len() - 7 - 1;
    let files = b"a\0\0\0\0".repeat(1 << 19);
    lines.splice(at..at, files.iter().copied());
    let grown = files.len() as u32;
    for field in [0, 6] {
        let old = u32::from_le_bytes(lines[field..field + 4].try_into().unwrap());
        lines[field..field + 4].copy_from_slice(&(old + grown).to_le_bytes());
    }
    sections.push((name, lines));
    assert_eq!(
        within(&sections, STEPS_MAX),
        (Vec::new(), Some(NoSymbols::TooMuch))
    );
}

/// Thousands of units have one table of abbreviations, which each of them reads.
#[test]
fn units_that_share_a_table_cost_what_they_read() {
    let flag = (dw::DW_AT_external, dw::DW_FORM_flag_present);
    let mut abbreviations = abbreviation(1, ROOT, &vec![flag; 10_000]);
    abbreviations.push(0);
    let mut sections = unit(abbreviations, &[1]);
    sections[1].1 = sections[1].1.repeat(10_000);
    assert_eq!(within(&sections, 1 << 20).1, Some(NoSymbols::TooMuch));
}

#[test]
fn ranges_that_end_beyond_all_addresses_end_there() {
    let range = [RANGE[0], (dw::DW_AT_high_pc, dw::DW_FORM_data8)];
    let mut abbreviations = abbreviation(1, ROOT, &range);
    abbreviations.push(0);
    let entries = [&[1, 0x10, 0, 0, 0][..], &[0xff; 8], &[0]].concat();
    let (symbols, trouble) = within(&unit(abbreviations, &entries), STEPS_MAX);
    assert_eq!((symbols.len(), trouble), (0, None));
}

#[test]
fn a_path_without_end_is_none() {
    let (mut abbreviations, entries) = with_lines();
    abbreviations.push(0);
    let mut sections = unit(abbreviations, &entries);
    let (name, mut lines) = program(&[&ROW[..], &END].concat());
    let at = lines.windows(3).position(|three| three == b"a.c").unwrap();
    let long = vec![b'x'; 1 << 16];
    lines.splice(at..at, long.iter().copied());
    for field in [0, 6] {
        let old = u32::from_le_bytes(lines[field..field + 4].try_into().unwrap());
        lines[field..field + 4].copy_from_slice(&(old + (1 << 16)).to_le_bytes());
    }
    sections.push((name, lines));
    let (symbols, trouble) = within(&sections, STEPS_MAX);
    assert_eq!((symbols[0].file(), trouble), (None, None));
}
