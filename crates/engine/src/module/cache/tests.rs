//! Entries that are not what was written: each must count as absent.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;
use crate::config::{Config, Elide, Opt};
use crate::features::{Feature, Features};

const MODULE: &str = r#"(module (memory 1)
    (func (export "load") (param i32) (result i32) (i32.load (local.get 0))))"#;

fn key(config: Config, dir: &Path) -> Key {
    let engine = Engine::new(&config.cache_dir(Some(dir.to_owned()))).unwrap();
    Key::new(&engine, &wat::parse_str(MODULE).unwrap()).unwrap()
}

/// A folder with one entry, and a key that finds it.
fn kept() -> (tempfile::TempDir, Key, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let key = key(Config::new(), folder.path());
    let artifact = Artifact {
        text: vec![0xc3; 16],
        ..Artifact::default()
    };
    key.store(&artifact);
    assert_eq!(key.load().as_ref(), Some(&artifact));
    let bytes = fs::read(key.path()).unwrap();
    (folder, key, bytes)
}

#[test]
fn no_bit_can_be_another() {
    let (_folder, key, good) = kept();
    for at in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[at / 8] ^= 1 << (at % 8);
        fs::write(key.path(), bad).unwrap();
        assert!(key.load().is_none(), "bit {at}");
    }
}

#[test]
fn no_byte_can_be_missing_or_too_many() {
    let (_folder, key, good) = kept();
    for len in 0..good.len() {
        fs::write(key.path(), &good[..len]).unwrap();
        assert!(key.load().is_none(), "{len} of {} bytes", good.len());
        let mut blank = good.clone();
        blank[len..].fill(0);
        // What a crash of the machine leaves where its file system was behind.
        if blank != good {
            fs::write(key.path(), blank).unwrap();
            assert!(key.load().is_none(), "{len} bytes, then zeros");
        }
    }
    let more = [&good[..], &[0]].concat();
    fs::write(key.path(), more).unwrap();
    assert!(key.load().is_none());
}

#[test]
fn what_was_made_for_something_else_is_not_taken_under_another_name() {
    let (folder, key, good) = kept();
    let others = [
        without_vectors(folder.path()),
        self::key(Config::new().opt(Opt::None), folder.path()),
        self::key(Config::new().elide(Elide::Off), folder.path()),
        self::key(Config::new().layout_seed(Some(1)), folder.path()),
        self::key(Config::new().count(true), folder.path()),
        self::key(Config::new().bounds("trap".parse().unwrap()), folder.path()),
    ];
    for (number, other) in others.iter().enumerate() {
        assert_ne!(other.hash, key.hash, "{number}");
        assert!(other.load().is_none(), "{number}");
        fs::write(other.path(), &good).unwrap();
        assert!(other.load().is_none(), "{number}, copied");
    }
}

fn without_vectors(dir: &Path) -> Key {
    let without = Features::all().without(Feature::Simd);
    key(Config::new().features(without), dir)
}

#[test]
fn another_version_of_the_format_is_not_read() {
    let (_folder, key, good) = kept();
    let own = MAGIC[MAGIC.len() - 1];
    for version in [0, own - 1, own + 1, 0xff] {
        let mut other = good.clone();
        other[MAGIC.len() - 1] = version;
        fs::write(key.path(), other).unwrap();
        assert!(key.load().is_none(), "version {version}");
    }
}

#[test]
fn a_payload_that_is_no_artifact_is_none_however_right_its_hash() {
    let (_folder, key, _) = kept();
    for payload in [&b""[..], b"\xff", &[0xff; 64], b"an artifact?"] {
        fs::remove_file(key.path()).unwrap();
        key.write(&key.path(), payload).unwrap();
        assert!(key.load().is_none(), "{payload:?}");
    }
}

#[test]
fn what_is_no_file_is_not_read_and_nobody_waits_for_it() {
    let (folder, key, _) = kept();
    let place = key.path();
    fs::remove_file(&place).unwrap();
    assert!(key.load().is_none(), "nothing");
    fs::create_dir(&place).unwrap();
    assert!(key.load().is_none(), "a folder");
    fs::remove_dir(&place).unwrap();
    symlink(&place, &place).unwrap();
    assert!(key.load().is_none(), "a link to itself");
    fs::remove_file(&place).unwrap();
    let made = Command::new("mkfifo").arg(&place).status().unwrap();
    assert!(made.success());
    assert!(key.load().is_none(), "a pipe without a writer");
    // The next writer puts an entry in its place.
    key.store(&Artifact::default());
    assert_eq!(key.load(), Some(Artifact::default()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
