//! Functions made up from a seed: nested loops whose indices are sums of parameters,
//! of counters with all kinds of strides, and of bytes that were loaded, with loads
//! and stores in front, between and behind. Also taken by tests inside the crate.

use std::fmt::Write as _;

/// A generator of numbers that stays the same (Marsaglia's xorshift).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    pub fn in_a_hundred(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

const LOCALS: usize = 6;
/// Parameters of the function.
pub const PARAMS: usize = 3;

/// In front of each access: what was counted tells which one trapped.
const STEP: &str = "(global.set $steps (i64.add (global.get $steps) (i64.const 1)))";

/// Writes the body of one function.
struct Writer<'n> {
    numbers: &'n mut Numbers,
    text: String,
    memory64: bool,
    /// Counters of the loops around: how often they still run.
    loops: usize,
    labels: usize,
}

impl Writer<'_> {
    fn ty(&self) -> &'static str {
        if self.memory64 { "i64" } else { "i32" }
    }

    fn stride(&mut self) -> i64 {
        if self.numbers.in_a_hundred(60) {
            return self
                .numbers
                .one_of(&[1, 4, 8, 8, 8, 16, 24, -4, -8, -8, -16]);
        }
        match self.memory64 {
            true => self.numbers.one_of(&[
                4096,
                -4096,
                65_536,
                -65_536,
                1 << 28,
                -(1 << 28),
                (1 << 28) + 8,
                -(1 << 28) - 8,
                1 << 31,
                1 << 32,
                (1 << 32) + 8,
                1 << 40,
                -(1 << 40),
                i64::MIN,
            ]),
            false => self.numbers.one_of(&[
                4096,
                -4096,
                65_536,
                -65_536,
                1 << 28,
                -(1 << 28),
                1 << 30,
                i64::from(i32::MIN),
            ]),
        }
    }

    fn offset(&mut self) -> u64 {
        if self.numbers.in_a_hundred(80) {
            return self.numbers.one_of(&[0, 0, 0, 0, 1, 8, 16]);
        }
        let most = if self.memory64 { 1 << 32 } else { 0xffff_ffff };
        let near_the_end = self.numbers.one_of(&[4096, 65_528, 65_535]);
        self.numbers.one_of(&[near_the_end, 0xffff_fff8, most])
    }

    /// An index: a sum of a few things.
    fn index(&mut self) -> String {
        let ty = self.ty();
        let local = |n: usize| format!("(local.get {n})");
        let count = PARAMS + LOCALS;
        let mut sum = local(self.numbers.below(count));
        for _ in 0..self.numbers.below(3) {
            let other = local(self.numbers.below(count));
            let scale = self.numbers.one_of(&[0, 1, 3, 3]);
            let byte = self.numbers.one_of(&[255, 255, 65_535]);
            let half = format!("(i32.wrap_i64 {other})");
            let wide = self.numbers.one_of(&[0, 2, 3, 3, 4]);
            let kinds = if self.memory64 { 9 } else { 6 };
            let term = match self.numbers.below(kinds) {
                0 => other,
                1 => format!("({ty}.shl {other} ({ty}.const {scale}))"),
                2 => format!("({ty}.mul {other} ({ty}.const {}))", self.stride()),
                3 => format!("({ty}.and {other} ({ty}.const {byte}))"),
                4 => format!(
                    "({ty}.shl ({ty}.load8_u (local.get {})) ({ty}.const {scale}))",
                    PARAMS + LOCALS
                ),
                5 => format!("({ty}.const {})", self.stride()),
                // An element, by a number of 32 bits.
                6 => format!("(i64.shl (i64.extend_i32_u {half}) (i64.const {wide}))"),
                _ => format!("(i64.shl (i64.extend_i32_s {half}) (i64.const {wide}))"),
            };
            let op = self.numbers.one_of(&["add", "add", "add", "sub"]);
            sum = format!("({ty}.{op} {sum} {term})");
        }
        sum
    }

    fn access(&mut self) {
        let ty = self.ty();
        let index = self.index();
        let offset = self.offset();
        let kind = self.numbers.below(7);
        let seen = "(global.get $seen)";
        let line = match kind {
            0 => format!("(i64.store offset={offset} {index} {seen})"),
            1 => format!("(i64.store8 offset={offset} {index} {seen})"),
            2 => format!("(v128.store offset={offset} {index} (i64x2.splat {seen}))"),
            3 => {
                format!("(global.set $seen (i64.add {seen} (i64.load8_u offset={offset} {index})))")
            }
            4 => format!(
                "(global.set $seen (i64.add {seen} (i64.atomic.load offset={offset} {index})))"
            ),
            _ => format!("(global.set $seen (i64.add {seen} (i64.load offset={offset} {index})))"),
        };
        let _ = writeln!(self.text, "{STEP}\n{line}");
        // The same index again, somewhat further.
        if self.numbers.in_a_hundred(40) {
            let by = self.numbers.one_of(&[0, 0, 8, 8, 16, -8, -16, 4096]);
            let offset = self.offset();
            let _ = writeln!(
                self.text,
                "{STEP}\n({ty}.store offset={offset} ({ty}.add {index} ({ty}.const {by})) \
                 ({ty}.const 77))"
            );
        }
        // An element of what is there, by a number of 32 bits.
        if self.memory64 && self.numbers.in_a_hundred(40) {
            let number = self.numbers.below(PARAMS + LOCALS);
            let sign = self.numbers.one_of(&["s", "s", "u"]);
            let scale = self.numbers.one_of(&[0, 2, 3, 3, 3, 4]);
            let op = self.numbers.one_of(&["add", "add", "sub"]);
            let _ = writeln!(
                self.text,
                "{STEP}\n(global.set $seen (i64.add {seen} (i64.load (i64.{op} {index} (i64.shl \
                 (i64.extend_i32_{sign} (i32.wrap_i64 (local.get {number}))) \
                 (i64.const {scale}))))))"
            );
        }
    }

    fn statement(&mut self, depth: usize) {
        let ty = self.ty();
        let target = PARAMS + self.numbers.below(LOCALS);
        match self.numbers.below(20) {
            0..8 => self.access(),
            8..13 => {
                let by = self.stride();
                let _ = writeln!(
                    self.text,
                    "(local.set {target} ({ty}.add (local.get {target}) ({ty}.const {by})))"
                );
            }
            13 => {
                let bit = format!("(i64.and (global.get $seen) (i64.const {}))", 1 << depth);
                let index = self.index();
                let _ = writeln!(self.text, "(if (i64.eqz {bit}) (then");
                match self.numbers.in_a_hundred(50) {
                    true => self.access(),
                    false => {
                        let _ = writeln!(self.text, "(local.set {target} {index})");
                    }
                }
                self.text.push_str("))\n");
            }
            14 => {
                let _ = writeln!(
                    self.text,
                    "(local.set {target} (select ({ty}.add (local.get {target}) ({ty}.const 8)) \
                     ({ty}.add (local.get {target}) ({ty}.const 24)) \
                     (i32.wrap_i64 (global.get $steps))))"
                );
            }
            15 => {
                let _ = writeln!(self.text, "(drop (memory.grow ({ty}.const 1)))");
            }
            16 => {
                let index = self.index();
                let _ = writeln!(self.text, "(local.set {target} {index})");
            }
            17 => self.pattern(depth),
            _ if depth < 3 => self.repeat(depth),
            _ => self.access(),
        }
    }

    /// A loop with something that a rule has to see: an index that is used for
    /// something else before, that is accessed on one way only, that moves in two
    /// ways; a memory that grows in between.
    fn pattern(&mut self, depth: usize) {
        let ty = self.ty();
        let at = PARAMS + self.numbers.below(LOCALS);
        let (param, offset) = (self.numbers.below(PARAMS), self.offset());
        let count = PARAMS + LOCALS + 1 + self.loops;
        self.loops += 1;
        self.labels += 1;
        let label = self.labels;
        let bit = 1 << self.numbers.below(3).min(depth);
        let odd = format!("(i32.and (local.get {count}) (i32.const {bit}))");
        let access = format!("{STEP} ({ty}.store offset={offset} (local.get {at}) ({ty}.const 7))");
        let (this, other) = (self.stride(), self.stride());
        let step = |by| format!("(local.set {at} ({ty}.add (local.get {at}) ({ty}.const {by})))");
        let last = PARAMS + (at - PARAMS + 1) % LOCALS;
        let access_last =
            access.replace(&format!("(local.get {at})"), &format!("(local.get {last})"));
        let keep = format!("(local.set {last} (local.get {at}))");
        let body = match self.numbers.below(10) {
            0 => format!(
                "({ty}.store offset=16 ({ty}.const 8) (local.get {at})) {access} {}",
                step(this)
            ),
            1 => format!("(if {odd} (then {access})) {}", step(this)),
            2 => format!("(if {odd} (then {access})) {access} {}", step(this)),
            3 => format!(
                "(drop (memory.grow ({ty}.const 1))) {access} {}",
                step(this)
            ),
            4 => format!(
                "{access} (local.set {at} (select ({ty}.add (local.get {at}) ({ty}.const {this})) \
                 ({ty}.add (local.get {at}) ({ty}.const {other})) {odd}))"
            ),
            5 => format!(
                "{access} {} (local.set {count} (i32.sub (local.get {count}) (i32.const 1))) \
                 (br_if $l{label} {odd}) {}",
                step(this),
                step(other)
            ),
            6 => format!(
                "{access} (if {odd} (then {}) (else {}))",
                step(this),
                step(other)
            ),
            // What was accessed is kept, and accessed again later.
            7 => format!(
                "{access} {access_last} (if {odd} (then {keep})) {}",
                step(this)
            ),
            8 => format!(
                "{access_last} (if {odd} (then {access} {keep})) {}",
                step(this)
            ),
            _ => format!("{access_last} {access} {} {keep}", step(this)),
        };
        // What is kept first was accessed, or not.
        let first = match self.numbers.below(3) {
            0 => format!("{access} {keep}"),
            1 => keep,
            _ => String::new(),
        };
        let _ = writeln!(
            self.text,
            "(local.set {at} (local.get {param}))\n(local.set {count} (i32.const 9))\n\
             {first}\n\
             (loop $l{label} {body}\n\
             (br_if $l{label} (i32.gt_s (local.tee {count} (i32.sub (local.get {count}) \
             (i32.const 1))) (i32.const 0))))\n{access}"
        );
    }

    /// A loop of a few iterations.
    fn repeat(&mut self, depth: usize) {
        let ty = self.ty();
        let target = PARAMS + self.numbers.below(LOCALS);
        let from = PARAMS + LOCALS + 1 + self.loops;
        self.loops += 1;
        self.labels += 1;
        let label = self.labels;
        match self.numbers.below(3) {
            0 => {
                let _ = writeln!(self.text, "(local.set {target} ({ty}.const 0))");
            }
            1 => {
                let param = self.numbers.below(PARAMS);
                let _ = writeln!(self.text, "(local.set {target} (local.get {param}))");
            }
            _ => {}
        }
        let times = 1 + self.numbers.below(12);
        let _ = writeln!(
            self.text,
            "(local.set {from} (i32.const {times}))\n(loop $l{label}"
        );
        for _ in 0..1 + self.numbers.below(5) {
            self.statement(depth + 1);
        }
        let by = self.stride();
        if self.numbers.in_a_hundred(70) {
            let _ = writeln!(
                self.text,
                "(local.set {target} ({ty}.add (local.get {target}) ({ty}.const {by})))"
            );
        }
        let _ = writeln!(
            self.text,
            "(br_if $l{label} (local.tee {from} (i32.sub (local.get {from}) (i32.const 1)))))"
        );
    }
}

