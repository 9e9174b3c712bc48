//! Programs that throw and catch, made at random: what they do is what a slow interpreter says,
//! which hands exceptions out from block to block and unwinds nothing.
//!
//! ```text
//!  seed ─ program ─┬─ encode    ─► module ─► two instances, in each way to compile
//!                  └─ interpret ─► calls: values, trap or exception; globals and memories
//! ```
//!
//! The calls of a program are made one after the other in one store: whatever a trap or an
//! exception has ended, the next call must be right. On a stack with little room each call is made
//! at every depth of recursion that there is room for: it is what the interpreter says, or the
//! stack is exhausted.

pub mod blocks;
pub mod encode;
pub mod guest;
pub mod interpret;
pub mod make;
pub mod ops;
pub mod program;

use std::sync::Arc;

use fathom_engine::{
    Bounds, BoundsChoice, Codegen, Config, Engine, Error, Module, Quota, TrapCode,
};

use crate::generate::Below;
use crate::ours::ways::Way;
use encode::DEEP;
use guest::Guest;
use interpret::{End, Machine, Numbers, State};
use program::{Program, arguments};

/// Bytes of the stacks that calls have little room on.
const TIGHT_BYTES: [usize; 2] = [6 << 10, 20 << 10];
/// Calls into recursion: more than there is room for.
const DEPTHS: u32 = 2000;
/// Depths that are looked at: with room, and without.
const BEFORE: u32 = 3;
const BEHIND: u32 = 9;

/// A configuration that programs are run in.
pub struct Configured {
    pub name: String,
    engine: Engine,
    /// Whether what one pass takes is compiled in one pass.
    is_direct: bool,
    /// Whether calls are made at every depth that there is room for.
    pub is_tight: bool,
    /// Whether frames change from call to call.
    changes: bool,
}

/// A program, and what is called of it: whose, which, and with what.
pub struct Case {
    program: Arc<Program>,
    pub wasm: Vec<u8>,
    calls: Vec<Call>,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    instance: usize,
    func: usize,
    number: i64,
    /// Which of its recursions leads to it, where there is one.
    more: usize,
}

/// How often things happened, for the summary at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Calls of programs in all configurations.
    pub calls: u64,
    /// Calls of the interpreter: how they ended.
    pub values: u64,
    pub traps: u64,
    pub exceptions: u64,
    pub numbers: Numbers,
    /// Functions that one pass left to Cranelift.
    pub left: u64,
    /// Calls on tight stacks, and those that there was no room for.
    pub depths: u64,
    pub full: u64,
}

/// The configurations: every way to compile under two strategies, with fuel, and on tight stacks.
///
/// # Errors
/// An engine that cannot be made.
pub fn engines() -> Result<Vec<Configured>, Error> {
    let mut all = Vec::new();
    let mut add = |name: String, config: Config, codegen: Codegen, is_tight: bool| {
        let config = config.quota(Quota {
            stack_bytes: 4 << 30,
            ..Quota::default()
        });
        Engine::new(&config).map(|engine| {
            all.push(Configured {
                name,
                engine,
                is_direct: codegen == Codegen::Direct,
                is_tight,
                changes: matches!(codegen, Codegen::Tiered | Codegen::TieredLlvm),
            });
        })
    };
    let way = |way: &Way, bounds| way.of(Config::new().bounds(BoundsChoice::Named(bounds)));
    for bounds in [Bounds::Guard, Bounds::Trap] {
        for one in Way::all() {
            let config = way(&one, bounds);
            add(format!("{bounds} {one}"), config, one.codegen, false)?;
        }
    }
    let first = &Way::all()[0];
    let fuel = way(first, Bounds::Guard).consume_fuel(true);
    let fuel = fuel.initial_fuel(1 << 40);
    add(format!("{first} with fuel"), fuel, first.codegen, false)?;
    for bytes in TIGHT_BYTES {
        for one in Way::all() {
            let config = way(&one, Bounds::Guard).max_wasm_stack(bytes);
            let name = format!("{one} with {bytes} bytes of stack");
            add(name, config, one.codegen, true)?;
        }
    }
    Ok(all)
}

/// Four of them, others for the next seed: on tight stacks in one.
pub fn in_turn(all: &[Configured], seed: u64) -> Vec<&Configured> {
    let (tight, roomy): (Vec<&Configured>, Vec<&Configured>) =
        all.iter().partition(|one| one.is_tight);
    let nth = |some: &[&Configured], turn: u64| (seed + turn) as usize % some.len();
    let mut found = vec![tight[nth(&tight, 0)]];
    found.extend([0, 4, 8].map(|turn| roomy[nth(&roomy, turn)]));
    found
}

impl Case {
    /// A program and its calls.
    pub fn random(below: Below<'_>) -> Case {
        let program = Arc::new(Program::random(below));
        let wasm = encode::encode(&program);
        let calls = (0..3 + below(5)).map(|_| {
            // Most often one of the first, which call the others.
            let most = 1 + below(program.funcs.len());
            Call {
                instance: below(2),
                func: below(most),
                number: below(1 << 20) as i64 - (1 << 10),
                more: below(DEEP),
            }
        });
        let calls = calls.collect();
        Case {
            program,
            wasm,
            calls,
        }
    }

