//! The slow interpreter: what runs is a list of stacks, each a list of frames, each a list
//! of what it has yet to do. A suspension takes stacks off the end of the list, a resumption
//! puts them back; nothing else is a continuation.

use super::program::{BUDGET, Handlers, Program, SLOTS, Statement, host};

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned this.
    Value(i64),
    /// Nobody caught an exception with this.
    Exception(i64),
    /// `unreachable`, or the budget is used up.
    Unreachable,
    /// Nobody handled a suspension or a switch.
    Unhandled,
    /// A continuation was used twice.
    Consumed,
    /// There was no continuation.
    Null,
}

/// What a frame has yet to do.
#[derive(Clone, Debug)]
enum Todo<'p> {
    /// Execute this.
    Run(&'p Statement),
    /// The body of a `try` ends here.
    EndTry,
    /// Once more, so often.
    Again(u8, &'p [Statement]),
}

/// A function that is under way. The last one to do is the next.
#[derive(Clone, Debug)]
struct Frame<'p> {
    x: i64,
    todo: Vec<Todo<'p>>,
}

/// Frames, the innermost last; and how they were resumed.
#[derive(Clone, Debug)]
struct Stack<'p> {
    frames: Vec<Frame<'p>>,
    handlers: Option<&'p Handlers>,
}

/// A continuation: the stacks that were suspended, outermost first.
#[derive(Clone, Debug)]
struct Suspended<'p> {
    stacks: Vec<Stack<'p>>,
    /// Begins with this function, which has not begun.
    fresh: Option<Start>,
    /// What is to be given to it.
    bound: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
enum Start {
    Func(usize),
    Switched(usize),
}

/// A reference: an index, so that all copies find out when it is used.
type Reference = Option<usize>;

/// A program under way, and what it leaves from call to call.
pub struct Machine<'p> {
    program: &'p Program,
    slots: [Reference; SLOTS],
    bound: [Reference; SLOTS],
    switched: [Reference; SLOTS],
    /// What references stand for, until it is used.
    all: Vec<Option<Suspended<'p>>>,
    running: Vec<Stack<'p>>,
    budget: i64,
    pub checksum: i64,
    pub switches: u64,
}

