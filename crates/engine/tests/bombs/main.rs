//! Modules that are small and dear to compile (`shapes.rs`): each is compiled,
//! or refused in one line, within a bound of processor time and of memory.
//!
//! Each is compiled in a process of its own, whose time on the processor and
//! memory the kernel counts: neither depends on what else the machine does. The
//! bounds are generous, for a debug build verifies all that it compiles; what they
//! tell apart is work that grows with the length and work that grows with its
//! square. What clang takes for code by LLVM, in processes of its own, has the bounds
//! of docs/LIMITS.md.

mod chains;
mod encode;
mod objects;
mod shapes;
#[path = "../common/ways.rs"]
mod ways;

use std::fmt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_engine::*;

/// The child's work: shape, bytes and how it is compiled.
const WORK: &str = "FATHOM_TEST_BOMB";

/// What one child may take.
const SECONDS_MAX: u32 = if cfg!(debug_assertions) { 20 } else { 6 };
const BYTES_MAX: u64 = 256 << 20;
/// What docs/LIMITS.md says that clang takes at most of processor time. Its memory is limited by
/// the kernel.
const CLANG_SECONDS: f64 = 3.0;
const CLANG_SECONDS_A_KILOBYTE: f64 = 0.1;
/// What one table may take: looking at pairs of its entries takes three seconds.
const TABLE_SECONDS_MAX: f64 = 1.5;

/// What compiling came to.
struct Cost {
    seconds: f64,
    bytes: u64,
    said: String,
}

/// How a shape is compiled.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// By Cranelift.
    Optimising(Opt),
    /// In one pass; what is left to Cranelift is optimised.
    Direct,
    /// By clang, with Cranelift for what it is not given or takes too long for.
    Llvm,
}

impl Way {
    /// Those that there are here without a compiler beside.
    fn all() -> impl Iterator<Item = Way> {
        let direct = cfg!(target_arch = "x86_64").then_some(Way::Direct);
        Opt::ALL.into_iter().map(Way::Optimising).chain(direct)
    }

    fn config(self) -> Config {
        match self {
            Way::Optimising(opt) => Config::new().opt(opt),
            Way::Direct => Config::new().codegen(Codegen::Direct),
            Way::Llvm => ways::Way::llvm(ways::zig()).of(Config::new()),
        }
    }

    /// The most processor time that a shape of so many bytes may take.
    fn seconds_max(self, bytes: usize) -> f64 {
        let clang = CLANG_SECONDS + CLANG_SECONDS_A_KILOBYTE * bytes as f64 / 1024.0;
        match self {
            Way::Llvm => f64::from(SECONDS_MAX) + clang,
            _ => f64::from(SECONDS_MAX),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Optimising(opt) => opt.fmt(f),
            Way::Direct => Codegen::Direct.fmt(f),
            Way::Llvm => Codegen::Llvm.fmt(f),
        }
    }
}

/// A way by its name.
fn way(name: &str) -> Way {
    let found = Way::all()
        .chain([Way::Llvm])
        .find(|way| way.to_string() == name);
    found.expect("a level or a generator")
}

/// Compiles a shape in a process of its own, which the kernel ends where it takes
/// far too long.
fn cost(name: &str, bytes: usize, way: Way) -> Cost {
    let seconds = way.seconds_max(bytes);
    let limited = format!(
        "ulimit -t {}; exec \"$0\" --exact child --nocapture",
        (seconds * 2.0).ceil()
    );
    let mut command = Command::new("sh");
    command.arg("-c").arg(limited);
    command.arg(std::env::current_exe().unwrap());
    command.env(WORK, format!("{name} {bytes} {way}"));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.split_once("cost: "));
    let (_, line) = line.unwrap_or_else(|| panic!("{name}, {bytes} bytes, {way}: {output:?}"));
    let mut fields = line.splitn(3, ' ');
    let mut field = || fields.next().unwrap().to_owned();
    Cost {
        seconds: field().parse().unwrap(),
        bytes: field().parse().unwrap(),
        said: field(),
    }
}

/// The work of the other tests' children; nothing without it.
#[test]
fn child() {
    let Ok(work) = std::env::var(WORK) else {
        return;
    };
    let mut fields = work.split(' ');
    let mut field = || fields.next().unwrap();
    let (name, bytes, way) = (field(), field().parse().unwrap(), way(field()));
    let wasm = shape(name, bytes);
    let engine = Engine::new(&way.config()).unwrap();
    let before = seconds();
    let said = match Module::new(&engine, &wasm) {
        Ok(module) => format!("{} bytes of code", module.code_bytes()),
        Err(error) => error.to_string(),
    };
    assert!(!said.contains('\n'), "{said}");
    println!("cost: {} {} {said}", seconds() - before, resident_most());
}

