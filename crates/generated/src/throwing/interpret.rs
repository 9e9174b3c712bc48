//! The slow interpreter: a list of values for the operands of a function, and what an instruction
//! leads to is handed out from block to block. An exception is an index into a list of all that
//! there were; nothing is ever unwound.

use fathom_engine::TrapCode;

use super::program::{
    BUDGET, CHECKSUM, Clause, Func, GLOBALS, Host, Instr, MEMORY_BYTES, NESTED_MAX, Program, Sig,
    Ty, arguments, digest, many,
};

/// How a call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned these.
    Values(Vec<u128>),
    /// Nobody caught an exception: its tag, whose that is, and its values.
    Exception(Tag, Vec<u128>),
    Trap(TrapCode),
}

/// A tag: of an instance, or of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub tag: usize,
    pub owner: Option<usize>,
}

/// What an instance has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub globals: Vec<u128>,
    pub memory: Vec<u8>,
}

/// An exception.
#[derive(Clone, Debug)]
struct Thrown {
    tag: Tag,
    values: Vec<u128>,
}

/// What goes on behind an instruction.
enum Flow {
    Next,
    Branch(u32),
    Return,
    /// An exception is on its way.
    Throw(usize),
    /// The same, as if it was raised so many labels further out.
    Delegate(usize, u32),
    Trap(TrapCode),
}

/// How often things happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Clauses that were entered, of both forms.
    pub caught: u64,
    pub caught_older: u64,
    pub delegated: u64,
    /// Exceptions thrown again, by reference or from a clause.
    pub again: u64,
    /// Calls of the host into the guest.
    pub nested: u64,
}

/// A function that is under way.
struct Frame {
    instance: usize,
    locals: Vec<u128>,
    operands: Vec<u128>,
    /// What the clauses around have caught, and nothing for other labels.
    labels: Vec<Option<usize>>,
}

impl Frame {
    fn pop(&mut self) -> u128 {
        self.operands.pop().expect("there is an operand")
    }

    /// The last so many, the first first.
    fn take(&mut self, count: usize) -> Vec<u128> {
        self.operands.split_off(self.operands.len() - count)
    }

    /// Drops what is above a height but for the last so many.
    fn keep(&mut self, height: usize, count: usize) {
        let kept = self.take(count);
        self.operands.truncate(height);
        self.operands.extend(kept);
    }
}

