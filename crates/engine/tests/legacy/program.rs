//! Structured programs with exceptions, each written twice while it is drawn: with those of
//! the older form and with those of the newer.
//!
//! ```text
//!  older                    newer
//!
//!  try                      (block $l                       what `br` leaves
//!    BODY                     (block $c (result … exnref)   one for each clause
//!  catch $t                     (try_table (catch_ref $t $c)
//!    CLAUSE                       (block $d (result exnref)
//!  end                              BODY (br $l))
//!                                 (throw_ref)))             what a `delegate` to it does
//!                             (local.set $e)
//!                             CLAUSE)
//!  rethrow                  (throw_ref (local.get $e))
//!  try BODY delegate        (try_table (catch_all_ref $g) BODY), and br $d of its label
//! ```
//!
//! So an exception that is delegated is thrown again where the label's body ends, by
//! instructions whose meaning the older form has no part in.
//!
//! A body leaves the operands below it as they were. What a construct takes is noted first
//! in its body, what it yields is put last; so all that tells one way through a program
//! from another is in the notes, the steps and the memory.

use std::fmt::Write as _;

/// Functions of a program. All take an `i32` and return one.
pub const FUNCTIONS: usize = 4;

/// Operators of a function at most, and so labels.
const OPERATORS_MAX: usize = 60;

/// What stands in front of the functions. The first two tags are one, imported twice.
const HEAD: &str = r#"(module
  (import "host" "tag" (tag $t0 (param i32)))
  (import "host" "tag" (tag $t1 (param i32)))
  (import "host" "throw" (func $host (param i32)))
  (tag $t2 (export "t2") (param i32))
  (tag $t3 (export "t3"))
  (tag $t4 (export "t4") (param i32 i64))
  (tag $t5 (export "t5") (param i32 i64))
  (memory (export "memory") 1 1)
  (global $seen (export "seen") (mut i32) (i32.const 7))
  (global $steps (export "steps") (mut i32) (i32.const 300))
  (global $random (export "random") (mut i32) (i32.const 0))
  (type $unary (func (param i32) (result i32)))
  (table funcref (elem $f0 $f1 $f2 $f3))
  (func $note (param i32)
    (global.set $seen (i32.add (i32.mul (global.get $seen) (i32.const 31)) (local.get 0))))
  (func $note-long (param i64)
    (global.set $seen (i32.add (i32.mul (global.get $seen) (i32.const 33))
      (i32.wrap_i64 (local.get 0)))))
  (func $chance (param i32) (result i32)
    (global.set $random (i32.add (i32.mul (global.get $random) (i32.const 1103515245))
      (i32.const 12345)))
    (i32.rem_u (i32.shr_u (global.get $random) (i32.const 16)) (local.get 0)))
  (func $tick
    (global.set $steps (i32.sub (global.get $steps) (i32.const 1)))
    (if (i32.lt_s (global.get $steps) (i32.const 0)) (then (unreachable))))
"#;

/// The values of the tags.
const TAGS: [Values; 6] = [
    Values::Int,
    Values::Int,
    Values::Int,
    Values::Nothing,
    Values::IntAndLong,
    Values::IntAndLong,
];

/// Operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Nothing,
    Int,
    IntAndLong,
}

impl Values {
    fn types(self) -> &'static str {
        ["", "i32", "i32 i64"][self as usize]
    }

    fn put(self) -> &'static str {
        [
            "",
            "local.get $x1",
            "local.get $x2 global.get $seen i64.extend_i32_s",
        ][self as usize]
    }

    fn note(self) -> &'static str {
        ["", "call $note", "call $note-long call $note"][self as usize]
    }
}

/// What a construct takes, an `i32` or nothing, and yields.
#[derive(Clone, Copy)]
struct Type {
    takes: bool,
    yields: Values,
}

impl Type {
    fn param(self) -> &'static str {
        if self.takes { "(param i32)" } else { "" }
    }

    fn head(self) -> String {
        format!("{} (result {})", self.param(), self.yields.types())
    }
}

/// What is around an instruction.
#[derive(Clone, Copy)]
struct Label {
    id: usize,
    /// What a branch to it takes.
    carries: Values,
    is_clause: bool,
}

/// Draws programs, and writes them.
struct Writer<'a> {
    numbers: &'a mut dyn FnMut(usize) -> usize,
    older: String,
    newer: String,
    labels: Vec<Label>,
    ids: usize,
    /// Operators that may be drawn yet.
    room: usize,
}