/// Processor time of this process and of those it has waited for, in seconds.
fn seconds() -> f64 {
    /// Linux tells programs so many ticks a second, whatever it uses itself.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, behind_name) = stat.rsplit_once(") ").unwrap();
    let field = |at| {
        behind_name
            .split(' ')
            .nth(at)
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    (11..=14).map(field).sum::<f64>() / TICKS
}

/// The most memory that this process had, in bytes.
fn resident_most() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.trim().split(' ').next().unwrap().parse().unwrap();
    kilobytes * 1024
}

/// What docs/LIMITS.md says that compiling a module with so many bytes of code takes at most.
fn most(bytes: usize) -> u64 {
    (128 << 20) + 400 * bytes as u64
}

/// A bound holds of a shape of so many bytes.
fn is_bounded(name: &str, bytes: usize, way: Way) {
    is_within(BYTES_MAX, name, bytes, way);
}

/// One of memory, and that of time.
fn is_within(bytes_max: u64, name: &str, bytes: usize, way: Way) {
    let cost = cost(name, bytes, way);
    let Cost {
        seconds,
        bytes: peak,
        said,
    } = &cost;
    let megabytes = peak >> 20;
    let seconds_max = way.seconds_max(bytes);
    println!("{name}, {bytes} bytes, {way}: {seconds:.2} s, {megabytes} MiB: {said}");
    assert!(
        *seconds < seconds_max && *peak < bytes_max,
        "{name}, {bytes} bytes, {way}"
    );
}

/// 10 to the 10 steps where each use walks the chain.
#[test]
fn globals_that_are_one_another() {
    is_bounded("chain_of_globals", 2_000_000, Way::Optimising(Opt::None));
}

/// A table has as many entries as it has, however many frames are open.
#[test]
fn tables_in_many_frames() {
    is_bounded(
        "small_tables_in_many_frames",
        300_000,
        Way::Optimising(Opt::None),
    );
    #[cfg(target_arch = "x86_64")]
    is_bounded("small_tables_in_many_frames", 300_000, Way::Direct);
}

/// Each clause keeps its exception until its end, and the register allocator looks at each in
/// each block: forty seconds.
#[test]
fn clauses_in_clauses() {
    for way in Way::all() {
        is_bounded("nested_legacy_clauses", 120_000, way);
    }
}

/// A table may have 65,520 entries: it is optimised, in a time that grows with them.
#[test]
fn the_largest_tables() {
    for name in ["largest_tables", "largest_tables_with_operands"] {
        let module = load(&shape(name, 65_520), CompileBudget::default()).unwrap();
        assert_eq!(module.over_budget(), [], "{name}");
        for way in Way::all() {
            let Cost { seconds, said, .. } = cost(name, 65_520, way);
            println!("{name}, {way}: {seconds:.2} s: {said}");
            assert!(said.ends_with(" bytes of code"), "{name}, {way}: {said}");
            assert!(seconds < TABLE_SECONDS_MAX, "{name}, {way}: {seconds} s");
        }
    }
}

/// Loops that the module does not have took time by the square of their number.
#[test]
fn vectors_in_arrays() {
    is_bounded("filled_vectors", 120_000, Way::Optimising(Opt::None));
}

/// What is in the blocks of casts takes more memory than empty ones: as many as a function may
/// have, and more.
#[test]
fn tests_of_types() {
    for bytes in [119_000, 190_000] {
        is_within(most(bytes), "type_tests", bytes, Way::Optimising(Opt::None));
    }
}

/// Bytes of each shape by clang: what is long is cut into several processes.
const CLANG_BYTES: usize = 12_000;

/// Bytes of each shape.
const BYTES: usize = if cfg!(debug_assertions) {
    30_000
} else {
    1_000_000
};

#[test]
fn every_shape() {
    let shapes = shapes::ALL.iter();
    let work = shapes.flat_map(|shape| Way::all().map(|way| (shape.name.to_owned(), BYTES, way)));
    each_within(&work.collect::<Vec<_>>(), is_bounded);
}

/// Clang's time has a bound, too, and what is beyond it is left to Cranelift.
#[test]
fn every_shape_by_clang() {
    if ways::Way::last_tier().is_none() {
        return;
    }
    let shapes = shapes::ALL.iter();
    let work = shapes.map(|shape| (shape.name.to_owned(), CLANG_BYTES, Way::Llvm));
    each_within(&work.collect::<Vec<_>>(), is_bounded);
}

/// Of the chains in which rewriting makes the most of each byte, the first two take
/// gigabytes for one megabyte where nothing counts what it makes.
const DEAR: [(&str, &[u8]); 6] = [
    ("rotations", &[0x20, 0, 0x78]),
    ("remainders", &[0x41, 3, 0x6f]),
    ("sums", &[0x41, 1, 0x6a]),
    ("products", &[0x20, 0, 0x6c]),
    ("tests", &[0x45]),
    ("populations", &[0x69]),
];

