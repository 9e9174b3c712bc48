//! The functions that a counting module has beside its own.
//!
//! ```text
//!  functions   imports [fd_write] [clock_time_get] | the module's own
//!              | wrapper… number hand_out start [prepare size] [readings]
//!  counters    row 0: bytes, one of each class, [nanoseconds] | row 1: …
//! ```

use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, MemArgTarget, ValType};

use super::clock::{self, READINGS};
use super::scan::{Counted, Scan};
use super::{RewriteError, Seen, Stream};
use crate::counts::{CLASSES, HEAD, TAIL, TIMED};

/// Pages of a memory with 32-bit addresses.
pub const PAGES_MAX: u64 = 65_536;
const PAGE: u32 = 65_536;
/// In our page of a shared memory: whether the counts have been handed out.
const HANDED_OUT: u32 = 0x7ff8;
/// In our page of a shared memory: the text.
const TEXT: u32 = 0x8000;
/// Error numbers end here.
const ERRNOS: u32 = 77;
/// Counters of a row: bytes, and each class; then its time where that is looked at.
const ROW: usize = 1 + CLASSES.len();

type Signature = (&'static [ValType], &'static [ValType]);

/// The types of the functions that are ours, behind those of the module.
pub const TYPES: [Signature; 6] = [
    (&[ValType::I32; 4], &[ValType::I32]),
    (&[], &[]),
    (&[ValType::I32, ValType::I64], &[ValType::I32]),
    (&[], &[ValType::I32]),
    (&[ValType::I32, ValType::I64, ValType::I32], &[ValType::I32]),
    (&[], &[ValType::I64]),
];
/// The type of `fd_write`.
const WRITE: u32 = 0;
const NOTHING: u32 = 1;
const NUMBER: u32 = 2;
const SIZE: u32 = 3;
/// The type of `clock_time_get`.
const CLOCK: u32 = 4;
const TIME: u32 = 5;

/// Where the counters are.
#[derive(Debug)]
pub enum Store {
    /// In globals, from this one on.
    Globals { first: u32 },
    /// In a page behind a shared memory of so many pages.
    Shared { pages: u32 },
}

/// Writes the functions.
pub struct Emit<'a> {
    scan: &'a Scan,
    /// Where the counters are.
    pub store: Store,
    /// The memory that WASI works on.
    pub memory: u32,
    /// Whether its addresses have 64 bits.
    is_wide: bool,
    /// Whether a page can be asked for at the end.
    grows: bool,
    /// Whether calls are timed.
    pub(super) is_timed: bool,
    descriptors: [i32; 2],
}

