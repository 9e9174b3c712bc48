//! Check elision: checks that something which happens anyway makes superfluous
//! are left out. It runs over a translated function, before Cranelift's own
//! optimisation, under every strategy that checks.
//!
//! ```text
//!  translation ──► Site of each access with a check     bounds/site.rs
//!       │
//!       ▼          form.rs    an index as terms and a constant
//!  this pass ─────┤ range.rs   what a value can be by the instruction that makes it
//!       │          facts.rs   what accesses that went well say of later ones
//!       │          joins.rs   values that were accessed on each way to a block
//!       │          loops.rs   what an iteration adds
//!       │          ahead.rs   where processors go ahead of what is known
//!       ▼          rewrite.rs the first access of a loop made safe
//!  the checks' trapping instructions removed, the rest dies as unused
//! ```
//!
//! # Why an access can do without
//!
//! Around a memory whose plan has slack ([`crate::bounds::Slack`]) addresses are
//!
//! ```text
//!      front          base     base+len      base+max                behind
//!  |-- inaccessible --|-- memory --|-- inaccessible --|-- inaccessible --|
//!  -F                 0           len                max             max+G
//! ```
//!
//! Let `t` be a number that an index `i` is congruent to modulo `2^64`, so that
//! the address is `base + t + o`. The specification traps iff `i + o + n > len`.
//!
//! 1. `0 <= t` and `t + o + n <= max + G`: `i = t`, and the access ends inside
//!    the reservation, where a byte is accessible iff it is below `len`. It
//!    faults iff `t + o + n > len`.
//! 2. `-F <= t < 0` and `o = 0`: `i = 2^64 + t` is beyond every memory, so it has
//!    to trap, and the byte at `t` is inaccessible. With `o > 0` the address may
//!    be in the memory again, so such an access keeps its check.
//! 3. A 32-bit index is extended after its arithmetic, modulo `2^32`: the address
//!    is `base + i + o` with the one `i` in `0..2^32` that is congruent to `t`.
//!    Where `t` is negative `i` may be anything up to `2^32 - 1`, and
//!    `2^32 - 1 + o + n <= max + G` has to hold besides; where `t` is `2^32` or
//!    more, `i` is smaller than `t`.
//!
//! What makes it so that `t` is known (`t` for the form's terms, its *root*; the
//! constant is added):
//!
//! - **range**: by the instructions that compute it, as a byte that was loaded.
//!   That a 32-bit index has 32 bits does not count: it would make every
//!   strategy `guard`.
//! - **dominated**: an access on every way here went well, so that its `t` is in
//!   `0 ..= len - o - n`, and `len <= max`. Facts are kept in a walk over the
//!   dominator tree. They are about SSA values, so nothing that happens in
//!   between ends them: a memory never shrinks, whatever is called and whichever
//!   thread grows it, its base never moves, and an exception's edge is an edge.
//!   A term of known range may be left out of the root, and its range added.
//! - **joins** (with dominated): a block's parameter that is handed in on each
//!   way by a value whose access went well on that way (`joins.rs`).
//! - **loops**: the access is in each iteration of a loop that has a next one
//!   (its block dominates the branches back), and each term of its index is
//!   either defined outside, or a parameter of the header to which an iteration
//!   adds a number between `a` and `b`. If the access went well in one iteration
//!   it had `t` in `0 ..= max - o - n`; in the next it has `t + s` with
//!   `a <= s <= b`, and (1) to (3) are asked of that. What is left is the first
//!   iteration. It needs nothing where a fact or a range is about its index
//!   `x`, a sum of values from outside; otherwise it is made safe in front of the
//!   loop, without a trap there, for what the loop does before must be done:
//!   `m = umin(x, T)` with `T = max`, and `m - x` is added to the address. Where
//!   `x < T` that is nothing, and (1) holds as `T <= max`. Where it is not, the
//!   specification traps at this access, and it faults, at `base + T + o`: the
//!   first time, so that no other iteration is ever reached.
//!   - *start*: if the index is a parameter of the header and a constant, the
//!     access in the header, and nothing that can be observed in front of it
//!     uses the parameter (other values are computed from it at most), then the
//!     parameter itself is given the first value `m - constant`. Who uses it
//!     later knows that the access went well, so that `m = x`.
//!   - *base*: otherwise the loop gets a base of its own for this index, with
//!     the fixed terms in it: `base + m - (varying terms at first)`, to which the
//!     varying terms are added. Accesses of the same root behind, in the same
//!     loop, use it too.
//!
//!   Where `max` bounds nothing, as with a 32-bit memory that can have all of
//!   its 4 GiB, or is not known, as with an imported memory, `T` is the length in
//!   front of the loop: if nothing is called until the access it is still the
//!   length there. Not so of a shared memory, which another thread may grow in
//!   between: the byte at the old length is one of the memory then, and the access
//!   would not fault. It keeps its check.
//!
//! A condition of the loop is never looked at, and nothing is executed twice or
//! earlier than it was.

