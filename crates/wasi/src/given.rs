//! Clocks and randomness of the embedder's, in the place of the host's.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time of day that a guest sees, since the beginning of 1970.
pub trait HostWallClock: Send + Sync {
    /// The step in which it goes on.
    fn resolution(&self) -> Duration;
    /// The time.
    fn now(&self) -> Duration;
}

/// A clock that never goes back, in nanoseconds from a beginning of its own.
pub trait HostMonotonicClock: Send + Sync {
    /// The step in which it goes on.
    fn resolution(&self) -> u64;
    /// The time.
    fn now(&self) -> u64;
}

/// Fills bytes with numbers that the guest takes for random.
type Fill = dyn FnMut(&mut [u8]) + Send;

/// What a guest is given of those; the host's where there is none.
#[derive(Clone, Default)]
pub(crate) struct Given {
    pub(crate) wall: Option<Arc<dyn HostWallClock>>,
    pub(crate) monotonic: Option<Arc<dyn HostMonotonicClock>>,
    random: Option<Arc<Mutex<Fill>>>,
}

impl Given {
    pub(crate) fn set_random(&mut self, fill: impl FnMut(&mut [u8]) + Send + 'static) {
        self.random = Some(Arc::new(Mutex::new(fill)));
    }

    /// Fills bytes, where the embedder does; whether it has.
    pub(crate) fn fill(&self, bytes: &mut [u8]) -> bool {
        let Some(random) = &self.random else {
            return false;
        };
        let mut fill = random.lock().unwrap_or_else(PoisonError::into_inner);
        fill(bytes);
        true
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given")
            .field("wall", &self.wall.is_some())
            .field("monotonic", &self.monotonic.is_some())
            .field("random", &self.random.is_some())
            .finish()
    }
}
