//! A session against drivers and clocks that are made up.

use std::{cell::RefCell, rc::Rc};

use fathom_record::{
    Phase, Span,
    protocol::{Hello, Iteration, Job, Measure, Request},
};

use super::{counted::median, *};
use crate::{driver::mock::MockDriver, plan, results};

mod detect;

fn measure_of(request: &Request) -> &Measure {
    match &request.job {
        Job::Measure(measure) => measure,
        Job::Probe(_) => panic!("nobody probes here"),
    }
}

/// A good answer to a request: every iteration prints `answer`.
fn answer(request: &Request, answer: &str) -> Conversation {
    let measure = measure_of(request);
    let span = Span {
        wall_ns: 1_000_000,
        cpu_ns: Some(900_000),
    };
    let iterations = (0..measure.warmup + measure.iterations).map(|index| {
        let stdout = measure.scratch.join(format!("stdout.0.{index}"));
        std::fs::write(&stdout, format!("fathom: answer={answer} kernel_ns=7\n")).unwrap();
        Iteration {
            thread: 0,
            index,
            counted: index >= measure.warmup,
            phases: BTreeMap::from([(Phase::Run, span)]),
            exit: 0,
            stdout: Some(stdout),
        }
    });
    let hello = serde_json::from_str::<Hello>(r#"{"engine":"mock"}"#).unwrap();
    Conversation {
        hello: Some(hello),
        iterations: iterations.collect(),
        phases: BTreeMap::from([(Phase::Compile, span)]),
        ..Conversation::default()
    }
}

/// (driver, module, iterations) of everything asked.
type Asked = Rc<RefCell<Vec<(usize, String, u32)>>>;

/// Two drivers which note what they are asked and answer by `reply`.
fn drivers(
    asked: &Asked,
    reply: impl Fn(usize, &Request) -> Result<Conversation, DriveError> + Clone + 'static,
) -> Vec<Box<dyn Driver>> {
    (0..2)
        .map(|number| {
            let (asked, reply) = (asked.clone(), reply.clone());
            Box::new(MockDriver::new(move |request| {
                let measure = measure_of(request);
                let module = measure
                    .module
                    .file_stem()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                asked
                    .borrow_mut()
                    .push((number, module, measure.iterations));
                reply(number, request)
            })) as Box<dyn Driver>
        })
        .collect()
}

fn good(_: usize, request: &Request) -> Result<Conversation, DriveError> {
    Ok(answer(request, "a1"))
}

/// Says what a test has it say, and notes what it was asked.
#[derive(Default)]
struct FixedRule {
    iterations: Option<u32>,
    /// Workloads that are never known well enough; all that are asked for if absent.
    open: Option<&'static str>,
    /// What would be found after one round; after four half of that.
    seen: Option<f64>,
    /// No number of rounds finds less.
    limit: f64,
    pilots: RefCell<Vec<crate::stopping::Pilot>>,
}

impl StoppingRule for FixedRule {
    fn iterations(&self, pilot: &crate::stopping::Pilot, _: u32) -> Option<u32> {
        self.pilots.borrow_mut().push(pilot.clone());
        self.iterations
    }

    fn imprecise(
        &self,
        campaign: &fathom_record::Campaign,
        _: f64,
    ) -> Option<Vec<(CellId, CellId)>> {
        let open = self.open?;
        let cells = &campaign.header.cells;
        let of = |cell: &&Cell| cell.workload == open && cell.sandbox.engine == "other";
        let base = |cell: &Cell| Cell {
            sandbox: cells[0].sandbox.clone(),
            ..cell.clone()
        };
        let open = cells.iter().filter(|cell| !cell.is_control()).filter(of);
        Some(open.map(|cell| (cell.id(), base(cell).id())).collect())
    }

    fn detectable(&self, campaign: &fathom_record::Campaign) -> Option<f64> {
        let rounds = campaign.processes.iter().map(|one| one.round + 1).max();
        self.forecast(campaign, rounds?)
    }

    fn forecast(&self, _: &fathom_record::Campaign, rounds: u32) -> Option<f64> {
        Some((self.seen? / f64::from(rounds).sqrt()).max(self.limit))
    }

    fn limit(&self, _: &fathom_record::Campaign) -> Option<f64> {
        Some(self.limit)
    }
}

struct Bench {
    folder: tempfile::TempDir,
    plan: Plan,
    asked: Asked,
    pace: Pace,
    stopping: FixedRule,
    stop: AtomicBool,
}

impl Bench {
    fn new(workloads: &[&str]) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            plan: plan::tests::plan(workloads),
            asked: Asked::default(),
            pace: Pace {
                budget: None,
                cell_target: None,
                iterations_max: 10,
                rounds_wanted: 0,
                width: None,
                detect: None,
                spares_warmup: false,
                is_by_cell: false,
            },
            stopping: FixedRule::default(),
            stop: AtomicBool::new(false),
        }
    }

    fn run(
        &self,
        reply: impl Fn(usize, &Request) -> Result<Conversation, DriveError> + Clone + 'static,
    ) -> Ended {
        self.run_before(reply, &mut ())
    }

    fn run_before(
        &self,
        reply: impl Fn(usize, &Request) -> Result<Conversation, DriveError> + Clone + 'static,
        observer: &mut dyn Observer,
    ) -> Ended {
        let mut results = match Results::take_up(self.folder.path()) {
            Ok(paused) => Results::resume(paused).unwrap(),
            Err(_) => {
                let header = results::tests::header(&self.plan);
                Results::create(self.folder.path(), header).unwrap()
            }
        };
        let mut drivers = drivers(&self.asked, reply);
        let mut session = Session {
            plan: &self.plan,
            drivers: &mut drivers,
            results: &mut results,
            pace: self.pace.clone(),
            stopping: &self.stopping,
            stop: &self.stop,
            observer,
        };
        session.run().unwrap()
    }

    fn campaign(&self) -> fathom_record::Campaign {
        Results::read(self.folder.path()).unwrap()
    }

    fn asked_by_cell(&self) -> BTreeMap<(usize, String), usize> {
        let mut counts = BTreeMap::new();
        for (driver, module, _) in self.asked.borrow().iter() {
            *counts.entry((*driver, module.clone())).or_default() += 1;
        }
        counts
    }
}

