//! Loops that were unrolled before are rolled up again.
//!
//! A compiler without vectors unrolls loops: one iteration does what several did, its
//! *turns*. LLVM would vectorise such a loop by shuffling what it loads, and does better
//! with the loop of one turn.
//!
//! # When the loop of one turn does the same
//!
//! Let there be `n` turns, and let `t = s / n` for the step `s` of each group. Iteration `k`
//! of the loop is iterations `n × k + j` of the new one, for `0 <= j < n`: the first turn with
//! its accesses moved by `(n × k + j) × t`. It does the same, because
//!
//! - each store of the loop is one of the first turn's moved by `j × t` for one `j`, and each
//!   `j` has as many;
//! - what it stores is computed by the same instructions, of values that the loop does not
//!   change and of loads that are the first turn's moved by `j × t`, or not moved where `s` is
//!   0. Nothing is computed of what one iteration hands to the next;
//! - of two accesses of one iteration to a byte that both have, one of which stores, the same
//!   one is first in both loops. Accesses of one group are where their displacements say, and
//!   groups are apart (`preheader.rs`). What is in different iterations is in the same order in
//!   both.
//!
//! Nothing of the loop is used outside, so what it hands on does not matter. With `E`
//! iterations that have a next one, the new loop has `(E + 1) × n - 1`.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{Function, Inst, InstructionData, Value, ValueListPool};

use super::body::{Group, Place, accessed};
use super::shape::Shape;
use super::walk::is_pure;

/// Turns at most.
const TURNS_MAX: usize = 16;

/// A loop as so many turns of another one.
#[derive(Debug)]
pub(super) struct Turns {
    /// How many.
    pub count: i64,
    /// The stores of the first one.
    pub stores: Vec<Inst>,
}

/// The loop as turns, if it is some; its groups must be apart, and nothing of it be used
/// outside.
pub(super) fn of(
    func: &Function,
    shape: &Shape,
    groups: &[Group],
    places: &HashMap<Inst, Place>,
) -> Option<Turns> {
    let [block] = shape.blocks[..] else {
        return None;
    };
    let insts = func.layout.block_insts(block);
    let order: HashMap<Inst, usize> = insts.zip(0..).collect();
    let mut stores: Vec<Inst> = order.keys().copied().collect();
    stores.retain(|inst| func.dfg.insts[*inst].opcode().can_store());
    let direction = |place: &Place| groups[place.group].walk.step.signum();
    stores.sort_by_key(|inst| {
        let place = &places[inst];
        let along = i64::from(place.displacement) * direction(place);
        (place.group, along, order[inst])
    });
    let rolled = Rolled {
        func,
        shape,
        groups,
        places,
        order,
    };
    let counts = (2..=stores.len().min(TURNS_MAX)).rev();
    let mut counts = counts.filter(|count| stores.len().is_multiple_of(*count));
    counts.find_map(|count| rolled.turns(&stores, count as i64))
}

struct Rolled<'a> {
    func: &'a Function,
    shape: &'a Shape,
    groups: &'a [Group],
    places: &'a HashMap<Inst, Place>,
    order: HashMap<Inst, usize>,
}

/// An access of one iteration, in the loop and in its turn.
struct Moved {
    place: Place,
    bytes: i64,
    stores: bool,
    /// Its position in the iteration.
    before: usize,
    /// Its turn, and its position there.
    after: (usize, usize),
}

