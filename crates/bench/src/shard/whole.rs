//! Whether campaigns are the shards of one.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::{Header, campaign::ShardNote};

use crate::request::{RequestError, ensure};

/// A campaign and what a user calls it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its folder.
    pub name: &'a str,
    /// What was measured, where and how.
    pub header: &'a Header,
}

/// Shards that are of one campaign.
#[derive(Debug)]
pub struct Whole {
    /// The campaigns' places, by the shards' numbers.
    pub order: Vec<usize>,
    /// What all say, but for which shard they are.
    pub note: ShardNote,
    /// What is not as it should be, and no reason to refuse them; a line each.
    pub warnings: Vec<String>,
}

/// Finds out whether these are all shards of one campaign, with anchors enough to tell
/// machines apart; some of them if `is_partial`.
///
/// # Errors
/// The first that is not, and what is wrong with it.
pub fn check(
    shards: &[Named<'_>],
    anchors_min: usize,
    is_partial: bool,
) -> Result<Whole, RequestError> {
    let mut by_index: BTreeMap<u32, usize> = BTreeMap::new();
    let mut noted: Vec<Noted<'_>> = Vec::new();
    for (at, shard) in shards.iter().enumerate() {
        let note = shard.header.config.shard.as_ref().ok_or_else(|| {
            RequestError::refused(format!(
                "{} is no shard: it was measured without --shard",
                shard.name
            ))
        })?;
        let shard = Noted {
            campaign: *shard,
            note,
        };
        if let Some(first) = noted.first() {
            is_of_one(first, &shard)?;
        }
        noted.push(shard);
        if let Some(other) = by_index.insert(note.index, at) {
            return Err(RequestError::refused(format!(
                "{} and {} are both shard {}/{}",
                shards[other].name, shards[at].name, note.index, note.count
            )));
        }
    }
    let note = noted.first().map(|shard| shard.note.clone());
    let note = note.ok_or_else(|| RequestError::refused("no shards".to_owned()))?;
    ensure(note.anchors.len() >= anchors_min, || {
        format!(
            "the shards have {} in common, {anchors_min} are needed: a slower machine cannot be told \
             from a slower workload (bench --anchors)",
            match note.anchors.len() {
                1 => "1 anchor".to_owned(),
                count => format!("{count} anchors"),
            }
        )
    })?;
    let missing = missing(&by_index, note.count);
    ensure(missing.is_empty() || is_partial, || {
        format!("{missing} missing: name it, or say --partial")
    })?;
    ensure(by_index.len() > 1, || {
        "one shard alone is as `fathom report` shows it".to_owned()
    })?;
    let mut warnings = Vec::new();
    if !missing.is_empty() {
        warnings.push(format!(
            "{missing} missing: means are over the others' workloads"
        ));
    }
    warnings.extend(rebuilt(shards));
    Ok(Whole {
        order: by_index.into_values().collect(),
        note,
        warnings,
    })
}

/// A campaign, and what it says that it is a shard of.
struct Noted<'a> {
    campaign: Named<'a>,
    note: &'a ShardNote,
}

fn is_of_one(first: &Noted<'_>, other: &Noted<'_>) -> Result<(), RequestError> {
    let (note, own) = (first.note, other.note);
    let (first, other) = (first.campaign, other.campaign);
    let (one, two) = (&first.header.config, &other.header.config);
    let pairs = [
        ("number of shards", note.count != own.count),
        (
            "list of workloads",
            note.list != own.list || note.workloads != own.workloads,
        ),
        ("list of anchors", note.anchors != own.anchors),
        ("version of Fathom", first.header.tool != other.header.tool),
        ("baseline", one.baseline != two.baseline),
        (
            "figure to compare",
            (one.experiment, one.compared) != (two.experiment, two.compared),
        ),
        ("number of warm-up iterations", one.warmup != two.warmup),
    ];
    match pairs.iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((what, _)) => Err(RequestError::refused(format!(
            "{} and {} are of different campaigns: each has a {what} of its own",
            first.name, other.name
        ))),
    }
}

/// The shards that are not there, in words.
fn missing(there: &BTreeMap<u32, usize>, count: u32) -> String {
    const NAMED_MAX: usize = 8;
    let gone = (1..=count).filter(|index| !there.contains_key(index));
    let mut names: Vec<String> = gone
        .clone()
        .take(NAMED_MAX)
        .map(|one| one.to_string())
        .collect();
    let more = gone.count() - names.len();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.len() {
        0 => String::new(),
        1 => format!("shard {} of {count} is", names[0]),
        _ => format!("shards {} of {count} are", names.join(", ")),
    }
}

/// Engines that are not the same build everywhere: what that makes faster or slower is in
/// the machine's effect.
fn rebuilt(shards: &[Named<'_>]) -> Vec<String> {
    let mut builds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Named { header, .. } in shards {
        let measured: BTreeSet<&str> = (header.cells.iter())
            .map(|cell| cell.sandbox.engine.as_str())
            .collect();
        for (engine, hash) in &header.config.engines {
            if measured.contains(engine.as_str()) {
                builds.entry(engine).or_default().insert(hash);
            }
        }
    }
    let several = builds.iter().filter(|(_, hashes)| hashes.len() > 1);
    several
        .map(|(engine, hashes)| {
            format!(
                "{engine} is of {} builds: what they differ by counts as the machines' effect",
                hashes.len()
            )
        })
        .collect()
}
