//! A batch in parts, where it is more than a call should have: text can be of any length.
//!
//! ```text
//!  rows of a batch ─► parts of PART_BYTES_MAX, or of a quarter of the memory ─► a call each
//!                     a part that the module has no room for ─► its halves
//! ```
//!
//! A module needs as much again for what it makes of a part, and what it returns for one is
//! copied out up to a limit (`batch`).
//!
//! What must stay true: each row is in one part, and they come in their order; rows that fit
//! are one part, and a row is never cut.

use std::{fmt, ops::Range};

use arrow_array::{Array, ArrayRef, cast::AsArray};

use crate::{batch::Input, column::ColumnType, guest::Guest};

/// Most bytes of a part, unless they are of one row.
const PART_BYTES_MAX: usize = 16 << 20;

/// A part's share of a module's memory, as a divisor.
const MEMORY_SHARE: usize = 4;

/// Rows as a module has them.
#[derive(Debug)]
pub struct Part {
    /// Which of the batch.
    pub rows: Range<usize>,
    /// Where they are.
    pub batch: u64,
    /// Where there is room for what is made of them.
    pub result: u64,
}

/// Why a batch was not taken whole.
#[derive(Debug)]
pub struct Refused {
    /// The rows of the part.
    pub rows: Range<usize>,
    /// Whether they are all of the batch.
    pub is_whole: bool,
    /// What happened, in words.
    pub what: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_whole {
            write!(f, "rows {} to {}: ", self.rows.start + 1, self.rows.end)?;
        }
        f.write_str(&self.what)
    }
}

impl Guest {
    /// Gives a batch, with room for results, in as many parts as it takes: `call` is called for
    /// each of them, one after the other.
    ///
    /// # Errors
    /// The first part that is none, that there is no room for though it is one row, or whose
    /// call fails. Those before it were taken.
    pub fn give_parts(
        &mut self,
        rows: usize,
        columns: &[(ColumnType, ArrayRef)],
        results: &[ColumnType],
        mut call: impl FnMut(&mut Guest, Part) -> Result<(), String>,
    ) -> Result<(), Refused> {
        let most = PART_BYTES_MAX.min(self.memory_bytes_max() / MEMORY_SHARE);
        // The next one is the last, so that halves of it can take its place.
        let mut left = parts(rows, columns, results, most);
        left.reverse();
        while let Some(part) = left.pop() {
            let refused = |what| Refused {
                is_whole: part.len() == rows,
                rows: part.clone(),
                what,
            };
            let input = input(&part, rows, columns).map_err(refused)?;
            match self.offer(&input, results).map_err(refused)? {
                Some((batch, result)) => {
                    let rows = part.clone();
                    let given = Part {
                        rows,
                        batch,
                        result,
                    };
                    call(self, given).map_err(refused)?;
                }
                None if part.len() > 1 => {
                    let middle = part.start + part.len() / 2;
                    left.push(middle..part.end);
                    left.push(part.start..middle);
                }
                None => return Err(refused(self.no_room(&input, results))),
            }
        }
        Ok(())
    }
}

/// These rows of `columns`.
fn input(
    part: &Range<usize>,
    rows: usize,
    columns: &[(ColumnType, ArrayRef)],
) -> Result<Input, String> {
    let input = match part.len() == rows {
        true => Input::new(rows, columns),
        false => {
            let slice = |(ty, array): &(ColumnType, ArrayRef)| {
                let end = part.end.min(array.len());
                let start = part.start.min(end);
                (*ty, array.slice(start, end - start))
            };
            Input::new(part.len(), &columns.iter().map(slice).collect::<Vec<_>>())
        }
    };
    input.map_err(|error| error.to_string())
}

/// Rows of at most so many bytes with room for results, or one at a time.
fn parts(
    rows: usize,
    columns: &[(ColumnType, ArrayRef)],
    results: &[ColumnType],
    most: usize,
) -> Vec<Range<usize>> {
    let types = columns.iter().map(|(ty, _)| *ty);
    // A text has an offset.
    let widths = types.chain(results.iter().copied());
    let width: usize = widths.map(|ty| ty.width().unwrap_or(4)).sum();
    let texts: Vec<Text<'_>> = columns
        .iter()
        .filter_map(|(_, array)| Text::of(array))
        .collect();
    let bytes: usize = texts.iter().map(Text::bytes).sum();
    if rows.saturating_mul(width).saturating_add(bytes) <= most {
        return std::iter::once(0..rows).collect();
    }
    let mut parts = Vec::new();
    let (mut start, mut taken) = (0, 0);
    for row in 0..rows {
        let bytes = width + texts.iter().map(|text| text.len(row)).sum::<usize>();
        if row > start && taken + bytes > most {
            parts.push(start..row);
            (start, taken) = (row, 0);
        }
        taken += bytes;
    }
    parts.push(start..rows);
    parts
}

