//! What an iteration does, its time and its answer.
//!
//! What must stay true: an answer is computed behind the clock, or natively as in WebAssembly;
//! what WebAssembly answers is what native code does.

use std::{
    hint::black_box,
    io::Write,
    sync::{Arc, OnceLock},
    time::Instant,
};

use anyhow::{Context, Result};
use arrow_array::{Array, ArrayRef, cast::AsArray, types};
use fathom_guest::Pool;
use fathom_runner::{
    Refusal,
    cycle::{self, RunEnd, Streams},
    record::FailureKind,
};

/// Who does it.
pub enum By<'a> {
    /// Rust, on the same arrays.
    Native,
    /// A module: compiled, with instances that are used again or not.
    Wasm(&'a (dyn Fn(bool) -> Result<Arc<Pool>> + Sync)),
}

/// What one iteration took, and what it answers.
pub struct Done {
    ns: u128,
    answer: u64,
}

/// One iteration.
pub type Work<'a> = Box<dyn Fn() -> Result<Done> + Sync + 'a>;

/// It, as the runner runs it: an instance is a part of the work, as in a query.
pub struct Program<'a>(pub Work<'a>);

impl cycle::Program for Program<'_> {
    type World = Streams;
    type Instance = Streams;
    type Error = Refusal;

    fn enter(&self, streams: Streams) -> Result<Streams, Refusal> {
        Ok(streams)
    }

    fn instantiate(&self, streams: Streams) -> Result<Streams, Refusal> {
        Ok(streams)
    }

    fn run(&self, streams: &mut Streams) -> Result<RunEnd, Refusal> {
        let trap = |error| Refusal::new(FailureKind::Trap, format!("{error:#}"));
        let refused = |error: anyhow::Error| error.downcast::<Refusal>().unwrap_or_else(trap);
        let Done { ns, answer } = (self.0)().map_err(refused)?;
        let said = writeln!(streams.stdout, "fathom: answer={answer:x} kernel_ns={ns}");
        said.map_err(|error| Refusal::new(FailureKind::Io, error.to_string()))?;
        Ok(RunEnd {
            exit: 0,
            cpu_ns: None,
        })
    }

    fn teardown(&self, _: Streams) {}
}

/// What WebAssembly does, where it answers as native code, which is asked once.
pub fn checked<'a>(
    wasm: impl Fn() -> Result<Done> + Sync + 'a,
    native: impl Fn() -> Result<Done> + Sync + 'a,
) -> Work<'a> {
    let known = OnceLock::new();
    Box::new(move || {
        let done = wasm()?;
        let wanted = match known.get() {
            Some(answer) => *answer,
            None => {
                let Done { answer, .. } = native()?;
                *known.get_or_init(|| answer)
            }
        };
        if done.answer != wanted {
            let message = format!(
                "the answer is {:x}, native code has {wanted:x}",
                done.answer
            );
            return Err(Refusal::new(FailureKind::WrongAnswer, message).into());
        }
        Ok(done)
    })
}

/// What is timed as a whole, with its answer.
///
/// # Errors
/// It fails.
pub fn done(work: impl FnOnce() -> Result<u64>) -> Result<Done> {
    let begun = Instant::now();
    let answer = work()?;
    let ns = begun.elapsed().as_nanos();
    Ok(Done { ns, answer })
}

/// Each of these; what they return is dropped, and looked at when all is done again.
///
/// # Errors
/// One fails.
pub fn each<T>(all: &[T], one: impl Fn(&T) -> Result<Vec<ArrayRef>>) -> Result<Done> {
    let begun = Instant::now();
    for this in all {
        drop(black_box(one(this)?));
    }
    let ns = begun.elapsed().as_nanos();
    let mut answer = 0;
    for this in all {
        for column in one(this)? {
            answer = digest(answer, &column)?;
        }
    }
    Ok(Done { ns, answer })
}

/// A number that other values, or the same in another order, would hardly have.
fn digest(before: u64, column: &ArrayRef) -> Result<u64> {
    let values: Vec<Option<u64>> = if let Some(all) = column.as_primitive_opt::<types::Int64Type>()
    {
        all.iter().map(|one| Some(one? as u64)).collect()
    } else if let Some(all) = column.as_primitive_opt::<types::Int32Type>() {
        all.iter().map(|one| Some(one? as u64)).collect()
    } else if let Some(all) = column.as_primitive_opt::<types::Float64Type>() {
        all.iter().map(|one| Some(one?.to_bits())).collect()
    } else {
        let all = column.as_string_opt::<i32>();
        let all = all.with_context(|| format!("a column of {}", column.data_type()))?;
        let bytes = |text: &str| text.bytes().fold(1, |sum, byte| mixed(sum, byte.into()));
        all.iter().map(|one| one.map(bytes)).collect()
    };
    let value = |value: Option<u64>| value.map_or(0, |value| value.wrapping_add(1));
    Ok(values.into_iter().map(value).fold(before, mixed))
}

fn mixed(sum: u64, value: u64) -> u64 {
    (sum.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int32Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn values_their_places_and_nulls_count() {
        let of = |column: ArrayRef| digest(0, &column).unwrap();
        let numbers = |values: Vec<Option<i64>>| of(Arc::new(Int64Array::from(values)));
        let all = [
            numbers(vec![Some(1), Some(2)]),
            numbers(vec![Some(2), Some(1)]),
            numbers(vec![Some(1), None]),
            numbers(vec![Some(1), Some(0)]),
            of(Arc::new(StringArray::from(vec!["a", ""]))),
            of(Arc::new(StringArray::from(vec!["", "a"]))),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
        let narrow = of(Arc::new(Int32Array::from(vec![Some(1), Some(2)])));
        assert_eq!(narrow, all[0]);
    }

    #[test]
    fn an_answer_that_native_code_does_not_have_is_none() {
        let answers = |answer| move || Ok(Done { ns: 1, answer });
        assert!(checked(answers(7), answers(7))().is_ok());
        let wrong = checked(answers(7), answers(16))()
            .err()
            .unwrap()
            .to_string();
        assert!(
            wrong.ends_with("the answer is 7, native code has 10"),
            "{wrong}"
        );
    }
}
