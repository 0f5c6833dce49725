//! What can be wrong with records on a database server, each with the way out. No sentence holds
//! a password.

/// Why a server does not keep records, or does not give them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerTrouble {
    /// What was given is no address.
    #[error("{problem}: expected postgres://USER@HOST[:PORT]/DATABASE, with {parameters}")]
    Address {
        /// What does not fit.
        problem: String,
        /// The parameters that may follow.
        parameters: &'static str,
    },
    /// Nobody answers.
    #[error("cannot be reached ({problem}): check host, port and that the server runs")]
    Unreachable {
        /// In the words of the system.
        problem: String,
    },
    /// No secure connection.
    #[error("no secure connection ({problem}): check sslmode, sslrootcert and the certificate")]
    Tls {
        /// In the words of the system.
        problem: String,
    },
    /// It does not let the user in.
    #[error(
        "does not let user {user:?} in ({problem}): check the user, the password (PGPASSWORD and \
         the password file are read) and the server's pg_hba.conf"
    )]
    Identity {
        /// Who was refused.
        user: String,
        /// In the words of the server.
        problem: String,
    },
    /// It has no such database.
    #[error("has no database {database:?}: create it, or name another one")]
    NoDatabase {
        /// Its name.
        database: String,
    },
    /// It takes no writes.
    #[error("takes no writes: it is a standby or set to read only; name the primary server")]
    ReadOnly,
    /// The user may not do what is needed.
    #[error(
        "does not allow what records need ({problem}): let the user own the database, or GRANT \
         CREATE ON DATABASE, or make the schema mayday for it"
    )]
    Forbidden {
        /// In the words of the server.
        problem: String,
    },
    /// The server is too old.
    #[error("is PostgreSQL {theirs}: version {needed} or newer is needed")]
    Old {
        /// Its version.
        theirs: String,
        /// The oldest that will do.
        needed: u32,
    },
    /// A later release made the tables.
    #[error(
        "its tables have version {theirs} and this program knows up to {ours}: use the release \
         that made them, or another database"
    )]
    Newer {
        /// Their version.
        theirs: u32,
        /// The newest known here.
        ours: u32,
    },
    /// The schema belongs to somebody else.
    #[error("its schema mayday holds something else than records: choose another database")]
    NotRecords,
    /// No room.
    #[error("has no room ({problem}); nothing of the write was kept: free space, then repeat it")]
    Full {
        /// In the words of the server.
        problem: String,
    },
    /// What was read makes no sense.
    #[error("is damaged ({problem}): restore a copy, or choose another database")]
    Damaged {
        /// What does not fit.
        problem: String,
    },
    /// Nobody could be asked what became of a write.
    #[error(
        "broke off during a write ({problem}); whether it was kept is not known here: once the \
         server is back, go on with what the record says"
    )]
    Unsure {
        /// Why it could not be asked again.
        problem: String,
    },
    /// Anything else that the server says.
    #[error("{problem} (SQLSTATE {code})")]
    Refused {
        /// Its code.
        code: String,
        /// In its words.
        problem: String,
    },
}
