//! The body of one function.

use std::fmt::Write as _;

use crate::generate::Below;

use super::ops::{
    CONVERSIONS, FLOAT, FLOAT_COMPARED, FLOAT_UNARY, INTEGER, INTEGER_COMPARED, LARGE_OFFSETS,
    LOADS, OFFSETS, STORES,
};
use super::{Shape, Signature, Ty, list};

/// Operands that wait at most.
pub(super) const DEPTH_MAX: usize = 30;
/// Instructions of a function, and of a block.
const STEPS: usize = 70;
const BLOCK_STEPS: usize = 12;
/// Blocks in blocks.
const NESTING_MAX: usize = 3;
/// Calls in a function.
const CALLS_MAX: usize = 4;
/// Locals beside parameters, of each type.
const LOCALS: usize = 2;

/// A block that is open: what a branch to it hands on, and whether it is a loop.
struct Label {
    takes: Vec<Ty>,
    is_loop: bool,
}

/// A body as it is made.
pub(super) struct Body<'s, 'b> {
    pub(super) shape: &'s Shape,
    pub(super) func: usize,
    below: Below<'b>,
    text: String,
    locals: Vec<Ty>,
    pub(super) stack: Vec<Ty>,
    labels: Vec<Label>,
    calls: usize,
    loops: usize,
}

impl<'s, 'b> Body<'s, 'b> {
    /// Makes the body of a function.
    pub fn new(shape: &'s Shape, func: usize, below: Below<'b>) -> Body<'s, 'b> {
        let signature = &shape.signatures[func];
        let mut locals = signature.params.clone();
        for ty in Ty::ALL {
            locals.extend([ty; LOCALS]);
        }
        let mut body = Body {
            shape,
            func,
            below,
            text: String::new(),
            locals,
            stack: Vec::new(),
            labels: Vec::new(),
            calls: 0,
            loops: 0,
        };
        match body.pick(8) {
            // Its operands have slots of 16 bytes.
            0 => body.say("v128.const i64x2 0 0 drop"),
            // Cranelift compiles it.
            1 => body.say("call $many drop drop drop drop drop drop drop drop drop"),
            // The runtime may be asked in the middle of it.
            2 => body.say("ref.func $f1 ref.test (ref $open) drop"),
            _ => {}
        }
        body.labels.push(Label {
            takes: signature.results.clone(),
            is_loop: false,
        });
        body.steps(STEPS);
        body.end_with(0, &signature.results);
        body
    }

    /// Its text.
    pub fn text(&self) -> String {
        let Signature { params, .. } = &self.shape.signatures[self.func];
        let mut text = format!("(func $f{0} (type $own{0})", self.func);
        for ty in &self.locals[params.len()..] {
            let _ = write!(text, " (local {})", ty.name());
        }
        let _ = write!(text, " (local $sum i64)");
        for ty in Ty::ALL {
            let _ = write!(text, " (local $any-{0} {0})", ty.name());
        }
        for nth in 0..self.loops {
            let _ = write!(text, " (local $turns{nth} i32)");
        }
        let _ = writeln!(text, "\n{})", self.text);
        text
    }

    pub(super) fn pick(&mut self, end: usize) -> usize {
        (self.below)(end)
    }