/// Texts of which only lengths are asked.
enum Text<'a> {
    Offsets(&'a [i32]),
    LargeOffsets(&'a [i64]),
    Views(&'a [u128]),
}

impl<'a> Text<'a> {
    fn of(array: &'a ArrayRef) -> Option<Text<'a>> {
        if let Some(text) = array.as_string_opt::<i32>() {
            return Some(Text::Offsets(text.value_offsets()));
        }
        if let Some(text) = array.as_string_opt::<i64>() {
            return Some(Text::LargeOffsets(text.value_offsets()));
        }
        let views = array.as_string_view_opt()?;
        Some(Text::Views(views.views()))
    }

    /// Of the text of a row; nothing behind the last.
    fn len(&self, row: usize) -> usize {
        let len = match self {
            Text::Offsets(all) => all.get(row + 1).map(|end| (end - all[row]) as usize),
            Text::LargeOffsets(all) => all.get(row + 1).map(|end| (end - all[row]) as usize),
            Text::Views(all) => all.get(row).map(|view| view_len(*view)),
        };
        len.unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        match self {
            Text::Offsets(all) => (all[all.len() - 1] - all[0]) as usize,
            Text::LargeOffsets(all) => (all[all.len() - 1] - all[0]) as usize,
            Text::Views(all) => all.iter().map(|view| view_len(*view)).sum(),
        }
    }
}

/// The length is in the lowest 32 bits of a view ("Arrow Columnar Format", variable-size binary
/// view layout).
fn view_len(view: u128) -> usize {
    view as u32 as usize
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, LargeStringArray, StringArray, StringViewArray};

    use super::*;

    fn texts(lengths: &[usize]) -> Vec<String> {
        lengths.iter().map(|length| "x".repeat(*length)).collect()
    }

    fn ends(columns: &[(ColumnType, ArrayRef)], results: &[ColumnType], most: usize) -> Vec<usize> {
        let rows = columns[0].1.len();
        let parts = parts(rows, columns, results, most);
        let mut next = 0;
        for part in &parts {
            assert_eq!(part.start, next, "{parts:?}");
            next = part.end;
        }
        parts.into_iter().map(|part| part.end).collect()
    }

    #[test]
    fn every_row_is_in_one_part_in_each_layout() {
        let lengths = [10, 0, 30, 5, 90, 1, 1, 1];
        let texts = texts(&lengths);
        let arrays: [ArrayRef; 3] = [
            Arc::new(StringArray::from(texts.clone())),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(StringViewArray::from(texts)),
        ];
        for array in arrays {
            let columns = [(ColumnType::Varchar, array)];
            // Each text has 4 bytes more, of its offset.
            assert_eq!(ends(&columns, &[], 170), [8]);
            assert_eq!(ends(&columns, &[], 169), [7, 8]);
            assert_eq!(ends(&columns, &[], 52), [3, 4, 5, 8]);
            assert_eq!(ends(&columns, &[], 0), [1, 2, 3, 4, 5, 6, 7, 8]);
        }
    }

    #[test]
    fn slices_nulls_and_results_count() {
        let values = [Some("a".repeat(50)), None, Some("b".repeat(50)), None];
        let array: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
        let sliced = array.slice(1, 3);
        let columns = [(ColumnType::Varchar, sliced)];
        assert_eq!(ends(&columns, &[], 62), [3]);
        assert_eq!(ends(&columns, &[], 61), [2, 3]);
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10));
        let columns = [(ColumnType::BigInt, numbers)];
        assert_eq!(ends(&columns, &[ColumnType::Double], 64), [4, 8, 10]);
        let nothing: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
        assert_eq!(ends(&[(ColumnType::Varchar, nothing)], &[], 0), [0]);
    }
}
