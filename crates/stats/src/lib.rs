//! Samples to estimates, intervals, comparisons; pure functions.
