//! Which layouts a campaign has, and what each round is given.

use std::fs;

use super::*;
use crate::plan::tests::plan;

const TWO: &str = "(module (func $a) (func $b))";

/// A plan of one program whose builds are a module and a native program with so many links.
fn built(folder: &Path, module: &str, others: u32) -> Plan {
    let mut plan = plan(&["gemm"]);
    let paths = [folder.join("gemm.wasm"), folder.join("gemm")];
    fs::write(&paths[0], wat::parse_str(module).unwrap()).unwrap();
    fs::write(&paths[1], "0").unwrap();
    let links = folder.join(".layouts/gemm");
    fs::create_dir_all(&links).unwrap();
    (1..=others).for_each(|at| fs::write(links.join(at.to_string()), at.to_string()).unwrap());
    for (task, path) in plan.tasks.iter_mut().zip(paths) {
        task.artifact = path;
    }
    plan.tasks[1].cell.variant = Variant::Native;
    plan
}

#[test]
fn modules_are_shuffled_and_native_programs_linked_anew() {
    let temp = tempfile::tempdir().unwrap();
    let mut plan = built(temp.path(), TWO, 3);
    let layouts = varied(&plan);
    assert_eq!(
        layouts,
        [(Variant::Wasm, ANEW), (Variant::Native, 4)].into()
    );
    plan.config.layouts = layouts;

    let module = artifact(&plan, &plan.tasks[0], 0, temp.path()).unwrap();
    assert_eq!(module, temp.path().join("shuffled/gemm.wasm"));
    let native = |round| {
        let path = artifact(&plan, &plan.tasks[1], round, temp.path()).unwrap();
        fs::read_to_string(path).unwrap()
    };
    let mut four: Vec<String> = (0..4).map(native).collect();
    assert_eq!(native(5), four[1], "and again from the first");
    four.sort();
    assert_eq!(four, ["0", "1", "2", "3"], "each of them once");
}

#[test]
fn all_modules_of_a_campaign_are_shuffled_or_none() {
    let temp = tempfile::tempdir().unwrap();
    let mut plan = built(temp.path(), TWO, 0);
    let single = temp.path().join("single.wasm");
    fs::write(&single, wat::parse_str("(module (func))").unwrap()).unwrap();
    plan.tasks[1].cell.variant = Variant::Wasm;
    plan.tasks[1].artifact = single;
    assert_eq!(varied(&plan), [(Variant::Wasm, 1)].into());
}

#[test]
fn what_was_compiled_before_or_is_old_keeps_its_layout() {
    let temp = tempfile::tempdir().unwrap();
    let mut plan = built(temp.path(), TWO, 2);
    for task in &plan.tasks {
        let same = artifact(&plan, task, 0, temp.path()).unwrap();
        assert_eq!(
            same, task.artifact,
            "a campaign that says nothing of layouts"
        );
    }
    plan.tasks[0].is_cached = true;
    assert_eq!(varied(&plan)[&Variant::Wasm], 1);
}
