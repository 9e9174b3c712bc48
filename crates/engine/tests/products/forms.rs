//! Products of 64-bit integers, written by halves in each of three forms.

pub const LOW: u64 = 0xffff_ffff;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Shl,
    Shr,
    /// 1 where it is, else 0.
    Less,
    Greater,
    LessOrEqual,
    LessSigned,
}

pub const OPS: [Op; 11] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::And,
    Op::Or,
    Op::Shl,
    Op::Shr,
    Op::Less,
    Op::Greater,
    Op::LessOrEqual,
    Op::LessSigned,
];
pub const COMPARISONS: [Op; 4] = [Op::Less, Op::Greater, Op::LessOrEqual, Op::LessSigned];

impl Op {
    pub fn name(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::And => "and",
            Op::Or => "or",
            Op::Shl => "shl",
            Op::Shr => "shr_u",
            Op::Less => "lt_u",
            Op::Greater => "gt_u",
            Op::LessOrEqual => "le_u",
            Op::LessSigned => "lt_s",
        }
    }

    pub fn apply(self, x: u64, y: u64) -> u64 {
        match self {
            Op::Add => x.wrapping_add(y),
            Op::Sub => x.wrapping_sub(y),
            Op::Mul => x.wrapping_mul(y),
            Op::And => x & y,
            Op::Or => x | y,
            Op::Shl => x.wrapping_shl(y as u32),
            Op::Shr => x.wrapping_shr(y as u32),
            Op::Less => u64::from(x < y),
            Op::Greater => u64::from(x > y),
            Op::LessOrEqual => u64::from(x <= y),
            Op::LessSigned => u64::from(x.cast_signed() < y.cast_signed()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A factor, or the result of an instruction, by position; the factors are the
    /// first two.
    Local(usize),
    Const(u64),
}

pub type Program = Vec<(Op, Operand, Operand)>;

/// What a program computes on the way, in the order in which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    X,
    Y,
    X0,
    X1,
    Y0,
    Y1,
    /// `x0·y0`, and its upper half.
    Lowest,
    Carry,
    /// `x0·y1`, `x1·y0` and `x1·y1`.
    Cross,
    Split,
    Highest,
    /// The sum that is split, where the middle is carried twice.
    T,
    Masked,
    SplitHigh,
    Middle,
    MiddleHigh,
    /// Of the third form: `m << 32`, the low half, `c`, `c << 32`, what it is joined
    /// to, and `k`.
    Upper,
    Low,
    Over,
    OverUp,
    Joined,
    Wrapped,
}

/// How the carries are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The middle is carried twice, or once.
    Twice,
    Once,
    /// Sums are compared with a term.
    Compared,
}

pub const WAYS: [Way; 3] = [Way::Twice, Way::Once, Way::Compared];

/// How the terms of a sum are added up.
#[derive(Clone, Copy, Debug)]
pub enum Fold {
    Left,
    Right,
    Pairs,
}

pub const FOLDS: [Fold; 3] = [Fold::Left, Fold::Right, Fold::Pairs];

/// A product, by the terms of its sums.
#[derive(Clone, Debug)]
pub struct Form {
    pub way: Way,
    /// Those of `t`, or of the low half; of the middle; and of the high half.
    pub sums: [Vec<Node>; 3],
    pub fold: Fold,
    /// Whether the bits of the low half are joined by `or`, not added; of the third
    /// form, whether comparisons are the other way round.
    pub or: bool,
    /// Of the third form, whether sums are compared with the other of their terms.
    pub other: bool,
}

impl Form {
    pub fn exact(way: Way) -> Form {
        use Node::*;
        let (first, middle) = match way {
            Way::Twice => (vec![Carry, Cross], vec![Masked, Split]),
            Way::Once => (vec![Carry, Cross], vec![Carry, Masked, Cross]),
            Way::Compared => (vec![Lowest, Upper], vec![Split, Cross]),
        };
        let high = match way {
            Way::Compared => vec![Highest, Joined, Wrapped],
            _ => vec![Highest, SplitHigh, MiddleHigh],
        };
        Form {
            way,
            sums: [first, middle, high],
            fold: Fold::Left,
            or: true,
            other: false,
        }
    }

