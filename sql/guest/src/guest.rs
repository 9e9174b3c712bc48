//! One instance, which one thread uses at a time.

use std::time::Duration;

use arrow_array::ArrayRef;
use fathom_engine::{
    Error, Instance, Interrupt, Memory, OutOfBounds, Pool, Pooled, SharedMemory, StoreLimits,
    StoreLimitsBuilder, TrapCode, TypedFunc, WasmParams, WasmResults,
};

use crate::{
    batch::{Input, Output, Source, Width},
    column::ColumnType,
    deadline::{Deadline, PATIENCE},
    options::Options,
};

/// Longest message of a guest's that is passed on.
const MESSAGE_BYTES_MAX: usize = 200;

/// An instance with its store. Whatever fails in it, it is not to be used again as it is: it goes
/// back to its pool, which makes it what it was at first.
pub struct Guest {
    store: Pooled<StoreLimits>,
    memory: Held,
    width: Width,
    reserve: Reserve,
    /// Those that were looked up, by their names.
    statuses: Vec<(String, Status)>,
    interrupt: Interrupt,
    deadline: Duration,
    memory_bytes_max: usize,
}

/// Where its batches are.
enum Held {
    /// A memory that nobody else has.
    Own(Memory),
    /// One that instances on other threads have, too.
    Shared(SharedMemory),
}

/// How it says where there is room.
#[derive(Clone, Copy)]
enum Reserve {
    Narrow(TypedFunc<u32, u32>),
    Wide(TypedFunc<u32, u64>),
}

/// What takes two addresses, and returns a status.
#[derive(Clone, Copy)]
enum Status {
    Narrow(TypedFunc<(u32, u32), i32>),
    Wide(TypedFunc<(u64, u64), i32>),
}

impl Reserve {
    fn of(
        instance: &Instance,
        store: &Pooled<StoreLimits>,
        width: Width,
    ) -> Result<Reserve, Error> {
        let name = "fathom_reserve";
        match width {
            Width::Narrow => instance.get_typed_func(store, name).map(Reserve::Narrow),
            Width::Wide => instance.get_typed_func(store, name).map(Reserve::Wide),
        }
    }
}

impl Guest {
    /// An instance, made by its deadline, that makes itself ready.
    ///
    /// # Errors
    /// It cannot be made, or exports no memory or `fathom_reserve`, in words; so all below.
    pub(crate) fn new(pool: &Pool<StoreLimits>, options: &Options) -> Result<Guest, String> {
        let mut guest = Guest::bare(pool, options)?;
        // A reactor of WASI's does it there.
        if guest.has("_initialize") {
            guest.call::<(), ()>("_initialize", ())?;
        }
        Ok(guest)
    }

    /// An instance of which nothing was called but its start.
    ///
    /// # Errors
    /// As [`Guest::new`].
    pub(crate) fn bare(pool: &Pool<StoreLimits>, options: &Options) -> Result<Guest, String> {
        let (deadline, memory_bytes_max) = (options.deadline, options.memory_bytes);
        let limits = StoreLimitsBuilder::new().memory_size(memory_bytes_max);
        let limits = limits.build();
        let interrupt = Interrupt::new();
        let watched = Deadline::after(deadline, &interrupt)?;
        let made = pool.instantiate_with(limits, |one| {
            one.limiter(|limits| limits);
            one.set_interrupt(&interrupt);
        });
        drop(watched);
        let store = made.map_err(|error| in_words(&error, deadline))?;
        let instance = store.instance();
        // It may have been raised behind the last instruction, and is not again.
        interrupt.clear();
        let memory = instance.get_memory(&store, "memory");
        let memory = memory.ok_or("it exports no memory called memory")?;
        let ty = memory.ty(&store);
        let width = if ty.memory64 {
            Width::Wide
        } else {
            Width::Narrow
        };
        let memory = match memory.as_shared(&store) {
            Some(shared) => Held::Shared(shared),
            None => Held::Own(memory),
        };
        let reserve = Reserve::of(&instance, &store, width).map_err(|error| error.to_string())?;
        Ok(Guest {
            store,
            memory,
            width,
            reserve,
            statuses: Vec::new(),
            interrupt,
            deadline,
            memory_bytes_max,
        })
    }

    /// Whether it exports a function of this name.
    pub fn has(&self, name: &str) -> bool {
        self.store.instance().get_func(&self.store, name).is_some()
    }

