//! What papers state, which is data of ours: one file each in `data/`.

use serde::de::DeserializeOwned;

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
