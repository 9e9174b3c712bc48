//! The entries of a unit that are around an address: functions, and calls that were inlined.

use std::sync::Arc;

use gimli::{Attribute, AttributeValue, DebuggingInformationEntry, Unit};

use super::UNIT_BYTES_MAX;
use super::lines::Row;
use super::meter::Metered;
use super::units::{Result, Scope, Units};

/// How often a name is said to be that of another entry.
const REFERENCES_MAX: usize = 8;

/// Tells of each range of such an entry that has a wanted address; one around another before
/// that.
pub(super) fn each<'a>(
    units: &Units<'a>,
    unit: &Unit<Metered<'a>>,
    told: &mut dyn FnMut(u64, u64, &Scope) -> Result<()>,
) -> Result<()> {
    let mut entries = unit.entries_raw(None)?;
    let mut entry = DebuggingInformationEntry::null();
    while !entries.is_empty() {
        if !entries.read_entry(&mut entry)? {
            continue;
        }
        units.pay_attributes(&entry)?;
        let is_inlined = match entry.tag() {
            gimli::DW_TAG_subprogram => false,
            gimli::DW_TAG_inlined_subroutine => true,
            _ => continue,
        };
        let mut scope = None;
        units.ranges(unit, entry.attrs(), &mut |from, to| {
            if units.wanted_in(from, to)?.is_empty() {
                return Ok(());
            }
            let scope = scope.get_or_insert_with(|| Scope {
                name: name(units, unit, entry.attrs()),
                call: is_inlined.then(|| call(entry.attrs())),
            });
            told(from, to, scope)
        })?;
    }
    Ok(())
}

/// Where it was called.
fn call(attributes: &[Attribute<Metered<'_>>]) -> Row {
    let number = |wanted| {
        let mut attributes = attributes.iter();
        attributes
            .find(|one| one.name() == wanted)
            .map(Attribute::value)
    };
    let positive = |wanted| {
        let value = number(wanted)?.udata_value()?;
        u32::try_from(value).ok().filter(|value| *value > 0)
    };
    Row {
        file: match number(gimli::DW_AT_call_file) {
            Some(AttributeValue::FileIndex(index)) => index,
            // No file has this number.
            _ => u64::MAX,
        },
        line: positive(gimli::DW_AT_call_line),
        column: positive(gimli::DW_AT_call_column),
    }
}

/// The name of an entry, or of the one that it is of.
fn name<'a>(
    units: &Units<'a>,
    unit: &Unit<Metered<'a>>,
    attributes: &[Attribute<Metered<'a>>],
) -> Option<Arc<str>> {
    let find = |attributes: &[Attribute<Metered<'a>>], wanted: &[gimli::DwAt]| {
        let named = |wanted: &gimli::DwAt| attributes.iter().find(|one| one.name() == *wanted);
        wanted.iter().find_map(named).map(Attribute::value)
    };
    let names = [gimli::DW_AT_name, gimli::DW_AT_linkage_name];
    let origins = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];
    let mut elsewhere: Option<Unit<Metered<'a>>> = None;
    let mut entry = DebuggingInformationEntry::null();
    let mut value = find(attributes, &names);
    let mut origin = find(attributes, &origins);
    for _ in 0..REFERENCES_MAX {
        let at = elsewhere.as_ref().unwrap_or(unit);
        if let Some(value) = value {
            return units.text(at, value).map(Arc::from);
        }
        let offset = match origin? {
            AttributeValue::UnitRef(offset) => offset,
            AttributeValue::DebugInfoRef(offset) => {
                let mut headers = units.dwarf.units();
                let (header, offset) = loop {
                    let header = headers.next().ok()??;
                    if let Some(offset) = offset.to_unit_offset(&header) {
                        break (header, offset);
                    }
                };
                let read = || Unit::new(units.dwarf, header);
                elsewhere = units.meter.keeping(UNIT_BYTES_MAX, read).ok();
                elsewhere.is_some().then_some(offset)?
            }
            _ => return None,
        };
        let at = elsewhere.as_ref().unwrap_or(unit);
        let mut entries = at.entries_raw(Some(offset)).ok()?;
        entries.read_entry(&mut entry).ok()?;
        units.pay_attributes(&entry).ok()?;
        value = find(entry.attrs(), &names);
        origin = find(entry.attrs(), &origins);
    }
    None
}
