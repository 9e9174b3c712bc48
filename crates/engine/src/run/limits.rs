//! What a store may have of the host: counted before anything is taken.
//!
//! ```text
//!  Config::quota ──► Allowance { quota, used } ◄── Account { taken } ── one a store
//!                         ▲   (several stores)        given back: at the end of a lease
//!                         └── Charge ── one a shared memory, which no store owns
//!  Store::limiter ──► ResourceLimiter: asked before each instance, memory, table
//!                     and growth; it can only refuse more
//! ```
//!
//! What must stay true: nothing is allocated for a guest before it was counted, and
//! what was counted is given back once, when it is gone. Counting is some additions
//! for a new item and for a growth; what runs in between pays nothing.

mod admission;
mod allowance;
mod limiter;

pub(crate) use admission::{Grown, Limiter, Question};
pub use allowance::Allowance;
pub(crate) use allowance::{Account, Charge, Taken};
pub use limiter::{ResourceLimiter, StoreLimits, StoreLimitsBuilder};
