//! Entries that are not what was written, or not written by whom: each must count as
//! absent.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::*;
use crate::compile::{CompileBudget, Elide, Opt};
use crate::facts::features::{Feature, Features};
use crate::run::config::Config;

const MODULE: &str = r#"(module (memory 1)
    (func (export "load") (param i32) (result i32) (i32.load (local.get 0))))"#;

fn key(config: Config, dir: &Path) -> Key {
    let engine = Engine::new(&config.cache_dir(Some(dir.to_owned()))).unwrap();
    Key::new(&engine, &wat::parse_str(MODULE).unwrap()).unwrap()
}

impl Key {
    fn path(&self) -> PathBuf {
        self.dir.join(self.name())
    }

    /// As who comes next finds it, and what is to be known of it.
    fn found(&mut self) -> (Option<Artifact>, Option<String>) {
        self.trouble = None;
        (self.load(), self.trouble.take())
    }

    /// Whether there is nothing, and nothing to be said of it.
    fn is_absent(&mut self) -> bool {
        self.found() == (None, None)
    }
}

/// A folder with one entry, and a key that finds it.
fn kept() -> (tempfile::TempDir, Key, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let mut key = key(Config::new(), folder.path());
    key.store(&artifact());
    assert_eq!(key.found(), (Some(artifact()), None));
    let bytes = fs::read(key.path()).unwrap();
    (folder, key, bytes)
}

fn artifact() -> Artifact {
    Artifact {
        text: vec![0xc3; 16],
        ..Artifact::default()
    }
}

#[test]
fn no_bit_can_be_another() {
    let (_folder, mut key, good) = kept();
    for at in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[at / 8] ^= 1 << (at % 8);
        fs::write(key.path(), bad).unwrap();
        assert!(key.is_absent(), "bit {at}");
    }
}

#[test]
fn no_byte_can_be_missing_or_too_many() {
    let (_folder, mut key, good) = kept();
    for len in 0..good.len() {
        fs::write(key.path(), &good[..len]).unwrap();
        assert!(key.is_absent(), "{len} of {} bytes", good.len());
        let mut blank = good.clone();
        blank[len..].fill(0);
        // What a crash of the machine leaves where its file system was behind.
        if blank != good {
            fs::write(key.path(), blank).unwrap();
            assert!(key.is_absent(), "{len} bytes, then zeros");
        }
    }
    let more = [&good[..], &[0]].concat();
    fs::write(key.path(), more).unwrap();
    assert!(key.is_absent());
}

#[test]
fn what_was_made_for_something_else_is_not_taken_under_another_name() {
    let (folder, key, good) = kept();
    let others = [
        without_vectors(folder.path()),
        self::key(Config::new().opt(Opt::None), folder.path()),
        self::key(Config::new().elide(Elide::Off), folder.path()),
        self::key(Config::new().spectre(false), folder.path()),
        self::key(Config::new().layout_seed(Some(1)), folder.path()),
        self::key(Config::new().count(true), folder.path()),
        #[cfg(target_arch = "x86_64")]
        self::key(
            Config::new().codegen(crate::compile::Codegen::Direct),
            folder.path(),
        ),
        self::key(
            Config::new().compile_budget(CompileBudget::times(2)),
            folder.path(),
        ),
        self::key(Config::new().bounds("trap".parse().unwrap()), folder.path()),
        of_another_build(folder.path()),
    ];
    for (number, mut other) in others.into_iter().enumerate() {
        assert_ne!(other.hash, key.hash, "{number}");
        assert!(other.is_absent(), "{number}");
        fs::write(other.path(), &good).unwrap();
        assert!(other.is_absent(), "{number}, copied");
    }
}

fn without_vectors(dir: &Path) -> Key {
    let without = Features::all().without(Feature::Simd);
    key(Config::new().features(without), dir)
}

