//! What estimates say of how much more is to be measured.

use fathom_bench::stopping::{Pilot, StoppingRule};
use fathom_record::{Campaign, CellId};
use fathom_report::view;
use fathom_stats::{Summary, allocation::Components, forecast::extended, order::median};

/// By the estimates of reports.
pub struct Estimates;

impl StoppingRule for Estimates {
    fn iterations(&self, pilot: &Pilot, most: u32) -> Option<u32> {
        let found = Components::pooled(&pilot.cells, pilot.start_ns, pilot.lap_ns)?;
        Some(found.iterations(most))
    }

    fn imprecise(&self, campaign: &Campaign, half_width: f64) -> Option<Vec<(CellId, CellId)>> {
        let summary = Summary::from_campaign(campaign);
        // Where there is one row alone, no ratio says when it is known.
        let compares = summary.rows.iter().any(|row| row.row != row.baseline);
        compares.then(|| summary.imprecise(half_width))
    }

    fn detectable(&self, campaign: &Campaign) -> Option<f64> {
        let summary = Summary::from_campaign(campaign);
        view::from_campaign(campaign, &summary, summary.compared, "", "").detectable()
    }

    fn forecast(&self, campaign: &Campaign, rounds: u32) -> Option<f64> {
        /// One says little where there are few cells.
        const DRAWN: u64 = 3;
        let drawn = (0..DRAWN).filter_map(|stream| extended(campaign, rounds, 1.0, stream));
        let seen: Vec<f64> = drawn.filter_map(|one| self.detectable(&one)).collect();
        median(&seen)
    }

    fn limit(&self, campaign: &Campaign) -> Option<f64> {
        /// So many that scatter is known, of which there is none.
        const ROUNDS: u32 = 100;
        self.detectable(&extended(campaign, ROUNDS, 0.0, 0)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_come_from_what_varies_and_costs() {
        let child = |off: f64| vec![off - 0.1, off + 0.1];
        let pilot = Pilot {
            cells: vec![vec![child(0.0), child(0.1)], vec![child(0.0), child(-0.1)]],
            start_ns: 900.0,
            lap_ns: 1.0,
        };
        assert_eq!(
            Estimates.iterations(&pilot, 50),
            Some(50),
            "no more between than within"
        );
        let apart = Pilot {
            cells: vec![vec![child(0.0), child(3.0)], vec![child(0.0), child(-3.0)]],
            ..pilot.clone()
        };
        // √900 · 0.141 / 3
        assert_eq!(Estimates.iterations(&apart, 50), Some(1));
        assert_eq!(Estimates.iterations(&Pilot::default(), 50), None);
    }
}
