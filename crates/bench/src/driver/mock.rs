//! A driver which answers by a function: no child, no clock.

use std::{sync::atomic::AtomicBool, time::Duration};

use fathom_record::protocol::Request;

use super::{Conversation, DriveError, Driver};

type Answer<'a> = dyn FnMut(&Request) -> Result<Conversation, DriveError> + 'a;

/// Answers each question by a function, and remembers the questions.
pub struct MockDriver<'a> {
    answer: Box<Answer<'a>>,
    /// What was asked so far.
    pub asked: Vec<Request>,
}

impl<'a> MockDriver<'a> {
    /// Answers by calling `answer`.
    pub fn new(answer: impl FnMut(&Request) -> Result<Conversation, DriveError> + 'a) -> Self {
        Self {
            answer: Box::new(answer),
            asked: Vec::new(),
        }
    }
}

impl Driver for MockDriver<'_> {
    fn command(&self) -> Vec<String> {
        vec!["mock".into()]
    }

    fn ask(
        &mut self,
        request: &Request,
        _limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Conversation, DriveError> {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(DriveError::Stopped);
        }
        self.asked.push(request.clone());
        (self.answer)(request)
    }
}
