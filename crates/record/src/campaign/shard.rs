//! What a shard says of itself: which part of a campaign's workloads it has.

use serde::{Deserialize, Serialize};

/// A shard: some of a campaign's workloads, each with all of its cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardNote {
    /// Which of the shards it is, from 1.
    pub index: u32,
    /// Shards in all.
    pub count: u32,
    /// Workloads of all shards together.
    pub workloads: u32,
    /// A hash of the list of these workloads, with their sizes, arguments and answers:
    /// shards of which it differs are of different campaigns.
    pub list: String,
    /// Workloads that every shard has, as `suite:name`: what tells machines apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<String>,
}
