//! Made-up campaigns, the same on every machine, and how goldens are kept.
//!
//! The campaigns are committed beside the tests as files, because a report is
//! made of files: `FATHOM_BLESS=1` writes them and every golden anew.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_record::campaign::{
    Config, CpuTime, FORMAT_VERSION, Failure, Header, InForce, ModuleNote, ProbeRecord, Process,
    Sample, Window, WorkloadNote,
};
use fathom_record::host::Features;
use fathom_record::protocol::Hello;
use fathom_record::{
    Cell, Checks, Compared, Experiment, Fact, FailureKind, Guarantee, Host, Metric, Opt, Phase,
    Record, Sandbox, Setting, Span, Variant, Writer,
};

/// A made-up engine configuration and what it costs.
struct Contender {
    engine: &'static str,
    strategy: &'static str,
    opt: Opt,
    variant: Variant,
    version: &'static str,
    tier: &'static str,
    checks: Checks,
    claimed: Guarantee,
    violations: u64,
    needless: u64,
    without: &'static [&'static str],
    ratio: f64,
    slowdown: f64,
    compile_ns: f64,
    instantiate_ns: f64,
    rss_bytes: f64,
}

const BASE: Contender = Contender {
    engine: "fathom",
    strategy: "guard",
    opt: Opt::Speed,
    variant: Variant::WasmSimd,
    version: "0.1.0",
    tier: "optimising",
    checks: Checks::GuardPages,
    claimed: Guarantee::Exact,
    violations: 0,
    needless: 0,
    without: &[],
    ratio: 1.09,
    slowdown: 1.0,
    compile_ns: 6.2e6,
    instantiate_ns: 21e3,
    rss_bytes: 21e6,
};

fn contenders() -> Vec<Contender> {
    vec![
        Contender {
            engine: "native",
            strategy: "none",
            variant: Variant::Native,
            version: "clang 20.1",
            checks: Checks::None,
            ratio: 1.0,
            compile_ns: 0.0,
            instantiate_ns: 450e3,
            rss_bytes: 9e6,
            ..BASE
        },
        Contender {
            engine: "native",
            strategy: "none",
            variant: Variant::NativeTuned,
            version: "clang 20.1",
            checks: Checks::None,
            ratio: 0.87,
            compile_ns: 0.0,
            instantiate_ns: 450e3,
            rss_bytes: 9e6,
            ..BASE
        },
        Contender {
            strategy: "none",
            checks: Checks::None,
            claimed: Guarantee::Unchecked,
            ratio: 1.08,
            ..BASE
        },
        Contender {
            strategy: "clamp",
            checks: Checks::Clamp,
            claimed: Guarantee::Contained,
            ratio: 1.31,
            ..BASE
        },
        Contender {
            strategy: "trap",
            checks: Checks::Explicit,
            ratio: 1.44,
            ..BASE
        },
        BASE,
        Contender {
            strategy: "uffd",
            checks: Checks::Userfaultfd,
            ratio: 1.093,
            instantiate_ns: 34e3,
            ..BASE
        },
        Contender {
            opt: Opt::None,
            tier: "baseline",
            ratio: 2.41,
            compile_ns: 1.6e6,
            ..BASE
        },
        Contender {
            engine: "wasmtime",
            strategy: "default",
            version: "48.0.8",
            ratio: 1.12,
            compile_ns: 7.9e6,
            instantiate_ns: 60e3,
            rss_bytes: 31e6,
            ..BASE
        },
        Contender {
            engine: "node",
            strategy: "default",
            version: "26.1.0",
            ratio: 1.19,
            compile_ns: 41e6,
            instantiate_ns: 180e3,
            rss_bytes: 92e6,
            tier: "unknown",
            checks: Checks::Unknown,
            ..BASE
        },
        Contender {
            engine: "leaky",
            strategy: "fast",
            version: "0.3",
            violations: 212,
            ratio: 1.01,
            ..BASE
        },
        Contender {
            engine: "bun",
            strategy: "guard",
            version: "1.3.2",
            needless: 35,
            ratio: 1.16,
            tier: "unknown",
            checks: Checks::Unknown,
            ..BASE
        },
        Contender {
            engine: "wasm3",
            strategy: "trap",
            version: "0.5.0",
            checks: Checks::Explicit,
            tier: "interpreter",
            without: &["vector instructions", "memory.init"],
            ratio: 9.3,
            ..BASE
        },
    ]
}

/// A source of noise that is the same everywhere.
struct Noise(u64);

impl Noise {
    /// From −1 to 1, mostly near 0.
    fn next(&mut self) -> f64 {
        let mut sum = 0.0;
        for _ in 0..4 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 40) as f64 / (1u64 << 24) as f64;
        }
        sum / 2.0 - 1.0
    }
}

