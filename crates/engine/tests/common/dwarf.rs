//! Modules whose DWARF is made by a library.

use gimli::write::{
    Address, AttributeValue as Value, DwarfUnit, EndianVec, LineProgram, LineString, Range,
    RangeList, Sections, UnitEntryId,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, constants as dw};

/// Two functions. The contents of the code section begin at 21; the second one's body is from 16
/// to 48 of them.
const MODULE: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x03\x02\0\0\x0a\x30\x02\x0d";
pub const CODE: u32 = 21;

/// A custom section: its name and what is in it.
pub type Section = (String, Vec<u8>);

/// A module with these custom sections.
pub fn module(sections: &[Section]) -> Vec<u8> {
    let mut wasm = MODULE.to_vec();
    wasm.extend([0; 13]);
    wasm.push(32);
    wasm.extend([0; 32]);
    for (name, data) in sections {
        wasm.push(0);
        leb128(&mut wasm, 1 + name.len() + data.len());
        wasm.push(u8::try_from(name.len()).unwrap());
        wasm.extend(name.as_bytes());
        wasm.extend(data);
    }
    wasm
}

/// A number, as WebAssembly and DWARF have it.
pub fn leb128(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn address(at: u64) -> Value {
    Value::Address(Address::Constant(at))
}

/// `outer` at 16 to 48, in which `inner` is inlined at 24 to 40 with a hole; both of `a.c`.
pub fn sections(version: u16, address_size: u8) -> Vec<Section> {
    let encoding = Encoding {
        format: Format::Dwarf32,
        version,
        address_size,
    };
    let mut dwarf = DwarfUnit::new(encoding);
    let (program, file) = lines(encoding);
    dwarf.unit.line_program = program;
    let root = dwarf.unit.root();
    let entry = |dwarf: &mut DwarfUnit, parent, tag, attributes: Vec<(dw::DwAt, Value)>| {
        let id: UnitEntryId = dwarf.unit.add(parent, tag);
        for (name, value) in attributes {
            dwarf.unit.get_mut(id).set(name, value);
        }
        id
    };
    let length = Value::Udata(32);
    for (name, value) in [
        (dw::DW_AT_comp_dir, Value::String(b"/home/me".to_vec())),
        (dw::DW_AT_low_pc, address(16)),
        (dw::DW_AT_high_pc, length.clone()),
    ] {
        dwarf.unit.get_mut(root).set(name, value);
    }
    let inner = vec![(dw::DW_AT_name, Value::String(b"inner".to_vec()))];
    let inner = entry(&mut dwarf, root, dw::DW_TAG_subprogram, inner);
    let outer = vec![
        (dw::DW_AT_name, Value::String(b"outer".to_vec())),
        (dw::DW_AT_low_pc, address(16)),
        (dw::DW_AT_high_pc, length),
    ];
    let outer = entry(&mut dwarf, root, dw::DW_TAG_subprogram, outer);
    // From where the unit begins.
    let parts = [8, 20].map(|begin| Range::OffsetPair {
        begin,
        end: begin + 4,
    });
    let parts = dwarf.unit.ranges.add(RangeList(parts.to_vec()));
    let call = vec![
        (dw::DW_AT_abstract_origin, Value::UnitRef(inner)),
        (dw::DW_AT_ranges, Value::RangeListRef(parts)),
        (dw::DW_AT_call_file, Value::FileIndex(Some(file))),
        (dw::DW_AT_call_line, Value::Udata(9)),
        (dw::DW_AT_call_column, Value::Udata(3)),
    ];
    entry(&mut dwarf, outer, dw::DW_TAG_inlined_subroutine, call);
    let mut written = Sections::new(EndianVec::new(LittleEndian));
    dwarf.write(&mut written).unwrap();
    let mut sections = Vec::new();
    let each = written.for_each(|id, data| {
        if !data.slice().is_empty() {
            sections.push((id.name().to_owned(), data.slice().to_vec()));
        }
        Ok::<_, gimli::write::Error>(())
    });
    each.unwrap();
    sections
}

/// Lines 8, 4, 9 and none from 16, 24, 28 and 44 on.
fn lines(encoding: Encoding) -> (LineProgram, gimli::write::FileId) {
    let string = |text: &str| LineString::String(text.into());
    let (folder, name) = (string("/home/me"), string("a.c"));
    let mut program = LineProgram::new(encoding, LineEncoding::default(), folder, None, name, None);
    let folder = program.add_directory(string("src"));
    let file = program.add_file(string("a.c"), folder, None);
    program.begin_sequence(Some(Address::Constant(16)));
    for (offset, line, column) in [(0, 8, 0), (8, 4, 12), (12, 9, 3), (28, 0, 5)] {
        let row = program.row();
        row.address_offset = offset;
        row.file = file;
        row.line = line;
        row.column = column;
        program.generate_row();
    }
    program.end_sequence(32);
    (program, file)
}