/// As a program has it whose build id is another.
fn of_another_build(dir: &Path) -> Key {
    let engine = Engine::new(&Config::new().cache_dir(Some(dir.to_owned()))).unwrap();
    let program = blake3::hash(b"another build");
    assert_ne!(*PROGRAM, Some(program));
    Key::of_program(&engine, &wat::parse_str(MODULE).unwrap(), program).unwrap()
}

#[test]
fn another_version_of_the_format_is_not_read() {
    let (_folder, mut key, good) = kept();
    let own = MAGIC[MAGIC.len() - 1];
    for version in [0, own - 1, own + 1, 0xff] {
        let mut other = good.clone();
        other[MAGIC.len() - 1] = version;
        fs::write(key.path(), other).unwrap();
        assert!(key.is_absent(), "version {version}");
    }
}

#[test]
fn a_payload_that_is_no_artifact_is_none_however_right_its_hash() {
    let (_folder, mut key, _) = kept();
    for payload in [&b""[..], b"\xff", &[0xff; 64], b"an artifact?"] {
        key.store_payload(payload);
        assert!(key.is_absent(), "{payload:?}");
    }
}

#[test]
fn what_is_no_file_is_not_read_and_nobody_waits_for_it() {
    let (folder, mut key, good) = kept();
    let place = key.path();
    fs::remove_file(&place).unwrap();
    assert!(key.is_absent(), "nothing");
    let is_no_file = |key: &mut Key, what: &str| {
        let (found, why) = key.found();
        assert!(found.is_none(), "{what}");
        let why = why.unwrap_or_default();
        assert!(why.ends_with(" is no plain file"), "{what}: {why}");
    };
    fs::create_dir(&place).unwrap();
    is_no_file(&mut key, "a folder");
    fs::remove_dir(&place).unwrap();
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    fs::write(elsewhere.path(), good).unwrap();
    symlink(elsewhere.path(), &place).unwrap();
    is_no_file(&mut key, "a link to an entry");
    fs::remove_file(&place).unwrap();
    let made = Command::new("mkfifo").arg(&place).status().unwrap();
    assert!(made.success());
    is_no_file(&mut key, "a pipe without a writer");
    // The next writer puts an entry in its place.
    key.store(&Artifact::default());
    assert_eq!(key.found(), (Some(Artifact::default()), None));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_others_may_write_to_is_not_used_and_that_is_said() {
    let (folder, mut key, _) = kept();
    let entry = key.path();
    assert_eq!(mode(&entry), 0o600);
    for (place, usual) in [(entry.as_path(), 0o600), (folder.path(), 0o700)] {
        for more in [0o020, 0o002, 0o022, 0o1777] {
            set_mode(place, usual | more);
            let (found, why) = key.found();
            assert!(found.is_none(), "{} {more:o}", place.display());
            let why = why.unwrap();
            assert!(why.starts_with("others may write to /"), "{why}");
            assert!(
                why.ends_with("): chmod go-w") && !why.contains('\n'),
                "{why}"
            );
        }
        // Nor is anything written there.
        let before = fs::metadata(&entry).unwrap().modified().unwrap();
        if place == folder.path() {
            key.store(&Artifact::default());
            assert!(key.trouble.is_some());
            let after = fs::metadata(&entry).unwrap().modified().unwrap();
            assert_eq!(before, after);
        }
        set_mode(place, usual | 0o055);
        assert_eq!(key.found(), (Some(artifact()), None), "others may read");
    }
    // An entry of doubtful origin is replaced.
    set_mode(&entry, 0o666);
    key.store(&Artifact::default());
    assert_eq!(key.found(), (Some(Artifact::default()), None));
}

#[test]
fn what_belongs_to_another_user_is_not_used_and_that_is_said() {
    let (folder, mut key, _) = kept();
    let entry = key.path();
    let give = |place: &Path, user| std::os::unix::fs::chown(place, Some(user), None);
    if give(&entry, 4711).is_err() {
        eprintln!("SKIPPED: only root gives files away");
        return;
    }
    let belongs = |key: &mut Key| {
        let (found, why) = key.found();
        assert!(found.is_none());
        let why = why.unwrap();
        assert!(why.contains(" belongs to user 4711"), "{why}");
    };
    belongs(&mut key);
    give(&entry, 0).unwrap();
    assert_eq!(key.found(), (Some(artifact()), None));
    give(folder.path(), 4711).unwrap();
    belongs(&mut key);
    key.store(&Artifact::default());
    give(folder.path(), 0).unwrap();
    assert_eq!(key.found(), (Some(artifact()), None), "nothing was written");
}

#[test]
fn a_folder_that_is_made_is_this_users_alone() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("cache/of/modules");
    let mut key = key(Config::new(), &inner);
    key.store(&artifact());
    assert_eq!(key.found(), (Some(artifact()), None));
    assert_eq!(mode(&inner), 0o700);
}