/// A program under way, and what it leaves from call to call.
pub struct Machine<'p> {
    program: &'p Program,
    pub states: [State; 2],
    exceptions: Vec<Thrown>,
    budget: i64,
    nested: u32,
    pub numbers: Numbers,
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program) -> Machine<'p> {
        let state = State {
            globals: vec![0; GLOBALS.len()],
            memory: vec![0; MEMORY_BYTES],
        };
        Machine {
            program,
            states: [state.clone(), state],
            exceptions: Vec::new(),
            budget: 0,
            nested: 0,
            numbers: Numbers::default(),
        }
    }

    /// Call a function to its end.
    pub fn call(&mut self, instance: usize, func: usize, arguments: &[u128]) -> End {
        self.budget = BUDGET;
        self.nested = 0;
        let results = &self.program.funcs[func].sig.results;
        match self.invoke(instance, func, arguments.to_vec()) {
            Ok(values) => End::Values(shown(results, &values)),
            Err(Flow::Throw(exception)) => {
                let Thrown { tag, values } = &self.exceptions[exception];
                End::Exception(*tag, shown(&self.program.tags[tag.tag], values))
            }
            Err(Flow::Trap(code)) => End::Trap(code),
            Err(_) => unreachable!("a function returns, throws or traps"),
        }
    }

    fn invoke(
        &mut self,
        instance: usize,
        func: usize,
        arguments: Vec<u128>,
    ) -> Result<Vec<u128>, Flow> {
        let func: &'p Func = &self.program.funcs[func];
        let mut locals = arguments;
        locals.resize(func.locals.len(), 0);
        let mut frame = Frame {
            instance,
            locals,
            operands: Vec::new(),
            labels: Vec::new(),
        };
        let count = func.sig.results.len();
        match self.inside(&mut frame, &func.body, (0, count), None) {
            Flow::Next | Flow::Return => Ok(frame.take(count)),
            flow => Err(flow),
        }
    }

    /// What is in a block: from this height on it leaves so many operands.
    fn inside(
        &mut self,
        frame: &mut Frame,
        body: &'p [Instr],
        (height, count): (usize, usize),
        caught: Option<usize>,
    ) -> Flow {
        frame.labels.push(caught);
        let mut flow = Flow::Next;
        for instr in body {
            flow = self.step(frame, instr);
            if !matches!(flow, Flow::Next) {
                break;
            }
        }
        frame.labels.pop();
        match flow {
            Flow::Branch(0) => {
                frame.keep(height, count);
                Flow::Next
            }
            Flow::Branch(depth) => Flow::Branch(depth - 1),
            Flow::Delegate(exception, 0) => Flow::Throw(exception),
            Flow::Delegate(exception, depth) => Flow::Delegate(exception, depth - 1),
            other => other,
        }
    }

    /// Instructions on values.
    fn step(&mut self, frame: &mut Frame, instr: &'p Instr) -> Flow {
        match instr {
            Instr::Const(_, bits) => frame.operands.push(*bits),
            Instr::Op(op) => {
                let operands = frame.take(op.params().len());
                match op.apply(&operands) {
                    Some(result) => frame.operands.push(result),
                    None => return Flow::Trap(TrapCode::IntegerDivideByZero),
                }
            }
            Instr::Select(_) => {
                let all = frame.take(3);
                let first = all[2] != 0;
                frame.operands.push(if first { all[0] } else { all[1] });
            }
            Instr::IsNull => {
                let reference = frame.pop();
                frame.operands.push(u128::from(reference == 0));
            }
            Instr::Drop => {
                frame.pop();
            }
            Instr::Get(local) => frame.operands.push(frame.locals[*local as usize]),
            Instr::Set(local) => frame.locals[*local as usize] = frame.pop(),
            Instr::Tee(local) => {
                frame.locals[*local as usize] = *frame.operands.last().expect("an operand");
            }
            Instr::GlobalGet(global) => {
                let value = self.states[frame.instance].globals[*global];
                frame.operands.push(value);
            }
            Instr::GlobalSet(global) => {
                self.states[frame.instance].globals[*global] = frame.pop();
            }
            Instr::Mix => {
                let sum = &mut self.states[frame.instance].globals[CHECKSUM];
                let mixed = (*sum as u64).wrapping_mul(31);
                *sum = u128::from(mixed.wrapping_add(frame.pop() as u64));
            }
            Instr::Spend => {
                self.budget -= 1;
                if self.budget < 0 {
                    return Flow::Trap(TrapCode::Unreachable);
                }
            }
            Instr::Load(ty, offset) => return self.load(frame, *ty, *offset),
            Instr::Store(ty, offset) => return self.store(frame, *ty, *offset),
            _ => return self.control(frame, instr),
        }
        Flow::Next
    }

    fn load(&mut self, frame: &mut Frame, ty: Ty, offset: u32) -> Flow {
        let at = frame.pop() as usize + offset as usize;
        let memory = &self.states[frame.instance].memory;
        let Some(found) = memory.get(at..at + ty.bytes()) else {
            return Flow::Trap(TrapCode::MemoryOutOfBounds);
        };
        let mut bytes = [0; 16];
        bytes[..found.len()].copy_from_slice(found);
        frame.operands.push(u128::from_le_bytes(bytes));
        Flow::Next
    }

    fn store(&mut self, frame: &mut Frame, ty: Ty, offset: u32) -> Flow {
        let value = frame.pop();
        let at = frame.pop() as usize + offset as usize;
        let memory = &mut self.states[frame.instance].memory;
        let Some(place) = memory.get_mut(at..at + ty.bytes()) else {
            return Flow::Trap(TrapCode::MemoryOutOfBounds);
        };
        place.copy_from_slice(&value.to_le_bytes()[..ty.bytes()]);
        Flow::Next
    }

    /// Blocks, and what leaves them.
    fn control(&mut self, frame: &mut Frame, instr: &'p Instr) -> Flow {
        match instr {
            Instr::If(sig, then, otherwise) => {
                let body = match frame.pop() {
                    0 => otherwise,
                    _ => then,
                };
                let range = range(frame, sig);
                self.inside(frame, body, range, None)
            }
            Instr::Block(sig, body) => {
                let range = range(frame, sig);
                self.inside(frame, body, range, None)
            }
            Instr::Loop(sig, body) => self.repeat(frame, sig, body),
            Instr::TryTable(..) | Instr::Try(..) | Instr::Delegate(..) => {
                self.catching(frame, instr)
            }
            Instr::Br(depth) => Flow::Branch(*depth),
            Instr::BrIf(depth) => match frame.pop() {
                0 => Flow::Next,
                _ => Flow::Branch(*depth),
            },
            Instr::BrTable(all, last) => {
                let index = frame.pop() as usize;
                Flow::Branch(*all.get(index).unwrap_or(last))
            }
            Instr::Return => Flow::Return,
            Instr::Unreachable => Flow::Trap(TrapCode::Unreachable),
            Instr::Throw(tag) => {
                let values = frame.take(self.program.tags[*tag].len());
                self.throw(frame.instance, *tag, values)
            }
            Instr::ThrowRef => match frame.pop() {
                0 => Flow::Trap(TrapCode::NullReference),
                reference => {
                    self.numbers.again += 1;
                    Flow::Throw(reference as usize - 1)
                }
            },
            Instr::Rethrow(depth) => {
                self.numbers.again += 1;
                let at = frame.labels.len() - 1 - *depth as usize;
                Flow::Throw(frame.labels[at].expect("a clause has caught it"))
            }
            _ => self.any_call(frame, instr),
        }
    }

    fn repeat(&mut self, frame: &mut Frame, sig: &Sig, body: &'p [Instr]) -> Flow {
        let height = frame.operands.len() - sig.params.len();
        frame.labels.push(None);
        let flow = 'turns: loop {
            for instr in body {
                match self.step(frame, instr) {
                    Flow::Next => {}
                    Flow::Branch(0) => {
                        frame.keep(height, sig.params.len());
                        continue 'turns;
                    }
                    flow => break 'turns flow,
                }
            }
            break Flow::Next;
        };
        frame.labels.pop();
        match flow {
            Flow::Branch(depth) => Flow::Branch(depth - 1),
            Flow::Delegate(exception, 0) => Flow::Throw(exception),
            Flow::Delegate(exception, depth) => Flow::Delegate(exception, depth - 1),
            flow => flow,
        }
    }

    fn throw(&mut self, instance: usize, tag: usize, values: Vec<u128>) -> Flow {
        let owner = (!Program::is_shared(tag)).then_some(instance);
        let tag = Tag { tag, owner };
        self.exceptions.push(Thrown { tag, values });
        Flow::Throw(self.exceptions.len() - 1)
    }

    /// Whether a clause takes an exception: its values then.
    fn takes(&self, instance: usize, tag: Option<usize>, exception: usize) -> Option<Vec<u128>> {
        let Thrown {
            tag: thrown,
            values,
        } = &self.exceptions[exception];
        let Some(tag) = tag else {
            return Some(Vec::new());
        };
        let owner = (!Program::is_shared(tag)).then_some(instance);
        (*thrown == Tag { tag, owner }).then(|| values.clone())
    }

    fn catching(&mut self, frame: &mut Frame, instr: &'p Instr) -> Flow {
        let (sig, body) = match instr {
            Instr::TryTable(sig, _, body)
            | Instr::Try(sig, body, _)
            | Instr::Delegate(sig, body, _) => (sig, body),
            other => unreachable!("{other:?} catches nothing"),
        };
        let range = range(frame, sig);
        let exception = match self.inside(frame, body, range, None) {
            Flow::Throw(exception) => exception,
            other => return other,
        };
        match instr {
            Instr::TryTable(_, catches, _) => {
                for one in catches {
                    let Some(values) = self.takes(frame.instance, one.tag, exception) else {
                        continue;
                    };
                    self.numbers.caught += 1;
                    frame.operands.extend(values);
                    if one.by_reference {
                        frame.operands.push(exception as u128 + 1);
                    }
                    return Flow::Branch(one.label);
                }
                Flow::Throw(exception)
            }
            Instr::Try(_, _, clauses) => self.clauses(frame, clauses, range, exception),
            Instr::Delegate(_, _, depth) => {
                self.numbers.delegated += 1;
                Flow::Delegate(exception, *depth)
            }
            other => unreachable!("{other:?} catches nothing"),
        }
    }

    fn clauses(
        &mut self,
        frame: &mut Frame,
        clauses: &'p [Clause],
        range: (usize, usize),
        exception: usize,
    ) -> Flow {
        for clause in clauses {
            if let Some(values) = self.takes(frame.instance, clause.tag, exception) {
                self.numbers.caught_older += 1;
                frame.operands.truncate(range.0);
                frame.operands.extend(values);
                return self.inside(frame, &clause.body, range, Some(exception));
            }
        }
        Flow::Throw(exception)
    }

    fn any_call(&mut self, frame: &mut Frame, instr: &'p Instr) -> Flow {
        let count = self.program.funcs.len();
        let (instance, func) = match instr {
            Instr::Call(func) => (frame.instance, *func),
            Instr::CallIndirect(func) => {
                let index = frame.pop() as usize;
                if index >= 2 * count {
                    return Flow::Trap(TrapCode::UndefinedElement);
                }
                let found = index % count;
                let sig = |func: usize| &self.program.funcs[func].sig;
                if sig(found) != sig(*func) {
                    return Flow::Trap(TrapCode::IndirectCallTypeMismatch);
                }
                (index / count, found)
            }
            Instr::Host(host) => return self.host(frame, *host),
            other => unreachable!("{other:?} is no call"),
        };
        let arguments = frame.take(self.program.funcs[func].sig.params.len());
        match self.invoke(instance, func, arguments) {
            Ok(results) => {
                frame.operands.extend(results);
                Flow::Next
            }
            Err(flow) => flow,
        }
    }

    /// What the functions of the host do.
    fn host(&mut self, frame: &mut Frame, host: Host) -> Flow {
        let given = frame.take(host.sig().params.len());
        if host == Host::Many {
            frame.operands.extend(many(&given));
            return Flow::Next;
        }
        let (which, number) = (given[0] as u32, given[1] as u64 as i64);
        if host == Host::Raise {
            let tag = self.program.raised(which);
            let values = arguments(&self.program.tags[tag], number);
            return self.throw(frame.instance, tag, values);
        }
        let result = match self.back(frame.instance, which, number) {
            Ok(result) => result,
            Err(Flow::Throw(exception)) if host == Host::Tries => {
                let Thrown { tag, values } = &self.exceptions[exception];
                digest(&self.program.tags[tag.tag], values)
            }
            Err(Flow::Trap(code)) if host == Host::Tries => code as i64,
            Err(flow) => return flow,
        };
        frame.operands.push(Ty::I64.of(result));
        Flow::Next
    }

    fn back(&mut self, instance: usize, which: u32, number: i64) -> Result<i64, Flow> {
        if self.nested == NESTED_MAX {
            return Ok(-1);
        }
        let func = self.program.called(which);
        let sig = &self.program.funcs[func].sig;
        self.nested += 1;
        self.numbers.nested += 1;
        let ended = self.invoke(instance, func, arguments(&sig.params, number));
        self.nested -= 1;
        Ok(digest(&sig.results, &ended?))
    }
}

/// What the host sees of values: of a reference whether there is one.
fn shown(types: &[Ty], values: &[u128]) -> Vec<u128> {
    let pairs = types.iter().zip(values);
    let one = |(ty, bits): (&Ty, &u128)| match ty {
        Ty::Exn => u128::from(*bits != 0),
        _ => *bits,
    };
    pairs.map(one).collect()
}

/// The height below a block's parameters, and how many results it has.
fn range(frame: &Frame, sig: &Sig) -> (usize, usize) {
    (frame.operands.len() - sig.params.len(), sig.results.len())
}
