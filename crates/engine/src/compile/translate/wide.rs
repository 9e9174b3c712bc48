//! Wide arithmetic: 128-bit sums, differences and products of 64-bit halves
//! (proposal wide-arithmetic).

use cranelift_codegen::ir::{InstBuilder, Value, types};
use wasmparser::Operator;

use super::Translator;

impl Translator<'_> {
    /// Translates an instruction on 128-bit integers; `false` when it is not
    /// one.
    pub(super) fn wide(&mut self, op: &Operator<'_>) -> bool {
        match op {
            Operator::I64Add128 => {
                let (x, y) = self.pop2_wide();
                let sum = self.b.ins().iadd(x, y);
                self.push_wide(sum);
            }
            Operator::I64Sub128 => {
                let (x, y) = self.pop2_wide();
                let difference = self.b.ins().isub(x, y);
                self.push_wide(difference);
            }
            Operator::I64MulWideS => {
                let (x, y) = self.pop2();
                let (low, high) = (self.b.ins().imul(x, y), self.b.ins().smulhi(x, y));
                self.push(low);
                self.push(high);
            }
            Operator::I64MulWideU => {
                let (x, y) = self.pop2();
                let (low, high) = self.full_product(x, y);
                self.push(low);
                self.push(high);
            }
            _ => return false,
        }
        true
    }

    /// The low and the high half of the product of two unsigned integers.
    pub(super) fn full_product(&mut self, x: Value, y: Value) -> (Value, Value) {
        if self.env.module.isa.name() != "x64" {
            return (self.b.ins().imul(x, y), self.b.ins().umulhi(x, y));
        }
        // One instruction there makes both, if it is asked for both.
        let x = self.b.ins().uextend(types::I128, x);
        let y = self.b.ins().uextend(types::I128, y);
        let product = self.b.ins().imul(x, y);
        self.b.ins().isplit(product)
    }

    /// Pops two 128-bit integers, each as its low half and its high half.
    fn pop2_wide(&mut self) -> (Value, Value) {
        let (low, high) = self.pop2();
        let y = self.b.ins().iconcat(low, high);
        let (low, high) = self.pop2();
        let x = self.b.ins().iconcat(low, high);
        (x, y)
    }

    fn push_wide(&mut self, value: Value) {
        let (low, high) = self.b.ins().isplit(value);
        self.push(low);
        self.push(high);
    }
}
