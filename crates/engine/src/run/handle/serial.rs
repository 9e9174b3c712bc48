//! Compiled modules as bytes, for another process to use.
//!
//! ```text
//!  magic (16) | BLAKE3 of the rest (32) | Stored (postcard): who made it, declarations, code
//! ```
//!
//! What must stay true: what is not exactly what this version of the engine would make
//! under this configuration, on this processor, is refused; so is what is damaged. What
//! somebody has forged cannot be told, which is why reading it is unsafe.

#![allow(unsafe_code)]

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{Module, Origin, cache, compile, read};
use crate::compile::{Artifact, by_threads};
use crate::facts::error::{Error, ErrorKind, Result};
use crate::facts::module::{Skeleton, decode};
use crate::run::engine::Engine;

/// Changes with the form of what follows.
const MAGIC: &[u8; 16] = b"fathom module\0\0\x01";

#[derive(Serialize, Deserialize)]
struct Stored {
    /// The version of the engine, and what its code relies on.
    version: String,
    /// All of the configuration that changes code.
    configuration: String,
    declarations: Vec<u8>,
    data_shift: usize,
    /// Where the bodies were in the binary.
    bodies: Vec<Range<usize>>,
    artifact: Artifact,
}

/// Where it is said what compiled code finds by its place: a change there is one of
/// version.
const LAYOUTS: [&str; 4] = [
    include_str!("../../facts/vmctx.rs"),
    include_str!("../../facts/vmcont.rs"),
    include_str!("../../facts/libcall.rs"),
    include_str!("../../compile/trampoline.rs"),
];

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let layouts = blake3::hash(LAYOUTS.concat().as_bytes()).to_hex();
    format!("{} ({})", env!("CARGO_PKG_VERSION"), &layouts[..8])
});

/// The version of the engine, and of what its code finds by place.
pub(super) fn version() -> &'static str {
    &VERSION
}

impl Module {
    /// The compiled module as bytes, which [`Module::deserialize`] makes a module of
    /// without compiling anything: in another process, too, of the same version and
    /// configuration on the same kind of processor.
    ///
    /// # Errors
    /// Of a module that is compiled lazily, what compiling all of it says.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let inner = &*self.0;
        let (kept, artifact) = self.to_keep()?;
        let stored = Stored {
            version: version().to_owned(),
            configuration: cache::configuration(&inner.engine),
            declarations: kept.bytes.into_vec(),
            data_shift: kept.data_shift,
            bodies: inner.info.bodies.clone(),
            artifact,
        };
        let payload = postcard::to_stdvec(&stored)
            .map_err(|error| Error::mismatch(format!("cannot serialise the module: {error}")))?;
        let hash = blake3::hash(&payload);
        Ok([MAGIC, &hash.as_bytes()[..], &payload].concat())
    }

    /// Its declarations and all of its code, compiled now where that was to be done lazily.
    fn to_keep(&self) -> Result<(Skeleton, Artifact)> {
        let (engine, wasm) = (self.engine(), self.wasm());
        if self.0.lazy.is_none() {
            return Ok((self.0.kept.clone(), self.0.code.artifact()));
        }
        let (info, bodies) = decode(wasm, engine.config().features)?;
        let end = engine.config().end_threads;
        let artifact = by_threads(end, || compile(engine, &info, bodies, wasm))??;
        Ok((Skeleton::of(wasm), artifact))
    }

    /// A module that [`Module::serialize`] has made bytes of.
    ///
    /// ```
    /// use fathom_engine::{Engine, Module};
    ///
    /// # fn main() -> fathom_engine::Result<()> {
    /// let engine = Engine::default();
    /// let bytes = Module::new(&engine, b"\0asm\x01\0\0\0")?.serialize()?;
    /// // SAFETY: they were made right here.
    /// let module = unsafe { Module::deserialize(&engine, &bytes)? };
    /// assert_eq!(module.imports().count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Bytes that are no such module or are damaged; one of another version or
    /// configuration; a host without room for its code.
    ///
    /// # Safety
    /// The bytes are what [`Module::serialize`] has returned: they are machine code,
    /// which is executed. Damage is found; what was made to look right is not.
    pub unsafe fn deserialize(engine: &Engine, bytes: impl AsRef<[u8]>) -> Result<Module> {
        let refuse = |message: String| Error::from(ErrorKind::Serialized(message));
        let payload = payload(bytes.as_ref()).map_err(|why| refuse(why.to_owned()))?;
        let (made_by, rest): (String, _) =
            postcard::take_from_bytes(payload).map_err(|_| refuse("it is damaged".to_owned()))?;
        if made_by != version() {
            let message = format!("it is of version {made_by}, this one is {}", version());
            return Err(refuse(message));
        }
        let (configuration, _): (String, _) =
            postcard::take_from_bytes(rest).map_err(|_| refuse("it is damaged".to_owned()))?;
        if configuration != cache::configuration(engine) {
            let message = "it was compiled for another configuration or another processor";
            return Err(refuse(message.to_owned()));
        }
        let stored: Stored =
            postcard::from_bytes(payload).map_err(|_| refuse("it is damaged".to_owned()))?;
        let (mut info, _) = decode(&stored.declarations, engine.config().features)?;
        for segment in &mut info.data {
            segment.bytes.start += stored.data_shift;
            segment.bytes.end += stored.data_shift;
        }
        info.bodies = stored.bodies;
        let kept = Skeleton {
            bytes: stored.declarations.into(),
            data_shift: stored.data_shift,
        };
        Module::publish(
            engine,
            kept,
            info,
            stored.artifact,
            None,
            Origin::Serialized,
        )
    }

    /// The same, of a file.
    ///
    /// # Errors
    /// As [`Module::deserialize`]; a file that cannot be read.
    ///
    /// # Safety
    /// As [`Module::deserialize`]: nobody else may write to the file.
    pub unsafe fn deserialize_file(engine: &Engine, path: impl AsRef<Path>) -> Result<Module> {
        // SAFETY: the caller's promise.
        unsafe { Module::deserialize(engine, read(path.as_ref())?) }
    }
}

/// What stands behind the head, undamaged.
fn payload(bytes: &[u8]) -> Result<&[u8], &'static str> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is none")?;
    let (hash, payload) = rest.split_at_checked(blake3::OUT_LEN).ok_or("it is cut")?;
    match blake3::hash(payload).as_bytes() == hash {
        true => Ok(payload),
        false => Err("it is damaged"),
    }
}

impl Engine {
    /// A module compiled and made bytes of, see [`Module::serialize`].
    ///
    /// # Errors
    /// As [`Module::new`].
    pub fn precompile_module(&self, wasm: &[u8]) -> Result<Vec<u8>> {
        Module::new(self, wasm)?.serialize()
    }
}
