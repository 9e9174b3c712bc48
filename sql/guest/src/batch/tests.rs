//! Batches there and back, and every word of one damaged.

use arrow_array::{BooleanArray, Float64Array, Int32Array, Int64Array};

use super::{output::nulls_of, *};

/// Every type, with nulls, and a slice that begins within a byte of the bitmap.
fn columns() -> Vec<(ColumnType, ArrayRef)> {
    let row = |i: i64| (i % 3 != 1).then_some(i);
    let bigints: Int64Array = (0..20).map(row).collect();
    let doubles: Float64Array = (0..20).map(|i| Some(i as f64 / 4.0)).collect();
    let booleans: BooleanArray = (0..20).map(|i| Some(i % 5 == 0)).collect();
    let texts: StringArray = (0..20)
        .map(|i| row(i).map(|i| "é".repeat(i as usize)))
        .collect();
    let ints: Int32Array = (0..20).map(Some).collect();
    let arrays: [(ColumnType, ArrayRef); 5] = [
        (ColumnType::BigInt, Arc::new(bigints)),
        (ColumnType::Double, Arc::new(doubles)),
        (ColumnType::Boolean, Arc::new(booleans)),
        (ColumnType::Varchar, Arc::new(texts)),
        (ColumnType::Int, Arc::new(ints)),
    ];
    arrays.map(|(ty, array)| (ty, array.slice(3, 11))).into()
}

fn types(columns: &[(ColumnType, ArrayRef)]) -> Vec<ColumnType> {
    columns.iter().map(|(ty, _)| *ty).collect()
}

const WIDTHS: [Width; 2] = [Width::Narrow, Width::Wide];

fn written(
    columns: &[(ColumnType, ArrayRef)],
    results: &[ColumnType],
    width: Width,
) -> (Vec<u8>, u64, u64) {
    let rows = columns.first().map_or(0, |(_, array)| array.len());
    let input = Input::new(rows, columns).unwrap();
    let mut memory = vec![0xaa; 64 + input.bytes(results, width)];
    let (batch, result) = input.write(&mut memory, 64, results, width);
    (memory, batch, result)
}

#[test]
fn what_is_written_is_read() {
    for width in WIDTHS {
        written_and_read(width);
    }
}

fn written_and_read(width: Width) {
    let columns = columns();
    let (memory, batch, _) = written(&columns, &[], width);
    assert!(
        memory[..64].iter().all(|byte| *byte == 0xaa),
        "in front of it"
    );
    let read = Output::new(&memory[..], batch, width)
        .read(&types(&columns), Some(11))
        .unwrap();
    for ((_, written), read) in columns.iter().zip(read) {
        assert_eq!(written, &read);
    }
    let empty: Vec<_> = columns
        .iter()
        .map(|(ty, array)| (*ty, array.slice(0, 0)))
        .collect();
    let (memory, batch, _) = written(&empty, &[], width);
    let read = Output::new(&memory[..], batch, width)
        .read(&types(&empty), Some(0))
        .unwrap();
    assert!(read.iter().all(|array| array.is_empty()));
}

#[test]
fn results_have_room_and_values() {
    let columns = columns();
    let (memory, _, result) = written(&columns, &[ColumnType::Int], Width::Narrow);
    let read = Output::new(&memory[..], result, Width::Narrow)
        .read(&[ColumnType::Int], Some(11))
        .unwrap();
    assert_eq!((read[0].len(), read[0].null_count()), (11, 0));
    // Text has no room yet: its offsets are none.
    let (memory, _, result) = written(&columns, &[ColumnType::Varchar], Width::Narrow);
    let read =
        Output::new(&memory[..], result, Width::Narrow).read(&[ColumnType::Varchar], Some(11));
    assert_eq!(read, Err(Defect::NoOffsets { column: 1 }));
}

/// Every word of what a guest may have written, replaced by what hurts.
#[test]
fn no_word_is_believed() {
    for width in WIDTHS {
        believed_by_none(width);
    }
}

