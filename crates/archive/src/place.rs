//! Where records are kept: what stands after `--records`.

use crate::address::Address;
use crate::postgres::PostgresStore;
use record::{MemoryStore, OffStore, RecordError, SqliteStore, Store};
use std::path::PathBuf;
use std::sync::Arc;

/// A place for records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A database in this file; it is made if it is missing.
    Path(PathBuf),
    /// A database server.
    Server(Address),
    /// This process.
    Memory,
    /// Nowhere.
    Off,
}

impl Place {
    /// Opens the store there.
    ///
    /// # Errors
    /// As [`SqliteStore::open`] and [`PostgresStore::open`].
    pub fn open(&self) -> Result<Arc<dyn Store>, RecordError> {
        Ok(match self {
            Place::Path(path) => Arc::new(SqliteStore::open(path)?),
            Place::Server(address) => Arc::new(PostgresStore::open(address)?),
            Place::Memory => Arc::new(MemoryStore::new()),
            Place::Off => Arc::new(OffStore),
        })
    }
}

impl std::str::FromStr for Place {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Place, RecordError> {
        // Words that mean something else than a file, here or in other programs: a file of that
        // name would surprise; `./none` is still there for whoever means it.
        const NOT_PATHS: [&str; 6] = ["memory", "off", ":memory:", "none", "false", "no"];
        if let Some(address) = Address::new(text) {
            return Ok(Place::Server(address));
        }
        match text {
            "memory" => Ok(Place::Memory),
            "off" => Ok(Place::Off),
            _ if text.trim().is_empty()
                || text.contains("://")
                || NOT_PATHS.iter().any(|word| word.eq_ignore_ascii_case(text)) =>
            {
                Err(RecordError::Place { text: text.to_string() })
            }
            _ => Ok(Place::Path(text.into())),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Path(path) => path.display().fmt(f),
            Place::Server(address) => address.fmt(f),
            Place::Memory => f.write_str("memory"),
            Place::Off => f.write_str("off"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths_are_told_apart() {
        assert_eq!("memory".parse(), Ok(Place::Memory));
        assert_eq!("off".parse(), Ok(Place::Off));
        let server: Place = "postgres://joe:s3cret@db/records".parse().unwrap();
        assert!(matches!(server, Place::Server(_)));
        assert_eq!(server.to_string(), "postgres://joe@db:5432/records");
        for path in ["records.db", "./none", "/var/lib/mayday/records.db", "memory.db"] {
            assert_eq!(path.parse(), Ok(Place::Path(path.into())));
            assert_eq!(path.parse::<Place>().unwrap().to_string(), path);
        }
        for bad in ["", " ", "Memory", "OFF", ":memory:", "none", "mysql://db/records"] {
            let error = bad.parse::<Place>().unwrap_err();
            assert_eq!(error, RecordError::Place { text: bad.into() });
            let said = error.to_string();
            assert!(said.contains("expected a path, postgres://"), "{said}");
        }
    }

    #[test]
    fn each_place_opens_its_store() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records.db");
        let kind = |place: Place| format!("{:?}", place.open().unwrap());
        assert!(kind(Place::Path(file.clone())).starts_with("SqliteStore"));
        assert!(file.exists());
        assert!(kind(Place::Memory).starts_with("MemoryStore"));
        assert!(kind(Place::Off).starts_with("OffStore"));
    }
}
