//! 128-bit integers, and products by halves that are one, or nearly one.

use super::Writer;

impl Writer {
    pub(super) fn wide_arithmetic(&mut self) {
        let [a, b, c, d] = [(); 4].map(|()| self.number64());
        let text = match self.stream.below(3) {
            0 => format!("(i64.add128 {a} {b} {c} {d})"),
            1 => format!("(i64.sub128 {a} {b} {c} {d})"),
            _ => {
                let op = self.one_of(&["mul_wide_s", "mul_wide_u"]);
                format!("(i64.{op} {a} {b})")
            }
        };
        self.line(&format!("{text} (local.set $y) (local.set $x)"));
        self.see("(i64.xor (local.get $x) (i64.rotl (local.get $y) (i64.const 7)))");
    }

    /// The high and the low half of a product by halves of 32 bits, or with one or
    /// two mistakes.
    pub(super) fn nearly_a_product(&mut self) {
        let (x, y) = (self.one_of(&["$q", "$x"]), self.one_of(&["$r", "$q", "$y"]));
        let twice = self.chance(50);
        let exact = self.chance(25);
        let mut mistakes = if exact { 0 } else { 1 + self.stream.below(2) };
        let mut by = |writer: &mut Writer, text: &str, wrong: &[&str]| {
            if mistakes > 0 && writer.chance(15) {
                mistakes -= 1;
                writer.one_of(wrong).to_owned()
            } else {
                text.to_owned()
            }
        };
        let mut half = |writer: &mut Writer, value: &str, high: bool| {
            let value = if value.starts_with('(') {
                value.to_owned()
            } else {
                format!("(local.get {value})")
            };
            match high {
                true => {
                    let distance = by(writer, "32", &["31", "33", "0", "96"]);
                    format!("(i64.shr_u {value} (i64.const {distance}))")
                }
                false => {
                    let mask = by(writer, "0xffffffff", &["0x7fffffff", "0x1ffffffff", "-1"]);
                    format!("(i64.and {value} (i64.const {mask}))")
                }
            }
        };
        let mul = |x: &str, y: &str| format!("(i64.mul {x} {y})");
        let (x0, x1) = (half(self, x, false), half(self, x, true));
        let (y0, y1) = (half(self, y, false), half(self, y, true));
        let lowest = mul(&x0, &y0);
        let (cross, other, highest) = (mul(&x0, &y1), mul(&x1, &y0), mul(&x1, &y1));
        let carry = half(self, &lowest, true);
        let split = match twice {
            true => format!("(i64.add {carry} {cross})"),
            false => other.clone(),
        };
        let (masked, upper) = (half(self, &split, false), half(self, &split, true));
        let mut terms = match twice {
            true => vec![masked, other],
            false => vec![carry, masked, cross],
        };
        if !exact && self.chance(60) {
            let at = self.stream.below(terms.len());
            match self.chance(60) {
                true => terms.push(terms[at].clone()),
                false => drop(terms.remove(at)),
            }
        }
        let middle = self.sum(terms);
        let mut high = vec![highest, upper, half(self, &middle, true)];
        if !exact && self.chance(20) {
            let at = self.stream.below(high.len());
            high.push(high[at].clone());
        }
        let high = self.sum(high);
        let low = half(self, &lowest, false);
        let join = self.one_of(&["or", "add"]);
        self.see(&high);
        self.see(&format!(
            "(i64.{join} (i64.shl {middle} (i64.const 32)) {low})"
        ));
    }

    pub(super) fn sum(&mut self, mut terms: Vec<String>) -> String {
        while terms.len() > 1 {
            let at = self.stream.below(terms.len());
            let left = terms.swap_remove(at);
            let right = terms.remove(0);
            terms.push(format!("(i64.add {left} {right})"));
        }
        terms.pop().unwrap_or_else(|| "(i64.const 0)".to_owned())
    }
}
