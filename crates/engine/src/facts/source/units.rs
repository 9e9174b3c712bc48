//! The units of a module's DWARF, of which those are read that have a wanted address.

use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::{
    Attribute, AttributeValue, DebuggingInformationEntry, Dwarf, Error, Reader as _, Unit,
};

use super::lines::{Lines, Row};
use super::meter::{Meter, Metered};
use super::{FrameSymbol, INLINED_MAX, NoSymbols, TEXT_BYTES_MAX, UNIT_BYTES_MAX, entries};

/// Steps for what is kept of an address: as many bytes.
const KEPT_STEPS: u64 = 64;

/// Steps for an attribute, which takes as long as some bytes.
const ATTRIBUTE_STEPS: u64 = 4;

/// Bytes of a function's length, at most.
const LENGTH_BYTES: u64 = 5;

/// A function around an address: one of the module, or one that was inlined.
#[derive(Clone)]
pub(super) struct Scope {
    pub name: Option<Arc<str>>,
    /// Where it was called, if it was inlined.
    pub call: Option<Row>,
}

/// What is looked for, and what is found of it.
pub(super) struct Units<'a> {
    pub dwarf: &'a Dwarf<Metered<'a>>,
    pub meter: &'a Meter,
    /// In ascending order.
    wanted: &'a [u64],
    /// Where functions begin and end, in ascending order.
    bodies: &'a [(u64, u64)],
    found: BTreeMap<u64, Vec<FrameSymbol>>,
}

/// A step's result.
pub(super) type Result<T> = gimli::Result<T>;

