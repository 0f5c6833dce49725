//! `redis-cli`: questions and orders to a cache.

use super::{Command, dig};
use crate::call::{Call, Done, Stop};
use model::{InstanceId, ParamValue, Query};

pub(crate) const COMMAND: Command = Command {
    names: &["redis-cli"],
    summary: "Redis command line client",
    usage: "redis-cli [-h HOST] [-p PORT] PING|INFO|DBSIZE|CONFIG GET|CONFIG SET|FLUSHALL",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.own_options("h:p:a:n:u:", &[("raw", 'R'), ("no-auth-warning", 'N')])?;
    let name = given.value('h').unwrap_or("localhost").to_string();
    let Some(cache) = cache(call, &name).await? else {
        call.warn(format!("Could not connect to Redis at {name}:6379: Connection refused"));
        return Ok(1);
    };
    let words: Vec<String> = given.operands.iter().map(|w| w.to_lowercase()).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            call.warn("redis-cli: this terminal has no keyboard; give the command too");
            Ok(1)
        }
        ["ping"] => {
            call.say("PONG");
            Ok(0)
        }
        ["info", ..] => {
            for (key, value) in call.shell.facts(cache, Query::Status).await? {
                call.say(format!("{}:{value}", key.replace(' ', "_")));
            }
            Ok(0)
        }
        ["config", "get", pattern] => {
            let matcher = crate::expand::glob(pattern);
            for (key, value) in call.shell.facts(cache, Query::Config).await? {
                let key = key.replace(' ', "_");
                if matcher.is_match(&key) {
                    call.say(format!("1) \"{key}\"\n2) \"{value}\""));
                }
            }
            Ok(0)
        }
        ["dbsize"] => {
            let facts = call.shell.facts(cache, Query::Status).await?;
            let entries = facts.iter().find(|(key, _)| key == "entries").map(|(_, value)| value);
            call.say(format!("(integer) {}", entries.map_or("0", String::as_str)));
            Ok(0)
        }
        ["config", "set", "maxmemory", size] => {
            let Some(bytes) = bytes(size) else {
                call.say("(error) ERR CONFIG SET failed - argument must be a memory value");
                return Ok(1);
            };
            order(call, cache, "set_cache", &[("max_memory", bytes.into())]).await
        }
        ["flushall" | "flushdb", ..] => order(call, cache, "flush", &[]).await,
        _ => {
            let shown = given.operands.first().cloned().unwrap_or_default();
            call.say(format!("(error) ERR unknown command '{shown}', this terminal has PING, \
                 INFO, DBSIZE, CONFIG GET, CONFIG SET maxmemory and FLUSHALL"));
            Ok(1)
        }
    }
}

async fn order(
    call: &mut Call<'_, '_>,
    cache: InstanceId,
    verb: &str,
    args: &[(&str, ParamValue)],
) -> Done {
    match call.order_to(cache, verb, args).await? {
        Ok(()) => {
            call.say("OK");
            Ok(0)
        }
        Err(reason) => {
            call.say(format!("(error) ERR {reason}"));
            Ok(1)
        }
    }
}

/// A size as the program writes it: bytes, or with a unit of 1,024 (`mb`) or 1,000 (`m`).
fn bytes(text: &str) -> Option<f64> {
    let units = [
        ("gb", 1_073_741_824.0),
        ("mb", 1_048_576.0),
        ("kb", 1024.0),
        ("g", 1e9),
        ("m", 1e6),
        ("k", 1e3),
        ("", 1.0),
    ];
    let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: u32 = text[..text.len() - unit.len()].parse().ok()?;
    Some(f64::from(number) * factor)
}

async fn cache(call: &mut Call<'_, '_>, name: &str) -> Result<Option<InstanceId>, Stop> {
    let site = call.shell.site().await?;
    let Some((_, id)) = dig::resolve(call, name).await?.into_iter().next() else { return Ok(None) };
    if let Some(member) = site.member(id).filter(|m| m.kind == "cache") {
        let id = member.id;
        return Ok(super::curl::listener(call, name, 6379).await?.is_ok().then_some(id));
    }
    if site.member(id).is_none_or(|m| m.kind != "host") {
        return Ok(None);
    }
    let own = call.shell.session.host;
    call.shell.go_to(id);
    let view = call.host().await;
    call.shell.go_to(own);
    let view = view?;
    let running = view.units.iter().filter(|u| u.pid != 0).filter_map(|u| u.instance);
    Ok(running.filter_map(|i| site.member(i)).find(|m| m.kind == "cache").map(|m| m.id))
}
