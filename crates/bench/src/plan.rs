//! What is to be measured, in which order, and what each engine is asked.
//!
//! A [`Plan`] is a list of tasks, one per cell, and does nothing itself. Its
//! orders and seeds depend on nothing but the campaign's seed, the round and
//! the cells, so a campaign which goes on after a break goes on the same way.

use std::{
    io,
    path::{Path, PathBuf},
};

use fathom_record::{
    Cell,
    campaign::{Config, WorkloadNote},
    protocol::{Load, Measure, Request},
};
use serde::{Deserialize, Serialize};

use crate::{check::Expected, layout};

/// A campaign before its first sample.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How it measures.
    pub config: Config,
    /// What its workloads are.
    pub workloads: Vec<WorkloadNote>,
    /// One task per cell, in the order of the header.
    pub tasks: Vec<Task>,
    /// What every program is given.
    pub input: Input,
    /// Whether many instances in a row are timed as well.
    pub cycles: bool,
    /// A folder for compiled modules.
    pub cache: Option<PathBuf>,
    /// Exit statuses of programs that are no failure, beside 0.
    pub exits_allowed: Vec<i32>,
}

/// One cell and all it takes to measure it.
#[derive(Clone, Debug)]
pub struct Task {
    /// The cell.
    pub cell: Cell,
    /// Which of the session's drivers runs it.
    pub driver: usize,
    /// The module, or the native program.
    pub artifact: PathBuf,
    /// Its arguments after its own name.
    pub args: Vec<String>,
    /// What its output is held against.
    pub expected: Expected,
    /// Its working folder, where it has one.
    pub folder: Option<Folder>,
    /// Whether its compilation is to be found in the plan's cache.
    pub is_cached: bool,
    /// Bytes of the stack of a continuation; the engine's own if absent.
    pub stack_bytes: Option<u64>,
    /// The load that it is put under, where it is a server; on which processors, the plan says.
    pub load: Option<Load>,
}

impl Task {
    /// Processors that it needs at once.
    pub fn processors(&self) -> u32 {
        self.cell.threads + u32::from(self.load.is_some())
    }
}

/// What a program has as its working folder, under the name [`WORKING`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Folder {
    /// An empty one, its own as long as its process lives.
    Empty,
    /// This one.
    At(PathBuf),
}

/// What a working folder is called by the guest.
pub const WORKING: &str = ".";
/// Where an empty folder is in the scratch folder.
pub(crate) const EMPTY: &str = "folder";

/// Iterations of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laps {
    /// Before the counted ones.
    pub warmup: u32,
    /// Counted.
    pub counted: u32,
}

/// What a program is given: the same on every engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Folders it may use.
    pub dirs: Vec<Dir>,
    /// A file for its standard input.
    pub stdin: Option<PathBuf>,
}

/// A folder for a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dir {
    /// Where it is.
    pub host: PathBuf,
    /// What the guest calls it.
    pub guest: String,
    /// Whether it must stay as it is: the program is given a copy.
    pub is_read_only: bool,
}

impl Plan {
    /// Whether a program that ended with this status did as it should.
    pub fn allows(&self, exit: i32) -> bool {
        exit == 0 || self.exits_allowed.contains(&exit)
    }

    /// So many counted iterations behind the usual ones before them.
    pub fn laps(&self, counted: u32) -> Laps {
        Laps {
            warmup: self.config.warmup,
            counted,
        }
    }

    /// The cells, in the order of the tasks.
    pub fn cells(&self) -> Vec<Cell> {
        self.tasks.iter().map(|task| task.cell.clone()).collect()
    }

