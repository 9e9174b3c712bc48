//! What traced runs saw of each row's run.
//!
//! What must stay true: what a run has in common with the program that is not run is no part
//! of it; what is not known of all rows is used of none.

use std::collections::BTreeMap;

use fathom_record::campaign::Traced;
use fathom_record::waterfall::NOT_RUN;
use fathom_record::{Campaign, Cell, CellId};

use super::{Rows, beside};

/// The traced runs of each row, by its cell; only what is known of all rows is used.
pub(super) struct Traces {
    /// By cell: time in WASI, time in system calls, of each repeat.
    by_cell: BTreeMap<CellId, Vec<Seen>>,
    pub(super) repeats: usize,
    pub(super) has_calls: bool,
    pub(super) has_wasi: bool,
}

/// A traced run of a row, and one of the program that is not run.
type Pair = (Traced, Option<Traced>);

/// What one repeat saw of a row's run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) wasi_ns: f64,
    pub(super) wasi_count: f64,
    pub(super) calls_ns: f64,
    pub(super) calls_count: f64,
}

impl Traces {
    pub(super) fn of(campaign: &Campaign, rows: &Rows<'_>) -> Traces {
        let mut by_repeat: BTreeMap<(&CellId, u32), &Traced> = BTreeMap::new();
        for traced in &campaign.traced {
            by_repeat.insert((&traced.cell, traced.repeat), traced);
        }
        let runs = |id: &CellId| -> BTreeMap<u32, &Traced> {
            let all = by_repeat.iter().filter(|((of, _), _)| *of == id);
            all.map(|((_, repeat), traced)| (*repeat, *traced))
                .collect()
        };
        let pairs = |cell: &Cell| -> Vec<Pair> {
            let alone = runs(&beside(cell, NOT_RUN));
            let of_run = runs(&cell.id()).into_iter();
            let is_wasm = cell.variant.is_wasm();
            of_run
                .map(|(repeat, run)| (run.clone(), alone.get(&repeat).map(|one| (*one).clone())))
                .filter(|(_, alone)| alone.is_some() || !is_wasm)
                .collect()
        };
        let all: Vec<(CellId, Vec<Pair>)> =
            rows.all().map(|cell| (cell.id(), pairs(cell))).collect();
        let repeats = all.iter().map(|(_, pairs)| pairs.len()).min().unwrap_or(0);
        let every = |has: fn(&Traced) -> bool| {
            let mut runs = all.iter().flat_map(|(_, pairs)| pairs);
            repeats > 0 && runs.all(|(run, alone)| has(run) && alone.as_ref().is_none_or(has))
        };
        let has_calls = every(|run| run.calls.is_some());
        let engine = rows.engine.id();
        let has_wasi = repeats > 0
            && (has_calls || rows.native.is_none())
            && all
                .iter()
                .filter(|(id, _)| *id == engine)
                .all(|(_, pairs)| pairs.iter().all(|(run, _)| run.wasi.is_some()));
        let seen = |(run, alone): &Pair| seen(run, alone.as_ref(), has_calls);
        Traces {
            by_cell: all
                .iter()
                .map(|(id, pairs)| (id.clone(), pairs.iter().take(repeats).map(seen).collect()))
                .collect(),
            repeats,
            has_calls,
            has_wasi,
        }
    }

    /// Of each repeat, something of a row; nothing where that was not seen.
    pub(super) fn each(&self, cell: &Cell, of: impl Fn(&Seen) -> f64) -> Vec<f64> {
        let seen = self.by_cell.get(&cell.id());
        seen.map_or_else(Vec::new, |seen| seen.iter().map(of).collect())
    }

    /// What is taken out of a row's run.
    pub(super) fn io(&self, cell: &Cell) -> Vec<f64> {
        let (calls, wasi) = (self.has_calls, self.has_wasi);
        self.each(cell, |seen| {
            let calls = if calls { seen.calls_ns } else { 0.0 };
            let wasi = if wasi { seen.wasi_ns } else { 0.0 };
            calls + wasi
        })
    }
}

/// System calls by which memory is got, changed and given back: WASI asks for none.
const MEMORY: [&str; 7] = [
    "brk", "ioctl", "madvise", "mmap", "mprotect", "mremap", "munmap",
];

/// What the run took by itself: the program's without that of the one that is not run.
fn seen(run: &Traced, alone: Option<&Traced>, has_calls: bool) -> Seen {
    let none = BTreeMap::new();
    let of = |traced: Option<&Traced>| traced.and_then(|one| one.calls.clone());
    let (calls, before) = (of(Some(run)).unwrap_or_default(), of(alone));
    let before = before.as_ref().unwrap_or(&none);
    let (mut calls_ns, mut calls_count, mut inside_ns) = (0.0, 0.0, 0.0);
    for (name, seen) in &calls {
        let less = before.get(name).copied().unwrap_or_default();
        // What both call as often is of the start, and scatters.
        if seen.count <= less.count {
            continue;
        }
        let ns = seen.net_ns() - less.net_ns();
        calls_ns += ns;
        calls_count += (seen.count - less.count) as f64;
        if has_calls && !MEMORY.contains(&name.as_str()) {
            inside_ns += ns;
        }
    }
    let wasi = run.wasi.unwrap_or_default();
    Seen {
        wasi_ns: match run.wasi {
            Some(wasi) => (wasi.net_ns() - inside_ns).max(0.0),
            None => 0.0,
        },
        wasi_count: wasi.count as f64,
        calls_ns,
        calls_count,
    }
}