fn host() -> Host {
    Host {
        cpu_model: Fact::Known("AMD EPYC 9R14".to_owned()),
        arch: Fact::Known("x86_64".to_owned()),
        cpus_logical: Fact::Known(2),
        cores_physical: Fact::Known(1),
        sockets: Fact::Known(1),
        kernel: Fact::Known("Linux 6.18.0".to_owned()),
        os: Fact::Known("Debian GNU/Linux 13".to_owned()),
        memory_bytes: Fact::Known(8_330_000_000),
        page_bytes: Fact::Known(4096),
        hypervisor: Fact::Known("KVM".to_owned()),
        governor: Fact::absent("no cpufreq in a virtual machine"),
        map_count_max: Fact::Known(65_530),
        load_average: Fact::Known([0.31, 0.4, 0.52]),
        mitigations: Fact::Known(BTreeMap::from([
            ("meltdown".to_owned(), "Not affected".to_owned()),
            ("spectre_v2".to_owned(), "Mitigation: Retpolines".to_owned()),
        ])),
        features: Features {
            pku: Fact::absent("pkey_alloc: EINVAL"),
            pmu: Fact::absent("perf_event_open: ENOENT"),
            userfaultfd: Fact::Known("yes".to_owned()),
            bpf: Fact::Known("yes".to_owned()),
            thp: Fact::Known("madvise".to_owned()),
        },
        ..Host::default()
    }
}

