//! The campaign itself: rounds over the plan's cells until all is measured,
//! time is up or the user stops it.
//!
//! ```text
//! round ─▶ order ─▶ cell ─▶ ask its driver ─▶ judge ─▶ records, one write
//!   ▲                          └ fails ─▶ one failure record, others go on
//!   └── while rounds and time are left; the slowest may be left out (`exclusion`)
//! ```
//!
//! What is on the disk decides what is left to do, so going on after a break
//! is the same as going on after a cell.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant, SystemTime},
};

use fathom_record::{
    Cell, CellId, FailureKind, Record, SandboxId,
    campaign::{Failure, InForce},
};

mod counted;
mod detect;
mod exclusion;
mod itself;
pub(crate) mod lacking;

pub use detect::Outlook;
use detect::Search;
use exclusion::Share;

use crate::{
    driver::{Conversation, DriveError, Driver},
    judge::judge,
    plan::{EMPTY, Laps, Plan, Task},
    results::{Results, ResultsError},
    scratch::Scratch,
    stopping::StoppingRule,
};

/// How far a campaign goes.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Time for all of it; the first round is finished whatever it takes.
    pub budget: Option<Duration>,
    /// Raise a workload's iterations until its cells take about this long,
    /// judging by the first round.
    pub cell_target: Option<Duration>,
    /// At most this many iterations.
    pub iterations_max: u32,
    /// Rounds below which nothing can be said. Where the budget does not suffice for
    /// so many of everybody, the slowest are left out; 0 leaves out nobody.
    pub rounds_wanted: u32,
    /// How well the ratio of each workload should be known, as its interval's reach to
    /// either side: 0.01 for 1 %. From `rounds_wanted` on a round is for those alone that
    /// are not yet; without it every round is for everything.
    pub width: Option<f64>,
    /// Go on until a difference of this size would be found: 0.02 for 2 %.
    pub detect: Option<f64>,
    /// Leave out the warm-up of cells that were seen not to need it; never where somebody says
    /// how much there is to be.
    pub spares_warmup: bool,
    /// Judge each cell by itself: where what is measured is what ends in a
    /// second, a fast engine must not be done before it was looked at.
    pub is_by_cell: bool,
}

/// What happens, for whoever shows it.
#[derive(Debug)]
pub enum Note<'a> {
    /// A round begins; this many of its cells are to be measured.
    Round {
        /// Which, from 0.
        round: u32,
        /// At most how many.
        rounds: u32,
        /// Cells left in it.
        cells: usize,
    },
    /// A sandbox takes no part any more, so that there can be enough rounds.
    Excluded {
        /// The sandbox that is left out from here on.
        sandbox: &'a SandboxId,
        /// What it took in a round.
        round: Duration,
    },
    /// What is still to be measured of a campaign that is to find a difference.
    Outlook(Outlook),
    /// A cell's turn begins.
    Begin {
        /// The cell that is begun.
        cell: &'a Cell,
        /// Time left for the campaign, as far as can be said.
        left: Option<Duration>,
    },
    /// A cell was measured.
    Done {
        /// The cell that has ended well.
        cell: &'a Cell,
    },
    /// A cell failed.
    Failed {
        /// The cell that has failed.
        cell: &'a Cell,
        /// The kind of failure.
        kind: FailureKind,
        /// In one line.
        message: &'a str,
    },
}

/// Who watches a campaign.
pub trait Observer {
    /// Something happened.
    fn note(&mut self, note: Note<'_>);
}

/// Nobody.
impl Observer for () {
    fn note(&mut self, _: Note<'_>) {}
}

/// Why a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All rounds are done.
    Complete,
    /// Time was up after this many whole rounds.
    TimeUp {
        /// Whole rounds.
        rounds: u32,
    },
    /// All that is compared is known as well as was wanted.
    Precise {
        /// Rounds of what took most of them.
        rounds: u32,
    },
    /// A difference of the size that was wanted would have been found.
    Detectable {
        /// Whole rounds.
        rounds: u32,
    },
    /// One would not have been, nor is it with however many rounds.
    Limited {
        /// Whole rounds.
        rounds: u32,
    },
    /// The user stopped it.
    Stopped,
}

/// A campaign as it runs.
pub struct Session<'a> {
    /// What to measure.
    pub plan: &'a Plan,
    /// By the tasks' `driver`.
    pub drivers: &'a mut [Box<dyn Driver>],
    /// Where it is kept.
    pub results: &'a mut Results,
    /// How far to go.
    pub pace: Pace,
    /// How much more is to be measured.
    pub stopping: &'a dyn StoppingRule,
    /// Becomes true when the user wants to stop.
    pub stop: &'a AtomicBool,
    /// Is told of each step: the progress that a user sees.
    pub observer: &'a mut dyn Observer,
}

