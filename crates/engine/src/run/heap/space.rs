//! The memory of a heap: blocks of lines, and what of them is free.

use std::ops::Range;
use std::ptr::NonNull;

use fathom_sys::cells::Domain;
use fathom_sys::map::{Access, PageBytes, Reservation};

use crate::facts::error::{Error, Result};
use crate::facts::object::{ALIGN, NULL_BYTES, ROW_BYTES};
use crate::facts::quota::{LimitError, Resource};
use crate::run::limits::Allowance;
use crate::run::memory::keyed;

use super::holes::Holes;

pub(super) const BLOCK_BYTES: u32 = 32 << 10;
/// A hole is so long at least.
const LINE_BYTES: u32 = 256;
const LINES: u32 = BLOCK_BYTES / LINE_BYTES;
/// Blocks of which nothing is ever handed out.
const FIRST_BLOCK: u32 = NULL_BYTES / BLOCK_BYTES;
/// Blocks in 4 GiB, but for the last: the end of a hole has 32 bits, too.
const BLOCKS_MAX: usize = (1 << 32) / BLOCK_BYTES as usize - 1;
/// Words of a bit for each place in a block where an object can begin.
const WORDS: usize = (BLOCK_BYTES / ALIGN / 64) as usize;
/// Bytes that are opened at once.
const OPENED_BYTES: usize = 1 << 20;
/// What is free for so long is given back to the host.
const EMPTIED_BLOCKS: usize = 8;

/// Types that have a row, at most; one more would be an error.
const ROWS_MAX: u32 = 1 << 20;
/// Bytes below the base.
const ROWS_BYTES: usize = ROWS_MAX as usize * ROW_BYTES as usize;
/// What an access may be past the last object.
const BEHIND_BYTES: usize = 1 << 20;

/// What a block is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Nothing.
    Free,
    /// Objects side by side.
    Lines,
    /// One object that begins here and has so many blocks.
    Large(u32),
    /// The rest of one that begins so many blocks before.
    Rest(u32),
}

struct Block {
    used: Use,
    /// Whether there may be something else than zeros.
    is_dirty: bool,
    /// The lines with something marked, in a collection.
    lines: u128,
    /// Where objects begin; of those that are newer than the last collection, only once
    /// somebody asked.
    starts: [u64; WORDS],
    /// Which of them were marked.
    marks: [u64; WORDS],
}

/// What was handed out since the last collection began.
#[derive(Clone, Debug)]
struct Fresh {
    hole: Range<u32>,
    /// Whether its objects are among the starts of its block.
    is_read: bool,
}

pub(super) struct Space {
    reservation: Reservation,
    base: NonNull<u8>,
    /// Bytes below the base that can be accessed.
    rows_open: usize,
    /// Bytes from the base on that can be, behind null.
    open_end: usize,
    blocks: Vec<Block>,
    /// In blocks that have something else.
    holes: Holes,
    /// Blocks that were free when they were put here, the next one last.
    free: Vec<u32>,
    /// The hole that small objects are taken from.
    current: Range<u32>,
    /// The one for those that are longer than a line.
    other: Range<u32>,
    fresh: Vec<Fresh>,
    /// In a collection, how many of them there were when it began: what is in the others stays.
    snapshot: Option<usize>,
    /// Where a search for free blocks in a row begins.
    search_from: usize,
    handed_out: u64,
    allowance: Allowance,
    charged: u64,
}

// SAFETY: the base is the reservation's, which is not tied to a thread.
unsafe impl Send for Space {}
// SAFETY: what is shared is only read.
unsafe impl Sync for Space {}

/// What a block takes, with what is kept about it.
const CHARGE: u64 = BLOCK_BYTES as u64 + size_of::<Block>() as u64;

impl Block {
    fn new(used: Use) -> Block {
        Block {
            used,
            is_dirty: false,
            lines: 0,
            starts: [0; WORDS],
            marks: [0; WORDS],
        }
    }
}

fn block_of(offset: u32) -> usize {
    (offset / BLOCK_BYTES) as usize
}

