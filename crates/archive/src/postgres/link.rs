//! One connection, made anew when it breaks, and requests repeated over it as long as patience
//! lasts.

use crate::address::Address;
use crate::postgres::trouble::{self, Weight};
use crate::postgres::{Tuning, schema};
use record::{RecordError, ServerTrouble};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use std::fmt;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Between two attempts, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// A connection, or the intention to have one.
pub(super) struct Link {
    address: Address,
    options: PgConnectOptions,
    tuning: Tuning,
    held: Option<PgConnection>,
}

/// Why an attempt came to nothing.
enum Setback {
    /// Nothing was sent: there is no connection.
    Before(RecordError),
    /// It may have been done all the same.
    Unsure(RecordError),
    /// It was not done, and another attempt may succeed.
    Passing(RecordError),
    /// It was not done, and will not be.
    Final(RecordError),
}

impl fmt::Debug for Link {
    /// Without the options, which hold the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connected = self.held.is_some();
        f.debug_struct("Link").field("to", &self.address).field("connected", &connected).finish()
    }
}

impl Link {
    /// Not connected yet.
    pub(super) fn new(address: &Address, tuning: Tuning) -> Result<Link, RecordError> {
        let milliseconds = |time: Duration| time.as_millis().to_string();
        // A little less than we wait: the server's own word is the better one. A process that is
        // stopped within a transaction loses it, and its locks.
        let answer = milliseconds(tuning.answer.mul_f32(0.8));
        let options = address
            .options()?
            .options([
                ("statement_timeout", &answer),
                ("lock_timeout", &milliseconds(tuning.answer.mul_f32(0.4))),
                ("idle_in_transaction_session_timeout", &answer),
            ])
            .disable_statement_logging();
        Ok(Link { address: address.clone(), options, tuning, held: None })
    }

    /// Connects once and sees to the tables.
    pub(super) async fn open(&mut self) -> Result<(), RecordError> {
        self.connect().await?;
        let Some(db) = &mut self.held else { return Err(self.silent(self.tuning.connect)) };
        match timeout(self.tuning.answer, schema::settle(db, schema::MIGRATIONS)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(trouble)) => Err(trouble.named(&self.address, &self.options)),
            Err(_) => Err(self.silent(self.tuning.answer)),
        }
    }

    /// Does `how` over the connection, again where it broke. It must take effect once, however
    /// often it is sent.
    pub(super) async fn run<T>(
        &mut self,
        answer: Duration,
        how: impl AsyncFn(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, RecordError> {
        let deadline = Instant::now() + self.tuning.patience.max(answer);
        let (mut pause, mut sent) = (PAUSE.0, false);
        loop {
            let setback = match self.attempt(answer, &how).await {
                Ok(done) => return Ok(done),
                Err(setback) => setback,
            };
            if !matches!(setback, Setback::Passing(_) | Setback::Final(_)) {
                self.held = None;
            }
            sent |= matches!(setback, Setback::Unsure(_));
            let error = match setback {
                Setback::Final(error) => return Err(error),
                Setback::Before(error) | Setback::Unsure(error) | Setback::Passing(error) => error,
            };
            if Instant::now() + pause >= deadline {
                return Err(if sent { self.unsure(&error) } else { error });
            }
            tracing::debug!(%error, "records: once more");
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    async fn attempt<T>(
        &mut self,
        answer: Duration,
        how: impl AsyncFn(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, Setback> {
        if self.held.is_none() {
            self.connect().await.map_err(Setback::Before)?;
        }
        let Some(db) = &mut self.held else {
            return Err(Setback::Before(self.silent(self.tuning.connect)));
        };
        match timeout(answer, how(db)).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                let told = trouble::told(&error, &self.address, &self.options);
                Err(match trouble::weight(&error) {
                    Weight::Unsure => Setback::Unsure(told),
                    Weight::Passing => Setback::Passing(told),
                    Weight::Elsewhere => Setback::Before(told),
                    Weight::Final => Setback::Final(told),
                })
            }
            Err(_) => Err(Setback::Unsure(self.silent(answer))),
        }
    }

    async fn connect(&mut self) -> Result<(), RecordError> {
        match timeout(self.tuning.connect, PgConnection::connect_with(&self.options)).await {
            Ok(Ok(db)) => {
                self.held = Some(db);
                Ok(())
            }
            Ok(Err(error)) => Err(trouble::told(&error, &self.address, &self.options)),
            Err(_) => Err(self.silent(self.tuning.connect)),
        }
    }

    fn silent(&self, time: Duration) -> RecordError {
        let problem = format!("no answer within {} s", time.as_secs_f32());
        self.server(ServerTrouble::Unreachable { problem })
    }

    fn unsure(&self, last: &RecordError) -> RecordError {
        let problem = match last {
            RecordError::Server { trouble, .. } => trouble.to_string(),
            other => other.to_string(),
        };
        self.server(ServerTrouble::Unsure { problem })
    }

    /// An error of this server.
    pub(super) fn server(&self, trouble: ServerTrouble) -> RecordError {
        RecordError::Server { place: self.address.to_string(), trouble }
    }
}