pub(super) mod ahead;
mod facts;
pub(super) mod form;
mod joins;
mod loops;
pub(super) mod range;
mod rewrite;

use std::collections::HashMap;

use cranelift_codegen::Context;
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::ir::{Block, Function};
use cranelift_codegen::isa::TargetIsa;
use smallvec::SmallVec;

use crate::bounds::{MemoryPlan, Site};
use crate::compile::Elide;
use ahead::Anchors;
use facts::{Facts, Interval, Needs, Room};
use form::{Forms, Linear, signed};
use joins::Joins;
use loops::{Affine, Loops};
use range::Range;
use rewrite::Rebased;

/// A term is left out of a root if its range is at most this wide: as an element of 8
/// bytes by a number of 32 bits, which is what `guard64` has room for.
const LEFT_OUT_MAX: i64 = 1 << 35;

/// Leaves out what checks it can of a translated function's accesses.
///
/// # Errors
/// Cranelift's, where a debug build finds the function broken.
pub(crate) fn run(
    context: &mut Context,
    isa: &dyn TargetIsa,
    plans: &[MemoryPlan],
    sites: &[Site],
    elide: Elide,
) -> Result<(), String> {
    if sites.is_empty() || elide == Elide::Off {
        return Ok(());
    }
    context.flowgraph();
    // Loops hand on what they do not change; without those parameters more is
    // seen to come from outside.
    context
        .remove_constant_phis(isa)
        .map_err(|error| error.to_string())?;
    if elide == Elide::Loops {
        context.compute_loop_analysis();
    }
    let Context {
        func,
        cfg,
        domtree,
        loop_analysis,
        ..
    } = context;
    let loops = (elide == Elide::Loops).then(|| Loops::new(cfg, domtree, loop_analysis));
    let rooms: Vec<Room> = plans.iter().map(Room::new).collect();
    let mut forms = Forms::default();
    let joins = Joins::new(cfg, domtree, func, &mut forms, &rooms, sites);
    let mut pass = Pass {
        func,
        rooms,
        loops,
        joins,
        forms,
        facts: Facts::default(),
        anchors: Anchors::default(),
        rebased: Vec::new(),
    };
    pass.walk(domtree, sites);
    Ok(())
}

/// The pass over one function.
struct Pass<'a> {
    func: &'a mut Function,
    /// By memory index.
    rooms: Vec<Room>,
    loops: Option<Loops<'a>>,
    joins: Joins<'a>,
    forms: Forms,
    facts: Facts,
    anchors: Anchors,
    /// Bases of loops around, the innermost last.
    rebased: Vec<Rebased>,
}

/// A step of the walk.
enum Step {
    Enter(Block),
    /// Everything below a block is done: what was learnt there is forgotten.
    Leave {
        facts: usize,
        anchors: usize,
        rebased: usize,
    },
}

