//! What an episode leaves behind, and where it is kept: the record with its canonical bytes, and
//! stores that let only the owner of an episode write.

pub mod column;
pub mod error;
pub mod export;
pub mod jsonl;
pub mod memory;
pub mod off;
pub mod record;
pub mod server;
pub mod sqlite;
pub mod store;

pub use error::RecordError;
pub use export::export;
pub use memory::MemoryStore;
pub use off::OffStore;
pub use record::{Actor, EndReason, Entry, FORMAT, Header, Input, Record, Step, WORLD_REVISION};
pub use server::ServerTrouble;
pub use sqlite::SqliteStore;
pub use store::{Answer, Filter, Prune, Store, Summary, Write, Written};
