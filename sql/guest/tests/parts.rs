//! Batches that are more than a module has room for, or should have in one call.

use std::{ops::Range, sync::Arc};

use arrow_array::{Array, ArrayRef, Int64Array, StringArray, builder::StringViewBuilder};
use fathom_guest::{Guest, Options, Pool, column::ColumnType};

/// `take` adds up the bytes of texts, and `calls` says how often it was called; there is room for
/// `room` bytes, or for as much as the memory can be grown to.
fn pool(room: u32, memory_bytes: usize) -> Arc<Pool> {
    let module = format!(
        r#"(module
        (memory (export "memory") 1)
        (global $calls (mut i32) (i32.const 0))
        (global $bytes (mut i32) (i32.const 0))
        (func (export "calls") (result i32) (global.get $calls))
        (func (export "bytes") (result i32) (global.get $bytes))
        (func (export "fathom_reserve") (param $bytes i32) (result i32) (local $more i32)
          (if (i32.gt_u (local.get $bytes) (i32.const {room})) (then (return (i32.const 0))))
          (local.set $more (i32.sub
            (i32.div_u (i32.add (local.get $bytes) (i32.const 131071)) (i32.const 65536))
            (memory.size)))
          (if (i32.gt_s (local.get $more) (i32.const 0))
            (then (if (i32.eq (memory.grow (local.get $more)) (i32.const -1))
              (then (return (i32.const 0))))))
          (i32.const 1024))
        (func (export "take") (param $batch i32) (param $result i32) (result i32)
          (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
          (global.set $bytes (i32.add (global.get $bytes) (i32.load (i32.add
            (i32.load offset=12 (i32.load offset=8 (local.get $batch)))
            (i32.mul (i32.load (local.get $batch)) (i32.const 4))))))
          (i32.const 1))
        (func (export "refuse") (param i32 i32) (result i32) (i32.const -3)))"#
    );
    let options = Options {
        memory_bytes,
        ..Options::default()
    };
    Arc::new(Pool::new(wat::parse_str(module).unwrap(), options).unwrap())
}

/// Which rows each call had.
fn given(guest: &mut Guest, text: ArrayRef) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let rows = text.len();
    let columns = [(ColumnType::Varchar, text)];
    let taken = guest.give_parts(rows, &columns, &[ColumnType::BigInt], |guest, part| {
        guest.status("take", part.batch, part.result)?;
        parts.push(part.rows);
        Ok(())
    });
    taken.unwrap_or_else(|refused| panic!("{refused}"));
    let ends = parts.iter().map(|part| part.end);
    let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    for (part, start) in parts.iter().zip(&starts) {
        assert_eq!(part.start, *start, "{parts:?}");
    }
    assert_eq!(starts.last(), Some(&rows), "{parts:?}");
    parts
}

/// As many texts, all of them the same bytes.
fn copies(rows: usize, len: usize) -> ArrayRef {
    let mut builder = StringViewBuilder::new();
    let block = builder.append_block(vec![b'x'; len].into());
    for _ in 0..rows {
        builder.try_append_view(block, 0, len as u32).unwrap();
    }
    Arc::new(builder.finish())
}

#[test]
fn half_a_gigabyte_of_text_is_taken_in_a_quarter_of_one() {
    let pool = pool(u32::MAX, 256 << 20);
    let mut guest = pool.take().unwrap();
    let parts = given(&mut guest, copies(8192, 60_000));
    assert_eq!(guest.address("bytes"), Ok(8192 * 60_000));
    assert_eq!(guest.address("calls"), Ok(parts.len() as u64));
    assert!((30..40).contains(&parts.len()), "{}", parts.len());
    assert!(guest.bytes() < 32 << 20, "{}", guest.bytes());
}

#[test]
fn a_part_is_a_quarter_of_a_small_memory() {
    let pool = pool(u32::MAX, 4 << 20);
    let mut guest = pool.take().unwrap();
    let parts = given(&mut guest, copies(100, 60_000));
    assert_eq!(guest.address("bytes"), Ok(100 * 60_000));
    assert_eq!(parts[0], 0..17, "a mebibyte");
    assert_eq!(parts.len(), 6);
}

#[test]
fn what_a_module_has_no_room_for_is_halved() {
    let pool = pool(100_000, 256 << 20);
    let mut guest = pool.take().unwrap();
    let parts = given(&mut guest, copies(100, 10_000));
    assert_eq!(guest.address("bytes"), Ok(1_000_000));
    assert!(parts.iter().all(|part| part.len() < 10), "{parts:?}");
    // What fits is one call.
    let mut guest = pool.take().unwrap();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "bc"]));
    assert_eq!(given(&mut guest, text), std::slice::from_ref(&(0..2)));
}

#[test]
fn a_row_is_not_cut_and_what_is_refused_is_named() {
    let pool = pool(100_000, 256 << 20);
    let mut guest = pool.take().unwrap();
    let mut lengths = [10_000; 20];
    lengths[13] = 200_000;
    let texts = lengths.iter().map(|len| Some("x".repeat(*len)));
    let text: ArrayRef = Arc::new(texts.collect::<StringArray>());
    let columns = [(ColumnType::Varchar, text)];
    let mut taken = 0;
    let refused = guest.give_parts(20, &columns, &[], |_, part| {
        taken += part.rows.len();
        Ok(())
    });
    let line = refused.unwrap_err().to_string();
    assert!(
        line.starts_with("rows 14 to 14: it has no memory for a batch of 2000"),
        "{line}"
    );
    assert_eq!(taken, 13, "the rows before it");
    // What a call says is passed on: of all rows as it is, of some with these.
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10));
    let refuse = |guest: &mut Guest, columns: &[(ColumnType, ArrayRef)]| {
        let rows = columns[0].1.len();
        let refused = guest.give_parts(rows, columns, &[], |guest, part| {
            guest.status("refuse", part.batch, part.result).map(drop)
        });
        refused.unwrap_err().to_string()
    };
    let small = [(ColumnType::BigInt, numbers)];
    assert_eq!(refuse(&mut guest, &small), "it reports failure -3");
    let large = [(ColumnType::Varchar, copies(100, 10_000))];
    let line = refuse(&mut guest, &large);
    assert!(line.starts_with("rows 1 to "), "{line}");
    assert!(line.ends_with(": it reports failure -3"), "{line}");
    // Columns of another length are refused as they are where nothing is cut.
    let short = [
        (ColumnType::Varchar, copies(100, 10_000)),
        (ColumnType::Varchar, copies(99, 1)),
    ];
    assert!(refuse(&mut guest, &short).contains("99"), "{short:?}");
}
