//! `psql`: statements to a database that its operators use; data of users is not in reach.

use super::{Command, dig};
use crate::call::{Call, Done, Stop};
use crate::clock::Date;
use crate::show;
use model::{InstanceId, Query, Tick, UnitState};

pub(crate) const COMMAND: Command = Command {
    names: &["psql", "pg_isready"],
    summary: "PostgreSQL interactive terminal",
    usage: "psql [-AtxqX] [-h HOST] [-p PORT] [-U USER] [-d DBNAME] -c STATEMENT",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// A session of the database, as its status lists it.
struct Backend {
    number: u32,
    state: String,
    since: i64,
    statement: String,
}

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("host", 'h'),
        ("port", 'p'),
        ("username", 'U'),
        ("dbname", 'd'),
        ("command", 'c'),
        ("tuples-only", 't'),
        ("no-align", 'A'),
        ("expanded", 'x'),
        ("quiet", 'q'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("AtxqXwh:p:U:d:c:f:v:P:", LONG)?;
    let place = given.value('h').map(str::to_string);
    let instance = match database(call, place.as_deref()).await? {
        Ok(instance) => instance,
        Err(reason) => {
            if call.name == "pg_isready" {
                call.say(format!("{} - no response", place.as_deref().unwrap_or("/var/run/postgresql:5432")));
                return Ok(2);
            }
            call.warn(format!("psql: error: {reason}"));
            return Ok(2);
        }
    };
    if call.name == "pg_isready" {
        call.say(format!("{} - accepting connections", place.as_deref().unwrap_or("/var/run/postgresql:5432")));
        return Ok(0);
    }
    let mut statements: Vec<String> = given.values('c').map(String::from).collect();
    if let Some(file) = given.value('f').map(str::to_string) {
        match call.shell.content(&file).await? {
            Ok(text) => statements.push(text),
            Err(reason) => return call.fail(1, format!("error: {file}: {reason}")),
        }
    }
    if statements.is_empty() {
        let text = call.stdin();
        if text.trim().is_empty() {
            call.warn("psql: this terminal has no keyboard; give the statement with -c");
            return Ok(1);
        }
        statements.push(text);
    }
    let bare = given.has('t');
    let single = statements.iter().flat_map(|s| s.split(';')).map(str::trim);
    for statement in single.filter(|s| !s.is_empty()) {
        call.shell.fuel.step()?;
        if let Err(message) = execute(call, instance, statement, bare, given.has('A')).await? {
            call.warn(format!("ERROR:  {message}"));
            return Ok(1);
        }
    }
    Ok(0)
}

/// The database one reaches at a host, or here.
async fn database(
    call: &mut Call<'_, '_>,
    place: Option<&str>,
) -> Result<Result<InstanceId, String>, Stop> {
    let name = place.filter(|p| !p.starts_with('/')).unwrap_or("localhost");
    let site = call.shell.site().await?;
    if let Some((_, id)) = dig::resolve(call, name).await?.into_iter().next() {
        if let Some(member) = site.member(id).filter(|m| m.kind == "db") {
            let answer = super::curl::listener(call, name, 5432).await?;
            let up = answer.is_ok() || super::curl::listener(call, name, 443).await?.is_ok();
            let member = member.id;
            return Ok(match up {
                true => Ok(member),
                false => Err(format!("connection to server at \"{name}\", port 5432 failed: Connection \
                     refused\n\tIs the server running on that host and accepting TCP/IP \
                     connections?")),
            });
        }
        if site.member(id).is_none_or(|m| m.kind != "host") {
            return Ok(Err(format!("connection to server at \"{name}\", port 5432 failed: Connection \
                 refused")));
        }
        let own = call.shell.session.host;
        call.shell.go_to(id);
        let view = call.host().await;
        call.shell.go_to(own);
        let view = view?;
        for unit in view.units.iter().filter(|u| u.state == UnitState::Active) {
            let kind = unit.instance.and_then(|i| site.member(i)).map(|m| (m.kind.as_str(), m.id));
            if let Some(("db", instance)) = kind {
                return Ok(Ok(instance));
            }
        }
        return Ok(Err("connection to server on socket \
             \"/var/run/postgresql/.s.PGSQL.5432\" failed: No such file or \
             directory\n\tIs the server running locally and accepting \
             connections on that socket?".into()));
    }
    Ok(Err(format!("could not translate host name \"{name}\" to address: Name or \
         service not known")))
}

async fn backends(call: &mut Call<'_, '_>, of: InstanceId) -> Result<Vec<Backend>, Stop> {
    let facts = call.shell.facts(of, Query::Status).await?;
    Ok(facts
        .into_iter()
        .filter_map(|(name, text)| {
            let number = name.strip_prefix("session ")?.parse().ok()?;
            let (state, rest) = text.split_once(" since ")?;
            let (since, statement) = rest.split_once(": ")?;
            let (state, since) = (state.to_string(), seconds(since)?);
            Some(Backend { number, state, since, statement: statement.into() })
        })
        .collect())
}

/// `t-00:04:00` in seconds.
fn seconds(text: &str) -> Option<i64> {
    let sign = if text.starts_with("t-") { -1 } else { 1 };
    let parts: Vec<i64> = text.get(2..)?.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    match parts[..] {
        [h, m, s] => Some(sign * (h * 3600 + m * 60 + s)),
        _ => None,
    }
}

async fn execute(
    call: &mut Call<'_, '_>,
    of: InstanceId,
    statement: &str,
    bare: bool,
    plain: bool,
) -> Result<Result<(), String>, Stop> {
    let lower = statement.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    for verb in ["pg_terminate_backend", "pg_cancel_backend"] {
        if lower.starts_with("select") && lower.contains(&format!("{verb}(")) {
            return terminate(call, of, &lower, verb, bare, plain).await;
        }
    }
    let setting = [words.get(1).copied().unwrap_or_default()];
    let (names, rows): (&[&str], Vec<Vec<String>>) = match words[..] {
        ["select", ..] if lower.contains("pg_stat_activity") => {
            activity(call, of, lower.contains("count(")).await?
        }
        ["select", ..] if lower.contains("pg_locks") => {
            let all = backends(call, of).await?.into_iter();
            let row = |b: Backend| {
                let fixed = ["relation", &b.number.to_string(), "AccessExclusiveLock", "t"];
                fixed.into_iter().map(String::from).chain([b.statement.clone()]).collect()
            };
            (&["locktype", "pid", "mode", "granted", "query"], all.map(row).collect())
        }
        ["select", ..] if lower.contains("pg_stat_replication") || lower.contains("replay_lag") => {
            let facts = call.shell.facts(of, Query::Status).await?;
            let found = facts.into_iter().find(|(k, _)| k == "replica");
            let lag = found.map_or("0.0 s behind".into(), |(_, lag)| lag);
            let row = vec!["replica".into(), "streaming".into(), lag];
            (&["application_name", "state", "replay_lag"], vec![row])
        }
        ["select", "1"] => (&["?column?"], vec![vec!["1".into()]]),
        ["select", "version()"] => {
            (&["version"], vec![vec!["PostgreSQL 14.10 on x86_64-pc-linux-gnu".into()]])
        }
        ["select", "now()"] => {
            let date = call.shell.date().await?;
            (&["now"], vec![vec![format!("{} {}+00", date.iso(), date.time())]])
        }
        ["show", name] => match settings(call, of, name).await? {
            rows if rows.is_empty() => {
                return Ok(Err(format!("unrecognized configuration parameter \"{name}\"")));
            }
            rows => (if name == "all" { &["name", "setting"] } else { &setting }, rows),
        },
        ["select", ..]
            if lower.contains("pg_stat_statements") || lower.contains("pg_stat_user_tables") =>
        {
            (&["relname", "plan"], scans(call, of).await?)
        }
        ["create", ..] if words.contains(&"index") => return create_index(call, of, &lower).await,
        [] | ["\\q", ..] => return Ok(Ok(())),
        [first, ..] => {
            let near = statement.split_whitespace().next().unwrap_or(first);
            return Ok(Err(format!(
                "this terminal does not run statements such as \"{near}\"; it has \
                 pg_stat_activity, pg_locks, pg_stat_replication, pg_stat_statements, \
                 pg_terminate_backend, pg_cancel_backend, CREATE INDEX and SHOW"
            )));
        }
    };
    table(call, names, rows, bare, plain);
    Ok(Ok(()))
}

type Rows = (&'static [&'static str], Vec<Vec<String>>);

