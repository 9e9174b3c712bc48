//! What a plan of calls must cover.

use super::super::model::specified;
use super::*;

#[test]
fn every_module_is_valid() {
    let edges = (0..STAGES.len()).map(|number| scenario(specified, number, Instructions::All));
    let random =
        [Index::I32, Index::I64].map(|index| random(specified, index, Instructions::All, 1, 100));
    for Scenario { module, steps, .. } in edges.chain(random) {
        let mut validator = wasmparser::Validator::new();
        validator.validate_all(&module).unwrap();
        let names: BTreeSet<_> = exports(&module);
        for step in &steps {
            assert!(names.contains(&step.call.export), "{}", step.call.export);
        }
    }
}

/// Modules of fewer instructions are valid without the features those need, and
/// still try every other access.
#[test]
fn modules_of_fewer_instructions_need_no_more() {
    use wasmparser::WasmFeatures as Needs;
    let mvp = Needs::WASM1;
    let cases = [
        (Instructions::Mvp, mvp, false, false),
        (
            Instructions::CopyAndFill,
            mvp | Needs::BULK_MEMORY,
            true,
            false,
        ),
        (Instructions::Scalar, mvp | Needs::BULK_MEMORY, true, true),
    ];
    for (instructions, features, copies, drops) in cases {
        for number in [0, 1, 2] {
            let Scenario { module, steps, .. } = scenario(specified, number, instructions);
            let mut validator = wasmparser::Validator::new_with_features(features);
            validator.validate_all(&module).unwrap();
            let names = exports(&module);
            for step in &steps {
                assert!(names.contains(&step.call.export), "{}", step.call.export);
            }
            assert!(names.contains("i32.load8_u@0") && !names.contains("v128.load@0"));
            assert_eq!(names.contains("copy") && names.contains("fill"), copies);
            assert_eq!(names.contains("init") && names.contains("drop"), drops);
            let has_segment = wasmparser::Parser::new(0)
                .parse_all(&module)
                .any(|payload| matches!(payload, Ok(wasmparser::Payload::DataSection(_))));
            assert_eq!(has_segment, drops);
        }
        let random = random(specified, Index::I32, instructions, 1, 1000);
        let vector = |step: &Step| step.call.export.starts_with("v128");
        assert!(!random.steps.iter().any(vector));
    }
}

/// So that an engine that traps there needlessly is not taken to leave its memory
/// for what it did not write.
#[test]
fn what_a_bulk_instruction_may_have_written_is_restored() {
    let number = |text: &String| match text.parse() {
        Ok(WireValue::I32(bits)) => u64::from(bits),
        other => panic!("{text}: {other:?}"),
    };
    let mut wide = 0;
    for place in [1, 4] {
        let plan = scenario(specified, place, Instructions::All);
        for (at, step) in plan.steps.iter().enumerate() {
            let is_bulk = ["fill", "copy"].contains(&step.call.export.as_str());
            if !is_bulk || step.wanted.is_trap() {
                continue;
            }
            let (to, count) = (number(&step.call.args[0]), number(&step.call.args[2]));
            let mut left: BTreeSet<u64> = (to..to + count).collect();
            let after = plan.steps[at + 1..].iter();
            for tool in after.take_while(|step| step.call.export == "restore") {
                for range in tool.call.args.chunks(2) {
                    let start = number(&range[0]);
                    left.retain(|byte| !(start..start + number(&range[1])).contains(byte));
                }
            }
            assert!(left.is_empty(), "{:?}: {:?}…", step.call, left.first());
            wide += u64::from(count > 64);
        }
    }
    assert!(wide > 10, "{wide}");
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
    let steps = scenario(specified, 1, Instructions::All).steps;
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
