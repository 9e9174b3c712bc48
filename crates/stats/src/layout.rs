//! What one fixed layout of code may be worth.
//!
//! Where a function happens to lie decides how its branches share a predictor
//! and its loops a line of cache. Our own engine is told to place code anew in
//! every round, so its rounds show what that does. Nobody else can be told: all
//! rounds of such a cell have one layout, and however many they are, the cell is
//! known no better than one draw of layouts.
//!
//! So each side of a ratio whose layout was not varied adds a **systematic
//! uncertainty** to the ratio's: the standard deviation that layouts have, squared.
//! Workloads are laid out each by itself, so in a mean over W of them it is
//! divided by W.

use fathom_record::campaign::Config;
use fathom_record::{Cell, Variant};

use crate::figure::Figure;

/// Where an uncertainty comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Measured: the same program built or placed in many ways.
    Measured(&'static str),
    /// Assumed, with the reason.
    Assumed(&'static str),
}

/// What the layouts of an engine's code scatter by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uncertainty {
    /// The standard deviation of a time's logarithm over layouts.
    pub deviation: f64,
    /// How that is known.
    pub source: Source,
}

/// Taken of whatever is not listed: nobody has measured it here.
pub const DEFAULT: Uncertainty = Uncertainty {
    deviation: 0.02,
    source: Source::Assumed("no measurement; 2 % until there is one"),
};

/// Engines whose layouts were measured, by the names of their sandboxes. None
/// is yet.
const MEASURED: [(&str, Uncertainty); 0] = [];

/// Our engine's name: the one that varies its layout when a campaign says so.
const VARIED: &str = "fathom";

/// The systematic uncertainty of an engine whose layout is fixed.
pub fn uncertainty(engine: &str) -> Uncertainty {
    let known = MEASURED.iter().find(|(name, _)| *name == engine);
    known.map_or(DEFAULT, |(_, known)| *known)
}

/// The variance that the ratio of two cells' logarithms has from layouts that
/// its rounds do not show.
pub(crate) fn of_ratio(one: &Cell, other: &Cell, config: &Layouts, figure: Figure) -> f64 {
    if is_same_code(one, other) {
        return 0.0;
    }
    config.of_cell(one, figure) + config.of_cell(other, figure)
}

/// How a campaign treats layouts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layouts {
    is_varied: bool,
}

impl Layouts {
    /// As the campaign was told.
    pub(crate) fn of(config: &Config) -> Layouts {
        Layouts {
            is_varied: config.layout_varies,
        }
    }

    /// The variance of one cell.
    pub(crate) fn of_cell(self, cell: &Cell, figure: Figure) -> f64 {
        let is_varied = self.is_varied && cell.sandbox.engine == VARIED;
        match is_varied || !is_of_code(figure) {
            true => 0.0,
            false => uncertainty(&cell.sandbox.engine).deviation.powi(2),
        }
    }
}

/// Whether two cells run the same bytes: a cell and its control, or the same
/// with more instances at once.
fn is_same_code(one: &Cell, other: &Cell) -> bool {
    let parts = |cell: &Cell| -> (_, _, _, Variant) {
        (
            cell.sandbox.clone(),
            cell.suite.clone(),
            cell.workload.clone(),
            cell.variant,
        )
    };
    parts(one) == parts(other)
}

/// Whether a figure is a time that the program's own code takes. Memory does
/// not depend on where code lies; compilers do, but theirs is one layout for all
/// workloads, of which nothing is known.
fn is_of_code(figure: Figure) -> bool {
    matches!(
        figure,
        Figure::Kernel | Figure::Run | Figure::RunCpu | Figure::Instance | Figure::Throughput
    )
}
