//! What the server and the driver say, in our words.

use crate::address::Address;
use record::{RecordError, ServerTrouble};
use sqlx::Error;
use sqlx::postgres::PgConnectOptions;

/// What follows from an error for what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// The connection broke: it may have been done.
    Unsure,
    /// It was not done; the same may succeed in a moment.
    Passing,
    /// It was not done, and this server will not do it; another one may have taken its place.
    Elsewhere,
    /// It was not done and will not be.
    Final,
}

/// Why the tables cannot be used.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Named already.
    Known(ServerTrouble),
    /// In the words of the driver.
    Database(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Database(error)
    }
}

impl Trouble {
    /// With the name of the server.
    pub(super) fn named(self, address: &Address, options: &PgConnectOptions) -> RecordError {
        match self {
            Trouble::Known(trouble) => RecordError::Server { place: address.to_string(), trouble },
            Trouble::Database(error) => told(&error, address, options),
        }
    }
}

/// What follows from an error.
pub(super) fn weight(error: &Error) -> Weight {
    let Error::Database(said) = error else {
        return match error {
            Error::RowNotFound | Error::ColumnDecode { .. } | Error::Decode(_) => Weight::Final,
            _ => Weight::Unsure,
        };
    };
    match said.code().as_deref().unwrap_or("") {
        // Shut down, crashed, starting: what was under way may have been committed before.
        "57P01" | "57P02" | "57P03" => Weight::Unsure,
        code if code.starts_with("08") => Weight::Unsure,
        // A deadlock, a lock or an answer that took too long, no more connections, and a scenario
        // that was pruned between two looks.
        "40001" | "40P01" | "55P03" | "57014" | "23503" => Weight::Passing,
        "53300" | "25006" => Weight::Elsewhere,
        _ => Weight::Final,
    }
}

/// An error of the driver with the name of the server and the way out.
pub(super) fn told(error: &Error, address: &Address, options: &PgConnectOptions) -> RecordError {
    RecordError::Server { place: address.to_string(), trouble: trouble(error, options) }
}

fn trouble(error: &Error, options: &PgConnectOptions) -> ServerTrouble {
    let problem = error.to_string();
    let said = match error {
        Error::Database(said) => said,
        Error::Tls(error) => return ServerTrouble::Tls { problem: error.to_string() },
        Error::Configuration(error) => return ServerTrouble::Tls { problem: error.to_string() },
        // What is wrong with a certificate comes as what is wrong with the data.
        Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            return ServerTrouble::Tls { problem: error.to_string() };
        }
        Error::Io(error) => return ServerTrouble::Unreachable { problem: error.to_string() },
        Error::ColumnDecode { .. } | Error::Decode(_) | Error::ColumnNotFound(_) => {
            return ServerTrouble::Damaged { problem };
        }
        _ => return ServerTrouble::Unreachable { problem },
    };
    let (code, problem) = (said.code().unwrap_or_default(), said.message().to_string());
    let user = options.get_username().to_string();
    match &*code {
        "28P01" | "28000" => ServerTrouble::Identity { user, problem },
        "3D000" => {
            let database = options.get_database().unwrap_or(&user).to_string();
            ServerTrouble::NoDatabase { database }
        }
        "25006" => ServerTrouble::ReadOnly,
        "42501" => ServerTrouble::Forbidden { problem },
        "53100" | "53200" => ServerTrouble::Full { problem },
        "53300" | "57P01" | "57P02" | "57P03" | "57014" | "55P03" => {
            ServerTrouble::Unreachable { problem }
        }
        code => ServerTrouble::Refused { code: code.to_string(), problem },
    }
}