#[test]
fn every_cell_is_measured_once_a_round() {
    let bench = Bench::new(&["a", "b"]);
    assert_eq!(bench.run(good), Ended::Complete);
    assert!(bench.asked_by_cell().values().all(|&count| count == 2));
    let campaign = bench.campaign();
    assert_eq!(campaign.processes.len(), 8);
    assert_eq!(campaign.samples.len(), 16);
    assert_eq!(campaign.in_force.len(), 4, "said once per cell");
    assert_eq!(campaign.samples[0].kernel_ns, Some(7));
    assert!(campaign.failures.is_empty());
}

/// A session over one program whose outputs are compared with those of before, and what it
/// fails with: `print` makes a text of the engine and of how often it was asked.
fn compared(print: impl Fn(usize, usize) -> String + Clone + 'static) -> Vec<String> {
    compared_in(Bench::new(&["a"]), print)
}

fn compared_in(
    mut bench: Bench,
    print: impl Fn(usize, usize) -> String + Clone + 'static,
) -> Vec<String> {
    let reference = bench.folder.path().join("reference");
    std::fs::write(&reference, "0\n").unwrap();
    for task in &mut bench.plan.tasks {
        task.expected = crate::check::Expected::SameAs(reference.clone());
    }
    let asked = bench.asked.clone();
    bench.run(move |number, request| {
        let before = asked.borrow().iter().filter(|one| one.0 == number).count();
        let conversation = answer(request, "a1");
        for iteration in &conversation.iterations {
            std::fs::write(iteration.stdout.as_ref().unwrap(), print(number, before)).unwrap();
        }
        Ok(conversation)
    });
    let failures = bench.campaign().failures;
    let said = failures.into_iter().map(|failure| failure.message);
    said.collect()
}

#[test]
fn who_differs_from_itself_is_told_from_who_differs_from_others() {
    let others = compared(|number, _| format!("{number}\n"));
    assert_eq!(others.len(), 1, "{others:?}");
    assert!(others[0].contains("differs from the first engine's"));
    assert!(!others[0].contains("--any-output"));
    let mut bench = Bench::new(&["a"]);
    let module = r#"{"path":"a.wasm","bytes":1,"digest":""}"#;
    bench.plan.config.module = serde_json::from_str(module).unwrap();
    let dir = r#"{"host":"/x","guest":"/x","is_read_only":false}"#;
    bench.plan.input.dirs = vec![serde_json::from_str(dir).unwrap()];
    let with_folder = compared_in(bench, |number, _| format!("{number}\n"));
    assert!(with_folder[0].contains("order of a folder's files, --any-output"));
    let itself = compared(|_, before| format!("{before}\n"));
    assert_eq!(itself.len(), 2, "{itself:?}");
    for said in itself {
        assert!(said.contains("changes from run to run"), "{said}");
    }
}