impl Pass<'_> {
    /// Over the dominator tree, each block before those it dominates.
    fn walk(&mut self, domtree: &DominatorTree, sites: &[Site]) {
        let mut by_block: HashMap<Block, SmallVec<[&Site; 4]>> = HashMap::new();
        for site in sites {
            by_block.entry(site.block).or_default().push(site);
        }
        let Some(entry) = self.func.layout.entry_block() else {
            return;
        };
        let mut steps = vec![Step::Enter(entry)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(block) => {
                    steps.push(Step::Leave {
                        facts: self.facts.mark(),
                        anchors: self.anchors.mark(),
                        rebased: self.rebased.len(),
                    });
                    steps.extend(domtree.children(block).map(Step::Enter));
                    for site in by_block.get(&block).into_iter().flatten() {
                        self.site(site);
                    }
                }
                Step::Leave {
                    facts,
                    anchors,
                    rebased,
                } => {
                    self.facts.back_to(facts);
                    self.anchors.back_to(anchors);
                    self.rebased.truncate(rebased);
                }
            }
        }
    }

    /// Leaves the check of one access out if it can, and learns from it.
    fn site(&mut self, site: &Site) {
        let Some(index) = Index::of(self.func, &mut self.forms, site) else {
            return;
        };
        let affine = self.affine(site, &index);
        match site.is_guarded {
            true => self.guarded_site(site, &index, affine.as_ref()),
            false => self.plain_site(site, &index, affine.as_ref()),
        }
        self.learn(&index.form, &index.needs);
        // The first time, too, it went well.
        if let Some(affine) = affine {
            self.learn(&affine.first, &index.needs);
        }
    }

    /// An access without a guard.
    fn plain_site(&mut self, site: &Site, index: &Index, affine: Option<&Affine>) {
        if self.is_exact(&index.form, &index.needs) {
            self.leave_out(site);
            self.use_base_of_loop(site, index);
        } else if let Some(affine) = affine
            && self.stays_exact(affine, &index.needs)
            && (self.is_exact(&affine.first, &index.needs) || self.make_safe(site, index, affine))
        {
            self.leave_out(site);
        }
    }

    fn leave_out(&mut self, site: &Site) {
        for check in &site.checks {
            rewrite::remove(self.func, *check);
        }
    }

    /// Whether the instructions that compute an index make its access exact.
    fn is_in_range(&self, form: &Linear, needs: &Needs) -> bool {
        loops::sum_of_ranges(self.func, form, needs.bits)
            .is_some_and(|range| needs.are_met_by(range.into(), &self.rooms))
    }

    /// Whether what is known here makes an access with this index exact.
    fn is_exact(&mut self, form: &Linear, needs: &Needs) -> bool {
        self.is_in_range(form, needs)
            || self.is_known(form, needs, |index, rooms| needs.are_met_by(index, rooms))
    }

    /// Whether what accesses say of an index is enough.
    fn is_known(
        &mut self,
        form: &Linear,
        needs: &Needs,
        is_enough: impl Fn(Interval, &[Room]) -> bool,
    ) -> bool {
        let constant = signed(form.constant, needs.bits);
        let no_more = Range {
            lo: constant,
            hi: constant,
        };
        let joined = match form.terms[..] {
            // What is accessed on each way to a block that it is a parameter of.
            [(value, 1)] => self.joins.of(self.func, &mut self.forms, value),
            _ => None,
        };
        let root = self.forms.root(form, needs.bits);
        let mut known: SmallVec<[(Option<Interval>, Range); 4]> =
            SmallVec::from_slice(&[(self.facts.of(root), no_more), (joined, no_more)]);
        // Without one of the terms, whose range is added.
        for left_out in 0..form.terms.len() {
            let range = self.range_of_term(form, left_out, needs.bits);
            if let Some(more) = range.and_then(|range| range.plus(no_more)) {
                let root = self.forms.root(&form.without(left_out), needs.bits);
                known.push((self.facts.of(root), more));
            }
        }
        known.into_iter().any(|(fact, more)| {
            let index = fact.and_then(|fact| fact.plus(more));
            index.is_some_and(|index| is_enough(index, &self.rooms))
        })
    }

    /// Of one term, if it is narrow enough to be of use.
    fn range_of_term(&self, form: &Linear, position: usize, bits: u32) -> Option<Range> {
        let (value, factor) = form.terms[position];
        let range = range::of(&self.func.dfg, value)?.times(signed(factor, bits))?;
        (range.width() <= LEFT_OUT_MAX).then_some(range)
    }

    /// An access with this index went well.
    fn learn(&mut self, form: &Linear, needs: &Needs) {
        let room = self.rooms[needs.memory as usize];
        let inside = room.inside(needs.memory, needs.end);
        let constant = signed(form.constant, needs.bits);
        if constant == i64::MIN {
            return;
        }
        let learn = |pass: &mut Self, form: &Linear, fact: Option<Interval>| {
            if let Some(fact) = fact {
                let root = pass.forms.root(form, needs.bits);
                pass.facts.learn(root, fact, needs.bits, &pass.rooms);
            }
        };
        let of_root = inside.moved(-constant);
        learn(self, form, of_root);
        for left_out in 0..form.terms.len() {
            if form.terms.len() > 1
                && let Some(range) = self.range_of_term(form, left_out, needs.bits)
            {
                let less = range.times(-1);
                let fact = of_root.and_then(|of_root| of_root.plus(less?));
                learn(self, &form.without(left_out), fact);
            }
        }
    }

    /// The index in the loop around, if it is one of the third rule.
    fn affine(&mut self, site: &Site, index: &Index) -> Option<Affine> {
        let loops = self.loops.as_mut()?;
        let (of, shape) = loops.around(self.func, site.block)?;
        let (forms, bits) = (&mut self.forms, index.needs.bits);
        loops.affine(self.func, forms, of, &shape, &index.form, bits)
    }

    /// Whether an access is exact that went well one iteration ago.
    fn stays_exact(&self, affine: &Affine, needs: &Needs) -> bool {
        let room = self.rooms[needs.memory as usize];
        room.inside(needs.memory, needs.end)
            .plus(affine.step)
            .is_some_and(|index| needs.are_met_by(index, &self.rooms))
    }
}

/// The index of a site, and what its access needs.
struct Index {
    form: Linear,
    needs: Needs,
}

impl Index {
    /// A 32-bit memory's index is an extended i32, whose form is taken.
    fn of(func: &Function, forms: &mut Forms, site: &Site) -> Option<Index> {
        let dfg = &func.dfg;
        let operand = rewrite::operand(func, site)?;
        let bits = dfg.value_type(operand).bits();
        let offset = i64::try_from(site.offset).ok()?;
        Some(Index {
            form: forms.linear(dfg, operand),
            needs: Needs {
                memory: site.memory,
                bits,
                offset,
                end: offset + i64::from(site.width),
            },
        })
    }
}
