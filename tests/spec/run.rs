//! One script under one engine: what each directive came to.
//!
//! Follows the reference interpreter's reading of scripts
//! (<https://github.com/WebAssembly/spec/tree/main/interpreter#scripts>).

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, Scope, ScopedJoinHandle};

use fathom_engine::{
    Engine, Error, ErrorKind, Extern, Instance, Linker, Module, SharedMemory, Store, Val,
};

use crate::script::{Encoded, Exec, Invoke, Line, Script, Step};
use crate::spectest;
use crate::values::Pattern;

/// What a directive came to.
pub enum Outcome {
    Passed,
    Failed(Failure),
}

/// A directive that did not hold.
pub struct Failure {
    pub message: String,
    pub cause: Cause,
}

/// What a failure may be excused by, if a file lists it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Nothing.
    Defect,
    /// The strategy: it went on where an access out of bounds was to trap, or
    /// this comes after such an access in the same script.
    Inexact,
}

/// The directives of one script, by line.
pub struct Report<'s> {
    pub script: &'s Script,
    pub outcomes: Vec<(usize, Outcome)>,
}

/// Run a script from its first directive to its last.
pub fn run<'s>(engine: &Engine, script: &'s Script) -> Report<'s> {
    let outcomes = match &script.lines {
        Ok(lines) => thread::scope(|scope| run_lines(Context::new(engine, scope), lines)),
        Err(message) => {
            let failure = Failure {
                message: message.clone(),
                cause: Cause::Defect,
            };
            vec![(0, Outcome::Failed(failure))]
        }
    };
    Report { script, outcomes }
}

/// Outcomes by line.
type Outcomes = Vec<(usize, Outcome)>;

fn run_lines<'s, 'e: 's>(mut context: Context<'s, 'e>, lines: &'e [Line]) -> Outcomes {
    let mut outcomes = Vec::with_capacity(lines.len());
    let mut astray = false;
    for Line { line, step } in lines {
        context.line = *line;
        let run = catch_unwind(AssertUnwindSafe(|| context.run(step)));
        let outcome = match run {
            Ok(Ok(())) => Outcome::Passed,
            Ok(Err(Wrong { message, cause })) => {
                astray |= cause == Cause::Inexact;
                let cause = match cause {
                    Cause::Defect if astray => Cause::Inexact,
                    _ => cause,
                };
                Outcome::Failed(Failure { message, cause })
            }
            Err(_) => Outcome::Failed(Failure {
                message: "panicked".into(),
                cause: Cause::Defect,
            }),
        };
        outcomes.push((*line, outcome));
    }
    for (_, thread) in context.threads.drain() {
        outcomes.extend(join(thread));
    }
    outcomes.extend(context.joined);
    outcomes
}

/// What the suite calls the trap that inexact strategies may not raise.
const OUT_OF_BOUNDS: &str = "out of bounds memory access";

/// Why a directive did not pass.
struct Wrong {
    message: String,
    cause: Cause,
}

type Held = Result<(), Wrong>;

fn wrong<T>(message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong {
        message: message.into(),
        cause: Cause::Defect,
    })
}

/// An error where there was to be none.
fn unexpected(error: Error) -> Wrong {
    Wrong {
        message: error.to_string(),
        cause: Cause::Defect,
    }
}

/// What directives share. `'s` is the script's run, whose threads end with it.
struct Context<'s, 'e> {
    engine: &'e Engine,
    scope: &'s Scope<'s, 'e>,
    store: Store<()>,
    linker: Linker<()>,
    /// The line being run.
    line: usize,
    /// The instance made last, or why there is none.
    current: Result<Instance, Missing>,
    named: HashMap<String, Result<Instance, Missing>>,
    definitions: HashMap<Option<String>, Result<Module, Missing>>,
    /// Modules of the script that started this thread: the shared memories that
    /// they export, by the export's name.
    handed: HashMap<String, Vec<(String, SharedMemory)>>,
    threads: HashMap<String, ScopedJoinHandle<'s, Outcomes>>,
    /// Of threads that were waited for.
    joined: Outcomes,
}

