//! One script under one engine: what each directive came to.
//!
//! Follows the reference interpreter's reading of scripts
//! (<https://github.com/WebAssembly/spec/tree/main/interpreter#scripts>).

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fathom_engine::{Engine, Error, ErrorKind, Extern, Instance, Linker, Module, Store, Val};
use wast::lexer::Lexer;
use wast::parser::{self, ParseBuffer};
use wast::token::Id;
use wast::{QuoteWat, Wast, WastDirective, WastExecute, WastInvoke, WastRet, Wat};

use crate::spectest;
use crate::values;

/// A script and its name.
pub struct Script {
    pub name: String,
    pub text: Cow<'static, str>,
}

/// What a directive came to.
pub enum Outcome {
    Passed,
    Failed(Failure),
    /// Not run: it needs more than WebAssembly 2.0.
    Skipped,
}

/// A directive that did not hold.
pub struct Failure {
    pub message: String,
    /// Whether it went on where an access out of bounds was to trap, or comes
    /// after one in the same script: what an inexact strategy may do.
    pub inexact: bool,
}

/// The directives of one script, by line.
pub struct Report {
    pub script: String,
    pub outcomes: Vec<(usize, Outcome)>,
}

/// Run a script from its first directive to its last.
pub fn run(engine: &Engine, script: &Script) -> Report {
    let mut outcomes = Vec::new();
    let mut lexer = Lexer::new(&script.text);
    lexer.allow_confusing_unicode(true);
    let unreadable = |message: String| {
        let failure = Failure {
            message,
            inexact: false,
        };
        (0, Outcome::Failed(failure))
    };
    match ParseBuffer::new_with_lexer(lexer) {
        Err(error) => outcomes.push(unreadable(error.to_string())),
        Ok(buffer) => match parser::parse::<Wast>(&buffer) {
            Err(error) => outcomes.push(unreadable(error.to_string())),
            Ok(wast) => outcomes = run_directives(engine, script, wast.directives),
        },
    }
    Report {
        script: script.name.clone(),
        outcomes,
    }
}

/// A script of which nothing is run: its directives count as skipped.
pub fn skip(script: &Script) -> Report {
    let directives = script.text.lines().filter(|line| line.starts_with('('));
    let outcomes = directives.map(|_| (0, Outcome::Skipped));
    Report {
        script: script.name.clone(),
        outcomes: outcomes.collect(),
    }
}

fn run_directives(
    engine: &Engine,
    script: &Script,
    directives: Vec<WastDirective<'_>>,
) -> Vec<(usize, Outcome)> {
    let mut context = Context::new(engine);
    let mut outcomes = Vec::with_capacity(directives.len());
    let mut astray = false;
    for directive in directives {
        let line = directive.span().linecol_in(&script.text).0 + 1;
        let run = catch_unwind(AssertUnwindSafe(|| context.run(directive)));
        let outcome = match run {
            Ok(Ok(())) => Outcome::Passed,
            Ok(Err(Wrong::Skip)) => Outcome::Skipped,
            Ok(Err(Wrong::Unfulfilled(message))) => Outcome::Failed(Failure {
                message,
                inexact: astray,
            }),
            Ok(Err(Wrong::NoTrap(expected))) => {
                astray |= expected == OUT_OF_BOUNDS;
                let message = format!("went on instead of: {expected}");
                Outcome::Failed(Failure {
                    message,
                    inexact: expected == OUT_OF_BOUNDS,
                })
            }
            Err(_) => Outcome::Failed(Failure {
                message: "panicked".into(),
                inexact: false,
            }),
        };
        outcomes.push((line, outcome));
    }
    outcomes
}

/// What the suite calls the trap that inexact strategies may not raise.
const OUT_OF_BOUNDS: &str = "out of bounds memory access";

/// Why a directive did not pass.
enum Wrong {
    /// What came instead.
    Unfulfilled(String),
    /// No trap came where this one was to come.
    NoTrap(String),
    /// It needs more than WebAssembly 2.0.
    Skip,
}