    /// The order of one round, as positions in `tasks`.
    ///
    /// Workloads are shuffled, and the cells of one workload are shuffled but
    /// stay together: a machine's mood changes over seconds, and cells which
    /// are compared with each other should meet the same one.
    pub fn order(&self, round: u32) -> Vec<usize> {
        let mut random = Random::new(mix(self.config.seed, &round.to_le_bytes()));
        let key = |task: &Task| (task.cell.workload.clone(), task.cell.size.clone());
        let mut groups: Vec<(_, Vec<usize>)> = Vec::new();
        for (position, task) in self.tasks.iter().enumerate() {
            let key = key(task);
            match groups.iter_mut().find(|(have, _)| *have == key) {
                Some((_, group)) => group.push(position),
                None => groups.push((key, vec![position])),
            }
        }
        random.shuffle(&mut groups);
        for (_, group) in &mut groups {
            random.shuffle(group);
        }
        groups.into_iter().flat_map(|(_, group)| group).collect()
    }

    /// The layout seed of a cell in a round. An A/A control has another than
    /// its original, so that the noise floor holds the layout's share.
    pub fn layout_seed(&self, cell: &Cell, round: u32) -> u64 {
        let of_round = mix(self.config.seed, &round.to_le_bytes());
        mix(of_round, cell.id().as_str().as_bytes())
    }

    /// What the engine is asked for a task.
    ///
    /// # Errors
    /// Its layout of the round cannot be made: the module is gone, or the scratch folder full.
    pub fn request(
        &self,
        task: &Task,
        round: u32,
        laps: Laps,
        scratch: &Path,
    ) -> io::Result<Request> {
        let module = layout::artifact(self, task, round, scratch)?;
        Ok(self.request_of(module, task, round, laps, scratch))
    }

    /// What the engine is asked for a task before any round: to run its program as it is, so
    /// that the places which a trap names are the program's.
    pub fn first_request(&self, task: &Task, laps: Laps, scratch: &Path) -> Request {
        self.request_of(task.artifact.clone(), task, 0, laps, scratch)
    }

    fn request_of(
        &self,
        module: PathBuf,
        task: &Task,
        round: u32,
        laps: Laps,
        scratch: &Path,
    ) -> Request {
        let cell = &task.cell;
        let is_wasm = cell.variant.is_wasm();
        Request::from(Measure {
            module,
            args: task.args.clone(),
            env: self.input.env.clone(),
            dirs: self.dirs(task, scratch),
            stdin: self.input.stdin.clone(),
            strategy: cell.sandbox.strategy.clone(),
            settings: cell.sandbox.settings.clone(),
            threads: cell.threads,
            cpus: cpus_for(&self.config.cpus, cell.threads),
            warmup: laps.warmup,
            iterations: laps.counted,
            scratch: scratch.to_owned(),
            seed: if self.config.layout_varies {
                self.layout_seed(cell, round)
            } else {
                0
            },
            cache: self.cache.clone().filter(|_| task.is_cached),
            cycle: self.cycles,
            stack_bytes: task.stack_bytes,
            load: task.load.clone().map(|load| {
                let cpus = cpus_beside(&self.config.cpus, cell.threads);
                Box::new(Load { cpus, ..load })
            }),
            unsafe_no_bounds: is_wasm && cell.sandbox.strategy == "none",
        })
    }

    fn dirs(&self, task: &Task, scratch: &Path) -> Vec<(PathBuf, String)> {
        let own = task.folder.as_ref().map(|folder| match folder {
            Folder::Empty => scratch.join(EMPTY),
            Folder::At(folder) => folder.clone(),
        });
        let own = own.map(|folder| (folder, WORKING.to_owned()));
        let given = self.input.dirs.iter();
        let given = given.map(|dir| (dir.host.clone(), dir.guest.clone()));
        given.chain(own).collect()
    }

    /// Whether cells are programs of the host.
    pub fn is_native(task: &Task) -> bool {
        !task.cell.variant.is_wasm()
    }
}

/// The first processors of the list, as many as there are threads.
fn cpus_for(cpus: &[u32], threads: u32) -> Vec<u32> {
    cpus.iter().copied().take(threads as usize).collect()
}

