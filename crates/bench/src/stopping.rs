//! When measuring ends: how much more is to be measured, from what was measured so far.
//!
//! Estimating is not this crate's: whoever runs a session brings somebody who can.
//! What must stay true: it is decided by what varies, what looking again costs and how
//! wide an interval is; never by whether rows that are near each other differ. How far a
//! row is from the baseline may say how well it has to be known.

use fathom_record::{Campaign, CellId};

/// Children of one program in the first rounds, and what they cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pilot {
    /// Of each cell its children, round by round: the logarithm of what is compared, of
    /// each counted iteration.
    pub cells: Vec<Vec<Vec<f64>>>,
    /// What a child takes beside its counted iterations, in nanoseconds.
    pub start_ns: f64,
    /// What an iteration takes, in nanoseconds.
    pub lap_ns: f64,
}

/// How much is enough.
pub trait StoppingRule {
    /// Counted iterations that make the best of a child's cost, at most `most`; `None`
    /// where the first rounds do not tell.
    fn iterations(&self, pilot: &Pilot, most: u32) -> Option<u32>;

    /// Cells whose ratio is not known as well as `half_width` (0.01 for 1 %), each with
    /// the cell that it is compared with; `None` where nobody looks.
    fn imprecise(&self, campaign: &Campaign, half_width: f64) -> Option<Vec<(CellId, CellId)>>;

    /// The smallest difference that would have been found eight times of ten (0.02 for 2 %);
    /// `None` where nothing can be said yet.
    fn detectable(&self, campaign: &Campaign) -> Option<f64>;

    /// The same after so many rounds, judging by how those that there are scatter.
    fn forecast(&self, campaign: &Campaign, rounds: u32) -> Option<f64>;

    /// The same however many rounds there were.
    fn limit(&self, campaign: &Campaign) -> Option<f64>;
}

/// None: everything is measured in every round.
impl StoppingRule for () {
    fn iterations(&self, _: &Pilot, _: u32) -> Option<u32> {
        None
    }

    fn imprecise(&self, _: &Campaign, _: f64) -> Option<Vec<(CellId, CellId)>> {
        None
    }

    fn detectable(&self, _: &Campaign) -> Option<f64> {
        None
    }

    fn forecast(&self, _: &Campaign, _: u32) -> Option<f64> {
        None
    }

    fn limit(&self, _: &Campaign) -> Option<f64> {
        None
    }
}
