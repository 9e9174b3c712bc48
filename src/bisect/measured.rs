//! The campaigns of a bisection: which releases, in which folder, and what they came to.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{anyhow, ensure};
use fathom_bench::choose::{Absent, Wanted};
use fathom_bench::home::Home;
use fathom_bench::prepare::prepare;
use fathom_bench::request::Request;
use fathom_bench::results::Results;
use fathom_bench::session::{Ended, Session};
use fathom_record::Sandbox;
use fathom_stats::{Figure, NoiseFloor, Row, RowRatio, Summary};

use super::commits::Commits;
use crate::bench::request::IntoRequest;
use crate::bench::{self, TOOL, idle, show, stopping};
use crate::engines;
use crate::invocation::Invocation;
use crate::stopped::{self, Stopped};

/// How many times the rounds and the time a second look takes.
const LONGER: u32 = 2;

/// Where releases come from.
pub enum Source {
    /// A registry: they are installed.
    Registry,
    /// They are there.
    Installed,
    /// Commits, which are built.
    Commits(Box<Commits>),
}

/// What is measured at each step.
pub struct Steps<'a> {
    engine: Wanted,
    source: Source,
    figure: Option<Figure>,
    request: Request,
    out: Option<PathBuf>,
    count: u32,
    home: Home,
    stop: Arc<AtomicBool>,
    invocation: &'a Invocation,
}

impl<'a> Steps<'a> {
    /// Of one engine, on what the options of `fathom bench` name.
    pub fn new(
        engine: Wanted,
        source: Source,
        figure: Option<Figure>,
        args: bench::Args,
        home: Home,
        invocation: &'a Invocation,
    ) -> anyhow::Result<Steps<'a>> {
        let request = args.into_request(&std::env::current_dir()?)?;
        let request = invocation.placed(request)?;
        Ok(Steps {
            engine,
            source,
            figure,
            out: request.out.clone(),
            request,
            count: 0,
            home,
            stop: stopped::on_signals()?,
            invocation,
        })
    }

    /// What its engine is called.
    pub fn engine(&self) -> String {
        self.engine.engine.clone()
    }

    /// Has a release here; why it cannot be, in one line.
    ///
    /// # Errors
    /// It was stopped meanwhile.
    pub fn install(&mut self, release: &str) -> anyhow::Result<Result<(), String>> {
        let installed = match &mut self.source {
            Source::Installed => Ok(()),
            Source::Registry => {
                engines::install_one(&self.home, &format!("{}@{release}", self.engine.engine))
            }
            Source::Commits(commits) => commits.build(release, &self.stop),
        };
        ensure!(!self.stop.load(Ordering::Relaxed), Stopped);
        Ok(installed)
    }

    /// One of them as an engine.
    fn wanted(&self, release: &str) -> Wanted {
        match &self.source {
            Source::Registry | Source::Installed => Wanted {
                version: Some(release.to_owned()),
                ..self.engine.clone()
            },
            Source::Commits(commits) => commits.engine(release),
        }
    }

    /// A campaign of these releases.
    pub fn measure(&mut self, releases: &[&String]) -> anyhow::Result<Told> {
        self.campaign(releases, 1)
    }

    /// The same with more rounds.
    pub fn measure_longer(&mut self, releases: &[&String]) -> anyhow::Result<Told> {
        self.campaign(releases, LONGER)
    }

    fn campaign(&mut self, releases: &[&String], times: u32) -> anyhow::Result<Told> {
        self.count += 1;
        let mut request = self.request.clone();
        let wanted: BTreeMap<String, Wanted> = releases
            .iter()
            .map(|release| ((*release).clone(), self.wanted(release)))
            .collect();
        request.engines = releases
            .iter()
            .map(|release| wanted[*release].clone())
            .collect();
        request.out = (self.out.as_ref()).map(|out| out.join(self.count.to_string()));
        request.duration.rounds = request.duration.rounds.map(|rounds| rounds * times);
        request.duration.budget = request.duration.budget.map(|budget| budget * times);
        let mut prepared = prepare(&request, &self.invocation.words, TOOL)?;
        prepared.run_trial(&self.stop)?;
        say!(
            "{}: {} → {}",
            self.engine.engine,
            releases
                .iter()
                .map(|one| one.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            prepared.folder.display()
        );
        let mut results = Results::create(&prepared.folder, prepared.header.clone())?;
        idle::wait_for(&prepared, &self.stop);
        let mut shown = show::Shown::new();
        let mut drivers = prepared.boxed_drivers();
        let ended = Session {
            plan: &prepared.plan,
            drivers: &mut drivers,
            results: &mut results,
            pace: prepared.pace.clone(),
            stopping: &stopping::Estimates,
            stop: &self.stop,
            observer: &mut shown,
        }
        .run();
        shown.finish();
        ensure!(ended? != Ended::Stopped, Stopped);
        let summary = Summary::from_campaign(results.campaign());
        Ok(Told::of(summary, self.figure, wanted, &prepared.absent))
    }
}