impl Session<'_> {
    /// Measures what is left to measure.
    ///
    /// # Errors
    /// When results cannot be written. What cells do is no error here: it is
    /// in the results.
    pub fn run(&mut self) -> Result<Ended, ResultsError> {
        let mut clock = Clock::new(self.pace.budget);
        let rounds = self.plan.config.rounds;
        let mut excluded = BTreeSet::new();
        let mut search = Search::default();
        let mut asked = lacking::Known::default();
        for round in 0..rounds {
            self.exclude_slowest(round, &clock, &mut excluded);
            let mut left = self.left_in(round);
            left.retain(|&position| !excluded.contains(&self.sandbox(position)));
            if left.is_empty() {
                continue;
            }
            if let Some(width) = self
                .pace
                .width
                .filter(|_| round >= self.pace.rounds_wanted.max(1))
            {
                left = self.imprecise(left, width);
                if left.is_empty() {
                    return Ok(Ended::Precise { rounds: round });
                }
            }
            if let Some(wanted) = self.pace.detect
                && let Some(ended) = self.sought(round, &left, wanted, &mut search, &mut clock)
            {
                return Ok(ended);
            }
            // A round is begun when it can be expected to end in time.
            let expected = clock.expect(self.plan, &left);
            if round > 0
                && clock
                    .left()
                    .is_some_and(|left| left.is_zero() || expected > left)
            {
                return Ok(Ended::TimeUp { rounds: round });
            }
            self.observer.note(Note::Round {
                round,
                rounds,
                cells: left.len(),
            });
            if !self.round(round, &left, &mut clock, &mut asked)? {
                return Ok(Ended::Stopped);
            }
        }
        Ok(Ended::Complete)
    }

    /// Leaves out the slowest, where the rounds still wanted would not end in time.
    fn exclude_slowest(&mut self, round: u32, clock: &Clock, excluded: &mut BTreeSet<SandboxId>) {
        let wanted = self.pace.rounds_wanted.min(self.plan.config.rounds);
        let Some(left) = clock.left() else { return };
        if round == 0 || round >= wanted {
            return;
        }
        let mut shares: BTreeMap<SandboxId, Share> = BTreeMap::new();
        // Without cells that are given up: they take no time any more.
        for position in self.left_in(round) {
            let sandbox = self.sandbox(position);
            if excluded.contains(&sandbox) {
                continue;
            }
            let share = shares.entry(sandbox.clone()).or_insert(Share {
                sandbox,
                round: Duration::ZERO,
                is_needed: self.is_needed(position),
            });
            share.round += clock.expect(self.plan, &[position]);
        }
        let all: Vec<Share> = shares.values().cloned().collect();
        for sandbox in exclusion::excluded(all, wanted - round, left) {
            self.observer.note(Note::Excluded {
                sandbox: &sandbox,
                round: shares[&sandbox].round,
            });
            excluded.insert(sandbox);
        }
    }

    /// Those of a round that are not known as well as they should be, with what they are
    /// compared with. Of the programs of these, native code and the first row are there in
    /// each round, and the controls of both: they say what noise is.
    fn imprecise(&self, mut left: Vec<usize>, width: f64) -> Vec<usize> {
        let Some(pairs) = self.stopping.imprecise(self.results.campaign(), width) else {
            return left;
        };
        let cell = |position: &usize| &self.plan.tasks[*position].cell;
        let here: BTreeSet<CellId> = left.iter().map(|position| cell(position).id()).collect();
        let open = pairs.into_iter().filter(|(one, _)| here.contains(one));
        let open: BTreeSet<CellId> = open.flat_map(|(one, base)| [one, base]).collect();
        let original = |cell: &Cell| cell.control_of.clone().unwrap_or_else(|| cell.id());
        let is_open = |position: &usize| open.contains(&original(cell(position)));
        let program = |position: &usize| {
            let cell = cell(position);
            (&cell.suite, &cell.workload, &cell.size, cell.threads)
        };
        let programs: BTreeSet<_> = left.iter().filter(|at| is_open(at)).map(program).collect();
        left.retain(|at| is_open(at) || self.is_needed(*at) && programs.contains(&program(at)));
        left
    }

    fn sandbox(&self, position: usize) -> SandboxId {
        self.plan.tasks[position].cell.sandbox.id()
    }

    /// Whether others are compared with it: native code, and what comes first.
    fn is_needed(&self, position: usize) -> bool {
        let cell = &self.plan.tasks[position].cell;
        !cell.variant.is_wasm() || cell.sandbox == self.plan.tasks[0].cell.sandbox
    }

    /// Measures these cells; false when the user wants to stop.
    fn round(
        &mut self,
        round: u32,
        positions: &[usize],
        clock: &mut Clock,
        asked: &mut lacking::Known,
    ) -> Result<bool, ResultsError> {
        let rounds = clock.rounds_expected.unwrap_or(self.plan.config.rounds);
        let rounds_after = rounds.saturating_sub(round + 1);
        let iterations = self.iterations(round);
        let warm = self.warm(round);
        for (done, &position) in positions.iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let task = &self.plan.tasks[position];
            let left = clock.campaign_left(self.plan, &positions[done..], rounds_after);
            self.observer.note(Note::Begin {
                cell: &task.cell,
                left,
            });
            let count = iterations.get(&self.program_of(task)).copied();
            let mut laps = self.plan.laps(count.unwrap_or(self.plan.config.iterations));
            if warm.contains(&task.cell.id()) {
                laps.warmup = 0;
            }
            let begun = Instant::now();
            if !self.measure(task, round, laps, asked)? {
                return Ok(false);
            }
            clock.took(task, begun.elapsed());
        }
        Ok(true)
    }

    /// The cells a round still lacks, in its order.
    fn left_in(&self, round: u32) -> Vec<usize> {
        let campaign = self.results.campaign();
        let mut order = self.plan.order(round);
        order.retain(|&position| {
            let id = self.plan.tasks[position].cell.id();
            !campaign.is_done(&id, round) && !is_given_up(&campaign.failures, &id)
        });
        order
    }

    /// Measures one cell once; false when the user wants to stop.
    fn measure(
        &mut self,
        task: &Task,
        round: u32,
        laps: Laps,
        lacks: &mut lacking::Known,
    ) -> Result<bool, ResultsError> {
        let limit = Duration::from_millis(self.plan.config.limit_ms);
        let answer = scratch().and_then(|scratch| {
            let request = self.plan.request(task, round, laps, scratch.path());
            let request = request.map_err(|error| {
                let path = task.artifact.display();
                DriveError::failed(FailureKind::Io, format!("{path}: {error}"))
            })?;
            let driver = &mut self.drivers[task.driver];
            let begun = SystemTime::now();
            let answer = driver.ask(&request, limit, self.stop).map_err(|error| {
                let driver = driver.as_mut();
                lacking::or_lacks(self.plan, task, driver, limit, self.stop, lacks, error)
            });
            let conversation = answer?;
            match judge(self.plan, task, round, laps.counted, &conversation) {
                Ok(records) => Ok((records, conversation)),
                Err(wrong) => {
                    let asked = itself::Answered {
                        limit,
                        stop: self.stop,
                        begun,
                        conversation: &conversation,
                    };
                    let driver = driver.as_mut();
                    Err(itself::or_varies(self.plan, task, driver, asked, wrong))
                }
            }
        });
        match answer {
            Ok((mut records, conversation)) => {
                records.splice(0..0, self.in_force(task, &conversation));
                self.results.append(records)?;
                self.observer.note(Note::Done { cell: &task.cell });
                Ok(true)
            }
            Err(DriveError::Stopped) => Ok(false),
            Err(DriveError::Failed { kind, message }) => {
                // It will not get better by trying again: said once, and not
                // tried in later rounds. What an engine cannot do at all has
                // no round.
                let never = lacking::is_refusal(kind);
                self.results.append(vec![Record::Failure(Failure {
                    cell: Some(task.cell.id()),
                    round: (!never).then_some(round),
                    kind,
                    message: message.clone(),
                })])?;
                self.observer.note(Note::Failed {
                    cell: &task.cell,
                    kind,
                    message: &message,
                });
                Ok(true)
            }
        }
    }

    /// The record of what was in force, if it is the cell's first or changed.
    fn in_force(&self, task: &Task, conversation: &Conversation) -> Option<Record> {
        let hello = conversation.hello.clone()?;
        let cell = task.cell.id();
        let known = &self.results.campaign().in_force;
        let last = known.iter().rev().find(|record| record.cell == cell);
        if last.is_some_and(|last| last.hello == hello) {
            return None;
        }
        let runner = self.drivers[task.driver].command();
        Some(Record::InForce(InForce {
            cell,
            hello,
            runner,
        }))
    }
}