/// The word and the bit of a place in a block.
fn bit_of(offset: u32) -> (usize, u64) {
    let place = offset % BLOCK_BYTES / ALIGN;
    ((place / 64) as usize, 1 << (place % 64))
}

impl Space {
    pub fn new(allowance: &Allowance, domain: Domain) -> Result<Space> {
        let failed = |error| Error::resource("no address space for a heap of objects", error);
        let bytes = ROWS_BYTES + (1 << 32) + BEHIND_BYTES;
        let bytes = PageBytes::round_up(bytes).expect("less than an address space");
        let reservation = Reservation::new(bytes, Access::None)
            .and_then(|reservation| keyed(reservation, Access::None, domain))
            .map_err(failed)?;
        // SAFETY: inside of the reservation.
        let base = unsafe { reservation.start().add(ROWS_BYTES) };
        let guard = |_| Block::new(Use::Rest(0));
        Ok(Space {
            reservation,
            base,
            rows_open: 0,
            open_end: NULL_BYTES as usize,
            blocks: (0..FIRST_BLOCK).map(guard).collect(),
            holes: Holes::default(),
            free: Vec::new(),
            current: 0..0,
            other: 0..0,
            fresh: Vec::new(),
            snapshot: None,
            search_from: 0,
            handed_out: 0,
            allowance: allowance.clone(),
            charged: 0,
        })
    }

    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes handed out since the last collection.
    pub fn handed_out(&self) -> u64 {
        self.handed_out
    }

    /// Bytes taken of the quota.
    pub fn taken_bytes(&self) -> u64 {
        self.charged
    }

    /// Writes the row of a type.
    pub fn write_row(&mut self, number: u32, lineage: &[u32]) -> Result<()> {
        if number >= ROWS_MAX {
            let message = format!("more than {ROWS_MAX} types are in use at once");
            return Err(Error::mismatch(message));
        }
        let below = (number as usize + 1) * ROW_BYTES as usize;
        if below > self.rows_open {
            let open = below.next_multiple_of(OPENED_BYTES).min(ROWS_BYTES);
            let range = ROWS_BYTES - open..ROWS_BYTES - self.rows_open;
            let opened = self.reservation.open(range);
            opened.map_err(|error| Error::resource("no memory for a type of objects", error))?;
            self.rows_open = open;
        }
        for (depth, ancestor) in lineage.iter().enumerate() {
            // SAFETY: the row is open, and has a place for every depth that validation allows.
            unsafe {
                let row = self.base.as_ptr().sub(below).cast::<u32>();
                row.add(depth).write(*ancestor);
            }
        }
        Ok(())
    }

    /// The address of something in an object.
    pub fn address(&self, object: u32, offset: u32) -> NonNull<u8> {
        // SAFETY: any two such numbers are inside of the reservation, for the second is less
        // than the largest object.
        unsafe { self.base.add(object as usize + offset as usize) }
    }

    /// A word that was handed out.
    pub fn read(&self, at: u32) -> u32 {
        debug_assert!(block_of(at) < self.blocks.len());
        // SAFETY: open from the first block to the last.
        unsafe { self.base.add(at as usize).cast().read() }
    }

    pub fn read_long(&self, at: u32) -> u64 {
        debug_assert!(block_of(at) < self.blocks.len());
        // SAFETY: as above; fields of eight bytes are aligned.
        unsafe { self.base.add(at as usize).cast().read() }
    }

    pub fn write(&mut self, at: u32, word: u32) {
        debug_assert!(block_of(at) < self.blocks.len());
        // SAFETY: as above; the heap is borrowed exclusively.
        unsafe { self.base.add(at as usize).cast().write(word) }
    }

    /// Compiled code has used the current hole up to there.
    pub fn note_used(&mut self, next: u64) {
        if next != 0 {
            self.current.start = next as u32;
        }
    }

    /// What compiled code may take from.
    pub fn rest(&self) -> Range<u32> {
        self.current.clone()
    }

