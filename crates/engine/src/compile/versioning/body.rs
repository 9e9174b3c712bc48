//! What a loop does: whether nothing in it can fault once its accesses are proved, and
//! which accesses they are.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::ir::{Function, Inst, InstructionData, Opcode, Type, Value, types};

use super::profit;
use super::reroll;
use super::shape::Shape;
use super::trip_count::{self, Trips};
use super::walk::{Walk, Walks, is_pure};
use crate::bounds::{Backing, MemoryPlan, Touch};
use crate::compile::elide::ahead::AHEAD_MAX;
use crate::compile::elide::form::{Forms, Term, constant, signed};

/// Groups of accesses at most: each is compared with a length in front.
const GROUPS_MAX: usize = 24;
/// Bytes from one access of a group to another.
const SPREAD_MAX: i64 = 1 << 30;
/// Bytes that one iteration moves an access by at most.
const STEP_MAX: i64 = 1 << 24;
/// Pairs of groups at most that are compared with one another in front.
const PAIRS_MAX: usize = 16;

/// Accesses to one memory whose indices differ by constants.
#[derive(Debug)]
pub(super) struct Group {
    /// One of them, for what all have in common.
    pub touch: Touch,
    /// The least index of them.
    pub walk: Walk,
    /// From there to the least address, offset included, and behind the last byte.
    pub least: i64,
    pub end: i64,
    /// Whether its address is guarded against speculation.
    pub is_guarded: bool,
    /// Whether one of them stores.
    pub stores: bool,
}

/// Where an access goes in the proved loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub group: usize,
    /// From the group's least address.
    pub displacement: i32,
}

/// A loop that can be had in two versions.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub shape: &'a Shape,
    pub trips: Trips,
    pub groups: Vec<Group>,
    /// Pairs of groups that must be apart, so that each is from all others.
    pub pairs: Vec<(usize, usize)>,
    pub places: HashMap<Inst, Place>,
    /// Turns that an iteration is made of: the second version does one in each.
    pub turns: i64,
    /// Instructions that are needed in the second version.
    pub needed: EntitySet<Inst>,
    /// Those of them that do the same in each iteration.
    pub fixed: EntitySet<Inst>,
}

impl Body<'_> {
    /// The groups of which it is compared that they have no byte of this one.
    pub(super) fn apart_from(&self, group: usize) -> Vec<usize> {
        let pairs = self.pairs.iter();
        let others = pairs.filter_map(|&(one, two)| match group {
            _ if group == one => Some(two),
            _ if group == two => Some(one),
            _ => None,
        });
        others.collect()
    }

    /// The values that are computed with in front.
    pub(super) fn terms(&self) -> impl Iterator<Item = Value> {
        let walks = self.groups.iter().map(|group| &group.walk);
        walks
            .chain(self.trips.walks())
            .flat_map(|walk| walk.form.terms.iter().map(|(value, _)| *value))
    }
}

/// Accesses of a function by their addresses.
pub(super) struct Touches<'a> {
    by_address: HashMap<Value, &'a Touch>,
    checks: HashSet<Inst>,
}

impl<'a> Touches<'a> {
    pub(super) fn new(func: &Function, touches: &'a [Touch]) -> Touches<'a> {
        let checks = touches.iter().flat_map(|touch| touch.checks.iter());
        let by_address = touches
            .iter()
            .map(|touch| (func.dfg.resolve_aliases(touch.address), touch));
        Touches {
            checks: checks.copied().collect(),
            by_address: by_address.collect(),
        }
    }

    /// What is known of an instruction's access.
    fn of(&self, func: &Function, inst: Inst) -> Option<&'a Touch> {
        let (address, offset, ty) = accessed(func, inst)?;
        let touch = self.by_address.get(&address)?;
        let is_it = offset == touch.displacement && ty.bytes() <= u32::from(touch.width);
        is_it.then_some(touch)
    }
}