    fn arguments(&self, call: Call) -> Vec<u128> {
        arguments(&self.program.funcs[call.func].sig.params, call.number)
    }

    /// Hold an engine to what the interpreter says.
    ///
    /// # Errors
    /// What differs, in a line.
    pub fn check(&self, engines: &[&Configured]) -> Result<Seen, String> {
        let mut seen = Seen::default();
        let mut machine = Machine::new(&self.program);
        let mut expected = Vec::new();
        for call in &self.calls {
            let end = machine.call(call.instance, call.func, &self.arguments(*call));
            *match end {
                End::Values(_) => &mut seen.values,
                End::Trap(_) => &mut seen.traps,
                End::Exception(..) => &mut seen.exceptions,
            } += 1;
            expected.push((end, machine.states.clone()));
        }
        seen.numbers = machine.numbers;
        for configured in engines {
            let ran = match configured.is_tight {
                true => self.at_depths(configured, &mut seen),
                false => self.in_turn(configured, &expected, &mut seen),
            };
            ran.map_err(|why| format!("{}: {why}", configured.name))?;
        }
        Ok(seen)
    }

    fn guest(&self, configured: &Configured, seen: &mut Seen) -> Result<Guest, String> {
        let say = |error: Error| format!("refused: {error}");
        let module = Module::new(&configured.engine, &self.wasm).map_err(say)?;
        let guest = Guest::new(&configured.engine, &module, &self.program).map_err(say)?;
        if configured.is_direct {
            for left in module.fallbacks() {
                if !self.may_be_left() {
                    return Err(format!("left to Cranelift: {left:?}"));
                }
                seen.left += 1;
            }
        }
        Ok(guest)
    }

    /// Whether something has more results than there are registers.
    fn may_be_left(&self) -> bool {
        let few = 8;
        let is_wide = |func: &program::Func| func.sig.results.len() > few;
        self.program.funcs.iter().any(is_wide)
    }

    fn in_turn(
        &self,
        configured: &Configured,
        expected: &[(End, [State; 2])],
        seen: &mut Seen,
    ) -> Result<(), String> {
        let mut guest = self.guest(configured, seen)?;
        for (nth, (call, (end, states))) in self.calls.iter().zip(expected).enumerate() {
            let given = self.arguments(*call);
            let found = guest.call((call.instance, call.func), None, &given)?;
            seen.calls += 1;
            same(&found, end, &guest, states).map_err(|why| format!("{nth}: {call:?}: {why}"))?;
        }
        Ok(())
    }

    /// The calls at depths around the first one that has no room for all of them, each as if it
    /// was the first call. Behind each a call with all the room must be right.
    fn at_depths(&self, configured: &Configured, seen: &mut Seen) -> Result<(), String> {
        let mut guest = self.guest(configured, seen)?;
        for call in &self.calls {
            let mut machine = Machine::new(&self.program);
            let end = machine.call(call.instance, call.func, &self.arguments(*call));
            let expected = (end, machine.states);
            let has_room = self.once(&mut guest, *call, 0, &expected)?;
            let (mut with, mut without) = (0, DEPTHS);
            while has_room && with + 1 < without {
                let middle = u32::midpoint(with, without);
                match self.once(&mut guest, *call, middle, &expected)? {
                    true => with = middle,
                    false => without = middle,
                }
            }
            for depth in with.saturating_sub(BEFORE)..with + BEHIND {
                let found = self.once(&mut guest, *call, depth, &expected)?;
                seen.depths += 1;
                seen.full += u64::from(!found);
                let is_same = found == (has_room && depth <= with);
                if !is_same && !configured.changes {
                    return Err(format!("{call:?} at {depth}: room is {found}, {with}"));
                }
                if has_room && !self.once(&mut guest, *call, 0, &expected)? && !configured.changes {
                    return Err(format!("{call:?} behind {depth}: no room any more"));
                }
            }
        }
        Ok(())
    }

    /// A call at a depth: false where there is no room for it.
    fn once(
        &self,
        guest: &mut Guest,
        call: Call,
        depth: u32,
        (end, states): &(End, [State; 2]),
    ) -> Result<bool, String> {
        guest.reset().map_err(|error| error.to_string())?;
        let of = (call.instance, call.func);
        let through = Some((call.more, depth));
        let found = guest.call(of, through, &self.arguments(call))?;
        if found == End::Trap(TrapCode::StackExhausted) {
            return Ok(false);
        }
        let said = same(&found, end, guest, states);
        said.map_err(|why| format!("{call:?} at {depth}: {why}"))?;
        Ok(true)
    }
}

/// Whether a call ended as it should, and left what it should.
fn same(found: &End, expected: &End, guest: &Guest, states: &[State; 2]) -> Result<(), String> {
    if found != expected {
        return Err(format!("{found:x?}, not {expected:x?}"));
    }
    for (instance, state) in states.iter().enumerate() {
        guest.agrees(instance, state)?;
    }
    Ok(())
}
