//! A driver which answers from a script.

use std::{collections::VecDeque, sync::atomic::AtomicBool, time::Duration};

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

    /// Gives these answers in order, and stops when they are used up.
    pub fn scripted(answers: impl IntoIterator<Item = Result<Conversation, DriveError>>) -> Self {
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        Self::new(move |_| answers.pop_front().unwrap_or(Err(DriveError::Stopped)))
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