/// An entry of `bytes` bytes under a name of its own, used `age` seconds ago.
fn entry(folder: &Path, letter: char, bytes: u64, age: u64) -> PathBuf {
    let path = folder.join(String::from(letter).repeat(64));
    let file = fs::File::create(&path).unwrap();
    file.set_len(bytes).unwrap();
    let then = SystemTime::now() - Duration::from_secs(age);
    file.set_modified(then).unwrap();
    path
}

#[test]
fn the_oldest_go_where_there_are_too_many_and_nothing_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut key = key(Config::new().cache_bytes_max(10_000), at);
    let [old, middle, young] =
        [('a', 300), ('b', 200), ('c', 100)].map(|(letter, age)| entry(at, letter, 4000, age));
    let name = key.name();
    let [left, busy] = [(7200, "1"), (0, "2")].map(|(age, number)| {
        let path = entry(at, 'd', 10, age);
        let to = at.join(format!("{name}.{number}.0.tmp"));
        fs::rename(path, &to).unwrap();
        to
    });
    let others = ["notes.txt", "A".repeat(64).as_str()].map(|name| at.join(name));
    for other in &others {
        fs::write(other, vec![0; 20_000]).unwrap();
    }
    key.store(&artifact());
    assert!(!old.exists() && middle.exists() && young.exists());
    assert!(!left.exists() && busy.exists());
    assert!(others.iter().all(|other| other.exists()));
    assert_eq!(key.found(), (Some(artifact()), None));
    // One that was used is young again.
    let then = SystemTime::now() - Duration::from_secs(9000);
    let file = fs::File::options().write(true).open(key.path()).unwrap();
    file.set_modified(then).unwrap();
    assert!(key.found().0.is_some());
    entry(at, 'e', 4000, 50);
    self::key(Config::new().opt(Opt::None).cache_bytes_max(9000), at).store(&artifact());
    assert!(key.path().exists() && !middle.exists() && young.exists());
}

#[test]
fn what_is_too_large_is_neither_read_nor_written() {
    let (folder, mut key, _) = kept();
    let file = fs::File::options().write(true).open(key.path()).unwrap();
    file.set_len((256 << 20) + 1).unwrap();
    let (found, why) = key.found();
    assert!(found.is_none());
    assert!(why.unwrap().ends_with(" is larger than an entry may be"));
    let mut little = self::key(Config::new().cache_bytes_max(50), folder.path());
    fs::remove_file(key.path()).unwrap();
    little.store(&artifact());
    assert!(little.trouble.is_some());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_a_compiler_said_is_kept_for_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::new().cache_dir(Some(folder.path().to_owned()));
    let said = "clang version 20.1.2";
    config.keep("one", said);
    assert_eq!(config.recall("one").as_deref(), Some(said));
    assert_eq!(config.recall("another"), None);
    assert_eq!(Config::new().recall("one"), None);
    let path = Key::of_compiler(&config, "one").unwrap().path();
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(config.recall("one"), None);
    config.keep("one", said);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(config.recall("one"), None);
}