/// The line of a module that could not be had, and what excuses it.
#[derive(Clone, Copy)]
struct Missing {
    line: usize,
    cause: Cause,
}

/// What a failure says that follows from another.
pub const FOLLOWS: &str = "needs the module of line";

impl Missing {
    fn wrong<T>(self) -> Result<T, Wrong> {
        Err(Wrong {
            message: format!("{FOLLOWS} {}", self.line),
            cause: self.cause,
        })
    }
}

impl<'s, 'e: 's> Context<'s, 'e> {
    fn new(engine: &'e Engine, scope: &'s Scope<'s, 'e>) -> Context<'s, 'e> {
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        // A script may register a name again.
        linker.allow_shadowing(true);
        spectest::define(&mut linker, &mut store).expect("the spectest module");
        let none = Missing {
            line: 0,
            cause: Cause::Defect,
        };
        Context {
            engine,
            scope,
            store,
            linker,
            line: 0,
            current: Err(none),
            named: HashMap::new(),
            definitions: HashMap::new(),
            handed: HashMap::new(),
            threads: HashMap::new(),
            joined: Vec::new(),
        }
    }

    fn run(&mut self, step: &'e Step) -> Held {
        match step {
            Step::Module { name, module } => self.module(name.as_ref(), module),
            Step::Definition { name, module } => self.definition(name.as_ref(), module),
            Step::Instance { name, module } => self.instance_of(name.as_ref(), module.as_ref()),
            Step::Register { name, module } => self.register(name, module.as_ref()),
            Step::Invoke(call) => self.invoke(call)?.map(|_| ()).map_err(unexpected),
            Step::Return { exec, results } => self.returns(exec, results),
            Step::Trap { exec, message } => traps(self.execute(exec)?, message),
            Step::Exception { exec } => throws(self.execute(exec)?),
            Step::Suspension { exec, message } => traps(self.execute(exec)?, message),
            Step::Invalid { module } => self.rejects(module, true),
            Step::Malformed { module } => self.rejects(module, false),
            Step::Unlinkable { module, message } => self.unlinkable(module, message),
            Step::Thread {
                name,
                shared,
                lines,
            } => self.spawn(name, shared.as_ref(), lines),
            Step::Wait { thread } => self.wait(thread),
            Step::Unknown => wrong("no directive of WebAssembly's core"),
        }
    }

    fn compile(&self, module: &Encoded) -> Result<Module, Wrong> {
        let bytes = encoded(module)?;
        let module = Module::new(self.engine, bytes).map_err(unexpected)?;
        match module.fallbacks().iter().find(|one| one.is_refused) {
            Some(kept) => wrong(format!("function {}: {}", kept.func, kept.why)),
            None => Ok(module),
        }
    }

    fn missing(&self, wrong: &Wrong) -> Missing {
        Missing {
            line: self.line,
            cause: wrong.cause,
        }
    }

    fn module(&mut self, name: Option<&String>, module: &Encoded) -> Held {
        let placed = self.compile(module);
        let placed = placed.and_then(|module| self.instantiate(&module));
        self.place(name, placed)
    }

    fn instantiate(&mut self, module: &Module) -> Result<Instance, Wrong> {
        let outcome = self.linker.instantiate(&mut self.store, module);
        outcome.map_err(unexpected)
    }

    /// Remember an instance, or that there is none: a failure must not leave
    /// the one before in its place.
    fn place(&mut self, name: Option<&String>, placed: Result<Instance, Wrong>) -> Held {
        let found = match &placed {
            Ok(instance) => Ok(*instance),
            Err(wrong) => Err(self.missing(wrong)),
        };
        if let Some(name) = name {
            self.named.insert(name.clone(), found);
        }
        self.current = found;
        placed.map(|_| ())
    }

    fn definition(&mut self, name: Option<&String>, module: &Encoded) -> Held {
        let compiled = self.compile(module);
        let found = match &compiled {
            Ok(module) => Ok(module.clone()),
            Err(wrong) => Err(self.missing(wrong)),
        };
        if name.is_some() {
            self.definitions.insert(name.cloned(), found.clone());
        }
        self.definitions.insert(None, found);
        compiled.map(|_| ())
    }

    fn instance_of(&mut self, name: Option<&String>, module: Option<&String>) -> Held {
        let placed = match self.definitions.get(&module.cloned()) {
            Some(Ok(module)) => {
                let module = module.clone();
                self.instantiate(&module)
            }
            Some(Err(missing)) => missing.wrong(),
            None => wrong("no such module definition"),
        };
        self.place(name, placed)
    }

    fn register(&mut self, name: &str, module: Option<&String>) -> Held {
        if let Some(memories) = module.and_then(|module| self.handed.get(module)) {
            for (export, memory) in memories {
                self.linker.define_shared(name, export, memory).unwrap();
            }
            return Ok(());
        }
        let instance = self.instance(module)?;
        self.linker.instance(&self.store, name, instance).unwrap();
        Ok(())
    }

    fn instance(&self, name: Option<&String>) -> Result<Instance, Wrong> {
        let found = match name {
            Some(name) => self.named.get(name).copied(),
            None => Some(self.current),
        };
        match found {
            Some(Ok(instance)) => Ok(instance),
            Some(Err(missing)) => missing.wrong(),
            None => wrong("no such instance"),
        }
    }

    /// Call an export. The outer error is the script's, the inner the guest's.
    fn invoke(&mut self, call: &Invoke) -> Result<Result<Vec<Val>, Error>, Wrong> {
        let instance = self.instance(call.module.as_ref())?;
        let Some(func) = instance.get_func(&self.store, &call.func) else {
            return wrong(format!("no function '{}'", call.func));
        };
        let store = &mut self.store;
        let args: Option<Vec<Val>> = call.args.iter().map(|arg| arg.value(store)).collect();
        let Some(args) = args else {
            return wrong("the engine has no such argument");
        };
        let ty = func.ty(&self.store);
        let mut results: Vec<Val> = ty
            .results()
            .iter()
            .map(|ty| Val::default_for(*ty))
            .collect();
        let outcome = func.call(&mut self.store, &args, &mut results);
        Ok(outcome.map(|()| results))
    }

    fn execute(&mut self, exec: &Exec) -> Result<Result<Vec<Val>, Error>, Wrong> {
        match exec {
            Exec::Invoke(call) => self.invoke(call),
            Exec::Module(module) => {
                let outcome = self.try_instantiate(module)?;
                Ok(outcome.map(|()| Vec::new()))
            }
            Exec::Get { module, global } => {
                let instance = self.instance(module.as_ref())?;
                match instance.get_export(&self.store, global) {
                    Some(Extern::Global(global)) => Ok(Ok(vec![global.get(&self.store)])),
                    _ => wrong(format!("no global '{global}'")),
                }
            }
        }
    }

    fn try_instantiate(&mut self, module: &Encoded) -> Result<Result<(), Error>, Wrong> {
        let compiled = self.compile(module)?;
        Ok(self
            .linker
            .instantiate(&mut self.store, &compiled)
            .map(|_| ()))
    }

    fn returns(&mut self, exec: &Exec, expected: &[Pattern]) -> Held {
        let results = self.execute(exec)?.map_err(unexpected)?;
        if results.len() != expected.len() {
            return wrong(format!("{} results, not {}", results.len(), expected.len()));
        }
        for (result, expected) in results.iter().zip(expected) {
            if !expected.matches(result, &self.store) {
                return wrong(format!("{result:x?}, not {expected:x?}"));
            }
        }
        Ok(())
    }

    /// A module that must be refused: by validation, or already as text.
    fn rejects(&self, module: &Encoded, encodable: bool) -> Held {
        let bytes = match encoded(module) {
            Ok(bytes) => bytes,
            Err(_) if !encodable => return Ok(()),
            Err(wrong) => return Err(wrong),
        };
        match Module::new(self.engine, bytes) {
            Ok(_) => wrong("accepted"),
            Err(error) => match error.kind() {
                ErrorKind::Invalid { .. } | ErrorKind::Unsupported { .. } => Ok(()),
                _ => wrong(format!("refused for another reason: {error}")),
            },
        }
    }

    fn unlinkable(&mut self, module: &Encoded, expected: &str) -> Held {
        match self.try_instantiate(module)? {
            Ok(()) => wrong(format!("linked instead of: {expected}")),
            Err(error) => match error.kind() {
                ErrorKind::Link { message, .. } if message.starts_with(expected) => Ok(()),
                _ => wrong(format!("{error}, not {expected}")),
            },
        }
    }

    /// Start a thread with a store of its own, which can register the shared
    /// memories that the module named exports.
    fn spawn(&mut self, name: &str, shared: Option<&String>, lines: &'e [Line]) -> Held {
        let mut handed = HashMap::new();
        if let Some(shared) = shared {
            handed.insert(shared.clone(), self.shared_memories(shared)?);
        }
        let (engine, scope) = (self.engine, self.scope);
        let thread = scope.spawn(move || {
            let context = Context::new(engine, scope);
            run_lines(Context { handed, ..context }, lines)
        });
        self.threads.insert(name.to_owned(), thread);
        Ok(())
    }

    fn shared_memories(&self, module: &String) -> Result<Vec<(String, SharedMemory)>, Wrong> {
        let exports = self.instance(Some(module))?.exports(&self.store);
        let shared = exports.into_iter().filter_map(|(name, item)| match item {
            Extern::Memory(memory) => Some((name, memory.as_shared(&self.store)?)),
            _ => None,
        });
        Ok(shared.collect())
    }

    fn wait(&mut self, thread: &str) -> Held {
        let Some(thread) = self.threads.remove(thread) else {
            return wrong(format!("no thread '{thread}'"));
        };
        self.joined.extend(join(thread));
        Ok(())
    }
}

