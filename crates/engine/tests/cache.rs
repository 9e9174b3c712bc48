//! The folder of compiled modules as a host sees it: whatever is found there, a
//! module does what its bytes say, or is compiled again.

mod common;

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use fathom_engine::*;

/// `answer` gives `number`, after a trip through memory.
fn answering(number: u32) -> Vec<u8> {
    let text = format!(
        r#"(module (memory 1)
            (func (export "answer") (result i32)
                (i32.store (i32.const 8) (i32.const {number}))
                (i32.load (i32.const 8)))
            (func (export "outside") (result i32)
                (i32.load (i32.const -4))))"#
    );
    wat::parse_str(text).unwrap()
}

fn engine(folder: &Path, bounds: Bounds) -> Engine {
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .cache_dir(Some(folder.to_owned()));
    Engine::new(&config).unwrap()
}

/// Runs the module made of `number`; whether its code came from the folder.
fn run(engine: &Engine, number: u32) -> bool {
    let module = Module::new(engine, answering(number)).unwrap();
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let mut call = |name: &str| {
        let func = instance.get_func(&store, name).unwrap();
        let func = func.typed::<(), i32>(&store).unwrap();
        func.call(&mut store, ())
    };
    assert_eq!(call("answer").unwrap().cast_unsigned(), number);
    let trap = call("outside").unwrap_err();
    assert_eq!(trap.trap().unwrap().code, TrapCode::MemoryOutOfBounds);
    assert!(!module.from_cache() || module.cache_trouble().is_none());
    module.from_cache()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

/// A folder with the entry of one module.
fn filled(bounds: Bounds) -> (tempfile::TempDir, Engine, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), bounds);
    assert!(!run(&engine, 7), "the first time it is compiled");
    assert!(run(&engine, 7), "the second time it is found");
    let [entry] = files(folder.path()).try_into().unwrap();
    (folder, engine, entry)
}

#[test]
fn code_for_other_processors_has_entries_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in Cpu::ALL {
        let config = Config::new()
            .cpu(cpu)
            .cache_dir(Some(folder.path().to_owned()));
        let engine = Engine::new(&config).unwrap();
        assert!(!run(&engine, 7), "{cpu}");
        assert!(run(&engine, 7), "{cpu}");
    }
    assert_eq!(files(folder.path()).len(), 2);
}

#[test]
fn damage_is_mended() {
    let (_folder, engine, entry) = filled(Bounds::Guard);
    let good = fs::read(&entry).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    // All of the head, and one byte in so many of the rest: the code, its tables.
    let places = (0..40).chain((40..good.len()).step_by(97));
    let cut = [0, 1, 8, 39, 40, 41, good.len() / 2, good.len() - 1];
    let more = [&good[..], b"more"].concat();
    let bad = places
        .map(flipped)
        .chain(cut.map(|len| good[..len].to_vec()))
        .chain([more, b"#!/bin/sh\n".to_vec(), vec![0; 1 << 20]]);
    for (number, bytes) in bad.enumerate() {
        fs::write(&entry, bytes).unwrap();
        assert!(!run(&engine, 7), "damage {number} was compiled");
        assert_eq!(fs::read(&entry).unwrap(), good, "damage {number} is mended");
    }
    assert!(run(&engine, 7));
}

/// As after a user renamed files, or a copy that mixed them up.
#[test]
fn an_entry_under_the_name_of_another_is_not_taken() {
    let (folder, guard, mine) = filled(Bounds::Guard);
    let trap = engine(folder.path(), Bounds::Trap);
    assert!(!run(&guard, 8) && !run(&trap, 7));
    let others = files(folder.path()).into_iter().filter(|it| *it != mine);
    let others: Vec<_> = others.collect();
    assert_eq!(others.len(), 2);
    for other in others {
        fs::copy(&other, &mine).unwrap();
        assert!(!run(&guard, 7), "{}", other.display());
        fs::copy(&mine, &other).unwrap();
        assert!(!run(&guard, 8) || !run(&trap, 7));
    }
    assert!(run(&guard, 7) && run(&guard, 8) && run(&trap, 7));
}

#[test]
fn what_is_in_an_entrys_place_and_no_file_is_left_alone() {
    let (folder, engine, entry) = filled(Bounds::Guard);
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    fs::write(entry.join("something"), "of somebody").unwrap();
    for _ in 0..2 {
        assert!(!run(&engine, 7), "compiled each time");
    }
    assert_eq!(fs::read(entry.join("something")).unwrap(), b"of somebody");
    assert_eq!(
        files(folder.path()),
        [entry],
        "and nothing is left beside it"
    );
}

