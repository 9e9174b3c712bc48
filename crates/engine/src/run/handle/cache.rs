//! The cache of compiled modules: one file an entry, named by a hash of the
//! module's bytes and of everything that changes its code.
//!
//! ```text
//!  magic (8) | BLAKE3 of the payload, keyed with the name's hash (32) | payload:
//!                                                         the artifact (postcard)
//! ```
//!
//! An entry can also be what a compiler has said of itself, named by a hash of what its
//! file is known by.
//!
//! What must stay true: an entry appears whole or not at all (written beside
//! its place, then renamed), and one that is damaged, truncated, of another
//! version, of another name, of another build of the program or of another user
//! counts as absent. The cache never fails a compilation: what it cannot read is
//! compiled, what it cannot write is not kept; what keeps it from either is said.

mod folder;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compile::{Artifact, Versions};
use crate::run::config::Config;
use crate::run::engine::Engine;
use folder::{Folder, Unused};

/// Changes with the format of an entry.
const MAGIC: &[u8; 8] = b"fathom\x00\x05";
const HEAD_BYTES: usize = MAGIC.len() + blake3::OUT_LEN;

/// Everything of an engine that changes code.
pub(super) fn configuration(engine: &Engine) -> String {
    let config = engine.config();
    let in_force = |memory64| {
        let now = engine.in_force(memory64);
        format!("{} {:?}", now.bounds, now.limits)
    };
    let about = format!(
        "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{:?}|{}|{}|{}|{}|",
        super::serial::version(),
        engine.target().fingerprint(),
        config.codegen,
        engine.llvm().map_or("", |llvm| llvm.clang.fingerprint()),
        in_force(false),
        in_force(true),
        config.opt,
        config.elide,
        config.inline,
        config.spectre,
        config.layout_seed,
        config.features,
        config.count,
        config.consume_fuel,
        config.compile_budget,
    );
    #[cfg(thesis_formula)]
    let about = format!("{about}{}", config.thesis_formula);
    about
}

/// Where the entry of one module under one configuration is.
pub(super) struct Key {
    dir: PathBuf,
    hash: blake3::Hash,
    bytes_max: u64,
    /// What kept an entry from being used or written: somebody should know.
    trouble: Option<String>,
}

impl Key {
    /// Nothing where the engine has no cache, or where this program cannot tell
    /// itself from another build.
    pub fn new(engine: &Engine, wasm: &[u8]) -> Option<Key> {
        Key::of_program(engine, wasm, (*PROGRAM)?)
    }

    fn of_program(engine: &Engine, wasm: &[u8], program: blake3::Hash) -> Option<Key> {
        let configuration = configuration(engine);
        let parts = [configuration.as_bytes(), program.as_bytes(), wasm];
        Key::of_parts(engine.config(), &parts)
    }

    /// Of a compiler that is known by this.
    fn of_compiler(config: &Config, identity: &str) -> Option<Key> {
        let program = (*PROGRAM)?;
        let parts = [b"compiler|", &program.as_bytes()[..], identity.as_bytes()];
        Key::of_parts(config, &parts)
    }

    fn of_parts(config: &Config, parts: &[&[u8]]) -> Option<Key> {
        let dir = config.cache_dir.clone()?;
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        Some(Key {
            dir,
            hash: hasher.finalize(),
            bytes_max: config.cache_bytes_max,
            trouble: None,
        })
    }

    fn name(&self) -> String {
        self.hash.to_hex().to_string()
    }

    /// The artifact, if there is an entry that is undamaged and to be trusted.
    pub fn load(&mut self) -> Option<Artifact> {
        self.read(|payload| postcard::from_bytes(payload).ok())
    }

    /// What is made of the payload of such an entry.
    fn read<V>(&mut self, decode: impl FnOnce(&[u8]) -> Option<V>) -> Option<V> {
        let read = Folder::open(&self.dir, false, self.bytes_max)
            .and_then(|folder| folder.read(&self.name()));
        let bytes = self.note(read)?;
        let (head, payload) = bytes.split_at_checked(HEAD_BYTES)?;
        if self.hash_of(payload).as_bytes() != head.strip_prefix(MAGIC)? {
            return None;
        }
        decode(payload)
    }

    /// Of this entry alone: the same payload has another hash under another name.
    fn hash_of(&self, payload: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(self.hash.as_bytes(), payload)
    }

    /// Keep an artifact, unless it might be another the next time.
    pub fn store(&mut self, artifact: &Artifact) {
        if artifact.is_hurried {
            let why = "LLVM took too long, so that its code is not kept";
            self.trouble.get_or_insert_with(|| why.to_owned());
            return;
        }
        if let Ok(payload) = postcard::to_stdvec(artifact) {
            self.store_payload(&payload);
        }
    }

    fn store_payload(&mut self, payload: &[u8]) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = self.name();
        let unfinished = folder::unfinished(&name, NEXT.fetch_add(1, Ordering::Relaxed));
        let hash = self.hash_of(payload);
        let parts = [MAGIC, &hash.as_bytes()[..], payload];
        let written = Folder::open(&self.dir, true, self.bytes_max)
            .and_then(|folder| folder.write(&name, &unfinished, &parts));
        self.note(written);
    }

    /// Remember why something was not to be had, where that is not as usual.
    fn note<V>(&mut self, outcome: Result<V, Unused>) -> Option<V> {
        match outcome {
            Ok(value) => return Some(value),
            Err(Unused::Absent) => {}
            Err(why) => {
                self.trouble.get_or_insert_with(|| why.to_string());
            }
        }
        None
    }

    /// What kept the entry from being read or written, in one line.
    pub fn into_trouble(self) -> Option<String> {
        self.trouble
    }
}

/// What keeps it from being kept is said of the module that is compiled.
impl Versions for Config {
    fn recall(&self, identity: &str) -> Option<String> {
        let version = |payload: &[u8]| String::from_utf8(payload.to_vec()).ok();
        Key::of_compiler(self, identity)?.read(version)
    }

    fn keep(&self, identity: &str, version: &str) {
        if let Some(mut key) = Key::of_compiler(self, identity) {
            key.store_payload(version.as_bytes());
        }
    }
}

/// Tells builds of the host program apart, or of the library that this is part of:
/// another build may compile the same module to other code.
static PROGRAM: LazyLock<Option<blake3::Hash>> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    let address = MAGIC.as_ptr() as usize;
    let is_known = fathom_sys::program::identify(address, &mut |bytes| {
        hasher.update(bytes);
    });
    is_known.then(|| hasher.finalize())
});

#[cfg(test)]
mod tests;
