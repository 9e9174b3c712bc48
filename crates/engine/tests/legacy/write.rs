//! A program in the text format, with exceptions of the older form or of the newer.
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

use std::fmt::Write as _;

use crate::program::{Body, Clause, Op, TAGS, Type, Values};

/// Which exceptions a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Older,
    Newer,
}

/// What stands in front of the functions.
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

/// A label, and where what is delegated to it is thrown again.
struct Label {
    id: usize,
    again: String,
    yields: Values,
    is_loop: bool,
}

/// Writes functions.
struct Writer {
    form: Form,
    text: String,
    labels: Vec<Label>,
    ids: usize,
}

/// The whole module.
pub fn module(bodies: &[Body], form: Form) -> String {
    let mut writer = Writer {
        form,
        text: HEAD.to_owned(),
        labels: Vec::new(),
        ids: 0,
    };
    for (index, body) in bodies.iter().enumerate() {
        writer.function(index, body);
    }
    writer.text + ")"
}

fn values(values: Values) -> &'static str {
    match values {
        Values::None => "",
        Values::Int => "i32",
        Values::IntAndLong => "i32 i64",
    }
}

fn head(ty: Type) -> String {
    let takes = if ty.takes { "(param i32)" } else { "" };
    format!("{takes} (result {})", values(ty.yields))
}

