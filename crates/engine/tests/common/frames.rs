//! Functions with frames of every shape, and a module that runs one on the stack of a
//! continuation. Taken by a test inside the crate, which moves the stack's end byte by byte,
//! and by a fuzz target.

use std::fmt::Write as _;

/// What a function has in its frame while it calls the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing; it calls nobody.
    Leaf,
    /// So many values of a type, loaded before and used after.
    Live(&'static str, usize),
    /// A loop that is made of vectors of 32 bytes, with so many constants.
    Wide(usize),
    /// So many arguments, of all types, for a function in between.
    Arguments(usize),
    /// So many results of a function in between.
    Results(usize),
    /// A tail call with so many arguments of a function with one.
    Tail(usize),
    /// A handler of exceptions, and one that is thrown below it.
    Caught,
    /// A function of the host.
    Host,
    /// Functions of the runtime.
    Runtime,
    /// A table of jumps to so many places.
    Table(usize),
    /// Another continuation.
    Nested,
    /// A loop that so many values are used in, and that calls.
    Loop(usize),
}

use Kind::*;

/// Every shape once, by name: chains of functions, each of which calls the next.
pub const SHAPES: [(&str, &[Kind]); 26] = [
    ("no frame", &[Leaf]),
    ("a call", &[Live("i64", 1), Leaf]),
    ("saved registers", &[Live("i64", 5), Leaf]),
    ("general spills", &[Live("i64", 40), Leaf]),
    ("float spills", &[Live("f64", 24), Leaf]),
    ("single float spills", &[Live("f32", 23), Leaf]),
    ("16-byte spills", &[Live("v128", 24), Leaf]),
    ("32-byte spills", &[Wide(26)]),
    ("more 32-byte spills", &[Wide(40)]),
    ("32-byte spills below calls", &[Live("i64", 3), Wide(26)]),
    ("32-byte spills below others", &[Live("v128", 9), Wide(30)]),
    ("large frame", &[Live("i64", 150), Leaf]),
    ("larger frame", &[Live("v128", 300), Leaf]),
    ("some arguments", &[Arguments(9), Leaf]),
    ("many arguments", &[Arguments(50), Leaf]),
    ("some results", &[Results(3), Leaf]),
    ("many results", &[Results(20), Leaf]),
    ("tail call", &[Tail(30), Live("i64", 20), Leaf]),
    ("tail call to 32-byte spills", &[Tail(4), Wide(26)]),
    ("exceptions", &[Caught, Live("f64", 20), Leaf]),
    ("function of the host", &[Live("i64", 7), Host]),
    ("functions of the runtime", &[Live("v128", 5), Runtime]),
    ("table of jumps", &[Table(9), Live("i64", 18), Leaf]),
    ("another continuation", &[Live("i64", 6), Nested, Wide(26)]),
    ("loop", &[Loop(2)]),
    (
        "loops that call",
        &[Loop(20), Live("f64", 9), Loop(3), Host],
    ),
];

/// Types in turn.
const TYPES: [&str; 5] = ["i64", "f64", "i32", "v128", "f32"];
/// Where numbers stand in memory, and how many bytes of them.
const NUMBERS_AT: usize = 1024;
const NUMBERS_BYTES: usize = 3000;

/// What the runtime does.
const FILL: &str = "(memory.fill (i32.const 60000) (i32.const 1) (i32.const 99))";
const GROW: &str = "(memory.grow (i32.const 0))";

/// Where the element of an array is.
fn element(base: &str) -> String {
    format!("(i32.add (local.get {base}) (i32.shl (local.get $i) (i32.const 2)))")
}

/// The type of the i-th of many values.
fn ty(i: usize) -> &'static str {
    TYPES[i % TYPES.len()]
}

/// The i-th value, loaded.
fn load(ty: &str, i: usize) -> String {
    let at = NUMBERS_AT + 8 * (i * 7 % (NUMBERS_BYTES / 8 - 2));
    format!("({ty}.load offset={at} (i32.const 0))")
}

/// Adds a value to the sum `$r`, so that its place in the row counts.
fn add(ty: &str, value: &str) -> String {
    let bits = match ty {
        "i32" => format!("(i64.extend_i32_u {value})"),
        "f64" => format!("(i64.reinterpret_f64 {value})"),
        "f32" => format!("(i64.extend_i32_u (i32.reinterpret_f32 {value}))"),
        "v128" => format!("(i64x2.extract_lane 1 {value})"),
        _ => value.to_owned(),
    };
    format!("(local.set $r (i64.add (i64.mul (local.get $r) (i64.const 31)) {bits}))\n")
}

