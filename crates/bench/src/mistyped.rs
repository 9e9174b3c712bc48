//! What a mistyped name may have meant.

/// Letters in which a mistyped name may differ from what was meant.
const DISTANCE_MAX: usize = 3;

/// Letters of the longest name that is looked at.
const NAME_MAX: usize = 64;

/// Names that are offered for a mistyped one.
const OFFERED_MAX: usize = 3;

/// Of these names, those that a mistyped one may have meant, the nearest first.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let most = wanted.len().div_ceil(3).min(DISTANCE_MAX);
    let near = names.filter_map(|name| {
        // A part of the name, or nearly all of it.
        let is_part = wanted.len() > 2 && name.contains(wanted) && name.len() <= NAME_MAX;
        let distance = distance(wanted, name, most).or(is_part.then_some(most + 1))?;
        Some((distance, name.len(), name))
    });
    let mut near: Vec<(usize, usize, &str)> = near.collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(OFFERED_MAX)
        .map(|(_, _, name)| name)
        .collect()
}

/// A question at the end of a message, about what may have been meant.
pub fn did_you_mean<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    match &nearest(wanted, names)[..] {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

/// Letters to insert, leave out or replace to make one of the other, if that is no more
/// than `most`.
fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most || one.len() > NAME_MAX {
        return None;
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    // Of the beginnings of both: a row for each letter of one, as far as it can matter.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let (start, end) = (i.saturating_sub(most), (i + most + 1).min(other.len()));
        let mut left_above = row[start];
        row[start] = i + 1 - start;
        let mut least = row[start];
        for j in start..end {
            let replaced = left_above + usize::from(!a.eq_ignore_ascii_case(&other[j]));
            left_above = row[j + 1];
            row[j + 1] = replaced.min(left_above + 1).min(row[j] + 1);
            least = least.min(row[j + 1]);
        }
        if least > most {
            return None;
        }
    }
    row.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_few() {
        let names = ["render", "reader", "read", "write", "readdir"];
        let near = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(near("raed"), ["read"]);
        assert_eq!(near("readr"), ["read", "reader", "render"]);
        assert_eq!(near("zzz"), [""; 0]);
        assert_eq!(near("Write"), ["write"]);
        assert_eq!(
            did_you_mean("wirte", names.into_iter()),
            "; did you mean write?"
        );
    }
}