impl Writer {
    fn put(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "{}", line.as_ref()).unwrap();
    }

    fn function(&mut self, index: usize, body: &Body) {
        let id = self.id();
        let before = std::mem::take(&mut self.text);
        self.enclosed(id, Values::Int, "", false, |this| {
            this.body(body);
            this.yields(Values::Int);
        });
        let written = std::mem::replace(&mut self.text, before);
        self.put(format!(
            "(func $f{index} (export \"f{index}\") (param $x0 i32) (result i32) (local $x1 i32) (local $x2 i32)"
        ));
        if self.form == Form::Newer {
            for id in id..self.ids {
                self.put(format!("(local $e{id} exnref)"));
            }
        }
        self.put("(call $tick)");
        match self.form {
            Form::Older => self.put(&written),
            Form::Newer => self.put(format!("(block $l{id} (result i32) {written})")),
        }
        self.put(")");
    }

    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids - 1
    }

    /// What a label is around. In the newer form its end is left by a branch to the label
    /// `id`, and behind it what is delegated to it is thrown.
    fn enclosed(
        &mut self,
        id: usize,
        yields: Values,
        takes: &str,
        is_loop: bool,
        inside: impl FnOnce(&mut Writer),
    ) {
        let again = format!("$again{}", self.labels.len());
        if self.form == Form::Newer {
            self.put(format!("block {again} {takes} (result exnref)"));
        }
        self.labels.push(Label {
            id,
            again,
            yields,
            is_loop,
        });
        inside(self);
        self.labels.pop();
        if self.form == Form::Newer {
            let out = if is_loop { "out" } else { "l" };
            self.put(format!("br ${out}{id} end throw_ref"));
        }
    }

    fn body(&mut self, ops: &[Op]) {
        for op in ops {
            self.op(op);
        }
    }

    /// The body of a construct: what it takes is noted, what it yields is put.
    fn whole(&mut self, ty: Type, body: &Body) {
        if ty.takes {
            self.put("call $note");
        }
        self.body(body);
        self.yields(ty.yields);
    }

    fn yields(&mut self, of: Values) {
        match of {
            Values::None => {}
            Values::Int => self.put("local.get $x1"),
            Values::IntAndLong => self.put("local.get $x2 global.get $seen i64.extend_i32_s"),
        }
    }

    fn note(&mut self, of: Values) {
        match of {
            Values::None => {}
            Values::Int => self.put("call $note"),
            Values::IntAndLong => self.put("call $note-long call $note"),
        }
    }

    /// In front of what takes an operand, and behind what yields.
    fn construct(&mut self, ty: Type, write: impl FnOnce(&mut Writer)) {
        if ty.takes {
            self.put("local.get $x0");
        }
        write(self);
        self.note(ty.yields);
    }

    fn label(&self, depth: usize) -> &Label {
        &self.labels[self.labels.len() - 1 - depth]
    }

    /// A label by its depth in the older form, by its name in the newer.
    fn target(&self, depth: usize) -> String {
        match self.form {
            Form::Older => depth.to_string(),
            Form::Newer => format!("$l{}", self.label(depth).id),
        }
    }

    /// Operands for a branch.
    fn carried(&mut self, depth: usize) {
        let label = self.label(depth);
        if !label.is_loop {
            self.yields(label.yields);
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Note(n) => self.put(format!("(call $note (i32.const {n}))")),
            Op::NoteLocal(n) => self.put(format!("(call $note (local.get $x{n}))")),
            Op::Set(local, n) => self.put(format!("(local.set $x{local} (i32.const {n}))")),
            Op::Store(at, n) => self.put(format!("(i32.store8 (i32.const {at}) (i32.const {n}))")),
            Op::Below(kind, body) => self.below(*kind, body),
            Op::If(ty, yes, no) => self.choice(*ty, yes, no),
            Op::Block(ty, body) => self.block(*ty, body),
            Op::Loop(ty, body) => self.repeated(*ty, body),
            Op::Try {
                ty,
                body,
                clauses,
                all,
            } => self.construct(*ty, |this| match this.form {
                Form::Older => this.older_try(*ty, body, clauses, all.as_ref()),
                Form::Newer => this.newer_try(*ty, body, clauses, all.as_ref()),
            }),
            Op::Delegate(ty, body, depth) => {
                self.construct(*ty, |this| this.delegate(*ty, body, *depth));
            }
            Op::Rethrow(depth) => match self.form {
                Form::Older => self.put(format!("rethrow {depth}")),
                Form::Newer => {
                    let id = self.label(*depth).id;
                    self.put(format!("(throw_ref (local.get $e{id}))"));
                }
            },
            _ => self.leave(op),
        }
    }

    /// What calls, throws, branches or traps.
    fn leave(&mut self, op: &Op) {
        match op {
            Op::Throw(tag, n) => {
                if TAGS[*tag] != Values::None {
                    self.put(format!("(i32.add (local.get $x0) (i32.const {n}))"));
                }
                if TAGS[*tag] == Values::IntAndLong {
                    self.put(format!("(i64.const -{n})"));
                }
                self.put(format!("throw $t{tag}"));
            }
            Op::HostThrow => self.put("(call $host (local.get $x1))"),
            Op::Br(depth) => {
                self.carried(*depth);
                self.put(format!("br {}", self.target(*depth)));
            }
            Op::BrIf(depth) => {
                self.carried(*depth);
                let label = self.label(*depth);
                let carried = if label.is_loop {
                    Values::None
                } else {
                    label.yields
                };
                let target = self.target(*depth);
                self.put(format!("(br_if {target} (call $chance (i32.const 2)))"));
                self.note(carried);
            }
            Op::BrTable(depths) => {
                self.carried(depths[0]);
                let targets: Vec<String> = depths.iter().map(|depth| self.target(*depth)).collect();
                let count = depths.len();
                self.put(format!(
                    "(br_table {} (call $chance (i32.const {count})))",
                    targets.join(" ")
                ));
            }
            Op::Call(func) => {
                self.put(format!("(call $note (call $f{func} (local.get $x1)))"));
            }
            Op::CallIndirect(func) => self.put(format!(
                "(call $note (call_indirect (type $unary) (local.get $x2) (i32.const {func})))"
            )),
            Op::TailCall(func) => self.put(format!("(return_call $f{func} (local.get $x2))")),
            Op::Return => self.put("(return (local.get $x0))"),
            Op::Trap(0) => self.put("unreachable"),
            Op::Trap(1) => {
                self.put("(drop (i32.div_u (i32.const 1) (call $chance (i32.const 3))))")
            }
            Op::Trap(2) => self
                .put("(drop (i32.load (i32.mul (call $chance (i32.const 3)) (i32.const 65536))))"),
            Op::Trap(_) => self.put(
                "(drop (call_indirect (type $unary) (i32.const 1) (call $chance (i32.const 6))))",
            ),
            _ => unreachable!("{op:?} encloses something"),
        }
    }

    fn below(&mut self, kind: usize, body: &Body) {
        let (put, note) = [
            ("i32.const 3", "call $note"),
            ("i64.const 4", "call $note-long"),
            ("f64.const 5", "i32.trunc_sat_f64_s call $note"),
            (
                "i64.const 6 i64x2.splat",
                "i64x2.extract_lane 1 call $note-long",
            ),
        ][kind];
        self.put(put);
        self.body(body);
        self.put(note);
    }

    fn choice(&mut self, ty: Type, yes: &Body, no: &Body) {
        let id = self.id();
        self.construct(ty, |this| {
            let takes = if ty.takes { "(param i32)" } else { "" };
            this.put(format!(
                "(call $chance (i32.const 2)) if $l{id} {}",
                head(ty)
            ));
            for (i, body) in [yes, no].into_iter().enumerate() {
                if i == 1 {
                    this.put("else");
                }
                this.enclosed(id, ty.yields, takes, false, |this| {
                    this.whole(ty, body);
                });
            }
            this.put("end");
        });
    }

    fn block(&mut self, ty: Type, body: &Body) {
        let id = self.id();
        self.construct(ty, |this| {
            let takes = if ty.takes { "(param i32)" } else { "" };
            this.put(format!("block $l{id} {}", head(ty)));
            this.enclosed(id, ty.yields, takes, false, |this| {
                this.whole(ty, body);
            });
            this.put("end");
        });
    }

    /// Its label takes nothing, so its parameter is noted in front of it.
    fn repeated(&mut self, ty: Type, body: &Body) {
        let id = self.id();
        let results = values(ty.yields);
        self.construct(ty, |this| {
            if ty.takes {
                this.put("call $note");
            }
            if this.form == Form::Newer {
                this.put(format!("block $out{id} (result {results})"));
            }
            this.put(format!("loop $l{id} (result {results}) (call $tick)"));
            this.enclosed(id, ty.yields, "", true, |this| {
                this.body(body);
                this.yields(ty.yields);
            });
            this.put("end");
            if this.form == Form::Newer {
                this.put("end");
            }
        });
    }

    fn older_try(&mut self, ty: Type, body: &Body, clauses: &[Clause], all: Option<&Body>) {
        let id = self.id();
        self.put(format!("try {}", head(ty)));
        self.enclosed(id, ty.yields, "", false, |this| this.whole(ty, body));
        for clause in clauses {
            self.put(format!("catch $t{}", clause.tag));
            self.clause(id, ty, clause);
        }
        if let Some(all) = all {
            self.put("catch_all");
            self.last_clause(id, ty, all);
        }
        self.put("end");
    }

    fn newer_try(&mut self, ty: Type, body: &Body, clauses: &[Clause], all: Option<&Body>) {
        let id = self.id();
        let takes = if ty.takes { "(param i32)" } else { "" };
        self.put(format!("block $l{id} {}", head(ty)));
        let mut catches = String::new();
        if all.is_some() {
            self.put(format!("block $all{id} {takes} (result exnref)"));
        }
        for (i, clause) in clauses.iter().enumerate() {
            write!(catches, "(catch_ref $t{} $c{id}_{i})", clause.tag).unwrap();
        }
        for (i, clause) in clauses.iter().enumerate().rev() {
            let carried = values(TAGS[clause.tag]);
            self.put(format!(
                "block $c{id}_{i} {takes} (result {carried} exnref)"
            ));
        }
        if all.is_some() {
            write!(catches, "(catch_all_ref $all{id})").unwrap();
        }
        self.put(format!("try_table {} {catches}", head(ty)));
        self.enclosed(id, ty.yields, takes, false, |this| this.whole(ty, body));
        self.put(format!("end br $l{id}"));
        for clause in clauses {
            self.put(format!("end local.set $e{id}"));
            self.clause(id, ty, clause);
        }
        if let Some(all) = all {
            self.put(format!("end local.set $e{id}"));
            self.last_clause(id, ty, all);
        }
        self.put("end");
    }

    fn clause(&mut self, id: usize, ty: Type, clause: &Clause) {
        let kept = TAGS[clause.tag];
        let takes = match kept {
            Values::None => String::new(),
            some => format!("(param {})", values(some)),
        };
        self.enclosed(id, ty.yields, &takes, false, |this| {
            if !clause.keeps {
                this.note(kept);
            }
            this.body(&clause.body);
            if !clause.keeps {
                this.yields(ty.yields);
            }
        });
    }

    fn last_clause(&mut self, id: usize, ty: Type, body: &Body) {
        self.enclosed(id, ty.yields, "", false, |this| {
            this.body(body);
            this.yields(ty.yields);
        });
    }

    fn delegate(&mut self, ty: Type, body: &Body, depth: usize) {
        let id = self.id();
        let takes = if ty.takes { "(param i32)" } else { "" };
        let inside = |this: &mut Writer| this.whole(ty, body);
        if self.form == Form::Older {
            self.put(format!("try {}", head(ty)));
            self.enclosed(id, ty.yields, takes, false, inside);
            self.put(format!("delegate {depth}"));
            return;
        }
        let again = self.label(depth).again.clone();
        self.put(format!("block $l{id} {}", head(ty)));
        self.put(format!("block $caught{id} {takes} (result exnref)"));
        self.put(format!(
            "try_table {} (catch_all_ref $caught{id})",
            head(ty)
        ));
        self.enclosed(id, ty.yields, takes, false, inside);
        self.put(format!("end br $l{id} end br {again} end"));
    }
}
