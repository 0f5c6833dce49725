//! One write inside the writer's transaction. Whatever the rules refuse is refused before the
//! first change, so that the other writes of the transaction stand.

use crate::error::RecordError;
use crate::record::{Entry, Header};
use crate::sqlite::trouble::Trouble;
use crate::sqlite::writer::Task;
use crate::store::{self, Prune, Write, Written};
use model::{Digester, EpisodeId};
use rusqlite::{Connection, OptionalExtension, params};

/// Does `task`.
pub(super) fn apply(db: &Connection, task: &Task) -> Result<Written, Trouble> {
    match task {
        Task::Write(write) => match write {
            Write::Create { header, epoch, session } => {
                create(db, header, *epoch, session.as_deref())
            }
            Write::Append { episode, epoch, entries } => append(db, *episode, *epoch, entries),
            Write::Claim { episode } => claim(db, *episode),
            Write::SetScore { episode, epoch, score, terms } => {
                set_score(db, *episode, *epoch, *score, terms)
            }
            Write::Prune(what) => prune(db, what),
        },
        Task::Bound { bytes } => bound(db, *bytes),
    }
}

/// What is to be known of an episode before it is changed.
struct Row {
    id: i64,
    epoch: u64,
    entries: i64,
    over: bool,
}

fn row(db: &Connection, episode: EpisodeId) -> Result<Row, Trouble> {
    let sql = "SELECT id, epoch, entries, ended IS NOT NULL FROM episodes WHERE episode = ?1";
    let found = db.prepare_cached(sql)?.query_row([episode.to_string()], |row| {
        let epoch: i64 = row.get(1)?;
        Ok(Row { id: row.get(0)?, epoch: epoch as u64, entries: row.get(2)?, over: row.get(3)? })
    });
    found.optional()?.ok_or(Trouble::Refused(RecordError::Unknown { episode }))
}

fn owned(db: &Connection, episode: EpisodeId, epoch: u64) -> Result<Row, Trouble> {
    let row = row(db, episode)?;
    if row.epoch != epoch {
        let owner = row.epoch;
        return Err(RecordError::NotOwner { episode, yours: epoch, owner }.into());
    }
    Ok(row)
}

fn create(
    db: &Connection,
    header: &Header,
    epoch: u64,
    session: Option<&str>,
) -> Result<Written, Trouble> {
    let episode = header.episode;
    match row(db, episode) {
        Ok(_) => return Err(RecordError::Exists { episode }.into()),
        Err(Trouble::Refused(_)) => {}
        Err(trouble) => return Err(trouble),
    }
    let scenario = scenario(db, &header.scenario)?;
    db.prepare_cached(
        "INSERT INTO episodes (episode, format, world, seed, scenario_name, scenario, epoch, session)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        episode.to_string(),
        header.format,
        header.world,
        header.seed.to_string(),
        header.scenario_name,
        scenario,
        epoch as i64,
        session,
    ])?;
    Ok(Written::Done)
}

/// The id of this text, which is added if it is new.
fn scenario(db: &Connection, body: &str) -> Result<i64, Trouble> {
    let digest = Digester::of(body.as_bytes()).to_string();
    let sql = "SELECT id FROM scenarios WHERE digest = ?1 AND body = ?2";
    let known = db.prepare_cached(sql)?.query_row(params![digest, body], |row| row.get(0));
    if let Some(id) = known.optional()? {
        return Ok(id);
    }
    db.prepare_cached("INSERT INTO scenarios (digest, body) VALUES (?1, ?2)")?
        .execute(params![digest, body])?;
    Ok(db.last_insert_rowid())
}

