//! What a remedy is in the simulation: typed actions, their arguments looked up in what components
//! publish of themselves.

use super::incidents::Situation;
use super::remedies::Deed;
use super::words;
use crate::stage::{Play, Trouble};
use serde_json::{Map, Value, json};

/// Does it, and says how it was answered.
///
/// # Errors
/// Where something outside the simulation fails.
pub(super) async fn carry_out(
    play: &Play,
    situation: &Situation,
    on: &str,
    deed: Deed,
    words: &str,
) -> Result<String, Trouble> {
    let actions = match deed {
        Deed::Plain(action) => vec![json!({"action": action, "component": on})],
        Deed::EndSession(statement) => end_sessions(play, on, &[statement]).await?,
        Deed::EndPids => end_sessions(play, on, &statements(situation, words)).await?,
        Deed::RemoveLogs => {
            let host = host(play, on).await?;
            vec![json!({"action": "free_disk", "host": host, "path": log_folder(on)})]
        }
        Deed::EndWriter => end_writer(play, on).await?,
        Deed::Double => {
            let [wanted] = play.signals(on, ["replicas.wanted"]).await?;
            let replicas = (2.0 * wanted.unwrap_or(1.0)).clamp(2.0, 64.0);
            vec![json!({"action": "scale", "component": on, "replicas": replicas})]
        }
        Deed::FixRecords => fix_records(play, on).await?,
    };
    if actions.is_empty() {
        return Ok("there is nothing of the kind.".into());
    }
    let results = play.turn(actions, 0).await?;
    let told: Vec<_> = results.into_iter().map(|result| result.message).collect();
    Ok(format!("{}.", told.join("; ")))
}

/// Where a component writes its logs.
fn log_folder(on: &str) -> String {
    format!("/var/log/{on}")
}

/// How the statements begin whose process ids a text names; none where it names others as well.
fn statements(situation: &Situation, text: &str) -> Vec<&'static str> {
    let known = |pid: u32| situation.pids.iter().find(|(shown, _)| *shown == pid);
    let named: Option<Vec<_>> = words::numbers(text).map(|pid| known(pid).map(|k| k.1)).collect();
    named.unwrap_or_default()
}

/// Facts that a component or host tells of itself.
async fn facts(play: &Play, on: &str) -> Result<Map<String, Value>, Trouble> {
    let read = play.act(json!({"action": "status", "component": on})).await?;
    match read.data {
        Some(Value::Object(facts)) => Ok(facts),
        _ => Ok(Map::new()),
    }
}

/// Ends the sessions whose statement begins with one of these.
async fn end_sessions(play: &Play, on: &str, statements: &[&str]) -> Result<Vec<Value>, Trouble> {
    let facts = facts(play, on).await?;
    let sessions = facts.iter().filter_map(|(name, said)| {
        let number: u32 = name.strip_prefix("session ")?.parse().ok()?;
        // "active since t-00:02:00: ALTER TABLE …"
        let (_, statement) = said.as_str()?.rsplit_once(": ")?;
        let meant = statements.iter().any(|begin| statement.starts_with(begin));
        meant.then(|| json!({"action": "kill_session", "component": on, "session": number}))
    });
    Ok(sessions.collect())
}

/// The host that a component runs on.
async fn host(play: &Play, on: &str) -> Result<String, Trouble> {
    play.look(|live| {
        let topology = &live.episode.scenario().topology;
        let spec = topology.instance(on).map(|id| &topology.instances[id.at()]);
        let host = spec.and_then(|spec| spec.groups.first()).map(|group| group.host);
        host.map(|host| topology.instances[host.at()].name.clone()).unwrap_or_default()
    })
    .await
}

/// Ends the process that writes into a log of a component.
async fn end_writer(play: &Play, on: &str) -> Result<Vec<Value>, Trouble> {
    let host = host(play, on).await?;
    let facts = facts(play, &host).await?;
    let folder = log_folder(on);
    let writers = facts.iter().filter_map(|(name, command)| {
        let pid: u32 = name.strip_prefix("process ")?.parse().ok()?;
        let mine = command.as_str()?.contains(&folder);
        mine.then(|| json!({"action": "kill_process", "host": host, "pid": pid}))
    });
    Ok(writers.collect())
}

/// Writes the entries anew that the zone lacks.
async fn fix_records(play: &Play, on: &str) -> Result<Vec<Value>, Trouble> {
    let facts = facts(play, on).await?;
    let lacking = facts.iter().filter_map(|(name, said)| {
        let record = name.strip_prefix("record ")?;
        let lost = said.as_str()?.starts_with("no such name");
        lost.then(|| json!({"action": "fix_record", "component": on, "record": record}))
    });
    Ok(lacking.collect())
}
