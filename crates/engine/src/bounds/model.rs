//! Checks on numbers: what each strategy makes of one access, held against its inequality,
//! and against what is claimed of it ahead of its check.
//!
//! ```text
//!  strategy.emit ──▶ Model ──▶ trapped, or where the access goes ──▶ the memory's pages
//! ```

use super::check::{Cell, CheckBuilder, Comparison, Operand, Selection, Span};
use super::{
    Backing, Bounds, Growth, GrowthLimits, Guarantee, MAX_PAGES_32, MemoryPlan, Place, Probing,
    WASM_PAGE_BYTES,
};
use crate::facts::types::MemoryType;
use fathom_sys::map::page_bytes;

/// Behind the last address of user space.
const USER_END: u64 = 1 << 47;
/// Where the reservations of the model begin.
const RESERVATION: u64 = 1 << 44;
/// The end of the lowest shadow below.
const SHADOW_START: u64 = 1 << 16;
/// Addresses from there on may be readable once more.
const VSYSCALL: u64 = (10_u64 << 20).wrapping_neg();

/// A memory, as its definition has it.
#[derive(Clone, Copy)]
struct Memory {
    plan: MemoryPlan,
    len: u64,
}

impl Memory {
    fn base(&self) -> u64 {
        RESERVATION + self.plan.lead_bytes()
    }

    /// The end of its shadow.
    fn shadow_end(&self) -> u64 {
        match self.plan.shadow {
            None => 0,
            Some(shadow) => match shadow.place {
                Place::InFront => RESERVATION + self.plan.front_guard_bytes + shadow.bytes,
                Place::Below => SHADOW_START + shadow.bytes,
            },
        }
    }

    fn reserved_bytes(&self) -> u64 {
        let planned = self.plan.reserved_bytes;
        let shadow = self.plan.shadow;
        shadow.map_or(planned, |shadow| {
            shadow.reserved_bytes(planned, self.shadow_end())
        })
    }

    /// Whether bytes from `at` on, counted from the first of the memory, are in its
    /// reservation.
    fn is_reserved(&self, at: i128, width: u8) -> bool {
        let lead = i128::from(self.plan.lead_bytes());
        at >= -lead && at + i128::from(width) <= i128::from(self.reserved_bytes())
    }

    /// Whether all of them can be read and written.
    fn is_accessible(&self, at: i128, width: u8) -> bool {
        let end = match self.plan.backing {
            Backing::Whole => self.reserved_bytes(),
            Backing::Protect | Backing::OnDemand => self.len,
        };
        at >= -i128::from(self.plan.front_bytes) && at + i128::from(width) <= i128::from(end)
    }

    /// Whether a byte of the shadow's kind can be read; nothing where that is somebody
    /// else's business.
    fn is_readable(&self, address: u64) -> Option<bool> {
        let shadow = self.plan.shadow?;
        let end = self.shadow_end();
        if (end..end + page_bytes() as u64).contains(&address) {
            return Some(true);
        }
        if (end - shadow.bytes..end).contains(&address) {
            let is_open = address >= end - shadow.open_bytes(self.len);
            let granule = end - 1 - address;
            // The fault handler lets those through that are in bounds.
            let is_let = shadow.growth == Growth::Segfault && granule << shadow.shift < self.len;
            return Some(is_open || is_let);
        }
        match shadow.place {
            Place::InFront => Some(false),
            Place::Below => (USER_END..VSYSCALL).contains(&address).then_some(false),
        }
    }
}

/// A check that is done on numbers.
struct Model {
    memory: Memory,
    numbers: Vec<u64>,
    /// Whether it goes on behind a check that fails, as a processor may.
    is_ahead: bool,
    /// Whether bytes that are nobody's shadow can be read.
    is_lenient: bool,
    keeps_cells: bool,
    is_trapped: bool,
}

impl Model {
    fn get(&self, operand: Operand) -> u64 {
        self.numbers[operand.0 as usize]
    }

    fn made(&mut self, number: u64) -> Operand {
        self.numbers.push(number);
        Operand(self.numbers.len() as u32 - 1)
    }
}

impl CheckBuilder for Model {
    fn base(&mut self) -> Operand {
        self.made(self.memory.base())
    }

    fn keeps_cells(&self) -> bool {
        self.keeps_cells
    }

    fn constant(&mut self, number: u64) -> Operand {
        self.made(number)
    }

    fn cell(&mut self, cell: Cell) -> Operand {
        let bits = self.memory.plan.index_bits();
        self.made(match cell {
            Cell::Length => self.memory.len,
            Cell::HighBits => u64::MAX << bits,
            Cell::IndexBits => bits.into(),
            Cell::ShadowEnd => self.memory.shadow_end(),
        })
    }

    fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(self.get(a).wrapping_add(self.get(b)))
    }

    fn add_or_trap(&mut self, a: Operand, b: Operand) -> Operand {
        let (sum, is_beyond) = self.get(a).overflowing_add(self.get(b));
        self.is_trapped |= is_beyond;
        self.made(sum)
    }

    fn and(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(self.get(a) & self.get(b))
    }

    fn not(&mut self, a: Operand) -> Operand {
        self.made(!self.get(a))
    }

    fn low_half(&mut self, a: Operand) -> Operand {
        self.made(self.get(a) & u64::from(u32::MAX))
    }

    fn shift_right(&mut self, a: Operand, by: Operand) -> Operand {
        self.made(self.get(a) >> self.get(by))
    }

    fn least(&mut self, a: Operand, b: Operand) -> Operand {
        self.made(self.get(a).min(self.get(b)))
    }

    fn compare(&mut self, how: Comparison, a: Operand, b: Operand) -> Operand {
        let (a, b) = (self.get(a), self.get(b));
        let holds = match how {
            Comparison::AtLeast => a >= b,
            Comparison::Above => a > b,
            Comparison::AboveSigned => a.cast_signed() > b.cast_signed(),
        };
        self.made(holds.into())
    }

    fn select(
        &mut self,
        how: Selection,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> Operand {
        // A branch may be predicted wrong.
        let is_wrong = self.is_ahead && how == Selection::Any;
        let holds = (self.get(condition) != 0) ^ is_wrong;
        self.made(self.get(if holds { then } else { otherwise }))
    }

    fn trap_if(&mut self, condition: Operand) {
        self.is_trapped |= self.get(condition) != 0;
    }

    fn probe(&mut self, _: Probing, address: Operand, displacement: i32, _: Operand) {
        let displacement = i64::from(displacement).cast_unsigned();
        let address = self.get(address).wrapping_add(displacement);
        let is_readable = self.memory.is_readable(address);
        self.is_trapped |= !is_readable.unwrap_or(self.is_lenient);
    }
}

/// One access.
#[derive(Clone, Copy, Debug)]
struct Case {
    memory64: bool,
    index: u64,
    offset: u64,
    width: u8,
    /// Whether its generator keeps cells in registers.
    keeps_cells: bool,
}

impl Case {
    /// What the specification traps at (§4.4.7).
    fn is_beyond(&self, len: u64) -> bool {
        let end = u128::from(self.index) + u128::from(self.offset) + u128::from(self.width);
        end > u128::from(len)
    }
}

/// Where an access goes.
#[derive(Clone, Copy, Debug)]
struct Went {
    is_trapped: bool,
    /// From the memory's first byte on.
    at: i128,
    may_fault: bool,
}

/// Does an access as code does that sees the memory by `plan`.
fn done(plan: &MemoryPlan, memory: Memory, case: Case, is_ahead: bool, is_lenient: bool) -> Went {
    let mut model = Model {
        memory,
        numbers: vec![case.index],
        is_ahead,
        is_lenient,
        keeps_cells: case.keeps_cells,
        is_trapped: false,
    };
    let span = Span {
        index: Operand(0),
        memory64: case.memory64,
        offset: case.offset,
        width: case.width,
    };
    let target = plan.emit_check(&mut model, &span);
    let base = memory.base();
    let index = model.get(target.index);
    let address = base.wrapping_add(index).wrapping_add(target.offset);
    Went {
        is_trapped: model.is_trapped,
        at: i128::from(address) - i128::from(base),
        may_fault: target.may_fault,
    }
}

