//! Continuations as compiled code sees them (stack-switching proposal, phase 3).
//!
//! ```text
//!  VmRuntime.stacks.current ─► VmCont ─link─► VmCont ─link─► root
//!                                │              the parent: who resumed it
//!                            ┌─stack
//!  frames …  start, arguments, VmStackTop │ VmCont          of one stack
//!
//!  frame of a `resume`:   value 1 | value 0 | tag 0 | tag 1 | 0
//!                                           ▲ VmCont.site while it runs
//! ```
//!
//! A reference is 64 bits: in the upper half the place of its [`VmCont`], counted from the first
//! in blocks of that size, and in the lower half a revision. The block has the reference that is
//! valid; one that was used is of an earlier revision. Null is the first one's, which has another.
//!
//! One that has no stack yet is a block by itself, with its function only. When it begins it
//! is the block above a stack from then on, beside what runs there: to switch to it touches
//! one place. No reference is left that knew it as what it was.
//!
//! Whoever leaves a stack notes where it goes on in its own block. So what a `resume` comes back
//! with is read from where it has just been written, however far away the continuation is that
//! it went to: no address that is needed next waits for that one's page.
//!
//! What must stay true: what runs is `current` and its parents, ending at `root`, at every
//! instruction; so the parent is written before `current` is, and what it was before is
//! overwritten after. A parent has where it goes on, or no frame pointer there as long as that
//! is not yet written.

use std::mem::offset_of;

use crate::facts::vmctx::{VmFuncRef, VmRuntime};

/// What compiled code needs to make continuations and to switch between stacks; see
/// `run/stacks`.
#[repr(C)]
#[derive(Debug)]
pub struct VmStacks {
    /// The one that runs: on the thread's own stack it is `root`.
    pub current: *mut VmCont,
    /// Stands for the thread's own stack: its limit, a parent for the first one.
    pub root: VmCont,
    /// What references count from.
    pub base: *mut VmCont,
    /// The continuations without a stack that are free, chained by `link`.
    pub free: *mut VmCont,
    /// Those with a stack that are free, chained by `link`.
    pub free_stacks: *mut VmCont,
    /// The segments that are free, chained by `next`.
    pub free_segments: *mut VmSegmentEnd,
    /// What every limit is at least: 0, or more than any stack when what runs is to end.
    pub limit_min: usize,
    /// Which clause [`crate::libcall::Libcall::ContFind`] found, from 0.
    pub found: u64,
    /// The exception that a continuation is resumed with.
    pub thrown: u64,
    /// A context that is not needed.
    pub scratch: VmControl,
    /// The clauses of `root`: none.
    pub no_clauses: u64,
}

/// Where a stack goes on; as Cranelift's `stack_switch` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct VmControl {
    /// Stack pointer.
    pub sp: usize,
    /// Frame pointer; 0 of a continuation that has a stack and has not begun; of one that has no
    /// stack yet, its function.
    pub fp: usize,
    /// Program counter.
    pub pc: usize,
}

/// A continuation.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct VmCont {
    /// Where it goes on, while it is suspended or another one runs that it has resumed.
    pub control: VmControl,
    /// Lowest address that frames on its stack may reach.
    pub limit: usize,
    /// Running: its parent. Suspended: the one that goes on, itself or one that it is
    /// a parent of. Free: the next.
    pub link: *mut VmCont,
    /// What refers to it: its place, and how often it was resumed, bound or switched to.
    pub reference: u64,
    /// Running: the clauses and the values of who resumed it, see `SITE_CLAUSES`.
    /// Suspended: where its next argument goes; null of one that has no stack.
    pub site: *mut u8,
    /// The top of its stack; null of one that has none.
    pub stack: *mut VmStackTop,
}

/// What is at the top of a stack, below the continuation that it belongs to at first.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct VmStackTop {
    /// Lowest address that frames may reach.
    pub limit: usize,
    /// The function that begins here.
    pub func: *const VmFuncRef,
    /// The context that counts as its caller's.
    pub caller: *mut u8,
}

// Directly below a continuation it is aligned, too.
const _: () = assert!(size_of::<VmStackTop>() == 32);

/// From a continuation down, what is read along with it: the lines of the cache where a shallow
/// stack has the frame that goes on.
pub(crate) const FETCHED: [i32; 2] = [160, 224];
/// References count from one; so many more stand in front of the first.
pub(crate) const BLOCKS_IN_FRONT: usize = 5;
const _: () = assert!(FETCHED[1] as usize <= (BLOCKS_IN_FRONT - 1) * size_of::<VmCont>());

/// What a reference is shifted right by for the distance from the first, but for the bits below
/// [`PLACE_MASK`].
pub(crate) const PLACE_SHIFT: i64 = 26;
/// See [`PLACE_SHIFT`].
pub(crate) const PLACE_MASK: i64 = -(size_of::<VmCont>() as i64);
/// The lowest bit of a reference's place.
const PLACE_BIT: u32 = 32;
const _: () = assert!(size_of::<VmCont>() == 1 << (PLACE_BIT as i64 - PLACE_SHIFT));

/// The revision of a block whose revisions are used up.
pub(crate) const LAST_REVISION: u32 = u32::MAX;

/// The reference to a block that was never used, by its place.
pub(crate) const fn first_reference(place: u32) -> u64 {
    (place as u64) << PLACE_BIT
}