impl<'a> Emit<'a> {
    pub fn new(scan: &'a Scan, stream: Stream, seen: Seen) -> Result<Emit<'a>, RewriteError> {
        let (memory, ty) = scan.memory;
        let is_timed = seen == Seen::Times;
        if is_timed {
            clock::has_room(ty)?;
        }
        let has_own_pages = ty.page_size_log2.is_some_and(|log2| log2 != 16);
        let store = match ty.shared {
            false => Store::Globals {
                first: scan.globals,
            },
            true if ty.memory64 => return Err(RewriteError::SharedMemory("64-bit addresses")),
            true if has_own_pages => return Err(RewriteError::SharedMemory("pages of its own")),
            true if ty.initial >= PAGES_MAX => {
                return Err(RewriteError::SharedMemory("all pages there are"));
            }
            true => Store::Shared {
                pages: ty.initial as u32,
            },
        };
        Ok(Emit {
            scan,
            store,
            memory,
            is_wide: ty.memory64,
            grows: !ty.memory64 && !has_own_pages,
            is_timed,
            descriptors: match stream {
                Stream::Stdout => [1, 2],
                Stream::Stderr => [2, 1],
            },
        })
    }

    pub fn type_of(&self, own: u32) -> u32 {
        self.scan.types + own
    }

    pub fn counters(&self) -> usize {
        self.scan.rows.len() * self.row()
    }

    /// Counters of a row.
    fn row(&self) -> usize {
        ROW + usize::from(self.is_timed)
    }

    /// The imports that are missing: their names, and their types.
    pub fn imports(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let write = self.scan.fd_write.is_none();
        let clock = self.is_timed && self.scan.clock.is_none();
        let write = write.then_some(("fd_write", self.type_of(WRITE)));
        let clock = clock.then_some(("clock_time_get", self.type_of(CLOCK)));
        write.into_iter().chain(clock)
    }

    fn shift(&self) -> u32 {
        self.imports().count() as u32
    }

    /// Where a function of the module is now: a counted import is its wrapper.
    pub fn moved(&self, func: u32) -> u32 {
        if func >= self.scan.func_imports {
            return func + self.shift();
        }
        let counted = self.scan.counted.iter().position(|c| c.import == func);
        counted.map_or(func, |wrapper| self.first() + wrapper as u32)
    }

    fn first(&self) -> u32 {
        self.scan.funcs + self.shift()
    }

    fn behind_wrappers(&self, place: u32) -> u32 {
        self.first() + self.scan.counted.len() as u32 + place
    }

    fn number(&self) -> u32 {
        self.behind_wrappers(0)
    }

    fn hand_out(&self) -> u32 {
        self.behind_wrappers(1)
    }

    /// What is exported as `_start`.
    pub fn start(&self) -> u32 {
        self.behind_wrappers(2)
    }

    /// What makes the page of a shared memory.
    pub fn prepare(&self) -> u32 {
        self.behind_wrappers(3)
    }

    /// `memory.size` of a shared memory, as the guest sees it.
    pub fn size(&self) -> u32 {
        self.behind_wrappers(4)
    }

    fn fd_write(&self) -> u32 {
        self.scan.fd_write.unwrap_or(self.scan.func_imports)
    }

    /// `clock_time_get` itself: the last of the imports where it is ours.
    pub(super) fn clock(&self) -> u32 {
        let added = self.scan.func_imports + u32::from(self.scan.fd_write.is_none());
        self.scan.clock.unwrap_or(added)
    }

    /// What reads the clock many times.
    fn readings(&self) -> u32 {
        self.behind_wrappers(3)
    }

    /// All of them, with their types.
    pub fn functions(&self) -> Vec<(u32, Function)> {
        let wrappers = self.scan.counted.iter();
        let mut all: Vec<(u32, Function)> =
            wrappers.map(|c| (c.type_index, self.wrapper(c))).collect();
        all.push((self.type_of(NUMBER), self.number_function()));
        all.push((self.type_of(NOTHING), self.hand_out_function()));
        all.push((self.type_of(NOTHING), self.start_function()));
        if let Store::Shared { pages } = self.store {
            all.push((self.type_of(NOTHING), self.prepare_function(pages as i32)));
            all.push((self.type_of(SIZE), self.size_function(pages as i32)));
        }
        // No shared memory is timed.
        if self.is_timed {
            all.push((self.type_of(TIME), self.readings_function()));
        }
        all
    }

    pub(super) fn arg(&self, offset: u32, align: u32) -> MemArg {
        MemArg {
            offset: offset.into(),
            align,
            target: MemArgTarget::Memory(self.memory),
            ordering: None,
        }
    }

    /// Pushes a local as an address.
    fn address(&self, f: &mut InstructionSink<'_>, local: u32) {
        f.local_get(local);
        if self.is_wide {
            f.i64_extend_i32_u();
        }
    }

    /// Pushes address 0.
    pub(super) fn zero(&self, f: &mut InstructionSink<'_>) {
        match self.is_wide {
            true => f.i64_const(0),
            false => f.i32_const(0),
        };
    }

    /// Adds to a counter what `amount` pushes.
    fn bump(
        &self,
        f: &mut InstructionSink<'_>,
        counter: usize,
        amount: impl FnOnce(&mut InstructionSink<'_>),
    ) {
        match self.store {
            Store::Globals { first } => {
                let global = first + counter as u32;
                f.global_get(global);
                amount(f);
                f.i64_add().global_set(global);
            }
            Store::Shared { pages } => {
                f.i32_const((pages * PAGE) as i32);
                amount(f);
                f.i64_atomic_rmw_add(self.arg(8 * counter as u32, 3)).drop();
            }
        }
    }

    fn read(&self, f: &mut InstructionSink<'_>, counter: usize) {
        match self.store {
            Store::Globals { first } => f.global_get(first + counter as u32),
            Store::Shared { pages } => {
                let arg = self.arg(8 * counter as u32, 3);
                f.i32_const((pages * PAGE) as i32).i64_atomic_load(arg)
            }
        };
    }

    fn wrapper(&self, of: &Counted) -> Function {
        let params = of.ty.params().len() as u32;
        let result = params;
        let returns = of.ty.results() == [wasmparser::ValType::I32];
        // None of no count: old engines refuse that.
        let mut locals = Vec::from_iter(returns.then_some((1, ValType::I32)));
        // The time in front, the time behind, and what the clock writes over.
        let before = params + u32::from(returns);
        let is_timed = self.is_timed && of.name != "proc_exit";
        locals.extend(is_timed.then_some((3, ValType::I64)));
        let mut function = Function::new(locals);
        let f = &mut function.instructions();
        let ok = of.row * self.row() + 1;
        if is_timed {
            self.read_clock(f, before, before + 2);
        }
        if of.name == "proc_exit" {
            // It does not come back.
            self.bump(f, ok, |f| {
                f.i64_const(1);
            });
            f.call(self.hand_out());
        }
        for param in 0..params {
            f.local_get(param);
        }
        f.call(of.import);
        if returns {
            f.local_set(result);
        }
        if is_timed {
            self.read_clock(f, before + 1, before + 2);
            self.bump(f, of.row * self.row() + ROW, |f| {
                f.local_get(before + 1).local_get(before).i64_sub();
            });
        }
        if returns {
            match of.name == "thread-spawn" {
                true => self.thread_spawned(f, of, result),
                false => self.classify(f, of, result),
            }
            f.local_get(result);
        } else if of.name != "proc_exit" {
            self.bump(f, ok, |f| {
                f.i64_const(1);
            });
        }
        f.end();
        function
    }

    /// A thread's number, or something negative.
    fn thread_spawned(&self, f: &mut InstructionSink<'_>, of: &Counted, result: u32) {
        let [ok, other] = [1, CLASSES.len()].map(|class| of.row * self.row() + class);
        f.local_get(result).i32_const(0).i32_gt_s();
        f.if_(BlockType::Empty);
        self.bump(f, ok, |f| {
            f.i64_const(1);
        });
        f.else_();
        self.bump(f, other, |f| {
            f.i64_const(1);
        });
        f.end();
    }

    /// One more of the result's class; bytes where it succeeded.
    fn classify(&self, f: &mut InstructionSink<'_>, of: &Counted, result: u32) {
        let other = CLASSES.len() as u32 - 1;
        let class = |errno| crate::counts::Class::position(errno) as u32;
        // Each class is a block around those in front of it, and all are in one.
        for _ in 0..=CLASSES.len() {
            f.block(BlockType::Empty);
        }
        f.local_get(result);
        f.br_table((0..ERRNOS).map(class), other);
        for position in 0..CLASSES.len() {
            f.end();
            self.bump(f, of.row * self.row() + 1 + position, |f| {
                f.i64_const(1);
            });
            if position == 0 {
                self.add_bytes(f, of);
            }
            f.br(other - position as u32);
        }
        f.end();
    }

    fn add_bytes(&self, f: &mut InstructionSink<'_>, of: &Counted) {
        let Some((param, is_behind)) = bytes_of(&of.name) else {
            return;
        };
        let ty = of.ty.params().get(param as usize);
        if ty != Some(&wasmparser::ValType::I32) {
            return;
        }
        self.bump(f, of.row * self.row(), |f| {
            match is_behind {
                true => {
                    self.address(f, param);
                    f.i64_load32_u(self.arg(0, 0));
                }
                false => {
                    f.local_get(param).i64_extend_i32_u();
                }
            };
        });
    }

    /// Decimal digits of the second argument at the first, which moves behind them.
    fn number_function(&self) -> Function {
        let (at, value, rest) = (0, 1, 2);
        let (end, digit) = (3, 4);
        let mut function = Function::new([(1, ValType::I64), (2, ValType::I32)]);
        let f = &mut function.instructions();
        f.local_get(value).local_set(rest);
        f.local_get(at).local_set(end);
        f.loop_(BlockType::Empty);
        f.local_get(end).i32_const(1).i32_add().local_set(end);
        f.local_get(rest).i64_const(10).i64_div_u();
        f.local_tee(rest).i64_eqz().i32_eqz().br_if(0);
        f.end();
        f.local_get(end).local_set(digit);
        f.loop_(BlockType::Empty);
        f.local_get(digit).i32_const(1).i32_sub().local_set(digit);
        self.address(f, digit);
        f.local_get(value).i64_const(10).i64_rem_u();
        f.i64_const(i64::from(b'0'))
            .i64_add()
            .i64_store8(self.arg(0, 0));
        f.local_get(value).i64_const(10).i64_div_u();
        f.local_set(value);
        f.local_get(digit).local_get(at).i32_gt_u().br_if(0);
        f.end();
        f.local_get(end).end();
        function
    }

    /// Writes text at a local, which moves behind it; up to seven bytes more are
    /// overwritten.
    fn text(&self, f: &mut InstructionSink<'_>, at: u32, text: &str) {
        for (index, chunk) in text.as_bytes().chunks(8).enumerate() {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.address(f, at);
            f.i64_const(i64::from_le_bytes(bytes));
            f.i64_store(self.arg(8 * index as u32, 0));
        }
        f.local_get(at).i32_const(text.len() as i32).i32_add();
        f.local_set(at);
    }

    fn hand_out_function(&self) -> Function {
        let (base, at, written, ns) = (0, 1, 2, 3);
        let mut function = Function::new([(3, ValType::I32), (1, ValType::I64)]);
        let f = &mut function.instructions();
        if self.is_timed {
            f.call(self.readings()).local_set(ns);
        }
        self.place(f, base);
        f.local_get(base).i32_const(16).i32_add().local_set(at);
        match self.is_timed {
            true => {
                self.text(f, at, &format!("\n{}", TIMED[0]));
                f.local_get(at).local_get(ns);
                f.call(self.number()).local_set(at);
                self.text(f, at, &format!(",{READINGS}{}", TIMED[1]));
            }
            false => self.text(f, at, &format!("\n{HEAD}")),
        }
        for (row, name) in self.scan.rows.iter().enumerate() {
            let comma = if row == 0 { "" } else { "," };
            for column in 0..self.row() {
                match column {
                    0 => self.text(f, at, &format!("{comma}\"{name}\":[")),
                    _ => self.text(f, at, ","),
                }
                f.local_get(at);
                self.read(f, row * self.row() + column);
                f.call(self.number()).local_set(at);
            }
            self.text(f, at, "]");
        }
        self.text(f, at, TAIL);
        self.address(f, base);
        f.local_get(base).i32_const(16).i32_add();
        f.i32_store(self.arg(0, 0));
        self.address(f, base);
        f.local_get(at).local_get(base).i32_sub();
        f.i32_const(16).i32_sub().i32_store(self.arg(4, 0));
        for descriptor in self.descriptors {
            self.write_all(f, descriptor, base, written);
        }
        f.end();
        function
    }

    /// Finds room for the text; returns where there is none or it was used before.
    fn place(&self, f: &mut InstructionSink<'_>, base: u32) {
        if let Store::Shared { pages } = self.store {
            f.i32_const((pages * PAGE) as i32).i32_const(1);
            f.i32_atomic_rmw_xchg(self.arg(HANDED_OUT, 2));
            f.if_(BlockType::Empty).return_().end();
            f.i32_const((pages * PAGE + TEXT) as i32).local_set(base);
            return;
        }
        if self.grows {
            f.i32_const(1).memory_grow(self.memory);
            f.i32_const(16).i32_shl().local_tee(base);
            // -1 pages: it cannot grow.
            f.i32_const(-1 << 16).i32_eq().if_(BlockType::Empty);
            f.i32_const(0).local_set(base).end();
        }
        f.memory_size(self.memory);
        match self.is_wide {
            true => f.i64_eqz(),
            false => f.i32_eqz(),
        };
        f.if_(BlockType::Empty).return_().end();
    }

    /// Writes the range at `base` to a descriptor, and returns if that succeeds.
    fn write_all(&self, f: &mut InstructionSink<'_>, descriptor: i32, base: u32, written: u32) {
        f.block(BlockType::Empty).loop_(BlockType::Empty);
        f.i32_const(descriptor).local_get(base).i32_const(1);
        f.local_get(base).i32_const(8).i32_add();
        f.call(self.fd_write()).br_if(1);
        self.address(f, base);
        f.i32_load(self.arg(8, 0)).local_set(written);
        for (offset, is_added) in [(0, true), (4, false)] {
            self.address(f, base);
            self.address(f, base);
            f.i32_load(self.arg(offset, 0)).local_get(written);
            match is_added {
                true => f.i32_add(),
                false => f.i32_sub(),
            };
            f.i32_store(self.arg(offset, 0));
        }
        self.address(f, base);
        f.i32_load(self.arg(4, 0)).i32_eqz();
        f.if_(BlockType::Empty).return_().end();
        f.local_get(written).br_if(0);
        f.end().end();
    }

    fn start_function(&self) -> Function {
        let mut function = Function::new([]);
        let mut f = function.instructions();
        f.call(self.moved(self.scan.start));
        f.call(self.hand_out()).end();
        function
    }

    /// The first instance makes the page; threads find it.
    fn prepare_function(&self, pages: i32) -> Function {
        let mut function = Function::new([]);
        let f = &mut function.instructions();
        f.memory_size(self.memory).i32_const(pages).i32_eq();
        f.if_(BlockType::Empty);
        f.i32_const(1).memory_grow(self.memory);
        f.i32_const(pages).i32_ne();
        f.if_(BlockType::Empty).unreachable().end().end();
        if let Some(initial) = self.scan.initial {
            f.call(self.moved(initial));
        }
        f.end();
        function
    }

    fn size_function(&self, pages: i32) -> Function {
        let mut function = Function::new([]);
        let f = &mut function.instructions();
        f.memory_size(self.memory);
        f.memory_size(self.memory).i32_const(pages + 1).i32_eq();
        f.i32_sub().end();
        function
    }
}

/// Where a function says how many bytes went through it: the argument, and whether it
/// is behind that address.
fn bytes_of(name: &str) -> Option<(u32, bool)> {
    Some(match name {
        "fd_read" | "fd_write" => (3, true),
        "fd_pread" | "fd_pwrite" | "fd_readdir" | "sock_recv" | "sock_send" => (4, true),
        "path_readlink" => (5, true),
        "random_get" => (1, false),
        _ => return None,
    })
}
