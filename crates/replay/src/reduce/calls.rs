//! A record in parts: each call of the host into the module, with all that happened inside it,
//! and what the host changed between two of them.

use std::ops::Range;

use crate::record::check::Checked;
use crate::record::event::{Event, Events};
use crate::record::{Digest, Record, RecordError};

/// The parts of a record that was checked.
#[derive(Clone, Debug)]
pub struct Calls<'a> {
    record: &'a Record,
    /// What was there before the module was, and that it was instantiated.
    front: Part,
    parts: Vec<Part>,
    end: Part,
}

/// Events that stay together.
#[derive(Clone, Debug, Default)]
struct Part {
    bytes: Range<usize>,
    events: u64,
    is_call: bool,
}

impl Calls<'_> {
    /// Of a record, as far as it is replayed.
    ///
    /// # Errors
    /// None that was checked.
    pub fn of<'a>(record: &'a Record, checked: &Checked) -> Result<Calls<'a>, RecordError> {
        let mut calls = Calls {
            record,
            front: Part::default(),
            parts: Vec::new(),
            end: Part::default(),
        };
        let mut events = Events::new(&record.events);
        let (mut depth, mut part, mut has_begun) = (0_u64, Part::default(), false);
        loop {
            let from = events.at();
            let Some(event) = events.read()? else { break };
            let is_outside = depth == 0;
            let is_call = matches!(event, Event::Call { .. });
            let is_end = matches!(event, Event::End { .. });
            // A call, or the end, is no change of the host's.
            if is_outside && (is_call || is_end) && has_begun {
                calls.push(&mut part);
            }
            if part.events == 0 {
                part.bytes.start = from;
            }
            part.events += 1;
            part.bytes.end = events.at();
            match event {
                Event::Begin => {
                    has_begun = true;
                    calls.front = std::mem::take(&mut part);
                }
                Event::Call { .. } => {
                    depth += 1;
                    part.is_call = true;
                }
                Event::Returned { .. } | Event::Trapped | Event::Threw => {
                    depth = depth.saturating_sub(1)
                }
                Event::End { .. } => calls.end = std::mem::take(&mut part),
                _ => {}
            }
            if depth == 0 && part.is_call {
                calls.push(&mut part);
            }
        }
        calls.cut(checked);
        Ok(calls)
    }

    fn push(&mut self, part: &mut Part) {
        let part = std::mem::take(part);
        if part.events > 0 {
            self.parts.push(part);
        }
    }

    /// What is not replayed is no part.
    fn cut(&mut self, checked: &Checked) {
        if checked.cut.is_none() {
            return;
        }
        let mut before = self.front.events;
        self.parts.retain(|part| {
            let first = before + 1;
            before += part.events;
            first < checked.stop
        });
    }

    /// All parts, in order.
    pub fn all(&self) -> Vec<usize> {
        (0..self.parts.len()).collect()
    }

    /// How many of these parts are calls.
    pub fn count(&self, parts: &[usize]) -> usize {
        let is_call = |part: &&usize| self.parts[**part].is_call;
        parts.iter().filter(is_call).count()
    }

    /// A record of these parts alone, in the order in which they stand.
    pub fn keeping(&self, parts: &[usize]) -> Record {
        let kept = parts.iter().map(|part| &self.parts[*part]);
        let kept = [&self.front].into_iter().chain(kept).chain([&self.end]);
        let (mut events, mut count) = (Vec::new(), 0);
        for part in kept {
            events.extend_from_slice(&self.record.events[part.bytes.clone()]);
            count += part.events;
        }
        let mut header = self.record.header.clone();
        header.events = Digest::of(&events);
        header.count = count;
        Record { header, events }
    }
}