/// Address, displacement and type of a load or store.
pub(super) fn accessed(func: &Function, inst: Inst) -> Option<(Value, i32, Type)> {
    let dfg = &func.dfg;
    let (address, offset, whole) = match dfg.insts[inst] {
        InstructionData::Load { arg, offset, .. } => {
            (arg, offset, dfg.value_type(dfg.first_result(inst)))
        }
        InstructionData::Store { args, offset, .. } => (args[1], offset, dfg.value_type(args[0])),
        _ => return None,
    };
    let ty = match dfg.insts[inst].opcode() {
        Opcode::Load | Opcode::Store => whole,
        Opcode::Uload8 | Opcode::Sload8 | Opcode::Istore8 => types::I8,
        Opcode::Uload16 | Opcode::Sload16 | Opcode::Istore16 => types::I16,
        Opcode::Uload32 | Opcode::Sload32 | Opcode::Istore32 => types::I32,
        Opcode::Uload8x8
        | Opcode::Sload8x8
        | Opcode::Uload16x4
        | Opcode::Sload16x4
        | Opcode::Uload32x2
        | Opcode::Sload32x2 => types::I64,
        _ => return None,
    };
    Some((dfg.resolve_aliases(address), offset.into(), ty))
}

/// Looks at a loop whose values are used outside as `out` says.
pub(super) fn of<'a>(
    func: &Function,
    shape: &'a Shape,
    out: &[Value],
    touches: &Touches<'_>,
    plans: &[MemoryPlan],
) -> Option<Body<'a>> {
    let mut forms = Forms::default();
    let mut walks = Walks::new(func, shape, &mut forms);
    let accesses = accesses(func, shape, touches)?;
    if accesses.is_empty() || is_told(func, shape, &accesses) {
        return None;
    }
    let addresses = accesses.iter().map(|(inst, touch)| (*inst, touch.address));
    if !profit::is_some(func, shape, &mut walks, &addresses.collect::<Vec<_>>()) {
        return None;
    }
    let trips = trip_count::of(func, shape, &mut walks)?;
    let (groups, places) = groups(func, &accesses, &mut walks, plans)?;
    if is_read_as_two(func, &places) {
        return None;
    }
    let pairs = pairs(&groups);
    let are_apart = groups.len() == 1 || !pairs.is_empty();
    let turns = match out.is_empty() && are_apart {
        true => reroll::of(func, shape, &groups, &places),
        false => None,
    };
    let stores = turns.as_ref().map(|turns| &turns.stores[..]);
    let needed = needed(func, shape, out, stores, &places)?;
    let mut fixed = EntitySet::new();
    for block in &shape.blocks {
        for inst in func.layout.block_insts(*block) {
            if needed.contains(inst) && is_pure(func, inst) {
                let results = func.dfg.inst_results(inst);
                if results.iter().all(|value| walks.is_fixed(*value)) {
                    fixed.insert(inst);
                }
            }
        }
    }
    Some(Body {
        shape,
        trips,
        turns: turns.map_or(1, |turns| turns.count),
        pairs,
        groups,
        places,
        needed,
        fixed,
    })
}

/// The accesses to memories of a loop; nothing where it does anything else that can trap
/// or be seen.
fn accesses<'a>(
    func: &Function,
    shape: &Shape,
    touches: &Touches<'a>,
) -> Option<Vec<(Inst, &'a Touch)>> {
    let mut found = Vec::new();
    for block in &shape.blocks {
        for inst in func.layout.block_insts(*block) {
            let data = func.dfg.insts[inst];
            let opcode = data.opcode();
            if let Some(touch) = touches.of(func, inst) {
                found.push((inst, touch));
                continue;
            }
            let is_harmless = opcode.is_branch()
                || is_pure(func, inst)
                || is_droppable(func, inst)
                || is_marker(func, inst)
                || touches.checks.contains(&inst);
            if !is_harmless {
                return None;
            }
        }
    }
    Some(found)
}

/// Whether an instruction would trap on a constant, and does not: translation marks the
/// heads of loops with such.
fn is_marker(func: &Function, inst: Inst) -> bool {
    match func.dfg.insts[inst] {
        InstructionData::CondTrap { opcode, arg, .. } => constant(&func.dfg, arg)
            .is_some_and(|number| (number == 0) == (opcode == Opcode::Trapnz)),
        _ => false,
    }
}