    pub(super) fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.pick(all.len())]
    }

    pub(super) fn say(&mut self, instruction: &str) {
        self.text.push_str(instruction);
        self.text.push('\n');
    }

    /// Says an instruction that takes what is on top and gives something.
    pub(super) fn op(&mut self, takes: usize, gives: &[Ty], instruction: &str) {
        self.say(instruction);
        self.stack.truncate(self.stack.len() - takes);
        self.stack.extend(gives);
    }

    fn height(&self) -> usize {
        self.labels.len()
    }

    /// Pushes a value that nothing on the stack is needed for.
    pub(super) fn push(&mut self, ty: Ty) {
        let name = ty.name();
        let text = match self.pick(7) {
            0..2 => {
                let all = ty.constants();
                format!("{name}.const {}", self.one(all))
            }
            2..5 => match self.local(ty) {
                Some(local) => format!("local.get {local}"),
                None => format!("global.get $g-{name}"),
            },
            5 => format!("global.get $g-{name}"),
            _ => {
                self.address(0);
                let at = self.one(&["0", "4", "13"]);
                self.op(1, &[], &format!("{name}.load offset={at}"));
                if matches!(ty, Ty::F32 | Ty::F64) {
                    self.stack.push(ty);
                    self.one_nan();
                    return;
                }
                String::new()
            }
        };
        self.op(0, &[ty], &text);
    }

    fn local(&mut self, ty: Ty) -> Option<usize> {
        let of_type = |at: &usize| self.locals[*at] == ty;
        let all: Vec<usize> = (0..self.locals.len()).filter(of_type).collect();
        (!all.is_empty()).then(|| self.one(&all))
    }

    /// Pushes an index of a memory, most often inside it.
    pub(super) fn address(&mut self, memory: usize) {
        let ty = self.index(memory);
        let local = self.local(ty).expect("there are locals of each type");
        let name = ty.name();
        let text = match self.pick(80) {
            0 => format!("local.get {local}"),
            1..24 => format!("{name}.const {}", 8 * self.pick(8000)),
            _ => format!("local.get {local} {name}.const 0xfff8 {name}.and"),
        };
        self.op(0, &[ty], &text);
    }

    pub(super) fn index(&self, memory: usize) -> Ty {
        match self.shape.memories[memory] {
            true => Ty::I64,
            false => Ty::I32,
        }
    }

    /// Has types on top, of which what is there already is taken.
    pub(super) fn want(&mut self, types: &[Ty], base: usize) {
        let there = (0..=types.len()).rev().find(|there| {
            self.stack.len() >= base + there && self.stack.ends_with(&types[..*there])
        });
        for ty in &types[there.unwrap_or(0)..] {
            self.push(*ty);
        }
    }

    /// A float on top that is a NaN becomes the one.
    fn one_nan(&mut self) {
        let Some(ty @ (Ty::F32 | Ty::F64)) = self.stack.last().copied() else {
            return;
        };
        let name = ty.name();
        self.say(&format!(
            "local.tee $any-{name} {name}.const nan local.get $any-{name} local.get $any-{name} \
             {name}.eq select"
        ));
    }

    /// The top goes into the checksum.
    fn fold(&mut self) {
        let Some(ty) = self.stack.last().copied() else {
            return;
        };
        self.one_nan();
        let widened = match ty {
            Ty::I32 => "i64.extend_i32_u",
            Ty::I64 => "",
            Ty::F32 => "i32.reinterpret_f32 i64.extend_i32_s",
            Ty::F64 => "i64.reinterpret_f64",
        };
        let text = format!("{widened} local.get $sum i64.const 5 i64.rotl i64.xor local.set $sum");
        self.op(1, &[], &text);
    }

    /// Has just these on top of a height: those of a block's end.
    pub(super) fn end_with(&mut self, base: usize, types: &[Ty]) {
        while self.stack.len() > base {
            self.fold();
        }
        for (at, ty) in types.iter().enumerate() {
            match (at, ty) {
                (0, Ty::I64) => self.op(0, &[Ty::I64], "local.get $sum"),
                _ => {
                    self.push(*ty);
                    self.one_nan();
                }
            }
        }
    }

    fn steps(&mut self, count: usize) {
        let base = self.stack.len();
        for _ in 0..count {
            if self.stack.len() > DEPTH_MAX {
                self.fold();
                self.fold();
            }
            self.step(base);
        }
    }

    fn step(&mut self, base: usize) {
        match self.pick(36) {
            0..7 => {
                let ty = self.one(&Ty::ALL);
                self.push(ty);
            }
            7..13 => self.binary(base),
            13..16 => self.conversion(base),
            16 => self.unary(base),
            17 => self.comparison(base),
            18..20 => self.select(base),
            20 => self.set(base),
            21..23 => self.load(base),
            23..25 => self.store(),
            25 => self.bulk(),
            26 => self.call(base),
            27 => self.branch(base),
            28..31 => self.block(base),
            31..34 => self.rarer(base),
            _ if self.stack.len() > base => self.fold(),
            _ => {}
        }
    }

    pub(super) fn binary(&mut self, base: usize) {
        let ty = self.one(&Ty::ALL);
        let name = ty.name();
        self.want(&[ty, ty], base);
        let op = match ty {
            Ty::I32 | Ty::I64 => self.one(&INTEGER),
            Ty::F32 | Ty::F64 => self.one(&FLOAT),
        };
        match op {
            "copysign" => self.one_nan(),
            "div_s" | "div_u" | "rem_s" | "rem_u" if self.pick(30) > 0 => {
                self.say(&format!("{name}.const 1 {name}.or"));
            }
            _ => {}
        }
        self.op(2, &[ty], &format!("{name}.{op}"));
    }

    fn unary(&mut self, base: usize) {
        let ty = self.one(&[Ty::F32, Ty::F64]);
        self.want(&[ty], base);
        let op = self.one(&FLOAT_UNARY);
        self.op(1, &[ty], &format!("{}.{op}", ty.name()));
    }

    fn conversion(&mut self, base: usize) {
        let (from, to, op) = self.one(&CONVERSIONS);
        self.want(&[from], base);
        let traps = op.contains("trunc_f");
        if traps && self.pick(12) > 0 {
            let limit = format!(
                "{0}.const 1000 {0}.min {0}.const -1000 {0}.max",
                from.name()
            );
            // A NaN stays one.
            self.say(&limit);
            self.say(&format!(
                "local.tee $any-{0} {0}.const 0 local.get $any-{0} local.get $any-{0} {0}.eq select",
                from.name()
            ));
        }
        if op.contains("reinterpret_f") {
            self.one_nan();
        }
        self.op(1, &[to], op);
    }

    /// A number, or a condition that waits for who asks for it.
    pub(super) fn comparison(&mut self, base: usize) {
        let ty = self.one(&Ty::ALL);
        self.want(&[ty, ty], base);
        let op = match ty {
            Ty::I32 | Ty::I64 => self.one(&INTEGER_COMPARED),
            Ty::F32 | Ty::F64 => self.one(&FLOAT_COMPARED),
        };
        self.op(2, &[Ty::I32], &format!("{}.{op}", ty.name()));
        for _ in 0..self.pick(3) {
            self.op(1, &[Ty::I32], "i32.eqz");
        }
    }

    fn select(&mut self, base: usize) {
        let ty = self.one(&Ty::ALL);
        self.want(&[ty, ty], base);
        match self.pick(2) {
            0 => self.push(Ty::I32),
            _ => self.comparison(self.stack.len()),
        }
        let text = match self.pick(2) {
            0 => "select".to_owned(),
            _ => format!("select (result {})", ty.name()),
        };
        self.op(3, &[ty], &text);
    }

    fn set(&mut self, base: usize) {
        let ty = self.one(&Ty::ALL);
        self.want(&[ty], base);
        let local = self.local(ty).expect("there are locals of each type");
        match self.pick(4) {
            0 => {
                self.one_nan();
                self.op(1, &[], &format!("global.set $g-{}", ty.name()));
            }
            1 => self.op(1, &[], &format!("local.set {local}")),
            _ => self.op(1, &[ty], &format!("local.tee {local}")),
        }
    }

    fn offset(&mut self, memory: usize) -> &'static str {
        match (self.pick(60), self.shape.memories[memory]) {
            (0..30, _) => self.one(&OFFSETS[..2]),
            (30, true) => self.one(&LARGE_OFFSETS),
            (30..32, _) => self.one(&OFFSETS),
            _ => "0",
        }
    }

    pub(super) fn memory(&mut self) -> usize {
        self.pick(self.shape.memories.len())
    }

    fn load(&mut self, base: usize) {
        let memory = self.memory();
        match self.pick(3) {
            0 => {
                let index = self.index(memory);
                self.want(&[index], base);
                let mask = format!("{0}.const 0xfff0 {0}.and", index.name());
                self.say(&mask);
            }
            _ => self.address(memory),
        }
        let ((ty, op), offset) = (self.one(&LOADS), self.offset(memory));
        let text = format!("{}.{op} {memory} offset={offset}", ty.name());
        self.op(1, &[ty], &text);
        self.one_nan();
    }

    fn store(&mut self) {
        let memory = self.memory();
        let (ty, op) = self.one(&STORES);
        self.address(memory);
        let at = self.stack.len();
        match self.pick(3) {
            0 => {
                self.push(ty);
                let other = self.one(&Ty::ALL);
                self.push(other);
                self.fold();
            }
            1 => self.want(&[ty], at),
            _ => {
                self.binary(at);
                self.end_with(at, &[ty]);
            }
        }
        self.one_nan();
        let offset = self.offset(memory);
        self.op(
            2,
            &[],
            &format!("{}.{op} {memory} offset={offset}", ty.name()),
        );
    }

    /// What the runtime does, and what asks it for sizes.
    fn bulk(&mut self) {
        let memory = self.memory();
        let ty = self.index(memory);
        let name = ty.name();
        match self.pick(6) {
            0 => self.op(0, &[ty], &format!("memory.size {memory}")),
            1 => self.op(0, &[ty], &format!("{name}.const 1 memory.grow {memory}")),
            2 => {
                self.address(memory);
                self.push(Ty::I32);
                let len = self.pick(90);
                self.op(2, &[], &format!("{name}.const {len} memory.fill {memory}"));
            }
            3 => {
                self.address(memory);
                self.address(memory);
                let len = self.pick(90);
                let text = format!("{name}.const {len} memory.copy {memory} {memory}");
                self.op(2, &[], &text);
            }
            4 => self.op(0, &[Ty::I32], "i32.const 4 table.get $t ref.is_null"),
            _ => self.op(
                0,
                &[Ty::I32],
                "ref.null func i32.const 1 table.grow $t table.size $t i32.add",
            ),
        }
    }

    fn call(&mut self, base: usize) {
        if self.func == 0 || self.calls == CALLS_MAX || self.labels.iter().any(|l| l.is_loop) {
            return self.binary(base);
        }
        self.calls += 1;
        let callee = self.pick(self.func);
        let Signature { params, results } = self.shape.signatures[callee].clone();
        self.want(&params, base);
        let text = match (self.pick(4), callee) {
            (0..2, 0..3) => format!("i32.const {callee} call_indirect $t (type $t{callee})"),
            // Null, beyond the end, or of another type.
            (2, _) if self.pick(6) == 0 => {
                format!(
                    "i32.const {} call_indirect $t (type $t{callee})",
                    self.pick(8)
                )
            }
            _ => format!("call $f{callee}"),
        };
        self.op(params.len(), &results, &text);
    }

    /// A branch under a condition; what it hands on stays here.
    fn branch(&mut self, base: usize) {
        let outer = self.pick(self.height());
        let at = self.height() - 1 - outer;
        if self.labels[at].is_loop {
            return self.comparison(base);
        }
        let takes = self.labels[at].takes.clone();
        self.handed_on(&takes);
        match self.pick(2) {
            0 => self.push(Ty::I32),
            _ => self.comparison(self.stack.len()),
        }
        self.op(1, &[], &format!("br_if {outer}"));
    }

    /// Has on top what a branch hands on, which nobody sees a NaN's bits of.
    fn handed_on(&mut self, takes: &[Ty]) {
        for ty in takes {
            self.push(*ty);
            self.one_nan();
        }
    }

    fn block(&mut self, base: usize) {
        if self.height() > NESTING_MAX {
            return self.binary(base);
        }
        let count = self.pick(1 + (self.stack.len() - base).min(4));
        let from = self.stack.len() - count;
        let params = self.stack[from..].to_vec();
        let results: Vec<Ty> = (0..self.pick(4)).map(|_| self.one(&Ty::ALL)).collect();
        let ty = format!("{}{}", list("param", &params), list("result", &results));
        match self.pick(4) {
            0 => self.plain(&ty, (from, &params), &results),
            1 => self.repeated(&ty, (from, &params), &results),
            2 => self.either(&ty, (from, &params), &results),
            _ => self.table(&ty, (from, &params), &results),
        }
    }

    /// The inside of a block, up to its end.
    fn inside(&mut self, from: usize, takes: &[Ty], is_loop: bool, ends_with: &[Ty]) {
        self.labels.push(Label {
            takes: takes.to_vec(),
            is_loop,
        });
        // What stands below is not to be reached.
        let kept: Vec<Ty> = self.stack.drain(..from).collect();
        let steps = 1 + self.pick(BLOCK_STEPS);
        self.counted_steps(steps);
        self.end_with(0, ends_with);
        self.stack.splice(0..0, kept);
        self.labels.pop();
    }

    fn counted_steps(&mut self, count: usize) {
        for _ in 0..count {
            if self.stack.len() > DEPTH_MAX / 2 {
                self.fold();
                self.fold();
            }
            self.step(0);
        }
    }

    fn plain(&mut self, ty: &str, (from, _): (usize, &[Ty]), results: &[Ty]) {
        self.say(&format!("block{ty}"));
        self.inside(from, results, false, results);
        self.say("end");
    }

    fn repeated(&mut self, ty: &str, (from, params): (usize, &[Ty]), results: &[Ty]) {
        let nth = self.loops;
        self.loops += 1;
        let turns = 1 + self.pick(3);
        self.say(&format!(
            "i32.const {turns} local.set $turns{nth}\nloop{ty}"
        ));
        self.inside(from, params, true, params);
        self.say(&format!(
            "local.get $turns{nth} i32.const 1 i32.sub local.tee $turns{nth} br_if 0"
        ));
        self.end_with(from, results);
        self.say("end");
    }

    fn either(&mut self, ty: &str, (from, params): (usize, &[Ty]), results: &[Ty]) {
        match self.pick(2) {
            0 => self.push(Ty::I32),
            _ => self.comparison(self.stack.len()),
        }
        self.op(1, &[], &format!("if{ty}"));
        let below = self.stack[..from].to_vec();
        self.inside(from, results, false, results);
        self.say("else");
        self.stack = [&below[..], params].concat();
        self.inside(from, results, false, results);
        self.say("end");
    }

    /// Two blocks around a table of branches to both, with more below what is handed on.
    fn table(&mut self, ty: &str, (from, _): (usize, &[Ty]), results: &[Ty]) {
        self.say(&format!("block{ty} block{ty}"));
        for _ in 0..2 {
            self.labels.push(Label {
                takes: results.to_vec(),
                is_loop: false,
            });
        }
        let kept: Vec<Ty> = self.stack.drain(..from).collect();
        let steps = 1 + self.pick(BLOCK_STEPS);
        self.counted_steps(steps);
        self.handed_on(results);
        self.push(Ty::I32);
        let entries = self.one(&["0", "0 1", "1 0 1 1 0", "0 0 1 0"]);
        self.say(&format!("br_table {entries}\nend"));
        self.say("local.get $sum i64.const 77 i64.add local.set $sum\nend");
        self.labels.truncate(self.labels.len() - 2);
        self.stack = [&kept[..], results].concat();
    }
}
