//! Instructions that are rarer: calls in the place of a function, atomic accesses, arithmetic on
//! 128 bits.

use super::Ty;
use super::body::Body;

/// What changes memory.
const CHANGES: [&str; 6] = ["add", "sub", "and", "or", "xor", "xchg"];
/// Offsets, of which some are no multiples of what is accessed.
const OFFSETS: [&str; 6] = ["0", "8", "16", "4", "2", "65528"];
/// How many come before an offset that may not be aligned.
const ALIGNED: usize = 3;

impl Body<'_, '_> {
    pub(super) fn rarer(&mut self, base: usize) {
        match self.pick(3) {
            0 => self.return_call(base),
            1 => self.atomic(),
            _ => self.wide(base),
        }
    }

    fn wide(&mut self, base: usize) {
        let (takes, op) = self.one(&[
            (4, "add128"),
            (4, "sub128"),
            (2, "mul_wide_s"),
            (2, "mul_wide_u"),
        ]);
        self.want(&[Ty::I64; 4][..takes], base);
        self.op(takes, &[Ty::I64; 2], &format!("i64.{op}"));
    }

    /// Under a condition; operands that nobody needs then are where they are.
    fn return_call(&mut self, base: usize) {
        let signatures = &self.shape.signatures;
        let own = &signatures[self.func].results;
        let has_same = |at: &usize| signatures[*at].results == *own;
        let callees: Vec<usize> = (0..self.func).filter(has_same).collect();
        if callees.is_empty() {
            return self.wide(base);
        }
        let callee = self.one(&callees);
        self.comparison(self.stack.len());
        self.op(1, &[], "if");
        let kept = self.stack.clone();
        for ty in signatures[callee].params.clone() {
            self.push(ty);
        }
        let text = match (self.pick(2), callee) {
            (0, 0..3) => format!("i32.const {callee} return_call_indirect $t (type $t{callee})"),
            _ => format!("return_call $f{callee}"),
        };
        self.say(&text);
        self.say("end");
        self.stack = kept;
    }

    fn atomic(&mut self) {
        let ty = self.one(&[Ty::I32, Ty::I64]);
        let widths: &[&str] = match ty {
            Ty::I64 => &["", "8", "16", "32"],
            _ => &["", "8", "16"],
        };
        let width = self.one(widths);
        let extended = if width.is_empty() { "" } else { "_u" };
        let memory = self.memory();
        if self.pick(20) == 0 {
            self.say("atomic.fence");
        }
        let (takes, gives, op) = match self.pick(5) {
            0 => (0, 1, format!("load{width}{extended}")),
            1 => (1, 0, format!("store{width}")),
            2 => (2, 1, format!("rmw{width}.cmpxchg{extended}")),
            _ => {
                let change = self.one(&CHANGES);
                (1, 1, format!("rmw{width}.{change}{extended}"))
            }
        };
        self.address(memory);
        let at = self.stack.len();
        for nth in 0..takes {
            match self.pick(4) {
                // What memory often holds.
                0 => self.op(0, &[ty], &format!("{}.const 0", ty.name())),
                1 => {
                    self.binary(at + nth);
                    self.end_with(at + nth, &[ty]);
                }
                _ => self.push(ty),
            }
        }
        let offset = match self.pick(12) {
            0 => self.one(&OFFSETS),
            _ => self.one(&OFFSETS[..ALIGNED]),
        };
        let text = format!("{}.atomic.{op} {memory} offset={offset}", ty.name());
        self.op(takes + 1, &[ty; 1][..gives], &text);
        if self.pick(30) == 0 {
            self.address(memory);
            let text = format!("i32.const 1 memory.atomic.notify {memory}");
            self.op(1, &[Ty::I32], &text);
        }
    }
}