#[test]
fn a_stopped_campaign_goes_on_where_it_was() {
    let bench = Bench::new(&["a", "b"]);
    let left = Rc::new(RefCell::new(3));
    let ended = bench.run(move |number, request| {
        if *left.borrow() == 0 {
            return Err(DriveError::Stopped);
        }
        *left.borrow_mut() -= 1;
        good(number, request)
    });
    assert_eq!(ended, Ended::Stopped);
    assert_eq!(bench.campaign().processes.len(), 3);
    bench.asked.borrow_mut().clear();
    assert_eq!(bench.run(good), Ended::Complete);
    assert_eq!(bench.asked.borrow().len(), 8 - 3);
    assert_eq!(bench.campaign().processes.len(), 8);
    bench.asked.borrow_mut().clear();
    assert_eq!(bench.run(good), Ended::Complete);
    assert!(bench.asked.borrow().is_empty());
}

#[test]
fn a_user_who_wants_to_stop_is_heard_before_the_next_cell() {
    let bench = Bench::new(&["a"]);
    bench.stop.store(true, Ordering::Relaxed);
    assert_eq!(bench.run(good), Ended::Stopped);
    assert!(bench.asked.borrow().is_empty());
}

#[test]
fn a_failing_cell_is_one_record_and_the_others_go_on() {
    let bench = Bench::new(&["a", "b"]);
    let ended = bench.run(|number, request| {
        let module = &measure_of(request).module;
        match (number, module.ends_with("a.wasm")) {
            (0, true) => Ok(answer(request, "bad")),
            (1, true) => Err(DriveError::failed(FailureKind::Crash, "crashed")),
            _ => good(number, request),
        }
    });
    assert_eq!(ended, Ended::Complete);
    let asked = bench.asked_by_cell();
    assert_eq!((asked[&(0, "a".into())], asked[&(1, "a".into())]), (1, 1));
    assert_eq!((asked[&(0, "b".into())], asked[&(1, "b".into())]), (2, 2));
    let campaign = bench.campaign();
    let mut kinds: Vec<_> = campaign
        .failures
        .iter()
        .map(|failure| failure.kind)
        .collect();
    kinds.sort();
    assert_eq!(kinds, [FailureKind::WrongAnswer, FailureKind::Crash]);
    assert!(
        campaign
            .samples
            .iter()
            .all(|sample| sample.cell.as_str().contains("suite:b/"))
    );
}

/// Two engines refuse a module in their own words. One does not know structures.
#[test]
fn what_an_engine_lacks_is_asked_of_it() {
    let mut bench = Bench::new(&["a", "b"]);
    let module = bench.folder.path().join("structures.wasm");
    let text = "(module (type $s (struct)) (func (drop (struct.new $s))))";
    std::fs::write(&module, wat::parse_str(text).unwrap()).unwrap();
    for task in &mut bench.plan.tasks {
        task.artifact.clone_from(&module);
    }
    let asked = Rc::new(RefCell::new([0; 2]));
    let seen = asked.clone();
    bench.run(move |number, request| {
        let refusal = |text: &str| Err(DriveError::failed(FailureKind::Invalid, text));
        let is_question = measure_of(request).module.ends_with("feature.wasm");
        seen.borrow_mut()[number] += usize::from(is_question);
        match is_question {
            false => refusal("malformed"),
            true if number == 0 => refusal("invalid byte: 0x5f"),
            true => good(number, request),
        }
    });
    let failures = bench.campaign().failures;
    let of = |engine: usize| {
        let id = bench.plan.tasks.iter().find(|task| task.driver == engine);
        let id = id.map(|task| task.cell.id());
        let one = failures.iter().find(|failure| failure.cell == id).unwrap();
        (one.kind, one.message.as_str(), one.is_lack())
    };
    assert_eq!(of(0), (FailureKind::Lacking, "no gc", true));
    assert_eq!(of(1), (FailureKind::Invalid, "malformed", false));
    assert_eq!(
        *asked.borrow(),
        [1, 1],
        "once for all programs and controls"
    );
}

