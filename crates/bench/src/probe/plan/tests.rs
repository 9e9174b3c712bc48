//! What a plan of calls must cover.

use super::super::model::specified;
use super::*;

#[test]
fn every_module_is_valid() {
    let edges = (0..STAGES.len()).map(|number| scenario(specified, number));
    let random = [Index::I32, Index::I64].map(|index| random(specified, index, 1, 100));
    for Scenario { module, steps, .. } in edges.chain(random) {
        let mut validator = wasmparser::Validator::new();
        validator.validate_all(&module).unwrap();
        let names: BTreeSet<_> = exports(&module);
        for step in &steps {
            assert!(names.contains(&step.call.export), "{}", step.call.export);
        }
    }
}

fn exports(module: &[u8]) -> BTreeSet<String> {
    let payloads = wasmparser::Parser::new(0).parse_all(module);
    payloads
        .filter_map(|payload| match payload.unwrap() {
            wasmparser::Payload::ExportSection(exports) => Some(exports),
            _ => None,
        })
        .flatten()
        .map(|export| export.unwrap().name.to_owned())
        .collect()
}

#[test]
fn both_sides_of_every_edge_are_tried() {
    let steps = scenario(specified, 1).steps;
    for op in op::ALL {
        for offset in [0, 1, 1 << 16] {
            let tried = |outside| {
                steps.iter().any(|step| {
                    matches!(&step.what, What::Access(access)
                        if access.outside == outside
                        && matches!(access.text, AccessText::Plain(name, o, _)
                            if name == op.name && o == offset))
                })
            };
            assert!(tried(true) && tried(false), "{} {offset}", op.name);
        }
    }
}

#[test]
fn a_violation_is_easy_to_read() {
    let access = Access {
        text: AccessText::Plain("i64.load", 65_536, 0xffff_fff8),
        pages: 1,
        outside: true,
        stores: None,
    };
    assert_eq!(
        access.to_string(),
        "i64.load offset=65536 at address 0xfffffff8, memory of 1 page"
    );
}
