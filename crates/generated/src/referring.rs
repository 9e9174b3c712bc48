//! Programs that hold references to objects while others are made: in locals, operands, fields,
//! elements, globals and tables, across calls, loops and choices.
//!
//! ```text
//!  seed ─► functions: each calls those behind it, or makes what nobody refers to
//!                     └ objects of the same sizes, full of ones: a freed object is overwritten
//! ```
//!
//! Each program adds up what it finds in its objects. The sum is another one where an object was
//! freed too early, and the same whenever objects are collected.
//!
//! What must stay true: a program ends, for functions call those behind them, and loops count.

use std::fmt::Write as _;

use crate::generate::Below;

/// Functions of a program.
const FUNCTIONS: usize = 3;
/// Locals of each type of references.
const LOCALS: usize = 4;
/// Statements in a row, at most.
const ROW: usize = 7;
/// Blocks in blocks.
const DEPTH: usize = 3;
/// Elements of an array, at most.
const LENGTH: usize = 40;

/// What all programs begin with.
const HEAD: &str = r#"
  (rec
    (type $node (struct (field $n (mut i64)) (field $next (mut (ref null $node)))
      (field $nodes (mut (ref null $nodes)))))
    (type $nodes (array (mut (ref null $node)))))
  (type $longs (array (mut i64)))
  (type $bytes (array (mut i8)))
  (global $kept (mut (ref null $node)) (ref.null $node))
  (table $table 4 (ref null $node))
  (global $turn (mut i32) (i32.const 0))
  (func $waste
    (local $len i32)
    (global.set $turn (i32.add (global.get $turn) (i32.const 1)))
    (local.set $len (i32.rem_u (i32.mul (global.get $turn) (i32.const 7)) (i32.const 41)))
    (drop (struct.new $node (i64.const -1) (ref.null $node) (ref.null $nodes)))
    (drop (array.new $longs (i64.const -1) (local.get $len)))
    (drop (array.new $bytes (i32.const -1) (local.get $len)))
    (drop (array.new $nodes (struct.new $node (i64.const -1) (ref.null $node) (ref.null $nodes))
      (local.get $len))))
  (func $number (param $node (ref null $node)) (result i64)
    (if (result i64) (ref.is_null (local.get $node))
      (then (i64.const 3)) (else (struct.get $node $n (local.get $node)))))
"#;

/// A program as text: it exports functions of a number that give a sum.
pub fn module(below: Below<'_>) -> String {
    let mut text = format!("(module{HEAD}");
    for index in 0..FUNCTIONS {
        let mut body = Body {
            below: &mut *below,
            index,
            text: String::new(),
            loops: 0,
        };
        body.row(DEPTH);
        let (statements, loops) = (body.text, body.loops);
        let _ = write!(
            text,
            "(func $f{index} (export \"f{index}\") (param $p i32) (result i64)\n\
             (local $sum i64) (local $i i32)"
        );
        for at in 0..LOCALS {
            let _ = write!(
                text,
                " (local $r{at} (ref null $node)) (local $a{at} (ref $nodes)) \
                 (local $l{at} (ref $longs))"
            );
        }
        for at in 0..loops {
            let _ = write!(text, " (local $c{at} i32)");
        }
        text.push('\n');
        for at in 0..LOCALS {
            let len = 1 + below(LENGTH);
            let _ = writeln!(
                text,
                "(local.set $l{at} (array.new $longs (i64.const {at}) (i32.const {len})))\n\
                 (local.set $a{at} (array.new_default $nodes (i32.const {len})))"
            );
        }
        text.push_str(&statements);
        text.push_str(&ends());
        text.push_str("(local.get $sum))\n");
    }
    text.push(')');
    text
}

/// What is still referred to in the end is part of the sum.
fn ends() -> String {
    let mut text = String::new();
    for at in 0..LOCALS {
        let _ = writeln!(
            text,
            "{}{}",
            adds(&format!("(call $number (local.get $r{at}))")),
            adds(&format!(
                "(i64.add (array.get $longs (local.get $l{at}) (i32.const 0)) \
                 (call $number (array.get $nodes (local.get $a{at}) (i32.const 0))))"
            ))
        );
    }
    text
}

/// Adds a number to the sum.
fn adds(number: &str) -> String {
    format!("(local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 31)) {number}))\n")
}

/// A function that is being written.
struct Body<'b, 'd> {
    below: &'b mut (dyn FnMut(usize) -> usize + 'd),
    index: usize,
    text: String,
    /// Counters that are taken.
    loops: usize,
}

impl Body<'_, '_> {
    fn local(&mut self, kind: char) -> String {
        format!("${kind}{}", (self.below)(LOCALS))
    }

    /// A number that is true in some calls and turns, and not in others.
    fn condition(&mut self) -> String {
        let bit = 1 << (self.below)(4);
        format!("(i32.and (i32.add (local.get $p) (local.get $i)) (i32.const {bit}))")
    }