async fn activity(call: &mut Call<'_, '_>, of: InstanceId, count: bool) -> Result<Rows, Stop> {
    let all = backends(call, of).await?;
    if count {
        return Ok((&["count"], vec![vec![all.len().to_string()]]));
    }
    let now = call.host().await?.now;
    let row = |b: Backend| {
        let (start, s) = (Date::at(Tick(b.since)), now.0 - b.since);
        let start = format!("{} {}", start.iso(), start.time());
        let duration = format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
        vec![b.number.to_string(), "app".into(), b.state, start, duration, b.statement]
    };
    let names = &["pid", "usename", "state", "query_start", "duration", "query"];
    Ok((names, all.into_iter().map(row).collect()))
}

async fn create_index(
    call: &mut Call<'_, '_>,
    of: InstanceId,
    lower: &str,
) -> Result<Result<(), String>, Stop> {
    let Some(table) = indexed(lower) else {
        return Ok(Err("syntax error: an index is created ON a table (COLUMN)".into()));
    };
    let told = call.order_to(of, "create_index", &[("table", table.into())]).await?;
    if told.is_ok() {
        call.say("CREATE INDEX");
    }
    Ok(told)
}

/// The table of a `CREATE INDEX`, as written in lower case.
fn indexed(lower: &str) -> Option<&str> {
    let (before, rest) = lower.split_once(" on ")?;
    before.split_whitespace().any(|word| word == "index").then_some(())?;
    let rest = rest.trim_start().trim_start_matches("only ").trim_start();
    let end = rest.find(|c: char| c == '(' || c.is_whitespace())?;
    let columns = rest[end..].split_once('(')?.1;
    columns.contains(')').then_some(())?;
    let table = rest[..end].trim_matches('"');
    let table = table.strip_prefix("public.").unwrap_or(table).trim_matches('"');
    (!table.is_empty()).then_some(table)
}

