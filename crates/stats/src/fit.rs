//! Times as sums of terms: what each costs, by a fit to many shapes.

/// Coefficients of `y = Σ c x` with the least squares of relative errors; none if the terms
/// cannot be told apart.
pub fn fit(terms: &[Vec<f64>], y: &[f64]) -> Option<Vec<f64>> {
    let count = terms.first()?.len();
    let mut matrix = vec![vec![0.0; count + 1]; count];
    for (x, y) in terms.iter().zip(y) {
        for (row, own) in matrix.iter_mut().zip(x) {
            for (cell, other) in row.iter_mut().zip(x) {
                *cell += own * other / (y * y);
            }
            row[count] += own / y;
        }
    }
    for at in 0..count {
        let size = |row: &usize| matrix[*row][at].abs();
        let pivot = (at..count).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        matrix.swap(at, pivot);
        let own = matrix[at].clone();
        if own[at].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (_, row) in matrix.iter_mut().enumerate().filter(|(i, _)| *i != at) {
            let factor = row[at] / own[at];
            for (cell, above) in row.iter_mut().zip(&own) {
                *cell -= factor * above;
            }
        }
    }
    let of = |at: usize| matrix[at][count] / matrix[at][at];
    Some((0..count).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_finds_what_it_was_made_of() {
        let mut terms = Vec::new();
        for a in 0..4 {
            for b in 0..4 {
                terms.push(vec![1.0, f64::from(a), f64::from(b * b)]);
            }
        }
        let y = |x: &Vec<f64>| 700.0 * x[0] + 25.0 * x[1] + 3.0 * x[2];
        let y: Vec<f64> = terms.iter().map(y).collect();
        let found = fit(&terms, &y).unwrap();
        for (found, made) in found.iter().zip([700.0, 25.0, 3.0]) {
            assert!((found - made).abs() < 1e-6, "{found} {made}");
        }
        assert_eq!(fit(&[vec![1.0, 0.0], vec![1.0, 0.0]], &[1.0, 1.0]), None);
    }
}
