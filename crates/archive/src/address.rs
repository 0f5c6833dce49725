//! The address of a database. It may hold a password, so it is never shown as it was given.

use record::{RecordError, ServerTrouble};
use sqlx::postgres::PgConnectOptions;
use std::fmt;
use std::path::Path;
use std::str::FromStr as _;

/// What may follow the database in an address.
const PARAMETERS: [&str; 11] = [
    "application_name",
    "dbname",
    "host",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];
const ALLOWED: &str = "?sslmode=disable|prefer|require|verify-ca|verify-full, sslrootcert=FILE, \
                       sslcert=FILE, sslkey=FILE, host, port, user, dbname, application_name or \
                       options";
const FILES: [&str; 3] = ["sslcert", "sslkey", "sslrootcert"];
const MODES: [&str; 5] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/// Where a database is, and who asks. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// An address, if the text looks like one; what is wrong in it is said when it is used.
    pub fn new(text: &str) -> Option<Address> {
        let scheme = text.split_once("://")?.0.to_ascii_lowercase();
        matches!(&*scheme, "postgres" | "postgresql").then(|| Address(text.to_string()))
    }

    /// As the driver wants it. The variables of libpq (`PGPASSWORD`, `PGSSLMODE`, …) and the
    /// password file fill in what the address does not say.
    ///
    /// # Errors
    /// [`RecordError::Server`] with [`ServerTrouble::Address`].
    pub(crate) fn options(&self) -> Result<PgConnectOptions, RecordError> {
        self.check().map_err(|problem| self.wrong(problem))?;
        // The driver's own words may repeat what was given.
        let parsed = PgConnectOptions::from_str(&self.0);
        let options = parsed.map_err(|_| self.wrong("is no address".into()))?;
        Ok(match options.get_application_name() {
            None => options.application_name("mayday"),
            Some(_) => options,
        })
    }

    fn wrong(&self, problem: String) -> RecordError {
        let trouble = ServerTrouble::Address { problem, parameters: ALLOWED };
        RecordError::Server { place: self.to_string(), trouble }
    }

    /// The driver only warns of parameters that it does not know, and shows their values.
    fn check(&self) -> Result<(), String> {
        let query = self.0.split('#').next().and_then(|text| text.split_once('?'));
        for pair in query.map_or("", |(_, query)| query).split('&').filter(|pair| !pair.is_empty())
        {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !PARAMETERS.contains(&name) {
                return Err("has an unknown parameter".into());
            }
            if name == "sslmode" && !MODES.contains(&value) {
                return Err(format!("sslmode is none of {}", MODES.join(", ")));
            }
            // The driver would only say that something was not found.
            let file = FILES.contains(&name) && !value.contains('%');
            if file && !Path::new(value).is_file() {
                return Err(format!("{name} names {value}, which is no file"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Address {
    /// User, host and database; nothing where these cannot be told apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(options) = PgConnectOptions::from_str(self.0.split('?').next().unwrap_or("")) else {
            return f.write_str("postgres://…");
        };
        let user = options.get_username();
        let database = options.get_database().unwrap_or(user);
        match options.get_socket() {
            Some(socket) => write!(f, "postgres://{user}@{}/{database}", socket.display()),
            None => {
                let (host, port) = (options.get_host(), options.get_port());
                write!(f, "postgres://{user}@{host}:{port}/{database}")
            }
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Address::new(text).unwrap().to_string()
    }

    #[test]
    fn a_password_is_never_shown() {
        for text in [
            "postgres://joe:s3cret@db:5433/records",
            "postgresql://joe@db:5433/records?password=s3cret&sslmode=require",
            "postgres://joe:s3cret@db:5433/records?pasword=s3cret",
            "postgres://joe:s3cret@db:5433/records?sslmode=s3cret",
        ] {
            let address = Address::new(text).unwrap();
            assert_eq!(address.to_string(), "postgres://joe@db:5433/records");
            assert_eq!(format!("{address:?}"), address.to_string());
            if let Err(error) = address.options() {
                assert!(!error.to_string().contains("s3cret"), "{error}");
            }
        }
        assert_eq!(shown("postgres://joe:s3cret@db:port/records"), "postgres://…");
        assert!(shown("postgres://joe:s3cret@%2Frun%2Fpg/r").ends_with("joe@/run/pg/r"));
    }

    #[test]
    fn what_is_wrong_in_an_address_is_said() {
        for (text, says) in [
            ("postgres://db:port/records", "is no address"),
            ("postgres://db/records?sslkey=/none", "sslkey names /none, which is no file"),
            ("postgres://db/records?timeout=5", "has an unknown parameter"),
            ("postgres://db/records?sslmode=on", "sslmode is none of disable, prefer, require"),
        ] {
            let error = Address::new(text).unwrap().options().unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("sslrootcert=FILE"), "{error}");
        }
        assert_eq!(Address::new("mysql://db/records"), None);
        assert_eq!(Address::new("records.db"), None);
    }
}