    /// Memory for an object that shares its block.
    pub fn take(&mut self, bytes: u32) -> Result<u32, LimitError> {
        if let Some(object) = first_of(&mut self.current, bytes) {
            return Ok(object);
        }
        if bytes > LINE_BYTES {
            if let Some(object) = first_of(&mut self.other, bytes) {
                return Ok(object);
            }
            self.other = match self.holes.long(bytes) {
                Some(hole) => hole,
                None => match self.free_block() {
                    Ok(block) => block,
                    Err(full) => self.holes.any(bytes).ok_or(full)?,
                },
            };
            let other = self.other.clone();
            self.hand_out(other);
            return Ok(first_of(&mut self.other, bytes).expect("less than a block"));
        }
        self.current = match self.holes.next() {
            Some(hole) => hole,
            None => self.free_block()?,
        };
        let current = self.current.clone();
        self.hand_out(current);
        Ok(first_of(&mut self.current, bytes).expect("a hole has a line at least"))
    }

    /// Makes a hole zero, and notes that it is in use.
    fn hand_out(&mut self, hole: Range<u32>) {
        let len = hole.end - hole.start;
        let block = &mut self.blocks[block_of(hole.start)];
        if block.is_dirty {
            // SAFETY: free memory of an open block.
            unsafe {
                self.base
                    .add(hole.start as usize)
                    .write_bytes(0, len as usize)
            };
        }
        self.handed_out += u64::from(len);
        let is_read = false;
        self.fresh.push(Fresh { hole, is_read });
    }

    /// A block that nothing is in, for lines.
    fn free_block(&mut self) -> Result<Range<u32>, LimitError> {
        let number = loop {
            match self.free.pop() {
                Some(number) if self.blocks[number as usize].used == Use::Free => break number,
                Some(_) => {}
                None => break self.extend(1)?,
            }
        };
        self.blocks[number as usize].used = Use::Lines;
        let start = number * BLOCK_BYTES;
        Ok(start..start + BLOCK_BYTES)
    }

    /// The first of so many new blocks.
    fn extend(&mut self, count: usize) -> Result<u32, LimitError> {
        let first = self.blocks.len();
        let full = LimitError::Quota {
            resource: Resource::HeapBytes,
            wanted: (first + count) as u64 * u64::from(BLOCK_BYTES),
            limit: 1 << 32,
        };
        if first + count > BLOCKS_MAX {
            return Err(full);
        }
        let charge = count as u64 * CHARGE;
        self.allowance.take(Resource::HeapBytes, charge)?;
        self.charged += charge;
        let end = (first + count) * BLOCK_BYTES as usize;
        if end > self.open_end {
            let open = end.next_multiple_of(OPENED_BYTES).min(1 << 32);
            let range = ROWS_BYTES + self.open_end..ROWS_BYTES + open;
            if self.reservation.open(range).is_err() {
                return Err(LimitError::Refused(
                    "the host has no memory for the heap".into(),
                ));
            }
            self.open_end = open;
        }
        self.blocks
            .extend((0..count).map(|_| Block::new(Use::Free)));
        Ok(first as u32)
    }

    /// Memory for an object with blocks of its own.
    pub fn take_large(&mut self, bytes: u64) -> Result<u32, LimitError> {
        let count = bytes.div_ceil(u64::from(BLOCK_BYTES)) as usize;
        let first = match self.free_blocks(count) {
            Some(first) => first,
            None => self.extend(count)? as usize,
        };
        for number in first..first + count {
            let at = number as u32 * BLOCK_BYTES;
            let block = &mut self.blocks[number];
            if std::mem::take(&mut block.is_dirty) {
                // SAFETY: a free block, which is open.
                unsafe {
                    self.base
                        .add(at as usize)
                        .write_bytes(0, BLOCK_BYTES as usize)
                };
            }
            block.used = Use::Rest((number - first) as u32);
        }
        let block = &mut self.blocks[first];
        block.used = Use::Large(count as u32);
        block.starts[0] |= 1;
        block.marks[0] = u64::from(self.snapshot.is_some());
        self.handed_out += count as u64 * u64::from(BLOCK_BYTES);
        Ok(first as u32 * BLOCK_BYTES)
    }

