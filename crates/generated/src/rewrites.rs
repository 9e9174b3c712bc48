//! Programs at the edges of what the compiler rewrites, out of seeds: what
//! wasm-smith does not make.
//!
//! ```text
//!  seed ─► module ─┬─ memories of both widths; memories, tables and globals
//!                  │  imported twice, beside others of its own
//!                  ├─ small functions: stores, returns from the middle, traps
//!                  ├─ functions of (i32, i64, i64) with accesses that move in loops,
//!                  │  stores before traps, sums that are nearly a product,
//!                  │  effect-free loops between two stores
//!                  └─ exports without parameters that call those with numbers
//!                     from around everything that a check depends on
//! ```
//!
//! What must stay true: a module ends by itself where an engine is exact. A loop
//! without end stands only behind an access that has to trap whenever the loop is
//! reached ([`Loops::Endless`]); so it is an engine's mistake if one does not return.

mod arithmetic;
mod state;
mod values;

use crate::generate::Stream;
use state::STORES;

/// Whether there are loops that end only because nothing reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// Every loop counts down.
    Counted,
    /// Some would never end, behind an access that traps. Not for engines on
    /// Cranelift that let it delete that access: they hang.
    Endless,
}

/// The module of a seed.
pub fn from_seed(seed: u64, loops: Loops) -> Vec<u8> {
    let text = text(seed, loops);
    match wat::parse_str(&text) {
        Ok(wasm) => wasm,
        Err(error) => panic!("seed {seed}: {error}\n{text}"),
    }
}

/// The same, for a person to read.
pub fn text(seed: u64, loops: Loops) -> String {
    let mut stream = Stream::new(seed);
    let memories = memories(&mut stream);
    let mut writer = Writer {
        own_globals: if stream.below(8) == 0 { 70 } else { 3 },
        stream,
        memories,
        loops,
        text: String::from("(module\n"),
        counters: 0,
        labels: 0,
        depth: 0,
        small: false,
    };
    writer.declarations();
    for at in 0..SMALL {
        writer.small_function(at);
    }
    for at in 0..BODIES {
        writer.body(at);
    }
    writer.text.push(')');
    writer.text
}

/// Small functions, bodies, and calls of each.
const SMALL: usize = 5;
const BODIES: usize = 3;
const CALLS: usize = 5;
/// Locals of a body: `$p i32`, `$q` and `$r i64`, then these.
const LOCALS_32: [&str; 3] = ["$p", "$a", "$b"];
const LOCALS_64: [&str; 5] = ["$q", "$r", "$x", "$y", "$z"];
/// Counters of loops in a body.
const COUNTERS: usize = 6;
const PAGE: u64 = 1 << 16;

/// A memory, by what it is named.
#[derive(Clone, Debug)]
struct Memory {
    name: String,
    wide: bool,
    /// Bytes, where it cannot grow.
    fixed: Option<u64>,
}

impl Memory {
    fn ty(&self) -> &'static str {
        if self.wide { "i64" } else { "i32" }
    }
}

fn memories(stream: &mut Stream) -> Vec<Memory> {
    // Three imports of one kind, two or all of which are one; and two of its own.
    let wide = stream.below(2) == 0;
    let fixed = (stream.below(2) == 0).then_some(PAGE);
    let imported = ["$i0", "$i1", "$i2"].map(|name| (name, wide, fixed));
    let own = [("$m32", false), ("$m64", true)].map(|(name, wide)| {
        let fixed = (stream.below(2) == 0).then_some(PAGE);
        (name, wide, fixed)
    });
    let all = imported.into_iter().chain(own);
    all.map(|(name, wide, fixed)| Memory {
        name: name.to_owned(),
        wide,
        fixed,
    })
    .collect()
}

struct Writer {
    stream: Stream,
    memories: Vec<Memory>,
    loops: Loops,
    own_globals: usize,
    text: String,
    counters: usize,
    labels: usize,
    depth: usize,
    /// Whether it is a small function that is written.
    small: bool,
}