/// Tables that statements read as a whole.
async fn scans(call: &mut Call<'_, '_>, of: InstanceId) -> Result<Vec<Vec<String>>, Stop> {
    let facts = call.shell.facts(of, Query::Status).await?;
    let row = |(name, plan): (String, String)| {
        Some(vec![name.strip_prefix("statements on ")?.to_string(), plan])
    };
    Ok(facts.into_iter().filter_map(row).collect())
}

/// One setting, or all with their names; none: there is no such setting.
async fn settings(
    call: &mut Call<'_, '_>,
    of: InstanceId,
    name: &str,
) -> Result<Vec<Vec<String>>, Stop> {
    let facts = call.shell.facts(of, Query::Config).await?;
    let facts = facts.into_iter().map(|(key, value)| (key.replace(' ', "_"), value));
    Ok(match name {
        "all" => facts.map(|(key, value)| vec![key, value]).collect(),
        _ => facts.filter(|(key, _)| key == name).map(|(_, value)| vec![value]).collect(),
    })
}

async fn terminate(
    call: &mut Call<'_, '_>,
    of: InstanceId,
    lower: &str,
    verb: &'static str,
    bare: bool,
    plain: bool,
) -> Result<Result<(), String>, Stop> {
    let inside = lower.split(&format!("{verb}(")).nth(1).and_then(|t| t.split(')').next());
    let all = backends(call, of).await?;
    let wanted: Vec<u32> = match inside.map(str::trim) {
        Some("pid") => all.iter().filter(|b| selects(lower, b)).map(|b| b.number).collect(),
        Some(number) => match number.parse() {
            Ok(number) => vec![number],
            Err(_) => return Ok(Err(format!("function {verb}({number}) does not exist"))),
        },
        None => return Ok(Err("syntax error at end of input".into())),
    };
    let mut rows = Vec::new();
    for number in wanted {
        let there = all.iter().any(|b| b.number == number);
        if there {
            let told = call.order_to(of, "kill_session", &[("session", f64::from(number).into())]).await?;
            if let Err(reason) = told {
                return Ok(Err(reason));
            }
        } else {
            call.warn(format!("WARNING:  PID {number} is not a PostgreSQL backend process"));
        }
        rows.push(vec![if there { "t" } else { "f" }.to_string()]);
    }
    table(call, &[verb], rows, bare, plain);
    Ok(Ok(()))
}

