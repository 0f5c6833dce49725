//! Opening the file: whose it is, its tables, and how it is used. A file that is not ours is left
//! as it was.

use crate::error::RecordError;
use crate::sqlite::trouble;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// Version of the tables, in `user_version`.
pub(super) const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// Marks the file as ours, in `application_id`: "mday".
const APPLICATION: u32 = 0x6d64_6179;

/// Attempts to turn the write-ahead log on.
const ATTEMPTS: u32 = 20;

/// The steps from nothing to the present tables. One is added for each change and none is ever
/// edited.
const MIGRATIONS: [&str; 2] = [TABLES, SESSIONS];

/// `episodes.id` counts creations and is never given twice, so it orders records by age. Numbers
/// of 64 bits without sign do not fit SQLite's: episodes are kept as they are printed, seeds as
/// decimal text. `scenarios` holds each text once, however many episodes play it. `entries` are
/// stored as they come, with the order of each episode in an index: a commit then writes a few
/// pages at the end of the table, where a table sorted by episode would write one for each.
const TABLES: &str = "
    CREATE TABLE scenarios (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX scenarios_by_digest ON scenarios (digest);
    CREATE TABLE episodes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        episode TEXT NOT NULL UNIQUE,
        format INTEGER NOT NULL,
        world INTEGER NOT NULL,
        seed TEXT NOT NULL,
        scenario_name TEXT NOT NULL,
        scenario INTEGER NOT NULL REFERENCES scenarios (id),
        epoch INTEGER NOT NULL,
        entries INTEGER NOT NULL DEFAULT 0,
        steps INTEGER NOT NULL DEFAULT 0,
        last_tick INTEGER,
        ended TEXT,
        score REAL,
        terms TEXT,
        created_s INTEGER NOT NULL DEFAULT (unixepoch())
    ) STRICT;
    CREATE INDEX episodes_by_scenario ON episodes (scenario);
    CREATE TABLE entries (
        id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        line TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX entries_in_order ON entries (id, position);
";

/// Sessions of agents, which outlive their process as their episodes do.
const SESSIONS: &str = "
    ALTER TABLE episodes ADD COLUMN session TEXT;
    CREATE INDEX episodes_by_session ON episodes (session, id) WHERE session IS NOT NULL;
";

/// A connection to the records in `path`.
pub(super) fn open(path: &Path, busy: Duration) -> Result<Connection, RecordError> {
    if path.is_dir() {
        return Err(RecordError::IsFolder { path: path.to_path_buf() });
    }
    if path.parent().is_some_and(|p| !p.as_os_str().is_empty() && !p.is_dir()) {
        return Err(RecordError::NoFolder { path: path.to_path_buf() });
    }
    // Without the flag for addresses: a path is a path, whatever it looks like.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let wrong = |error| trouble::opening(path, &error);
    let mut db = Connection::open_with_flags(path, flags).map_err(wrong)?;
    db.busy_timeout(busy).map_err(wrong)?;
    // In one transaction: another process may be making the tables right now.
    let looking = db.unchecked_transaction().map_err(wrong)?;
    let taken = tables(&looking, path)?;
    looking.commit().map_err(wrong)?;
    settle(&db, path)?;
    if taken == SCHEMA {
        return Ok(db);
    }
    let creation = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrong)?;
    // Another process may have been faster.
    let taken = tables(&creation, path)?;
    if taken < SCHEMA {
        for step in &MIGRATIONS[taken as usize..] {
            creation.execute_batch(step).map_err(wrong)?;
        }
        creation.pragma_update(None, "application_id", APPLICATION).map_err(wrong)?;
        creation.pragma_update(None, "user_version", SCHEMA).map_err(wrong)?;
    }
    creation.commit().map_err(wrong)?;
    Ok(db)
}

/// How many steps were taken; refuses a file that is not ours.
fn tables(db: &Connection, path: &Path) -> Result<u32, RecordError> {
    let number = |sql: &str| -> Result<u32, RecordError> {
        db.query_row(sql, [], |row| row.get(0)).map_err(|error| trouble::opening(path, &error))
    };
    let application = number("SELECT application_id FROM pragma_application_id")?;
    let version = number("SELECT user_version FROM pragma_user_version")?;
    if application == 0 && version == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0 {
        return Ok(0);
    }
    if application != APPLICATION {
        return Err(RecordError::NotRecords { path: path.to_path_buf() });
    }
    if version > SCHEMA {
        let path = path.to_path_buf();
        return Err(RecordError::Newer { path, theirs: version, ours: SCHEMA });
    }
    Ok(version)
}

/// How the file is used; see the durability that [`crate::sqlite`] promises.
fn settle(db: &Connection, path: &Path) -> Result<(), RecordError> {
    let wrong = |error| trouble::opening(path, &error);
    let mode = write_ahead(db).map_err(wrong)?;
    if mode != "wal" {
        let problem = format!(
            "the file system does not allow a write-ahead log (journal mode {mode}): choose a \
             local disk"
        );
        return Err(RecordError::Database { path: path.to_path_buf(), problem });
    }
    db.pragma_update(None, "synchronous", "NORMAL").map_err(wrong)?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// Turns the write-ahead log on and says the mode that came of it.
fn write_ahead(db: &Connection) -> rusqlite::Result<String> {
    let turn_on = || db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
    let mut mode = turn_on();
    // Of several that turn it on at once, SQLite lets all but one fail without the time to wait.
    // Beginning to write does wait for the other, and once it is on there is nothing to fail.
    for _ in 0..ATTEMPTS {
        match &mode {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                db.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
                mode = turn_on();
            }
            _ => break,
        }
    }
    mode
}