impl Rolled<'_> {
    fn turns(&self, stores: &[Inst], count: i64) -> Option<Turns> {
        let is_whole = |group: &Group| group.walk.step % count == 0;
        self.groups.iter().all(is_whole).then_some(())?;
        let chains = self.chains(stores, count)?;
        let mut moved = Vec::new();
        for turn in 0..count as usize {
            let mut pairs = Pairs {
                rolled: self,
                count,
                turn: turn as i64,
                seen: HashSet::new(),
                loads: Vec::new(),
            };
            for chain in &chains {
                let stored = |inst: Inst| self.func.dfg.inst_args(inst)[0];
                let (first, this) = (chain[0], chain[turn]);
                pairs.are_same(stored(first), stored(this)).then_some(())?;
                moved.push(self.moved(turn, first, this)?);
            }
            for (first, this) in pairs.loads {
                moved.push(self.moved(turn, first, this)?);
            }
        }
        is_in_order(&moved).then(|| Turns {
            count,
            stores: chains.iter().map(|chain| chain[0]).collect(),
        })
    }

    /// Each store of the first turn with those that it is in the others.
    fn chains(&self, stores: &[Inst], count: i64) -> Option<Vec<Vec<Inst>>> {
        let mut left = stores.to_vec();
        let mut chains = Vec::new();
        while let Some(&first) = left.first() {
            let place = self.places[&first];
            let by = self.groups[place.group].walk.step / count;
            if by == 0 {
                return None;
            }
            let mut chain = Vec::new();
            for turn in 0..count {
                let wanted = i64::from(place.displacement) + turn * by;
                let is_it = |inst: &Inst| {
                    let other = self.places[inst];
                    other.group == place.group
                        && i64::from(other.displacement) == wanted
                        && self.is_same_access(first, *inst)
                };
                let at = left.iter().position(is_it)?;
                chain.push(left.remove(at));
            }
            chains.push(chain);
        }
        Some(chains)
    }

    fn is_same_access(&self, one: Inst, other: Inst) -> bool {
        let dfg = &self.func.dfg;
        let of = |inst| accessed(self.func, inst).map(|(.., ty)| ty);
        dfg.insts[one].opcode() == dfg.insts[other].opcode() && of(one) == of(other)
    }

    /// The first turn's access `first` in a turn, where the loop has `this`.
    fn moved(&self, turn: usize, first: Inst, this: Inst) -> Option<Moved> {
        let (.., ty) = accessed(self.func, this)?;
        Some(Moved {
            place: self.places[&this],
            bytes: ty.bytes().into(),
            stores: self.func.dfg.insts[this].opcode().can_store(),
            before: self.order[&this],
            after: (turn, self.order[&first]),
        })
    }
}

/// Whether accesses that have bytes in common are in the same order in both loops.
fn is_in_order(all: &[Moved]) -> bool {
    let have_common = |one: &Moved, two: &Moved| {
        let [x, y] = [one, two].map(|of| i64::from(of.place.displacement));
        one.place.group == two.place.group && x < y + two.bytes && y < x + one.bytes
    };
    all.iter().enumerate().all(|(at, one)| {
        all[..at].iter().all(|two| {
            let matters = (one.stores || two.stores) && have_common(one, two);
            !matters || one.before.cmp(&two.before) == one.after.cmp(&two.after)
        })
    })
}

/// Values of the first turn beside those of another.
struct Pairs<'a> {
    rolled: &'a Rolled<'a>,
    count: i64,
    turn: i64,
    seen: HashSet<(Value, Value)>,
    /// The loads that they are made of.
    loads: Vec<(Inst, Inst)>,
}

impl Pairs<'_> {
    /// Whether `this` is `first` as the turn has it.
    fn are_same(&mut self, first: Value, this: Value) -> bool {
        let (func, shape) = (self.rolled.func, self.rolled.shape);
        let [first, this] = [first, this].map(|value| func.dfg.resolve_aliases(value));
        if [first, this]
            .iter()
            .any(|value| !shape.defines(func, *value))
        {
            return first == this;
        }
        if func.dfg.value_type(first) != func.dfg.value_type(this) {
            return false;
        }
        if !self.seen.insert((first, this)) {
            return true;
        }
        let makers = [first, this].map(|value| func.dfg.value_def(value).inst());
        let [Some(one), Some(other)] = makers else {
            return false;
        };
        let places = [one, other].map(|inst| self.rolled.places.get(&inst));
        match places {
            [Some(from), Some(to)] => {
                let step = self.rolled.groups[from.group].walk.step;
                let by = self.turn * (step / self.count);
                self.loads.push((one, other));
                from.group == to.group
                    && i64::from(to.displacement) == i64::from(from.displacement) + by
                    && self.rolled.is_same_access(one, other)
            }
            [None, None] => {
                let [mine, theirs] = [one, other].map(|inst| func.dfg.inst_args(inst));
                let mut args = mine.iter().zip(theirs);
                is_pure(func, one)
                    && does_same(func, one, other)
                    && args.all(|(mine, theirs)| self.are_same(*mine, *theirs))
            }
            _ => false,
        }
    }
}

/// Whether two instructions differ in their operands alone.
fn does_same(func: &Function, one: Inst, other: Inst) -> bool {
    let dfg = &func.dfg;
    let operands = dfg.inst_args(one);
    if operands.len() != dfg.inst_args(other).len() {
        return false;
    }
    // What has a list of operands is no computation.
    let (mut none, mut data): (_, InstructionData) = (ValueListPool::new(), dfg.insts[other]);
    let own = data.arguments_mut(&mut none);
    if own.len() != operands.len() {
        return false;
    }
    own.copy_from_slice(operands);
    data.eq(&dfg.insts[one], &dfg.value_lists)
}
