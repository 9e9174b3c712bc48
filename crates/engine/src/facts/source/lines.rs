//! The line program of a unit: which line an address is of.

use gimli::{ColumnType, IncompleteLineProgram, LineInstruction, LineInstructions, LineRow, Unit};

use super::TEXT_BYTES_MAX;
use super::meter::Metered;
use super::units::{Result, Units};

/// A line, its file by its number in the unit.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub file: u64,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

/// A unit's lines.
pub(super) struct Lines<'u, 'a>(&'u Unit<Metered<'a>>);

/// Rows that are left to be made, one after the other, of which none is kept.
pub(super) struct Rows<'a> {
    program: Option<(IncompleteLineProgram<Metered<'a>>, LineRow)>,
    instructions: Option<LineInstructions<Metered<'a>>>,
    /// The row before in the same sequence.
    before: Option<(u64, Row)>,
    /// Where the sequence begins.
    start: u64,
}

impl<'u, 'a> Lines<'u, 'a> {
    pub(super) fn of(unit: &'u Unit<Metered<'a>>) -> Lines<'u, 'a> {
        Lines(unit)
    }

    pub(super) fn rows(&self) -> Rows<'a> {
        let program = self.0.line_program.clone();
        Rows {
            instructions: program
                .as_ref()
                .map(|program| program.header().instructions()),
            program: program.map(|program| {
                let row = LineRow::new(program.header());
                (program, row)
            }),
            before: None,
            start: 0,
        }
    }

    /// The path of a file.
    pub(super) fn path(&self, units: &Units<'a>, index: u64) -> Option<String> {
        let header = self.0.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let mut path = String::new();
        let folder = self.0.comp_dir.map(gimli::AttributeValue::String);
        let parts = [
            folder,
            // The first is the unit's own.
            file.directory(header)
                .filter(|_| file.directory_index() != 0),
            Some(file.path_name()),
        ];
        for part in parts.into_iter().flatten() {
            join(&mut path, &units.text(self.0, part)?);
        }
        (path.len() <= TEXT_BYTES_MAX && !path.is_empty()).then_some(path)
    }
}

/// Goes on in a folder, or somewhere else where a path says so.
fn join(path: &mut String, part: &str) {
    let has_drive = part.as_bytes().get(1) == Some(&b':');
    if part.starts_with(['/', '\\']) || has_drive {
        path.clear();
    } else if !path.is_empty() && !path.ends_with(['/', '\\']) {
        path.push('/');
    }
    path.push_str(part);
}

impl Rows<'_> {
    /// Addresses, from one on to one that is not of them, and their line.
    pub(super) fn next(&mut self) -> Result<Option<(u64, u64, Row)>> {
        let Rows {
            program: Some((program, state)),
            instructions: Some(instructions),
            ..
        } = self
        else {
            return Ok(None);
        };
        while let Some(instruction) = instructions.next_instruction(program.header())? {
            // It would grow the table of files, and DWARF 5 has it no more.
            if matches!(instruction, LineInstruction::DefineFile(_)) {
                continue;
            }
            if !state.execute(instruction, program)? {
                continue;
            }
            let address = state.address();
            let before = self.before.take();
            if before.is_none() {
                self.start = address;
            }
            if !state.end_sequence() {
                self.before = Some((address, row(state)));
            }
            state.reset(program.header());
            // No function begins at 0: the linker dropped it.
            if let Some((from, row)) = before.filter(|(from, _)| *from < address && self.start != 0)
            {
                return Ok(Some((from, address, row)));
            }
        }
        Ok(None)
    }
}

fn row(state: &LineRow) -> Row {
    let number = |number: u64| u32::try_from(number).ok();
    Row {
        file: state.file_index(),
        line: state.line().and_then(|line| number(line.get())),
        column: match state.column() {
            ColumnType::LeftEdge => None,
            ColumnType::Column(column) => number(column.get()),
        },
    }
}
