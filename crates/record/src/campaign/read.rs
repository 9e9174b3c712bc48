//! Campaign files, read line by line.

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use serde::Deserialize;

use super::{Campaign, FORMAT_VERSION, Header, Record, Tail, before};
use crate::cell::{Cell, CellId};

/// Why a campaign file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The reader failed.
    #[error("reading the campaign failed: {0}")]
    Io(#[from] io::Error),
    /// Nothing, or only part of a header.
    #[error("not a campaign: the file has no whole first line")]
    Empty,
    /// The first line is something else.
    #[error("not a campaign: {reason}")]
    NotACampaign {
        /// What is wrong with it.
        reason: String,
    },
    /// Written by a newer tool.
    #[error(
        "written in format {found}, this version reads up to {FORMAT_VERSION}: use a newer fathom"
    )]
    Newer {
        /// The format of the file.
        found: u64,
    },
    /// A line that is not a record, anywhere but at the very end.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

/// Reads a campaign.
///
/// A last line that was cut short is tolerated and told by
/// [`Campaign::tail`]; blank lines are skipped.
///
/// # Errors
/// Anything else that is not a record of a known cell, with its line; a file
/// of a newer format, whatever it holds.
pub fn parse(mut from: impl BufRead) -> Result<Campaign, ReadError> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    let mut campaign = Campaign::new(header(&line)?);
    if line.last() != Some(&b'\n') {
        campaign.tail = Tail::NoNewline;
    }
    campaign.valid_bytes = line.len() as u64;
    let ids = known_ids(&campaign.header)?;
    for number in 2.. {
        line.clear();
        let bytes = from.read_until(b'\n', &mut line)? as u64;
        if bytes == 0 {
            break;
        }
        let is_whole = line.last() == Some(&b'\n');
        match record(&line, &ids) {
            Ok(Some(record)) => campaign.push(record),
            Ok(None) => {}
            Err(_) if !is_whole => {
                campaign.tail = Tail::Truncated {
                    line: number,
                    bytes,
                };
                break;
            }
            Err(reason) => {
                return Err(ReadError::Line {
                    line: number,
                    reason,
                });
            }
        }
        campaign.valid_bytes += bytes;
        if !is_whole {
            campaign.tail = Tail::NoNewline;
        }
    }
    Ok(campaign)
}

fn header(line: &[u8]) -> Result<Header, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        record: String,
        format: u64,
    }
    if line.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    if line.starts_with(b"\0asm") {
        let reason = "it is a WebAssembly module, which `fathom bench` measures".to_owned();
        return Err(ReadError::NotACampaign { reason });
    }
    let refused = |error: serde_json::Error| match line.last() {
        Some(b'\n') => ReadError::NotACampaign {
            reason: error.to_string(),
        },
        _ => ReadError::Empty,
    };
    let version: Version = serde_json::from_slice(line).map_err(refused)?;
    if version.record != "campaign" {
        let reason = format!("the first record is '{}', not 'campaign'", version.record);
        return Err(ReadError::NotACampaign { reason });
    }
    if version.format > u64::from(FORMAT_VERSION) {
        return Err(ReadError::Newer {
            found: version.format,
        });
    }
    match serde_json::from_slice(line).map_err(refused)? {
        Record::Campaign(mut header) => {
            if header.format < 2 {
                before::from_format_1(&mut header);
            }
            Ok(*header)
        }
        _ => Err(ReadError::Empty),
    }
}

/// The ids of all cells, so that samples share their text, and as a check of
/// the header: each cell is there once, and a control repeats one that is.
fn known_ids(header: &Header) -> Result<BTreeSet<CellId>, ReadError> {
    let refused = |reason| ReadError::Line { line: 1, reason };
    let mut ids = BTreeSet::new();
    let (controls, originals): (Vec<&Cell>, Vec<&Cell>) =
        header.cells.iter().partition(|cell| cell.is_control());
    for cell in originals {
        let id = cell.id();
        if !ids.insert(id.clone()) {
            return Err(refused(format!("cell '{id}' is there twice")));
        }
    }
    let mut control_ids = BTreeSet::new();
    for cell in controls {
        let id = cell.id();
        if let Some(original) = cell.control_of.as_ref().filter(|id| !ids.contains(*id)) {
            return Err(refused(format!("control of an unknown cell '{original}'")));
        }
        if !control_ids.insert(id.clone()) {
            return Err(refused(format!("cell '{id}' is there twice")));
        }
    }
    ids.extend(control_ids);
    Ok(ids)
}

fn record(line: &[u8], ids: &BTreeSet<CellId>) -> Result<Option<Record>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut record: Record = serde_json::from_slice(line).map_err(|error| in_words(&error))?;
    let cell = match &mut record {
        Record::Campaign(_) => return Err("a second header".to_owned()),
        Record::InForce(record) => Some(&mut record.cell),
        Record::Sample(record) => Some(&mut record.cell),
        Record::Process(record) => Some(&mut record.cell),
        Record::Failure(record) => record.cell.as_mut(),
        Record::Counts(record) => Some(&mut record.cell),
        Record::Traced(record) => Some(&mut record.cell),
        Record::Probe(_) | Record::Resumed(_) => None,
    };
    if let Some(cell) = cell {
        match ids.get(cell) {
            Some(known) => *cell = known.clone(),
            None => return Err(format!("unknown cell '{cell}'")),
        }
    }
    Ok(Some(record))
}

/// What is wrong with a line, without the place in it: the file's line is said.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