fn words(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

/// One campaign under construction.
struct Maker {
    header: Header,
    records: Vec<Record>,
    noise: Noise,
}

impl Maker {
    fn new(name: &str, command: &str, compared: Compared) -> Maker {
        Maker {
            header: Header {
                format: FORMAT_VERSION,
                tool: "0.1.0".to_owned(),
                name: name.to_owned(),
                date: "2026-11-20T12:00:00Z".to_owned(),
                command: words(command),
                request: None,
                host: host(),
                config: Config {
                    compared,
                    rounds: 6,
                    warmup: 1,
                    iterations: 2,
                    limit_ms: 60_000,
                    cpus: vec![0, 1],
                    seed: 7,
                    layout_varies: true,
                    ..Config::default()
                },
                workloads: Vec::new(),
                cells: Vec::new(),
            },
            records: Vec::new(),
            noise: Noise(42),
        }
    }

    fn cell(one: &Contender, suite: &str, workload: &str, size: &str, threads: u32) -> Cell {
        Cell {
            sandbox: Sandbox::new(one.engine, one.strategy).with(Setting::Opt, one.opt.name()),
            suite: suite.to_owned(),
            workload: workload.to_owned(),
            variant: one.variant,
            size: size.to_owned(),
            threads,
            control_of: None,
        }
    }

    fn in_force(&mut self, cell: &Cell, one: &Contender) {
        let (backend, evidence) = match one.engine {
            "wasmtime" => (
                "cranelift",
                "wasmtime_config_strategy_set; version of the library",
            ),
            "node" => ("V8", "unknown"),
            "native" => ("clang -O3", "the compiler's own version"),
            _ => ("cranelift", "our own configuration"),
        };
        self.records.push(Record::InForce(InForce {
            cell: cell.id(),
            hello: Hello {
                engine: one.engine.to_owned(),
                version: one.version.to_owned(),
                backend: backend.to_owned(),
                tier: one.tier.to_owned(),
                checks: one.checks,
                evidence: evidence.to_owned(),
            },
            runner: words(&format!("fathom runner {}", one.engine)),
        }));
    }

    fn probe(&mut self, cell: &Cell, one: &Contender) {
        if !one.variant.is_wasm() {
            return;
        }
        let is_leaky = one.violations > 0;
        self.records.push(Record::Probe(ProbeRecord {
            sandbox: cell.sandbox.id(),
            claimed: one.claimed,
            observed: match (is_leaky, one.needless) {
                (true, _) => Guarantee::Unchecked,
                (false, 0) => one.claimed,
                (false, _) => Guarantee::Contained,
            },
            accesses: 4_812,
            violations: one.violations + one.needless,
            needless: one.needless,
            examples: match (is_leaky, one.needless) {
                (true, _) => vec!["i32.store8 at 65536 + 0 wrote outside <memory>".to_owned()],
                (false, 0) => Vec::new(),
                (false, _) => vec!["i32.load8_u at 65535: expected 0x41, trapped".to_owned()],
            },
            without: one.without.iter().map(|what| (*what).to_owned()).collect(),
            date: Some("2026-11-19T08:00:00Z".to_owned()),
            part_percent: None,
        }));
    }

    /// All rounds of a cell around a time.
    fn rounds(&mut self, cell: &Cell, one: &Contender, base_ns: f64) {
        for round in 0..self.header.config.rounds {
            let centre = base_ns * (1.0 + 0.004 * self.noise.next());
            for thread in 0..cell.threads {
                for index in 0..self.header.config.iterations {
                    self.sample(cell, one, (round, thread, index), centre);
                }
            }
            self.process(cell, one, round, centre);
        }
    }

    fn sample(&mut self, cell: &Cell, one: &Contender, at: (u32, u32, u32), centre: f64) {
        let kernel = centre * (1.0 + 0.006 * self.noise.next());
        let span = |ns: f64| Span {
            wall_ns: ns as u64,
            cpu_ns: Some((ns * 0.99) as u64),
        };
        let instantiate = one.instantiate_ns * (1.0 + 0.1 * self.noise.next());
        self.records.push(Record::Sample(Sample {
            cell: cell.id(),
            round: at.0,
            thread: at.1,
            index: at.2,
            kernel_ns: (self.header.config.compared == Compared::Kernel).then_some(kernel as u64),
            phases: BTreeMap::from([
                (Phase::Instantiate, span(instantiate)),
                (Phase::Run, span(kernel * 1.02)),
                (Phase::Teardown, span(instantiate * 0.4)),
            ]),
        }));
    }

    fn process(&mut self, cell: &Cell, one: &Contender, round: u32, centre: f64) {
        let wall = centre * 3.4 + one.compile_ns + 4e6;
        let load_ns = if one.variant.is_wasm() { 120e3 } else { 40e3 };
        let mut phases = BTreeMap::new();
        for (phase, ns) in [(Phase::Load, load_ns), (Phase::Compile, one.compile_ns)] {
            let ns = ns * (1.0 + 0.05 * self.noise.next());
            if ns > 0.0 {
                phases.insert(
                    phase,
                    Span {
                        wall_ns: ns as u64,
                        cpu_ns: None,
                    },
                );
            }
        }
        let busy = (wall / 1e6 * 0.94) as u64 * u64::from(cell.threads);
        self.records.push(Record::Process(Process {
            phases,
            metrics: BTreeMap::from([
                (Metric::RssPeakBytes, one.rss_bytes as u64),
                (Metric::VirtualBytes, one.rss_bytes as u64 * 220),
                (Metric::FaultsMinor, (one.rss_bytes / 4096.0) as u64),
                (Metric::FaultsMajor, 0),
                (Metric::CtxVoluntary, 14 * u64::from(cell.threads)),
                (Metric::CtxInvoluntary, 3),
            ]),
            wall_ns: Some(wall as u64),
            cpu_ns: Some((wall * 0.94) as u64),
            window: Some(Box::new(Window {
                cpu_pinned: Some(CpuTime {
                    user_ms: busy,
                    system_ms: 2,
                    idle_ms: (wall / 1e6 * 0.06) as u64 + 1,
                    ..CpuTime::default()
                }),
                ..Window::default()
            })),
            seed: Some(u64::from(round)),
            ..Process::new(cell.id(), round)
        }));
    }

    fn finish(self) -> Vec<u8> {
        let mut writer = Writer::create(Vec::new(), &self.header).expect("a header has JSON");
        for record in &self.records {
            writer.append(record).expect("a record has JSON");
        }
        writer.into_inner()
    }
}

const KERNELS: [(&str, f64, &str); 4] = [
    (
        "gemm",
        41.0e6,
        "dense matrix product: the inner loop of everything",
    ),
    (
        "jacobi-2d",
        63.0e6,
        "five-point stencil: loads close together",
    ),
    ("cholesky", 118.0e6, "triangular loops and square roots"),
    (
        "floyd-warshall",
        240.0e6,
        "integer minimum: branches or selects",
    ),
];

/// Four kernels, eleven rows, one and two instances; an unsound engine, one
/// that fails on a kernel, controls.
pub fn suite() -> Vec<u8> {
    suite_again(42, 1.0)
}

/// The same measured again: other noise, and our engine behind guard pages
/// slower by a factor.
pub fn suite_again(seed: u64, slowdown: f64) -> Vec<u8> {
    let mut maker = Maker::new(
        "polybench-medium",
        "fathom bench --suite polybench --size medium --threads 1,2",
        Compared::Kernel,
    );
    maker.header.workloads = KERNELS
        .iter()
        .map(|(name, _, why)| WorkloadNote {
            suite: "polybench".to_owned(),
            name: (*name).to_owned(),
            why: (*why).to_owned(),
            answer: Some("0123456789abcdef".to_owned()),
            category: None,
            bytes: None,
            ..WorkloadNote::default()
        })
        .collect();
    maker.noise = Noise(seed);
    for threads in [1, 2] {
        let mut all = contenders();
        for one in all.iter_mut().filter(|one| one.strategy == "guard") {
            one.slowdown = slowdown;
        }
        let few = ["native", "fathom", "wasmtime"];
        for one in all.iter().filter(|one| {
            threads == 1
                || (few.contains(&one.engine)
                    && one.opt == Opt::Speed
                    && one.variant != Variant::NativeTuned
                    && one.strategy != "clamp"
                    && one.strategy != "trap")
        }) {
            suite_row(&mut maker, one, threads);
        }
    }
    maker.finish()
}

fn suite_row(maker: &mut Maker, one: &Contender, threads: u32) {
    for (index, (name, base_ns, _)) in KERNELS.iter().enumerate() {
        let cell = Maker::cell(one, "polybench", name, "medium", threads);
        if index == 0 {
            if threads == 1 && one.variant != Variant::NativeTuned {
                maker.probe(&cell, one);
            }
            maker.in_force(&cell, one);
        }
        maker.header.cells.push(cell.clone());
        // Kernels differ in how much checks cost them.
        let spread = 1.0 + (one.ratio - 1.0) * [1.4, 0.8, 0.5, 1.9][index];
        let crowd = 1.0 + 0.03 * f64::from(threads - 1);
        if one.engine == "node" && *name == "cholesky" {
            maker.records.push(Record::Failure(Failure {
                cell: Some(cell.id()),
                round: Some(1),
                kind: FailureKind::WrongAnswer,
                message: "answer 00ff, expected 0123456789abcdef".to_owned(),
            }));
            continue;
        }
        maker.rounds(&cell, one, base_ns * spread * crowd * one.slowdown);
        if one.strategy == "guard" && one.opt == Opt::Speed {
            let control = cell.control();
            maker.header.cells.push(control.clone());
            maker.rounds(&control, one, base_ns * spread * crowd * one.slowdown);
        }
    }
}

/// A user's own module, named to break out of any markup.
pub fn module() -> Vec<u8> {
    let name = "résumé <b>&\"x\".wasm";
    let mut maker = Maker::new(
        "resize",
        "fathom bench resize.wasm -- in.png out.png",
        Compared::Run,
    );
    maker.header.command[2] = format!("/home/me/{name}");
    maker.header.config.experiment = Experiment::Module;
    maker.header.config.module = Some(ModuleNote {
        path: PathBuf::from(format!("/home/me/{name}")),
        bytes: 1_204_377,
        digest: "5f1d7a84db00d2fc".to_owned(),
        args: words("in.png out.png"),
    });
    for one in contenders().iter().filter(|one| one.variant.is_wasm()) {
        let cell = Maker::cell(one, "module", name, "", 1);
        maker.header.cells.push(cell.clone());
        maker.probe(&cell, one);
        maker.in_force(&cell, one);
        maker.rounds(&cell, one, 412e6 * one.ratio);
        if one.strategy == "guard" && one.opt == Opt::Speed {
            let control = cell.control();
            maker.header.cells.push(control.clone());
            maker.rounds(&control, one, 412e6 * one.ratio);
        }
    }
    maker.finish()
}

/// Whether goldens are to be written.
pub fn is_blessing() -> bool {
    std::env::var_os("FATHOM_BLESS").is_some_and(|value| value == "1")
}

/// The folder of the tests' files.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// Compares with a committed file, or writes it when blessing. A page is compared without the
/// style sheet, which it must have whole: a golden is there to be read.
pub fn golden(name: &str, found: &[u8]) {
    let path = data(name);
    let page = name.ends_with(".html").then(|| without_style(found));
    let found = page.as_deref().unwrap_or(found);
    if is_blessing() {
        fs::write(&path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let expected = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if expected != found {
        let actual = std::env::temp_dir().join(format!("actual-{}", name.replace('/', "-")));
        let _ = fs::write(&actual, found);
        panic!(
            "{name} differs from the golden: diff {} {}; if it should, run again with FATHOM_BLESS=1",
            path.display(),
            actual.display()
        );
    }
}

fn without_style(page: &[u8]) -> Vec<u8> {
    const STYLE: &str = include_str!("../../templates/style.css");
    let page = std::str::from_utf8(page).unwrap();
    assert_eq!(page.matches(STYLE).count(), 1, "a page has one style sheet");
    page.replace(STYLE, "/* style.css */\n").into_bytes()
}
