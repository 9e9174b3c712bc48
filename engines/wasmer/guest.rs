//! Programs: each iteration has a store, a WASI and an instance of its own, from
//! one module and one runtime of the engine's WASI. Those of programs that import
//! nothing, in a row too, have a store and no WASI.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_runner::cycle::{RunEnd, Streams};
use fathom_runner::record::{FailureKind, protocol::Measure};
use fathom_runner::{Refusal, arguments_of};
use tokio::runtime::{Handle, Runtime as Tokio};
use wasmer::{Engine, Imports, Instance, Module, RuntimeError, Store, TypedFunction};
use wasmer_wasix::runtime::task_manager::tokio::TokioTaskManager;
use wasmer_wasix::runtime::{PluggableRuntime, Runtime};
use wasmer_wasix::types::wasi::ExitCode;
use wasmer_wasix::virtual_fs::{MountFileSystem, RootFileSystemBuilder, host_fs};
use wasmer_wasix::{
    WasiEnv, WasiEnvBuilder, WasiError, WasiFunctionEnv, WasiRuntimeError, WasiThreadError,
};

use crate::{failed, not_instantiated};

/// A module with what its instances share.
pub struct Program<'a> {
    engine: &'a Engine,
    tokio: &'a Tokio,
    runtime: Arc<dyn Runtime + Send + Sync>,
    module: Module,
    /// Of a module that imports nothing.
    nothing: Option<Imports>,
    measure: &'a Measure,
}

/// An instance of the program.
pub struct Started {
    store: Store,
    /// Of a bare instance there is none.
    world: Option<WasiFunctionEnv>,
    start: TypedFunction<(), ()>,
    exit: ExitCode,
}

impl<'a> Program<'a> {
    /// A program to be run as the request wants.
    pub fn new(engine: &'a Engine, tokio: &'a Tokio, module: Module, measure: &'a Measure) -> Self {
        let tasks = TokioTaskManager::new(tokio.handle().clone());
        let mut runtime = PluggableRuntime::new(Arc::new(tasks));
        runtime.set_engine(engine.clone());
        let nothing = module.imports().next().is_none().then(Imports::new);
        Self {
            engine,
            tokio,
            runtime: Arc::new(runtime),
            module,
            nothing,
            measure,
        }
    }

    fn bare(&self, nothing: &Imports) -> Result<Started, Refusal> {
        let mut store = Store::new(self.engine.clone());
        let instance = Instance::new(&mut store, &self.module, nothing)
            .map_err(|error| not_instantiated(&error))?;
        started(store, &instance, None)
    }

    fn world(&self, streams: Streams) -> Result<WasiEnvBuilder, Refusal> {
        let (handle, scratch) = (self.tokio.handle(), &self.measure.scratch);
        let file = |file: File, read| Box::new(host_file(handle, file, scratch, read));
        let arguments = arguments_of(self.measure);
        let mut builder = WasiEnv::builder(&arguments[0])
            .args(&arguments[1..])
            .envs(self.measure.env.iter().map(|(key, value)| (key, value)))
            .runtime(self.runtime.clone())
            .stdout(file(streams.stdout, false))
            .stderr(file(streams.stderr, false));
        let stdin = match streams.stdin {
            Some(stdin) => stdin,
            None => {
                let null = Path::new("/dev/null");
                File::open(null).map_err(|error| Refusal::file(null, &error))?
            }
        };
        builder.set_stdin(file(stdin, true));
        if !self.measure.dirs.is_empty() {
            builder.set_mount_fs(folders(handle, &self.measure.dirs)?);
            builder.add_preopen_dir("/").map_err(|error| io(&error))?;
        }
        Ok(builder)
    }
}

fn host_file(handle: &Handle, file: File, scratch: &Path, read: bool) -> host_fs::File {
    host_fs::File::new(handle.clone(), file, scratch.to_owned(), read, !read, false)
}

fn io(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(FailureKind::Io, error.to_string())
}

