//! Plan, rounds, samples: drives engines through the runner protocol.