/// The others.
fn cpus_beside(cpus: &[u32], threads: u32) -> Vec<u32> {
    cpus.iter().copied().skip(threads as usize).collect()
}

/// A new number from a number and bytes (FNV-1a, then splitmix64's finish).
fn mix(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    let hash = bytes.iter().fold(start, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Random::new(hash).next()
}

/// splitmix64 (Steele, Lea, Flood 2014): small, seedable, the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Fisher and Yates. The modulo's bias is below 2^-50 for lists this short.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            list.swap(last, other);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fathom_record::{Sandbox, Variant, protocol::Job};

    /// A plan of two engines on these workloads, expecting the answer `a1`.
    pub(crate) fn plan(workloads: &[&str]) -> Plan {
        let mut tasks = Vec::new();
        for workload in workloads {
            for (driver, engine) in ["fathom", "other"].into_iter().enumerate() {
                let sandbox = Sandbox::new(engine, "guard");
                let cell = Cell {
                    sandbox,
                    suite: "suite".to_owned(),
                    workload: (*workload).to_owned(),
                    variant: Variant::Wasm,
                    size: "mini".to_owned(),
                    threads: 1,
                    control_of: None,
                };
                let artifact = PathBuf::from(format!("/{workload}.wasm"));
                let expected = Expected::Answer("a1".to_owned());
                tasks.push(Task {
                    cell,
                    driver,
                    artifact,
                    args: Vec::new(),
                    expected,
                    folder: None,
                    is_cached: false,
                    stack_bytes: None,
                    load: None,
                });
            }
        }
        let config = Config {
            rounds: 2,
            iterations: 2,
            warmup: 1,
            seed: 5,
            limit_ms: 60_000,
            ..Config::default()
        };
        Plan {
            config,
            workloads: Vec::new(),
            tasks,
            input: Input::default(),
            cycles: false,
            cache: None,
            exits_allowed: Vec::new(),
        }
    }

    #[test]
    fn every_round_has_every_cell_and_its_own_order() {
        let plan = plan(&["a", "b", "c", "d"]);
        let orders: Vec<_> = (0..6).map(|round| plan.order(round)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..8).collect::<Vec<_>>());
            for pair in order.chunks(2) {
                assert_eq!(
                    plan.tasks[pair[0]].cell.workload,
                    plan.tasks[pair[1]].cell.workload
                );
            }
        }
        assert_eq!(orders[0], plan.order(0));
        assert!(orders[1..].iter().any(|order| *order != orders[0]));
    }

    #[test]
    fn layout_differs_by_round_and_between_a_cell_and_its_control() {
        let plan = plan(&["a"]);
        let cell = &plan.tasks[0].cell;
        assert_eq!(plan.layout_seed(cell, 0), plan.layout_seed(cell, 0));
        assert_ne!(plan.layout_seed(cell, 0), plan.layout_seed(cell, 1));
        assert_ne!(
            plan.layout_seed(cell, 0),
            plan.layout_seed(&cell.control(), 0)
        );
    }

    #[test]
    fn only_the_unchecked_strategy_is_let_loose() {
        let mut plan = plan(&["a"]);
        plan.config.cpus = vec![3, 1];
        let ask = |plan: &Plan| match plan
            .request(&plan.tasks[0], 0, plan.laps(4), Path::new("/s"))
            .unwrap()
            .job
        {
            Job::Measure(measure) => measure,
            Job::Probe(_) => unreachable!(),
        };
        assert!(!ask(&plan).unsafe_no_bounds);
        assert_eq!((ask(&plan).iterations, ask(&plan).cpus), (4, vec![3]));
        assert_eq!(ask(&plan).seed, 0);
        plan.tasks[0].cell.sandbox.strategy = "none".into();
        plan.config.layout_varies = true;
        assert!(ask(&plan).unsafe_no_bounds && ask(&plan).seed != 0);
        plan.tasks[0].cell.variant = Variant::Native;
        assert!(!ask(&plan).unsafe_no_bounds);
    }
}
