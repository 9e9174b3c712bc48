//! Campaigns whose true answer is known.
//!
//! ```text
//!  rows       a baseline and as many others as there are cells to compare
//!  truth      all rows take the same time, but for what was planted
//!  controls   of the first row, or of every row
//! ```

use std::collections::BTreeMap;

use fathom_record::campaign::{Config, Process, Sample};
use fathom_record::{Campaign, Cell, Estimator, Header, Host, Record, Sandbox, Variant};
use fathom_stats::rng::Rng;

use super::noise::Noise;

/// Which cells are measured a second time under another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controls {
    /// Those of the first row after the baseline.
    First,
    /// All.
    Every,
}

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// How the machine is.
    pub noise: Noise,
    /// Cells that are compared with the baseline's.
    pub cells: usize,
    /// Workloads they are of.
    pub workloads: usize,
    /// Rounds.
    pub rounds: usize,
    /// What is made of rounds.
    pub estimator: Estimator,
    /// What is repeated.
    pub controls: Controls,
    /// What one cell of the last row takes longer by: 0.03 for 3 %.
    pub planted: f64,
    /// What all cells of the last row take longer by.
    pub row_slower: f64,
    /// The width from which on a cell is measured no more; all rounds of all if absent.
    pub width: Option<f64>,
    /// The difference between means that is to be detected, for which rounds go on, to
    /// `rounds` at most.
    pub detect: Option<f64>,
    /// Rounds in a row after which it would be, by which they end.
    pub held: u32,
}

/// A campaign and what is true of it.
pub struct Simulated {
    /// As it would have been written.
    pub campaign: Campaign,
    /// The logarithm of each cell's true time, by its place in the header.
    pub truth: BTreeMap<String, f64>,
}

/// A second in nanoseconds: what everything takes.
const SECOND: f64 = 1e9;

impl World {
    /// Rows that are compared with the baseline.
    pub fn rows(&self) -> usize {
        (self.cells / self.workloads).max(1)
    }

    /// The workload's name.
    pub fn workload(index: usize) -> String {
        format!("k{index:03}")
    }

    /// Draws one. `machine` is what everything is slower by, in both modes.
    pub fn draw(&self, rng: &mut Rng, machine: f64) -> Simulated {
        let mut campaign = Campaign::new(self.header());
        let mut truth = BTreeMap::new();
        let common: Vec<f64> = (0..self.rounds).map(|_| self.noise.common(rng)).collect();
        let mut layouts: BTreeMap<String, f64> = BTreeMap::new();
        let cells = campaign.header.cells.clone();
        let a_workload = cells.len() / self.workloads;
        let mut bursts: Vec<Vec<f64>> = Vec::new();
        for (at, cell) in cells.into_iter().enumerate() {
            let row = row_of(&cell);
            if at % a_workload == 0 {
                bursts = (0..self.rounds)
                    .map(|_| self.noise.bursts(rng, a_workload))
                    .collect();
            }
            let mut off = self.noise.draw(rng, row, self.rounds);
            let mut true_off = self.noise.true_off(row, self.rounds, self.estimator);
            for (value, burst) in off.iter_mut().zip(&bursts) {
                *value += burst[at % a_workload];
            }
            let original = cell.control_of.clone().unwrap_or_else(|| cell.id());
            let layout = *layouts
                .entry(original.as_str().to_owned())
                .or_insert_with(|| self.noise.layout(rng));
            off.iter_mut().for_each(|value| *value += layout);
            if row == self.rows() && cell.workload == World::workload(0) {
                let planted = self.planted.ln_1p();
                off.iter_mut().for_each(|value| *value += planted);
                true_off += planted;
            }
            if row == self.rows() {
                let slower = self.row_slower.ln_1p();
                off.iter_mut().for_each(|value| *value += slower);
                true_off += slower;
            }
            truth.insert(cell.id().as_str().to_owned(), true_off);
            for (round, value) in off.iter().enumerate() {
                let ns = SECOND * (value + common[round] + machine).exp();
                push(&mut campaign, &cell, round as u32, ns as u64);
            }
        }
        Simulated { campaign, truth }
    }

    fn header(&self) -> Header {
        let mut cells = Vec::new();
        for workload in 0..self.workloads {
            for row in 0..=self.rows() {
                let cell = self.cell(row, &World::workload(workload));
                let is_controlled = match self.controls {
                    Controls::First => row == 1,
                    Controls::Every => true,
                };
                let control = cell.control();
                cells.push(cell);
                if is_controlled {
                    cells.push(control);
                }
            }
        }
        Header {
            format: 1,
            tool: "simulate".to_owned(),
            name: self.noise.name().to_owned(),
            date: "2026-11-22T12:00:00Z".to_owned(),
            command: Vec::new(),
            request: None,
            host: Host::default(),
            config: Config {
                rounds: self.rounds as u32,
                iterations: 1,
                estimator: self.estimator,
                layout_varies: true,
                ..Config::default()
            },
            workloads: Vec::new(),
            cells,
        }
    }

    /// Our engine's rows have layouts that vary, everybody else's have not.
    fn cell(&self, row: usize, workload: &str) -> Cell {
        let is_native = row == 0;
        let engine = match (is_native, self.noise.is_layout_fixed()) {
            (true, true) => "native".to_owned(),
            (false, true) => format!("engine{row:02}"),
            (_, false) => "fathom".to_owned(),
        };
        Cell {
            sandbox: Sandbox::new(&engine, &format!("s{row:02}")),
            suite: "simulated".to_owned(),
            workload: workload.to_owned(),
            variant: if is_native {
                Variant::Native
            } else {
                Variant::Wasm
            },
            size: String::new(),
            threads: 1,
            control_of: None,
        }
    }
}

fn row_of(cell: &Cell) -> usize {
    cell.sandbox.strategy[1..].parse().unwrap_or(0)
}

fn push(campaign: &mut Campaign, cell: &Cell, round: u32, ns: u64) {
    campaign.push(Record::Sample(Sample {
        cell: cell.id(),
        round,
        thread: 0,
        index: 0,
        kernel_ns: Some(ns),
        phases: BTreeMap::new(),
    }));
    campaign.push(Record::Process(Process::new(cell.id(), round)));
}
