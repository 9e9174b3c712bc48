//! Structured programs with exceptions, as neither form writes them.
//!
//! A body leaves the operands below it as they were. What a construct takes is noted first
//! in its body, what it yields is put last; so all that tells one way through a program
//! from another is in the notes, the steps and the memory.

/// What the operands of a construct are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    None,
    Int,
    IntAndLong,
}

/// What constructs take and yield.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// Whether there is a parameter, an `i32`.
    pub takes: bool,
    pub yields: Values,
}

/// The tags of a program, with their values. The first two are one tag, imported twice.
pub const TAGS: [Values; 6] = [
    Values::Int,
    Values::Int,
    Values::Int,
    Values::None,
    Values::IntAndLong,
    Values::IntAndLong,
];

/// Functions of a program. All take an `i32` and return one.
pub const FUNCTIONS: usize = 4;

pub type Body = Vec<Op>;

/// A clause of a `try`.
#[derive(Clone, Debug)]
pub struct Clause {
    pub tag: usize,
    /// Whether the values of the tag are what it yields; else they are noted.
    pub keeps: bool,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub enum Op {
    Note(usize),
    NoteLocal(usize),
    Set(usize, usize),
    /// Stored, to be seen when a trap has ended it.
    Store(usize, usize),
    /// A value that is below the body while it runs, and noted behind it.
    Below(usize, Body),
    If(Type, Body, Body),
    Block(Type, Body),
    Loop(Type, Body),
    Try {
        ty: Type,
        body: Body,
        clauses: Vec<Clause>,
        all: Option<Body>,
    },
    /// To the label so many levels out of it.
    Delegate(Type, Body, usize),
    /// Of the clause so many labels out.
    Rethrow(usize),
    Throw(usize, usize),
    HostThrow,
    Br(usize),
    BrIf(usize),
    BrTable(Vec<usize>),
    Call(usize),
    CallIndirect(usize),
    TailCall(usize),
    Return,
    Trap(usize),
}

/// A label around an instruction.
#[derive(Clone, Copy)]
struct Label {
    carries: Values,
    is_clause: bool,
}

/// Draws programs.
pub struct Generator<'a> {
    numbers: &'a mut dyn FnMut(usize) -> usize,
    labels: Vec<Label>,
    /// Operators that may be drawn yet.
    room: usize,
}

/// The bodies of a program.
pub fn program(numbers: &mut dyn FnMut(usize) -> usize) -> Vec<Body> {
    let function = |_| {
        let room = 10 + numbers(50);
        let mut generator = Generator {
            numbers,
            labels: vec![Label {
                carries: Values::Int,
                is_clause: false,
            }],
            room,
        };
        generator.body()
    };
    (0..FUNCTIONS).map(function).collect()
}

impl Generator<'_> {
    fn draw(&mut self, end: usize) -> usize {
        (self.numbers)(end)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.draw(count) == 0
    }

    fn ty(&mut self) -> Type {
        let yields = [Values::None, Values::Int, Values::Int, Values::IntAndLong];
        Type {
            takes: self.one_in(3),
            yields: yields[self.draw(4)],
        }
    }

    fn body(&mut self) -> Body {
        let mut ops = Vec::new();
        for _ in 0..1 + self.draw(5) {
            if self.room == 0 {
                break;
            }
            self.room -= 1;
            let op = self.op();
            let ends = matches!(
                op,
                Op::Rethrow(_)
                    | Op::Throw(..)
                    | Op::Br(_)
                    | Op::BrTable(_)
                    | Op::TailCall(_)
                    | Op::Return
                    | Op::Trap(0)
            );
            ops.push(op);
            // Behind that nothing is reached.
            if ends && !self.one_in(4) {
                break;
            }
        }
        ops
    }

    fn within(&mut self, carries: Values, is_clause: bool) -> Body {
        self.labels.push(Label { carries, is_clause });
        let body = self.body();
        self.labels.pop();
        body
    }

    fn op(&mut self) -> Op {
        match self.draw(32) {
            0 | 1 => Op::Note(self.draw(9)),
            2 => Op::NoteLocal(self.draw(3)),
            3 => Op::Set(self.draw(3), self.draw(99)),
            4 => Op::Store(self.draw(16), self.draw(99)),
            5 => {
                let kind = self.draw(4);
                Op::Below(kind, self.body())
            }
            6 => {
                let ty = self.ty();
                Op::If(
                    ty,
                    self.within(ty.yields, false),
                    self.within(ty.yields, false),
                )
            }
            7 => {
                let ty = self.ty();
                Op::Block(ty, self.within(ty.yields, false))
            }
            8 => {
                let ty = self.ty();
                Op::Loop(ty, self.within(Values::None, false))
            }
            9..=13 => self.protected(),
            14 | 15 => self.delegate(),
            16 | 17 => self.rethrow(),
            18..=20 => Op::Throw(self.draw(TAGS.len()), self.draw(99)),
            21 => Op::HostThrow,
            22 => Op::Br(self.draw(self.labels.len())),
            23 => Op::BrIf(self.draw(self.labels.len())),
            24 => self.table(),
            25..=27 => Op::Call(self.draw(FUNCTIONS)),
            28 => Op::CallIndirect(self.draw(FUNCTIONS)),
            29 => Op::TailCall(self.draw(FUNCTIONS)),
            30 => Op::Return,
            _ => Op::Trap(self.draw(4)),
        }
    }

    fn protected(&mut self) -> Op {
        let ty = self.ty();
        let body = self.within(ty.yields, false);
        let clauses = (0..self.draw(4)).map(|_| {
            let tag = self.draw(TAGS.len());
            Clause {
                tag,
                keeps: TAGS[tag] == ty.yields && !self.one_in(3),
                body: self.within(ty.yields, true),
            }
        });
        let clauses = clauses.collect();
        let all = self.one_in(2).then(|| self.within(ty.yields, true));
        Op::Try {
            ty,
            body,
            clauses,
            all,
        }
    }

    fn delegate(&mut self) -> Op {
        let ty = self.ty();
        let body = self.within(ty.yields, false);
        Op::Delegate(ty, body, self.draw(self.labels.len()))
    }

    /// Of one of the clauses around, if there is any.
    fn rethrow(&mut self) -> Op {
        let depths = (0..self.labels.len()).filter(|depth| self.label(*depth).is_clause);
        let depths: Vec<usize> = depths.collect();
        match depths.len() {
            0 => Op::Call(self.draw(FUNCTIONS)),
            count => Op::Rethrow(depths[self.draw(count)]),
        }
    }

    /// To labels that take the same.
    fn table(&mut self) -> Op {
        let first = self.draw(self.labels.len());
        let wanted = self.label(first).carries;
        let depths = (0..self.labels.len()).filter(|depth| self.label(*depth).carries == wanted);
        let depths: Vec<usize> = depths.collect();
        let count = 1 + self.draw(3);
        let targets = (0..count).map(|_| depths[self.draw(depths.len())]);
        Op::BrTable(targets.collect())
    }

    fn label(&self, depth: usize) -> Label {
        self.labels[self.labels.len() - 1 - depth]
    }
}