fn believed_by_none(width: Width) {
    let columns = columns();
    let types = types(&columns);
    let (memory, batch, _) = written(&columns, &[], width);
    let mut refused = 0;
    for at in (64..memory.len() - 4).step_by(4) {
        for word in [0, 1, 7, memory.len() as u32 - 1, i32::MAX as u32, u32::MAX] {
            let mut damaged = memory.clone();
            damaged[at..at + 4].copy_from_slice(&word.to_le_bytes());
            let output = Output::new(&damaged[..], batch, width);
            if let Ok(read) = output.read(&types, Some(11)) {
                assert!(read.iter().all(|array| array.len() == 11));
                for array in &read {
                    array.to_data().validate_full().unwrap();
                }
            } else {
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused}");
    for at in [
        0,
        memory.len() as u64 - 3,
        u64::from(u32::MAX),
        u64::MAX - 3,
        u64::MAX,
    ] {
        assert!(
            Output::new(&memory[..], at, width)
                .read(&types, Some(11))
                .is_err()
        );
    }
}

#[test]
fn what_is_wrong_is_named() {
    let columns = columns();
    let all = types(&columns);
    let (memory, batch, _) = written(&columns, &[], Width::Narrow);
    let output = Output::new(&memory[..], batch, Width::Narrow);
    let rows = output.read(&all, Some(12)).unwrap_err();
    assert_eq!(rows.to_string(), "11 rows for 12");
    let fewer = output.read(&all[..2], Some(11)).unwrap_err();
    assert_eq!(fewer.to_string(), "5 columns where 2 are declared");
    let mut others = all.clone();
    others[1] = ColumnType::Real;
    let other = output.read(&others, None).unwrap_err();
    assert_eq!(other.to_string(), "column 2 is of type number 6, not real");
}

#[test]
fn columns_over_each_other_are_not_copied_without_end() {
    let rows = 1 << 20;
    let column: ArrayRef = Arc::new(Int64Array::from_value(7, rows));
    let (mut memory, batch, result) = written(
        &[(ColumnType::BigInt, column)],
        &[ColumnType::BigInt; 9],
        Width::Narrow,
    );
    // All results are the column that was given.
    let word =
        |memory: &[u8], at: usize| u32::from_le_bytes(memory[at..at + 4].try_into().unwrap());
    let given = word(&memory, word(&memory, batch as usize + 8) as usize + 8);
    let first = word(&memory, result as usize + 8) as usize;
    for i in 0..9 {
        memory[first + 16 * i + 8..][..4].copy_from_slice(&given.to_le_bytes());
    }
    let read = |count: usize| {
        let mut memory = memory.clone();
        memory[result as usize + 4..][..4].copy_from_slice(&(count as u32).to_le_bytes());
        Output::new(&memory[..], result, Width::Narrow)
            .read(&[ColumnType::BigInt; 9][..count], Some(rows))
            .map(|read| read.len())
    };
    assert_eq!(read(7), Ok(7));
    assert_eq!(read(9), Err(Defect::Large));
}

#[test]
fn text_is_given_however_it_is_held() {
    let texts = [
        Some("é"),
        None,
        Some(""),
        Some("a text that is no view's own"),
    ];
    let usual: ArrayRef = Arc::new(StringArray::from_iter(texts));
    let large: ArrayRef = Arc::new(LargeStringArray::from_iter(texts));
    let view: ArrayRef = Arc::new(StringViewArray::from_iter(texts));
    for array in [&usual, &large, &view] {
        let columns = [(ColumnType::Varchar, array.slice(1, 3))];
        let (memory, batch, _) = written(&columns, &[], Width::Narrow);
        let output = Output::new(&memory[..], batch, Width::Narrow);
        let read = output.read(&[ColumnType::Varchar], Some(3)).unwrap();
        assert_eq!(&read[0], &usual.slice(1, 3));
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let column: ArrayRef = Arc::new(Int64Array::from_value(7, 3));
    let unfit = |rows, ty| {
        let input = Input::new(rows, &[(ty, column.clone())]);
        input.err().map(|unfit| unfit.to_string())
    };
    assert_eq!(unfit(3, ColumnType::BigInt), None);
    let shorter = unfit(4, ColumnType::BigInt).unwrap();
    assert_eq!(shorter, "column 1 has 3 rows of 4");
    for ty in [ColumnType::Int, ColumnType::Varchar] {
        let other = unfit(3, ty).unwrap();
        assert_eq!(
            other,
            format!("column 1 is of type Int64, not {}", ty.name())
        );
    }
}

/// Bits behind the last row say nothing.
#[test]
fn rows_without_values_are_found_in_every_bit() {
    for rows in [1_usize, 7, 8, 9, 64, 8192, 8193, 9000] {
        let mut bits = vec![u8::MAX; rows.div_ceil(8)];
        assert_eq!(nulls_of(&bits, rows), None);
        for row in [0, rows / 2, rows - 1] {
            bits[row / 8] &= !(1 << (row % 8));
            let nulls = nulls_of(&bits, rows).unwrap();
            assert_eq!((nulls.null_count(), nulls.is_null(row)), (1, true));
            bits[row / 8] = u8::MAX;
        }
        if rows % 8 != 0 {
            bits[rows / 8] = (1 << (rows % 8)) - 1;
            assert_eq!(nulls_of(&bits, rows), None);
        }
    }
    assert_eq!(nulls_of(&[], 0), None);
}
