//! How times grow with the size: the exponent of a power law, engine by engine.

use super::seen::Seen;
use super::{Group, median};

/// Exponents that differ by so much are different laws.
const ODD: f64 = 0.3;
/// A line through fewer points says nothing.
const SIZES_MIN: usize = 3;

/// What is odd about the growth of a run's engine; said of its largest size.
pub fn odd(of: &Seen, group: &Group<'_>) -> Option<String> {
    let all = group.all.iter();
    let family = all.filter(|seen| seen.family == of.family && !seen.is_native());
    let family: Vec<&Seen> = family.collect();
    let own: Vec<&Seen> = (family.iter().copied())
        .filter(|seen| seen.engine == of.engine)
        .collect();
    if own.iter().any(|seen| seen.size > of.size) {
        return None;
    }
    let exponent_of = |engine: &str| {
        let points = family.iter().filter(|seen| seen.engine == engine);
        exponent(points.filter_map(|seen| Some((seen.size?, seen.wall_ns))))
    };
    let mut others: Vec<&str> = family.iter().map(|seen| seen.engine.as_str()).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|engine| *engine != of.engine);
    let others = others.into_iter().filter_map(exponent_of);
    let (own, usual) = (exponent_of(&of.engine)?, median(others.collect())?);
    ((own - usual).abs() >= ODD)
        .then(|| format!("grows as size^{own:.2}, other engines as size^{usual:.2}"))
}

/// The slope of a line through the logarithms (least squares).
fn exponent(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let usable = points.filter(|(size, time)| *size > 0.0 && *time > 0.0);
    let points: Vec<(f64, f64)> = usable.map(|(size, time)| (size.ln(), time.ln())).collect();
    if points.len() < SIZES_MIN {
        return None;
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let joint: f64 = points
        .iter()
        .map(|(x, y)| (x - mean_x) * (y - mean_y))
        .sum();
    (spread > 0.0).then(|| joint / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_power_laws() {
        let law = |power: f64| [1.0, 10.0, 100.0].map(|n: f64| (n, 3.0 * n.powf(power)));
        for power in [0.0, 1.0, 2.0] {
            let found = exponent(law(power).into_iter()).unwrap();
            assert!((found - power).abs() < 1e-9, "{found}");
        }
        assert_eq!(exponent(law(1.0)[..2].iter().copied()), None);
        assert_eq!(exponent([(1.0, 1.0); 3].into_iter()), None);
    }
}
