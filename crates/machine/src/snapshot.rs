//! Snapshots are one compact binary encoding of serde data: field order is fixed, floats keep
//! their bits, maps are ordered. Same state, same bytes, on every platform.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A snapshot could not be written or read: bytes of another version, or a broken file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("snapshot of {what}: {reason}")]
pub struct SnapshotError {
    /// What was to be restored.
    pub what: &'static str,
    /// Why it could not be.
    pub reason: String,
}

/// Encodes `value`.
///
/// # Errors
/// Only for values that serde cannot encode (maps of unknown length).
pub fn encode<T: Serialize>(what: &'static str, value: &T) -> Result<Vec<u8>, SnapshotError> {
    postcard::to_allocvec(value).map_err(|error| SnapshotError { what, reason: error.to_string() })
}

/// Decodes what [`encode`] wrote; trailing bytes are an error.
///
/// # Errors
/// Where the bytes are not such an encoding.
pub fn decode<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, SnapshotError> {
    let error = |reason: String| SnapshotError { what, reason };
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|e| error(e.to_string()))?;
    if rest.is_empty() { Ok(value) } else { Err(error(format!("{} bytes too many", rest.len()))) }
}
