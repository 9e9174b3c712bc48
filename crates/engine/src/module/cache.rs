//! The cache of compiled modules: one file an entry, named by a hash of the
//! module's bytes and of everything that changes its code.
//!
//! ```text
//!  magic (8) | BLAKE3 of the payload, keyed with the name's hash (32) | payload:
//!                                                         the artifact (postcard)
//! ```
//!
//! What must stay true: an entry appears whole or not at all (written beside
//! its place, then renamed), and one that is damaged, truncated, of another
//! version or of another name counts as absent. The cache never fails a
//! compilation: what it cannot read is compiled, what it cannot write is not kept.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compile::Artifact;
use crate::engine::Engine;

/// Changes with the format of an entry and with the code that compiles.
const MAGIC: &[u8; 8] = b"fathom\x00\x03";
const HEAD_BYTES: usize = MAGIC.len() + blake3::OUT_LEN;

/// Where the entry of one module under one configuration is.
pub(super) struct Key {
    dir: PathBuf,
    hash: blake3::Hash,
}

impl Key {
    /// Nothing where the engine has no cache, or where this program cannot tell
    /// itself from another build.
    pub fn new(engine: &Engine, wasm: &[u8]) -> Option<Key> {
        let config = engine.config();
        let dir = config.cache_dir.clone()?;
        let in_force = |memory64| {
            let now = engine.in_force(memory64);
            format!("{} {:?}", now.bounds, now.limits)
        };
        let mut hasher = blake3::Hasher::new();
        let about = format!(
            "{}|{}|{}|{}|{}|{}|{}|{:?}|{}|{}|",
            env!("CARGO_PKG_VERSION"),
            engine.target().fingerprint(),
            in_force(false),
            in_force(true),
            config.opt,
            config.elide,
            config.inline,
            config.layout_seed,
            config.features,
            config.count,
        );
        hasher.update(about.as_bytes());
        #[cfg(feature = "thesis-formula")]
        hasher.update(&[u8::from(config.thesis_formula)]);
        hasher.update(program_identity()?.as_bytes());
        hasher.update(wasm);
        let hash = hasher.finalize();
        Some(Key { dir, hash })
    }

    fn path(&self) -> PathBuf {
        self.dir.join(self.hash.to_hex().as_str())
    }

    /// The artifact, if there is an undamaged entry.
    pub fn load(&self) -> Option<Artifact> {
        let path = self.path();
        // Reading anything else may take forever, as a pipe without a writer does.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let mut head = [0; HEAD_BYTES];
        file.read_exact(&mut head).ok()?;
        let hash = head.strip_prefix(MAGIC)?;
        let mut payload = Vec::new();
        file.read_to_end(&mut payload).ok()?;
        if self.hash_of(&payload).as_bytes() != hash {
            return None;
        }
        postcard::from_bytes(&payload).ok()
    }

    /// Of this entry alone: the same payload has another hash under another name.
    fn hash_of(&self, payload: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(self.hash.as_bytes(), payload)
    }

    /// Keep an artifact.
    pub fn store(&self, artifact: &Artifact) {
        let Ok(payload) = postcard::to_stdvec(artifact) else {
            return;
        };
        let temporary = self.temporary();
        if self
            .write(&temporary, &payload)
            .and_then(|()| fs::rename(&temporary, self.path()))
            .is_err()
        {
            // Nothing half-written stays, as far as that is in our hands.
            let _ = fs::remove_file(&temporary);
        }
    }

    /// A name beside the entry's that no other writer uses.
    fn temporary(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = self.hash.to_hex();
        self.dir
            .join(format!("{name}.{}.{next}.tmp", std::process::id()))
    }

    fn write(&self, path: &Path, payload: &[u8]) -> std::io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let mut file = File::create_new(path)?;
        file.write_all(MAGIC)?;
        file.write_all(self.hash_of(payload).as_bytes())?;
        file.write_all(payload)
    }
}

/// Tells builds of the host program apart: another build may compile the same
/// module to other code. By what runs, not by its path: that may be replaced
/// meanwhile.
fn program_identity() -> Option<String> {
    let metadata = fs::metadata("/proc/self/exe").ok()?;
    let modified = metadata.modified().ok()?;
    Some(format!("{}|{modified:?}", metadata.len()))
}

#[cfg(test)]
mod tests;