#[test]
fn time_that_is_up_still_leaves_a_whole_round() {
    let mut bench = Bench::new(&["a", "b"]);
    bench.pace.budget = Some(Duration::ZERO);
    assert_eq!(bench.run(good), Ended::TimeUp { rounds: 1 });
    assert_eq!(bench.campaign().processes.len(), 4);
}

#[test]
fn a_long_iteration_is_warmed_up_in_the_first_round_alone() {
    let asked_for = |spares_warmup, ms: u64, first_ms: u64| {
        let mut bench = Bench::new(&["a"]);
        bench.pace.spares_warmup = spares_warmup;
        let asked = Rc::new(RefCell::new(Vec::new()));
        let seen = asked.clone();
        bench.run(move |number, request| {
            let warmup = measure_of(request).warmup;
            seen.borrow_mut().push(warmup);
            let mut conversation = good(number, request)?;
            for one in &mut conversation.iterations {
                let ms = if one.counted { ms } else { first_ms };
                one.phases.get_mut(&Phase::Run).unwrap().wall_ns = ms * 1_000_000;
            }
            Ok(conversation)
        });
        assert!(bench.campaign().failures.is_empty());
        asked.take()
    };
    assert_eq!(asked_for(true, 60, 60), [1, 1, 0, 0]);
    assert_eq!(asked_for(true, 60, 70), [1, 1, 1, 1], "code gets better");
    assert_eq!(asked_for(true, 40, 40), [1, 1, 1, 1], "too short to say");
    assert_eq!(asked_for(false, 60, 60), [1, 1, 1, 1], "it was asked for");
}

#[test]
fn short_workloads_get_more_iterations_from_the_second_round_on() {
    let mut bench = Bench::new(&["a"]);
    // A run of the mock takes 1 ms.
    bench.pace.cell_target = Some(Duration::from_millis(5));
    assert_eq!(bench.run(good), Ended::Complete);
    let asked: Vec<_> = bench
        .asked
        .borrow()
        .iter()
        .map(|(_, _, count)| *count)
        .collect();
    assert_eq!(asked, [2, 2, 5, 5]);
}

#[test]
fn from_the_third_round_on_iterations_are_what_varies_and_costs() {
    let mut bench = Bench::new(&["a"]);
    bench.plan.config.rounds = 3;
    bench.plan.config.iterations = 1;
    bench.pace.cell_target = Some(Duration::from_millis(10));
    bench.pace.width = Some(0.01);
    bench.pace.rounds_wanted = 5;
    // The mock's kernel takes 7 ns: a reading of 5 ms takes all that fit.
    let counts = |bench: &Bench| -> Vec<u32> {
        bench
            .asked
            .borrow_mut()
            .drain(..)
            .map(|(.., count)| count)
            .collect()
    };
    bench.stopping.iterations = Some(3);
    bench.run(good);
    assert_eq!(counts(&bench), [1, 1, 10, 10, 10, 10]);
    let pilot = bench.stopping.pilots.borrow()[0].clone();
    assert_eq!(pilot.cells.len(), 2);
    assert!(
        pilot
            .cells
            .iter()
            .all(|cell| cell[0].len() == 1 && cell[1].len() == 10)
    );
    assert_eq!(pilot.lap_ns, 1e6);
    let long = |number: usize, request: &Request| {
        let conversation = good(number, request)?;
        for one in &conversation.iterations {
            let line = "fathom: answer=a1 kernel_ns=9000000\n";
            std::fs::write(one.stdout.as_ref().unwrap(), line).unwrap();
        }
        Ok(conversation)
    };
    let mut other = Bench::new(&["a"]);
    (other.plan.config, other.pace) = (bench.plan.config.clone(), bench.pace.clone());
    other.stopping.iterations = Some(3);
    other.run(long);
    assert_eq!(counts(&other), [1, 1, 10, 10, 3, 3]);
}

