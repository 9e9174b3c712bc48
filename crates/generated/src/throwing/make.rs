//! Programs at random: instructions that fit the types on the stack.

use super::ops::Op;
use super::program::{Func, GLOBALS, Host, Instr, Program, Sig, Ty};
use crate::generate::Below;

/// Locals of each function that loops count with, which nothing else sets.
pub const COUNTERS: usize = 3;
/// Operands of a block beyond which no more are left there.
const OPERANDS_MAX: usize = 10;
/// How deep blocks of a function are in each other, about.
const NEST: usize = 4;

/// A label that is in scope.
pub struct Label {
    pub types: Vec<Ty>,
    /// Of a clause of the older form, whose exception can be raised again.
    pub is_clause: bool,
    /// A branch there may be taken for ever.
    pub is_endless: bool,
}

impl Label {
    pub fn of(types: &[Ty]) -> Label {
        Label {
            types: types.to_vec(),
            is_clause: false,
            is_endless: false,
        }
    }
}

/// Makes a function.
pub struct Maker<'a> {
    pub below: Below<'a>,
    pub tags: &'a [Vec<Ty>],
    pub sigs: &'a [Sig],
    /// Which of them it is.
    pub index: usize,
    pub locals: Vec<Ty>,
    /// Its first counter.
    pub counter: usize,
    /// Loops that are open.
    pub loops: usize,
    pub labels: Vec<Label>,
    /// Steps that may still be made.
    pub size: usize,
}

/// What was made of a block, and the types on the stack behind it.
#[derive(Default)]
pub struct Code {
    pub out: Vec<Instr>,
    pub stack: Vec<Ty>,
}

impl Code {
    /// Nothing yet, on such a stack.
    pub fn on(stack: &[Ty]) -> Code {
        Code {
            out: Vec::new(),
            stack: stack.to_vec(),
        }
    }

    pub fn emit(&mut self, instr: Instr) {
        self.out.push(instr);
    }
}

impl Program {
    /// One made at random.
    pub fn random(below: Below<'_>) -> Program {
        let tags: Vec<Vec<Ty>> = (0..2 + below(4)).map(|_| types(below, 5)).collect();
        // More results than there are registers for are left to Cranelift.
        let results = if below(40) == 0 { 14 } else { 4 };
        let sigs: Vec<Sig> = (0..3 + below(4))
            .map(|_| {
                let params = if below(6) == 0 { 15 } else { 5 };
                Sig {
                    params: types(below, params),
                    results: types(below, results),
                }
            })
            .collect();
        let funcs = 0..sigs.len();
        let funcs = funcs
            .map(|index| func(below, &tags, &sigs, index))
            .collect();
        Program { tags, funcs }
    }
}

/// A type; seldom a reference.
fn ty(below: Below<'_>) -> Ty {
    match below(14) {
        0 => Ty::Exn,
        other => Ty::NUMBERS[other % 5],
    }
}

/// Fewer than so many.
fn types(below: Below<'_>, most: usize) -> Vec<Ty> {
    (0..below(most)).map(|_| ty(below)).collect()
}

fn func(below: Below<'_>, tags: &[Vec<Ty>], sigs: &[Sig], index: usize) -> Func {
    let sig = &sigs[index];
    let count = if below(4) == 0 { 40 } else { 3 + below(10) };
    let mut locals = sig.params.clone();
    locals.extend((0..count).map(|_| ty(below)));
    locals.push(Ty::Exn);
    let counter = locals.len();
    locals.extend([Ty::I32; COUNTERS]);
    let size = 20 + below(60);
    let mut maker = Maker {
        below,
        tags,
        sigs,
        index,
        locals,
        counter,
        loops: 0,
        labels: vec![Label::of(&sig.results)],
        size,
    };
    let mut body = vec![Instr::Spend];
    body.extend(maker.body(&[], &sig.results, NEST));
    Func {
        sig: sig.clone(),
        locals: maker.locals,
        body,
    }
}