/// What a campaign of releases came to.
pub struct Told {
    wanted: BTreeMap<String, Wanted>,
    /// Why some of them could not be measured at all.
    absent: BTreeMap<String, String>,
    summary: Summary,
    figure: Figure,
    noise: NoiseFloor,
}

impl Told {
    /// Compared by a figure; by the campaign's own where none is named.
    fn of(
        summary: Summary,
        figure: Option<Figure>,
        wanted: BTreeMap<String, Wanted>,
        absent: &[Absent],
    ) -> Told {
        let figure = figure.unwrap_or(summary.compared);
        let why = |one: &Wanted| {
            let mut absent = absent.iter();
            absent
                .find(|absent| absent.engine == one.name())
                .map(|absent| absent.why.clone())
        };
        let absent = wanted
            .iter()
            .filter_map(|(release, one)| Some((release.clone(), why(one)?)));
        Told {
            absent: absent.collect(),
            wanted,
            noise: summary.noise_in(figure),
            summary,
            figure,
        }
    }

    fn is(&self, sandbox: &Sandbox, release: &str) -> bool {
        let wanted = self.wanted.get(release);
        wanted.is_some_and(|one| (&one.engine, &one.version) == (&sandbox.engine, &sandbox.version))
    }

    fn rows(&self, release: &str) -> impl Iterator<Item = &Row> {
        let rows = self.summary.rows.iter().map(|row| &row.row);
        rows.filter(move |row| self.is(&row.sandbox, release))
    }

    /// Why a release has no time for something.
    pub fn without_time(&self, release: &str) -> Option<String> {
        if let Some(why) = self.absent.get(release) {
            return Some(why.clone());
        }
        let mut cells = self.summary.cells.iter().filter(|cell| {
            let cell = &cell.cell;
            self.is(&cell.sandbox, release) && !cell.is_control()
        });
        cells.find_map(|cell| cell.times.as_ref().err().map(ToString::to_string))
    }

    /// The times of one release over those of another, over all that both ran.
    ///
    /// # Errors
    /// One of them has no times.
    pub fn ratio(&self, release: &str, to: &str) -> anyhow::Result<RowRatio> {
        for one in [to, release] {
            if let Some(why) = self.without_time(one) {
                return Err(anyhow!("{one}: {why}"));
            }
        }
        let other = |row: &Row| {
            self.rows(to)
                .find(|other| other.is_comparable_to(row) && other.threads == row.threads)
        };
        let pairs: Vec<(&Row, &Row)> = self
            .rows(release)
            .filter_map(|row| Some((row, other(row)?)))
            .collect();
        match &pairs[..] {
            [(row, to)] => Ok(self.summary.ratio_in(self.figure, &self.noise, row, to)),
            pairs if self.figure == self.summary.compared => Ok(self.summary.ratio_over(pairs)),
            _ => Err(anyhow!("--by: of one build and one number of instances")),
        }
    }

    /// The same as a number.
    ///
    /// # Errors
    /// As [`Told::ratio`].
    pub fn value(&self, release: &str, to: &str) -> anyhow::Result<f64> {
        let ratio = self.ratio(release, to)?;
        let found = ratio
            .geomean
            .map_err(|why| anyhow!("{release} over {to}: {why}"))?;
        Ok(found.value)
    }
}
