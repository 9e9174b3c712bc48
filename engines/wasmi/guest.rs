//! Programs: each iteration has a store, a WASI and an instance of its own, from
//! one module and one list of resolved imports. Instances in a row, of programs that
//! import nothing, have a store and no WASI.

use std::path::Path;

use fathom_runner::cycle::{RunEnd, Streams};
use fathom_runner::record::{FailureKind, protocol::Measure};
use fathom_runner::{Refusal, arguments_of};
use wasmi::{Engine, Linker, Module, Store, TypedFunc};
use wasmi_wasi::wasi_common::sync::{Dir, WasiCtxBuilder, ambient_authority, file::File};
use wasmi_wasi::{WasiCtx, WasiFile};

use crate::refusal;

/// A module with its imports.
pub struct Program<'a> {
    engine: &'a Engine,
    module: Module,
    linker: Linker<WasiCtx>,
    /// Of a module that imports nothing.
    nothing: Option<Linker<()>>,
    measure: &'a Measure,
}

/// An instance: its store and the function that runs it.
pub enum Started {
    /// With a WASI.
    Whole(Store<WasiCtx>, TypedFunc<(), ()>),
    /// Without.
    Bare(Store<()>, TypedFunc<(), ()>),
}

impl<'a> Program<'a> {
    /// Defines what the module may import.
    pub fn new(engine: &'a Engine, module: Module, measure: &'a Measure) -> Result<Self, Refusal> {
        let mut linker = Linker::new(engine);
        wasmi_wasi::add_to_linker(&mut linker, |state: &mut WasiCtx| state)
            .map_err(|error| Refusal::new(FailureKind::Internal, error.to_string()))?;
        let imports_nothing = module.imports().next().is_none();
        Ok(Self {
            engine,
            module,
            linker,
            nothing: imports_nothing.then(|| Linker::new(engine)),
            measure,
        })
    }

    fn start<T: 'static>(
        &self,
        linker: &Linker<T>,
        store: &mut Store<T>,
    ) -> Result<TypedFunc<(), ()>, Refusal> {
        let instance = linker
            .instantiate_and_start(&mut *store, &self.module)
            .map_err(|error| refusal(&error))?;
        instance.get_typed_func(&*store, "_start").map_err(|_| {
            let message = "the module has no function _start";
            Refusal::new(FailureKind::Link, message)
        })
    }

    fn bare(&self, linker: &Linker<()>) -> Result<Started, Refusal> {
        let mut store = Store::new(self.engine, ());
        let start = self.start(linker, &mut store)?;
        Ok(Started::Bare(store, start))
    }

    fn world(&self, streams: Streams) -> Result<WasiCtx, Refusal> {
        let refused =
            |error: &dyn std::fmt::Display| Refusal::new(FailureKind::Io, error.to_string());
        let mut builder = WasiCtxBuilder::new();
        builder
            .args(&arguments_of(self.measure))
            .and_then(|builder| builder.envs(&self.measure.env))
            .map_err(|error| refused(&error))?
            .stdout(wasi_file(streams.stdout))
            .stderr(wasi_file(streams.stderr));
        if let Some(file) = streams.stdin {
            builder.stdin(wasi_file(file));
        }
        for (host, guest) in &self.measure.dirs {
            builder
                .preopened_dir(open_folder(host)?, guest)
                .map_err(|error| refused(&error))?;
        }
        Ok(builder.build())
    }
}

fn wasi_file(file: std::fs::File) -> Box<dyn WasiFile> {
    Box::new(File::from_cap_std(cap_std::fs::File::from_std(file)))
}

fn open_folder(path: &Path) -> Result<Dir, Refusal> {
    Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| Refusal::file(path, &error))
}

impl fathom_runner::cycle::Program for Program<'_> {
    type World = WasiCtx;
    type Instance = Started;
    type Error = Refusal;

    fn enter(&self, streams: Streams) -> Result<WasiCtx, Refusal> {
        self.world(streams)
    }

    fn instantiate(&self, world: WasiCtx) -> Result<Started, Refusal> {
        let mut store = Store::new(self.engine, world);
        let start = self.start(&self.linker, &mut store)?;
        Ok(Started::Whole(store, start))
    }

    fn instantiate_bare(&self) -> Option<Result<Started, Refusal>> {
        self.nothing.as_ref().map(|linker| self.bare(linker))
    }

    fn run(&self, instance: &mut Started) -> Result<RunEnd, Refusal> {
        let ended = match instance {
            Started::Whole(store, start) => start.call(store, ()),
            Started::Bare(store, start) => start.call(store, ()),
        };
        let exit = match ended {
            Ok(()) => 0,
            Err(error) => error.i32_exit_status().ok_or_else(|| refusal(&error))?,
        };
        Ok(RunEnd { exit, cpu_ns: None })
    }

    fn teardown(&self, instance: Self::Instance) {
        drop(instance);
    }
}
