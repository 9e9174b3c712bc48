//! Plan, rounds, samples: drives engines through the runner protocol.

pub mod check;
pub mod choose;
pub mod counts;
pub mod date;
pub mod driver;
pub mod engines;
pub mod host;
pub mod house;
pub mod judge;
pub mod near;
pub mod own;
pub mod plan;
pub mod probe;
pub mod results;
pub mod session;
pub mod suite;
pub mod trial;
pub mod worker;