/// A program in the text format, in the older form and in the newer.
pub fn program(numbers: &mut dyn FnMut(usize) -> usize) -> [String; 2] {
    let mut writer = Writer {
        numbers,
        older: HEAD.to_owned(),
        newer: HEAD.to_owned(),
        labels: Vec::new(),
        ids: 0,
        room: 0,
    };
    for index in 0..FUNCTIONS {
        writer.function(index);
    }
    [writer.older + ")", writer.newer + ")"]
}

/// The local of the newer form that has what a construct has caught.
fn caught(id: usize) -> usize {
    3 + id
}

impl Writer<'_> {
    fn draw(&mut self, end: usize) -> usize {
        (self.numbers)(end)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.draw(count) == 0
    }

    fn older(&mut self, line: impl AsRef<str>) {
        writeln!(self.older, "{}", line.as_ref()).unwrap();
    }

    fn newer(&mut self, line: impl AsRef<str>) {
        writeln!(self.newer, "{}", line.as_ref()).unwrap();
    }

    fn put(&mut self, line: impl AsRef<str>) {
        self.older(&line);
        self.newer(&line);
    }

    fn label(&self, depth: usize) -> Label {
        self.labels[self.labels.len() - 1 - depth]
    }

    /// One of those labels of which something holds, by depth, if there are any.
    fn depth(&mut self, holds: impl Fn(Label) -> bool) -> Option<usize> {
        let depths = (0..self.labels.len()).filter(|depth| holds(self.label(*depth)));
        let depths: Vec<usize> = depths.collect();
        (!depths.is_empty()).then(|| depths[self.draw(depths.len())])
    }

    fn any_depth(&mut self) -> usize {
        self.draw(self.labels.len())
    }

    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids - 1
    }

    fn function(&mut self, index: usize) {
        self.room = 10 + self.draw(OPERATORS_MAX - 10);
        self.ids = 0;
        let id = self.id();
        self.put(format!(
            "(func $f{index} (export \"f{index}\") (param $x0 i32) (result i32) (local $x1 i32) (local $x2 i32)"
        ));
        self.newer(format!("(local {})", "exnref ".repeat(OPERATORS_MAX)));
        self.put("(call $tick)");
        self.newer(format!("(block $l{id} (result i32)"));
        let label = Label {
            id,
            carries: Values::Int,
            is_clause: false,
        };
        self.enclosed(label, "", "l", |this| {
            this.body();
            this.put(Values::Int.put());
        });
        self.newer(")");
        self.put(")");
    }

    /// What a label is around. In the newer form its end is left by a branch out of the
    /// construct, and behind it what is delegated to it is thrown.
    fn enclosed(&mut self, label: Label, takes: &str, out: &str, inside: impl FnOnce(&mut Self)) {
        let again = self.labels.len();
        self.newer(format!("block $again{again} {takes} (result exnref)"));
        self.labels.push(label);
        inside(self);
        self.labels.pop();
        self.newer(format!("br ${out}{} end throw_ref", label.id));
    }

    fn body(&mut self) {
        for _ in 0..1 + self.draw(5) {
            if self.room == 0 {
                break;
            }
            self.room -= 1;
            // Behind what leaves, nothing is reached.
            if self.op() && !self.one_in(4) {
                break;
            }
        }
    }

    /// An operator; whether it leaves what it is in.
    fn op(&mut self) -> bool {
        // Exceptions of several clauses, and one of them raised again, are rare by chance.
        let clauses = self.labels.iter().filter(|label| label.is_clause).count();
        let kind = match clauses {
            2.. if self.one_in(2) => 16,
            1.. if self.one_in(3) => 9,
            _ => self.draw(32),
        };
        match kind {
            kind @ 0..=4 => self.seen(kind),
            5 => self.below(),
            kind @ 6..=15 => self.construct(kind),
            kind => return self.leave(kind),
        }
        false
    }

    /// What is seen of a program.
    fn seen(&mut self, kind: usize) {
        let (local, byte, n) = (self.draw(3), self.draw(16), self.draw(99));
        self.put(match kind {
            0 | 1 => format!("(call $note (i32.const {n}))"),
            2 => format!("(call $note (local.get $x{local}))"),
            3 => format!("(local.set $x{local} (i32.const {n}))"),
            _ => format!("(i32.store8 (i32.const {byte}) (i32.const {n}))"),
        });
    }

    /// A value that is below a body while it runs, and noted behind it.
    fn below(&mut self) {
        let (put, note) = [
            ("i32.const 3", "call $note"),
            ("i64.const 4", "call $note-long"),
            ("f64.const 5", "i32.trunc_sat_f64_s call $note"),
            (
                "i64.const 6 i64x2.splat",
                "i64x2.extract_lane 1 call $note-long",
            ),
        ][self.draw(4)];
        self.put(put);
        self.body();
        self.put(note);
    }

    /// What has a body: an operand in front of it where it takes one, and what it yields is
    /// noted.
    fn construct(&mut self, kind: usize) {
        let yields = [
            Values::Nothing,
            Values::Int,
            Values::Int,
            Values::IntAndLong,
        ];
        let ty = Type {
            takes: self.one_in(3),
            yields: yields[self.draw(4)],
        };
        if ty.takes {
            self.put("local.get $x0");
        }
        let label = Label {
            id: self.id(),
            carries: ty.yields,
            is_clause: false,
        };
        match kind {
            6 => self.choice(ty, label),
            7 => {
                self.put(format!("block $l{} {}", label.id, ty.head()));
                self.whole(ty, label, None);
                self.put("end");
            }
            8 => self.repeated(ty, label),
            9..=13 => self.protected(ty, label),
            _ => self.delegated(ty, label),
        }
        self.put(ty.yields.note());
    }

    /// The body of a construct: what it takes is noted, what it yields is put; and one that
    /// gets to its end may throw.
    fn whole(&mut self, ty: Type, label: Label, thrown: Option<usize>) {
        self.enclosed(label, ty.param(), "l", |this| {
            if ty.takes {
                this.put("call $note");
            }
            this.body();
            if let Some(tag) = thrown {
                this.throw(tag);
            }
            this.put(ty.yields.put());
        });
    }

    fn choice(&mut self, ty: Type, label: Label) {
        let (id, head) = (label.id, ty.head());
        self.put(format!("(call $chance (i32.const 2)) if $l{id} {head}"));
        self.whole(ty, label, None);
        self.put("else");
        self.whole(ty, label, None);
        self.put("end");
    }

    /// Its label takes nothing, so its parameter is noted in front of it.
    fn repeated(&mut self, ty: Type, mut label: Label) {
        let (id, results) = (label.id, ty.yields.types());
        label.carries = Values::Nothing;
        if ty.takes {
            self.put("call $note");
        }
        self.newer(format!("block $out{id} (result {results})"));
        self.put(format!("loop $l{id} (result {results}) (call $tick)"));
        self.enclosed(label, "", "out", |this| {
            this.body();
            this.put(ty.yields.put());
        });
        self.put("end");
        self.newer("end");
    }

    /// A `try` with clauses. The values of a tag are what it yields, or are noted.
    fn protected(&mut self, ty: Type, label: Label) {
        let (id, head, param) = (label.id, ty.head(), ty.param());
        let clauses = (0..self.draw(4)).map(|_| Some(self.draw(TAGS.len())));
        let mut clauses: Vec<Option<usize>> = clauses.collect();
        if self.one_in(2) {
            clauses.push(None);
        }
        let values = |tag: Option<usize>| tag.map_or(Values::Nothing, |tag| TAGS[tag]);
        self.older(format!("try {head}"));
        self.newer(format!("block $l{id} {head}"));
        for (i, tag) in clauses.iter().enumerate().rev() {
            let carried = values(*tag).types();
            self.newer(format!(
                "block $c{id}_{i} {param} (result {carried} exnref)"
            ));
        }
        self.newer(format!("try_table {head}"));
        for (i, tag) in clauses.iter().enumerate() {
            self.newer(match tag {
                Some(tag) => format!("(catch_ref $t{tag} $c{id}_{i})"),
                None => format!("(catch_all_ref $c{id}_{i})"),
            });
        }
        let thrown = clauses.first().filter(|_| self.one_in(2));
        self.whole(ty, label, thrown.copied().flatten());
        self.newer(format!("end br $l{id}"));
        for tag in clauses {
            self.older(match tag {
                Some(tag) => format!("catch $t{tag}"),
                None => "catch_all".to_owned(),
            });
            self.newer(format!("end local.set {}", caught(id)));
            self.clause(values(tag), ty.yields, label);
        }
        self.put("end");
    }

    fn clause(&mut self, values: Values, yields: Values, mut label: Label) {
        let keeps = values == yields && !self.one_in(3);
        let takes = match values {
            Values::Nothing => String::new(),
            some => format!("(param {})", some.types()),
        };
        label.is_clause = true;
        self.enclosed(label, &takes, "l", |this| {
            if !keeps {
                this.put(values.note());
            }
            this.body();
            if !keeps {
                this.put(yields.put());
            }
        });
    }

    /// To the label so many levels out of it.
    fn delegated(&mut self, ty: Type, label: Label) {
        let (id, head, param) = (label.id, ty.head(), ty.param());
        self.older(format!("try {head}"));
        self.newer(format!("block $l{id} {head}"));
        self.newer(format!("block $caught{id} {param} (result exnref)"));
        self.newer(format!("try_table {head} (catch_all_ref $caught{id})"));
        self.whole(ty, label, None);
        let depth = self.any_depth();
        let again = self.labels.len() - 1 - depth;
        self.older(format!("delegate {depth}"));
        self.newer(format!("end br $l{id} end br $again{again} end"));
    }

    /// What calls, throws, branches or traps; whether that leaves for sure.
    fn leave(&mut self, kind: usize) -> bool {
        let func = self.draw(FUNCTIONS);
        match kind {
            16 | 17 => return self.rethrow(),
            18..=20 => {
                let tag = self.draw(TAGS.len());
                self.throw(tag);
            }
            21 => self.put("(call $host (local.get $x1))"),
            22..=24 => self.branch(kind),
            25..=27 => self.put(format!("(call $note (call $f{func} (local.get $x1)))")),
            28 => self.put(format!(
                "(call $note (call_indirect (type $unary) (local.get $x2) (i32.const {func})))"
            )),
            29 => self.put(format!("(return_call $f{func} (local.get $x2))")),
            30 => self.put("(return (local.get $x0))"),
            _ => return self.trap(),
        }
        matches!(kind, 18..=20 | 22 | 24 | 29 | 30)
    }

    /// Of one of the clauses around, if there is any.
    fn rethrow(&mut self) -> bool {
        let depth = self.depth(|label| label.is_clause);
        if let Some(depth) = depth {
            let caught = caught(self.label(depth).id);
            self.older(format!("rethrow {depth}"));
            self.newer(format!("(throw_ref (local.get {caught}))"));
        }
        depth.is_some()
    }

    fn throw(&mut self, tag: usize) {
        let n = self.draw(99);
        let int = format!("(i32.add (local.get $x0) (i32.const {n}))");
        match TAGS[tag] {
            Values::Nothing => {}
            Values::Int => self.put(int),
            Values::IntAndLong => self.put(format!("{int} (i64.const -{n})")),
        }
        self.put(format!("throw $t{tag}"));
    }

    fn branch(&mut self, kind: usize) {
        let first = self.any_depth();
        let carries = self.label(first).carries;
        self.put(carries.put());
        match kind {
            22 => self.jump("br", &[first], ""),
            23 => {
                self.jump("br_if", &[first], "(call $chance (i32.const 2))");
                self.put(carries.note());
            }
            _ => {
                // To labels that take the same.
                let more = (0..self.draw(3)).filter_map(|_| self.depth(|to| to.carries == carries));
                let depths: Vec<usize> = std::iter::once(first).chain(more).collect();
                let chance = format!("(call $chance (i32.const {}))", depths.len());
                self.jump("br_table", &depths, &chance);
            }
        }
    }

    /// To labels by their depths in the older form, by their names in the newer.
    fn jump(&mut self, instruction: &str, depths: &[usize], operand: &str) {
        let mut texts = [String::new(), String::new()];
        for depth in depths {
            write!(texts[0], "{depth} ").unwrap();
            write!(texts[1], "$l{} ", self.label(*depth).id).unwrap();
        }
        self.older(format!("({instruction} {}{operand})", texts[0]));
        self.newer(format!("({instruction} {}{operand})", texts[1]));
    }

    fn trap(&mut self) -> bool {
        let kind = self.draw(4);
        self.put(
            [
                "unreachable",
                "(drop (i32.div_u (i32.const 1) (call $chance (i32.const 3))))",
                "(drop (i32.load (i32.mul (call $chance (i32.const 3)) (i32.const 65536))))",
                "(drop (call_indirect (type $unary) (i32.const 1) (call $chance (i32.const 6))))",
            ][kind],
        );
        kind == 0
    }
}
