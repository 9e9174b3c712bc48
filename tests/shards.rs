//! `fathom bench --shard` on a suite made here: what each shard measures, what it keeps of
//! the whole, and how it goes on where no scheduler started it.

#[path = "common/prints.rs"]
mod prints;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use fathom_bench::results::Results;
use fathom_record::Campaign;
use prints::answers;

/// A home without engines, and a suite of these workloads.
fn home(workloads: &[&str]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("engines")).unwrap();
    let build = home.path().join("workloads/tiny/build/wasm/mini");
    fs::create_dir_all(&build).unwrap();
    for name in workloads {
        let wasm = wat::parse_str(answers("00000000000000a1", "i32")).unwrap();
        fs::write(build.join(format!("{name}.wasm")), wasm).unwrap();
    }
    describe(home.path(), workloads);
    home
}

fn describe(home: &Path, workloads: &[&str]) {
    let each = workloads.iter().map(|name| {
        format!(
            "[[workload]]\nname = \"{name}\"\nwhy = \"for this test\"\n\
             [workload.answers]\nmini = \"00000000000000a1\"\n"
        )
    });
    let described = format!("name = \"tiny\"\n{}", each.collect::<String>());
    fs::write(home.join("workloads/tiny/suite.toml"), described).unwrap();
}

fn bench(home: &Path, words: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    for name in [
        "SLURM_ARRAY_TASK_ID",
        "JOB_COMPLETION_INDEX",
        "PARALLEL_SEQ",
    ] {
        command.env_remove(name);
    }
    command
        .env("FATHOM_HOME", home)
        .envs(variables.iter().copied())
        .current_dir(home)
        .args(["bench", "--wait-idle", "0s"])
        .args(words.split(' '))
        .stdin(Stdio::null());
    command.output().unwrap()
}

const FEW: &str = "tiny --size mini --variant wasm --engines fathom --bounds trap,guard \
                   --no-probe --iterations 1 --warmup 0";

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn workloads(campaign: &Campaign) -> BTreeSet<&str> {
    let cells = campaign.header.cells.iter();
    cells.map(|cell| cell.workload.as_str()).collect()
}

