//! What papers state, which is data of ours: one file each in `data/`.

use serde::{Deserialize, de::DeserializeOwned};

use crate::ReportError;

/// What a paper states.
///
/// # Errors
/// [`ReportError::Data`] if the file is not what its page reads; a test reads each.
pub(crate) fn read<T: DeserializeOwned>(name: &'static str, data: &str) -> Result<T, ReportError> {
    toml::from_str(data).map_err(|error| ReportError::Data {
        name,
        error: error.to_string(),
    })
}

/// Something that a paper states and that can be held against a measurement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    /// Where in the paper.
    pub place: String,
    /// What it is about.
    pub what: String,
    /// What the paper says.
    pub published: String,
    /// The name of what says the same of a campaign.
    pub here: String,
}
