//! Which cells need further rounds: those whose ratio is not known well enough yet.
//!
//! What must stay true: among rows that are near each other it is judged by how wide an
//! interval is and never by where it lies. Who measures on until a difference shows finds
//! one in noise; who stops at a width that was set before finds what is there. A row that
//! is far from its baseline (`FAR`) needs no such width: its mean is known well enough when
//! its interval reaches a part of that distance (`SHARE`).
//!
//! A fixed layout's uncertainty is left out: no number of rounds makes it smaller.

use fathom_record::CellId;

use crate::ratio::{self, Logs};
use crate::student::t_975;
use crate::summary::{RowSummary, Summary};

/// Rows whose mean is this many times the baseline's, or takes this part of it, are far
/// away: nobody chooses between them by a few per cent.
const FAR: f64 = 1.4;
/// What the mean of such a row may be off by, of the logarithm of its ratio.
const SHARE: f64 = 0.05;

/// A cell whose ratio to another is not settled, and that other.
pub type Unsettled = (CellId, CellId);

impl Summary {
    /// Every cell whose ratio to its baseline has a 95 % interval that reaches further
    /// than `half_width` (0.01 for 1 %) from its middle, or has none yet, with the
    /// baseline's cell. Cells without a time are no use of time, nor are those of a row that is
    /// far away and known as well as its distance asks for.
    pub fn unsettled(&self, half_width: f64) -> Vec<Unsettled> {
        let mut all = Vec::new();
        let open = |row: &&RowSummary| row.row != row.baseline && !is_far_and_known(row);
        for row in self.rows.iter().filter(open) {
            let (mut cells, mut logs): (Vec<Unsettled>, Vec<Logs>) = (Vec::new(), Vec::new());
            for name in self.workloads_of(&row.row) {
                let pair = (
                    self.cell_of(&row.row, name),
                    self.cell_of(&row.baseline, name),
                );
                let (Some(own), Some(base)) = pair else {
                    continue;
                };
                let both = (&row.row, &row.baseline);
                if let Some(one) = self.logs(self.compared, both, name) {
                    cells.push((own.id.clone(), base.id.clone()));
                    logs.push(one.by_rounds());
                }
            }
            let ratios = ratio::each(&logs, self.noise.serial);
            let is_settled = |ratio: &Result<ratio::Ratio, _>| {
                let error = ratio.as_ref().ok().and_then(|ratio| ratio.error.ok());
                error.is_some_and(|error| t_975(error.freedom) * error.log <= half_width.ln_1p())
            };
            let open = cells.into_iter().zip(&ratios);
            all.extend(
                open.filter(|(_, ratio)| !is_settled(ratio))
                    .map(|(pair, _)| pair),
            );
        }
        all
    }
}

fn is_far_and_known(row: &RowSummary) -> bool {
    let Ok(mean) = &row.to_baseline.geomean else {
        return false;
    };
    let distance = mean.value.ln().abs();
    let half = mean.error.map(|error| t_975(error.freedom) * error.log);
    distance >= FAR.ln() && half.is_ok_and(|half| half <= SHARE * distance)
}