#[test]
fn shards_have_each_workload_once_and_say_what_they_are_of() {
    let home = home(&["a", "b", "c"]);
    let slurm = [
        ("SLURM_ARRAY_TASK_ID", "8"),
        ("SLURM_ARRAY_TASK_MIN", "7"),
        ("SLURM_ARRAY_TASK_MAX", "8"),
        ("SLURM_ARRAY_TASK_COUNT", "2"),
    ];
    let first = bench(
        home.path(),
        &format!("{FEW} --rounds 2 --anchors 0 --shard 1/2 --out 1"),
        &[],
    );
    assert!(first.status.success(), "{}", stderr(&first));
    let second = bench(
        home.path(),
        &format!("{FEW} --rounds 2 --anchors 0 --shard auto --out 2"),
        &slurm,
    );
    assert!(second.status.success(), "{}", stderr(&second));
    let read = |name: &str| Results::read(&home.path().join(name)).unwrap();
    let (first, second) = (read("1"), read("2"));
    assert_eq!(workloads(&first), BTreeSet::from(["a", "c"]));
    assert_eq!(workloads(&second), BTreeSet::from(["b"]));
    // Every strategy of a workload, and its control, are measured where it is.
    assert_eq!(first.header.cells.len(), 2 * second.header.cells.len());
    let of = |campaign: &Campaign| campaign.header.config.shard.clone().unwrap();
    let (first_of, second_of) = (of(&first), of(&second));
    assert_eq!(
        (first_of.index, first_of.count, first_of.workloads),
        (1, 2, 3)
    );
    assert_eq!((second_of.index, second_of.count), (2, 2));
    assert_eq!(first_of.list, second_of.list);
    assert_eq!(second.header.name, "tiny-mini-shard-2-of-2");
    let noted = first.header.workloads.iter().map(|note| note.name.as_str());
    assert_eq!(noted.collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
fn a_shard_goes_on_without_its_scheduler_and_not_in_another_list() {
    let home = home(&["a", "b", "c"]);
    let kubernetes = [("JOB_COMPLETION_INDEX", "1")];
    let line = format!("{FEW} --rounds 2 --anchors 0 --shard auto/2 --out r");
    assert!(bench(home.path(), &line, &kubernetes).status.success());
    let samples = home.path().join("r/samples.jsonl");
    let whole = fs::read(&samples).unwrap();
    let sealed = Results::read(&home.path().join("r"))
        .unwrap()
        .processes
        .len();
    // As a machine that was lost leaves it.
    fs::write(&samples, &whole[..whole.len() * 3 / 4]).unwrap();
    let output = bench(home.path(), "--resume r", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = Results::read(&home.path().join("r")).unwrap();
    assert_eq!(workloads(&campaign), BTreeSet::from(["b"]));
    assert_eq!(campaign.processes.len(), sealed);
    assert_eq!(campaign.resumed.len(), 1);
    // The cells of the second shard stay as they are; the whole does not.
    describe(home.path(), &["a", "b"]);
    let said = stderr(&bench(home.path(), "--resume r", &[]));
    assert!(
        said.contains("the list of all shards' workloads has changed"),
        "{said}"
    );
    assert_eq!(said.matches("fathom:").count(), 1, "{said}");
}

/// Two shards of six workloads, two of them in both.
fn two_shards() -> tempfile::TempDir {
    let home = home(&["a", "b", "c", "d", "e", "f"]);
    for index in [1, 2] {
        let line = format!("{FEW} --rounds 5 --anchors 2 --shard {index}/2 --out {index}");
        let output = bench(home.path(), &line, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    home
}

fn merge(home: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.current_dir(home).arg("merge");
    command.args(words.split(' ')).stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn shards_are_merged_whatever_their_order_and_others_are_refused() {
    let home = two_shards();
    let read = |name: &str| Results::read(&home.path().join(name)).unwrap();
    let (first, second) = (read("1"), read("2"));
    assert_eq!(workloads(&first), BTreeSet::from(["a", "b", "d", "e"]));
    assert_eq!(workloads(&second), BTreeSet::from(["b", "c", "e", "f"]));
    let output = merge(home.path(), "2 1 --workloads");
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        said.starts_with("2 shards of 2, anchors: tiny:b, tiny:e\nshard 1  1  "),
        "{said}"
    );
    // The kernel says that it takes a microsecond, always and everywhere.
    let row = said.lines().find(|line| line.contains("1.00 ×")).unwrap();
    assert!(row.contains("equivalent") && row.contains('6'), "{said}");
    for line in ["a         1", "b         all", "c         2"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let refused = [
        ("1 1", "1 and 1 are both shard 1/2"),
        ("1", "shard 2 of 2 is missing: name it, or say --partial"),
        ("1 --partial", "one shard alone"),
        ("1 nowhere", "nowhere"),
    ];
    for (words, expected) in refused {
        let output = merge(home.path(), words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{words}: {said}");
        assert!(
            said.contains(expected) && said.lines().count() == 1,
            "{words}: {said}"
        );
        assert!(output.stdout.is_empty());
    }
    // Each of these makes it another campaign.
    let others = [
        (FEW, 1, "list of anchors"),
        (
            &FEW.replace("--warmup 0", "--warmup 1"),
            2,
            "number of warm-up iterations",
        ),
    ];
    for (at, (words, anchors, expected)) in others.iter().enumerate() {
        let line = format!("{words} --rounds 1 --anchors {anchors} --shard 2/2 --out other-{at}");
        let output = bench(home.path(), &line, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        let said = stderr(&merge(home.path(), &format!("1 other-{at}")));
        assert!(
            said.contains(&format!("each has a {expected} of its own")),
            "{said}"
        );
    }
}

#[test]
fn what_cannot_be_divided_is_refused_in_one_line() {
    let home = home(&["a", "b"]);
    let cases = [
        (
            format!("{FEW} --rounds 2 --anchors 0 --shard 1/3"),
            "tiny-mini has 2 workloads, at least one for each shard",
        ),
        (
            format!("{FEW} --rounds 2 --anchors 0 --shard auto"),
            "none of SLURM_ARRAY_TASK_ID",
        ),
    ];
    for (words, expected) in cases {
        let output = bench(home.path(), &format!("{words} --out r"), &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(expected) && said.lines().count() == 1,
            "{said}"
        );
        assert!(!home.path().join("r").exists());
    }
    // No suite: its rows are of configurations.
    let startup = bench(
        home.path(),
        "startup --engines fathom --shard 1/2 --out r",
        &[],
    );
    assert!(
        stderr(&startup).contains("divides the workloads of a suite"),
        "{}",
        stderr(&startup)
    );
    assert!(!home.path().join("r").exists());
    let output = bench(home.path(), "tiny --shard 3/2", &[]);
    assert_eq!(output.status.code(), Some(2));
}