impl<'a> Units<'a> {
    pub(super) fn new(
        dwarf: &'a Dwarf<Metered<'a>>,
        meter: &'a Meter,
        wanted: &'a [u64],
        bodies: &'a [(u64, u64)],
    ) -> Units<'a> {
        Units {
            dwarf,
            meter,
            wanted,
            bodies,
            found: BTreeMap::new(),
        }
    }

    pub(super) fn found(self) -> BTreeMap<u64, Vec<FrameSymbol>> {
        self.found
    }

    /// Reads until everything is found. A damaged unit keeps nobody from the others; the
    /// first trouble is told.
    pub(super) fn read(&mut self) -> std::result::Result<(), NoSymbols> {
        let mut headers = self.dwarf.units();
        let mut trouble = Ok(());
        while self.found.len() < self.wanted.len() {
            let header = match headers.next() {
                Ok(Some(header)) => header,
                Ok(None) => break,
                Err(error) => return trouble.and(Err(self.trouble(&error))),
            };
            let dwarf = self.dwarf;
            let read = (self.meter).keeping(UNIT_BYTES_MAX, || Unit::new(dwarf, header));
            let read = read.map_err(|error| self.trouble(&error));
            let read = read.and_then(|unit| self.unit(&unit));
            trouble = trouble.and(read);
            if self.meter.is_spent() {
                break;
            }
        }
        trouble
    }

    fn trouble(&self, error: &Error) -> NoSymbols {
        match self.meter.is_spent() {
            true => NoSymbols::TooMuch,
            false => NoSymbols::Damaged(error.to_string()),
        }
    }

    fn unit(&mut self, unit: &Unit<Metered<'a>>) -> std::result::Result<(), NoSymbols> {
        let mut found = BTreeMap::new();
        let mut is_stale = false;
        let read = self.rows_and_scopes(unit, &mut found, &mut is_stale);
        let is_split = unit.dwo_id.is_some() && !found.is_empty();
        self.keep(unit, found);
        match read {
            Err(error) => Err(self.trouble(&error)),
            Ok(()) if is_stale => Err(NoSymbols::Stale),
            Ok(()) if is_split => Err(NoSymbols::Split),
            Ok(()) => Ok(()),
        }
    }

    /// Of each wanted address the row, and what is around it, outermost first.
    fn rows_and_scopes(
        &self,
        unit: &Unit<Metered<'a>>,
        found: &mut BTreeMap<u64, (Row, Vec<Scope>)>,
        is_stale: &mut bool,
    ) -> Result<()> {
        if !self.has_wanted(unit)? {
            return Ok(());
        }
        let mut rows = Lines::of(unit).rows();
        while let Some((from, to, row)) = rows.next()? {
            for address in self.wanted_in(from, to)? {
                if !self.found.contains_key(address) {
                    found.entry(*address).or_insert((row, Vec::new()));
                }
            }
        }
        entries::each(self, unit, &mut |from, to, scope| {
            let is_other = scope.call.is_none() && !self.is_body(from, to);
            for address in self.wanted_in(from, to)? {
                let Some((_, scopes)) = found.get_mut(address) else {
                    continue;
                };
                if is_other {
                    *is_stale = true;
                    found.remove(address);
                    continue;
                }
                // One of the module's own begins anew: those of a function around it are none of
                // its.
                if scope.call.is_none() {
                    scopes.clear();
                }
                if scopes.len() < INLINED_MAX {
                    self.meter.pay(KEPT_STEPS)?;
                    scopes.push(scope.clone());
                }
            }
            Ok(())
        })
    }

    /// Whether a function of the module begins and ends there. Its length may be counted to it.
    fn is_body(&self, from: u64, to: u64) -> bool {
        let behind = self.bodies.partition_point(|(_, end)| *end < to);
        let Some((start, end)) = self.bodies.get(behind) else {
            return false;
        };
        // Of its length, as short as can be or of full width (LEB128).
        let short = u64::from((end - start).max(1).ilog2() / 7 + 1);
        let starts = [0, short, LENGTH_BYTES].map(|bytes| from.saturating_add(bytes));
        *end == to && starts.contains(start)
    }

    /// Whether a unit's ranges have a wanted address; it may, where it does not tell.
    fn has_wanted(&self, unit: &Unit<Metered<'a>>) -> Result<bool> {
        let mut root = DebuggingInformationEntry::null();
        unit.entries_raw(None)?.read_entry(&mut root)?;
        self.pay_attributes(&root)?;
        let mut has_wanted = false;
        let tells = self.ranges(unit, root.attrs(), &mut |from, to| {
            has_wanted |= !self.wanted_in(from, to)?.is_empty();
            Ok(())
        })?;
        Ok(has_wanted || !tells)
    }

    /// Pays for the attributes of an entry that was read, which may be without a byte.
    pub(super) fn pay_attributes(
        &self,
        entry: &DebuggingInformationEntry<Metered<'a>>,
    ) -> Result<()> {
        self.meter.pay(ATTRIBUTE_STEPS * entry.attrs().len() as u64)
    }

    /// Wanted addresses from one on, to one that is not of them.
    pub(super) fn wanted_in(&self, from: u64, to: u64) -> Result<&'a [u64]> {
        let start = self.wanted.partition_point(|address| *address < from);
        let rest = &self.wanted[start..];
        let wanted = &rest[..rest.partition_point(|address| *address < to)];
        self.meter.pay(1 + wanted.len() as u64)?;
        Ok(wanted)
    }

    /// The ranges of an entry, from an address on to one that is not of it; whether it has
    /// any. What begins at 0, where no function does, was dropped by the linker.
    pub(super) fn ranges(
        &self,
        unit: &Unit<Metered<'a>>,
        attributes: &[Attribute<Metered<'a>>],
        each: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<bool> {
        let mut low = None;
        let mut high = None;
        let mut length = None;
        for attribute in attributes {
            let value = attribute.value();
            match (attribute.name(), value) {
                (gimli::DW_AT_low_pc, value) => low = self.dwarf.attr_address(unit, value)?,
                (gimli::DW_AT_high_pc, AttributeValue::Udata(bytes)) => length = Some(bytes),
                (gimli::DW_AT_high_pc, value) => high = self.dwarf.attr_address(unit, value)?,
                (gimli::DW_AT_ranges, value) => {
                    let Some(mut ranges) = self.dwarf.attr_ranges(unit, value)? else {
                        continue;
                    };
                    while let Some(range) = ranges.next()? {
                        if range.begin != 0 {
                            each(range.begin, range.end)?;
                        }
                    }
                    return Ok(true);
                }
                _ => {}
            }
        }
        let Some(low) = low else { return Ok(false) };
        let end = length.map(|bytes| low.saturating_add(bytes)).or(high);
        if let (Some(end), true) = (end, low != 0) {
            each(low, end)?;
        }
        Ok(end.is_some())
    }

    /// Text of a section, where it is no longer than it may be.
    pub(super) fn text(
        &self,
        unit: &Unit<Metered<'a>>,
        value: AttributeValue<Metered<'a>>,
    ) -> Option<String> {
        let text = self.dwarf.attr_string(unit, value).ok()?;
        let is_short = text.len() <= TEXT_BYTES_MAX;
        is_short.then(|| text.to_string_lossy().ok().map(String::from))?
    }

    /// What was found of a unit's addresses, with files and names.
    fn keep(&mut self, unit: &Unit<Metered<'a>>, found: BTreeMap<u64, (Row, Vec<Scope>)>) {
        let mut files = BTreeMap::new();
        for (address, (row, mut scopes)) in found {
            let mut symbols = Vec::new();
            let mut place = Some(row);
            // Innermost first: where it was called is the place of what is around it.
            while let Some(row) = place {
                let scope = scopes.pop();
                let file = files.entry(row.file).or_insert_with(|| {
                    let path = Lines::of(unit).path(self, row.file);
                    path.map(Arc::from)
                });
                symbols.push(FrameSymbol {
                    name: scope.as_ref().and_then(|scope| scope.name.clone()),
                    file: file.clone(),
                    line: row.line,
                    column: row.column,
                });
                place = scope.and_then(|scope| scope.call);
            }
            self.found.insert(address, symbols);
        }
    }
}
