//! Which parts of a list are needed: delta debugging, `ddmin` of Zeller and Hildebrandt,
//! "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002.
//!
//! What must stay true: where it was not stopped, the result shows, and without any one of
//! its items it does not.

use std::ops::ControlFlow::{self, Continue};

/// The smallest part of a list that `shows` is true of, as far as leaving out finds it; the
/// list is known to show. Where `shows` breaks off, the smallest that was found until then.
pub fn ddmin<T: Clone>(all: &[T], shows: &mut dyn FnMut(&[T]) -> ControlFlow<(), bool>) -> Vec<T> {
    let mut chunks = vec![all.to_vec()];
    let _ = cut(&mut chunks, shows);
    chunks.concat()
}

fn cut<T: Clone>(
    chunks: &mut Vec<Vec<T>>,
    shows: &mut dyn FnMut(&[T]) -> ControlFlow<(), bool>,
) -> ControlFlow<()> {
    if chunks.concat().is_empty() {
        return Continue(());
    }
    if shows(&[])? {
        chunks.clear();
        return Continue(());
    }
    let mut is_finest = false;
    loop {
        if !is_finest {
            halve(chunks);
            alone(chunks, shows)?;
        }
        is_finest = chunks.iter().all(|chunk| chunk.len() == 1);
        // What goes later may be what an earlier one was needed for.
        if !without(chunks, shows)? && is_finest {
            return Continue(());
        }
    }
}

/// Each chunk in two.
fn halve<T: Clone>(chunks: &mut Vec<Vec<T>>) {
    let halves = chunks.iter().flat_map(|chunk| {
        let (front, back) = chunk.split_at(chunk.len().div_ceil(2));
        [front.to_vec(), back.to_vec()]
    });
    *chunks = halves.filter(|half| !half.is_empty()).collect();
}

/// One chunk, where it shows by itself.
fn alone<T: Clone>(
    chunks: &mut Vec<Vec<T>>,
    shows: &mut dyn FnMut(&[T]) -> ControlFlow<(), bool>,
) -> ControlFlow<()> {
    for at in 0..chunks.len() {
        if chunks.len() > 1 && shows(&chunks[at])? {
            *chunks = vec![chunks.swap_remove(at)];
            break;
        }
    }
    Continue(())
}

/// All but those chunks that are not needed; whether there were any.
fn without<T: Clone>(
    chunks: &mut Vec<Vec<T>>,
    shows: &mut dyn FnMut(&[T]) -> ControlFlow<(), bool>,
) -> ControlFlow<(), bool> {
    let (mut at, mut found) = (0, false);
    while at < chunks.len() && chunks.len() > 1 {
        let rest = [&chunks[..at], &chunks[at + 1..]].concat().concat();
        match shows(&rest)? {
            true => {
                chunks.remove(at);
                found = true;
            }
            false => at += 1,
        }
    }
    Continue(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow::Break;

    /// What is left of the numbers below a hundred, and how often was asked.
    fn left(shows: impl Fn(&[u32]) -> bool) -> (Vec<u32>, u32) {
        let (all, mut asked) = (Vec::from_iter(0..100), 0);
        let left = ddmin(&all, &mut |some| {
            asked += 1;
            Continue(shows(some))
        });
        assert!(shows(&left), "{left:?}");
        for at in 0..left.len() {
            let mut fewer = left.clone();
            fewer.remove(at);
            assert!(!shows(&fewer), "{left:?} without {}", left[at]);
        }
        (left, asked)
    }

    #[test]
    fn what_is_left_shows_and_shows_no_more_without_any_one_of_it() {
        let has = |some: &[u32], wanted: &[u32]| wanted.iter().all(|one| some.contains(one));
        assert_eq!(left(|some| has(some, &[17])).0, [17]);
        assert_eq!(left(|some| has(some, &[3, 50, 51, 99])).0, [3, 50, 51, 99]);
        assert_eq!(left(|some| some.len() >= 7).0.len(), 7);
        // Either of two ways; what needs another; an odd number; all of it; nothing of it.
        left(|some| has(some, &[1, 98]) || has(some, &[40, 41, 42]));
        left(|some| has(some, &[60]) && (!some.contains(&10) || some.contains(&90)));
        left(|some| some.len() % 2 == 0 && has(some, &[5]));
        assert_eq!(left(|some| some.len() == 100).0.len(), 100);
        assert_eq!(left(|_| true), (vec![], 1));
        let (_, asked) = left(|some| has(some, &[17, 71]));
        assert!(asked < 80, "{asked}");
    }

    #[test]
    fn where_it_is_stopped_the_smallest_so_far_is_left() {
        let all = Vec::from_iter(0..64);
        let mut smallest = all.clone();
        let mut asked = 0;
        let left = ddmin(&all, &mut |some| {
            asked += 1;
            if asked > 5 {
                return Break(());
            }
            let shows = some.contains(&40);
            if shows {
                smallest = some.to_vec();
            }
            Continue(shows)
        });
        assert_eq!(left, smallest);
        assert!((2..64).contains(&left.len()), "{left:?}");
        assert_eq!(ddmin(&[0; 0], &mut |_| Break(())), [0; 0]);
    }
}
