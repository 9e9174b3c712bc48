//! Sections whose reading is counted, so that it ends.
//!
//! DWARF is a program in four tables that refer to each other: a byte of one can stand for
//! thousands of another, again and again. So bytes are counted where they are read, by a
//! reader of ours below the library that knows what they mean.

use std::borrow::Cow;
use std::cell::Cell;

use gimli::{EndianSlice, Error, LittleEndian, Reader, ReaderOffsetId, Result};

/// What is left to be spent.
#[derive(Debug)]
pub(super) struct Meter {
    steps: Cell<u64>,
    /// Bytes that may be read at present, since they stay in memory.
    kept: Cell<u64>,
}

impl Meter {
    pub(super) fn new(steps: u64) -> Meter {
        Meter {
            steps: Cell::new(steps),
            kept: Cell::new(u64::MAX),
        }
    }

    /// Pays, or has nothing left from now on.
    pub(super) fn pay(&self, steps: u64) -> Result<()> {
        let kept = self.kept.get().checked_sub(steps);
        let left = self.steps.get().checked_sub(steps);
        let (Some(kept), Some(left @ 1..)) = (kept, left) else {
            self.steps.set(0);
            return Err(Error::UnexpectedEof(ReaderOffsetId(0)));
        };
        self.kept.set(kept);
        self.steps.set(left);
        Ok(())
    }

    /// Whether something was left unread for what it would have cost.
    pub(super) fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }

    /// What reads so many bytes at most.
    pub(super) fn keeping<T>(&self, bytes: u64, read: impl FnOnce() -> T) -> T {
        let outer = self.kept.replace(bytes);
        let value = read();
        self.kept.set(outer);
        value
    }
}

/// A part of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metered<'a> {
    bytes: EndianSlice<'a, LittleEndian>,
    meter: &'a Meter,
}

impl<'a> Metered<'a> {
    pub(super) fn new(bytes: &'a [u8], meter: &'a Meter) -> Metered<'a> {
        Metered {
            bytes: EndianSlice::new(bytes, LittleEndian),
            meter,
        }
    }
}

impl Reader for Metered<'_> {
    type Endian = LittleEndian;
    type Offset = usize;

    fn endian(&self) -> LittleEndian {
        LittleEndian
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn empty(&mut self) {
        self.bytes.empty();
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        self.bytes.truncate(len)
    }

    fn offset_from(&self, base: &Self) -> usize {
        self.bytes.offset_from(base.bytes)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        self.bytes.offset_id()
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.bytes.lookup_offset_id(id)
    }

    fn find(&self, byte: u8) -> Result<usize> {
        let found = Reader::find(&self.bytes, byte);
        let looked_at = found.as_ref().copied().unwrap_or(self.len());
        self.meter.pay(looked_at as u64 + 1)?;
        found
    }

    fn skip(&mut self, len: usize) -> Result<()> {
        self.meter.pay(1)?;
        self.bytes.skip(len)
    }

    fn split(&mut self, len: usize) -> Result<Self> {
        self.meter.pay(1)?;
        let bytes = self.bytes.split(len)?;
        Ok(Metered { bytes, ..*self })
    }

    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        self.meter.pay(self.len() as u64)?;
        self.bytes.to_slice()
    }

    fn to_string(&self) -> Result<Cow<'_, str>> {
        self.meter.pay(self.len() as u64)?;
        Reader::to_string(&self.bytes)
    }

    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        self.meter.pay(self.len() as u64)?;
        Reader::to_string_lossy(&self.bytes)
    }

    fn read_slice(&mut self, buf: &mut [u8]) -> Result<()> {
        self.meter.pay(buf.len() as u64)?;
        Reader::read_slice(&mut self.bytes, buf)
    }
}