/// Locals of many values, and what loads them.
fn loaded(count: usize, ty: impl Fn(usize) -> &'static str) -> (String, String) {
    let mut both = (String::new(), String::new());
    for i in 0..count {
        let _ = write!(both.0, "(local $v{i} {})", ty(i));
        let _ = writeln!(both.1, "(local.set $v{i} {})", load(ty(i), i));
    }
    both
}

/// Adds them all, the last first.
fn added(count: usize, ty: impl Fn(usize) -> &'static str) -> String {
    let add = |i| add(ty(i), &format!("(local.get $v{i})"));
    (0..count).rev().map(add).collect()
}

/// Functions of a module, of which each calls the next.
pub fn functions(name: &str, chain: &[Kind]) -> String {
    let mut text = String::new();
    for (level, kind) in chain.iter().enumerate() {
        let this = match level {
            0 => name.to_owned(),
            _ => format!("{name}-{level}"),
        };
        let next = match level + 1 < chain.len() {
            true => format!("(call ${name}-{})", level + 1),
            false => load("i64", 3),
        };
        text.push_str(&function(&this, *kind, &next));
    }
    text
}

fn function(name: &str, kind: Kind, next: &str) -> String {
    let head = format!("(func ${name} (type $f) (local $r i64)");
    match kind {
        Leaf => format!("{head} (i64.add (i64.const 5) {next}))\n"),
        Live(ty, count) => {
            let (locals, loads) = loaded(count, |_| ty);
            let sum = added(count, |_| ty);
            format!("{head} {locals}\n{loads}(local.set $r {next})\n{sum}(local.get $r))\n")
        }
        Wide(count) => wide(name, count, &head),
        Arguments(count) => {
            let (function, args) = many(name, count, next);
            format!("{function} {head} (i64.sub (call ${name}-many {args}) (i64.const 1)))\n")
        }
        Results(count) => {
            let results: String = (0..count).map(|i| format!(" {}", ty(i))).collect();
            let values: String = (0..count).map(|i| load(ty(i), i)).collect();
            let (locals, _) = loaded(count, ty);
            let sets: String = (0..count)
                .rev()
                .map(|i| format!("(local.set $v{i})"))
                .collect();
            let sum = added(count, ty);
            format!(
                "(func ${name}-many (result{results}) (drop {next}) {values})
                 {head} {locals} (call ${name}-many) {sets}\n{sum}(local.get $r))\n"
            )
        }
        Tail(count) => {
            let (function, args) = many(name, count, next);
            format!(
                "{function}
                 (func ${name}-one (param $one i64) (result i64) (return_call ${name}-many {args}))
                 {head} (i64.sub (call ${name}-one (i64.const 4)) (i64.const 1)))\n"
            )
        }
        Caught => format!(
            "(func ${name}-throws (result i64) (throw $x {next}))
             {head} (block $h (result i64)
               (try_table (catch $x $h) (return (call ${name}-throws))) (unreachable)))\n"
        ),
        Host => format!("{head} (i64.add (call $host (i64.const 9)) {next}))\n"),
        Runtime => format!(
            "{head} {FILL} (local.set $r {next})
               {}(local.get $r))\n",
            add("i32", GROW)
        ),
        Table(count) => table(&head, count, next),
        Loop(count) => turning(&head, count, next),
        Nested => format!(
            "(func ${name}-inner (type $f) (suspend $y) {next})
             (elem declare func ${name}-inner)
             {head} (local $k (ref null $k))
               (block $h (result (ref $k))
                 (return (resume $k (on $y $h) (cont.new $k (ref.func ${name}-inner)))))
               (local.set $k)
               (resume $k (local.get $k)))\n"
        ),
    }
}

/// A function of so many parameters, and arguments for it.
fn many(name: &str, count: usize, next: &str) -> (String, String) {
    let params: String = (0..count)
        .map(|i| format!("(param $v{i} {})", ty(i)))
        .collect();
    let args: String = (0..count).map(|i| load(ty(i), i)).collect();
    let sum = added(count, ty);
    let function = format!(
        "(func ${name}-many {params} (result i64) (local $r i64)
           (local.set $r {next})\n{sum}(local.get $r))"
    );
    (function, args)
}

/// A function of a loop over two arrays, which LLVM makes vectors of; polynomials keep the
/// constants alive.
fn wide(name: &str, count: usize, head: &str) -> String {
    let (locals, loads) = loaded(count, |_| "f32");
    let mut value = format!("(f32.load {})", element("$b"));
    for i in 0..count {
        let other = (i * 7 + 3) % count;
        value = format!("(f32.add (f32.mul {value} (local.get $v{i})) (local.get $v{other}))");
    }
    let store = format!("(f32.store {} {value})", element("$a"));
    format!(
        "(func ${name}-loop (param $a i32) (param $b i32) (param $n i32) (result i32)
           (local $i i32) {locals}\n{loads}
           (loop {store}
             (br_if 0 (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
                                (local.get $n))))
           (local.get $i))
         {head}
           (local.set $r (i64.extend_i32_u
             (call ${name}-loop (i32.const 4096) (i32.const 8192) (i32.const 64))))
           {}(local.get $r))\n",
        add("i64", "(i64.load offset=4200 (i32.const 0))"),
    )
}