impl Maker<'_> {
    pub fn chance(&mut self, one_in: usize) -> bool {
        (self.below)(one_in) == 0
    }

    pub fn types(&mut self, most: usize) -> Vec<Ty> {
        types(self.below, most)
    }

    /// The code of a block.
    pub fn body(&mut self, entry: &[Ty], results: &[Ty], nest: usize) -> Vec<Instr> {
        let mut code = Code::on(entry);
        self.steps(&mut code, nest);
        if nest < NEST && self.chance(5) {
            self.end(&mut code);
            code.stack.clear();
            if self.chance(3) {
                // Nothing gets there.
                self.steps(&mut code, nest.min(1));
                self.shape(&mut code, results);
            }
            return code.out;
        }
        self.shape(&mut code, results);
        code.out
    }

    pub fn steps(&mut self, code: &mut Code, nest: usize) {
        let least = if nest == NEST { 5 } else { 1 };
        for _ in 0..least + (self.below)(2 + 2 * nest) {
            if self.size == 0 {
                return;
            }
            self.size -= 1;
            self.step(code, nest);
        }
    }

    fn step(&mut self, code: &mut Code, nest: usize) {
        let kinds = if nest == 0 { 14 } else { 26 };
        match (self.below)(kinds) {
            0 => self.mix(code),
            1..=3 => self.set(code),
            4 | 5 if code.stack.len() < OPERANDS_MAX => {
                let ty = ty(self.below);
                self.produce(code, ty, 2);
            }
            6 => self.sink(code),
            7 => self.store(code),
            8..=10 if self.index + 1 < self.sigs.len() || self.chance(4) => self.call(code),
            11 => self.end_if(code),
            12 => self.branch_if(code),
            13 => self.sink(code),
            14..=16 => self.repeat(code, nest),
            17 => self.block(code, nest),
            18 => self.if_else(code, nest),
            19..=21 => self.try_table(code, nest),
            22 | 23 => self.older_try(code, nest),
            24 => self.delegate(code, nest),
            _ => self.set(code),
        }
    }

    /// Has a value of a type on top.
    pub fn produce(&mut self, code: &mut Code, ty: Ty, deep: usize) {
        let from = (self.below)(8);
        if from >= 4 && deep > 0 && ty != Ty::Exn {
            let traps = self.chance(12);
            let is_one = |op: &&Op| {
                op.result() == ty && (traps || !matches!(op, Op::I32Divided | Op::I64Remainder))
            };
            let all: Vec<&Op> = Op::ALL.iter().filter(is_one).collect();
            let op = *all[(self.below)(all.len())];
            for param in op.params() {
                self.produce(code, *param, deep - 1);
            }
            return self.op(code, op);
        }
        let local = self.local(ty, true);
        match (from, local) {
            (1, _) if ty != Ty::Exn || self.chance(3) => {
                let bits = self.bits(ty);
                code.emit(Instr::Const(ty, bits));
            }
            (2, _) => self.get_global(code, ty),
            (3, _) if ty != Ty::Exn => {
                let offset = self.address(code);
                code.emit(Instr::Load(ty, offset));
            }
            (_, Some(local)) => code.emit(Instr::Get(local)),
            _ => self.get_global(code, ty),
        }
        code.stack.push(ty);
        if ty == Ty::V128 && deep > 0 && self.chance(6) {
            self.produce(code, ty, 0);
            self.produce(code, Ty::I32, deep - 1);
            code.emit(Instr::Select(ty));
            code.stack.truncate(code.stack.len() - 2);
        }
    }

    pub fn op(&mut self, code: &mut Code, op: Op) {
        code.emit(Instr::Op(op));
        code.stack.truncate(code.stack.len() - op.params().len());
        code.stack.push(op.result());
    }

    fn bits(&mut self, ty: Ty) -> u128 {
        let number = match (self.below)(4) {
            0 => (self.below)(8) as i64,
            1 => -1 - (self.below)(8) as i64,
            2 => i64::MIN + (self.below)(3) as i64,
            _ => ((self.below)(1 << 31) as i64).wrapping_mul(0x1_2345_6789),
        };
        ty.of(number)
    }

    /// A local of a type.
    pub fn local(&mut self, ty: Ty, with_counters: bool) -> Option<u32> {
        let most = match with_counters {
            true => self.locals.len(),
            false => self.counter,
        };
        let all: Vec<usize> = (0..most).filter(|at| self.locals[*at] == ty).collect();
        match all.len() {
            0 => None,
            len => Some(all[(self.below)(len)] as u32),
        }
    }

    fn global(&mut self, ty: Ty) -> usize {
        let all: Vec<usize> = (0..GLOBALS.len()).filter(|at| GLOBALS[*at] == ty).collect();
        all[(self.below)(all.len())]
    }

    fn get_global(&mut self, code: &mut Code, ty: Ty) {
        let global = self.global(ty);
        code.emit(Instr::GlobalGet(global));
    }

    /// An address, most often inside the memory: it is on the stack, but not counted.
    fn address(&mut self, code: &mut Code) -> u32 {
        self.produce(code, Ty::I32, 1);
        code.stack.pop();
        let (mask, offset) = match (self.below)(60) {
            0 => (0x1_fffc, 0),
            1 => (7, 65_530),
            _ => (0xff8, (self.below)(64)),
        };
        code.emit(Instr::Const(Ty::I32, mask));
        code.emit(Instr::Op(Op::I32Both));
        offset as u32
    }

    /// Has values of these types on top, perhaps those that are there.
    pub fn want(&mut self, code: &mut Code, types: &[Ty]) {
        if code.stack.ends_with(types) && !self.chance(4) {
            return;
        }
        for ty in types {
            self.produce(code, *ty, 1);
        }
    }

    /// A condition that differs from time to time.
    pub fn condition(&mut self, code: &mut Code) {
        match self.chance(2) {
            true => {
                let counter = self.counter + (self.below)(COUNTERS);
                code.emit(Instr::Get(counter as u32));
                code.stack.push(Ty::I32);
            }
            false => self.produce(code, Ty::I32, 2),
        }
        let mask = [1, 2, 3, 4][(self.below)(4)];
        code.emit(Instr::Const(Ty::I32, mask));
        code.stack.push(Ty::I32);
        self.op(code, Op::I32Both);
        if self.chance(2) {
            self.op(code, Op::I32IsZero);
        }
    }

    /// Has exactly these on the stack of the block.
    pub fn shape(&mut self, code: &mut Code, results: &[Ty]) {
        let pairs = code.stack.iter().zip(results);
        let same = pairs.take_while(|(a, b)| a == b).count();
        while code.stack.len() > same {
            self.sink(code);
        }
        for ty in &results[same..] {
            self.produce(code, *ty, 1);
        }
    }

    /// Takes the top operand away.
    fn sink(&mut self, code: &mut Code) {
        let Some(ty) = code.stack.last().copied() else {
            return;
        };
        let local = self.local(ty, false);
        match ((self.below)(8), local) {
            (0, _) => code.emit(Instr::Drop),
            (1, _) => {
                let global = self.global(ty);
                code.emit(Instr::GlobalSet(global));
            }
            (2..=5, Some(local)) => code.emit(Instr::Set(local)),
            _ => return self.mix_top(code),
        }
        code.stack.pop();
    }

    fn mix(&mut self, code: &mut Code) {
        let ty = ty(self.below);
        self.want(code, &[ty]);
        self.mix_top(code);
    }

    pub fn mix_top(&mut self, code: &mut Code) {
        let lane = [Op::Lane0, Op::Lane1][(self.below)(2)];
        let ty = *code.stack.last().expect("there is an operand");
        match ty {
            Ty::I64 => {}
            Ty::I32 => self.op(code, Op::Extended),
            Ty::F64 => self.op(code, Op::F64Bits),
            Ty::F32 => {
                self.op(code, Op::F32Bits);
                self.op(code, Op::Extended);
            }
            Ty::V128 => self.op(code, lane),
            Ty::Exn => {
                code.emit(Instr::IsNull);
                code.stack.pop();
                code.stack.push(Ty::I32);
                self.op(code, Op::Extended);
            }
        }
        code.emit(Instr::Mix);
        code.stack.pop();
    }

    fn set(&mut self, code: &mut Code) {
        let ty = ty(self.below);
        let Some(local) = self.local(ty, false) else {
            return;
        };
        self.produce(code, ty, 2);
        match code.stack.len() < OPERANDS_MAX && self.chance(4) {
            true => code.emit(Instr::Tee(local)),
            false => {
                code.emit(Instr::Set(local));
                code.stack.pop();
            }
        }
    }

    fn store(&mut self, code: &mut Code) {
        let ty = Ty::NUMBERS[(self.below)(5)];
        let offset = self.address(code);
        self.produce(code, ty, 2);
        code.stack.pop();
        code.emit(Instr::Store(ty, offset));
    }

    /// A function, most often one that is behind this one, so that most calls end.
    fn callee(&mut self) -> usize {
        let behind = self.sigs.len() - 1 - self.index;
        match behind > 0 && !self.chance(10) {
            true => self.index + 1 + (self.below)(behind),
            false => (self.below)(self.sigs.len()),
        }
    }

    pub fn call(&mut self, code: &mut Code) {
        let func = self.callee();
        let (instr, sig) = match (self.below)(8) {
            0 => {
                let host = Host::ALL[(self.below)(Host::ALL.len())];
                (Instr::Host(host), host.sig())
            }
            1..=3 => (Instr::CallIndirect(func), self.sigs[func].clone()),
            _ => (Instr::Call(func), self.sigs[func].clone()),
        };
        self.want(code, &sig.params);
        if let Instr::CallIndirect(_) = instr {
            // Of the one instance or the other; seldom another function, or none.
            let count = self.sigs.len();
            let index = match (self.below)(50) {
                0 => (self.below)(2 * count + 2),
                _ => func + count * (self.below)(2),
            };
            code.emit(Instr::Const(Ty::I32, index as u128));
        }
        code.emit(instr);
        code.stack.truncate(code.stack.len() - sig.params.len());
        code.stack.extend(sig.results);
    }
}
