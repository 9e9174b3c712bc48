//! Student's t distribution: what chance alone would do.
//!
//! By the regularised incomplete beta function, from its continued fraction
//! (Abramowitz and Stegun, "Handbook of mathematical functions", 26.5.8 and
//! 26.7.1), with Lentz's evaluation.

/// Degrees of freedom from which the distribution is taken as that of so many:
/// it is then normal to four digits as far out as anything here looks.
const FREEDOM_MAX: f64 = 10_000.0;

/// The chance of a value at least as far from 0, on either side. Below 1 degree
/// of freedom, or for what is no number, that of 1.
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    let freedom = clamped(freedom);
    if t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5)
}

/// The chance of a value of at least `t`.
pub(crate) fn upper(t: f64, freedom: f64) -> f64 {
    let half = 0.5 * two_sided(t, freedom);
    if t >= 0.0 { half } else { 1.0 - half }
}

/// The value that chance passes, on either side, with probability `p`, 0 < p <= 1.
pub(crate) fn quantile_two_sided(p: f64, freedom: f64) -> f64 {
    let freedom = clamped(freedom);
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, freedom) > p && high < 1e12 {
        low = high;
        high *= 2.0;
    }
    // Newton's steps on the logarithm of the chance, which is concave; a step
    // out of what is known of the root halves it instead.
    let mut at: f64 = f64::midpoint(low, high);
    for _ in 0..100 {
        let chance = two_sided(at, freedom);
        if chance > p {
            low = at;
        } else {
            high = at;
        }
        let step = (chance / p).ln() * chance / (2.0 * density(at, freedom));
        let next = match at + step {
            next if low < next && next < high => next,
            _ => f64::midpoint(low, high),
        };
        if (next - at).abs() <= 1e-12 * at {
            return next;
        }
        at = next;
    }
    at
}

fn density(t: f64, freedom: f64) -> f64 {
    let half = 0.5 * freedom;
    let scale = ln_gamma(half + 0.5) - ln_gamma(half) - 0.5 * (freedom * std::f64::consts::PI).ln();
    (scale - (half + 0.5) * (t * t / freedom).ln_1p()).exp()
}

/// The 0.975 quantile: half the width of a 95 % interval in standard errors.
pub(crate) fn t_975(freedom: f64) -> f64 {
    quantile_two_sided(0.05, freedom)
}

fn clamped(freedom: f64) -> f64 {
    if freedom.is_nan() {
        return 1.0;
    }
    freedom.clamp(1.0, FREEDOM_MAX)
}

/// `I_x(a, b)`.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast on one side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * beta_fraction(x, a, b) / a
    } else {
        1.0 - front.exp() * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..1_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for part in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + part * d);
            c = away_from_zero(1.0 + part / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function of a positive number: Stirling's series,
/// after the recurrence has brought the argument to where it is exact.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // R: qt(0.975, c(1, 4, 30, 60, 120)); the others by numerical integration.
        for (freedom, quantile) in [
            (1.0, 12.706_205),
            (4.0, 2.776_445),
            (30.0, 2.042_272),
            (60.0, 2.000_298),
            (120.0, 1.979_930),
            (2.5, 3.574_7),
            (17.3, 2.107_0),
            (f64::INFINITY, 1.960_0),
        ] {
            let found = t_975(freedom);
            assert!((found / quantile - 1.0).abs() < 2e-4, "{freedom}: {found}");
        }
        assert!((t_975(f64::NAN) - t_975(1.0)).abs() < 1e-9);
        assert!((t_975(0.0) - t_975(1.0)).abs() < 1e-9);
        // By numerical integration of the density.
        assert!((quantile_two_sided(0.05 / 200.0, 8.0) - 6.234_0).abs() < 0.001);
    }

    #[test]
    fn chances_are_those_of_the_tables() {
        // R: 2 * pt(-c(2, 4, 0), c(5, 10, 3))
        for (t, freedom, chance) in [
            (2.0, 5.0, 0.101_939),
            (4.0, 10.0, 0.002_518),
            (0.0, 3.0, 1.0),
        ] {
            assert!(
                (two_sided(t, freedom) - chance).abs() < 2e-6,
                "{t} {freedom}"
            );
            assert!((two_sided(-t, freedom) - chance).abs() < 2e-6);
        }
        assert!((upper(-2.0, 5.0) - 0.949_030).abs() < 2e-6);
        assert_eq!(two_sided(f64::INFINITY, 5.0), 0.0);
        assert_eq!(two_sided(f64::NAN, 5.0), 1.0);
    }

    #[test]
    fn more_degrees_never_widen() {
        let quantiles: Vec<f64> = (1..400)
            .map(|tenth| t_975(f64::from(tenth) / 2.0))
            .collect();
        assert!(quantiles.windows(2).all(|pair| pair[0] >= pair[1] - 1e-9));
    }

    #[test]
    fn gamma_is_that_of_factorials() {
        assert!((ln_gamma(11.0) - 3_628_800.0_f64.ln()).abs() < 1e-10);
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-10);
    }
}
