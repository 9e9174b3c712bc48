//! The cache of compiled modules: one file an entry, named by a hash of the
//! module's bytes and of everything that changes its code.
//!
//! ```text
//!  magic (8) | BLAKE3 of the payload (32) | payload: the artifact (postcard)
//! ```
//!
//! What must stay true: an entry appears whole or not at all (written beside
//! its place, then renamed), and one that is damaged, truncated or of another
//! version counts as absent. The cache never fails a compilation: what it
//! cannot read is compiled, what it cannot write is not kept.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compile::Artifact;
use crate::engine::Engine;

/// Changes with the format of an entry and with the code that compiles.
const MAGIC: &[u8; 8] = b"fathom\x00\x01";
const HASH_BYTES: usize = 32;

/// Where the entry of one module under one configuration is.
pub(super) struct Key {
    dir: PathBuf,
    name: String,
}

impl Key {
    /// Nothing where the engine has no cache.
    pub fn new(engine: &Engine, wasm: &[u8]) -> Option<Key> {
        let config = engine.config();
        let dir = config.cache_dir.clone()?;
        let in_force = |memory64| {
            let now = engine.in_force(memory64);
            format!("{} {:?}", now.bounds, now.limits)
        };
        let mut hasher = blake3::Hasher::new();
        let about = format!(
            "{}|{}|{}|{}|{}|{}|{:?}|{}|{}|",
            env!("CARGO_PKG_VERSION"),
            engine.target().fingerprint(),
            in_force(false),
            in_force(true),
            config.opt,
            config.elide,
            config.layout_seed,
            config.features,
            config.count,
        );
        hasher.update(about.as_bytes());
        hasher.update(program_identity().as_bytes());
        hasher.update(wasm);
        Some(Key {
            dir,
            name: hasher.finalize().to_hex().to_string(),
        })
    }

    fn path(&self) -> PathBuf {
        self.dir.join(&self.name)
    }

    /// The artifact, if there is an undamaged entry.
    pub fn load(&self) -> Option<Artifact> {
        let bytes = fs::read(self.path()).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (hash, payload) = rest.split_at_checked(HASH_BYTES)?;
        if blake3::hash(payload).as_bytes() != hash {
            return None;
        }
        postcard::from_bytes(payload).ok()
    }

    /// Keep an artifact.
    pub fn store(&self, artifact: &Artifact) {
        let Ok(payload) = postcard::to_stdvec(artifact) else {
            return;
        };
        let temporary = self.temporary();
        if write_entry(&temporary, &payload)
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
        self.dir
            .join(format!("{}.{}.{next}.tmp", self.name, std::process::id()))
    }
}

/// Tells builds of the host program apart: another build may compile the same
/// module to other code.
fn program_identity() -> String {
    let metadata = std::env::current_exe().and_then(fs::metadata);
    metadata.map_or_else(
        |_| String::new(),
        |m| format!("{}|{:?}", m.len(), m.modified().ok()),
    )
}

fn write_entry(path: &Path, payload: &[u8]) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let mut file = fs::File::create_new(path)?;
    file.write_all(MAGIC)?;
    file.write_all(blake3::hash(payload).as_bytes())?;
    file.write_all(payload)
}
