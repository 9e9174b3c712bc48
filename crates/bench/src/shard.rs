//! One campaign on several machines: which of its workloads this one measures.
//!
//! ```text
//!  i/n            said ─┐
//!  auto, auto/n         ├─▶ Part ─▶ the anchors, and of the others in the list
//!    Slurm, Kubernetes, ┘           the workloads i, i + n, i + 2n, …
//!    GNU parallel
//! ```
//!
//! What must stay true: a workload is never divided, since what is compared is measured on
//! one machine, in turn; the same list, `n` and number of anchors give the same shards on
//! every host; an anchor is in all of them, each other workload in exactly one.

use std::{fmt, str::FromStr};

use fathom_record::campaign::ShardNote;

use crate::{
    check::Expected,
    choose::Program,
    experiment::{Design, Measured},
    request::{RequestError, ensure},
};

/// What `--shard` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shard {
    /// This one.
    Part(Part),
    /// The one that the scheduler started, of so many where it does not tell.
    Auto(Option<u32>),
}

/// One shard of a number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which, from 1.
    index: u32,
    /// Shards in all, `index` or more.
    count: u32,
}

impl Part {
    fn new(index: u32, count: u32) -> Option<Part> {
        (1..=count)
            .contains(&index)
            .then_some(Part { index, count })
    }

    /// The shard that a campaign was, to go on with it.
    ///
    /// # Errors
    /// That there is no such shard: the file was changed.
    pub fn of(note: &ShardNote) -> Result<Part, RequestError> {
        Part::new(note.index, note.count).ok_or_else(|| {
            let ShardNote { index, count, .. } = note;
            RequestError::refused(format!("the campaign says it is shard {index}/{count}"))
        })
    }

    /// Whether the workload at this place of the list, from 0 and without the anchors, is in it.
    fn has(self, place: usize) -> bool {
        place % self.count as usize == self.index as usize - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let number = |word: &str| {
            let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| word.parse().ok()).flatten()
        };
        let shard = match text.split_once('/') {
            None if text == "auto" => Some(Shard::Auto(None)),
            Some(("auto", count)) => number(count)
                .filter(|count| *count > 0)
                .map(|count| Shard::Auto(Some(count))),
            Some((index, count)) => number(index)
                .zip(number(count))
                .and_then(|(index, count)| Part::new(index, count))
                .map(Shard::Part),
            None => None,
        };
        shard.ok_or_else(|| "a shard is i/n with i from 1 to n, auto or auto/n".to_owned())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shard::Part(Part { index, count }) => write!(f, "{index}/{count}"),
            Shard::Auto(Some(count)) => write!(f, "auto/{count}"),
            Shard::Auto(None) => f.write_str("auto"),
        }
    }
}

impl Shard {
    /// Which shard it is, by the variables that schedulers set.
    ///
    /// # Errors
    /// They are not set, contradict each other, or do not say how many shards there are.
    pub fn part(self, variable: impl Fn(&str) -> Option<String>) -> Result<Part, RequestError> {
        let asked = match self {
            Shard::Part(part) => return Ok(part),
            Shard::Auto(count) => count,
        };
        let found = [
            ("Kubernetes", "JOB_COMPLETION_INDEX", 0),
            ("GNU parallel", "PARALLEL_SEQ", 1),
        ]
        .map(|(who, name, first)| {
            let value = variable(name)?;
            Some(number(name, &value).and_then(|number| counted(who, number, first, asked)))
        });
        let slurm = variable(SLURM_ID).map(|id| slurm(&id, asked, &variable));
        let mut found = found.into_iter().chain([slurm]).flatten();
        let part = found.next().unwrap_or_else(|| {
            Err(RequestError::refused(format!(
                "--shard auto: none of {SLURM_ID}, JOB_COMPLETION_INDEX and PARALLEL_SEQ is set; \
                 say --shard i/n"
            )))
        })?;
        ensure(found.next().is_none(), || {
            "--shard auto: more than one of Slurm, Kubernetes and GNU parallel numbers this job; \
             say --shard i/n"
                .to_owned()
        })?;
        Ok(part)
    }
}

const SLURM_ID: &str = "SLURM_ARRAY_TASK_ID";

