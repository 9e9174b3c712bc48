//! The side that is tested: a module which does nothing but hand calls on, in our
//! engine.

use std::path::Path;

use fathom_engine::{Config, Engine, Instance, Linker, Memory, Module, Store, Val};
use fathom_wasi::{DirPerms, FilePerms, WasiCtx, WasiCtxBuilder, add_to_linker};

/// Bytes of the guest's memory.
pub const MEMORY_BYTES: usize = 128 << 10;

/// Descriptors that it can have open, few so that the limit is met.
pub const DESCRIPTORS: usize = 14;

/// Subscriptions of one poll.
pub const SUBSCRIPTIONS: u32 = 16;

/// What it is given as arguments.
pub const ARGS: [&str; 3] = ["program", "", "x y"];

/// The calls, with the types of their parameters: `i` has 32 bits, `I` 64.
const CALLS: &[(&str, &str)] = &[
    ("args_get", "ii"),
    ("args_sizes_get", "ii"),
    ("clock_res_get", "ii"),
    ("clock_time_get", "iIi"),
    ("fd_advise", "iIIi"),
    ("fd_allocate", "iII"),
    ("fd_close", "i"),
    ("fd_datasync", "i"),
    ("fd_fdstat_get", "ii"),
    ("fd_fdstat_set_flags", "ii"),
    ("fd_fdstat_set_rights", "iII"),
    ("fd_filestat_get", "ii"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_pread", "iiiIi"),
    ("fd_prestat_dir_name", "iii"),
    ("fd_prestat_get", "ii"),
    ("fd_pwrite", "iiiIi"),
    ("fd_read", "iiii"),
    ("fd_readdir", "iiiIi"),
    ("fd_renumber", "ii"),
    ("fd_seek", "iIii"),
    ("fd_sync", "i"),
    ("fd_tell", "ii"),
    ("fd_write", "iiii"),
    ("path_create_directory", "iii"),
    ("path_filestat_get", "iiiii"),
    ("path_filestat_set_times", "iiiiIIi"),
    ("path_link", "iiiiiii"),
    ("path_open", "iiiiiIIii"),
    ("path_readlink", "iiiiii"),
    ("path_remove_directory", "iii"),
    ("path_rename", "iiiiii"),
    ("path_symlink", "iiiii"),
    ("path_unlink_file", "iii"),
    ("poll_oneoff", "iiii"),
    ("random_get", "ii"),
    ("sock_recv", "iiiiii"),
    ("sock_shutdown", "ii"),
];

/// The module that hands on, compiled.
pub struct Forwarder {
    engine: Engine,
    module: Module,
}

impl Default for Forwarder {
    fn default() -> Forwarder {
        Forwarder::new()
    }
}

impl Forwarder {
    /// Under the strategy that is used by default.
    pub fn new() -> Forwarder {
        let engine = Engine::new(&Config::new()).expect("the engine works here");
        let module = Module::new(&engine, wat::parse_str(text()).expect("a good text"));
        Forwarder {
            module: module.expect("a good module"),
            engine,
        }
    }
}

fn text() -> String {
    let [mut imports, mut functions] = [String::new(), String::new()];
    for (name, params) in CALLS {
        let ty = |param| if param == 'I' { " i64" } else { " i32" };
        let types: String = params.chars().map(ty).collect();
        let gets: String = (0..params.len())
            .map(|i| format!(" (local.get {i})"))
            .collect();
        let signature = format!("(param{types}) (result i32)");
        imports +=
            &format!("(import \"wasi_snapshot_preview1\" \"{name}\" (func ${name} {signature}))\n");
        functions += &format!("(func (export \"{name}\") {signature} (call ${name}{gets}))\n");
    }
    let pages = MEMORY_BYTES >> 16;
    format!("(module {imports} (memory (export \"memory\") {pages} {pages}) {functions})")
}

/// One guest, with `folder` as descriptor 3, named `/`.
pub struct Guest {
    store: Store<WasiCtx>,
    instance: Instance,
    memory: Memory,
}

impl Guest {
    pub fn new(forwarder: &Forwarder, folder: &Path) -> Guest {
        let ctx = WasiCtxBuilder::new()
            .max_descriptors(DESCRIPTORS)
            .max_subscriptions(SUBSCRIPTIONS as usize)
            .args(ARGS)
            .and_then(|builder| {
                builder.preopened_dir(folder, "/", DirPerms::all(), FilePerms::all())
            })
            .and_then(WasiCtxBuilder::build)
            .expect("a folder just made");
        let mut linker = Linker::new(&forwarder.engine);
        add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx).unwrap();
        let mut store = Store::new(&forwarder.engine, ctx);
        let instance = linker.instantiate(&mut store, &forwarder.module);
        let instance = instance.expect("all imports are defined");
        let memory = instance.get_memory(&store, "memory").expect("exported");
        Guest {
            store,
            instance,
            memory,
        }
    }

    /// Calls; the error number, or what ended the guest.
    pub fn call(&mut self, name: &str, args: &[u64]) -> Result<u32, String> {
        let func = self.instance.get_func(&self.store, name).expect("exported");
        let (_, params) = CALLS.iter().find(|(call, _)| *call == name).expect("known");
        let args: Vec<Val> = (params.chars().zip(args))
            .map(|(ty, &arg)| match ty {
                'I' => Val::I64(arg.cast_signed()),
                _ => Val::I32((arg as u32).cast_signed()),
            })
            .collect();
        let mut results = [Val::I32(0)];
        func.call(&mut self.store, &args, &mut results)
            .map_err(|error| format!("{name} ended the guest: {error}"))?;
        match results {
            [Val::I32(errno)] => Ok(errno.cast_unsigned()),
            _ => Err(format!("{name} answered {results:?}")),
        }
    }

    /// Its memory.
    pub fn memory(&mut self) -> &mut [u8] {
        self.memory.data_and_store_mut(&mut self.store).0
    }
}
