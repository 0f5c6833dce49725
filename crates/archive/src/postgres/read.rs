//! Reading records back, and listing them. Each question is one statement: all of its answer is
//! from the same moment.

use crate::postgres::Tuning;
use crate::postgres::link::Link;
use model::{EpisodeId, Tick};
use record::{Entry, FORMAT, Filter, Header, Record, RecordError, ServerTrouble, Summary, column};
use sqlx::Row as _;
use sqlx::postgres::{PgConnection, PgRow};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

type Tell<T> = SyncSender<Result<T, RecordError>>;

/// What can be asked, and where the answer goes.
pub(super) enum Question {
    /// A record.
    Load(EpisodeId, Tell<Record>),
    /// The owner's epoch.
    Owner(EpisodeId, Tell<u64>),
    /// The newest episode of a session.
    OfSession(String, Tell<Option<EpisodeId>>),
    /// Summaries.
    List(Filter, Tell<Vec<Summary>>),
}

/// A thread that reads.
#[derive(Debug)]
pub(super) struct Reader {
    link: Link,
    runtime: Runtime,
    answer: Duration,
}

/// Why there is no answer.
enum Trouble {
    Refused(RecordError),
    Damaged(String),
    Database(sqlx::Error),
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        Trouble::Database(error)
    }
}

impl Reader {
    pub(super) fn new(link: Link, runtime: Runtime, tuning: Tuning) -> Reader {
        Reader { link, runtime, answer: tuning.answer }
    }

    /// Answers until nobody can ask any more.
    pub(super) fn run(mut self, questions: &Mutex<Receiver<Question>>) {
        loop {
            let next = questions.lock().unwrap_or_else(PoisonError::into_inner).recv();
            // Who does not wait any more misses the answer.
            match next {
                Ok(Question::Load(episode, tell)) => {
                    drop(tell.send(self.ask(async |db| load(db, episode).await)));
                }
                Ok(Question::Owner(episode, tell)) => {
                    drop(tell.send(self.ask(async |db| owner(db, episode).await)));
                }
                Ok(Question::OfSession(session, tell)) => {
                    drop(tell.send(self.ask(async |db| of_session(db, &session).await)));
                }
                Ok(Question::List(filter, tell)) => {
                    drop(tell.send(self.ask(async |db| list(db, &filter).await)));
                }
                Err(_) => return,
            }
        }
    }

    fn ask<T>(
        &mut self,
        how: impl AsyncFn(&mut PgConnection) -> Result<T, Trouble>,
    ) -> Result<T, RecordError> {
        let asked = self.link.run(self.answer, async |db| match how(db).await {
            Ok(found) => Ok(Ok(found)),
            Err(Trouble::Database(error)) => Err(error),
            Err(other) => Ok(Err(other)),
        });
        let problem = match self.runtime.block_on(asked) {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(Trouble::Refused(error))) => return Err(error),
            Ok(Err(Trouble::Damaged(problem))) => problem,
            Ok(Err(Trouble::Database(error))) => error.to_string(),
            // Nothing was to be changed, so there is nothing to be unsure of.
            Err(RecordError::Server { trouble: ServerTrouble::Unsure { problem }, .. }) => {
                return Err(self.link.server(ServerTrouble::Unreachable { problem }));
            }
            Err(error) => return Err(error),
        };
        Err(self.link.server(ServerTrouble::Damaged { problem }))
    }
}