/// A module with one function.
pub fn module(seed: u64, memory64: bool) -> String {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..3 {
        numbers.next();
    }
    let is_imported = numbers.in_a_hundred(25);
    let limits = numbers.one_of(&["1 2", "1 1", "2 5", "1", "0 3"]);
    let mut writer = Writer {
        numbers: &mut numbers,
        text: String::new(),
        memory64,
        loops: 0,
        labels: 0,
    };
    if writer.numbers.in_a_hundred(60) {
        writer.pattern(0);
    }
    for _ in 0..1 + writer.numbers.below(6) {
        writer.statement(0);
    }
    let ty = writer.ty();
    let (loops, body) = (writer.loops, writer.text);
    let params = format!("{ty} ").repeat(PARAMS);
    let locals = format!("{ty} ").repeat(LOCALS + 1);
    let counters = "i32 ".repeat(loops);
    let index = if memory64 { "i64 " } else { "" };
    // One that is imported may have been made with another maximum.
    let memory = match is_imported {
        true => format!("(import \"\" \"\" (memory {index}0)) (export \"memory\" (memory 0))"),
        false => format!("(memory (export \"memory\") {index}{limits})"),
    };
    format!(
        "(module {memory}\n\
         (global $seen (export \"seen\") (mut i64) (i64.const 0))\n\
         (global $steps (export \"steps\") (mut i64) (i64.const 0))\n\
         (func (export \"run\") (param {params}) (local {locals} {counters})\n{body}))"
    )
}
