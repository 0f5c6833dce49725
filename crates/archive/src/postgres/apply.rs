//! A group of writes, in which no episode stands twice: one statement for each sort. What a
//! statement did not change was refused, or was changed by an earlier attempt whose answer was
//! lost; one look at the rows tells.

use crate::postgres::writer::{Numbered, Outcome};
use model::EpisodeId;
use record::store::end_of;
use record::{Entry, Header, Prune, RecordError, Write, Written};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Connection as _, Error, Executor as _, Row as _};
use std::collections::BTreeMap;

/// Episodes that were changed, with the epoch that owns them now.
type Changed = BTreeMap<String, i64>;

/// The episode that a write changes.
pub(super) fn episode(write: &Write) -> Option<EpisodeId> {
    match write {
        Write::Create { header, .. } => Some(header.episode),
        Write::Append { episode, .. }
        | Write::Claim { episode }
        | Write::SetScore { episode, .. } => Some(*episode),
        Write::Prune(_) => None,
    }
}

/// Does `group`: one outcome each, and how many statements wrote.
pub(super) async fn apply(
    db: &mut PgConnection,
    writer: i64,
    group: &[Numbered],
) -> Result<(Vec<Outcome>, u64), Error> {
    if let [Numbered { write: Write::Prune(what), .. }] = group {
        return Ok((vec![Ok(Written::Pruned(prune(db, what).await?))], 1));
    }
    let (mut creates, mut appends) = (Creates::default(), Appends::default());
    let (mut claims, mut scores) = (Claims::default(), Scores::default());
    let mut wrong = BTreeMap::new();
    for Numbered { number, write } in group {
        match write {
            Write::Create { header, epoch, session } => {
                creates.push(header, *epoch, *number, session.clone());
            }
            Write::Append { episode, epoch, entries } => match end_of(*episode, entries) {
                Ok(end) => {
                    appends.push(*episode, *epoch, *number, entries, end.map(|end| end.word()));
                }
                Err(error) => drop(wrong.insert(*number, error)),
            },
            Write::Claim { episode } => claims.push(*episode, *number),
            Write::SetScore { episode, epoch, score, terms } if score.is_finite() => {
                scores.push(*episode, *epoch, *number, *score, terms);
            }
            Write::SetScore { episode, .. } => {
                wrong.insert(*number, RecordError::Score { episode: *episode });
            }
            Write::Prune(_) => {}
        }
    }
    let (mut changed, mut statements) = (Changed::new(), 0);
    if !creates.episodes.is_empty() {
        changed.extend(creates.send(db, writer).await?);
        statements += 1;
    }
    if !appends.episodes.is_empty() {
        changed.extend(appends.send(db, writer).await?);
        statements += 1;
    }
    if !claims.episodes.is_empty() {
        changed.extend(claims.send(db, writer).await?);
        statements += 1;
    }
    if !scores.episodes.is_empty() {
        changed.extend(scores.send(db, writer).await?);
        statements += 1;
    }
    let outcomes = outcomes(db, writer, group, &changed, &wrong).await?;
    Ok((outcomes, statements))
}

/// How an episode stands that was not changed.
struct Standing {
    epoch: i64,
    writer: i64,
    written: i64,
    over: bool,
}

async fn outcomes(
    db: &mut PgConnection,
    writer: i64,
    group: &[Numbered],
    changed: &Changed,
    wrong: &BTreeMap<i64, RecordError>,
) -> Result<Vec<Outcome>, Error> {
    let named = group.iter().filter_map(|one| Some((one, episode(&one.write)?)));
    let unchanged: Vec<_> = named
        .map(|(_, episode)| episode.to_string())
        .filter(|episode| !changed.contains_key(episode))
        .collect();
    let mut standings = BTreeMap::new();
    if !unchanged.is_empty() {
        let sql = "SELECT episode, epoch, writer, written, ended IS NOT NULL
                   FROM mayday.episodes WHERE episode = ANY($1)";
        for row in sqlx::query(sql).bind(unchanged).fetch_all(&mut *db).await? {
            let (epoch, writer) = (row.try_get(1)?, row.try_get(2)?);
            let standing =
                Standing { epoch, writer, written: row.try_get(3)?, over: row.try_get(4)? };
            standings.insert(row.try_get::<String, _>(0)?, standing);
        }
    }
    let mut outcomes = Vec::with_capacity(group.len());
    for Numbered { number, write } in group {
        let Some(episode) = episode(write) else { continue };
        let name = episode.to_string();
        outcomes.push(match (changed.get(&name), standings.get(&name)) {
            (Some(epoch), _) => Ok(done(write, *epoch)),
            (None, None) => Err(RecordError::Unknown { episode }),
            (None, Some(now)) if now.writer == writer && now.written == *number => {
                Ok(done(write, now.epoch))
            }
            (None, Some(now)) => Err(refusal(write, episode, now, wrong.get(number))?),
        });
    }
    Ok(outcomes)
}

