//! The 0.975 quantile of Student's t distribution.

/// By degrees of freedom from 1, then by the tabled ones below.
const SMALL: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
    2.262_157, 2.228_139, 2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905,
    2.109_816, 2.100_922, 2.093_024, 2.085_963, 2.079_614, 2.073_873, 2.068_658, 2.063_899,
    2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// The same quantile of the normal distribution, the limit of many degrees.
const NORMAL_975: f64 = 1.959_964;

/// The 0.975 quantile for `degrees` of freedom, fractions welcome (Welch and
/// Satterthwaite's formula gives them). Interpolated in `1 / degrees`, in which
/// the quantile is all but linear; below 1 degree, that of 1.
pub(crate) fn t_975(degrees: f64) -> f64 {
    if degrees.is_nan() || degrees <= 1.0 {
        return SMALL[0];
    }
    let last = SMALL.len() as f64;
    if degrees >= last {
        // From 30 degrees to infinitely many the tail is linear in 1 / degrees
        // to four digits.
        return NORMAL_975 + (SMALL[SMALL.len() - 1] - NORMAL_975) * last / degrees;
    }
    let below = degrees.floor();
    let low = SMALL[below as usize - 1];
    let high = SMALL[below as usize];
    let fraction = (1.0 / below - 1.0 / degrees) / (1.0 / below - 1.0 / (below + 1.0));
    low + fraction * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabled_values_come_back_and_others_are_close() {
        // R: qt(0.975, c(1, 4, 30, 60, 120, 2.5, 17.3))
        for (degrees, quantile, error) in [
            (1.0, 12.706_205, 1e-9),
            (4.0, 2.776_445, 1e-9),
            (30.0, 2.042_272, 1e-9),
            (60.0, 2.000_298, 1e-3),
            (120.0, 1.979_930, 1e-3),
            (2.5, 3.558_0, 0.1),
            (17.3, 2.107_0, 1e-3),
            (f64::INFINITY, NORMAL_975, 1e-9),
        ] {
            assert!(
                (t_975(degrees) - quantile).abs() < error,
                "{degrees}: {}",
                t_975(degrees)
            );
        }
        assert_eq!(t_975(f64::NAN), SMALL[0]);
        assert_eq!(t_975(0.0), SMALL[0]);
    }

    #[test]
    fn more_degrees_never_widen() {
        let quantiles: Vec<f64> = (1..2000)
            .map(|tenth| t_975(f64::from(tenth) / 10.0))
            .collect();
        assert!(quantiles.windows(2).all(|pair| pair[0] >= pair[1]));
    }
}
