//! What the recorder sees of what the host does, and what it leaves as it is.

use std::fs;

use super::{Case, cases, fathom, has_the_hosts_own_answer, text, with_node};

#[test]
fn what_the_recorder_did_not_see_is_found_out() {
    with_node(|_| {
        let case = Case::new("far");
        let record = |compare: &str| {
            let words = ["record", "--compare", compare, "--", "node", &case.script];
            case.fathom(&[&words[..], &["app.wasm", "far"]].concat())
        };
        let near = record("near");
        assert_eq!(near.status.code(), Some(1));
        let said = text(&near.stderr);
        assert!(said.trim_end().ends_with("; try --compare all"), "{said}");
        let lately = text(&record("lately").stderr);
        assert!(lately.contains("try --compare near, or all"), "{lately}");
        assert!(!case.path().join("app.record").exists());
        let all = record("all");
        assert_eq!(all.status.code(), Some(0), "{}", text(&all.stderr));
    });
}

#[test]
fn what_is_written_lately_is_seen() {
    with_node(|_| {
        // What `far` does is seen nowhere but in all of a memory.
        for name in cases().iter().filter(|name| *name != "far") {
            let case = Case::new(name);
            let words = "record --instance 1 --compare lately -- node";
            let words = words.split(' ').chain([&*case.script, "app.wasm"]);
            let recorded = case.fathom(&words.collect::<Vec<_>>());
            assert!(
                recorded.status.success(),
                "{name}: {}",
                text(&recorded.stderr)
            );
            has_the_hosts_own_answer(&case, name);
        }
    });
}

#[test]
fn what_is_not_recorded_is_given_what_it_asks_for() {
    const SHARED: &str = r#"(module (import "env" "memory" (memory 1 1 shared))
        (import "got" "late" (func $late (result i32)))
        (func (export "run") (result i32) (call $late)))"#;
    // Its imports come to be when they are asked for, as those of dynamic linking do.
    const SCRIPT: &str =
        "const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
        const got = new Proxy({}, { get: () => () => 42 });
        const made = new WebAssembly.Module(require('fs').readFileSync('app.wasm'));
        const given = Object.freeze({ env: Object.freeze({ memory }), got });
        console.log('came to', new WebAssembly.Instance(made, given).exports.run());";
    with_node(|_| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("app.wasm"),
            wat::parse_str(SHARED).unwrap(),
        )
        .unwrap();
        fs::write(folder.path().join("app.cjs"), SCRIPT).unwrap();
        let output = fathom(folder.path(), &["record", "--", "node", "app.cjs"]);
        assert_eq!(
            text(&output.stdout),
            "came to 42\n",
            "{}",
            text(&output.stderr)
        );
        assert!(text(&output.stderr).contains("shared between threads"));
    });
}

#[test]
fn what_is_said_is_said_of_the_largest_module() {
    const SCRIPT: &str = "const fs = require('fs');
        for (const name of ['small', 'large', 'other']) {
          new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(name + '.wasm')));
        }";
    with_node(|_| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let padded = format!("(memory 1 1 shared) (data \"{}\")", "x".repeat(500));
        for (name, text) in [
            ("small", "(type (struct)) (memory 1)"),
            ("large", &padded),
            ("other", "(type (struct)) (memory 1)"),
        ] {
            let wasm = wat::parse_str(format!("(module {text})")).unwrap();
            fs::write(path.join(format!("{name}.wasm")), wasm).unwrap();
        }
        fs::write(path.join("app.cjs"), SCRIPT).unwrap();
        let output = fathom(path, &["record", "--", "node", "app.cjs"]);
        let said = text(&output.stderr);
        let cause = "fathom: nothing was recorded: its memory is shared between threads\n";
        assert_eq!(said, cause);
    });
}

#[test]
fn two_recordings_of_one_program_are_equal() {
    with_node(|_| {
        for name in ["memories", "tables"] {
            let case = Case::new(name);
            let both = ["one.record", "two.record"].map(|file| {
                assert!(case.record(file).status.success());
                fs::read(case.path().join(file)).unwrap()
            });
            assert_eq!(both[0], both[1], "{name}");
        }
    });
}