type Held = Result<(), Wrong>;

fn wrong<T>(message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Unfulfilled(message.into()))
}

fn unexpected(error: Error) -> Wrong {
    Wrong::Unfulfilled(error.to_string())
}

/// What directives share.
struct Context<'e> {
    engine: &'e Engine,
    store: Store<()>,
    linker: Linker<()>,
    current: Option<Instance>,
    named: HashMap<String, Instance>,
    definitions: HashMap<String, Module>,
    last_definition: Option<Module>,
}

impl<'e> Context<'e> {
    fn new(engine: &'e Engine) -> Context<'e> {
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        spectest::define(&mut linker, &mut store).expect("the spectest module");
        Context {
            engine,
            store,
            linker,
            current: None,
            named: HashMap::new(),
            definitions: HashMap::new(),
            last_definition: None,
        }
    }

    fn run(&mut self, directive: WastDirective<'_>) -> Held {
        match directive {
            WastDirective::Module(mut module) => self.module(&mut module),
            WastDirective::ModuleDefinition(mut module) => self.definition(&mut module),
            WastDirective::ModuleInstance {
                instance, module, ..
            } => self.instance_of(instance, module),
            WastDirective::Register { name, module, .. } => {
                let instance = self.instance(module)?;
                self.linker.instance(&self.store, name, instance);
                Ok(())
            }
            WastDirective::Invoke(invoke) => self.invoke(&invoke)?.map(|_| ()).map_err(unexpected),
            WastDirective::AssertReturn { exec, results, .. } => self.returns(exec, &results),
            WastDirective::AssertTrap { exec, message, .. } => {
                let outcome = self.execute(exec)?;
                traps(outcome, message)
            }
            WastDirective::AssertExhaustion { call, message, .. } => {
                let outcome = self.invoke(&call)?;
                traps(outcome, message)
            }
            WastDirective::AssertInvalid { mut module, .. } => self.rejects(&mut module, true),
            WastDirective::AssertMalformed { mut module, .. } => self.rejects(&mut module, false),
            WastDirective::AssertUnlinkable {
                mut module,
                message,
                ..
            } => self.unlinkable(&mut module, message),
            _ => Err(Wrong::Skip),
        }
    }

    fn compile(&self, bytes: &[u8]) -> Result<Module, Error> {
        Module::new(self.engine, bytes)
    }

    fn encode(module: &mut QuoteWat<'_>) -> Result<Vec<u8>, Wrong> {
        module
            .encode()
            .map_err(|error| Wrong::Unfulfilled(format!("not encodable: {}", error.message())))
    }

    fn module(&mut self, module: &mut QuoteWat<'_>) -> Held {
        // A failure must not leave the module before in its place.
        self.current = None;
        let bytes = Self::encode(module)?;
        let compiled = self.compile(&bytes).map_err(unexpected)?;
        self.place(&compiled, module.name())
    }

    fn place(&mut self, module: &Module, name: Option<Id<'_>>) -> Held {
        let instance = self
            .linker
            .instantiate(&mut self.store, module)
            .map_err(unexpected)?;
        self.current = Some(instance);
        if let Some(id) = name {
            self.named.insert(id.name().to_owned(), instance);
        }
        Ok(())
    }

    fn definition(&mut self, module: &mut QuoteWat<'_>) -> Held {
        let bytes = Self::encode(module)?;
        let compiled = self.compile(&bytes).map_err(unexpected)?;
        if let Some(id) = module.name() {
            self.definitions
                .insert(id.name().to_owned(), compiled.clone());
        }
        self.last_definition = Some(compiled);
        Ok(())
    }

    fn instance_of(&mut self, instance: Option<Id<'_>>, module: Option<Id<'_>>) -> Held {
        let found = match module {
            Some(id) => self.definitions.get(id.name()),
            None => self.last_definition.as_ref(),
        };
        match found.cloned() {
            Some(module) => self.place(&module, instance),
            None => wrong("no such module definition"),
        }
    }

    fn instance(&self, id: Option<Id<'_>>) -> Result<Instance, Wrong> {
        let found = match id {
            Some(id) => self.named.get(id.name()).copied(),
            None => self.current,
        };
        found.map_or_else(|| wrong("no such instance"), Ok)
    }

    /// Call an export. The outer error is the script's, the inner the guest's.
    fn invoke(&mut self, invoke: &WastInvoke<'_>) -> Result<Result<Vec<Val>, Error>, Wrong> {
        let instance = self.instance(invoke.module)?;
        let Some(func) = instance.get_func(&self.store, invoke.name) else {
            return wrong(format!("no function '{}'", invoke.name));
        };
        let args: Option<Vec<Val>> = invoke.args.iter().map(values::argument).collect();
        let Some(args) = args else {
            return Err(Wrong::Skip);
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

    fn execute(&mut self, exec: WastExecute<'_>) -> Result<Result<Vec<Val>, Error>, Wrong> {
        match exec {
            WastExecute::Invoke(invoke) => self.invoke(&invoke),
            WastExecute::Wat(mut module) => {
                let outcome = self.try_instantiate(&mut module)?;
                Ok(outcome.map(|()| Vec::new()))
            }
            WastExecute::Get { module, global, .. } => {
                let instance = self.instance(module)?;
                match instance.get_export(&self.store, global) {
                    Some(Extern::Global(global)) => Ok(Ok(vec![global.get(&self.store)])),
                    _ => wrong(format!("no global '{global}'")),
                }
            }
        }
    }

    fn try_instantiate(&mut self, module: &mut Wat<'_>) -> Result<Result<(), Error>, Wrong> {
        let bytes = match module.encode() {
            Ok(bytes) => bytes,
            Err(error) => return wrong(format!("not encodable: {}", error.message())),
        };
        let compiled = self.compile(&bytes).map_err(unexpected)?;
        Ok(self
            .linker
            .instantiate(&mut self.store, &compiled)
            .map(|_| ()))
    }

    fn returns(&mut self, exec: WastExecute<'_>, expected: &[WastRet<'_>]) -> Held {
        let results = self.execute(exec)?.map_err(unexpected)?;
        if results.len() != expected.len() {
            return wrong(format!("{} results, not {}", results.len(), expected.len()));
        }
        for (result, expected) in results.iter().zip(expected) {
            match expected {
                WastRet::Core(expected) if values::matches(result, expected) => {}
                _ => return wrong(format!("{result:x?}, not {expected:x?}")),
            }
        }
        Ok(())
    }

    /// A module that must be refused: by validation, or already as text.
    fn rejects(&self, module: &mut QuoteWat<'_>, encodable: bool) -> Held {
        let bytes = match Self::encode(module) {
            Ok(bytes) => bytes,
            Err(_) if !encodable => return Ok(()),
            Err(wrong) => return Err(wrong),
        };
        match self.compile(&bytes) {
            Ok(_) => wrong("accepted"),
            Err(error) => match error.kind() {
                ErrorKind::Invalid { .. } | ErrorKind::Unsupported { .. } => Ok(()),
                _ => wrong(format!("refused for another reason: {error}")),
            },
        }
    }

    fn unlinkable(&mut self, module: &mut Wat<'_>, expected: &str) -> Held {
        match self.try_instantiate(module)? {
            Ok(()) => wrong(format!("linked instead of: {expected}")),
            Err(error) => match error.kind() {
                ErrorKind::Link { message, .. } if message.starts_with(expected) => Ok(()),
                _ => wrong(format!("{error}, not {expected}")),
            },
        }
    }
}

/// Whether an execution trapped as it should. The suite's message and ours
/// agree if one begins with the other: the suite shortens some ("undefined")
/// and adds an index to others ("uninitialized element 2").
fn traps(outcome: Result<Vec<Val>, Error>, expected: &str) -> Held {
    let error = match outcome {
        Ok(_) => return Err(Wrong::NoTrap(expected.to_owned())),
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
