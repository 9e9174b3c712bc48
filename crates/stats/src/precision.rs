//! Which cells need further rounds: those whose ratio is not known well enough yet.
//!
//! What must stay true: among rows that are near each other it is judged by how wide an
//! interval is and never by where it lies. Who measures on until a difference shows finds
//! one in noise; who stops at a width that was set before finds what is there. What is asked
//! of a campaign is who is first, and by how much: a row whose mean is so far from that of the
//! first row that its interval reaches no further than a part of the distance (`SHARE`), and
//! that a report tells the two apart beside all other pairs, is known well enough. At five times
//! its own half-width nothing that looks like a difference is noise, so that to stop there is
//! not to choose. Of few rounds the interval alone may be so narrow while a report, which
//! judges all pairs at once, cannot say yet that they differ.
//!
//! A fixed layout's uncertainty is left out: no number of rounds makes it smaller.

use fathom_record::CellId;

use crate::ratio::{self, Logs};
use crate::student::t_975;
use crate::summary::{RowSummary, Summary};
use crate::verdict::{ALPHA_PAIRS, Family};

/// What the mean of a row may be off by, of its distance to the first row, as logarithms.
const SHARE: f64 = 0.2;

/// A cell whose ratio to another is not known well enough, and that other.
pub type Imprecise = (CellId, CellId);

impl Summary {
    /// Every cell whose ratio to its baseline has a 95 % interval that reaches further
    /// than `half_width` (0.01 for 1 %) from its middle, or has none yet, with the
    /// baseline's cell. Cells without a time are no use of time, nor are those of a row that is
    /// known as well as its distance to the first row asks for.
    pub fn imprecise(&self, half_width: f64) -> Vec<Imprecise> {
        let mut all = Vec::new();
        let open = |row: &&RowSummary| row.row != row.baseline && !self.is_far_and_known(row);
        for row in self.rows.iter().filter(open) {
            let (mut cells, mut logs): (Vec<Imprecise>, Vec<Logs>) = (Vec::new(), Vec::new());
            for name in self.workloads_of(&row.row) {
                let pair = (
                    self.cell_of(&row.row, name),
                    self.cell_of(&row.baseline, name),
                );
                let (Some(own), Some(base)) = pair else {
                    continue;
                };
                let one = self.logs(self.compared, &row.row, &row.baseline, name);
                if let Some(one) = one {
                    cells.push((own.id.clone(), base.id.clone()));
                    logs.push(one.by_rounds());
                }
            }
            let ratios = ratio::each(&logs, self.noise.serial);
            let is_precise = |ratio: &Result<ratio::Ratio, _>| {
                let error = ratio.as_ref().ok().and_then(|ratio| ratio.error.ok());
                error.is_some_and(|error| t_975(error.freedom) * error.log <= half_width.ln_1p())
            };
            let open = cells.into_iter().zip(&ratios);
            all.extend(
                open.filter(|(_, ratio)| !is_precise(ratio))
                    .map(|(pair, _)| pair),
            );
        }
        all
    }

    /// Whether a row is so far from the first that it is known well enough.
    fn is_far_and_known(&self, row: &RowSummary) -> bool {
        let first = self.first_beside(row);
        let Some(first) = first.filter(|first| first.row != row.row) else {
            return false;
        };
        let names = self.workloads_of(&row.row);
        let logs = names.filter_map(|name| self.logs(self.compared, &row.row, &first.row, name));
        let logs = logs.map(|logs| logs.by_rounds());
        let Ok(mean) = ratio::mean(&logs.collect::<Vec<Logs>>(), self.noise.serial) else {
            return false;
        };
        let distance = mean.value.ln().abs();
        let level = Family::of_pairs(self.ranked_beside(row).count()).level(ALPHA_PAIRS);
        let inflation = self.noise.inflation_of(&row.row, &first.row).means;
        mean.widened(inflation).error.is_ok_and(|error| {
            let is_known = t_975(error.freedom) * error.log <= SHARE * distance;
            is_known && error.chance_of(distance) <= level
        })
    }

    /// The row that is ranked first of those that a row is compared with.
    fn first_beside(&self, row: &RowSummary) -> Option<&RowSummary> {
        let mean = |row: &RowSummary| Some(row.to_baseline.geomean.as_ref().ok()?.value);
        let known = self
            .ranked_beside(row)
            .filter_map(|row| Some((mean(row)?, row)));
        let first = known.min_by(|(one, _), (other, _)| one.total_cmp(other));
        first.map(|(_, row)| row)
    }

    /// The ranked rows that a row is compared with.
    fn ranked_beside(&self, row: &RowSummary) -> impl Iterator<Item = &RowSummary> {
        self.rows.iter().filter(|other| {
            other.is_ranked && other.baseline == row.baseline && other.without_time.is_empty()
        })
    }
}