#[test]
fn an_entry_that_cannot_be_read_is_replaced() {
    let (_folder, engine, entry) = filled(Bounds::Guard);
    // Not even who may read everything can read this.
    fs::remove_file(&entry).unwrap();
    symlink(&entry, &entry).unwrap();
    assert!(!run(&engine, 7) && run(&engine, 7), "a link to itself");
    fs::set_permissions(&entry, PermissionsExt::from_mode(0o000)).unwrap();
    if fs::read(&entry).is_ok() {
        eprintln!("SKIPPED: this user may read a file of mode 0");
        return;
    }
    assert!(!run(&engine, 7) && run(&engine, 7), "a file of mode 0");
}

/// Nothing that is wrong with the folder keeps a module from running.
#[test]
fn a_folder_that_cannot_be_is_done_without() {
    let outer = tempfile::tempdir().unwrap();
    let file = outer.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let places = [
        file.clone(),
        file.join("under a file"),
        PathBuf::from("/proc/nobody/makes/folders/here"),
        PathBuf::from("/dev/null"),
    ];
    for place in places {
        let engine = engine(&place, Bounds::Guard);
        assert!(!run(&engine, 7) && !run(&engine, 7), "{}", place.display());
        let module = Module::new(&engine, answering(7)).unwrap();
        let why = module.cache_trouble().expect("it is said");
        assert!(
            why.contains(&*place.to_string_lossy()) && !why.contains('\n'),
            "{why}"
        );
    }
    assert_eq!(fs::read(&file).unwrap(), b"not a folder");
}

#[test]
fn what_a_writer_that_died_left_behind_is_no_entry() {
    let (folder, engine, entry) = filled(Bounds::Guard);
    let good = fs::read(&entry).unwrap();
    let left = folder.path().join(format!(
        "{}.1.0.tmp",
        entry.file_name().unwrap().to_string_lossy()
    ));
    fs::rename(&entry, &left).unwrap();
    fs::write(&left, &good[..good.len() / 2]).unwrap();
    assert!(!run(&engine, 7) && run(&engine, 7));
}

/// Set for the children of the test below: the folder that they share.
const SHARED: &str = "FATHOM_TEST_CACHE";
/// Modules that every child wants, and how often.
const MODULES: u32 = 6;
const TIMES: u32 = 15;

/// Not a test of its own: what the children do.
#[test]
fn a_child_wants_the_same_modules() {
    let Some(folder) = std::env::var_os(SHARED) else {
        return;
    };
    let engine = engine(Path::new(&folder), Bounds::Guard);
    for _ in 0..TIMES {
        for number in 0..MODULES {
            run(&engine, number);
        }
    }
}

/// Several processes begin with the same empty folder, while the entries are cut,
/// filled with other bytes and removed under their hands.
#[test]
fn processes_that_write_the_same_entries_at_once_all_get_what_they_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let child = || -> Child {
        common::this_program()
            .args(["--exact", "a_child_wants_the_same_modules"])
            .env(SHARED, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut children: Vec<Child> = (0..3).map(|_| child()).collect();
    let mut round = 0;
    while children
        .iter_mut()
        .any(|it| it.try_wait().unwrap().is_none())
    {
        for file in files(folder.path()) {
            round += 1;
            damage(&file, round);
        }
        std::thread::yield_now();
    }
    for mut child in children {
        assert!(child.wait().unwrap().success(), "a child failed");
    }
    let engine = engine(folder.path(), Bounds::Guard);
    for number in 0..MODULES {
        run(&engine, number);
    }
    assert!(
        (0..MODULES).all(|number| run(&engine, number)),
        "all mended"
    );
}

/// Spoils a file in place, not as a writer would: whoever reads it meanwhile sees
/// some of it. It may be gone.
fn damage(file: &Path, round: usize) {
    let spoiled = fs::OpenOptions::new().write(true).open(file);
    let Ok(spoiled) = spoiled else { return };
    let _ = match round % 4 {
        0 => spoiled.set_len(round as u64 % 512),
        1 => spoiled.write_all_at(&[0xcc; 64], 200),
        2 => spoiled.write_all_at(&[0xcc; 4], 50),
        _ => fs::remove_file(file),
    };
}

/// What an entry has behind its magic number and its hash.
const HEAD_BYTES: usize = 40;

#[test]
fn code_without_continuations_is_the_same_where_they_are_turned_off() {
    let artifact = |features: &str, wasm: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::new()
            .features(features.parse().unwrap())
            .cache_dir(Some(folder.path().to_owned()));
        let module = Module::new(&Engine::new(&config).unwrap(), wasm).unwrap();
        assert!(!module.from_cache());
        let [entry] = files(folder.path()).try_into().unwrap();
        fs::read(entry).unwrap().split_off(HEAD_BYTES)
    };
    let mut compared = 0;
    for folder in ["tests/clif", "tests/disas", "tests/forms"] {
        for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)) {
            if path.extension().is_none_or(|extension| extension != "wat") {
                continue;
            }
            let wasm = wat::parse_file(&path).unwrap();
            let off = artifact("-stack-switching", &wasm);
            assert!(off == artifact("", &wasm), "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}