/// Whether a failure took the whole cell away.
fn is_given_up(failures: &[Failure], id: &CellId) -> bool {
    failures
        .iter()
        .any(|failure| failure.cell.as_ref() == Some(id))
}

/// A folder for what one process writes, in memory where there is some.
///
/// # Errors
/// It cannot be made.
pub fn scratch() -> Result<Scratch, DriveError> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let made = Scratch::new_in(&folder)
        .and_then(|made| std::fs::create_dir(made.path().join(EMPTY)).map(|()| made));
    made.map_err(|error| {
        DriveError::failed(
            FailureKind::Io,
            format!("no folder for its output: {error}"),
        )
    })
}

/// What cells have taken, to tell what they will take.
struct Clock {
    started: Instant,
    budget: Option<Duration>,
    /// Rounds in all, where those that there are tell.
    rounds_expected: Option<u32>,
    last: BTreeMap<CellId, Duration>,
}

impl Clock {
    fn new(budget: Option<Duration>) -> Self {
        Self {
            started: Instant::now(),
            budget,
            rounds_expected: None,
            last: BTreeMap::new(),
        }
    }

    /// What is left of the budget.
    fn left(&self) -> Option<Duration> {
        Some(self.budget?.saturating_sub(self.started.elapsed()))
    }

    fn took(&mut self, task: &Task, time: Duration) {
        self.last.insert(task.cell.id(), time);
    }

