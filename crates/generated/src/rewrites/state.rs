//! What reads and writes state: memories, tables and globals by all their names,
//! and what traps in between.

use std::fmt::Write as _;

use super::{Memory, Writer};

impl Writer {
    pub(super) fn access(&mut self) {
        let memory = self.memory();
        let index = self.index(memory.wide);
        let offset = self.offset();
        match self.chance(50) {
            true => {
                let value = self.number64();
                let store = self.one_of(&STORES);
                let line = store.line(&memory.name, offset, &index, &value);
                self.line(&line);
            }
            false => {
                let load = self.one_of(&["load", "load32_u", "load16_s", "load8_u", "load8_s"]);
                let name = &memory.name;
                self.see(&format!("(i64.{load} {name} offset={offset} {index})"));
            }
        }
    }

    /// Stores and loads of one place, by one name and by another, with something in
    /// between: what forwarding, and leaving stores out, is about.
    pub(super) fn stores_of_one_place(&mut self) {
        let memory = self.memory();
        let wide = memory.wide;
        let local = self.local(wide);
        let store = self.one_of(&STORES);
        let offset = self.one_of(&[0, 0, 0, 1, 8]);
        let index = format!("(local.get {local})");
        for _ in 0..2 + self.stream.below(4) {
            let other = self.other(&memory);
            let name = if self.chance(60) {
                memory.name.clone()
            } else {
                other
            };
            let value = self.one_of(&[
                "(local.get $q)",
                "(i64.const 1)",
                "(i64.const 2)",
                "(local.get $x)",
            ]);
            let width = if self.small || self.chance(75) {
                let line = store.line(&name, offset, &index, value);
                self.line(&line);
                store.width
            } else {
                self.see(&format!("(i64.load8_u {name} offset={offset} {index})"));
                1
            };
            match self.stream.below(12) {
                0..5 => self.spin(&memory, &index, offset, width),
                5 => self.trap(),
                6 => self.access(),
                7 => self.globals(),
                8 => self.call(),
                9 => self.line("(call $host)"),
                _ => {}
            }
        }
    }

    /// Another name of what may be the same memory.
    pub(super) fn other(&mut self, memory: &Memory) -> String {
        match memory.name.starts_with("$i") {
            true => self.one_of(&["$i0", "$i1", "$i2"]).to_owned(),
            false => memory.name.clone(),
        }
    }

    pub(super) fn globals(&mut self) {
        let (small, wide) = (self.number32(), self.number64());
        let names = self.one_of(&[("$g0", "$g1"), ("$g1", "$g0"), ("$g0", "$g0")]);
        let longs = self.one_of(&[("$h0", "$h1"), ("$h1", "$h0")]);
        let own = self.stream.below(self.own_globals);
        let next = (own + 1) % self.own_globals;
        match self.stream.below(4) {
            0 => {
                self.line(&format!(
                    "(global.set {} {small}) (global.set {} (i32.const 7))",
                    names.0, names.1
                ));
                self.see(&format!("(i64.extend_i32_s (global.get {}))", names.0));
            }
            1 => {
                self.line(&format!(
                    "(global.set {} {wide}) (global.set {} (global.get $seen))",
                    longs.0, longs.1
                ));
                self.line(&format!("(global.set {} {wide})", longs.0));
                self.see(&format!("(global.get {})", longs.1));
            }
            _ => {
                self.line(&format!(
                    "(global.set $o{own} {wide}) (global.set $o{next} (global.get $seen))"
                ));
                self.see(&format!("(global.get $o{own})"));
            }
        }
    }