    /// An index into an array of this local.
    fn index(&mut self, array: &str) -> String {
        let from = (self.below)(LENGTH);
        format!(
            "(i32.rem_u (i32.add (local.get $i) (i32.const {from})) \
             (array.len (local.get {array})))"
        )
    }

    /// A reference to a node, or null; now and then objects are made meanwhile.
    fn node(&mut self, depth: usize) -> String {
        let of = self.local('r');
        match (self.below)(if depth == 0 { 4 } else { 9 }) {
            0..3 => format!("(local.get {of})"),
            3 => "(global.get $kept)".to_owned(),
            4 => {
                let array = self.local('a');
                let at = self.index(&array);
                format!("(array.get $nodes (local.get {array}) {at})")
            }
            5 => format!("(table.get $table (i32.const {}))", (self.below)(4)),
            6 => {
                let (number, next) = ((self.below)(1000), self.node(depth - 1));
                let array = self.local('a');
                format!("(struct.new $node (i64.const {number}) {next} (local.get {array}))")
            }
            7 => {
                let (one, other) = (self.node(depth - 1), self.node(depth - 1));
                let condition = self.condition();
                format!("(select (result (ref null $node)) {one} {other} {condition})")
            }
            _ => {
                let next = self.node(depth - 1);
                format!(
                    "(block (result (ref null $node)) (block $null (br_on_null $null {next}) \
                     (struct.get $node $next) (br 1)) (ref.null $node))"
                )
            }
        }
    }

    /// Some statements.
    fn row(&mut self, depth: usize) {
        for _ in 0..=(self.below)(ROW) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let (to, array, longs) = (self.local('r'), self.local('a'), self.local('l'));
        let text = match (self.below)(if depth == 0 { 12 } else { 15 }) {
            0 | 1 => "(call $waste)\n".to_owned(),
            2 | 3 => format!("(local.set {to} {})\n", self.node(2)),
            4 => {
                let (number, next) = ((self.below)(1000), self.node(1));
                format!(
                    "(local.set {to} (struct.new $node (i64.const {number}) {next} \
                     (local.get {array})))\n"
                )
            }
            5 => {
                let number = format!("(call $number {})", self.node(2));
                adds(&number)
            }
            6 => {
                let (value, field) = (self.node(1), self.local('r'));
                let of = format!("(local.get {field})");
                format!(
                    "(if (i32.eqz (ref.is_null {of})) (then (struct.set $node $next {of} {value})\n\
                     (struct.set $node $n {of} (i64.add (struct.get $node $n {of}) (i64.const 1)))))\n"
                )
            }
            7 => {
                let at = self.index(&array);
                format!(
                    "(array.set $nodes (local.get {array}) {at} {})\n",
                    self.node(2)
                )
            }
            8 => {
                let len = 1 + (self.below)(LENGTH);
                let made = format!("(array.new $nodes {} (i32.const {len}))", self.node(1));
                format!("(local.set {array} {made})\n")
            }
            9 => {
                let at = self.index(&longs);
                format!(
                    "(array.set $longs (local.get {longs}) {at} (i64.add (i64.const 5) \
                     (array.get $longs (local.get {longs}) {at})))\n{}",
                    adds(&format!("(array.get $longs (local.get {longs}) {at})"))
                )
            }
            10 => match (self.below)(2) {
                0 => format!("(global.set $kept {})\n", self.node(1)),
                _ => {
                    let at = (self.below)(4);
                    format!("(table.set $table (i32.const {at}) {})\n", self.node(1))
                }
            },
            11 if self.index + 1 < FUNCTIONS => {
                let callee = self.index + 1 + (self.below)(FUNCTIONS - self.index - 1);
                adds(&format!(
                    "(call $f{callee} (i32.add (local.get $i) (local.get $p)))"
                ))
            }
            11 => format!("(local.set {array} (local.get {}))\n", self.local('a')),
            12 => {
                let condition = self.condition();
                let then = self.inside(depth);
                let otherwise = self.inside(depth);
                format!("(if {condition} (then {then}) (else {otherwise}))\n")
            }
            _ => self.counted(depth),
        };
        self.text.push_str(&text);
    }

    /// Statements of a block in this one.
    fn inside(&mut self, depth: usize) -> String {
        let outside = std::mem::take(&mut self.text);
        self.row(depth - 1);
        std::mem::replace(&mut self.text, outside)
    }

    /// A loop of some turns.
    fn counted(&mut self, depth: usize) -> String {
        let (counter, turns) = (self.loops, 1 + (self.below)(5));
        self.loops += 1;
        let body = self.inside(depth);
        format!(
            "(local.set $c{counter} (i32.const {turns}))\n(loop $again{counter}\n{body}\
             (local.set $i (i32.add (local.get $i) (i32.const 1)))\n\
             (br_if $again{counter} (local.tee $c{counter} \
             (i32.sub (local.get $c{counter}) (i32.const 1)))))\n"
        )
    }
}