    /// What a task took when it was measured last.
    fn of(&self, task: &Task) -> Option<Duration> {
        self.last.get(&task.cell.id()).copied()
    }

    /// What these tasks will take; the mean for those not seen yet.
    fn expect(&self, plan: &Plan, positions: &[usize]) -> Duration {
        let seen = u32::try_from(self.last.len().max(1)).unwrap_or(u32::MAX);
        let mean = self.last.values().sum::<Duration>() / seen;
        let of = |&position: &usize| self.of(&plan.tasks[position]);
        positions
            .iter()
            .map(|position| of(position).unwrap_or(mean))
            .sum()
    }

    /// What the campaign will still take, once there is something to go by.
    fn campaign_left(
        &self,
        plan: &Plan,
        this_round: &[usize],
        rounds_after: u32,
    ) -> Option<Duration> {
        const CELLS_MIN: usize = 3;
        if self.last.len() < CELLS_MIN {
            return None;
        }
        let this = self.expect(plan, this_round);
        let all: Vec<usize> = (0..plan.tasks.len()).collect();
        let planned = this.saturating_add(self.expect(plan, &all).saturating_mul(rounds_after));
        Some(
            self.left()
                .map_or(planned, |left| planned.min(left.max(this))),
        )
    }
}

#[cfg(test)]
mod tests;
