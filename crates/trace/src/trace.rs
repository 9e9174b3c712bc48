//! What tracing found, as it is kept in a file: one JSON object.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counts::{Calls, Class, Counts};
use crate::kernel::{Kernel, Probed};
use crate::times::Times;

/// Says what a file is.
pub const KIND: &str = "trace";
/// The version of its format.
pub const VERSION: u32 = 1;

/// One traced run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Always [`KIND`].
    pub fathom: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// The traced command, or the command of the engine that ran the module.
    pub command: Vec<String>,
    /// The engine, where a module was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The module's arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its exit status; 128 and the number of a signal that ended it.
    pub status: i32,
    /// From its start to its end.
    pub wall_ns: u64,
    /// What the module called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wasi: Option<Wasi>,
    /// What was asked of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// What it costs that a system call is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_cost: Option<Cost>,
    /// What was not seen, and why.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// The WASI calls of a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wasi {
    /// How they were seen.
    pub how: How,
    /// By name.
    pub functions: BTreeMap<String, Function>,
    /// What it costs that a call is seen; none where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// What looking costs, measured on the machine that was traced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// How much longer a call takes by being seen.
    pub call_ns: f64,
    /// What is seen of a call that does next to nothing: times near it say nothing more.
    pub least_ns: f64,
    /// What such a call takes when nobody looks, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_ns: Option<f64>,
}

/// How WASI calls are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The module counts them itself, and times them by the engine's clock where it was
    /// asked to.
    Rewriting,
    /// Our engine counts and times them.
    InProcess,
    /// The kernel counts and times the engine's functions, by a symbol map.
    Symbols,
}

/// One function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// How often, with which results, and how many bytes.
    #[serde(flatten)]
    pub calls: Calls,
    /// How long; none where that was not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// How long all together, where no more was seen than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ns: Option<u64>,
}

impl Function {
    /// How long all together, where that was seen.
    pub fn all_ns(&self) -> Option<u64> {
        let times = self.times.as_ref().map(|times| times.total_ns);
        times.or(self.total_ns)
    }
}

impl Wasi {
    /// From what a rewritten module hands out.
    pub fn rewritten(counts: Counts) -> Wasi {
        let clocked = counts.clocked.as_ref();
        let function = |(name, calls): (String, Calls)| {
            let function = Function {
                calls,
                times: None,
                total_ns: clocked.and_then(|times| times.total_ns.get(&name).copied()),
            };
            (name, function)
        };
        Wasi {
            how: How::Rewriting,
            functions: counts.functions.into_iter().map(function).collect(),
            cost: clocked.map(|clocked| Cost {
                call_ns: 2.0 * clocked.reading_ns(),
                least_ns: clocked.reading_ns(),
                plain_ns: None,
            }),
        }
    }

    /// From what the kernel saw of an engine's functions.
    pub fn by_symbols(probed: BTreeMap<String, Probed>, cost: Option<Cost>) -> Wasi {
        let function = |(name, probed): (String, Probed)| {
            let calls = Calls {
                unseen: probed.entered,
                ..Calls::default()
            };
            let function = Function {
                calls,
                times: (probed.times.count > 0).then_some(probed.times),
                total_ns: None,
            };
            (name, function)
        };
        Wasi {
            how: How::Symbols,
            functions: probed.into_iter().map(function).collect(),
            cost,
        }
    }

    /// How they were seen, as people call it.
    pub fn words(&self) -> &'static str {
        match (self.how, &self.cost) {
            (How::Rewriting, None) => "counted by the module itself, rewritten",
            (How::Rewriting, Some(_)) => {
                "counted and timed by the module itself, rewritten, with the engine's clock"
            }
            (How::InProcess, _) => "counted and timed in the engine",
            (How::Symbols, _) => {
                "functions of the engine, by its symbols and probes of the kernel; results and \
                 bytes are not seen"
            }
        }
    }

    /// Nothing yet, seen in the engine.
    pub fn in_process() -> Wasi {
        Wasi {
            how: How::InProcess,
            functions: BTreeMap::new(),
            cost: None,
        }
    }

    /// Adds what one thread called of one function: error numbers and how often.
    pub fn add(&mut self, name: &str, results: &[(u32, u64)], bytes: u64, times: &Times) {
        let function = self.functions.entry(name.to_owned()).or_default();
        for (errno, count) in results {
            function.calls.results[Class::position(*errno)] += count;
        }
        function.calls.bytes += bytes;
        function.times.get_or_insert_default().merge(times);
    }

    /// All calls.
    pub fn total(&self) -> u64 {
        self.functions.values().map(|f| f.calls.count()).sum()
    }

    /// All time in them, where it was seen.
    pub fn total_ns(&self) -> Option<u64> {
        let called = self.functions.values().filter(|f| f.calls.count() > 0);
        called.map(Function::all_ns).sum()
    }
}

/// Why a file is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Not JSON of this shape.
    #[error("not a trace, as `fathom trace --out` writes one: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Something else, or of another version.
    #[error("not a trace of version {VERSION}")]
    Other,
}

impl Trace {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let trace: Trace = serde_json::from_str(text)?;
        match trace.fathom == KIND && trace.version == VERSION {
            true => Ok(trace),
            false => Err(TraceError::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_as_it_was_written() {
        let mut wasi = Wasi::in_process();
        let mut times = Times::default();
        times.add(90);
        times.add(40);
        wasi.add("fd_write", &[(0, 1), (8, 1)], 5, &times);
        wasi.add("fd_write", &[(0, 2)], 5, &times);
        let function = &wasi.functions["fd_write"];
        assert_eq!((function.calls.count(), function.calls.failed()), (4, 1));
        assert_eq!((wasi.total(), wasi.total_ns()), (4, Some(260)));
        let trace = Trace {
            fathom: KIND.into(),
            version: VERSION,
            command: vec!["x".into()],
            engine: Some("fathom".into()),
            module: None,
            args: Vec::new(),
            status: 0,
            wall_ns: 3,
            wasi: Some(wasi),
            kernel: Some(Kernel::default()),
            kernel_cost: Some(Cost {
                call_ns: 290.5,
                least_ns: 120.0,
                plain_ns: Some(60.0),
            }),
            missing: Vec::new(),
        };
        let text = serde_json::to_string(&trace).unwrap();
        assert_eq!(Trace::parse(&text).unwrap(), trace);
        let newer = text.replace("\"version\":1", "\"version\":2");
        assert!(matches!(Trace::parse(&newer), Err(TraceError::Other)));
        assert!(Trace::parse("{}").is_err());
        assert_eq!(Wasi::rewritten(Counts::default()).total_ns(), Some(0));
    }
}