    /// What ends its calls from another thread.
    pub fn stop(&self) -> Stop {
        Stop(self.interrupt.clone())
    }

    /// Bytes of its memory.
    pub fn bytes(&self) -> usize {
        self.source().len() as usize
    }

    fn source(&self) -> Source<'_> {
        match &self.memory {
            Held::Own(memory) => memory.data(&self.store).into(),
            Held::Shared(memory) => memory.into(),
        }
    }

    /// Calls an export that returns an address.
    ///
    /// # Errors
    /// It fails, in words: of another type, a trap, too long.
    pub fn address(&mut self, name: &str) -> Result<u64, String> {
        match self.width {
            Width::Narrow => self.call::<(), u32>(name, ()).map(u64::from),
            Width::Wide => self.call(name, ()),
        }
    }

    /// Calls an export that takes two addresses and returns a status, which is a failure below
    /// zero.
    ///
    /// # Errors
    /// It fails, or says that it did.
    pub fn status(&mut self, name: &str, one: u64, other: u64) -> Result<i32, String> {
        let status = match self.status_func(name)? {
            Status::Narrow(func) => self.call_func(&func, (one as u32, other as u32)),
            Status::Wide(func) => self.call_func(&func, (one, other)),
        };
        self.accepted(status?)
    }

    /// Looked up once: its type would be compared for each batch.
    fn status_func(&mut self, name: &str) -> Result<Status, String> {
        let mut there = self.statuses.iter();
        if let Some((_, func)) = there.find(|(own, _)| own == name) {
            return Ok(*func);
        }
        let func = match self.width {
            Width::Narrow => (self.store.instance())
                .get_typed_func(&self.store, name)
                .map(Status::Narrow),
            Width::Wide => (self.store.instance())
                .get_typed_func(&self.store, name)
                .map(Status::Wide),
        };
        let func = func.map_err(|error| error.to_string())?;
        self.statuses.push((name.to_owned(), func));
        Ok(func)
    }

    /// As [`Guest::status`] with a number between the addresses.
    ///
    /// # Errors
    /// It fails, or says that it did.
    pub fn status_of(
        &mut self,
        name: &str,
        one: u64,
        number: u32,
        other: u64,
    ) -> Result<i32, String> {
        let status = match self.width {
            Width::Narrow => self.call(name, (one as u32, number, other as u32)),
            Width::Wide => self.call(name, (one, number, other)),
        };
        self.accepted(status?)
    }

    /// Calls an export that takes an address and a number, and returns a status.
    ///
    /// # Errors
    /// It fails, or says that it did.
    pub fn step(&mut self, name: &str, at: u64, number: u32) -> Result<i32, String> {
        let status = match self.width {
            Width::Narrow => self.call(name, (at as u32, number)),
            Width::Wide => self.call(name, (at, number)),
        };
        self.accepted(status?)
    }

    /// Calls an export that takes an address and returns nothing.
    ///
    /// # Errors
    /// It fails.
    pub fn end(&mut self, name: &str, at: u64) -> Result<(), String> {
        match self.width {
            Width::Narrow => self.call(name, at as u32),
            Width::Wide => self.call(name, at),
        }
    }

    /// Calls an export by its deadline.
    fn call<P: WasmParams, R: WasmResults>(&mut self, name: &str, args: P) -> Result<R, String> {
        let instance = self.store.instance();
        let func = instance.get_typed_func::<P, R>(&mut self.store, name);
        let func = func.map_err(|error| error.to_string())?;
        self.call_func(&func, args)
    }

    fn call_func<P: WasmParams, R: WasmResults>(
        &mut self,
        func: &TypedFunc<P, R>,
        args: P,
    ) -> Result<R, String> {
        let watched = Deadline::after(self.deadline, &self.interrupt)?;
        let result = func.call(&mut self.store, args);
        drop(watched);
        // It may have been raised behind the last instruction, and is not again.
        self.interrupt.clear();
        result.map_err(|error| in_words(&error, self.deadline))
    }

    /// As many as its memory may ever have.
    pub(crate) fn memory_bytes_max(&self) -> usize {
        self.memory_bytes_max
    }

    /// Writes a batch, and room for results: the addresses of both.
    ///
    /// # Errors
    /// It has no room for it.
    pub fn give(&mut self, input: &Input, results: &[ColumnType]) -> Result<(u64, u64), String> {
        let given = self.offer(input, results)?;
        given.ok_or_else(|| self.no_room(input, results))
    }

    /// What is said where it has no room for a batch.
    pub(crate) fn no_room(&self, input: &Input, results: &[ColumnType]) -> String {
        let bytes = input.bytes(results, self.width);
        format!("it has no memory for a batch of {bytes} bytes")
    }

    /// The same where it has room; none where it says that it has not.
    ///
    /// # Errors
    /// It fails, or says that there is room where there is none.
    pub(crate) fn offer(
        &mut self,
        input: &Input,
        results: &[ColumnType],
    ) -> Result<Option<(u64, u64)>, String> {
        let bytes = input.bytes(results, self.width);
        let Ok(wanted) = u32::try_from(bytes) else {
            return Ok(None);
        };
        let at = match self.reserve {
            Reserve::Narrow(reserve) => self.call_func(&reserve, wanted).map(u64::from),
            Reserve::Wide(reserve) => self.call_func(&reserve, wanted),
        }?;
        if at == 0 {
            return Ok(None);
        }
        let end = at.checked_add(bytes as u64);
        if end.is_none_or(|end| end > self.source().len()) || at % 8 != 0 {
            return Err(format!(
                "fathom_reserve returned {at:#x} for {bytes} bytes: outside its memory, or no multiple of 8"
            ));
        }
        match &self.memory {
            Held::Own(memory) => {
                let memory = memory.data_mut(&mut self.store);
                Ok(Some(input.write(memory, at, results, self.width)))
            }
            Held::Shared(memory) => {
                let written = input.write_shared(memory, at, results, self.width);
                let written = written.map_err(|outside: OutOfBounds| outside.to_string())?;
                Ok(Some(written))
            }
        }
    }

    /// The rows of a batch that stays where it is, if its columns are said to be of these
    /// types.
    ///
    /// # Errors
    /// It is none, or another.
    pub fn shape(&self, at: u64, types: &[ColumnType]) -> Result<usize, String> {
        let output = Output::new(self.source(), at, self.width);
        let shape = output.shape(types);
        shape.map_err(|defect| format!("it returned {defect}"))
    }

    /// Reads what is at the address of a batch.
    ///
    /// # Errors
    /// It is none, or another.
    pub fn take(
        &self,
        at: u64,
        types: &[ColumnType],
        given: Option<usize>,
    ) -> Result<Vec<ArrayRef>, String> {
        let output = Output::new(self.source(), at, self.width);
        let read = output.read(types, given);
        read.map_err(|defect| format!("it returned {defect}"))
    }

    /// The status that a call came back with; of a failure the guest may say more.
    fn accepted(&mut self, status: i32) -> Result<i32, String> {
        if status >= 0 {
            return Ok(status);
        }
        match self.message() {
            Some(message) => Err(format!("it reports: {message}")),
            None => Err(format!("it reports failure {status}")),
        }
    }

    /// What it exports to say.
    fn message(&mut self) -> Option<String> {
        if !self.has("fathom_message") {
            return None;
        }
        let at = self.address("fathom_message").ok()?;
        self.text(at, MESSAGE_BYTES_MAX)
            .filter(|text| !text.is_empty())
    }

    /// The text at an address, up to a zero or `most` bytes; without what a terminal would
    /// act on.
    pub fn text(&self, at: u64, most: usize) -> Option<String> {
        let source = self.source();
        let behind = source.len().checked_sub(at)?;
        let rest = source.piece(at, behind.min(most as u64))?;
        let end = rest.iter().position(|byte| *byte == 0);
        let text = String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len())]);
        Some(text.chars().filter(|c| !c.is_control()).collect())
    }
}

/// Ends the calls of an instance, which is not to be used any more then.
#[derive(Clone)]
pub struct Stop(Interrupt);

impl Stop {
    /// Ends the one that there is, if there is one, and those that come.
    pub fn now(&self) {
        // One that is in the engine's own code for long ends by its deadline.
        self.0.stop(PATIENCE);
    }
}

/// An error of the engine's in one line.
fn in_words(error: &fathom_engine::Error, deadline: Duration) -> String {
    match error.trap().map(|trap| trap.code) {
        Some(TrapCode::Interrupted) => format!("it took longer than its deadline of {deadline:?}"),
        code => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            let kind = if code.is_some() { "trap: " } else { "" };
            match std::error::Error::source(error) {
                Some(cause) => format!("{kind}{line}: {cause}"),
                None => format!("{kind}{line}"),
            }
        }
    }
}
