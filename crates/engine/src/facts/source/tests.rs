//! Modules whose DWARF is made here: right, damaged, and made to be dear.

#[path = "../../../tests/common/dwarf.rs"]
mod dwarf;
mod hostile;

use super::{DebugInfo, FrameSymbol, NoSymbols, STEPS_MAX};
use dwarf::{CODE, Section, leb128, module, sections};

/// As `name file:line:column`, innermost first.
fn told(wasm: &[u8], address: u32) -> Vec<String> {
    let debug = DebugInfo::of(wasm).expect("it has DWARF");
    let symbols = debug.symbols([CODE + address]);
    assert_eq!(symbols.trouble(), None);
    symbols.at(CODE + address).iter().map(shown).collect()
}

fn shown(symbol: &FrameSymbol) -> String {
    let number = |number: Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
    format!(
        "{} {}:{}:{}",
        symbol.name().unwrap_or("-"),
        symbol.file().unwrap_or("-"),
        number(symbol.line()),
        number(symbol.column()),
    )
}

#[test]
fn each_version_and_width_of_addresses_tells_the_same() {
    for (version, address_size) in [(4, 4), (4, 8), (5, 4), (5, 8)] {
        let wasm = module(&sections(version, address_size));
        let told = |address| told(&wasm, address);
        assert!(told(15).is_empty() && told(48).is_empty());
        assert_eq!(told(16), ["outer /home/me/src/a.c:8:-"]);
        let inlined = "outer /home/me/src/a.c:9:3";
        assert_eq!(told(24), ["inner /home/me/src/a.c:4:12", inlined]);
        assert_eq!(told(28), [inlined]);
        assert_eq!(told(36), ["inner /home/me/src/a.c:9:3", inlined]);
        assert_eq!(told(44), ["outer /home/me/src/a.c:-:5"]);
    }
}

#[test]
fn many_places_are_as_one_at_a_time() {
    let wasm = module(&sections(5, 4));
    let symbols = DebugInfo::of(&wasm).unwrap().symbols(0..200);
    for address in 0..60 {
        let together = symbols.at(CODE + address).iter().map(shown);
        assert_eq!(together.collect::<Vec<_>>(), told(&wasm, address));
    }
}

#[test]
fn what_has_none_or_has_it_elsewhere_says_so() {
    assert!(DebugInfo::of(&module(&[])).is_none());
    assert!(DebugInfo::of(b"\0asm").is_none());
    assert!(DebugInfo::of(b"").is_none());
    let trouble = |name: &str, data: &[u8]| {
        let wasm = module(&[(name.to_owned(), data.to_vec())]);
        let symbols = DebugInfo::of(&wasm).map(|debug| debug.symbols([CODE + 20]));
        symbols.and_then(|symbols| symbols.trouble().cloned())
    };
    assert_eq!(
        trouble("external_debug_info", b"\x06a.dwp\n"),
        Some(NoSymbols::Elsewhere("a.dwp\n".to_owned()))
    );
    let name = ".zdebug_info";
    assert_eq!(
        trouble(name, b"ZLIB"),
        Some(NoSymbols::Compressed(name.to_owned()))
    );
    assert_eq!(trouble("name", b""), None);
    assert!(matches!(
        trouble(".debug_info", b"\x01\x02\x03\x04\x05"),
        Some(NoSymbols::Damaged(_))
    ));
}

/// Functions that begin or end elsewhere than DWARF says are other ones.
#[test]
fn what_is_of_other_code_is_not_told() {
    let wasm = module(&sections(4, 4));
    for change in [&[][..], &[12, 33], &[15, 30]] {
        let at = CODE as usize + 1;
        let mut changed = wasm.clone();
        if let [first, second] = change {
            changed[at] = *first;
            changed[at + 14] = 0;
            changed[at + 1 + usize::from(*first)] = *second;
        }
        let symbols = DebugInfo::of(&changed).unwrap().symbols([CODE + 24]);
        let trouble = (!change.is_empty()).then_some(&NoSymbols::Stale);
        assert_eq!(symbols.trouble(), trouble, "{change:?}");
        assert_eq!(symbols.at(CODE + 24).is_empty(), trouble.is_some());
    }
}

/// What is still told of a place is told by what is still there.
#[test]
fn what_is_cut_off_or_damaged_is_an_error_at_worst() {
    for version in [4, 5] {
        let whole = sections(version, 4);
        for (section, (_, data)) in whole.iter().enumerate() {
            for at in 0..data.len() {
                let mut cut = whole.clone();
                cut[section].1.truncate(at);
                read(&module(&cut));
                for bit in 0..8 {
                    let mut changed = whole.clone();
                    changed[section].1[at] ^= 1 << bit;
                    read(&module(&changed));
                }
            }
        }
        let wasm = module(&whole);
        for end in 0..wasm.len() {
            read(&wasm[..end]);
        }
    }
}

fn read(wasm: &[u8]) {
    if let Some(debug) = DebugInfo::of(wasm) {
        let symbols = debug.symbols(0..100);
        (0..100).for_each(|at| assert!(symbols.at(at).len() <= super::INLINED_MAX + 1));
    }
}
