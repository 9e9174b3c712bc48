//! Loops whose accesses are proved in front of them: they get a second version, in which
//! no access faults. It is for a code generator that makes something of that, by running
//! several iterations at once ([`super::llvm`]); Cranelift would not.
//!
//! ```text
//!  translation ──► Touch of each access      bounds/site.rs
//!       │
//!       ▼          shape.rs       innermost loops, one way out, one way back
//!  this pass ─────┤ walk.rs        what a value is in iteration k: first + k × step
//!       │          trip_count.rs  how many iterations there are
//!       │          body.rs        nothing else in it traps; accesses in groups
//!       │          profit.rs      whether there is anything to gain
//!       │          reroll.rs      what was unrolled before is rolled up again
//!       │          preheader.rs   the comparison in front, and the addresses
//!       ▼          emit.rs        the second version
//!  its accesses are `notrap` and `can_move`, between two `sequence_point`s
//! ```
//!
//! # Why no access of the second version faults
//!
//! Iterations are numbered from 0. `E` of them have a next one (`trip_count.rs`), so `k` is in
//! `0 ..= E`, with `E < 2^32`. The index of an access is `i = a + c + k × s` modulo the
//! width of indices, where `a` is what the loop begins with, extended to 64 bits, `s` a
//! constant with `|s| <= 2^24`, and `0 <= c <= 2^30` what it has more than the least of
//! its group; it accesses `n` bytes at `i + o`, with `o < 2^32`. Let `end` be the greatest
//! `c + o + n` of the group. In front is compared, without overflow (`a < 2^62`):
//!
//! ```text
//!      s >= 0:   a + E × s + end <= len
//!      s <  0:   a + end <= len   and   0 <= a + E × s
//! ```
//!
//! With that, `0 <= a + c + k × s` and `a + c + k × s + o + n <= len <= 2^32` for each `k`
//! and each access of the group: the sum does not wrap as an index, so it is the index,
//! and the access is inside. It is of no interest whether the access takes place in each
//! iteration. `len` is the length in front of the loop, and it is not more than the length
//! later: memories do not shrink, and nothing in the loop grows one but another thread, of
//! which shared memories are left alone.
//!
//! # Which accesses are apart
//!
//! With that, those of a group are at `base + low ..  base + high`, where `low` and `high` are
//! the least of `a`, `a + E × s` with the least `c + o`, and the greatest with `end`. Of two
//! groups one of which stores, the comparison in front also says that one ends where or before
//! the other begins, by address: two memories can be one. All of it is below `2^48`, so no
//! difference overflows. So in the second version no access of one group is to a byte of
//! another one, in whichever iterations the two take place. Nothing is said of accesses
//! elsewhere, nor of another time that the loop is begun: the markers are in between. Loops
//! with more than 16 such pairs are not compared, and nothing is said of theirs.
//!
//! # Why nobody sees the difference
//!
//! The second version computes the same values: it is a copy, but for its addresses, which
//! are the same numbers, and its way out, which is taken in the same iteration. Nothing in
//! it traps, calls or is seen from outside but its stores, and after at most `2^32`
//! iterations it ends. So whichever order its loads and stores are in, as long as each
//! load has what it would have had, all stores are done behind it, and none is left out.
//! They do not mix with accesses around: markers in front and behind are moved across by
//! nothing (`sequence_point`), and in between nothing traps.
//!
//! An interrupt can come in between. The stores of a loop are not in order then.
//!
//! # What a processor does ahead
//!
//! It may go into the second version before the comparison is done, and beyond its last
//! iteration. Under guards against speculation the least address is the memory's base
//! then, and what it can walk from there, or beyond the last iteration, is within the
//! inaccessible pages around (`body.rs`), as with loops in `elide/ahead.rs`.

mod body;
mod emit;
mod preheader;
mod profit;
mod reroll;
mod shape;
mod trip_count;
mod walk;

use std::collections::{BTreeSet, HashMap};

use cranelift_codegen::Context;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Inst, Value};
use cranelift_codegen::isa::TargetIsa;

use crate::bounds::{MemoryPlan, Touch};
use body::{Body, Touches};
use shape::Shape;

