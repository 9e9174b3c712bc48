//! Loops over arrays in which objects are made, of which an optimiser keeps addresses and
//! differences of addresses, and no more of the references than it needs.

use super::*;

/// An element type, how it is read, and its number as 32 bits.
const ELEMENTS: [(&str, &str, &str); 4] = [
    ("i8", "array.get_u", ""),
    ("i16", "array.get_s", ""),
    ("i32", "array.get", ""),
    ("i64", "array.get", "i32.wrap_i64"),
];

/// Which element a turn of a loop is at: from the front, from behind, or with a distance.
const PLACES: [&str; 4] = [
    "(local.get $i)",
    "(i32.sub (i32.sub (local.get $len) (local.get $i)) (i32.const 1))",
    "(i32.sub (i32.add (local.get $i) (i32.const 5)) (i32.const 5))",
    "(i32.rem_u (i32.add (local.get $i) (i32.const 3)) (local.get $len))",
];

/// Lengths of the arrays, shortest first: some are among objects of their size, some alone.
const LENGTHS: [i32; 4] = [1, 7, 100, 3_000];

/// A function that fills two arrays, copies from one to the other and adds up, and makes objects in
/// each turn.
fn walk(name: &str, element: (&str, &str, &str), place: &str, ahead: bool) -> String {
    let (ty, get, narrow) = element;
    let wide = if ty == "i64" { "i64.extend_i32_s" } else { "" };
    let of = |text: &str, op: &str| match op {
        "" => text.to_owned(),
        op => format!("({op} {text})"),
    };
    let filled = of("(i32.mul (local.get $i) (i32.const 7))", wide);
    let read = |array: &str| {
        of(
            &format!("({get} ${ty} (local.get {array}) {place})"),
            narrow,
        )
    };
    let (first, second) = (read("$first"), read("$second"));
    let moved = of(&format!("(i32.add {first} (i32.const 1))"), wide);
    let (before, behind) = match ahead {
        true => ("(call $waste)", ""),
        false => ("", "(call $waste)"),
    };
    let again = "(br_if $again (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) \
                 (local.get $len)))";
    format!(
        r#"(func (export "{name}") (param $len i32) (result i32)
        (local $first (ref null ${ty})) (local $second (ref null ${ty})) (local $i i32)
        (local $sum i32)
        (local.set $first (array.new_default ${ty} (local.get $len)))
        (call $waste)
        (local.set $second (array.new_default ${ty} (local.get $len)))
        (loop $again {before}
          (array.set ${ty} (local.get $first) {place} {filled})
          {behind} {again})
        (local.set $i (i32.const 0))
        (loop $again {before}
          (array.set ${ty} (local.get $second) {place} {moved})
          {behind} {again})
        (local.set $i (i32.const 0))
        (loop $again {before}
          (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 3))
            (i32.sub {second} {first})))
          {behind} {again})
        (local.get $sum))"#
    )
}

/// All of them, and one with fields far from the start of what they are in, chosen of two.
fn module() -> (Vec<String>, String) {
    let mut names = Vec::new();
    let mut functions = String::new();
    let mut types = String::new();
    for element in ELEMENTS {
        types.push_str(&format!("(type ${0} (array (mut {0})))", element.0));
        for (at, place) in PLACES.iter().enumerate() {
            for ahead in [false, true] {
                let name = format!("{} {at} {ahead}", element.0);
                functions.push_str(&walk(&name, element, place, ahead));
                names.push(name);
            }
        }
    }
    let fields = "(field (mut i64))".repeat(200);
    let fields = format!("{types} (type $large (struct {fields}))");
    let text = format!(
        r#"(module {fields}
        (global $turn (mut i32) (i32.const 0))
        (func $waste
          (global.set $turn (i32.add (global.get $turn) (i32.const 1)))
          (drop (array.new $i32 (i32.const -1)
            (i32.rem_u (i32.mul (global.get $turn) (i32.const 37)) (i32.const 700))))
          (drop (array.new $i64 (i64.const -1) (i32.const 60))))
        {functions}
        (func (export "chosen") (param $len i32) (result i32)
          (local $one (ref null $large)) (local $other (ref null $large)) (local $it (ref null $large))
          (local.set $one (struct.new_default $large))
          (local.set $other (struct.new_default $large))
          (struct.set $large 199 (local.get $one) (i64.const 5))
          (call $waste)
          (loop $again
            (local.set $it (select (result (ref null $large)) (local.get $one) (local.get $other)
              (i32.and (local.get $len) (i32.const 1))))
            (struct.set $large 198 (local.get $it)
              (i64.add (struct.get $large 198 (local.get $it)) (i64.const 3)))
            (call $waste)
            (struct.set $large 197 (local.get $it)
              (i64.add (struct.get $large 199 (local.get $it)) (i64.const 1)))
            (br_if $again (local.tee $len (i32.sub (local.get $len) (i32.const 1)))))
          (i32.wrap_i64 (i64.add
            (i64.add (struct.get $large 197 (local.get $one))
              (struct.get $large 197 (local.get $other)))
            (i64.add (struct.get $large 198 (local.get $one))
              (struct.get $large 198 (local.get $other)))))))"#
    );
    names.push("chosen".to_owned());
    (names, text)
}

#[test]
fn what_is_left_of_a_reference_keeps_the_object() {
    let (names, text) = module();
    let expected: Vec<Vec<i32>> = {
        let config = Config::new().collector(Collector::Null);
        let engine = Engine::new(&config).unwrap();
        let mut store = Store::new(&engine, ());
        let walks = instance(&engine, &mut store, &text);
        let mut sums = |name: &String| {
            let mut sum = |len| call(&mut store, &walks, name, &[Val::I32(len)]);
            LENGTHS.map(|len| sum(len).unwrap().unwrap_i32()).to_vec()
        };
        names.iter().map(&mut sums).collect()
    };
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let walks = instance(engine, &mut store, &text);
        let lengths = if step == 0 { 3 } else { LENGTHS.len() };
        for (name, expected) in names.iter().zip(&expected) {
            for (len, expected) in LENGTHS.iter().zip(expected).take(lengths) {
                let sum = call(&mut store, &walks, name, &[Val::I32(*len)]).unwrap();
                assert_eq!(sum.unwrap_i32(), *expected, "{name}, {len} elements");
            }
        }
        assert!(store.heap_stats().collections > 0, "{step}");
    });
}
