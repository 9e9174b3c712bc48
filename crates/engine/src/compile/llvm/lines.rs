//! DWARF's table of lines.

use gimli::{DebugLine, DebugLineOffset, LittleEndian};

/// Addresses from which on a line holds, in order of the table; line 0 where none does.
pub(super) fn read(section: &[u8]) -> gimli::Result<Vec<(u64, u32)>> {
    let lines = DebugLine::new(section, LittleEndian);
    let mut rows_found = Vec::new();
    let mut offset = 0;
    while offset < section.len() {
        let program = lines.program(DebugLineOffset(offset), 8, None, None)?;
        let header = program.header();
        // The field of the length is not part of it.
        offset += header.unit_length() + 4;
        let mut rows = program.rows();
        while let Some((_, row)) = rows.next_row()? {
            let line = match row.end_sequence() {
                true => 0,
                false => row.line().map_or(0, |line| line.get() as u32),
            };
            rows_found.push((row.address(), line));
        }
    }
    Ok(rows_found)
}