#[test]
fn what_is_known_well_enough_is_left_alone_and_the_rest_run_again() {
    let mut bench = Bench::new(&["a", "b"]);
    bench.plan.config.rounds = 6;
    bench.pace.width = Some(0.01);
    bench.pace.rounds_wanted = 3;
    bench.stopping.open = Some("b");
    assert_eq!(bench.run(good), Ended::Complete);
    let asked = bench.asked_by_cell();
    assert_eq!((asked[&(0, "a".into())], asked[&(1, "a".into())]), (3, 3));
    assert_eq!((asked[&(0, "b".into())], asked[&(1, "b".into())]), (6, 6));
    // What noise is, is looked at in each round.
    let mut bench = Bench::new(&["a", "b"]);
    let first = bench.plan.tasks[0].cell.sandbox.clone();
    for task in bench.plan.tasks.clone() {
        let other = plan::Task {
            cell: Cell {
                sandbox: fathom_record::Sandbox::new("third", "guard"),
                ..task.cell.clone()
            },
            ..task.clone()
        };
        let control = plan::Task {
            cell: task.cell.control(),
            ..task.clone()
        };
        let is_first = task.cell.sandbox == first;
        bench
            .plan
            .tasks
            .push(if is_first { control } else { other });
    }
    bench.plan.config.rounds = 6;
    (bench.pace.width, bench.pace.rounds_wanted) = (Some(0.01), 3);
    bench.stopping.open = Some("b");
    bench.run(good);
    let campaign = bench.campaign();
    let rounds = |engine: &str, workload: &str, is_control| {
        let of = |cell: &&Cell| {
            let is_it = cell.sandbox.engine == engine && cell.workload == workload;
            is_it && cell.is_control() == is_control
        };
        let cell = campaign.header.cells.iter().find(of).unwrap().id();
        campaign
            .processes
            .iter()
            .filter(|one| one.cell == cell)
            .count()
    };
    assert_eq!(
        (rounds("fathom", "b", true), rounds("other", "b", false)),
        (6, 6)
    );
    assert_eq!(
        (rounds("fathom", "a", true), rounds("third", "b", false)),
        (3, 3)
    );
    let mut bench = Bench::new(&["a"]);
    bench.plan.config.rounds = 6;
    (bench.pace.width, bench.pace.rounds_wanted) = (Some(0.01), 3);
    bench.stopping.open = Some("nothing");
    assert_eq!(bench.run(good), Ended::Precise { rounds: 3 });
}

#[test]
fn a_slow_engine_need_not_run_as_often_as_a_fast_one_where_cells_are_judged_alone() {
    let mut bench = Bench::new(&["a"]);
    bench.pace.cell_target = Some(Duration::from_millis(8));
    bench.pace.is_by_cell = true;
    let ended = bench.run(|number, request| {
        let mut conversation = good(number, request)?;
        for iteration in &mut conversation.iterations {
            for span in iteration.phases.values_mut() {
                span.wall_ns *= 1 + number as u64;
            }
        }
        Ok(conversation)
    });
    assert_eq!(ended, Ended::Complete);
    let asked = bench.asked.borrow();
    let last = |driver: usize| {
        let of = asked.iter().rev().find(|(other, ..)| *other == driver);
        of.map(|(_, _, count)| *count)
    };
    assert_eq!((last(0), last(1)), (Some(8), Some(4)));
}

#[test]
fn missing_iterations_are_a_failure() {
    let bench = Bench::new(&["a"]);
    bench.run(|number, request| {
        let mut conversation = good(number, request)?;
        if number == 0 {
            conversation.iterations.pop();
        } else {
            conversation.hello = None;
        }
        Ok(conversation)
    });
    let failures = bench.campaign().failures;
    assert!(
        failures
            .iter()
            .all(|failure| failure.kind == FailureKind::Protocol)
    );
    let mut messages: Vec<_> = failures
        .iter()
        .map(|failure| failure.message.as_str())
        .collect();
    messages.sort_unstable();
    assert_eq!(
        messages,
        [
            "counted 1 iterations in 1 threads instead of 2 in each of 1",
            "never said what is in force"
        ]
    );
}

#[test]
fn a_status_which_is_not_zero_is_a_failure() {
    let bench = Bench::new(&["a"]);
    bench.run(|number, request| {
        let mut conversation = good(number, request)?;
        conversation.iterations[0].exit = 3;
        Ok(conversation)
    });
    let failures = bench.campaign().failures;
    assert_eq!(failures.len(), 2);
    assert_eq!(failures[0].kind, FailureKind::Exit);
    assert_eq!(failures[0].message, "the program ended with status 3");
}

#[test]
fn of_two_in_the_middle_neither_counts_alone() {
    let all = [vec![], vec![7], vec![1, 4], vec![9, 1, 2], vec![8, 1, 3, 5]];
    assert_eq!(all.map(median), [0, 7, 2, 2, 4]);
}