/// Whether a condition over pg_stat_activity holds for a session: those on state, pid and text.
fn selects(lower: &str, backend: &Backend) -> bool {
    let Some((_, condition)) = lower.split_once(" where ") else { return true };
    condition.split(" and ").all(|part| {
        let part = part.trim();
        let value = part.split('\'').nth(1).unwrap_or_default();
        if part.starts_with("state") {
            return (backend.state == value) != part.contains("!=");
        }
        if part.starts_with("query") {
            let bare = value.trim_matches('%');
            return backend.statement.to_lowercase().contains(bare) != part.contains("not ");
        }
        if let Some(number) = part.strip_prefix("pid") {
            let other = number.contains("<>") || number.contains("!=");
            let number = number.trim_start_matches([' ', '=', '<', '>', '!']);
            return match number.parse::<u32>() {
                Ok(number) => (backend.number == number) != other,
                Err(_) => other,
            };
        }
        true
    })
}

fn table(call: &mut Call<'_, '_>, names: &[&str], rows: Vec<Vec<String>>, bare: bool, plain: bool) {
    let count = rows.len();
    if plain {
        for row in rows {
            call.say(row.join("|"));
        }
        return;
    }
    let mut all: Vec<Vec<String>> = Vec::new();
    if !bare {
        all.push(names.iter().map(ToString::to_string).collect());
    }
    all.extend(rows);
    let text = show::table(&all, &[], " | ");
    for (at, line) in text.lines().enumerate() {
        call.say(format!(" {line}"));
        if at == 0 && !bare {
            let width = text.lines().map(str::len).max().unwrap_or(1) + 2;
            call.say("-".repeat(width.min(200)));
        }
    }
    if !bare {
        let noun = if count == 1 { "row" } else { "rows" };
        call.say(format!("({count} {noun})\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_on_a_table() {
        for (statement, table) in [
            ("create index on orders (user_id)", Some("orders")),
            ("create unique index concurrently i on only public.\"orders\" using btree (a, b)", Some("orders")),
            ("create index i on orders(a)", Some("orders")),
            ("create index i on orders", None),
            ("create table on orders (a)", None),
            ("create index i", None),
        ] {
            assert_eq!(indexed(statement), table, "{statement}");
        }
    }

    #[test]
    fn conditions_choose_sessions() {
        let backend =
            Backend { number: 7, state: "active".into(), since: 0, statement: "ALTER TABLE x".into() };
        for (condition, expected) in [
            ("select x from pg_stat_activity", true),
            ("select x where state = 'active'", true),
            ("select x where state = 'idle'", false),
            ("select x where query like '%alter%' and state != 'idle'", true),
            ("select x where pid = 8", false),
            ("select x where pid <> pg_backend_pid()", true),
        ] {
            assert_eq!(selects(condition, &backend), expected, "{condition}");
        }
        assert_eq!(seconds("t-00:04:10"), Some(-250));
    }
}