    /// So many free blocks in a row.
    fn free_blocks(&mut self, count: usize) -> Option<usize> {
        let is_free = |block: &Block| block.used == Use::Free;
        let mut run = 0;
        for number in self.search_from..self.blocks.len() {
            run = if is_free(&self.blocks[number]) {
                run + 1
            } else {
                0
            };
            if run == count {
                let first = number + 1 - count;
                self.search_from = number + 1;
                return Some(first);
            }
        }
        None
    }

    /// Shows the ranges of what may be in use: objects that a collection found, and what was
    /// handed out since.
    pub fn each_range(
        &self,
        size: impl Fn(&Space, u32) -> Option<u64>,
        mut show: impl FnMut(Range<u32>),
    ) {
        let fresh = self.fresh.iter();
        fresh.for_each(|fresh| show(fresh.hole.clone()));
        for (number, block) in self.blocks.iter().enumerate().skip(FIRST_BLOCK as usize) {
            let first = number as u32 * BLOCK_BYTES;
            if let Use::Large(count) = block.used {
                show(first..first + count * BLOCK_BYTES);
                continue;
            }
            for (at, mut bits) in (0..).zip(block.starts) {
                while bits != 0 {
                    let object = first + (at * 64 + bits.trailing_zeros()) * ALIGN;
                    bits &= bits - 1;
                    let bytes = size(self, object).unwrap_or(0) as u32;
                    show(object..object + bytes);
                }
            }
        }
    }
}

/// The first bytes of a hole, where it has so many.
fn first_of(hole: &mut Range<u32>, bytes: u32) -> Option<u32> {
    let start = hole.start;
    let fits = hole.end - start >= bytes;
    fits.then(|| hole.start += bytes)?;
    Some(start)
}

/// Finding objects, marking them, and what is free then.
impl Space {
    /// A collection begins, or anew: what is handed out from now on stays.
    pub fn begin_marking(&mut self) {
        if self.snapshot.is_some() {
            for block in &mut self.blocks {
                (block.marks, block.lines) = ([0; WORDS], 0);
            }
        }
        self.fresh.sort_unstable_by_key(|fresh| fresh.hole.start);
        (self.current, self.other) = (0..0, 0..0);
        self.snapshot = Some(self.fresh.len());
    }

    /// The object that a word may be a reference to, or the address of something in.
    pub fn object_at(
        &mut self,
        word: u32,
        size: &impl Fn(&Space, u32) -> Option<u64>,
    ) -> Option<u32> {
        let number = block_of(word);
        let start = match self.blocks.get(number)?.used {
            Use::Free => return None,
            Use::Large(_) => number as u32 * BLOCK_BYTES,
            Use::Rest(_) if number < FIRST_BLOCK as usize => return None,
            Use::Rest(before) => (number as u32 - before) * BLOCK_BYTES,
            Use::Lines => {
                self.read_starts(word, size);
                self.start_before(word)?
            }
        };
        let bytes = size(self, start)?;
        (u64::from(word - start) < bytes).then_some(start)
    }

    /// Finds the objects of the hole that a word is in, where that is new.
    fn read_starts(&mut self, word: u32, size: &impl Fn(&Space, u32) -> Option<u64>) {
        let found = self.fresh.partition_point(|fresh| fresh.hole.start <= word);
        let Some(at) = found.checked_sub(1) else {
            return;
        };
        let Fresh { hole, is_read } = &mut self.fresh[at];
        if *is_read || word >= hole.end {
            return;
        }
        *is_read = true;
        let mut object = hole.start;
        let end = hole.end;
        while object < end {
            // Nothing was taken from here on.
            let Some(bytes) = size(self, object) else {
                return;
            };
            let (word, bit) = bit_of(object);
            self.blocks[block_of(object)].starts[word] |= bit;
            object += bytes as u32;
        }
    }

    /// The last object that begins at a word of its block or before.
    fn start_before(&self, word: u32) -> Option<u32> {
        let number = block_of(word);
        let starts = &self.blocks[number].starts;
        let (mut at, bit) = bit_of(word);
        let mut bits = starts[at] & (bit | (bit - 1));
        while bits == 0 {
            at = at.checked_sub(1)?;
            bits = starts[at];
        }
        let place = at as u32 * 64 + bits.ilog2();
        Some(number as u32 * BLOCK_BYTES + place * ALIGN)
    }