/// The guest's root with the folders it may use.
fn folders(handle: &Handle, dirs: &[(PathBuf, String)]) -> Result<MountFileSystem, Refusal> {
    let mounts = MountFileSystem::new();
    if dirs.iter().all(|(_, guest)| guest != "/") {
        let empty = RootFileSystemBuilder::default().build_tmp();
        mounts
            .mount(Path::new("/"), Arc::new(empty))
            .map_err(|error| io(&error))?;
    }
    for (host, guest) in dirs {
        let folder = host_fs::FileSystem::new(handle.clone(), host)
            .map_err(|error| io(&format!("{}: {error}", host.display())))?;
        mounts
            .mount(Path::new("/").join(guest), Arc::new(folder))
            .map_err(|error| io(&error))?;
    }
    Ok(mounts)
}

impl fathom_runner::cycle::Program for Program<'_> {
    type World = Option<WasiEnvBuilder>;
    type Instance = Started;
    type Error = Refusal;

    fn enter(&self, streams: Streams) -> Result<Option<WasiEnvBuilder>, Refusal> {
        // The WASI wants a memory that is exported, which such a program need not have.
        if self.nothing.is_some() {
            return Ok(None);
        }
        let _entered = self.tokio.enter();
        self.world(streams).map(Some)
    }

    fn instantiate(&self, world: Option<WasiEnvBuilder>) -> Result<Started, Refusal> {
        let Some(world) = world else {
            let nothing = self
                .nothing
                .as_ref()
                .expect("it has no world for that reason");
            return self.bare(nothing);
        };
        let _entered = self.tokio.enter();
        let mut store = Store::new(self.engine.clone());
        let (instance, world) = world
            .instantiate(self.module.clone(), &mut store)
            .map_err(|error| no_world(&error))?;
        started(store, &instance, Some(world))
    }

    fn instantiate_bare(&self) -> Option<Result<Started, Refusal>> {
        self.nothing.as_ref().map(|nothing| self.bare(nothing))
    }

    fn run(&self, instance: &mut Started) -> Result<RunEnd, Refusal> {
        let _entered = instance.world.as_ref().map(|_| self.tokio.enter());
        if let Err(error) = instance.start.call(&mut instance.store) {
            instance.exit = exit_code(&error).ok_or_else(|| failed(&error))?;
        }
        let exit = instance.exit.raw();
        Ok(RunEnd { exit, cpu_ns: None })
    }

    fn teardown(&self, mut instance: Started) {
        if let Some(world) = &instance.world {
            let _entered = self.tokio.enter();
            world.on_exit(&mut instance.store, Some(instance.exit));
        }
    }
}

/// An instance with the function that runs it.
fn started(
    store: Store,
    instance: &Instance,
    world: Option<WasiFunctionEnv>,
) -> Result<Started, Refusal> {
    let start = instance.exports.get_typed_function(&store, "_start");
    let start = start.map_err(|_| {
        let message = "the module has no function _start";
        Refusal::new(FailureKind::Link, message)
    })?;
    Ok(Started {
        store,
        world,
        start,
        exit: ExitCode::from(0),
    })
}

fn exit_code(error: &RuntimeError) -> Option<ExitCode> {
    match error.downcast_ref::<WasiError>() {
        Some(WasiError::Exit(code)) => Some(*code),
        _ => None,
    }
}

/// An instance that was not made, for its own reasons or those of its WASI.
fn no_world(error: &WasiRuntimeError) -> Refusal {
    match error {
        WasiRuntimeError::Instantiation(error) => not_instantiated(error),
        WasiRuntimeError::Thread(WasiThreadError::InstanceCreateFailed(error)) => {
            not_instantiated(error)
        }
        WasiRuntimeError::Runtime(error) => failed(error),
        WasiRuntimeError::Init(_) => io(error),
        WasiRuntimeError::Export(_) | WasiRuntimeError::Thread(_) | WasiRuntimeError::Wasi(_) => {
            Refusal::new(FailureKind::Link, error.to_string())
        }
        _ => Refusal::new(FailureKind::Internal, error.to_string()),
    }
}
