//! Functions as they travel: a statement and a module.
//!
//! ```text
//!  \0fathom1 │ length u32 │ hash [32] of: │ length of the statement u32 │ statement │ module
//! ```
//!
//! No message of Ballista's begins with a zero, so that these are told apart from its own.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use datafusion::common::{DataFusionError, Result, plan_err};
use fathom_sql::{
    Function, Programs,
    statement::{self, Statement},
};

/// What these begin with.
const MAGIC: &[u8; 8] = b"\0fathom1";
const HASH_BYTES: usize = blake3::OUT_LEN;

/// Functions that a process keeps compiled.
const KEPT_MAX: usize = 64;

/// Largest module that travels; a plan has one for each call.
pub(crate) const MODULE_BYTES_MAX: usize = 8 << 20;

/// The functions that this process has met. Clones are the same.
#[derive(Clone)]
pub struct Functions(Arc<Inner>);

struct Inner {
    programs: Programs,
    instances: usize,
    /// The one that was asked for last is the last.
    kept: Mutex<VecDeque<(blake3::Hash, Function)>>,
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Functions")
            .field(&self.kept().len())
            .finish()
    }
}

impl Functions {
    /// None yet; of each module as many `instances` are made ready.
    pub fn new(instances: usize) -> Functions {
        Functions(Arc::new(Inner {
            programs: Programs::default(),
            instances,
            kept: Mutex::default(),
        }))
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(blake3::Hash, Function)>> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that these bytes are, with what is behind it.
    ///
    /// # Errors
    /// They are damaged, or no function can be made of them.
    pub(crate) fn read<'a>(&self, bytes: &'a [u8]) -> Result<(Function, &'a [u8])> {
        let Some((hash, body, rest)) = split(bytes) else {
            return plan_err!("a function of {} bytes that is cut off", bytes.len());
        };
        // Whoever needs it too waits here, and does not compile it again.
        let mut kept = self.kept();
        if let Some(at) = kept.iter().position(|(own, _)| *own == hash)
            && let Some(found) = kept.remove(at)
        {
            let function = found.1.clone();
            kept.push_back(found);
            return Ok((function, rest));
        }
        if blake3::hash(body) != hash {
            return plan_err!("a function whose module is not what its hash says");
        }
        let function = self.made(body)?;
        kept.push_back((hash, function.clone()));
        if kept.len() > KEPT_MAX {
            kept.pop_front();
        }
        Ok((function, rest))
    }

    fn made(&self, body: &[u8]) -> Result<Function> {
        let (length, rest) = body.split_at(4);
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
        let Some((sql, module)) = rest.split_at_checked(length as usize) else {
            return plan_err!("a function whose statement is cut off");
        };
        let sql = std::str::from_utf8(sql)
            .map_err(|error| DataFusionError::Plan(format!("a function's statement: {error}")))?;
        let create = match statement::parse(sql)?.as_slice() {
            [Statement::Create(create)] => create.clone(),
            _ => return plan_err!("a function's statement creates none: {sql}"),
        };
        let programs = &self.0.programs;
        let before = programs.compiled();
        let program = programs.compile(create, module.to_vec(), self.0.instances)?;
        if programs.compiled() > before {
            log::info!("compiled module {}", blake3::hash(module));
        }
        Ok(Function::new(program)?)
    }
}

/// Whether these bytes begin with a function.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Writes a function, unless it is none of ours.
pub(crate) fn write(function: &Function, to: &mut Vec<u8>) -> bool {
    let Some((create, module)) = function.parts() else {
        return false;
    };
    let sql = create.to_string();
    let mut body = Vec::with_capacity(4 + sql.len() + module.len());
    body.extend((sql.len() as u32).to_le_bytes());
    body.extend(sql.as_bytes());
    body.extend(module);
    to.extend(framed(&body));
    true
}

/// A statement and a module, with their hash.
fn framed(body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    let hash = blake3::hash(body);
    [MAGIC.as_slice(), &length, hash.as_bytes(), body].concat()
}

/// The hash, what has it, and what is behind.
fn split(bytes: &[u8]) -> Option<(blake3::Hash, &[u8], &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (hash, rest) = rest.split_first_chunk::<HASH_BYTES>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (body, rest) = rest.split_at_checked(length)?;
    (body.len() >= 4).then(|| (blake3::Hash::from_bytes(*hash), body, rest))
}

#[cfg(test)]
mod tests;
