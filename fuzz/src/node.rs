//! The same module under node, whose compilers have nothing in common with ours: V8's.
//!
//! ```text
//!  node.rs ─ the module's file, its exports and their types ─► node.cjs ─► V8
//!          ◄ results, traps, states as numbers ────────────────┘
//! ```
//!
//! What must stay true: JavaScript has no vectors, no exceptions' references and only one NaN, so
//! that modules have neither of the first two, and a NaN agrees with every other. A node is one
//! thread's at a time; one that dies is a difference.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use fathom_engine::{ExternType, Module, ValType};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::observe::{Bits, Ended, OUT_OF_BOUNDS, Observed, UNALIGNED, argument};
use crate::ours::is_callable;

/// What runs modules in node.
const SCRIPT: &str = include_str!("node.cjs");
/// What [`Digest`](crate::observe::Digest) does, where memories are at hand.
const DIGEST: &str = r#"(module
  (memory (export "memory") 20)
  (global $digest (mut i64) (i64.const 0))
  (func (export "start") (global.set $digest (i64.const 0xcbf29ce484222325)))
  (func (export "end") (result i64) (global.get $digest))
  (func $number (export "number") (param i64)
    (global.set $digest
      (i64.mul
        (i64.xor (i64.rotl (global.get $digest) (i64.const 23)) (local.get 0))
        (i64.const 0x9e3779b97f4a7c15))))
  (func (export "bytes") (param $len i32) (local $at i32)
    (call $number (i64.extend_i32_u (local.get $len)))
    (block $done
      (loop $more
        (br_if $done (i32.ge_u (local.get $at) (local.get $len)))
        (call $number (i64.load (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $more)))))"#;

/// As many nodes as run modules at once.
pub struct Nodes {
    script: NamedTempFile,
    idle: Mutex<Vec<Node>>,
}

/// A process of node.
struct Node {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Node {
    fn start(script: &Path) -> io::Result<Node> {
        let pinned = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/engines/node/bin/node");
        let program = match pinned.is_file() {
            true => pinned.as_path(),
            false => Path::new("node"),
        };
        let mut child = Command::new(program)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut requests = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let digest = wat::parse_str(DIGEST).expect("it is well-formed");
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(requests, "{hex}")?;
        Ok(Node {
            child,
            requests,
            answers,
        })
    }

    fn ask(&mut self, request: &Value) -> io::Result<Value> {
        writeln!(self.requests, "{request}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).map_err(io::Error::from)
    }
}

impl Nodes {
    /// None runs yet.
    ///
    /// # Errors
    /// There is no node, or the script cannot be written.
    pub fn new() -> io::Result<Nodes> {
        let script = tempfile::Builder::new().suffix(".cjs").tempfile()?;
        std::fs::write(script.path(), SCRIPT)?;
        let first = Node::start(script.path())?;
        Ok(Nodes {
            script,
            idle: Mutex::new(vec![first]),
        })
    }

    /// Runs everything that a module exports, beside what another engine observed: where node says
    /// less, that is said for it.
    ///
    /// # Errors
    /// Node does not take the module, or is gone.
    pub fn observe(
        &self,
        module: &Module,
        wasm: &[u8],
        other: &Observed,
    ) -> Result<Observed, Gone> {
        let mut file = NamedTempFile::new().map_err(Gone::of)?;
        file.write_all(wasm).map_err(Gone::of)?;
        let request = json!({"file": file.path(), "exports": exports(module)});
        let idle = || {
            self.idle
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
        };
        let taken = idle().pop();
        let mut node = match taken {
            Some(node) => node,
            None => Node::start(self.script.path()).map_err(Gone::of)?,
        };
        let answer = node.ask(&request).map_err(Gone::of)?;
        idle().push(node);
        observed(&answer, other)
    }
}

/// Why there is nothing to compare.
pub enum Gone {
    /// Node does not take such a module.
    Refused(String),
    /// It ended, or cannot be started.
    Died(String),
}

impl Gone {
    fn of(error: io::Error) -> Gone {
        Gone::Died(format!("node: {error}"))
    }
}

/// What node is told of exports, in order of their names.
fn exports(module: &Module) -> Vec<Value> {
    let mut all: Vec<(&str, ExternType)> = module.exports().collect();
    all.sort_by_key(|(name, _)| *name);
    let told = all.into_iter().filter_map(|(name, ty)| match ty {
        ExternType::Func(ty) if !is_callable(&ty) => None,
        ExternType::Func(ty) => {
            let given = |(at, ty)| json!([letter(ty), argument(at).to_string()]);
            let params: Vec<Value> = ty.params().iter().enumerate().map(given).collect();
            let results: Vec<&str> = ty.results().iter().map(letter).collect();
            Some(json!({"name": name, "kind": "func", "params": params, "results": results}))
        }
        ExternType::Global(ty) => {
            Some(json!({"name": name, "kind": "global", "type": letter(&ty.content)}))
        }
        ExternType::Memory(_) => Some(json!({"name": name, "kind": "memory"})),
        ExternType::Table(ty) => {
            let index = if ty.table64 { "i64" } else { "i32" };
            Some(json!({"name": name, "kind": "table", "type": index}))
        }
        _ => None,
    });
    told.collect()
}

fn letter(ty: &ValType) -> &'static str {
    match ty {
        ValType::I32 => "i32",
        ValType::I64 => "i64",
        ValType::F32 => "f32",
        ValType::F64 => "f64",
        ValType::V128 => "v128",
        ValType::Ref(_) => "ref",
    }
}

/// An answer as it is compared.
fn observed(answer: &Value, other: &Observed) -> Result<Observed, Gone> {
    if let Some(failed) = answer["failed"].as_str() {
        if failed.starts_with("CompileError") {
            return Err(Gone::Refused(failed.to_owned()));
        }
        let ended = ended(failed, other.instantiation.as_ref());
        return Ok(Observed::refused(ended));
    }
    let calls = list(&answer["calls"]).enumerate().map(|(at, call)| {
        let theirs = other.calls.get(at).map(|(_, outcome)| outcome);
        let outcome = match call[1]["trap"].as_str() {
            Some(said) => Err(ended(said, theirs.and_then(|theirs| theirs.as_ref().err()))),
            None => {
                let theirs = theirs.and_then(|theirs| theirs.as_ref().ok());
                let values = list(&call[1]["ok"]).enumerate();
                let values = values
                    .map(|(at, one)| bits(one, theirs.and_then(|theirs| theirs.get(at).copied())));
                Ok(values.collect())
            }
        };
        (name(call), outcome)
    });
    let after = list(&answer["after"]).enumerate().map(|(at, one)| {
        let theirs = other.after_traps.get(at).map_or(0, |(_, state)| *state);
        (name(one), number(&one[1]).unwrap_or(theirs))
    });
    let globals = list(&answer["globals"]).enumerate().map(|(at, one)| {
        let theirs = other.globals.get(at).map(|(_, value)| *value);
        (name(one), bits(&one[1], theirs))
    });
    let memories = list(&answer["memories"]).map(|one| {
        let state = number(&one[2]).unwrap_or_default();
        (name(one), one[1].as_u64().unwrap_or_default(), state)
    });
    let tables =
        list(&answer["tables"]).map(|one| (name(one), one[1].as_u64().unwrap_or_default()));
    Ok(Observed {
        instantiation: None,
        calls: calls.collect(),
        after_traps: after.collect(),
        globals: globals.collect(),
        memories: memories.collect(),
        tables: tables.collect(),
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn name(value: &Value) -> String {
    value[0].as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

/// A value; a NaN is the other's, where that is one.
fn bits(value: &Value, other: Option<Bits>) -> Bits {
    if let Some(null) = value["null"].as_bool() {
        return Bits::Reference { null };
    }
    let (canonical, is_nan): (u128, fn(u128) -> bool) = match value["nan"].as_str() {
        Some("f32") => (0x7fc0_0000, |bits| f32::from_bits(bits as u32).is_nan()),
        Some(_) => (0x7ff8 << 48, |bits| f64::from_bits(bits as u64).is_nan()),
        None => return Bits::Number(number(&value["bits"]).unwrap_or_default().into()),
    };
    match other {
        Some(Bits::Number(theirs)) if is_nan(theirs) => Bits::Number(theirs),
        _ => Bits::Number(canonical),
    }
}

/// How something ended, by what V8 says. Where that stands for more than one of our traps it is
/// the other's, if that is one of them.
fn ended(said: &str, other: Option<&Ended>) -> Ended {
    const TABLE: &str = "out of bounds table access";
    let names: &[&'static str] = match said.split_once(": ").map_or(said, |(_, text)| text) {
        "unreachable" => &["unreachable"],
        "memory access out of bounds" => &[OUT_OF_BOUNDS],
        "divide by zero" | "remainder by zero" => &["integer divide by zero"],
        "divide result unrepresentable" => &["integer overflow"],
        "float unrepresentable in integer range" => {
            &["integer overflow", "invalid conversion to integer"]
        }
        "null function or function signature mismatch" => &[
            "indirect call type mismatch",
            "uninitialized element",
            "null reference",
        ],
        "dereferencing a null pointer" => &["null reference"],
        "illegal cast" => &["cast failure"],
        "array element access out of bounds" => &["out of bounds array access"],
        "operation does not support unaligned accesses" => &[UNALIGNED],
        // Of `array.new_data` and of `memory.init`.
        text if text.contains("data segment") => &[OUT_OF_BOUNDS, "out of bounds array access"],
        text if text.contains("element segment") => &[TABLE, "out of bounds array access"],
        text if text.contains("table in") => &[TABLE],
        text if text.contains("call stack") || text.contains("too large") => {
            return Ended::Exhausted;
        }
        _ => return Ended::Refused(said.to_owned()),
    };
    match other {
        Some(Ended::Trapped(theirs)) if names.contains(theirs) => Ended::Trapped(theirs),
        _ => Ended::Trapped(names[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ours::Ours;

    const PROGRAM: &str = r#"(module
      (memory (export "m") 1) (data (i32.const 65529) "\01")
      (global (export "g") (mut i64) (i64.const -5))
      (global (export "x") f32 (f32.const 2.5))
      (table $t (export "t") 3 funcref) (elem (table $t) (i32.const 1) func $f)
      (type $s (struct (field i8)))
      (func $f (export "f") (param i32 f32) (result f32 i64 anyref)
        (local.get 1) (i64.extend_i32_s (i32.mul (local.get 0) (i32.const 3))) (ref.i31 (i32.const 1)))
      (func (export "u") (i32.store (i32.const 65530) (i32.const 7)) (drop (i32.div_u (i32.const 1) (i32.const 0)))))"#;

    /// Whether a program on node is what another one is on ours.
    fn agree(one: &str, other: &str) -> Result<(), String> {
        let ours = Ours::plain().unwrap();
        let [one, other] = [one, other].map(|text| wat::parse_str(text).unwrap());
        let module = Module::new(&ours.engine, &one).unwrap();
        let expected = ours.observe(&other);
        let Ok(observed) = Nodes::new().unwrap().observe(&module, &one, &expected) else {
            panic!("node takes the program");
        };
        expected.agrees(&observed)
    }

    #[test]
    fn what_differs_is_seen() {
        if Node::start(Path::new("/dev/null")).is_err() {
            eprintln!("SKIPPED: no node: make tools");
            return;
        }
        agree(PROGRAM, PROGRAM).unwrap();
        let [one, other] = ["nan", "-nan:0x200001"].map(|nan| PROGRAM.replace("2.5", nan));
        agree(&one, &other).unwrap();
        for (from, to) in [
            ("65529", "65528"),
            ("-5", "-6"),
            ("(f32.const 2.5)", "(f32.const nan)"),
            ("(i32.const 1) func", "(i32.const 0) func"),
            ("3 funcref", "4 funcref"),
            ("i32.mul", "i32.add"),
            ("(ref.i31 (i32.const 1))", "(ref.null any)"),
            ("(local.get 1)", "(f32.neg (local.get 1))"),
            ("(i32.const 7)", "(i32.const 8)"),
            ("i32.div_u", "i32.add"),
        ] {
            let changed = PROGRAM.replace(from, to);
            assert_ne!(changed, PROGRAM, "{from}");
            assert!(agree(&changed, PROGRAM).is_err(), "{from}: {to}");
            assert!(agree(PROGRAM, &changed).is_err(), "{to}: {from}");
        }
    }
}
