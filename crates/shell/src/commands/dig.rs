//! `dig`, `nslookup`, `host`, `getent`: addresses of names.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::interpreter::Halt;
pub(super) use model::address;
use model::{InstanceId, Located, Look, Sight};

pub(crate) const COMMAND: Command = Command {
    names: &["dig", "nslookup", "host", "getent"],
    summary: "Look up names",
    usage: "dig [@SERVER] [+short] NAME [TYPE]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// What a name stands for from here: addresses with their owners; none: it does not exist.
pub(super) async fn resolve(
    call: &mut Call<'_, '_>,
    name: &str,
) -> Result<Vec<(String, InstanceId)>, Halt> {
    Ok(located(call, name).await?.into_iter().map(|(address, at)| (address, at.owner)).collect())
}

/// The same, with how long whoever asks may keep it.
async fn located(
    call: &mut Call<'_, '_>,
    name: &str,
) -> Result<Vec<(String, Located)>, Halt> {
    let here = |owner: InstanceId| Located { owner, ttl_s: 0.0 };
    let own = call.shell.session.host;
    let host = call.host().await?;
    let name = name.trim_end_matches('.');
    if name == "localhost" || name == host.name {
        let address = if name == "localhost" { "127.0.0.1".into() } else { address(own) };
        return Ok(vec![(address, here(own))]);
    }
    let site = call.shell.site().await?;
    if name.split('.').count() == 4 && name.split('.').all(|p| p.parse::<u8>().is_ok()) {
        let owner = match name.starts_with("127.") || name == "0.0.0.0" {
            true => Some(own),
            false => site.members.iter().map(|m| m.id).find(|id| address(*id) == name),
        };
        return Ok(owner.map(|id| (name.to_string(), here(id))).into_iter().collect());
    }
    let look = Look::Resolve { from: own, name: name.to_string() };
    let Sight::Addresses(found) = call.shell.look(&look).await? else { return Ok(Vec::new()) };
    Ok(found.into_iter().map(|at| (address(at.owner), at)).collect())
}

/// Types of records.
const TYPES: &[&str] = &["A", "AAAA", "CNAME", "MX", "NS", "SOA", "TXT", "ANY", "SRV"];

/// A question as asked.
struct Asked {
    name: String,
    kind: String,
    server: String,
    short: bool,
}

async fn run(call: &mut Call<'_, '_>) -> Done {
    let asked = asked(call)?;
    let name = &asked.name;
    let found = match asked.kind.as_str() {
        "A" | "ANY" => located(call, name).await?,
        _ => Vec::new(),
    };
    let exists = !found.is_empty() || asked.kind != "A" && !resolve(call, name).await?.is_empty();
    let addresses: Vec<&String> = found.iter().map(|(address, _)| address).collect();
    match call.name.as_str() {
        "getent" => {
            for address in &addresses {
                call.say(format!("{address:<15} {name}"));
            }
            Ok(if exists { 0 } else { 2 })
        }
        "nslookup" => {
            let server = &asked.server;
            call.say(format!("Server:\t\t{server}\nAddress:\t{server}#53\n"));
            if !exists {
                call.say(format!("** server can't find {name}: NXDOMAIN\n"));
                return Ok(1);
            }
            call.say("Non-authoritative answer:");
            for address in &addresses {
                call.say(format!("Name:\t{name}\nAddress: {address}"));
            }
            call.say("");
            Ok(0)
        }
        "host" => {
            if !exists {
                call.say(format!("Host {name} not found: 3(NXDOMAIN)"));
                return Ok(1);
            }
            for address in &addresses {
                call.say(format!("{name} has address {address}"));
            }
            Ok(0)
        }
        _ if asked.short => {
            for address in &addresses {
                call.say(address);
            }
            Ok(0)
        }
        _ => answer(call, &asked, exists, &found).await,
    }
}

fn asked(call: &mut Call<'_, '_>) -> Result<Asked, Stop> {
    let (mut names, mut short, mut server, mut kind) = (Vec::new(), false, None, "A".to_string());
    let mut args = call.args.clone().into_iter();
    if call.name == "getent" {
        match args.next().as_deref() {
            Some("hosts" | "ahosts" | "ahostsv4") => {}
            Some(other) => return call.fail(1, format!("Unknown database: {other}")),
            None => return call.fail(1, "wrong number of arguments"),
        }
    }
    while let Some(arg) = args.next() {
        let upper = arg.to_uppercase();
        match arg.as_str() {
            "+short" => short = true,
            "-t" => kind = args.next().unwrap_or_default().to_uppercase(),
            "-x" => return call.fail(1, "reverse lookups are not supported by this terminal"),
            _ if arg.starts_with('+') => {}
            _ if arg.starts_with('@') => server = Some(arg[1..].to_string()),
            _ if arg.starts_with("-type=") || arg.starts_with("-query=") => {
                kind = arg.split('=').nth(1).unwrap_or_default().to_uppercase();
            }
            _ if arg.starts_with('-') => {
                call.warn(format!("Invalid option: {arg}"));
                return Err(Stop::Exit(1));
            }
            _ if TYPES.contains(&upper.as_str()) => kind = upper,
            _ if names.is_empty() || call.name == "dig" => names.push(arg),
            _ => server = Some(arg),
        }
    }
    let Some(name) = names.into_iter().next() else { return call.misuse("") };
    Ok(Asked { name, kind, server: server.unwrap_or("127.0.0.53".into()), short })
}

/// The whole answer, as `dig` shows it.
async fn answer(
    call: &mut Call<'_, '_>,
    asked: &Asked,
    exists: bool,
    found: &[(String, Located)],
) -> Done {
    let Asked { name, kind, server, .. } = asked;
    let status = if exists { "NOERROR" } else { "NXDOMAIN" };
    call.say(format!("\n; <<>> DiG 9.18.18 <<>> {name} {kind}\n;; global options: +cmd"));
    call.say(";; Got answer:");
    call.say(format!(";; ->>HEADER<<- opcode: QUERY, status: {status}, id: 4711"));
    let count = found.len();
    call.say(format!(
        ";; flags: qr rd ra; QUERY: 1, ANSWER: {count}, AUTHORITY: 0, ADDITIONAL: 1\n"
    ));
    call.say(format!(";; QUESTION SECTION:\n;{name}.\t\t\tIN\t{kind}\n"));
    if !found.is_empty() {
        call.say(";; ANSWER SECTION:");
        for (address, at) in found {
            call.say(format!("{name}.\t\t{:.0}\tIN\tA\t{address}", at.ttl_s.round()));
        }
        call.say("");
    }
    let date = call.shell.date().await?;
    let when = date.format("%a %b %e %T UTC %Y").unwrap_or_default();
    call.say(format!(";; Query time: 1 msec\n;; SERVER: {server}#53({server}) (UDP)"));
    call.say(format!(";; WHEN: {when}"));
    Ok(0)
}
