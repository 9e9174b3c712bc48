//! What is made of blocks: loops, what catches exceptions in both forms, and what leaves them.

use super::make::{COUNTERS, Code, Label, Maker};
use super::ops::Op;
use super::program::{Catch, Clause, Instr, Sig, Ty};

/// A clause of a `try_table` with a block of its own.
struct Own {
    tag: Option<usize>,
    by_reference: bool,
    types: Vec<Ty>,
}

impl Maker<'_> {
    /// A block with some of what is on top as its parameters, which it takes.
    fn sig(&mut self, code: &mut Code) -> Sig {
        let most = code.stack.len().min(3);
        let count = (self.below)(most + 1);
        let params = code.stack.split_off(code.stack.len() - count);
        let results = self.types(4);
        Sig { params, results }
    }

    /// What is in a block with a label for it.
    fn within(&mut self, label: Label, entry: &[Ty], results: &[Ty], nest: usize) -> Vec<Instr> {
        self.labels.push(label);
        let body = self.body(entry, results, nest - 1);
        self.labels.pop();
        body
    }

    /// The same of what exceptions come out of, most often.
    fn throwing(&mut self, sig: &Sig, nest: usize) -> Vec<Instr> {
        self.labels.push(Label::of(&sig.results));
        let mut code = Code::on(&sig.params);
        self.steps(&mut code, nest - 1);
        match (self.below)(8) {
            0..3 => self.end_if(&mut code),
            3..5 => {
                self.throw(&mut code);
                code.stack.clear();
                self.labels.pop();
                return code.out;
            }
            5..7 => self.call(&mut code),
            _ => {}
        }
        self.shape(&mut code, &sig.results);
        self.labels.pop();
        code.out
    }

    /// The code of a clause, or of what a clause leads to: what was caught is kept, and raised again
    /// at times.
    fn handling(&mut self, entry: &[Ty], results: &[Ty], nest: usize) -> Vec<Instr> {
        let mut code = Code::on(entry);
        let mut kept = None;
        if entry.last() == Some(&Ty::Exn) && !self.chance(4) {
            let local = self.local(Ty::Exn, false).expect("there is one");
            code.emit(Instr::Set(local));
            code.stack.pop();
            kept = Some(local);
        }
        self.steps(&mut code, nest);
        if self.chance(2) {
            self.another(&mut code);
        }
        match (self.below)(5) {
            0 | 1 => {
                self.raise_again(&mut code, kept);
                return code.out;
            }
            2 => {
                self.condition(&mut code);
                code.stack.pop();
                let mut then = Code::default();
                self.labels.push(Label::of(&[]));
                self.raise_again(&mut then, kept);
                self.labels.pop();
                code.emit(Instr::If(Sig::default(), then.out, Vec::new()));
            }
            _ => {}
        }
        self.shape(&mut code, results);
        code.out
    }

    /// Another exception, which is caught at once: it may take the memory of one that nobody has.
    fn another(&mut self, code: &mut Code) {
        let tag = (self.below)(self.tags.len());
        let tags = self.tags;
        let mut inner = Code::default();
        for ty in &tags[tag] {
            self.produce(&mut inner, *ty, 1);
        }
        inner.emit(Instr::Throw(tag));
        if self.chance(2) {
            let all = Clause {
                tag: None,
                body: Vec::new(),
            };
            return code.emit(Instr::Try(Sig::default(), inner.out, vec![all]));
        }
        let all = Catch {
            tag: None,
            by_reference: false,
            label: 0,
        };
        let inner = Instr::TryTable(Sig::default(), vec![all], inner.out);
        code.emit(Instr::Block(Sig::default(), vec![inner]));
    }

    /// What was kept, or what a clause around has caught.
    fn raise_again(&mut self, code: &mut Code, kept: Option<u32>) {
        match kept {
            Some(kept) if !self.chance(4) => {
                code.emit(Instr::Get(kept));
                code.emit(Instr::ThrowRef);
            }
            _ => self.rethrow(code),
        }
    }

    pub fn block(&mut self, code: &mut Code, nest: usize) {
        let sig = self.sig(code);
        let body = self.within(Label::of(&sig.results), &sig.params, &sig.results, nest);
        code.stack.extend(&sig.results);
        code.emit(Instr::Block(sig, body));
    }

    pub fn if_else(&mut self, code: &mut Code, nest: usize) {
        let sig = self.sig(code);
        self.condition(code);
        code.stack.pop();
        let mut branch = || self.within(Label::of(&sig.results), &sig.params, &sig.results, nest);
        let (then, otherwise) = (branch(), branch());
        code.stack.extend(&sig.results);
        code.emit(Instr::If(sig, then, otherwise));
    }

    /// A loop that counts at its end, or at its head so that it may be gone on with from inside.
    pub fn repeat(&mut self, code: &mut Code, nest: usize) {
        if self.loops == COUNTERS {
            return;
        }
        if self.chance(2) {
            // One that can be left at its head for better code.
            while !code.stack.is_empty() {
                self.mix_or_drop(code);
            }
        }
        let counter = (self.counter + self.loops) as u32;
        let turns = 1 + (self.below)(4);
        code.emit(Instr::Const(Ty::I32, turns as u128));
        code.emit(Instr::Set(counter));
        let params = self.sig(code).params;
        let sig = Sig {
            results: params.clone(),
            params,
        };
        let less = [
            Instr::Get(counter),
            Instr::Const(Ty::I32, 1),
            Instr::Op(Op::I32Less),
            Instr::Tee(counter),
        ];
        let at_head = self.chance(2);
        self.loops += 1;
        let label = Label {
            is_endless: !at_head,
            ..Label::of(&sig.params)
        };
        let mut body = vec![Instr::Spend];
        if at_head {
            self.labels.push(Label::of(&sig.results));
            body.extend(less);
            body.extend([Instr::Op(Op::I32IsZero), Instr::BrIf(1)]);
            body.extend(self.within(label, &sig.params, &sig.params, nest));
            body.push(Instr::Br(0));
            self.labels.pop();
            let inner = Instr::Loop(sig.clone(), body);
            code.stack.extend(&sig.results);
            code.emit(Instr::Block(sig, vec![inner]));
        } else {
            body.extend(self.within(label, &sig.params, &sig.params, nest));
            body.extend(less);
            body.push(Instr::BrIf(0));
            code.stack.extend(&sig.results);
            code.emit(Instr::Loop(sig, body));
        }
        self.loops -= 1;
    }

    /// A clause's values, and the reference behind them.
    fn caught(&self, tag: Option<usize>, by_reference: bool) -> Vec<Ty> {
        let mut types = tag.map_or(Vec::new(), |tag| self.tags[tag].clone());
        types.extend(by_reference.then_some(Ty::Exn));
        types
    }

    fn some_tag(&mut self) -> Option<usize> {
        let nth = (self.below)(self.tags.len() + 1);
        (nth < self.tags.len()).then_some(nth)
    }

    /// A `try_table` in the blocks that its clauses go to; some go further out.
    pub fn try_table(&mut self, code: &mut Code, nest: usize) {
        let sig = self.sig(code);
        let count = (self.below)(4);
        let mut own: Vec<Own> = Vec::new();
        for _ in 0..count {
            let (tag, by_reference) = (self.some_tag(), self.chance(2));
            let types = self.caught(tag, by_reference);
            own.push(Own {
                tag,
                by_reference,
                types,
            });
        }
        self.labels.push(Label::of(&sig.results));
        for one in own.iter().rev() {
            self.labels.push(Label::of(&one.types));
        }
        let catches = self.catches(&own);
        let body = self.throwing(&sig, nest);
        let mut all = vec![Instr::TryTable(sig.clone(), catches, body)];
        all.push(Instr::Br(count as u32));
        for (nth, one) in own.into_iter().enumerate() {
            self.labels.pop();
            let around = Sig {
                params: sig.params.clone(),
                results: one.types.clone(),
            };
            all = vec![Instr::Block(around, all)];
            all.extend(self.handling(&one.types, &sig.results, nest - 1));
            all.push(Instr::Br((count - 1 - nth) as u32));
        }
        self.labels.pop();
        code.stack.extend(&sig.results);
        code.emit(Instr::Block(sig, all));
    }

    /// Clauses to the innermost labels, which are for them, and to others that take the same.
    fn catches(&mut self, own: &[Own]) -> Vec<Catch> {
        let mut catches: Vec<Catch> = Vec::new();
        for (one, label) in own.iter().zip(0..) {
            catches.push(Catch {
                tag: one.tag,
                by_reference: one.by_reference,
                label,
            });
        }
        for label in own.len()..self.labels.len() {
            let (tag, by_reference) = (self.some_tag(), self.chance(2));
            let to = &self.labels[self.labels.len() - 1 - label];
            if !to.is_endless && to.types == self.caught(tag, by_reference) {
                let at = (self.below)(catches.len() + 1);
                let label = label as u32;
                catches.insert(
                    at,
                    Catch {
                        tag,
                        by_reference,
                        label,
                    },
                );
            }
        }
        catches
    }

    pub fn older_try(&mut self, code: &mut Code, nest: usize) {
        let sig = self.sig(code);
        let body = self.throwing(&sig, nest);
        let mut clauses = Vec::new();
        for _ in 0..(self.below)(4) {
            let tag = self.some_tag();
            let label = Label {
                is_clause: true,
                ..Label::of(&sig.results)
            };
            let values = self.caught(tag, false);
            self.labels.push(label);
            let body = self.handling(&values, &sig.results, nest - 1);
            self.labels.pop();
            clauses.push(Clause { tag, body });
            if tag.is_none() {
                break;
            }
        }
        code.stack.extend(&sig.results);
        code.emit(Instr::Try(sig, body, clauses));
    }

    pub fn delegate(&mut self, code: &mut Code, nest: usize) {
        let sig = self.sig(code);
        let body = self.throwing(&sig, nest);
        let depth = (self.below)(self.labels.len()) as u32;
        code.stack.extend(&sig.results);
        code.emit(Instr::Delegate(sig, body, depth));
    }

    /// What leaves the block, if a condition holds.
    pub fn end_if(&mut self, code: &mut Code) {
        self.condition(code);
        code.stack.pop();
        let mut then = Code::default();
        self.labels.push(Label::of(&[]));
        self.end(&mut then);
        self.labels.pop();
        code.emit(Instr::If(Sig::default(), then.out, Vec::new()));
    }

    pub fn branch_if(&mut self, code: &mut Code) {
        let (depth, types) = self.label();
        self.want(code, &types);
        self.condition(code);
        code.stack.pop();
        code.emit(Instr::BrIf(depth));
    }

    /// A label to branch to, and what it takes.
    fn label(&mut self) -> (u32, Vec<Ty>) {
        let depth = loop {
            let depth = (self.below)(self.labels.len());
            let label = &self.labels[self.labels.len() - 1 - depth];
            if !label.is_endless || (self.below)(8) == 0 {
                break depth;
            }
        };
        let types = &self.labels[self.labels.len() - 1 - depth].types;
        (depth as u32, types.clone())
    }

    /// Something that nothing goes on behind.
    pub fn end(&mut self, code: &mut Code) {
        match (self.below)(24) {
            0 if self.chance(2) => code.emit(Instr::Unreachable),
            1 | 2 => self.leave(code),
            3..=6 => {
                let (depth, types) = self.label();
                self.want(code, &types);
                code.emit(Instr::Br(depth));
            }
            7 | 8 => self.branch_table(code),
            9..=13 => self.throw_reference(code),
            14..=17 => self.rethrow(code),
            _ => self.throw(code),
        }
    }

    fn leave(&mut self, code: &mut Code) {
        let types = self.labels[0].types.clone();
        self.want(code, &types);
        code.emit(Instr::Return);
    }

    fn throw(&mut self, code: &mut Code) {
        let tag = (self.below)(self.tags.len());
        let tags = self.tags;
        self.want(code, &tags[tag]);
        code.emit(Instr::Throw(tag));
    }

    /// One that was kept, if there is one.
    fn throw_reference(&mut self, code: &mut Code) {
        self.want(code, &[Ty::Exn]);
        if !self.chance(8) {
            let kept = self.local(Ty::Exn, false).expect("there is one");
            code.emit(Instr::Tee(kept));
            code.emit(Instr::IsNull);
            let mut instead = Code::default();
            self.labels.push(Label::of(&[]));
            self.throw(&mut instead);
            self.labels.pop();
            code.emit(Instr::If(Sig::default(), instead.out, Vec::new()));
            code.emit(Instr::Get(kept));
        }
        code.emit(Instr::ThrowRef);
    }

    /// What one of the clauses around has caught.
    fn rethrow(&mut self, code: &mut Code) {
        let last = self.labels.len() - 1;
        let is_clause = |depth: &usize| self.labels[last - depth].is_clause;
        let clauses: Vec<usize> = (0..=last).filter(is_clause).collect();
        match clauses.len() {
            0 => self.throw(code),
            count => {
                let depth = clauses[(self.below)(count)];
                code.emit(Instr::Rethrow(depth as u32));
            }
        }
    }

    fn branch_table(&mut self, code: &mut Code) {
        let (depth, types) = self.label();
        let last = self.labels.len() - 1;
        let is_same = |depth: &u32| {
            let label = &self.labels[last - *depth as usize];
            label.types == types && !label.is_endless
        };
        let same: Vec<u32> = (0..=last as u32).filter(is_same).collect();
        let mut all = Vec::new();
        for _ in 0..(self.below)(4) {
            if !same.is_empty() {
                all.push(same[(self.below)(same.len())]);
            }
        }
        self.want(code, &types);
        self.produce(code, Ty::I32, 1);
        code.emit(Instr::Const(Ty::I32, 7));
        code.emit(Instr::Op(Op::I32Both));
        code.emit(Instr::BrTable(all, depth));
    }

    /// Takes the top operand into the checksum, or away.
    fn mix_or_drop(&mut self, code: &mut Code) {
        match self.chance(3) {
            true => {
                code.emit(Instr::Drop);
                code.stack.pop();
            }
            false => self.mix_top(code),
        }
    }
}
