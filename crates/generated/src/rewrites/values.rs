//! Numbers, conditions and places that are likely to matter.

use super::{LOCALS_32, LOCALS_64, Memory, Writer};

impl Writer {
    /// A number that is inside a page, or from around what checks depend on.
    pub(super) fn interesting(&mut self, wide: bool) -> i64 {
        if self.chance(70) {
            let inside = 8 * self.stream.below(8000) as i64;
            return inside + self.one_of(&[0, 0, 0, 1, 4]);
        }
        let near = self.one_of(&[0, 1 << 16, 1 << 16, 1 << 17, 3 << 16, 1 << 31, 1 << 32]);
        let by = self.one_of(&[-65, -32, -16, -8, -5, -4, -2, -1, 0, 0, 1, 2, 8, 64, 100]);
        let number: i64 = match self.stream.below(12) {
            0 => self.stream.next_u64().cast_signed(),
            1 => i64::MIN.wrapping_add(by),
            2 => i64::MAX - 7,
            _ => near + by,
        };
        match wide {
            true => number,
            false => i64::from(number as i32),
        }
    }

    pub(super) fn local(&mut self, wide: bool) -> &'static str {
        match (wide, self.small) {
            (false, false) => self.one_of(&LOCALS_32),
            (true, false) => self.one_of(&LOCALS_64),
            (false, true) => self.one_of(&["$p", "$p", "$a"]),
            (true, true) => self.one_of(&["$q", "$q", "$x"]),
        }
    }

    pub(super) fn number32(&mut self) -> String {
        let local = self.local(false);
        match self.stream.below(6) {
            0 => format!("(i32.const {})", self.interesting(false)),
            1 => format!("(i32.wrap_i64 (local.get {}))", self.local(true)),
            2 => format!(
                "(i32.add (local.get {local}) (i32.const {}))",
                self.interesting(false)
            ),
            3 => format!(
                "(i32.and (local.get {local}) (i32.const {}))",
                self.one_of(&[7, 255, 65_528])
            ),
            _ => format!("(local.get {local})"),
        }
    }

    pub(super) fn number64(&mut self) -> String {
        let local = self.local(true);
        match self.stream.below(7) {
            0 => format!("(i64.const {})", self.interesting(true)),
            1 => format!("(i64.extend_i32_u (local.get {}))", self.local(false)),
            2 => format!(
                "(i64.add (local.get {local}) (i64.const {}))",
                self.interesting(true)
            ),
            3 => format!(
                "(i64.and (local.get {local}) (i64.const {}))",
                self.one_of(&[7, 255, 65_528])
            ),
            4 => "(global.get $seen)".to_owned(),
            _ => format!("(local.get {local})"),
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let local = self.local(true);
        let bit = self.one_of(&[1, 2, 8, 256]);
        format!("(i32.wrap_i64 (i64.and (local.get {local}) (i64.const {bit})))")
    }

    pub(super) fn memory(&mut self) -> Memory {
        let at = self.one_of(&[0, 0, 1, 1, 2, 3, 4]);
        self.memories[at].clone()
    }

    /// An index that the address is likely to be inside with.
    pub(super) fn index(&mut self, wide: bool) -> String {
        let number = if wide {
            self.number64()
        } else {
            self.number32()
        };
        let ty = if wide { "i64" } else { "i32" };
        match self.chance(92) {
            true => format!(
                "({ty}.and {number} (i{}.const 65535))",
                if wide { 64 } else { 32 }
            ),
            false => number,
        }
    }

    pub(super) fn offset(&mut self) -> u64 {
        match self.chance(96) {
            true => self.one_of(&[0, 0, 0, 0, 1, 2, 8, 16]),
            false => self.one_of(&[4096, 65_528, 0xffff_fff8]),
        }
    }
}
