//! A script as it is run: parsed and its modules encoded, once for all modes.
//!
//! What the text format's library borrows from the text is copied out, so that
//! a script can be shared by threads and outlive its text.

use wast::lexer::Lexer;
use wast::parser::{self, ParseBuffer};
use wast::token::Id;
use wast::{QuoteWat, Wast, WastDirective, WastExecute, WastInvoke, WastThread, Wat};

use crate::groups::{Group, Source};
use crate::values::{Arg, Pattern};

/// A script, ready to run.
pub struct Script {
    /// `GROUP/FILE`.
    pub name: String,
    pub group: &'static Group,
    /// Its directives, or why it cannot be read.
    pub lines: Result<Vec<Line>, String>,
    /// Bytes of its text: long scripts are started first.
    pub bytes: usize,
}

/// A directive and its line.
pub struct Line {
    pub line: usize,
    pub step: Step,
}

/// A module as bytes, or why it has none.
pub type Encoded = Result<Vec<u8>, String>;

/// A directive.
pub enum Step {
    /// Compile, instantiate, make it the current one.
    Module {
        name: Option<String>,
        module: Encoded,
    },
    /// Compile only.
    Definition {
        name: Option<String>,
        module: Encoded,
    },
    /// Instantiate what was compiled.
    Instance {
        name: Option<String>,
        module: Option<String>,
    },
    Register {
        name: String,
        module: Option<String>,
    },
    Invoke(Invoke),
    Return {
        exec: Exec,
        results: Vec<Pattern>,
    },
    Trap {
        exec: Exec,
        message: String,
    },
    Exception {
        exec: Exec,
    },
    /// It ends by a `suspend` that nobody handles.
    Suspension {
        exec: Exec,
        message: String,
    },
    Invalid {
        module: Encoded,
    },
    Malformed {
        module: Encoded,
    },
    Unlinkable {
        module: Encoded,
        message: String,
    },
    /// Run these in a thread of their own.
    Thread {
        name: String,
        shared: Option<String>,
        lines: Vec<Line>,
    },
    /// Until that thread has ended.
    Wait {
        thread: String,
    },
    /// A directive of something that is not WebAssembly's core.
    Unknown,
}

/// A call of an export.
pub struct Invoke {
    pub module: Option<String>,
    pub func: String,
    pub args: Vec<Arg>,
}

/// What yields results.
pub enum Exec {
    Invoke(Invoke),
    Module(Encoded),
    Get {
        module: Option<String>,
        global: String,
    },
}

impl Script {
    /// Whether it is about stack switching.
    pub fn switches_stacks(&self) -> bool {
        self.name.starts_with("stack-switching/") || self.name.starts_with("own/continuations")
    }

    /// Parse a source and encode its modules.
    pub fn prepare(source: &Source) -> Script {
        let mut lexer = Lexer::new(&source.text);
        lexer.allow_confusing_unicode(true);
        let parsed = ParseBuffer::new_with_lexer(lexer);
        let lines = parsed.map_err(|error| error.to_string());
        let lines = lines.and_then(|buffer| {
            let wast = parser::parse::<Wast>(&buffer).map_err(|error| error.to_string())?;
            Ok(read_lines(&source.text, wast.directives))
        });
        Script {
            name: format!("{}/{}", source.group.name, source.file),
            group: source.group,
            lines,
            bytes: source.text.len(),
        }
    }
}

fn read_lines(text: &str, directives: Vec<WastDirective<'_>>) -> Vec<Line> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |directive: WastDirective<'_>| {
        let at = directive.span().offset();
        Line {
            line: ends.partition_point(|&end| end < at) + 1,
            step: read(text, directive),
        }
    };
    directives.into_iter().map(line).collect()
}

fn read(text: &str, directive: WastDirective<'_>) -> Step {
    match directive {
        WastDirective::Module(mut module) => Step::Module {
            name: owned(module.name()),
            module: encode(&mut module),
        },
        WastDirective::ModuleDefinition(mut module) => Step::Definition {
            name: owned(module.name()),
            module: encode(&mut module),
        },
        WastDirective::ModuleInstance {
            instance, module, ..
        } => Step::Instance {
            name: owned(instance),
            module: owned(module),
        },
        WastDirective::Register { name, module, .. } => Step::Register {
            name: name.to_owned(),
            module: owned(module),
        },
        WastDirective::Invoke(call) => Step::Invoke(Invoke::read(&call)),
        WastDirective::Thread(thread) => {
            let WastThread {
                name,
                shared_module,
                directives,
                ..
            } = thread;
            Step::Thread {
                name: name.name().to_owned(),
                shared: owned(shared_module),
                lines: read_lines(text, directives),
            }
        }
        WastDirective::Wait { thread, .. } => Step::Wait {
            thread: thread.name().to_owned(),
        },
        assertion => read_assertion(assertion),
    }
}

fn read_assertion(directive: WastDirective<'_>) -> Step {
    match directive {
        WastDirective::AssertReturn { exec, results, .. } => Step::Return {
            exec: Exec::read(exec),
            results: results.iter().map(Pattern::read).collect(),
        },
        WastDirective::AssertTrap { exec, message, .. } => Step::Trap {
            exec: Exec::read(exec),
            message: message.to_owned(),
        },
        WastDirective::AssertExhaustion { call, message, .. } => Step::Trap {
            exec: Exec::Invoke(Invoke::read(&call)),
            message: message.to_owned(),
        },
        WastDirective::AssertSuspension { exec, message, .. } => Step::Suspension {
            exec: Exec::read(exec),
            message: message.to_owned(),
        },
        WastDirective::AssertException { exec, .. } => Step::Exception {
            exec: Exec::read(exec),
        },
        WastDirective::AssertInvalid { mut module, .. } => Step::Invalid {
            module: encode(&mut module),
        },
        WastDirective::AssertMalformed { mut module, .. } => Step::Malformed {
            module: encode(&mut module),
        },
        WastDirective::AssertUnlinkable {
            mut module,
            message,
            ..
        } => Step::Unlinkable {
            module: encode_wat(&mut module),
            message: message.to_owned(),
        },
        _ => Step::Unknown,
    }
}

impl Invoke {
    fn read(call: &WastInvoke<'_>) -> Invoke {
        Invoke {
            module: owned(call.module),
            func: call.name.to_owned(),
            args: call.args.iter().map(Arg::read).collect(),
        }
    }
}

impl Exec {
    fn read(exec: WastExecute<'_>) -> Exec {
        match exec {
            WastExecute::Invoke(call) => Exec::Invoke(Invoke::read(&call)),
            WastExecute::Wat(mut module) => Exec::Module(encode_wat(&mut module)),
            WastExecute::Get { module, global, .. } => Exec::Get {
                module: owned(module),
                global: global.to_owned(),
            },
        }
    }
}

fn owned(id: Option<Id<'_>>) -> Option<String> {
    id.map(|id| id.name().to_owned())
}

fn encode(module: &mut QuoteWat<'_>) -> Encoded {
    module.encode().map_err(|error| error.message())
}

fn encode_wat(module: &mut Wat<'_>) -> Encoded {
    module.encode().map_err(|error| error.message())
}
