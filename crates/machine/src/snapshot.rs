//! Snapshots are one compact binary encoding of serde data: field order is fixed, floats keep
//! their bits, maps are ordered. Same state, same bytes, on every platform.

use model::{Digest, Digester};
use postcard::ser_flavors::Flavor;
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

/// Digest of the bytes that [`encode`] would write, which are not kept.
///
/// # Errors
/// As [`encode`].
pub fn digest<T: Serialize>(what: &'static str, value: &T) -> Result<Digest, SnapshotError> {
    let folding = Folding { digester: Digester::default(), open: [0; BLOCK], filled: 0 };
    postcard::serialize_with_flavor(value, folding)
        .map_err(|error| SnapshotError { what, reason: error.to_string() })
}

/// Bytes that are folded at once.
const BLOCK: usize = 1024;

/// Folds an encoding block by block.
struct Folding {
    digester: Digester,
    open: [u8; BLOCK],
    filled: usize,
}

impl Folding {
    fn fold(&mut self) {
        self.digester.block(&self.open[..self.filled]);
        self.filled = 0;
    }
}

impl Flavor for Folding {
    type Output = Digest;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        if self.filled == BLOCK {
            self.fold();
        }
        self.open[self.filled] = byte;
        self.filled += 1;
        Ok(())
    }

    fn try_extend(&mut self, mut bytes: &[u8]) -> postcard::Result<()> {
        // Nearly all of a state are numbers of eight bytes, for which a call would be too much.
        if let (Ok(eight), Some(room)) =
            (<&[u8; 8]>::try_from(bytes), self.open.get_mut(self.filled..self.filled + 8))
        {
            room.copy_from_slice(eight);
            self.filled += 8;
            return Ok(());
        }
        while !bytes.is_empty() {
            if self.filled == BLOCK {
                self.fold();
            }
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.filled));
            self.open[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
        }
        Ok(())
    }

    fn finalize(mut self) -> postcard::Result<Digest> {
        self.fold();
        Ok(self.digester.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_bytes_however_they_come() {
        for size in [0, 1, 1021, 1022, 1023, 1024, 3000] {
            let numbers: Vec<f64> = (0..size).map(f64::from).collect();
            let texts = vec!["x".repeat(700); 4];
            let value = (numbers, texts, size);
            let mut blocks = Digester::default();
            encode("test", &value).unwrap().chunks(BLOCK).for_each(|block| blocks.block(block));
            assert_eq!(digest("test", &value), Ok(blocks.finish()), "{size}");
        }
        assert_ne!(digest("test", &(1_u8, 2_u8)), digest("test", &(2_u8, 1_u8)));
    }
}