/// Numbers near those at which anything changes: `around` and 0, and what bits have.
fn near(around: &[u64], memory64: bool) -> Vec<u64> {
    let bits: &[u32] = match memory64 {
        false => &[31],
        true => &[31, 32, 33, 39, 40, 46, 47, 48, 59, 60, 63],
    };
    let powers = bits.iter().map(|bit| 1 << bit);
    let all = around.iter().copied().chain([0]).chain(powers);
    let steps = [
        0,
        1,
        2,
        3,
        4,
        7,
        8,
        9,
        15,
        16,
        17,
        255,
        4096,
        65_536,
        1 << 20,
    ];
    let each = all.flat_map(|number: u64| {
        let both = move |step| [number.wrapping_add(step), number.wrapping_sub(step)];
        steps.into_iter().flat_map(both)
    });
    let mut numbers: Vec<u64> = match memory64 {
        true => each.collect(),
        false => each.map(|number| number & u64::from(u32::MAX)).collect(),
    };
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Every plan by which code may see a memory, with that memory.
fn memories(bounds: Bounds, memory64: bool) -> Vec<(MemoryPlan, Memory)> {
    let plan = |max, shared| {
        let ty = MemoryType {
            min: 0,
            max,
            memory64,
            shared,
        };
        MemoryPlan::new(bounds, &ty, GrowthLimits::default()).ok()
    };
    let mut all = Vec::new();
    for (max, shared) in [(5, false), (100, true), (65_536, false), (100_000, false)] {
        if !memory64 && max > MAX_PAGES_32 {
            continue;
        }
        let Some(own) = plan(Some(max), shared) else {
            return Vec::new();
        };
        let imports = [None, Some(max)];
        let imports = imports.map(|max| plan(max, shared).map(|plan| plan.imported(true)));
        for seen in imports.into_iter().flatten().chain([own]) {
            for pages in [0, 1, 2, max / 2, max]
                .into_iter()
                .filter(|pages| *pages <= max)
            {
                let len = pages * WASM_PAGE_BYTES;
                for spectre in [false, true] {
                    all.push((seen.spectre(spectre), Memory { plan: own, len }));
                }
            }
        }
    }
    all
}

/// Every access that is near enough to anything, in each memory.
fn accesses(bounds: Bounds, mut each: impl FnMut(&MemoryPlan, Memory, Case)) -> u64 {
    let mut count = 0;
    for memory64 in [false, true] {
        let offsets: Vec<u64> = match memory64 {
            false => vec![0, 1, 8, 65_535, 1 << 31, u32::MAX.into()],
            true => vec![
                0,
                1,
                65_535,
                u32::MAX.into(),
                1 << 32,
                1 << 63,
                u64::MAX - 7,
                u64::MAX,
            ],
        };
        for (plan, memory) in memories(bounds, memory64) {
            let space = 1 << memory.plan.index_bits();
            let around = [memory.len, memory.plan.max_bytes, space];
            for offset in &offsets {
                // Also where offset and index together are near.
                let beyond = memory.len.wrapping_sub(*offset);
                for index in near(&[&around[..], &[beyond]].concat(), memory64) {
                    let widths = [1, 8, 16].into_iter();
                    let cases = widths.flat_map(|width| [(width, true), (width, false)]);
                    for (width, keeps_cells) in cases {
                        let case = Case {
                            memory64,
                            index,
                            offset: *offset,
                            width,
                            keeps_cells,
                        };
                        each(&plan, memory, case);
                        count += 1;
                    }
                }
            }
        }
    }
    count
}

#[test]
fn exact_strategies_trap_where_the_specification_does() {
    for bounds in Bounds::FORMS {
        // What checks is a call in front of it.
        if bounds.guarantee() != Guarantee::Exact || bounds == Bounds::Debug {
            continue;
        }
        let count = accesses(bounds, |plan, memory, case| {
            // Where a shadow is below, so may be what is somebody else's.
            let is_below = plan.shadow.is_some_and(|one| one.place == Place::Below);
            for is_lenient in [false, true].into_iter().take(1 + usize::from(is_below)) {
                let went = done(plan, memory, case, false, is_lenient);
                let say = || format!("{bounds}, length {}: {case:?} {went:?}", memory.len);
                if case.is_beyond(memory.len) {
                    let faults = went.may_fault
                        && memory.is_reserved(went.at, case.width)
                        && !memory.is_accessible(went.at, case.width);
                    assert!(went.is_trapped || faults, "goes on: {}", say());
                } else {
                    assert!(!went.is_trapped, "traps: {}", say());
                    let wanted = i128::from(case.index) + i128::from(case.offset);
                    assert_eq!(went.at, wanted, "elsewhere: {}", say());
                }
            }
        });
        assert!(count > 50_000, "{bounds}: {count}");
    }
}

#[test]
fn a_contained_access_is_nowhere_else_than_in_its_memory() {
    for bounds in Bounds::FORMS {
        if bounds.guarantee() != Guarantee::Contained {
            continue;
        }
        let count = accesses(bounds, |plan, memory, case| {
            let went = done(plan, memory, case, false, false);
            let say = || format!("{bounds}, length {}: {case:?} {went:?}", memory.len);
            if case.is_beyond(memory.len) {
                let faults = went.may_fault && memory.is_reserved(went.at, case.width);
                let is_inside = memory.is_accessible(went.at, case.width);
                assert!(went.is_trapped || faults || is_inside, "{}", say());
            } else {
                let wanted = i128::from(case.index) + i128::from(case.offset);
                assert!(!went.is_trapped && went.at == wanted, "{}", say());
            }
        });
        assert!(count > 50_000, "{bounds}: {count}");
    }
}

#[test]
fn with_guards_nothing_leaves_the_reservation_ahead_of_its_check() {
    let mut guarded = 0;
    for bounds in Bounds::FORMS {
        accesses(bounds, |plan, memory, case| {
            if plan.strays || !plan.spectre {
                return;
            }
            let went = done(plan, memory, case, true, true);
            assert!(
                memory.is_reserved(went.at, case.width),
                "{bounds}, length {}: {case:?} {went:?}",
                memory.len
            );
            guarded += u64::from(went.is_trapped);
        });
    }
    // Most of them are there because of a guard.
    assert!(guarded > 100_000, "{guarded}");
}

#[test]
fn without_guards_something_would_leave_it() {
    let mut left = 0;
    accesses(Bounds::Trap, |plan, memory, case| {
        if !plan.spectre {
            let went = done(plan, memory, case, true, false);
            left += u64::from(!memory.is_reserved(went.at, case.width));
        }
    });
    assert!(left > 0, "the model sees no difference");
}