    /// Asks the processor to load the start of an object.
    pub fn prefetch(&self, object: u32) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: nothing is accessed, wherever the address leads.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.address(object, 0).as_ptr().cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = object;
    }

    /// Marks an object; false where it was.
    pub fn mark(&mut self, object: u32) -> bool {
        let block = &mut self.blocks[block_of(object)];
        let (word, bit) = bit_of(object);
        let is_new = block.marks[word] & bit == 0;
        block.marks[word] |= bit;
        is_new
    }

    /// Keeps the lines that a marked object of so many bytes is on.
    pub fn keep_lines(&mut self, object: u32, bytes: u64) {
        let block = &mut self.blocks[block_of(object)];
        if block.used == Use::Lines {
            let first = object % BLOCK_BYTES / LINE_BYTES;
            let last = (object % BLOCK_BYTES + bytes as u32 - 1) / LINE_BYTES;
            block.lines |= u128::MAX >> (LINES - 1 - (last - first)) << first;
        }
    }

    /// A collection ends: what is not marked is free, but for what was handed out since it
    /// began. Bytes that are not.
    pub fn sweep(&mut self) -> u64 {
        self.holes.clear();
        self.free.clear();
        let snapshot = self.snapshot.take().expect("it has begun");
        self.fresh.drain(..snapshot);
        for at in 0..self.fresh.len() {
            let hole = self.fresh[at].hole.clone();
            self.keep_lines(hole.start, u64::from(hole.end - hole.start));
        }
        (self.handed_out, self.search_from) = (0, FIRST_BLOCK as usize);
        let mut live = 0;
        let mut number = self.blocks.len();
        while number > FIRST_BLOCK as usize {
            number -= 1;
            live += match self.blocks[number].used {
                Use::Free => self.give_back(number, 1),
                Use::Lines => self.sweep_lines(number),
                Use::Large(count) => self.sweep_large(number, count as usize),
                Use::Rest(_) => 0,
            };
        }
        live
    }

    fn sweep_lines(&mut self, number: usize) -> u64 {
        let block = &mut self.blocks[number];
        block.is_dirty = true;
        block.starts = std::mem::replace(&mut block.marks, [0; WORDS]);
        let lines = std::mem::take(&mut block.lines);
        if lines == 0 {
            return self.give_back(number, 1);
        }
        let start = number as u32 * BLOCK_BYTES;
        let mut line = LINES;
        while line > 0 {
            // From the end, so that the next hole is the first one.
            let used = (lines << (LINES - line)).leading_ones();
            line -= used.min(line);
            let clear = (lines.checked_shl(LINES - line).unwrap_or(0))
                .leading_zeros()
                .min(line);
            if clear > 0 {
                let hole = start + (line - clear) * LINE_BYTES..start + line * LINE_BYTES;
                self.holes.push(hole);
            }
            line -= clear;
        }
        u64::from(lines.count_ones()) * u64::from(LINE_BYTES)
    }

    fn sweep_large(&mut self, number: usize, count: usize) -> u64 {
        let block = &mut self.blocks[number];
        let marks = std::mem::replace(&mut block.marks, [0; WORDS]);
        if marks[0] & 1 != 0 {
            return count as u64 * u64::from(BLOCK_BYTES);
        }
        let start = ROWS_BYTES + number * BLOCK_BYTES as usize;
        let is_emptied = count >= EMPTIED_BLOCKS
            && (self.reservation)
                .empty(start..start + count * BLOCK_BYTES as usize)
                .is_ok();
        for block in &mut self.blocks[number..number + count] {
            block.is_dirty = !is_emptied;
        }
        self.give_back(number, count)
    }

    fn give_back(&mut self, number: usize, count: usize) -> u64 {
        for number in (number..number + count).rev() {
            let block = &mut self.blocks[number];
            block.used = Use::Free;
            block.starts = [0; WORDS];
            self.free.push(number as u32);
        }
        0
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.allowance.give_back(Resource::HeapBytes, self.charged);
    }
}
