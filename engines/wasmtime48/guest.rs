//! Programs: each iteration has a store, a WASI and an instance of its own, from one module
//! and one list of resolved imports. Instances in a row, of programs that import nothing,
//! have a store and no WASI. A component has the same, by interfaces of WASI 0.2.

use fathom_runner::cycle::{RunEnd, Streams};
use fathom_runner::record::{FailureKind, protocol::Measure};
use fathom_runner::{Refusal, arguments_of};
use wasmtime::component::{self, Component};
use wasmtime::{Engine, Error, InstancePre, Linker, Module, Store, TypedFunc};
use wasmtime_wasi::cli::{InputFile, OutputFile};
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wasi::p2;
use wasmtime_wasi::p2::bindings::sync::{Command, CommandPre};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtxBuilder};

use crate::{failed, line_of, not_instantiated};

/// A module or a component with its imports.
pub struct Program<'a> {
    engine: &'a Engine,
    resolved: Resolved,
    /// Of a module that imports nothing.
    bare: Option<InstancePre<()>>,
    measure: &'a Measure,
}

enum Resolved {
    Module(InstancePre<WasiP1Ctx>),
    Component(CommandPre<WasiP1Ctx>),
}

/// An instance: its store and the function that runs it.
pub enum Started {
    /// With a WASI.
    Whole(Store<WasiP1Ctx>, TypedFunc<(), ()>),
    /// Without.
    Bare(Store<()>, TypedFunc<(), ()>),
    /// Of a component: its exports.
    Component(Store<WasiP1Ctx>, Command),
}

impl<'a> Program<'a> {
    /// Resolves what the module imports.
    pub fn new(engine: &'a Engine, module: Module, measure: &'a Measure) -> Result<Self, Refusal> {
        let mut linker = Linker::new(engine);
        p1::add_to_linker_sync(&mut linker, |wasi: &mut WasiP1Ctx| wasi).map_err(internal)?;
        let resolved = linker.instantiate_pre(&module).map_err(link)?;
        let imports_nothing = module.imports().next().is_none();
        let bare = imports_nothing.then(|| Linker::new(engine).instantiate_pre(&module));
        Ok(Self {
            engine,
            resolved: Resolved::Module(resolved),
            bare: bare.transpose().map_err(link)?,
            measure,
        })
    }

    /// Resolves what the component imports.
    pub fn of_component(
        engine: &'a Engine,
        component: &Component,
        measure: &'a Measure,
    ) -> Result<Self, Refusal> {
        let mut linker = component::Linker::new(engine);
        p2::add_to_linker_sync(&mut linker).map_err(internal)?;
        let resolved = linker.instantiate_pre(component).map_err(link)?;
        Ok(Self {
            engine,
            resolved: Resolved::Component(CommandPre::new(resolved).map_err(link)?),
            bare: None,
            measure,
        })
    }

    fn world(&self, streams: Streams) -> Result<WasiP1Ctx, Refusal> {
        let mut builder = WasiCtxBuilder::new();
        builder
            .allow_blocking_current_thread(true)
            .args(&arguments_of(self.measure))
            .envs(&self.measure.env)
            .stdout(OutputFile::new(streams.stdout))
            .stderr(OutputFile::new(streams.stderr));
        if let Some(file) = streams.stdin {
            builder.stdin(InputFile::new(file));
        }
        for (host, guest) in &self.measure.dirs {
            let opened = builder.preopened_dir(host, guest, FsPerms::ReadWrite);
            opened.map_err(|error| {
                let message = format!("{}: {}", host.display(), line_of(&error));
                Refusal::new(FailureKind::Io, message)
            })?;
        }
        Ok(builder.build_p1())
    }
}

fn internal(error: Error) -> Refusal {
    Refusal::new(FailureKind::Internal, line_of(&error))
}

fn link(error: Error) -> Refusal {
    Refusal::new(FailureKind::Link, line_of(&error))
}

fn start<T>(resolved: &InstancePre<T>, store: &mut Store<T>) -> Result<TypedFunc<(), ()>, Refusal> {
    let instance = resolved.instantiate(&mut *store);
    let instance = instance.map_err(|error| not_instantiated(&error))?;
    instance.get_typed_func(store, "_start").map_err(|_| {
        let message = "the module has no function _start";
        Refusal::new(FailureKind::Link, message)
    })
}

impl fathom_runner::cycle::Program for Program<'_> {
    type World = WasiP1Ctx;
    type Instance = Started;
    type Error = Refusal;

    fn enter(&self, streams: Streams) -> Result<WasiP1Ctx, Refusal> {
        self.world(streams)
    }

    fn instantiate(&self, world: WasiP1Ctx) -> Result<Started, Refusal> {
        let mut store = Store::new(self.engine, world);
        match &self.resolved {
            Resolved::Module(resolved) => {
                let start = start(resolved, &mut store)?;
                Ok(Started::Whole(store, start))
            }
            Resolved::Component(resolved) => {
                let command = resolved.instantiate(&mut store);
                let command = command.map_err(|error| not_instantiated(&error))?;
                Ok(Started::Component(store, command))
            }
        }
    }

    fn instantiate_bare(&self) -> Option<Result<Started, Refusal>> {
        self.bare.as_ref().map(|resolved| {
            let mut store = Store::new(self.engine, ());
            let start = start(resolved, &mut store)?;
            Ok(Started::Bare(store, start))
        })
    }

    fn run(&self, instance: &mut Started) -> Result<RunEnd, Refusal> {
        let ended = match instance {
            Started::Whole(store, start) => start.call(store, ()),
            Started::Bare(store, start) => start.call(store, ()),
            // An error is a command's exit with 1 (wasi:cli/run).
            Started::Component(store, command) => match command.wasi_cli_run().call_run(store) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(())) => Err(I32Exit(1).into()),
                Err(error) => Err(error),
            },
        };
        let exit = match ended {
            Ok(()) => 0,
            Err(error) => match error.downcast_ref::<I32Exit>() {
                Some(exit) => exit.0,
                None => return Err(failed(&error)),
            },
        };
        Ok(RunEnd { exit, cpu_ns: None })
    }

    fn teardown(&self, instance: Started) {
        drop(instance);
    }
}
