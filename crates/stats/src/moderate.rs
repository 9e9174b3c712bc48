//! Variances of many cells, each known from a few rounds, made sharper by what
//! the others say.
//!
//! The variance of five rounds is known to within a factor of three either way.
//! The cells of one pair of rows are measured by the same two engines on one
//! machine, so their variances are alike: how alike is itself estimated. The
//! model is that of microarray statistics (Smyth, "Linear models and empirical
//! Bayes methods for assessing differential expression", 2004): true variances
//! are scattered about a common one as an inverse chi-square with `d0` degrees
//! of freedom, and a cell's moderated variance is
//!
//! ```text
//!   ( d0 s0² + d s² ) / ( d0 + d )        with d0 + d degrees of freedom
//! ```
//!
//! `d0` follows from how much the logarithms of the variances scatter beyond
//! what their own degrees of freedom explain. `s0²` is the plain mean of the
//! variances and not, as there, that of their logarithms: a cell whose rounds
//! all happened to fall into one of two modes has a variance near 0, which
//! would drag the logarithms down and leave just such cells too narrow.
//!
//! What must stay true: cells of other pairs of rows are never borrowed from,
//! since a noisy engine's would be made too narrow by a quiet one's.

/// What is known of the variances of some cells together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    /// The common variance.
    pub(crate) variance: f64,
    /// How many degrees of freedom it counts for in each cell.
    pub(crate) freedom: f64,
    /// Those of all cells together: no moderated variance is known better.
    total: f64,
}

/// A variance and the degrees of freedom it is known with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variance {
    /// The variance.
    pub(crate) value: f64,
    /// Its degrees of freedom.
    pub(crate) freedom: f64,
}

/// The largest `d0`: from there on the common variance is all that counts.
const FREEDOM_MAX: f64 = 1e4;

/// Cells below which nothing is borrowed: how alike two are cannot be told.
const CELLS_MIN: usize = 3;

impl Prior {
    /// From the variances of the cells; `None` if they are too few or all 0.
    pub(crate) fn of(variances: &[Variance]) -> Option<Prior> {
        if variances.len() < CELLS_MIN || variances.iter().any(|one| one.freedom <= 0.0) {
            return None;
        }
        let count = variances.len() as f64;
        let total: f64 = variances.iter().map(|one| one.freedom).sum();
        let weighted = variances.iter().map(|one| one.freedom * one.value);
        let mean = weighted.sum::<f64>() / total;
        if mean <= 0.0 || !mean.is_finite() {
            return None;
        }
        // Equal rounds have no logarithm; a hundred-thousandth is as good as none.
        let least = 1e-5 * mean;
        let scatter: Vec<f64> = variances
            .iter()
            .map(|one| {
                let half = 0.5 * one.freedom;
                one.value.max(least).ln() - digamma(half) + half.ln()
            })
            .collect();
        let middle = scatter.iter().sum::<f64>() / count;
        let spread = scatter
            .iter()
            .map(|value| (value - middle) * (value - middle))
            .sum::<f64>()
            / (count - 1.0);
        let own = variances
            .iter()
            .map(|one| trigamma(0.5 * one.freedom))
            .sum::<f64>()
            / count;
        let freedom = match spread - own {
            excess if excess > 0.0 => (2.0 * trigamma_inverse(excess)).min(FREEDOM_MAX),
            _ => FREEDOM_MAX,
        };
        Some(Prior {
            variance: mean,
            freedom,
            total,
        })
    }

    /// A cell's variance, moderated.
    pub(crate) fn moderate(&self, own: Variance) -> Variance {
        let freedom = self.freedom + own.freedom;
        Variance {
            value: (self.freedom * self.variance + own.freedom * own.value) / freedom,
            freedom: freedom.min(self.total.max(own.freedom)),
        }
    }
}

/// The derivative of the logarithm of the gamma function.
fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    below + x.ln() - 0.5 / x - series
}

/// The derivative of [`digamma`].
fn trigamma(x: f64) -> f64 {
    let (mut x, mut above) = (x, 0.0);
    while x < 10.0 {
        above += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0))) * square / x;
    above + 1.0 / x + 0.5 * square + series
}

/// The `x` whose trigamma is `value`, which falls in `x`: by halving.
fn trigamma_inverse(value: f64) -> f64 {
    let (mut low, mut high) = (1e-6, FREEDOM_MAX);
    if trigamma(high) >= value {
        return high;
    }
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], freedom: f64) -> Vec<Variance> {
        values
            .iter()
            .map(|&value| Variance { value, freedom })
            .collect()
    }

    #[test]
    fn the_gamma_functions_are_those_of_the_tables() {
        // R: digamma(c(1, 0.5, 4)), trigamma(c(1, 0.5, 4))
        for (x, first, second) in [
            (1.0, -0.577_215_665, 1.644_934_067),
            (0.5, -1.963_510_026, 4.934_802_201),
            (4.0, 1.256_117_668, 0.283_822_956),
        ] {
            assert!((digamma(x) - first).abs() < 1e-8, "{x}: {}", digamma(x));
            assert!((trigamma(x) - second).abs() < 1e-8, "{x}: {}", trigamma(x));
            assert!((trigamma_inverse(second) / x - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn alike_variances_are_pooled_and_scattered_ones_are_not() {
        let alike = Prior::of(&of(&[1.0, 1.1, 0.9, 1.05, 0.95], 4.0)).unwrap();
        assert!(alike.freedom >= FREEDOM_MAX, "{alike:?}");
        let own = Variance {
            value: 4.0,
            freedom: 4.0,
        };
        let pooled = alike.moderate(own);
        assert!(
            (pooled.value - 1.0).abs() < 0.01 && pooled.freedom == 20.0,
            "{pooled:?}"
        );
        let scattered = Prior::of(&of(&[1e-3, 1e-1, 1.0, 10.0, 1e3], 8.0)).unwrap();
        assert!(scattered.freedom < 1.0, "{scattered:?}");
    }

    #[test]
    fn too_few_or_nothing_has_no_prior() {
        assert_eq!(Prior::of(&of(&[1.0, 2.0], 4.0)), None);
        assert_eq!(Prior::of(&of(&[0.0, 0.0, 0.0], 4.0)), None);
        assert_eq!(Prior::of(&of(&[1.0, 1.0, 1.0], 0.0)), None);
        assert!(Prior::of(&of(&[0.0, 0.0, 1.0], 4.0)).is_some());
    }
}