    pub(super) fn tables(&mut self) {
        let names = self.one_of(&[("$t0", "$t1"), ("$t1", "$t0"), ("$own", "$own")]);
        let at = self.one_of(&[0, 1, 2, 3]);
        let value = self.one_of(&["(ref.func $s2)", "(ref.null func)", "(ref.func $s1)"]);
        self.line(&format!("(table.set {} (i32.const {at}) {value})", names.0));
        let value = self.one_of(&["(ref.func $s2)", "(ref.null func)"]);
        self.line(&format!("(table.set {} (i32.const {at}) {value})", names.1));
        self.see(&format!(
            "(i64.extend_i32_u (ref.is_null (table.get {} (i32.const {at}))))",
            names.0
        ));
        if self.chance(20) {
            self.line(&format!(
                "(drop (table.grow {} (ref.null func) (i32.const 1)))",
                names.1
            ));
            self.see(&format!("(i64.extend_i32_u (table.size {}))", names.0));
        }
    }

    pub(super) fn bulk(&mut self) {
        let memory = self.memory();
        let (ty, name) = (memory.ty(), memory.name.clone());
        let other = self.other(&memory);
        let index = self.index(memory.wide);
        let len = self.one_of(&[0, 1, 16, 300]);
        match self.stream.below(4) {
            0 => self.line(&format!(
                "(memory.fill {name} {index} (i32.const 5) ({ty}.const {len}))"
            )),
            1 => self.line(&format!(
                "(memory.copy {name} {other} {index} ({ty}.const 64) ({ty}.const {len}))"
            )),
            2 => {
                self.line(&format!("(drop (memory.grow {other} ({ty}.const 1)))"));
                let size = format!("(memory.size {name})");
                let size = if memory.wide {
                    size
                } else {
                    format!("(i64.extend_i32_u {size})")
                };
                self.see(&size);
            }
            _ if !memory.wide => self.see(&format!(
                "(i64.atomic.load32_u {name} (i32.and {index} (i32.const -4)))"
            )),
            _ => self.line(&format!(
                "(memory.fill {name} {index} (i32.const 6) ({ty}.const {len}))"
            )),
        }
    }

    /// What traps for some numbers, or always.
    pub(super) fn trap(&mut self) {
        let (x, y) = (self.number64(), self.number64());
        let small = self.number32();
        let condition = self.condition();
        match self.stream.below(6) {
            0 => self.see(&format!(
                "(i64.div_s {x} (i64.sub (i64.and {y} (i64.const 31)) (i64.const 8)))"
            )),
            1 => self.see(&format!("(i64.rem_u {x} (i64.xor {y} (i64.const 77)))")),
            2 => self.line(&format!(
                "(if (i32.gt_u {small} (i32.const 0x7fff0000)) (then (unreachable)))"
            )),
            3 => self.see(&format!(
                "(i64.trunc_f64_s (f64.mul (f64.convert_i64_s {x}) (f64.const 1.5)))"
            )),
            4 => self.line(&format!(
                "(drop (i32.div_u {small} (i32.sub (i32.const 1) {condition})))"
            )),
            _ => {
                let table = self.one_of(&["$t0", "$t1", "$own"]);
                self.line(&format!(
                    "(drop (table.get {table} (i32.and {small} (i32.const 7))))"
                ));
            }
        }
    }
}

/// A way to store a 64-bit number.
#[derive(Clone, Copy)]
pub(super) struct Store {
    text: &'static str,
    pub(super) width: u64,
}

pub(super) const STORES: [Store; 6] = [
    Store {
        text: "(i64.store MEMORY INDEX VALUE)",
        width: 8,
    },
    Store {
        text: "(i64.store MEMORY INDEX VALUE)",
        width: 8,
    },
    Store {
        text: "(i64.store32 MEMORY INDEX VALUE)",
        width: 4,
    },
    Store {
        text: "(i64.store16 MEMORY INDEX VALUE)",
        width: 2,
    },
    Store {
        text: "(i64.store8 MEMORY INDEX VALUE)",
        width: 1,
    },
    Store {
        text: "(v128.store MEMORY INDEX (i64x2.splat VALUE))",
        width: 16,
    },
];

impl Store {
    pub(super) fn line(self, memory: &str, offset: u64, index: &str, value: &str) -> String {
        let mut line = String::new();
        let place = format!("{memory} offset={offset}");
        let _ = write!(line, "{}", self.text.replace("MEMORY", &place));
        line.replace("INDEX", index).replace("VALUE", value)
    }
}