/// Lengths of such chains, and how many are drawn.
const CHAINS: (&[usize], u64) = match cfg!(debug_assertions) {
    true => (&[250_000], 16),
    false => (&[100_000, 300_000, 1_000_000], 64),
};
const DRAWN: &[usize] = match cfg!(debug_assertions) {
    true => &[2_000, 20_000, 60_000],
    false => &[10_000, 100_000, 500_000, 1_000_000],
};

/// A chain by its name, or the seed that it is drawn by.
fn chain(name: &str, bytes: usize) -> Vec<u8> {
    let dear = DEAR.iter().find(|(dear, _)| *dear == name);
    let (ty, period) = match (dear, name.parse()) {
        (Some((_, period)), _) => (chains::TYPES[0], period.to_vec()),
        (None, seed) => chains::period(&mut chains::Draw(seed.unwrap())),
    };
    let links = period.repeat(bytes / period.len());
    let code = [encode::get(chains::parameter(ty)), links].concat();
    let locals = chains::TYPES.map(|ty| [1, ty]);
    let body = [encode::list(&locals), code, vec![encode::END]].concat();
    let body = [encode::unsigned(body.len()), body].concat();
    let mut module = encode::Module::new(&[], vec![(0, body)]);
    let params = encode::list(&chains::TYPES.map(|ty| [ty]));
    module.types = vec![[vec![0x60], params, vec![1, ty]].concat()];
    module.encode()
}

/// A bound holds of each in turn, by two threads.
fn each_within(work: &[(String, usize, Way)], holds: fn(&str, usize, Way)) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, bytes, way)) = work.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    holds(name, *bytes, *way);
                }
            });
        }
    });
}

/// Memory by a shape's length.
fn is_within_by_length(name: &str, bytes: usize, way: Way) {
    is_within(most(bytes), name, bytes, way);
}

/// What rewriting makes of a chain is bounded, too.
#[test]
fn dear_chains() {
    let lengths = CHAINS.0.iter();
    let work = lengths.flat_map(|bytes| {
        DEAR.iter()
            .flat_map(move |(name, _)| Way::all().map(|way| (name.to_string(), *bytes, way)))
    });
    each_within(&work.collect::<Vec<_>>(), is_within_by_length);
}

/// Chains of all operators, drawn at random: the seed is the shape's name.
#[test]
fn chains_of_all_operators() {
    let work = (0..CHAINS.1).flat_map(|seed| {
        let bytes = DRAWN[chains::Draw(seed).below(DRAWN.len())];
        Way::all().map(move |way| (seed.to_string(), bytes, way))
    });
    each_within(&work.collect::<Vec<_>>(), is_within_by_length);
}

/// What rewriting makes of many short ones counts for their module.
#[test]
fn many_short_chains() {
    let (_, rotation) = DEAR[0];
    let code = [encode::get(0), rotation.repeat(330), vec![encode::DROP]].concat();
    let func = (0, encode::body(0, &code));
    let wasm = encode::Module::new(&[(1, 0)], vec![func; 100]).encode();
    let error = load(&wasm, CompileBudget::default()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("compiling the module takes more than"),
        "{text}"
    );
    load(&wasm, CompileBudget::times(4)).unwrap();
}

/// A long chain that rewriting multiplies is not optimised; a short one is.
#[test]
fn what_is_multiplied_is_not_optimised() {
    let long = load(&chain("rotations", 120_000), CompileBudget::default()).unwrap();
    let [over] = &long.over_budget()[..] else {
        panic!("{:?}", long.over_budget());
    };
    assert_eq!(over.work, CompileWork::Instructions);
    let short = load(&chain("rotations", 20_000), CompileBudget::default()).unwrap();
    assert_eq!(short.over_budget(), []);
    let more = load(&chain("rotations", 120_000), CompileBudget::times(4)).unwrap();
    assert_eq!(more.over_budget(), []);
}

fn shape(name: &str, bytes: usize) -> Vec<u8> {
    if name.parse::<u64>().is_ok() || DEAR.iter().any(|(dear, _)| *dear == name) {
        return chain(name, bytes);
    }
    let shape = shapes::ALL.iter().find(|shape| shape.name == name);
    (shape.unwrap().make)(bytes)
}

fn load(wasm: &[u8], budget: CompileBudget) -> Result<Module> {
    let engine = Engine::new(&Config::new().compile_budget(budget)).unwrap();
    Module::new(&engine, wasm)
}