fn append(
    db: &Connection,
    episode: EpisodeId,
    epoch: u64,
    entries: &[Entry],
) -> Result<Written, Trouble> {
    let Row { id, entries: before, over, .. } = owned(db, episode, epoch)?;
    if over {
        return Err(RecordError::Ended { episode }.into());
    }
    let ended = store::end_of(episode, entries)?.map(|reason| reason.word());
    let mut insert =
        db.prepare_cached("INSERT INTO entries (id, position, line) VALUES (?1, ?2, ?3)")?;
    let mut position = before;
    for entry in entries {
        insert.execute(params![id, position, entry.to_line()])?;
        position += 1;
    }
    let steps = entries.iter().filter(|entry| matches!(entry, Entry::Step(_))).count() as i64;
    let tick = entries.last().map(|entry| entry.tick().0);
    db.prepare_cached(
        "UPDATE episodes SET entries = ?2, steps = steps + ?3,
         last_tick = coalesce(?4, last_tick), ended = ?5 WHERE id = ?1",
    )?
    .execute(params![id, position, steps, tick, ended])?;
    Ok(Written::Done)
}

fn claim(db: &Connection, episode: EpisodeId) -> Result<Written, Trouble> {
    let row = row(db, episode)?;
    let epoch = row.epoch + 1;
    db.prepare_cached("UPDATE episodes SET epoch = ?2 WHERE id = ?1")?
        .execute(params![row.id, epoch as i64])?;
    Ok(Written::Epoch(epoch))
}

fn set_score(
    db: &Connection,
    episode: EpisodeId,
    epoch: u64,
    score: f64,
    terms: &str,
) -> Result<Written, Trouble> {
    let row = owned(db, episode, epoch)?;
    if !score.is_finite() {
        return Err(RecordError::Score { episode }.into());
    }
    db.prepare_cached("UPDATE episodes SET score = ?2, terms = ?3 WHERE id = ?1")?
        .execute(params![row.id, score, terms])?;
    Ok(Written::Done)
}

fn prune(db: &Connection, what: &Prune) -> Result<Written, Trouble> {
    if what.is_idle() {
        return Ok(Written::Pruned(0));
    }
    let ids = what.episodes.as_deref().map(json_list);
    // The newest that may go; with fewer records than are to stay, none may.
    let mut gone = db.prepare_cached(
        "SELECT id FROM episodes
         WHERE (?1 IS NULL OR episode IN (SELECT value FROM json_each(?1)))
           AND (?2 IS NULL OR id <= (SELECT id FROM episodes ORDER BY id DESC LIMIT 1 OFFSET ?2))
           AND (?3 IS NULL OR created_s < unixepoch() - ?3)
           AND (NOT ?4 OR ended IS NOT NULL)",
    )?;
    let gone = gone
        .query_map(params![ids, what.keep_newest, what.older_than_s, what.ended_only], |row| {
            row.get(0)
        })?
        .collect::<Result<Vec<i64>, _>>()?;
    for id in &gone {
        db.prepare_cached("DELETE FROM entries WHERE id = ?1")?.execute([id])?;
        db.prepare_cached("DELETE FROM episodes WHERE id = ?1")?.execute([id])?;
    }
    db.execute("DELETE FROM scenarios WHERE id NOT IN (SELECT scenario FROM episodes)", [])?;
    Ok(Written::Pruned(gone.len() as u64))
}

/// Episodes as a JSON list, which SQL can look into.
pub(super) fn json_list(episodes: &[EpisodeId]) -> String {
    let quoted: Vec<_> = episodes.iter().map(|episode| format!("\"{episode}\"")).collect();
    format!("[{}]", quoted.join(","))
}

fn bound(db: &Connection, bytes: u64) -> Result<Written, Trouble> {
    let page: i64 = db.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    // A page number has 32 bits; SQLite itself does not go below the present size.
    let pages = (bytes / page.max(1) as u64).clamp(1, u64::from(u32::MAX) - 1);
    let sql = format!("PRAGMA max_page_count = {pages}");
    db.query_row(&sql, [], |row| row.get::<_, i64>(0))?;
    Ok(Written::Done)
}