/// An access of a second version that has no byte in common with those of other groups of
/// the same loop.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The loop's number in the function.
    pub of_loop: u32,
    /// Its group's number in the loop, and those of the others.
    pub group: usize,
    pub others: Vec<usize>,
}

/// The accesses of which that is known.
pub(super) type Apart = HashMap<Inst, Part>;

/// The function with a second version of each loop that can have one; nothing where none
/// can.
///
/// # Errors
/// Cranelift's, where a debug build finds the function broken.
pub(super) fn run(
    func: &Function,
    isa: &dyn TargetIsa,
    plans: &[MemoryPlan],
    touches: &[Touch],
) -> Result<Option<(Function, Apart)>, String> {
    if touches.is_empty() {
        return Ok(None);
    }
    let mut context = Context::for_function(func.clone());
    context.flowgraph();
    context.compute_loop_analysis();
    if context.loop_analysis.loops().next().is_none() {
        return Ok(None);
    }
    // Loops hand on what they do not change.
    context
        .remove_constant_phis(isa)
        .map_err(|error| error.to_string())?;
    // Where all aliases are resolved, none says any more what it stood for.
    let touches: Vec<Touch> = touches
        .iter()
        .map(|touch| touch.resolved(&context.func.dfg))
        .collect();
    context.func.dfg.resolve_all_aliases();
    let shapes = shape::find(&context);
    let func = &mut context.func;
    let touches = Touches::new(func, &touches);
    let mut out = used_outside(func, &shapes);
    // What is computed in front of one loop may be made of values of another one, which
    // comes before it.
    for body in bodies(func, &shapes, &out, &touches, plans) {
        for value in body.0.terms() {
            let defined = shapes.iter().position(|shape| shape.defines(func, value));
            if let Some(at) = defined.filter(|at| shapes[*at].header != body.0.shape.header) {
                out[at].insert(value);
            }
        }
    }
    let bodies = bodies(func, &shapes, &out, &touches, plans);
    if bodies.is_empty() {
        return Ok(None);
    }
    let apart = emit::apply(func, &bodies);
    if cfg!(debug_assertions) {
        cranelift_codegen::verify_function(func, isa).map_err(|error| error.to_string())?;
    }
    Ok(Some((context.func, apart)))
}

/// The loops that can be proved, and what of their values is used outside.
fn bodies<'a>(
    func: &Function,
    shapes: &'a [Shape],
    out: &[BTreeSet<Value>],
    touches: &Touches<'_>,
    plans: &[MemoryPlan],
) -> Vec<(Body<'a>, Vec<Value>)> {
    let mut bodies = Vec::new();
    for (shape, out) in shapes.iter().zip(out) {
        let out: Vec<Value> = out.iter().copied().collect();
        if let Some(body) = body::of(func, shape, &out, touches, plans) {
            bodies.push((body, out));
        }
    }
    bodies
}

/// For each loop: the values of it that are used outside.
fn used_outside(func: &Function, shapes: &[Shape]) -> Vec<BTreeSet<Value>> {
    let mut of_block: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
    let mut of_value: HashMap<Value, u32> = HashMap::new();
    for (number, shape) in shapes.iter().enumerate() {
        for block in &shape.blocks {
            of_block[*block] = Some(number as u32);
            let insts = func.layout.block_insts(*block);
            let results = insts.flat_map(|inst| func.dfg.inst_results(inst));
            let values = results.chain(func.dfg.block_params(*block));
            of_value.extend(values.map(|value| (*value, number as u32)));
        }
    }
    let mut out = vec![BTreeSet::new(); shapes.len()];
    for block in func.layout.blocks() {
        for inst in func.layout.block_insts(block) {
            for value in func.dfg.inst_values(inst) {
                let value = func.dfg.resolve_aliases(value);
                if let Some(number) = of_value.get(&value)
                    && of_block[block] != Some(*number)
                {
                    out[*number as usize].insert(value);
                }
            }
        }
    }
    // What leaves with the branch out is used behind.
    for (shape, out) in shapes.iter().zip(&mut out) {
        for value in shape.handed_out(func) {
            if shape.defines(func, value) {
                out.insert(value);
            }
        }
    }
    out
}