/// What takes far more than its length is not optimised.
#[test]
fn what_is_dear_is_not_optimised() {
    for (name, bytes) in [
        ("loop_that_turns_its_parameters", 12_000),
        ("locals_in_many_blocks", 100_000),
        ("locals_at_one_label", 100_000),
        ("table_of_one_label", 30_000),
        ("nested_loops", 100_000),
        ("nested_loops_with_steps", 50_000),
    ] {
        let wasm = shape(name, bytes);
        let module = load(&wasm, CompileBudget::default()).unwrap();
        let [over] = &module.over_budget()[..] else {
            panic!("{name}: {:?}", module.over_budget());
        };
        assert_eq!(over.func, 0, "{name}");
        assert!(over.count > over.allowed, "{name}: {over:?}");
        // Nor is it another time.
        let again = load(&wasm, CompileBudget::default()).unwrap();
        assert_eq!(again.over_budget(), [*over], "{name}");
        assert_eq!(again.code_bytes(), module.code_bytes(), "{name}");
    }
}

/// What takes as much as its length is optimised, however long it is.
#[test]
fn what_is_only_long_is_optimised() {
    for name in [
        "straight_line",
        "dependent_loads",
        "calls",
        "sets_of_globals",
        "inlined_calls",
    ] {
        let module = load(&shape(name, 50_000), CompileBudget::default()).unwrap();
        assert_eq!(module.over_budget(), [], "{name}");
    }
}

/// What even takes too much without being optimised is refused, in a line.
#[test]
fn what_is_wide_is_refused() {
    for name in ["wide_calls", "wide_branches", "wide_tables", "wide_loops"] {
        let error = load(&shape(name, 50_000), CompileBudget::default()).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Budget(_)),
            "{name}: {error}"
        );
        let text = error.to_string();
        assert!(
            text.starts_with("compiling function 0 takes more than"),
            "{name}: {text}"
        );
    }
    // None of them takes much: all of them do.
    let error = load(&shape("wide_functions", 50_000), CompileBudget::default()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("compiling the module takes more than"),
        "{text}"
    );
    assert!(!text.contains('\n'));
}

/// Compiled when it is called, it is refused then: each time, and it alone.
#[test]
fn what_is_wide_is_refused_when_it_is_first_called() {
    let engine = Engine::new(&Config::new().compilation(Compilation::Lazy)).unwrap();
    if engine.compilation() == Compilation::Eager {
        eprintln!("SKIPPED: nothing is compiled lazily on this host");
        return;
    }
    for name in ["wide_calls", "wide_branches", "wide_tables", "wide_loops"] {
        let module = Module::new(&engine, shape(name, 50_000)).unwrap();
        let mut store = Store::new(&engine, ());
        let linker = Linker::new(&engine);
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let func = instance.get_func(&store, "f").unwrap();
        let ty = func.ty(&store);
        let args: Vec<Val> = ty.params().iter().map(|_| Val::I32(0)).collect();
        for _ in 0..2 {
            let mut results = vec![Val::I32(0); ty.results().len()];
            let error = func.call(&mut store, &args, &mut results).unwrap_err();
            let text = error.to_string();
            let why = "function 0: when it was first called: compiling function 0 takes more than";
            assert!(text.contains(why) && !text.contains('\n'), "{name}: {text}");
        }
    }
}

/// A block takes memory, however little is in it.
#[test]
fn blocks_are_not_without_end() {
    for name in ["loops", "nested_ifs", "nested_blocks"] {
        let error = load(&shape(name, 800_000), CompileBudget::default()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(" blocks, the budget of "), "{name}: {text}");
    }
}

/// A budget can be raised, and turned off.
#[test]
fn a_budget_is_what_was_asked_for() {
    let dear = shape("loop_that_turns_its_parameters", 3000);
    assert_eq!(load(&dear, CompileBudget::OFF).unwrap().over_budget(), []);
    assert_eq!(
        load(&dear, CompileBudget::times(1000))
            .unwrap()
            .over_budget(),
        []
    );
    assert_eq!(
        load(&dear, CompileBudget::times(0))
            .unwrap()
            .over_budget()
            .len(),
        1
    );
    let wide = shape("wide_loops", 3000);
    load(&wide, CompileBudget::OFF).unwrap();
}

/// The cache keeps what was not optimised, too.
#[test]
fn what_is_kept_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::new().cache_dir(Some(folder.path().to_owned()));
    let wasm = shape("loop_that_turns_its_parameters", 12_000);
    let compiled = Module::new(&Engine::new(&config).unwrap(), &wasm).unwrap();
    let kept = Module::new(&Engine::new(&config).unwrap(), &wasm).unwrap();
    assert!(kept.from_cache() && !compiled.from_cache());
    assert_eq!(kept.over_budget(), compiled.over_budget());
    let more = config.compile_budget(CompileBudget::times(2));
    assert!(
        !Module::new(&Engine::new(&more).unwrap(), &wasm)
            .unwrap()
            .from_cache()
    );
}