/// What goes on after a statement.
enum Next {
    On,
    Throw(i64),
    End(End),
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program) -> Machine<'p> {
        Machine {
            program,
            slots: [None; SLOTS],
            bound: [None; SLOTS],
            switched: [None; SLOTS],
            all: Vec::new(),
            running: Vec::new(),
            budget: 0,
            checksum: 0,
            switches: 0,
        }
    }

    /// Call a function to its end.
    pub fn call(&mut self, func: usize, argument: i64) -> End {
        self.budget = BUDGET;
        self.running = vec![Stack {
            frames: vec![self.frame(&self.program.funcs[func], argument)],
            handlers: None,
        }];
        loop {
            let next = self.step();
            let thrown = match next {
                Next::On => continue,
                Next::End(end) => return end,
                Next::Throw(value) => value,
            };
            if !self.unwind(thrown) {
                return End::Exception(thrown);
            }
        }
    }

    fn frame(&self, body: &'p [Statement], x: i64) -> Frame<'p> {
        let todo = body.iter().rev().map(Todo::Run).collect();
        Frame { x, todo }
    }

    fn innermost(&mut self) -> &mut Frame<'p> {
        let stack = self.running.last_mut().expect("something runs");
        stack.frames.last_mut().expect("a stack has frames")
    }

    /// Goes on in the handler of an exception, if there is one.
    fn unwind(&mut self, value: i64) -> bool {
        while let Some(stack) = self.running.last_mut() {
            while let Some(frame) = stack.frames.last_mut() {
                while let Some(todo) = frame.todo.pop() {
                    if matches!(todo, Todo::EndTry) {
                        frame.x = value.wrapping_add(1);
                        return true;
                    }
                }
                stack.frames.pop();
            }
            self.running.pop();
        }
        false
    }

    fn step(&mut self) -> Next {
        let frame = self.innermost();
        match frame.todo.pop() {
            None => self.leave(),
            Some(Todo::EndTry) => Next::On,
            Some(Todo::Again(times, body)) => {
                if times > 0 {
                    frame.todo.push(Todo::Again(times - 1, body));
                    frame.todo.extend(body.iter().rev().map(Todo::Run));
                }
                Next::On
            }
            Some(Todo::Run(statement)) => {
                self.budget -= 1;
                match self.budget < 0 {
                    true => Next::End(End::Unreachable),
                    false => self.statement(statement),
                }
            }
        }
    }

    /// The innermost frame returns.
    fn leave(&mut self) -> Next {
        let stack = self.running.last_mut().expect("something runs");
        let x = stack.frames.pop().expect("a stack has frames").x;
        if stack.frames.is_empty() {
            self.running.pop();
            self.switches += 1;
        }
        match self.running.is_empty() {
            true => Next::End(End::Value(x)),
            false => {
                self.innermost().x = x;
                Next::On
            }
        }
    }

    fn statement(&mut self, statement: &'p Statement) -> Next {
        let x = self.innermost().x;
        match statement {
            Statement::Mix(n) => {
                let sum = self.checksum.wrapping_mul(31);
                self.checksum = sum.wrapping_add(x).wrapping_add(*n);
            }
            Statement::Step(n) => self.innermost().x = x.wrapping_mul(3).wrapping_add(*n),
            Statement::New { slot, func } => self.slots[*slot] = self.fresh(Start::Func(*func)),
            Statement::NewSwitched { slot, func } => {
                self.switched[*slot] = self.fresh(Start::Switched(*func));
            }
            Statement::Bind { from, to } => match self.used(self.slots[*from]) {
                Ok(taken) => {
                    let bound = Some(x);
                    self.bound[*to] = self.keep(Suspended { bound, ..taken });
                }
                Err(end) => return Next::End(end),
            },
            Statement::Resume { slot, handlers } => {
                let held = self.slots[*slot].take();
                let reference = held.or_else(|| self.fresh(Start::Func(0)));
                return self.resume(reference, x, handlers);
            }
            Statement::ResumeBound { slot, handlers } => {
                return self.resume(self.bound[*slot], 0, handlers);
            }
            Statement::Throw { slot, handlers } => {
                return self.throw_into(self.slots[*slot], x, handlers);
            }
            Statement::ThrowRef { slot, handlers } => {
                return self.throw_into(self.slots[*slot], x.wrapping_add(5), handlers);
            }
            Statement::Suspend(tag) => return self.suspend(*tag, x),
            Statement::Switch(slot) => return self.switch(*slot, x),
            Statement::Raise => return Next::Throw(x),
            Statement::Try(body) => {
                let todo = &mut self.innermost().todo;
                todo.push(Todo::EndTry);
                todo.extend(body.iter().rev().map(Todo::Run));
            }
            Statement::Call(func) => {
                let frame = self.frame(&self.program.funcs[*func], x);
                let stack = self.running.last_mut().expect("something runs");
                stack.frames.push(frame);
            }
            Statement::Host => self.innermost().x = host(x),
            Statement::Loop(times, body) => {
                self.innermost().todo.push(Todo::Again(*times, body));
            }
            Statement::If(then, otherwise) => {
                let body = if self.checksum & 1 == 1 {
                    then
                } else {
                    otherwise
                };
                let todo = &mut self.innermost().todo;
                todo.extend(body.iter().rev().map(Todo::Run));
            }
            Statement::Trap => return Next::End(End::Unreachable),
        }
        Next::On
    }

    fn keep(&mut self, suspended: Suspended<'p>) -> Reference {
        self.all.push(Some(suspended));
        Some(self.all.len() - 1)
    }

    fn fresh(&mut self, start: Start) -> Reference {
        self.keep(Suspended {
            stacks: Vec::new(),
            fresh: Some(start),
            bound: None,
        })
    }

    /// What a reference stands for; the reference is used by this.
    fn used(&mut self, reference: Reference) -> Result<Suspended<'p>, End> {
        let index = reference.ok_or(End::Null)?;
        self.all[index].take().ok_or(End::Consumed)
    }

    /// Puts a continuation's stacks where they run, with its value.
    fn enter(&mut self, taken: Suspended<'p>, value: i64, handlers: Option<&'p Handlers>) {
        self.switches += 1;
        let value = taken.bound.unwrap_or(value);
        let mut stacks = taken.stacks;
        match taken.fresh {
            Some(Start::Func(func)) => stacks.push(Stack {
                frames: vec![self.frame(&self.program.funcs[func], value)],
                handlers: None,
            }),
            Some(Start::Switched(func)) => stacks.push(Stack {
                frames: vec![self.frame(&self.program.switched[func], value)],
                handlers: None,
            }),
            None => {
                let stack = stacks.last_mut().expect("what is suspended has stacks");
                stack.frames.last_mut().expect("and they have frames").x = value;
            }
        }
        stacks[0].handlers = handlers;
        self.running.extend(stacks);
    }

    fn resume(&mut self, reference: Reference, x: i64, handlers: &'p Handlers) -> Next {
        match self.used(reference) {
            Ok(taken) => {
                self.enter(taken, x, Some(handlers));
                Next::On
            }
            Err(end) => Next::End(end),
        }
    }

    fn throw_into(&mut self, reference: Reference, x: i64, handlers: &'p Handlers) -> Next {
        match self.used(reference) {
            Ok(taken) if taken.fresh.is_none() => {
                self.enter(taken, 0, Some(handlers));
                Next::Throw(x)
            }
            // One that has not begun is over.
            Ok(_) => Next::Throw(x),
            Err(end) => Next::End(end),
        }
    }

    /// From where on stacks are suspended that were resumed with a clause.
    fn find(&self, has: impl Fn(&Handlers) -> bool) -> Option<usize> {
        let is_it = |stack: &Stack<'p>| stack.handlers.is_some_and(&has);
        self.running.iter().rposition(is_it)
    }

    fn suspend(&mut self, tag: usize, x: i64) -> Next {
        let has = |handlers: &Handlers| handlers.clauses.iter().any(|clause| clause.tag == tag);
        let Some(at) = self.find(has) else {
            return Next::End(End::Unhandled);
        };
        let stacks = self.running.split_off(at);
        let handlers = stacks[0].handlers.expect("it was found");
        let mut clauses = handlers.clauses.iter();
        let clause = clauses.find(|clause| clause.tag == tag);
        let slot = clause.expect("it was found").slot;
        self.slots[slot] = self.keep(Suspended {
            stacks,
            fresh: None,
            bound: None,
        });
        // The handler mixes in which clause it was.
        self.innermost().x = x.wrapping_add(slot as i64);
        Next::On
    }

    fn switch(&mut self, slot: usize, x: i64) -> Next {
        // The engine looks for the clause first.
        let Some(at) = self.find(|handlers| handlers.switch) else {
            return Next::End(End::Unhandled);
        };
        let taken = match self.used(self.switched[slot]) {
            Ok(taken) => taken,
            Err(end) => return Next::End(end),
        };
        let stacks = self.running.split_off(at);
        let handlers = stacks[0].handlers;
        let own = self.keep(Suspended {
            stacks,
            fresh: None,
            bound: None,
        });
        // Whoever is switched to keeps it in the first slot.
        self.slots[0] = own;
        self.enter(taken, x, handlers);
        Next::On
    }
}
