//! Reading records back, and listing them.

use crate::column;
use crate::error::RecordError;
use crate::record::{Entry, FORMAT, Header, Record};
use crate::sqlite::apply::json_list;
use crate::sqlite::trouble::Trouble;
use crate::store::{Filter, Summary};
use model::{EpisodeId, Tick};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// The record of an episode.
pub(super) fn load(db: &Connection, episode: EpisodeId) -> Result<Record, Trouble> {
    let sql = "SELECT e.id, e.format, e.world, e.seed, e.scenario_name, s.body
               FROM episodes e JOIN scenarios s ON s.id = e.scenario WHERE e.episode = ?1";
    let found = db.prepare_cached(sql)?.query_row([episode.to_string()], |row| {
        let seed: String = row.get(3)?;
        Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, seed, row.get(4)?, row.get(5)?))
    });
    let Some((id, format, world, seed, scenario_name, scenario)) = found.optional()? else {
        return Err(RecordError::Unknown { episode }.into());
    };
    if format != FORMAT {
        return Err(RecordError::OtherFormat { theirs: format, ours: FORMAT }.into());
    }
    let seed = column::seed(&seed).map_err(Trouble::Damaged)?;
    let header = Header { format, world, episode, seed, scenario_name, scenario };
    let mut entries = Vec::new();
    let sql = "SELECT position, line FROM entries WHERE id = ?1 ORDER BY position";
    let mut lines = db.prepare_cached(sql)?;
    let mut rows = lines.query([id])?;
    while let Some(row) = rows.next()? {
        let at: i64 = row.get(0)?;
        if at != entries.len() as i64 {
            let problem = format!("entry {} of episode {episode} is missing", entries.len() + 1);
            return Err(Trouble::Damaged(problem));
        }
        let line = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let entry = Entry::from_line(line.as_bytes(), entries.len() + 2);
        entries
            .push(entry.map_err(|error| Trouble::Damaged(format!("episode {episode}, {error}")))?);
    }
    Ok(Record { header, entries })
}

/// The epoch that owns an episode.
pub(super) fn owner(db: &Connection, episode: EpisodeId) -> Result<u64, Trouble> {
    let sql = "SELECT epoch FROM episodes WHERE episode = ?1";
    let found = db.prepare_cached(sql)?.query_row([episode.to_string()], |row| row.get(0));
    let epoch: Option<i64> = found.optional()?;
    epoch.map(|epoch| epoch as u64).ok_or(Trouble::Refused(RecordError::Unknown { episode }))
}

/// The newest episode of a session.
pub(super) fn of_session(db: &Connection, session: &str) -> Result<Option<EpisodeId>, Trouble> {
    let sql = "SELECT episode FROM episodes WHERE session = ?1 ORDER BY id DESC LIMIT 1";
    let found = db.prepare_cached(sql)?.query_row([session], |row| row.get(0)).optional()?;
    let parsed = |text: String| column::episode(&text).map_err(Trouble::Damaged);
    found.map(parsed).transpose()
}

/// The records that meet `filter`, newest first.
pub(super) fn list(db: &Connection, filter: &Filter) -> Result<Vec<Summary>, Trouble> {
    let ids = (!filter.episodes.is_empty()).then(|| json_list(&filter.episodes));
    let mut query = db.prepare_cached(
        "SELECT episode, scenario_name, seed, steps, last_tick, ended, score, terms, created_s
         FROM episodes
         WHERE (?1 IS NULL OR episode IN (SELECT value FROM json_each(?1)))
           AND (?2 IS NULL OR scenario_name = ?2)
           AND (?3 IS NULL OR (ended IS NOT NULL) = ?3)
         ORDER BY id DESC LIMIT coalesce(?4, -1)",
    )?;
    let mut rows = query.query(params![ids, filter.scenario_name, filter.ended, filter.newest])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(summary(row)?);
    }
    Ok(found)
}

fn summary(row: &Row<'_>) -> Result<Summary, Trouble> {
    let episode: String = row.get(0)?;
    let ended: Option<String> = row.get(5)?;
    Ok(Summary {
        episode: column::episode(&episode).map_err(Trouble::Damaged)?,
        scenario_name: row.get(1)?,
        seed: column::seed(&row.get::<_, String>(2)?).map_err(Trouble::Damaged)?,
        steps: row.get(3)?,
        last_tick: row.get::<_, Option<i64>>(4)?.map(Tick),
        ended: ended.map(|word| column::end(&word)).transpose().map_err(Trouble::Damaged)?,
        score: row.get(6)?,
        terms: row.get(7)?,
        created_s: Some(row.get(8)?),
    })
}
