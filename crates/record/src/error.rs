//! What can go wrong with a record or its store, each with the way out. None of it is a failure
//! in the simulation.

use crate::server::ServerTrouble;
use model::EpisodeId;
use std::path::PathBuf;

/// Why a record could not be read, played or kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A line of the bytes of a record says nothing known.
    #[error("line {line} of the record: {problem}")]
    Line {
        /// Counted from 1, the header.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes have another version.
    #[error(
        "the record has format {theirs} and this program reads format {ours}: use a release that \
         reads format {theirs}"
    )]
    OtherFormat {
        /// Of the record.
        theirs: u32,
        /// Of this program.
        ours: u32,
    },
    /// It was played in another world.
    #[error(
        "recorded in world revision {theirs} and this program plays revision {ours}: replay it \
         with a release of revision {theirs}, or play its scenario and seed anew"
    )]
    OtherWorld {
        /// Of the record.
        theirs: u32,
        /// Of this program.
        ours: u32,
    },
    /// The entries do not follow from each other.
    #[error("entry {entry} of the record (0: the header) {problem}: take an unedited copy")]
    Broken {
        /// Counted from 1; 0 is the header.
        entry: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Another epoch owns the episode.
    #[error(
        "episode {episode} is owned by epoch {owner}, not by epoch {yours}: another process took \
         it over; stop here, or claim it and resume from the record"
    )]
    NotOwner {
        /// The episode.
        episode: EpisodeId,
        /// The epoch that wanted to write.
        yours: u64,
        /// The epoch that may.
        owner: u64,
    },
    /// There is no such record.
    #[error("no record of episode {episode}: it was never kept here, or it was pruned")]
    Unknown {
        /// The episode.
        episode: EpisodeId,
    },
    /// There is one already.
    #[error("episode {episode} has a record already: claim it to go on, or take another id")]
    Exists {
        /// The episode.
        episode: EpisodeId,
    },
    /// It is over.
    #[error("episode {episode} is over and takes no more entries")]
    Ended {
        /// The episode.
        episode: EpisodeId,
    },
    /// Not a number.
    #[error("the score of episode {episode} is not a finite number")]
    Score {
        /// The episode.
        episode: EpisodeId,
    },
    /// Too many writes wait.
    #[error("{waiting} writes of records wait already: repeat the step in a moment")]
    Busy {
        /// How many.
        waiting: usize,
    },
    /// The store has shut down.
    #[error("the store of records has shut down")]
    Closed,
    /// Nothing is kept.
    #[error("records are off: start with --records PATH or --records memory to keep them")]
    Off,
    /// Not a place for records.
    #[error(
        "{text:?} is no place for records: expected a path, postgres://USER@HOST/DATABASE, \
         memory, or off"
    )]
    Place {
        /// What was given.
        text: String,
    },
    /// Its folder is missing.
    #[error("{path}: the folder does not exist: create it, or choose another --records path",
        path = .path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// A folder, not a file.
    #[error("{path}: is a folder: name a file in it, such as {path}/records.db",
        path = .path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Some other file.
    #[error("{path}: is not a database of records, and was left as it is: choose another file",
        path = .path.display())]
    NotRecords {
        /// The file.
        path: PathBuf,
    },
    /// The system does not allow it.
    #[error("{path}: may not be written: check the owner and mode of the file and its folder",
        path = .path.display())]
    Denied {
        /// The file.
        path: PathBuf,
    },
    /// A later release made it.
    #[error("{path}: has schema {theirs} and this program knows up to {ours}: use the release \
         that made it, or another file", path = .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        theirs: u32,
        /// The newest version known here.
        ours: u32,
    },
    /// No room.
    #[error("{path}: the disk is full; nothing of the write was kept: free space or prune \
         records, then repeat it", path = .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds it.
    #[error("{path}: another process holds it for too long: repeat, or stop the other process",
        path = .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Its content makes no sense.
    #[error("{path}: is damaged ({problem}): restore a copy, or choose another file",
        path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },
    /// A file of an export.
    #[error("{path}: cannot be written ({problem}): export to another folder",
        path = .path.display())]
    Export {
        /// The file or folder.
        path: PathBuf,
        /// In the words of the system.
        problem: String,
    },
    /// A database server.
    #[error("{place}: {trouble}")]
    Server {
        /// Its address, without a password.
        place: String,
        /// What is wrong with it.
        trouble: ServerTrouble,
    },
    /// Anything else that the database or the system says.
    #[error("{path}: {problem}", path = .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// In its words.
        problem: String,
    },
}