/// What the directives of a thread came to.
fn join(thread: ScopedJoinHandle<'_, Outcomes>) -> Outcomes {
    thread.join().unwrap_or_else(|_| {
        let failure = Failure {
            message: "the thread panicked".into(),
            cause: Cause::Defect,
        };
        vec![(0, Outcome::Failed(failure))]
    })
}

fn encoded(module: &Encoded) -> Result<&[u8], Wrong> {
    match module {
        Ok(bytes) => Ok(bytes),
        Err(message) => wrong(format!("not encodable: {message}")),
    }
}

/// Whether an execution trapped as it should. The suite's message and ours
/// agree if one begins with the other: the suite shortens some ("undefined")
/// and adds an index to others ("uninitialized element 2").
fn traps(outcome: Result<Vec<Val>, Error>, expected: &str) -> Held {
    let error = match outcome {
        Ok(_) => {
            let cause = match expected == OUT_OF_BOUNDS {
                true => Cause::Inexact,
                false => Cause::Defect,
            };
            let message = format!("went on instead of: {expected}");
            return Err(Wrong { message, cause });
        }
        Err(error) => error,
    };
    let Some(trap) = error.trap() else {
        return wrong(format!("{error}, not the trap {expected}"));
    };
    let code = trap.code.to_string();
    match code.starts_with(expected) || expected.starts_with(&code) {
        true => Ok(()),
        false => wrong(format!("trap {code}, not {expected}")),
    }
}

/// Whether an execution ended with an exception that nothing caught.
fn throws(outcome: Result<Vec<Val>, Error>) -> Held {
    match outcome {
        Ok(_) => wrong("went on instead of throwing an exception"),
        Err(error) if error.exception().is_some() => Ok(()),
        Err(error) => wrong(format!("{error}, not an exception")),
    }
}