/// Of a Slurm array, whose numbers may begin anywhere and have a step, but no gaps.
fn slurm(
    id: &str,
    asked: Option<u32>,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Part, RequestError> {
    let of_array = |name: &str| match variable(name) {
        Some(value) => number(name, &value),
        None => Err(RequestError::refused(format!(
            "--shard auto: {name} is not set"
        ))),
    };
    let (id, first) = (number(SLURM_ID, id)?, of_array("SLURM_ARRAY_TASK_MIN")?);
    let (last, count) = (
        of_array("SLURM_ARRAY_TASK_MAX")?,
        of_array("SLURM_ARRAY_TASK_COUNT")?,
    );
    let step = match variable("SLURM_ARRAY_TASK_STEP") {
        Some(step) => number("SLURM_ARRAY_TASK_STEP", &step)?.max(1),
        None => 1,
    };
    let place = id.checked_sub(first).filter(|far| far % step == 0);
    let is_whole = first <= last && ((last - first) / step).checked_add(1) == Some(count);
    let part = place
        .filter(|_| is_whole)
        .and_then(|far| Part::new(far / step + 1, count));
    let part = part.ok_or_else(|| {
        RequestError::refused(format!(
            "--shard auto: task {id} of a Slurm array of {count} from {first} to {last} by {step}: \
             an array without gaps is needed"
        ))
    })?;
    ensure(asked.is_none_or(|asked| asked == part.count), || {
        format!(
            "--shard auto/{}: the Slurm array has {count} tasks",
            asked.unwrap_or(0)
        )
    })?;
    Ok(part)
}

/// Of a scheduler that says which, but not of how many.
fn counted(who: &str, number: u32, first: u32, asked: Option<u32>) -> Result<Part, RequestError> {
    let count = asked.ok_or_else(|| {
        RequestError::refused(format!(
            "--shard auto: {who} does not say how many shards there are; say --shard auto/n"
        ))
    })?;
    let index = number.checked_sub(first).and_then(|far| far.checked_add(1));
    let part = index.and_then(|index| Part::new(index, count));
    part.ok_or_else(|| {
        RequestError::refused(format!(
            "--shard auto/{count}: {who} numbers this job {number}, from {first}"
        ))
    })
}

fn number(name: &str, value: &str) -> Result<u32, RequestError> {
    let refused = || RequestError::refused(format!("--shard auto: {name} is `{value}`, no number"));
    value.parse().map_err(|_| refused())
}

/// How many workloads all shards have, unless told otherwise: with fewer than two, a machine
/// that is slower cannot be told from a workload that is.
const ANCHORS: usize = 3;

/// Leaves of what is measured the workloads of a shard, and says which part of all it is.
///
/// # Errors
/// An experiment that is not of workloads beside each other, or fewer of them than shards.
pub(crate) fn take(
    measured: &mut Measured,
    design: &Design,
    part: Part,
    anchors: Option<u32>,
) -> Result<ShardNote, RequestError> {
    ensure(design.controls.compares(), || {
        format!(
            "--shard divides the workloads of a suite; `{}` is not one",
            measured.title
        )
    })?;
    let all = measured.programs.len();
    let anchors = anchor_count(all, part, anchors, &measured.title)?;
    let list = list(&measured.programs);
    let places = anchor_places(all, anchors);
    let name = |place: &usize| {
        let program = &measured.programs[*place];
        format!("{}:{}", program.suite, program.name)
    };
    let anchors = places.iter().map(name).collect();
    let (mut place, mut other) = (0.., 0..);
    measured.programs.retain(|_| {
        let is_anchor = place.next().is_some_and(|place| places.contains(&place));
        is_anchor || other.next().is_some_and(|place| part.has(place))
    });
    let programs = &measured.programs;
    measured.notes.retain(|note| {
        let is_of =
            |program: &Program<'_>| program.suite == note.suite && program.name == note.name;
        programs.iter().any(is_of)
    });
    measured.title = format!("{}-shard-{}-of-{}", measured.title, part.index, part.count);
    Ok(ShardNote {
        index: part.index,
        count: part.count,
        workloads: all as u32,
        list,
        anchors,
    })
}

/// How many anchors there are, of so many workloads in so many shards.
fn anchor_count(
    all: usize,
    part: Part,
    asked: Option<u32>,
    title: &str,
) -> Result<usize, RequestError> {
    let workloads = |count: usize| match count {
        1 => "1 workload".to_owned(),
        _ => format!("{count} workloads"),
    };
    let spare = all.checked_sub(part.count as usize).ok_or_else(|| {
        RequestError::refused(format!(
            "--shard {}/{}: {title} has {}, at least one for each shard is needed",
            part.index,
            part.count,
            workloads(all)
        ))
    })?;
    let anchors = asked.map_or_else(|| ANCHORS.min(spare), |asked| asked as usize);
    ensure(anchors <= spare, || {
        format!(
            "--anchors {anchors}: {title} has {}, and each of {} shards needs one that is no anchor",
            workloads(all),
            part.count
        )
    })?;
    Ok(anchors)
}

/// Where in a list the anchors are: as far apart as can be, since neighbours are often of
/// one kind.
fn anchor_places(all: usize, anchors: usize) -> Vec<usize> {
    let place = |anchor| (2 * anchor + 1) * all / (2 * anchors);
    (0..anchors).map(place).collect()
}

/// A hash of a list of workloads, the same wherever their files are.
fn list(programs: &[Program<'_>]) -> String {
    let mut hash = blake3::Hasher::new();
    for program in programs {
        let expected = match &program.expected {
            Expected::Answer(text) | Expected::Text(text) => Some(text),
            Expected::SameAs(_) | Expected::Near(_) | Expected::Anything => None,
        };
        let names = (&program.suite, &program.name, &program.size);
        // Quoted, so that no name can be taken for two.
        hash.update(format!("{:?}\n", (names, &program.args, expected)).as_bytes());
    }
    hash.finalize().to_hex().to_string()
}

pub mod whole;

#[cfg(test)]
mod tests;