async fn load(db: &mut PgConnection, episode: EpisodeId) -> Result<Record, Trouble> {
    let found = sqlx::query(
        "SELECT e.format, e.world, e.seed, e.scenario_name, s.body, e.entries,
                ARRAY (SELECT line FROM mayday.entries n WHERE n.id = e.id ORDER BY position)
         FROM mayday.episodes e JOIN mayday.scenarios s ON s.key = e.scenario
         WHERE e.episode = $1",
    )
    .bind(episode.to_string())
    .fetch_optional(db)
    .await?;
    let row = found.ok_or(Trouble::Refused(RecordError::Unknown { episode }))?;
    let format = row.try_get::<i32, _>(0)? as u32;
    if format != FORMAT {
        return Err(Trouble::Refused(RecordError::OtherFormat { theirs: format, ours: FORMAT }));
    }
    let world = row.try_get::<i32, _>(1)? as u32;
    let seed = column::seed(row.try_get(2)?).map_err(Trouble::Damaged)?;
    let (scenario_name, scenario) = (row.try_get(3)?, row.try_get(4)?);
    let header = Header { format, world, episode, seed, scenario_name, scenario };
    let (count, lines): (i64, Vec<String>) = (row.try_get(5)?, row.try_get(6)?);
    if lines.len() as i64 != count {
        let problem = format!("episode {episode} has {} entries of {count}", lines.len());
        return Err(Trouble::Damaged(problem));
    }
    let entries = (2..).zip(&lines).map(|(line, text)| Entry::from_line(text.as_bytes(), line));
    let entries: Result<_, _> = entries.collect();
    let damaged = |error| Trouble::Damaged(format!("episode {episode}, {error}"));
    Ok(Record { header, entries: entries.map_err(damaged)? })
}

async fn owner(db: &mut PgConnection, episode: EpisodeId) -> Result<u64, Trouble> {
    let sql = "SELECT epoch FROM mayday.episodes WHERE episode = $1";
    let found = sqlx::query_scalar(sql).bind(episode.to_string()).fetch_optional(db).await?;
    let epoch: Option<i64> = found;
    epoch.map(|epoch| epoch as u64).ok_or(Trouble::Refused(RecordError::Unknown { episode }))
}

async fn of_session(db: &mut PgConnection, session: &str) -> Result<Option<EpisodeId>, Trouble> {
    let sql = "SELECT episode FROM mayday.episodes WHERE session = $1 ORDER BY id DESC LIMIT 1";
    let found = sqlx::query_scalar::<_, String>(sql).bind(session).fetch_optional(db).await?;
    let parsed = |text: String| column::episode(&text).map_err(Trouble::Damaged);
    found.map(parsed).transpose()
}

async fn list(db: &mut PgConnection, filter: &Filter) -> Result<Vec<Summary>, Trouble> {
    let named: Vec<_> = filter.episodes.iter().map(EpisodeId::to_string).collect();
    let rows = sqlx::query(
        "SELECT episode, scenario_name, seed, steps, last_tick, ended, score, terms,
                extract(epoch FROM created)::bigint
         FROM mayday.episodes
         WHERE ($1::text[] IS NULL OR episode = ANY($1))
           AND ($2::text IS NULL OR scenario_name = $2)
           AND ($3::boolean IS NULL OR (ended IS NOT NULL) = $3)
         ORDER BY id DESC LIMIT $4",
    )
    .bind((!named.is_empty()).then_some(named))
    .bind(&filter.scenario_name)
    .bind(filter.ended)
    .bind(filter.newest.map(i64::from))
    .fetch_all(db)
    .await?;
    rows.iter().map(summary).collect()
}

fn summary(row: &PgRow) -> Result<Summary, Trouble> {
    let episode: String = row.try_get(0)?;
    let ended: Option<String> = row.try_get(5)?;
    Ok(Summary {
        episode: column::episode(&episode).map_err(Trouble::Damaged)?,
        scenario_name: row.try_get(1)?,
        seed: column::seed(row.try_get(2)?).map_err(Trouble::Damaged)?,
        steps: row.try_get::<i64, _>(3)? as u32,
        last_tick: row.try_get::<Option<i64>, _>(4)?.map(Tick),
        ended: ended.map(|word| column::end(&word)).transpose().map_err(Trouble::Damaged)?,
        score: row.try_get(6)?,
        terms: row.try_get(7)?,
        created_s: Some(row.try_get(8)?),
    })
}