fn done(write: &Write, epoch: i64) -> Written {
    match write {
        Write::Claim { .. } => Written::Epoch(epoch as u64),
        _ => Written::Done,
    }
}

/// Why a write was refused. A row that fits it now has changed between two looks.
fn refusal(
    write: &Write,
    episode: EpisodeId,
    now: &Standing,
    wrong: Option<&RecordError>,
) -> Result<RecordError, Error> {
    let owner = now.epoch as u64;
    Ok(match write {
        Write::Create { .. } => RecordError::Exists { episode },
        Write::Append { epoch, .. } | Write::SetScore { epoch, .. } if *epoch != owner => {
            RecordError::NotOwner { episode, yours: *epoch, owner }
        }
        Write::Append { .. } if now.over => RecordError::Ended { episode },
        _ => match wrong {
            Some(wrong) => wrong.clone(),
            None => return Err(Error::Protocol("the row changed meanwhile".into())),
        },
    })
}

fn changed(rows: Vec<PgRow>) -> Result<Changed, Error> {
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

#[derive(Default)]
struct Creates {
    episodes: Vec<String>,
    formats: Vec<i32>,
    worlds: Vec<i32>,
    seeds: Vec<String>,
    names: Vec<String>,
    bodies: Vec<String>,
    epochs: Vec<i64>,
    numbers: Vec<i64>,
    sessions: Vec<Option<String>>,
}

impl Creates {
    fn push(&mut self, header: &Header, epoch: u64, number: i64, session: Option<String>) {
        self.episodes.push(header.episode.to_string());
        self.formats.push(header.format as i32);
        self.worlds.push(header.world as i32);
        self.seeds.push(header.seed.to_string());
        self.names.push(header.scenario_name.clone());
        self.bodies.push(header.scenario.clone());
        self.epochs.push(epoch as i64);
        self.numbers.push(number);
        self.sessions.push(session);
    }

    async fn send(self, db: &mut PgConnection, writer: i64) -> Result<Changed, Error> {
        let rows = sqlx::query(
            "WITH given AS (
                 SELECT * FROM unnest($1::text[], $2::integer[], $3::integer[], $4::text[],
                     $5::text[], $6::text[], $7::bigint[], $8::bigint[], $10::text[])
                 WITH ORDINALITY
                 AS g (episode, format, world, seed, name, body, epoch, number, session, place)),
             texts AS (
                 INSERT INTO mayday.scenarios (key, body)
                 SELECT DISTINCT sha256(convert_to(body, 'UTF8')), body FROM given
                 ON CONFLICT (key) DO NOTHING)
             INSERT INTO mayday.episodes (episode, format, world, seed, scenario_name, scenario,
                 epoch, writer, written, session)
             SELECT episode, format, world, seed, name, sha256(convert_to(body, 'UTF8')), epoch,
                 $9, number, session FROM given ORDER BY place
             ON CONFLICT (episode) DO NOTHING RETURNING episode, epoch",
        )
        .bind(self.episodes)
        .bind(self.formats)
        .bind(self.worlds)
        .bind(self.seeds)
        .bind(self.names)
        .bind(self.bodies)
        .bind(self.epochs)
        .bind(self.numbers)
        .bind(writer)
        .bind(self.sessions)
        .fetch_all(db)
        .await?;
        changed(rows)
    }
}

#[derive(Default)]
struct Appends {
    episodes: Vec<String>,
    epochs: Vec<i64>,
    numbers: Vec<i64>,
    counts: Vec<i64>,
    steps: Vec<i64>,
    ticks: Vec<Option<i64>>,
    ends: Vec<Option<&'static str>>,
    /// Of each entry: its episode, its place among those of this append, itself.
    of: Vec<String>,
    places: Vec<i64>,
    lines: Vec<String>,
}

impl Appends {
    fn push(
        &mut self,
        episode: EpisodeId,
        epoch: u64,
        number: i64,
        entries: &[Entry],
        end: Option<&'static str>,
    ) {
        let steps = entries.iter().filter(|entry| matches!(entry, Entry::Step(_))).count();
        self.episodes.push(episode.to_string());
        self.epochs.push(epoch as i64);
        self.numbers.push(number);
        self.counts.push(entries.len() as i64);
        self.steps.push(steps as i64);
        self.ticks.push(entries.last().map(|entry| entry.tick().0));
        self.ends.push(end);
        for (place, entry) in (0..).zip(entries) {
            self.of.push(episode.to_string());
            self.places.push(place);
            self.lines.push(entry.to_line());
        }
    }