/// Whether an instruction can be left out where nothing needs its result: what remains of
/// a check.
fn is_droppable(func: &Function, inst: Inst) -> bool {
    match func.dfg.insts[inst] {
        InstructionData::Load { flags, .. } => func.dfg.mem_flags[flags].notrap(),
        InstructionData::Ternary {
            opcode: Opcode::SelectSpectreGuard,
            ..
        } => true,
        _ => false,
    }
}

/// Whether a store tells LLVM what a later load of the loop has as a float: it is not to
/// know numbers that change what arithmetic does with a NaN (`llvm/ir/float.rs`). Floats
/// are hidden where they are stored, and what was loaded is not known.
fn is_told(func: &Function, shape: &Shape, accesses: &[(Inst, &Touch)]) -> bool {
    let dfg = &func.dfg;
    let is_float = |ty: Type| ty.is_float() || ty.is_vector();
    let has_floats = shape.blocks.iter().any(|block| {
        let params = dfg.block_params(*block).iter();
        let insts = func.layout.block_insts(*block);
        let results = insts.flat_map(|inst| dfg.inst_results(inst));
        params
            .chain(results)
            .any(|value| is_float(dfg.value_type(*value)))
    });
    has_floats
        && accesses.iter().any(|(inst, _)| {
            if !dfg.insts[*inst].opcode().can_store() {
                return false;
            }
            let stored = dfg.resolve_aliases(dfg.inst_args(*inst)[0]);
            let made = dfg.value_def(stored).inst();
            let is_loaded = made.is_some_and(|made| {
                let is_access = accesses.iter().any(|(access, _)| *access == made);
                is_access && dfg.insts[made].opcode() == Opcode::Load
            });
            !is_float(dfg.value_type(stored)) && !is_loaded
        })
}

/// Whether a byte is loaded both as an integer's and as a float's, or in two vectors: LLVM loads
/// it once, and knows of the one what the other one is compared with (`llvm/ir/known.rs`).
fn is_read_as_two(func: &Function, places: &HashMap<Inst, Place>) -> bool {
    let mut kinds: HashMap<(usize, i64), Kind> = HashMap::new();
    let mut vectors = HashSet::new();
    for (inst, place) in places {
        let Some((_, _, ty)) = accessed(func, *inst) else {
            continue;
        };
        if func.dfg.insts[*inst].opcode().can_store() {
            continue;
        }
        let kind = Kind::of(ty);
        if kind == Kind::Vector && !vectors.insert((place.group, place.displacement)) {
            return true;
        }
        let first = i64::from(place.displacement);
        for byte in first..first + i64::from(ty.bytes()) {
            if *kinds.entry((place.group, byte)).or_insert(kind) != kind {
                return true;
            }
        }
    }
    false
}

/// What a byte is loaded as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Vector,
}

impl Kind {
    fn of(ty: Type) -> Kind {
        match ty {
            _ if ty.is_vector() => Kind::Vector,
            _ if ty.is_float() => Kind::Float,
            _ => Kind::Integer,
        }
    }
}

/// What groups have in common: memory, bits, terms and step.
type Key = (u32, u32, Vec<Term>, i64);
type Groups = (Vec<Group>, HashMap<Inst, Place>);

fn groups(
    func: &Function,
    accesses: &[(Inst, &Touch)],
    walks: &mut Walks<'_>,
    plans: &[MemoryPlan],
) -> Option<Groups> {
    let mut by_key: HashMap<Key, usize> = HashMap::new();
    let mut members: Vec<Vec<(Inst, &Touch, Walk)>> = Vec::new();
    for (inst, touch) in accesses {
        let walk = walks.of(touch.index)?;
        let key = (touch.memory, walk.bits, walk.form.terms.to_vec(), walk.step);
        let at = *by_key.entry(key).or_insert(members.len());
        if at == members.len() {
            members.push(Vec::new());
        }
        members[at].push((*inst, *touch, walk));
    }
    if members.len() > GROUPS_MAX {
        return None;
    }
    let mut places = HashMap::new();
    let mut groups = Vec::new();
    for (number, members) in members.iter().enumerate() {
        groups.push(group(number, members, func, plans, &mut places)?);
    }
    Some((groups, places))
}