/// A function that jumps by a table, depending on what the memory has, with values of each
/// place.
fn table(head: &str, count: usize, next: &str) -> String {
    let labels: String = (0..count).map(|i| format!(" $l{i}")).collect();
    let blocks: String = (0..count).rev().map(|i| format!("(block $l{i} ")).collect();
    let (locals, loads) = loaded(count, |_| "i64");
    let mut text = format!(
        "{head} {locals}\n{loads}(local.set $r {next})\n{blocks}
           (br_table{labels} (i32.load offset=1048 (i32.const 0))))\n"
    );
    for i in 0..count {
        text.push_str(&add("i64", &format!("(local.get $v{i})")));
        let end = if i + 1 < count { ")" } else { "" };
        let _ = writeln!(text, "{}{end}", add("i64", &format!("(i64.const {i})")));
    }
    text + "(local.get $r))\n"
}

/// A loop in which so many values are used, and a call is made.
fn turning(head: &str, count: usize, next: &str) -> String {
    let (locals, loads) = loaded(count, |_| "i64");
    let sum = added(count, |_| "i64");
    format!(
        "{head} (local $i i32) {locals}\n{loads}
         (loop $turn
           (local.set $r (i64.xor (local.get $r) {next}))
           {sum}(local.set $i (i32.add (local.get $i) (i32.const 1)))
           (br_if $turn (i32.lt_u (local.get $i) (i32.const 3))))
         (local.get $r))\n"
    )
}

/// A module of functions that are called on a continuation's stack: `begin` has one begin and
/// suspend itself, and `go` has it call the function and returns what that returns.
/// `neighbour` begins one that has values on its stack, and `look` has it add them.
pub fn module(names: &[String], functions: &str) -> String {
    let mut text = format!(
        "(module
           (type $f (func (result i64))) (type $k (cont $f))
           (import \"host\" \"count\" (func $host (param i64) (result i64)))
           (memory (export \"memory\") 1 1) (tag $y) (tag $x (param i64))
           (table $t (export \"kept\") 2 2 (ref null $k))
           {functions}\n"
    );
    for name in names {
        let _ = write!(
            text,
            "(func $body-{name} (type $f) (suspend $y) (call ${name}))
             (elem declare func $body-{name})
             (func (export \"begin-{name}\") (result (ref null $k))
               (block $h (result (ref $k))
                 (drop (resume $k (on $y $h) (cont.new $k (ref.func $body-{name}))))
                 (unreachable)))
             (func (export \"call-{name}\") (result i64) (call ${name}))\n"
        );
    }
    text.push_str(
        "(func (export \"go\") (param (ref null $k)) (result i64) (resume $k (local.get 0)))\n",
    );
    // Numbers that are none of the special values of floats.
    let number = |i: usize| (i as u32).wrapping_mul(2_654_435_761).to_le_bytes();
    let bytes = (0..NUMBERS_BYTES / 4).flat_map(|i| {
        let [a, b, c, _] = number(i + 1);
        [a, b, c, 0x3e]
    });
    let bytes: String = bytes.map(|byte| format!("\\{byte:02x}")).collect();
    let _ = write!(text, "(data (i32.const {NUMBERS_AT}) \"{bytes}\"))");
    text
}

/// The module with a memory of 64 bits, whose functions do the same.
pub fn of_64_bits(module: &str) -> String {
    let mut text = String::new();
    for (i, piece) in module.split("offset=").enumerate() {
        match piece.split_once(" (i32.const 0)").filter(|_| i > 0) {
            Some((offset, rest)) if offset.bytes().all(|byte| byte.is_ascii_digit()) => {
                let _ = write!(text, "offset={offset} (i64.const 0){rest}");
            }
            _ => text.push_str(piece),
        }
    }
    for base in ["$a", "$b"] {
        let address = element(base);
        text = text.replace(&address, &format!("(i64.extend_i32_u {address})"));
    }
    let others = [
        (
            "(memory (export \"memory\") ",
            "(memory (export \"memory\") i64 ",
        ),
        ("(data (i32.const ", "(data (i64.const "),
        (
            FILL,
            "(memory.fill (i64.const 60000) (i32.const 1) (i64.const 99))",
        ),
        (GROW, "(i32.wrap_i64 (memory.grow (i64.const 0)))"),
    ];
    for (narrow, wide) in others {
        text = text.replace(narrow, wide);
    }
    text
}
