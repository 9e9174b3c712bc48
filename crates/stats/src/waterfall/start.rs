//! What it takes an engine to come to a program's first instruction, and to end.

use fathom_record::waterfall::{NOT_RUN, SUITE};
use fathom_record::{Campaign, Cell};

use super::laps::{Lap, Laps};
use super::{Value, value};
use crate::Summary;

/// A process of an engine whose program returns at once, in parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Its start and its end.
    pub process: Value,
    /// Reading the module and compiling it.
    pub compile: Value,
    /// Making the instance and dropping it.
    pub instance: Value,
    /// All of it.
    pub whole: Value,
    /// Rounds it rests on.
    pub rounds: usize,
}

impl Start {
    /// Of every row that was measured so, in the campaign's order.
    pub fn all<'a>(campaign: &'a Campaign, summary: &Summary) -> Vec<(&'a Cell, Start)> {
        let laps = Laps::of(campaign, summary);
        let cells = campaign.header.cells.iter();
        let cells = cells.filter(|cell| cell.suite == SUITE && cell.workload == NOT_RUN);
        let start = |cell: &'a Cell| {
            let id = cell.id();
            let rounds: Vec<u32> = laps.rounds(&id).into_iter().collect();
            let part = |of: fn(&Lap) -> f64| {
                let each = rounds.iter().map(|round| of(&laps.of_round(&id, *round)));
                value(each.collect(), Vec::new())
            };
            let start = Start {
                process: part(Lap::rest_ns),
                compile: part(|lap| lap.compile_ns),
                instance: part(|lap| lap.instance_ns),
                whole: part(|lap| lap.wall_ns),
                rounds: rounds.len(),
            };
            (!rounds.is_empty()).then_some((cell, start))
        };
        cells.filter_map(start).collect()
    }
}