/// The pairs of groups of which one stores what the other one could access; none where there
/// are too many to compare.
fn pairs(groups: &[Group]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (second, two) in groups.iter().enumerate() {
        let before = groups[..second].iter().enumerate();
        let matters = before.filter(|(_, one)| one.stores || two.stores);
        pairs.extend(matters.map(|(first, _)| (first, second)));
    }
    match pairs.len() {
        ..=PAIRS_MAX => pairs,
        _ => Vec::new(),
    }
}

fn group(
    number: usize,
    members: &[(Inst, &Touch, Walk)],
    func: &Function,
    plans: &[MemoryPlan],
    places: &mut HashMap<Inst, Place>,
) -> Option<Group> {
    let at_first = |walk: &Walk| signed(walk.form.constant, walk.bits);
    let (_, touch, walk) = members.iter().min_by_key(|(_, _, walk)| at_first(walk))?;
    let plan = &plans[touch.memory as usize];
    if plan.shared || plan.backing == Backing::OnDemand || walk.step.abs() > STEP_MAX {
        return None;
    }
    let from = at_first(walk);
    let (mut least, mut end) = (i64::MAX, 0);
    let mut starts = Vec::new();
    for (inst, touch, walk) in members {
        let moved = at_first(walk)
            .checked_sub(from)
            .filter(|moved| *moved <= SPREAD_MAX)?;
        let start = moved + i64::from(u32::try_from(touch.offset).ok()?);
        starts.push((*inst, start));
        least = least.min(start);
        end = end.max(start + i64::from(touch.width));
    }
    for (inst, start) in starts {
        let displacement = i32::try_from(start - least).ok()?;
        let place = Place {
            group: number,
            displacement,
        };
        places.insert(inst, place);
    }
    // A processor that goes ahead of the comparison has the memory's base for the least
    // address, and goes so many iterations too far at most.
    if plan.spectre {
        let slack = plan.slack();
        let (ahead, behind) = (walk.step.max(0), walk.step.min(0).abs());
        let is_absorbed =
            ahead * AHEAD_MAX + (end - least) <= slack.behind && behind * AHEAD_MAX <= slack.front;
        is_absorbed.then_some(())?;
    }
    Some(Group {
        touch: (*touch).clone(),
        walk: walk.clone(),
        least,
        end,
        is_guarded: plan.spectre,
        stores: members
            .iter()
            .any(|(inst, ..)| func.dfg.insts[*inst].opcode().can_store()),
    })
}

/// What the second version consists of: stores, all of them or these, branches, and what they
/// and the values used outside are made of; nothing where something is needed that is not
/// pure.
fn needed(
    func: &Function,
    shape: &Shape,
    out: &[Value],
    stores: Option<&[Inst]>,
    places: &HashMap<Inst, Place>,
) -> Option<EntitySet<Inst>> {
    let dfg = &func.dfg;
    let mut needed = EntitySet::new();
    let mut work: Vec<Value> = out.to_vec();
    for block in &shape.blocks {
        for inst in func.layout.block_insts(*block) {
            let opcode = dfg.insts[inst].opcode();
            if opcode.is_branch() {
                needed.insert(inst);
                let of_condition = usize::from(inst == shape.exit);
                work.extend(dfg.inst_values(inst).skip(of_condition));
            } else if opcode.can_store() && stores.is_none_or(|these| these.contains(&inst)) {
                needed.insert(inst);
                work.push(dfg.inst_args(inst)[0]);
            }
        }
    }
    while let Some(value) = work.pop() {
        let value = dfg.resolve_aliases(value);
        let Some(inst) = dfg.value_def(value).inst() else {
            continue;
        };
        let block = func.layout.inst_block(inst)?;
        if !shape.contains(block) || needed.contains(inst) {
            continue;
        }
        needed.insert(inst);
        if places.contains_key(&inst) {
            continue;
        }
        is_pure(func, inst).then_some(())?;
        work.extend_from_slice(dfg.inst_args(inst));
    }
    Some(needed)
}