    /// What can stand in a sum: the nodes that are computed before it.
    pub fn nodes(&self, sum: usize) -> &'static [Node] {
        use Node::*;
        const SHIFTED: [Node; 15] = [
            X, Y, X0, X1, Y0, Y1, Lowest, Carry, Cross, Split, Highest, T, Masked, SplitHigh,
            Middle,
        ];
        const COMPARED: [Node; 17] = [
            X, Y, X0, X1, Y0, Y1, Lowest, Cross, Split, Highest, Middle, Upper, Low, Over, OverUp,
            MiddleHigh, Wrapped,
        ];
        match (self.way, sum) {
            (Way::Compared, 0) => &COMPARED[..12],
            (Way::Compared, 1) => &COMPARED[..10],
            (Way::Compared, _) => &COMPARED,
            (_, 0) => &SHIFTED[..11],
            (_, 1) => &SHIFTED[..14],
            (_, _) => &SHIFTED,
        }
    }

    /// The last two results are the halves of the product.
    pub fn program(&self) -> Program {
        use Node::*;
        use Operand::{Const, Local};
        let mut writer = Writer {
            at: vec![(X, 0), (Y, 1)],
            program: Vec::new(),
        };
        for (node, op, x, by) in [
            (X0, Op::And, X, LOW),
            (X1, Op::Shr, X, 32),
            (Y0, Op::And, Y, LOW),
            (Y1, Op::Shr, Y, 32),
        ] {
            writer.write(node, op, x, Const(by));
        }
        writer.multiply(Lowest, X0, Y0);
        writer.multiply(Cross, X0, Y1);
        writer.multiply(Split, X1, Y0);
        writer.multiply(Highest, X1, Y1);
        if self.way == Way::Compared {
            return self.compared(writer);
        }
        writer.write(Carry, Op::Shr, Lowest, Const(32));
        writer.sum(T, &self.sums[0], self.fold);
        let split = if self.way == Way::Twice { T } else { Split };
        writer.write(Masked, Op::And, split, Const(LOW));
        writer.write(SplitHigh, Op::Shr, split, Const(32));
        writer.sum(Middle, &self.sums[1], self.fold);
        writer.write(MiddleHigh, Op::Shr, Middle, Const(32));
        let high = writer.fold(&self.sums[2], self.fold);
        let middle = Local(writer.place(Middle));
        let upper = writer.push(Op::Shl, middle, Const(32));
        let lowest = Local(writer.place(Lowest));
        let lower = writer.push(Op::And, lowest, Const(LOW));
        // The results are the last two.
        writer.push(Op::Or, high, Const(0));
        writer.push(if self.or { Op::Or } else { Op::Add }, upper, lower);
        writer.program
    }

    /// The rest of the third form.
    pub fn compared(&self, mut writer: Writer) -> Program {
        use Node::*;
        use Operand::{Const, Local};
        let less = |writer: &mut Writer, node, sum, terms: [Node; 2]| {
            let sum = Local(writer.place(sum));
            let term = Local(writer.place(terms[usize::from(self.other)]));
            let result = match self.or {
                true => writer.push(Op::Less, sum, term),
                false => writer.push(Op::Greater, term, sum),
            };
            writer.note(node, result);
        };
        writer.sum(Middle, &self.sums[1], self.fold);
        writer.write(Upper, Op::Shl, Middle, Const(32));
        writer.sum(Low, &self.sums[0], self.fold);
        less(&mut writer, Over, Middle, [Split, Cross]);
        writer.write(OverUp, Op::Shl, Over, Const(32));
        writer.write(MiddleHigh, Op::Shr, Middle, Const(32));
        let halves = [OverUp, MiddleHigh].map(|node| Local(writer.place(node)));
        let joined = match self.other {
            true => writer.push(Op::Or, halves[0], halves[1]),
            false => writer.push(Op::Or, halves[1], halves[0]),
        };
        writer.note(Joined, joined);
        less(&mut writer, Wrapped, Low, [Lowest, Upper]);
        let high = writer.fold(&self.sums[2], self.fold);
        let low = Local(writer.place(Low));
        writer.push(Op::Or, high, Const(0));
        writer.push(Op::Or, low, Const(0));
        writer.program
    }
}

/// Writes a program down, and where each node is.
pub struct Writer {
    at: Vec<(Node, usize)>,
    program: Program,
}

impl Writer {
    pub fn place(&self, node: Node) -> usize {
        let found = self.at.iter().find(|(known, _)| *known == node);
        found.expect("a node is used behind where it is computed").1
    }

    pub fn push(&mut self, op: Op, x: Operand, y: Operand) -> Operand {
        self.program.push((op, x, y));
        Operand::Local(self.program.len() + 1)
    }

    pub fn note(&mut self, node: Node, operand: Operand) {
        if let Operand::Local(at) = operand {
            self.at.push((node, at));
        }
    }

    pub fn write(&mut self, node: Node, op: Op, x: Node, y: Operand) {
        let x = Operand::Local(self.place(x));
        let result = self.push(op, x, y);
        self.note(node, result);
    }

    pub fn multiply(&mut self, node: Node, x: Node, y: Node) {
        let y = Operand::Local(self.place(y));
        self.write(node, Op::Mul, x, y);
    }

    pub fn sum(&mut self, node: Node, terms: &[Node], fold: Fold) {
        let sum = self.fold(terms, fold);
        let sum = match sum {
            Operand::Local(_) => sum,
            Operand::Const(_) => self.push(Op::And, Operand::Local(0), Operand::Const(0)),
        };
        self.note(node, sum);
    }

    pub fn fold(&mut self, terms: &[Node], fold: Fold) -> Operand {
        let mut sums: Vec<Operand> = terms
            .iter()
            .map(|term| Operand::Local(self.place(*term)))
            .collect();
        while sums.len() > 1 {
            let at = match fold {
                Fold::Left => 0,
                Fold::Right => sums.len() - 2,
                Fold::Pairs => sums.len() / 2 - 1,
            };
            let (x, y) = (sums[at], sums.remove(at + 1));
            sums[at] = self.push(Op::Add, x, y);
        }
        sums.first().copied().unwrap_or(Operand::Const(0))
    }
}