impl Writer {
    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.stream.below(items.len())]
    }

    fn chance(&mut self, in_a_hundred: usize) -> bool {
        self.stream.below(100) < in_a_hundred
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn declarations(&mut self) {
        let shared = !self.memories[0].wide && self.chance(20);
        let limits = |memory: &Memory, shared: bool| {
            let index = if memory.wide { "i64 " } else { "" };
            let most = if memory.fixed.is_some() { 1 } else { 3 };
            let shared = if shared { " shared" } else { "" };
            format!("{index}1 {most}{shared}")
        };
        // The third is sometimes another one.
        let third = self.one_of(&["same", "other"]);
        for (at, from) in ["same", "same", third].into_iter().enumerate() {
            let limits = limits(&self.memories[at], shared);
            self.line(&format!(
                "(import \"memory\" \"{from}\" (memory $i{at} {limits}))"
            ));
        }
        for (what, ty) in [
            ("t", "(table $NAME 8 12 funcref)"),
            ("g", "(global $NAME (mut i32))"),
            ("h", "(global $NAME (mut i64))"),
        ] {
            for at in 0..2 {
                let ty = ty.replace("$NAME", &format!("${what}{at}"));
                self.line(&format!("(import \"{what}\" \"same\" {ty})"));
            }
        }
        self.line("(import \"host\" \"f\" (func $host))");
        for at in [3, 4] {
            let limits = limits(&self.memories[at], false);
            let name = self.memories[at].name.clone();
            self.line(&format!("(memory {name} (export \"{name}\") {limits})"));
        }
        self.line("(table $own (export \"own\") 4 8 funcref)");
        for at in 0..self.own_globals {
            self.line(&format!(
                "(global $o{at} (export \"o{at}\") (mut i64) (i64.const {at}))"
            ));
        }
        self.line("(global $seen (export \"seen\") (mut i64) (i64.const 0))");
        self.line("(tag $tag (param i64))");
        self.line("(type $leaf (func (param i32 i64) (result i64)))");
        for (table, at) in [("$t0", 1), ("$own", 0)] {
            let small = at % SMALL;
            self.line(&format!(
                "(elem (table {table}) (i32.const {at}) func $s{small} $s1)"
            ));
        }
        self.line("(elem declare func $s2)");
    }

    /// One that is translated in the place of its calls: no call, no loop.
    fn small_function(&mut self, at: usize) {
        self.line(&format!(
            "(func $s{at} (type $leaf) (param $p i32) (param $q i64) (result i64)"
        ));
        self.line("(local $a i32) (local $x i64)");
        self.small = true;
        if self.chance(40) {
            let early = self.number64();
            self.line(&format!(
                "(if (i32.eqz (local.get $p)) (then (return {early})))"
            ));
        }
        self.access();
        if self.chance(50) {
            self.trap();
        }
        if self.chance(60) {
            self.access();
        }
        let result = self.number64();
        self.line(&format!("{result})"));
        self.small = false;
    }

    fn body(&mut self, at: usize) {
        let counters: String = (0..COUNTERS)
            .map(|c| format!(" (local $c{c} i32)"))
            .collect();
        self.line(&format!(
            "(func $f{at} (param $p i32) (param $q i64) (param $r i64)\n\
             (local $a i32) (local $b i32) (local $x i64) (local $y i64) (local $z i64){counters}"
        ));
        self.counters = 0;
        for _ in 0..6 + self.stream.below(8) {
            self.statement();
        }
        self.line(")");
        for call in 0..CALLS {
            let p = self.interesting(false);
            let (q, r) = (self.interesting(true), self.interesting(true));
            self.line(&format!(
                "(func (export \"f{at}.{call}\") (call $f{at} (i32.const {p}) (i64.const {q}) (i64.const {r})))"
            ));
        }
    }

    fn statement(&mut self) {
        match self.stream.below(40) {
            0..8 => self.access(),
            8..14 => self.stores_of_one_place(),
            14..18 => self.repeat(),
            18..20 => self.trap(),
            20..23 => self.call(),
            23..26 => self.nearly_a_product(),
            26..28 => self.wide_arithmetic(),
            28..31 => self.globals(),
            31..33 => self.tables(),
            33..35 => self.bulk(),
            35 => self.caught(),
            36 => self.line("(call $host)"),
            37 => {
                let condition = self.condition();
                self.line(&format!("(if {condition} (then"));
                self.access();
                self.line("))");
            }
            _ => self.assign(),
        }
    }

    fn assign(&mut self) {
        if self.chance(50) {
            let (to, value) = (self.one_of(&LOCALS_32), self.number32());
            self.line(&format!("(local.set {to} {value})"));
        } else {
            let (to, value) = (self.one_of(&LOCALS_64), self.number64());
            self.line(&format!("(local.set {to} {value})"));
        }
    }

    /// Adds a 64-bit number to what was seen.
    fn see(&mut self, number: &str) {
        let seen = "(i64.mul (global.get $seen) (i64.const 31))";
        self.line(&format!("(global.set $seen (i64.add {seen} {number}))"));
    }

    /// A loop that nobody could see: a few times around, or for ever where the
    /// access in front of it had to trap.
    fn spin(&mut self, memory: &Memory, index: &str, offset: u64, width: u64) {
        let Some(counter) = self.counter() else {
            return;
        };
        let label = self.label();
        let endless = match (memory.fixed, self.loops) {
            (Some(len), Loops::Endless) => {
                let last = len - offset - width;
                let index = match memory.wide {
                    true => index.to_owned(),
                    false => format!("(i64.extend_i32_u {index})"),
                };
                format!("(i64.gt_u {index} (i64.const {last}))")
            }
            _ => "(i32.const 0)".to_owned(),
        };
        let times = 1 + self.stream.below(3);
        let step = format!("(local.tee {counter} (i32.sub (local.get {counter}) (i32.const 1)))");
        let text = match self.stream.below(3) {
            0 => format!(
                "(loop {label} (br_if {label} (i32.or {endless} (i32.gt_s {step} (i32.const 0)))))"
            ),
            1 => format!(
                "(block $out{label} (loop {label} (br_if $out{label} (i32.and (i32.eqz {endless}) \
                 (i32.le_s {step} (i32.const 0)))) (br {label})))",
                label = label,
            )
            .replace("$out$", "$out"),
            _ => format!("(if {endless} (then (loop {label} (br {label}))))"),
        };
        self.line(&format!("(local.set {counter} (i32.const {times})) {text}"));
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$l{}", self.labels)
    }

    /// A local that counts, if one is left.
    fn counter(&mut self) -> Option<String> {
        if self.small || self.counters == COUNTERS {
            return None;
        }
        self.counters += 1;
        Some(format!("$c{}", self.counters - 1))
    }

    /// A loop with accesses at indices that move.
    fn repeat(&mut self) {
        let Some(counter) = self.counter().filter(|_| self.depth < 2) else {
            return self.access();
        };
        let label = self.label();
        let times = 1 + self.stream.below(5);
        self.line(&format!(
            "(local.set {counter} (i32.const {times})) (loop {label}"
        ));
        self.depth += 1;
        let memory = self.memory();
        let (wide, ty, name) = (memory.wide, memory.ty(), memory.name.clone());
        let at = self.local(wide);
        let stride = match self.chance(80) {
            true => self.one_of(&[1, 8, 8, -8, 24, 40]),
            false => self.one_of(&[4096, 65_536, -65_536, 1 << 28, -(1 << 28), 1 << 31]),
        };
        let offset = self.offset();
        let value = format!("(local.get {})", self.local(true));
        let store = self.one_of(&STORES);
        let access = store.line(&name, offset, &format!("(local.get {at})"), &value);
        match self.stream.below(5) {
            0 => {
                let condition = self.condition();
                self.line(&format!("(if {condition} (then {access}))"));
            }
            1 => {
                let other = self.other(&memory);
                self.line(&format!(
                    "(drop (memory.grow {other} ({ty}.const 1))) {access}"
                ));
            }
            _ => self.line(&access),
        }
        for _ in 0..self.stream.below(3) {
            self.statement();
        }
        if self.chance(80) {
            let stride = if wide {
                stride
            } else {
                i64::from(stride as i32)
            };
            self.line(&format!(
                "(local.set {at} ({ty}.add (local.get {at}) ({ty}.const {stride})))"
            ));
        }
        self.depth -= 1;
        self.line(&format!(
            "(br_if {label} (i32.gt_s (local.tee {counter} (i32.sub (local.get {counter}) (i32.const 1))) (i32.const 0))))"
        ));
    }

    fn call(&mut self) {
        if self.small {
            return;
        }
        let (p, q) = (self.number32(), self.number64());
        let small = self.stream.below(SMALL);
        match self.stream.below(4) {
            0 => {
                let table = self.one_of(&["$t0", "$t1", "$own"]);
                let element = self.one_of(&[1, 1, 1, 1, 1, 0, 2, 3]);
                self.see(&format!(
                    "(call_indirect {table} (type $leaf) {p} {q} (i32.const {element}))"
                ));
            }
            _ => self.see(&format!("(call $s{small} {p} {q})")),
        }
    }

    /// An exception out of the middle of stores.
    fn caught(&mut self) {
        if self.depth > 1 {
            return self.access();
        }
        self.depth += 1;
        let label = self.label();
        let (condition, value) = (self.condition(), self.number64());
        self.line(&format!(
            "(global.set $seen (block {label} (result i64) (try_table (catch $tag {label})"
        ));
        self.access();
        self.line(&format!("(if {condition} (then (throw $tag {value})))"));
        self.access();
        self.line(") (global.get $seen)))");
        self.depth -= 1;
    }
}
