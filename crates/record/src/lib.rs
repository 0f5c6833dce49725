//! What an episode leaves behind, and where it is kept: the record with its canonical bytes, and
//! stores that let only the owner of an episode write.

pub mod error;
pub mod jsonl;
pub mod record;

pub use error::RecordError;
pub use record::{Actor, EndReason, Entry, FORMAT, Header, Input, Record, Step, WORLD_REVISION};
