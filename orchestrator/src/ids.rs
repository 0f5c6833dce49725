//! Episodes as people write them, and records as they name them.

use crate::failure::Failure;
use archive::Place;
use model::EpisodeId;
use record::{Filter, Record, RecordError, Store};
use std::path::Path;
use std::sync::Arc;

/// The episode in a text of 1 to 16 hexadecimal digits.
pub fn parse(text: &str) -> Option<EpisodeId> {
    let digits = !text.is_empty() && text.len() <= 16;
    let hexadecimal = digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    hexadecimal.then(|| u64::from_str_radix(text, 16).ok().map(EpisodeId)).flatten()
}

/// Which record.
#[derive(Clone, Debug, clap::Args)]
pub struct RecordArgs {
    /// A file of a record (.jsonl), or an episode (or its first digits) with --records.
    #[arg(value_name = "RECORD|EPISODE")]
    record: String,
    /// The database that has the episode: a file, or postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "DB", env = "MAYDAY_RECORDS", hide_env_values = true)]
    records: Option<Place>,
}

impl RecordArgs {
    /// The record, which this program can play.
    ///
    /// # Errors
    /// Where there is none, or it is of another program.
    pub fn load(&self) -> Result<Record, Failure> {
        let path = Path::new(&self.record);
        let record = match (&self.records, parse(&self.record)) {
            _ if path.is_file() => from_file(path)?,
            (Some(db), _) if !self.record.contains(['/', '.']) => {
                let store = open(db)?;
                let episode = find(&*store, &self.record, db)?;
                store.load(episode).map_err(Failure::usage)?
            }
            (None, Some(_)) => {
                return Err(Failure::usage(format!(
                    "{} is no file; if it is an episode, say where it is kept: --records DB",
                    self.record
                )));
            }
            _ => {
                return Err(Failure::usage(format!(
                    "{}: no such file; expected a record (.jsonl), or an episode of 16 \
                     hexadecimal digits with --records DB",
                    self.record
                )));
            }
        };
        record.check().map_err(Failure::usage)?;
        Ok(record)
    }
}

fn from_file(path: &Path) -> Result<Record, Failure> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    Record::from_jsonl(&bytes).map_err(|error| {
        Failure::usage(format!(
            "{shown}: {error}; is it a file that `mayday records export` wrote?"
        ))
    })
}

/// Opens a database that has to be there.
///
/// # Errors
/// Where it is missing or cannot be read.
pub fn open(db: &Place) -> Result<Arc<dyn Store>, Failure> {
    match db {
        Place::Path(path) if !path.exists() => Err(Failure::usage(format!(
            "{db}: no such file; `mayday run --records {db}` makes one"
        ))),
        Place::Memory | Place::Off => Err(Failure::usage(format!(
            "--records {db}: nothing is left of such records; name a file or a server"
        ))),
        Place::Path(_) | Place::Server(_) => db.open().map_err(Failure::usage),
    }
}

/// The episode with this id, or the only one whose id begins so.
///
/// # Errors
/// Where there is none, or several.
pub fn find(store: &dyn Store, text: &str, db: &Place) -> Result<EpisodeId, Failure> {
    let Some(whole) = parse(text) else {
        return Err(Failure::usage(format!(
            "`{text}` is no episode: expected up to 16 hexadecimal digits; `mayday records list \
             --records {db}` shows them"
        )));
    };
    if text.len() == 16 {
        return Ok(whole);
    }
    let all = store.list(&Filter::default()).map_err(Failure::usage)?;
    let begins = |id: &EpisodeId| id.to_string().starts_with(&text.to_ascii_lowercase());
    let matching: Vec<_> = all.iter().map(|summary| summary.episode).filter(begins).collect();
    match matching[..] {
        [one] => Ok(one),
        [] => Err(Failure::usage(RecordError::Unknown { episode: whole })),
        _ => Err(Failure::usage(format!(
            "{} episodes begin with {text}: give more digits",
            matching.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_are_hexadecimal() {
        assert_eq!(parse("00000000000000ff"), Some(EpisodeId(255)));
        assert_eq!(parse("FF"), Some(EpisodeId(255)));
        for text in ["", "x", "+1", "0123456789abcdef0", "-1", "é"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