    /// Entries are added where the row was changed, and the row is changed only under the epoch
    /// that owns it: one statement, so nothing comes between the two.
    async fn send(self, db: &mut PgConnection, writer: i64) -> Result<Changed, Error> {
        let rows = sqlx::query(
            "WITH kept AS (
                 UPDATE mayday.episodes e
                 SET entries = e.entries + g.count, steps = e.steps + g.steps,
                     last_tick = coalesce(g.tick, e.last_tick), ended = g.ended,
                     writer = $1, written = g.number
                 FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                     $7::bigint[], $8::text[])
                     AS g (episode, epoch, number, count, steps, tick, ended)
                 WHERE e.episode = g.episode AND e.epoch = g.epoch AND e.ended IS NULL
                   AND NOT (e.writer = $1 AND e.written >= g.number)
                 RETURNING e.id, e.episode, e.epoch, e.entries - g.count AS before),
             added AS (
                 INSERT INTO mayday.entries (id, position, line)
                 SELECT k.id, k.before + l.place, l.line
                 FROM unnest($9::text[], $10::bigint[], $11::text[]) AS l (episode, place, line)
                 JOIN kept k ON k.episode = l.episode)
             SELECT episode, epoch FROM kept",
        )
        .bind(writer)
        .bind(self.episodes)
        .bind(self.epochs)
        .bind(self.numbers)
        .bind(self.counts)
        .bind(self.steps)
        .bind(self.ticks)
        .bind(self.ends)
        .bind(self.of)
        .bind(self.places)
        .bind(self.lines)
        .fetch_all(db)
        .await?;
        changed(rows)
    }
}

#[derive(Default)]
struct Claims {
    episodes: Vec<String>,
    numbers: Vec<i64>,
}

impl Claims {
    fn push(&mut self, episode: EpisodeId, number: i64) {
        self.episodes.push(episode.to_string());
        self.numbers.push(number);
    }

    async fn send(self, db: &mut PgConnection, writer: i64) -> Result<Changed, Error> {
        let rows = sqlx::query(
            "UPDATE mayday.episodes e SET epoch = e.epoch + 1, writer = $1, written = g.number
             FROM unnest($2::text[], $3::bigint[]) AS g (episode, number)
             WHERE e.episode = g.episode AND NOT (e.writer = $1 AND e.written >= g.number)
             RETURNING e.episode, e.epoch",
        )
        .bind(writer)
        .bind(self.episodes)
        .bind(self.numbers)
        .fetch_all(db)
        .await?;
        changed(rows)
    }
}

#[derive(Default)]
struct Scores {
    episodes: Vec<String>,
    epochs: Vec<i64>,
    numbers: Vec<i64>,
    scores: Vec<f64>,
    terms: Vec<String>,
}

impl Scores {
    fn push(&mut self, episode: EpisodeId, epoch: u64, number: i64, score: f64, terms: &str) {
        self.episodes.push(episode.to_string());
        self.epochs.push(epoch as i64);
        self.numbers.push(number);
        self.scores.push(score);
        self.terms.push(terms.to_string());
    }

    async fn send(self, db: &mut PgConnection, writer: i64) -> Result<Changed, Error> {
        let rows = sqlx::query(
            "UPDATE mayday.episodes e
             SET score = g.score, terms = g.terms, writer = $1, written = g.number
             FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::double precision[],
                 $6::text[]) AS g (episode, epoch, number, score, terms)
             WHERE e.episode = g.episode AND e.epoch = g.epoch
               AND NOT (e.writer = $1 AND e.written >= g.number)
             RETURNING e.episode, e.epoch",
        )
        .bind(writer)
        .bind(self.episodes)
        .bind(self.epochs)
        .bind(self.numbers)
        .bind(self.scores)
        .bind(self.terms)
        .fetch_all(db)
        .await?;
        changed(rows)
    }
}

/// In one transaction, and the entries after the episodes: once these are locked nobody adds to
/// them, and a later statement sees all that was added before.
async fn prune(db: &mut PgConnection, what: &Prune) -> Result<u64, Error> {
    if what.is_idle() {
        return Ok(0);
    }
    let episodes = what.episodes.as_ref();
    let episodes: Option<Vec<_>> =
        episodes.map(|ids| ids.iter().map(EpisodeId::to_string).collect());
    let mut transaction = db.begin().await?;
    transaction.execute("SET LOCAL statement_timeout = 0").await?;
    let gone = sqlx::query_scalar::<_, i64>(
        "DELETE FROM mayday.episodes
         WHERE ($1::text[] IS NULL OR episode = ANY($1))
           AND ($2::bigint IS NULL
                OR id <= (SELECT id FROM mayday.episodes ORDER BY id DESC LIMIT 1 OFFSET $2))
           AND ($3::double precision IS NULL OR created < now() - make_interval(secs => $3))
           AND (NOT $4 OR ended IS NOT NULL)
         RETURNING id",
    )
    .bind(episodes)
    .bind(what.keep_newest.map(i64::from))
    .bind(what.older_than_s.map(f64::from))
    .bind(what.ended_only)
    .fetch_all(&mut *transaction)
    .await?;
    let count = gone.len() as u64;
    sqlx::query("DELETE FROM mayday.entries WHERE id = ANY($1)")
        .bind(gone)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "DELETE FROM mayday.scenarios s
         WHERE NOT EXISTS (SELECT FROM mayday.episodes e WHERE e.scenario = s.key)",
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(count)
}