impl VmCont {
    /// Whether its revisions are used up: no reference has the last one.
    pub(crate) fn is_used_up(&self) -> bool {
        self.reference as u32 == LAST_REVISION
    }
}

/// Arguments that every stack has room for.
pub(crate) const FEW_ARGUMENTS: usize = 16;
/// What is at the end of a segment; see `run/stacks/segments.rs`.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct VmSegmentEnd {
    /// The next that is free.
    pub next: *mut VmSegmentEnd,
    /// The store's.
    pub runtime: *mut VmRuntime,
    /// The limit of what was used up.
    pub limit_before: usize,
    /// Where the first frame's return address is.
    pub first: usize,
    /// From there to where it was, in bytes.
    pub distance: isize,
    /// What was in it.
    pub returns_to: usize,
    /// Bytes of the stack so far, with this segment.
    pub used: usize,
}

/// The word that goes along with a switch is the address of the runtime; these bits of it
/// say what it is about.
pub(crate) const WORD_BITS: u64 = 63;
/// To a `resume`: it was suspended, this and the clause, from 0; 0 where it returned.
pub(crate) const SUSPENDED: u64 = 1;
/// To a `resume`: the clause is `VmStacks::found`.
pub(crate) const SUSPENDED_MORE: u64 = 62;
/// To a continuation: it is to raise `VmStacks::thrown`.
pub(crate) const THROWN_INTO: u64 = 1;
/// To a `resume`: an exception comes out of it, whose address is the first value.
pub(crate) const RAISED: u64 = 63;

// The other bits are the address's.
const _: () = assert!(align_of::<VmRuntime>() > WORD_BITS as usize);

/// The tag of a clause `(on $tag switch)` is the tag's address and this.
pub(crate) const SWITCH_CLAUSE: u64 = 1;

/// Byte offsets inside [`VmRuntime`], [`VmCont`] and [`VmStackTop`].
pub mod offsets {
    use super::*;

    const STACKS: i32 = offset_of!(VmRuntime, stacks) as i32;
    /// [`VmStacks::current`].
    pub const CURRENT: i32 = STACKS + offset_of!(VmStacks, current) as i32;
    /// [`VmStacks::root`].
    pub const ROOT: i32 = STACKS + offset_of!(VmStacks, root) as i32;
    /// Of the thread's own stack, while another one runs: where host code may begin.
    pub const ROOT_SP: i32 = ROOT + CONT_SP;
    /// [`VmStacks::base`].
    pub const CONT_BASE: i32 = STACKS + offset_of!(VmStacks, base) as i32;
    /// [`VmStacks::free`].
    pub const FREE_CONTS: i32 = STACKS + offset_of!(VmStacks, free) as i32;
    /// [`VmStacks::free_stacks`].
    pub const FREE_STACKS: i32 = STACKS + offset_of!(VmStacks, free_stacks) as i32;
    /// [`VmStacks::free_segments`].
    pub const FREE_SEGMENTS: i32 = STACKS + offset_of!(VmStacks, free_segments) as i32;
    /// [`VmStacks::limit_min`].
    pub const LIMIT_MIN: i32 = STACKS + offset_of!(VmStacks, limit_min) as i32;
    /// [`VmStacks::found`].
    pub const FOUND: i32 = STACKS + offset_of!(VmStacks, found) as i32;
    /// [`VmStacks::thrown`].
    pub const THROWN: i32 = STACKS + offset_of!(VmStacks, thrown) as i32;
    /// [`VmStacks::scratch`].
    pub const SCRATCH: i32 = STACKS + offset_of!(VmStacks, scratch) as i32;
    /// [`VmControl::sp`].
    pub const CONT_SP: i32 = offset_of!(VmCont, control) as i32 + offset_of!(VmControl, sp) as i32;
    /// [`VmControl::fp`].
    pub const CONT_FP: i32 = offset_of!(VmCont, control) as i32 + offset_of!(VmControl, fp) as i32;
    /// [`VmControl::pc`].
    pub const CONT_PC: i32 = offset_of!(VmCont, control) as i32 + offset_of!(VmControl, pc) as i32;
    /// [`VmCont::limit`].
    pub const CONT_LIMIT: i32 = offset_of!(VmCont, limit) as i32;
    /// [`VmCont::link`].
    pub const CONT_LINK: i32 = offset_of!(VmCont, link) as i32;
    /// [`VmCont::reference`].
    pub const CONT_REFERENCE: i32 = offset_of!(VmCont, reference) as i32;
    /// [`VmCont::site`].
    pub const CONT_SITE: i32 = offset_of!(VmCont, site) as i32;
    /// [`VmCont::stack`].
    pub const CONT_STACK: i32 = offset_of!(VmCont, stack) as i32;
    /// [`VmStackTop::func`].
    pub const TOP_FUNC: i32 = offset_of!(VmStackTop, func) as i32;
    /// [`VmStackTop::caller`].
    pub const TOP_CALLER: i32 = offset_of!(VmStackTop, caller) as i32;
    /// From where a resumption's clauses and values meet, up: the tags of the clauses,
    /// with a 0 behind the last.
    pub const SITE_CLAUSES: i32 = 0;

    /// From there, down: a value.
    pub const fn site_value(index: usize) -> i32 {
        -16 * (index as i32 + 1)
    }
}
