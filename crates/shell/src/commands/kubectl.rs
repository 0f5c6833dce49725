//! `kubectl`: components as deployments, their replicas as pods.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::clock::Date;
use crate::show;
use model::{Answer, InstanceId, Member, Query, Severity, UnitState, UnitView};

pub(crate) const COMMAND: Command = Command {
    names: &["kubectl", "k"],
    summary: "Control the cluster manager",
    usage: "kubectl get|describe|logs|top|rollout|scale|set|delete [TYPE] [NAME] [flags]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

struct Pod {
    name: String,
    of: Member,
    group: usize,
    unit: Option<UnitView>,
    host: String,
    memory: f64,
    cpu: f64,
}

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("namespace", 'n'),
        ("all-namespaces", 'A'),
        ("output", 'o'),
        ("tail", 't'),
        ("since", 's'),
        ("previous", 'p'),
        ("follow", 'f'),
        ("replicas", 'R'),
        ("selector", 'l'),
        ("container", 'c'),
        ("force", 'F'),
        ("grace-period", 'G'),
        ("to-revision", 'V'),
        ("watch", 'w'),
        ("now", 'N'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("n:Ao:t:s:pfR:l:c:w", LONG)?;
    let mut words: Vec<String> = Vec::new();
    // `deployment/api` is two words.
    for operand in &given.operands {
        match operand.split_once('/') {
            Some((kind, name)) if !kind.contains('=') => words.extend([kind.into(), name.into()]),
            _ => words.push(operand.clone()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["get", kind, ref names @ ..] => get(call, kind, names).await,
        ["describe", kind, name] => describe(call, kind, name).await,
        ["logs", "deployment" | "deploy" | "pod" | "pods", name] | ["logs", name] => {
            let tail = given.value('t').and_then(|t| t.parse().ok()).unwrap_or(200);
            logs(call, name, tail).await
        }
        ["top", kind, ref names @ ..] => top(call, kind, names).await,
        ["rollout", verb, kind, name] => rollout(call, verb, kind, name).await,
        ["scale", kind, name] => match given.value('R').map(str::parse::<u32>) {
            Some(Ok(replicas)) => scale(call, kind, name, replicas).await,
            _ => call.fail(1, "error: required flag(s) \"replicas\" not set"),
        },
        ["set", "env", _, name, ref pairs @ ..] if !pairs.is_empty() => {
            let Some(of) = deployment(call, name).await? else { return Ok(1) };
            order(call, of, "reload_secret", &[], &format!("deployment.apps/{name} env updated")).await
        }
        ["delete", "pod" | "pods" | "po", ref names @ ..] if !names.is_empty() => {
            delete(call, names).await
        }
        ["version" | "cluster-info", ..] => {
            call.say("Client Version: v1.28.4\nServer Version: v1.28.4");
            Ok(0)
        }
        [] => call.misuse(""),
        ["edit" | "exec" | "attach" | "apply" | "port-forward" | "patch" | "drain" | "cordon", ..] => {
            call.warn(format!("error: `kubectl {}` is not supported by this terminal", words[0]));
            Ok(1)
        }
        [verb, ..] if COMMANDS.contains(&verb) => {
            call.warn(format!("error: You must specify what to {verb}.\nSee 'kubectl {verb} -h' \
                 for help and examples"));
            Ok(1)
        }
        [verb, ..] => {
            call.warn(format!("error: unknown command \"{verb}\" for \"kubectl\""));
            Ok(1)
        }
    }
}

const COMMANDS: &[&str] = &["get", "describe", "logs", "top", "rollout", "scale", "set", "delete"];

/// All pods: one per replica group, since replicas of a group are alike.
async fn pods(call: &mut Call<'_, '_>) -> Result<Vec<Pod>, Stop> {
    let site = call.shell.site().await?;
    let own = call.shell.session.host;
    let mut all = Vec::new();
    for host in site.members.iter().filter(|m| m.kind == "host") {
        call.shell.go_to(host.id);
        let view = call.host().await?;
        for member in &site.members {
            for (at, group) in member.groups.iter().enumerate().filter(|(_, g)| g.host == host.id) {
                let mine = |u: &&UnitView| {
                    u.instance == Some(member.id) && usize::from(u.group) == at
                };
                let unit = view.units.iter().find(mine).cloned();
                let pid = unit.as_ref().map(|u| u.pid);
                let process = view.processes.iter().find(|p| Some(p.pid) == pid);
                let number = 0x7d4f + 37 * u32::from(member.id.0) + at as u32;
                all.push(Pod {
                    name: format!("{}-{}-{number:05x}", member.name, group.name),
                    of: member.clone(),
                    group: at,
                    host: host.name.clone(),
                    memory: process.map_or(0.0, |p| p.memory),
                    cpu: process.map_or(0.0, |p| p.cpu_cores),
                    unit,
                });
            }
        }
    }
    call.shell.go_to(own);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

fn state(pod: &Pod) -> (&'static str, &'static str) {
    match pod.unit.as_ref().map(|u| (u.state, u.exits)) {
        Some((UnitState::Active, _)) => ("1/1", "Running"),
        Some((UnitState::Activating, 0)) => ("0/1", "ContainerCreating"),
        Some((UnitState::Activating | UnitState::Failed, _)) => ("0/1", "CrashLoopBackOff"),
        _ => ("0/1", "Terminated"),
    }
}

fn kind_of(text: &str) -> Option<&'static str> {
    match text {
        "pod" | "pods" | "po" => Some("pods"),
        "deployment" | "deployments" | "deploy" | "deployments.apps" => Some("deployments.apps"),
        "service" | "services" | "svc" => Some("services"),
        "node" | "nodes" | "no" => Some("nodes"),
        "event" | "events" | "ev" => Some("events"),
        "all" => Some("all"),
        _ => None,
    }
}

async fn get(call: &mut Call<'_, '_>, kind: &str, names: &[&str]) -> Done {
    let Some(kind) = kind_of(kind) else {
        call.warn(format!("error: the server doesn't have a resource type \"{kind}\""));
        return Ok(1);
    };
    let all = pods(call).await?;
    let site = call.shell.site().await?;
    let now = call.host().await?.now;
    let (title, rows): (&[&str], Vec<Vec<String>>) = match kind {
        "pods" | "all" => (
            &["NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE"],
            all.iter()
                .map(|p| {
                    let (ready, status) = state(p);
                    let exits = p.unit.as_ref().map_or(0, |u| u.exits);
                    let age = p.unit.as_ref().map_or(0, |u| now.since(u.since));
                    let (name, host) = (p.name.clone(), p.host.clone());
                    let (exits, age) = (exits.to_string(), age_text(age));
                    vec![name, ready.into(), status.into(), exits, age, host]
                })
                .collect(),
        ),
        "deployments.apps" => (
            &["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"],
            site.members
                .iter()
                .filter(|m| !m.groups.is_empty())
                .map(|m| {
                    let mine = all.iter().filter(|p| p.of.id == m.id);
                    let mine: Vec<_> = mine.filter_map(|p| p.unit.as_ref()).collect();
                    let up: u32 = mine.iter().map(|u| u.running).sum();
                    let wanted = up.max(mine.len() as u32);
                    vec![m.name.clone(), format!("{up}/{wanted}"), wanted.to_string(), up.to_string(), "45d".into()]
                })
                .collect(),
        ),
        "services" => (
            &["NAME", "TYPE", "CLUSTER-IP", "PORT(S)", "AGE"],
            site.members
                .iter()
                .filter(|m| !m.groups.is_empty())
                .map(|m| {
                    let pod = all.iter().find(|p| p.of.id == m.id);
                    let port = pod.and_then(|p| p.unit.as_ref()).map_or(0, |u| u.port);
                    vec![m.name.clone(), "ClusterIP".into(), super::dig::address(m.id), format!("{port}/TCP"), "45d".into()]
                })
                .collect(),
        ),
        "nodes" => (
            &["NAME", "STATUS", "ROLES", "AGE", "VERSION"],
            site.members
                .iter()
                .filter(|m| m.kind == "host")
                .map(|m| vec![m.name.clone(), "Ready".into(), "<none>".into(), "45d".into(), "v1.28.4".into()])
                .collect(),
        ),
        _ => (&["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"], events(call).await?),
    };
    let key = if kind == "events" { 3 } else { 0 };
    Ok(list(call, kind, names, title, rows, key))
}

/// Shows the rows of these names, or all; `key` is the column of the name.
fn list(
    call: &mut Call<'_, '_>,
    kind: &str,
    names: &[&str],
    title: &[&str],
    rows: Vec<Vec<String>>,
    key: usize,
) -> i32 {
    for name in names {
        if !rows.iter().any(|r| r[key] == *name) {
            call.warn(format!("Error from server (NotFound): {kind} \"{name}\" not found"));
            return 1;
        }
    }
    let mut table: Vec<Vec<String>> = vec![title.iter().map(ToString::to_string).collect()];
    table.extend(rows.into_iter().filter(|r| names.is_empty() || names.contains(&r[key].as_str())));
    if table.len() == 1 {
        call.warn("No resources found in default namespace.");
        return 0;
    }
    call.put(&show::table(&table, &[], "   "));
    0
}

fn age_text(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..120 => format!("{s}s"),
        s @ 120..7200 => format!("{}m", s / 60),
        s @ 7200..172_800 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86_400),
    }
}

/// Changes of the last hour, as events.
async fn events(call: &mut Call<'_, '_>) -> Result<Vec<Vec<String>>, Stop> {
    let site = call.shell.site().await?;
    let now = call.host().await?.now;
    let mut all = Vec::new();
    for member in &site.members {
        let query = Query::Changes { from: now.plus(-3600), to: now };
        if let Answer::Changes(changes) = call.shell.ask(member.id, query).await? {
            all.extend(changes.into_iter().map(|(tick, text)| (tick, member.name.clone(), text)));
        }
    }
    all.sort();
    Ok(all
        .into_iter()
        .map(|(tick, name, text)| vec![age_text(now.since(tick)), "Normal".into(), "Changed".into(), name, text])
        .collect())
}

async fn deployment(call: &mut Call<'_, '_>, name: &str) -> Result<Option<InstanceId>, Stop> {
    let site = call.shell.site().await?;
    match site.find(name).filter(|m| !m.groups.is_empty()) {
        Some(member) => Ok(Some(member.id)),
        None => {
            call.warn(format!("Error from server (NotFound): deployments.apps \"{name}\" not found"));
            Ok(None)
        }
    }
}

async fn order(
    call: &mut Call<'_, '_>,
    of: InstanceId,
    verb: &str,
    args: &[(&str, model::ParamValue)],
    done: &str,
) -> Done {
    match call.order_to(of, verb, args).await? {
        Ok(()) => {
            call.say(done);
            Ok(0)
        }
        Err(reason) => {
            call.warn(format!("Error from server: {reason}"));
            Ok(1)
        }
    }
}

async fn describe(call: &mut Call<'_, '_>, kind: &str, name: &str) -> Done {
    let all = pods(call).await?;
    let pod = all.iter().find(|p| p.name == name);
    let site = call.shell.site().await?;
    let member = match (kind_of(kind), pod) {
        (Some("pods"), Some(pod)) => Some(pod.of.clone()),
        (Some("deployments.apps" | "services" | "nodes"), _) => site.find(name).cloned(),
        (None, _) => {
            call.warn(format!("error: the server doesn't have a resource type \"{kind}\""));
            return Ok(1);
        }
        _ => None,
    };
    let Some(member) = member else {
        let kind = kind_of(kind).unwrap_or_default();
        call.warn(format!("Error from server (NotFound): {kind} \"{name}\" not found"));
        return Ok(1);
    };
    call.say(format!("Name:         {name}\nNamespace:    default\nLabels:       app={}", member.name));
    if let Some(pod) = pod {
        let (ready, status) = state(pod);
        call.say(format!("Node:         {}\nStatus:       {status}\nReady:        {ready}", pod.host));
        if let Some(unit) = pod.unit.as_ref().filter(|u| !u.reason.is_empty()) {
            call.say(format!("Last State:   Terminated\n  Reason:     {}\nRestart Count: {}", unit.reason, unit.exits));
        }
    }
    for (title, query) in [("Status:", Query::Status), ("Config:", Query::Config)] {
        call.say(title);
        for (key, value) in call.shell.facts(member.id, query).await? {
            call.say(format!("  {key}: {value}"));
        }
    }
    call.say("Events:");
    for row in events(call).await?.into_iter().filter(|r| r[3] == member.name) {
        call.say(format!("  {}", row.join("  ")));
    }
    Ok(0)
}

async fn logs(call: &mut Call<'_, '_>, name: &str, tail: i64) -> Done {
    let site = call.shell.site().await?;
    let all = pods(call).await?;
    let of = all.iter().find(|p| p.name == name).map(|p| p.of.id);
    let Some(of) = of.or_else(|| site.find(name).map(|m| m.id)) else {
        call.warn(format!("Error from server (NotFound): pods \"{name}\" not found"));
        return Ok(1);
    };
    let now = call.host().await?.now;
    let limit = if tail < 0 { 2000 } else { tail.min(2000) as u32 };
    let (from, severity, contains) = (now.plus(-3600), Severity::Info, String::new());
    let query = Query::Logs { from, to: now, severity, contains, limit };
    if let Answer::Logs(lines) = call.shell.ask(of, query).await? {
        for line in lines {
            let date = Date::at(line.tick);
            let level = format!("{:?}", line.severity).to_uppercase();
            call.say(format!("{}T{}Z {level} {}", date.iso(), date.time(), line.message));
        }
    }
    Ok(0)
}

async fn top(call: &mut Call<'_, '_>, kind: &str, names: &[&str]) -> Done {
    let mib = |bytes: f64| format!("{:.0}Mi", bytes / 1_048_576.0);
    let mut rows = Vec::new();
    match kind_of(kind) {
        Some("pods") => {
            rows.push(vec!["NAME".to_string(), "CPU(cores)".into(), "MEMORY(bytes)".into()]);
            let wanted = |p: &Pod| names.is_empty() || names.contains(&p.name.as_str());
            for pod in pods(call).await?.into_iter().filter(wanted) {
                rows.push(vec![pod.name, format!("{:.0}m", 1000.0 * pod.cpu), mib(pod.memory)]);
            }
        }
        Some("nodes") => {
            rows.push(["NAME", "CPU(cores)", "CPU%", "MEMORY(bytes)", "MEMORY%"].map(String::from).to_vec());
            let site = call.shell.site().await?;
            let own = call.shell.session.host;
            for host in site.members.iter().filter(|m| m.kind == "host") {
                call.shell.go_to(host.id);
                let v = call.host().await?;
                let share = |part: f64, whole: f64| format!("{:.0}%", 100.0 * part / whole.max(1e-9));
                let cpu = format!("{:.0}m", 1000.0 * v.cpu_used);
                let (busy, full) =
                    (share(v.cpu_used, v.cpu_cores), share(v.memory_used, v.memory));
                rows.push(vec![host.name.clone(), cpu, busy, mib(v.memory_used), full]);
            }
            call.shell.go_to(own);
        }
        _ => {
            call.warn(format!("error: unknown command \"{kind}\""));
            return Ok(1);
        }
    }
    call.put(&show::table(&rows, &[], "   "));
    Ok(0)
}

async fn rollout(call: &mut Call<'_, '_>, verb: &str, kind: &str, name: &str) -> Done {
    if kind_of(kind) != Some("deployments.apps") {
        call.warn(format!("error: no rollbacker has been implemented for \"{kind}\""));
        return Ok(1);
    }
    let Some(of) = deployment(call, name).await? else { return Ok(1) };
    match verb {
        "undo" => order(call, of, "rollback", &[], &format!("deployment.apps/{name} rolled back")).await,
        "restart" => {
            for pod in pods(call).await?.into_iter().filter(|p| p.of.id == of) {
                if let Err(reason) = restart(call, &pod).await? {
                    call.warn(format!("Error from server: {reason}"));
                    return Ok(1);
                }
            }
            call.say(format!("deployment.apps/{name} restarted"));
            Ok(0)
        }
        "status" => {
            let up = pods(call).await?.iter().filter(|p| p.of.id == of).all(|p| state(p).1 == "Running");
            if up {
                call.say(format!("deployment \"{name}\" successfully rolled out"));
            } else {
                call.say(format!("Waiting for deployment \"{name}\" rollout to finish: old replicas \
                     are pending termination..."));
            }
            Ok(i32::from(!up))
        }
        "history" => {
            call.say(format!("deployment.apps/{name}\nREVISION  CHANGE-CAUSE"));
            for (at, row) in events(call).await?.into_iter().filter(|r| r[3] == name).enumerate() {
                call.say(format!("{:<9} {}", at + 1, row[4]));
            }
            Ok(0)
        }
        _ => {
            call.warn(format!("error: unknown command \"{verb}\" for \"kubectl rollout\""));
            Ok(1)
        }
    }
}

async fn scale(call: &mut Call<'_, '_>, kind: &str, name: &str, replicas: u32) -> Done {
    if kind_of(kind) != Some("deployments.apps") {
        call.warn(format!("error: could not find the resource type \"{kind}\" to scale"));
        return Ok(1);
    }
    let Some(of) = deployment(call, name).await? else { return Ok(1) };
    let args = [("replicas", f64::from(replicas).into())];
    order(call, of, "scale", &args, &format!("deployment.apps/{name} scaled")).await
}

/// Its processes end and are started again by the host.
async fn restart(call: &mut Call<'_, '_>, pod: &Pod) -> Result<Result<(), String>, Stop> {
    let Some(group) = pod.of.groups.get(pod.group) else { return Ok(Ok(())) };
    let args = [("instance", pod.of.name.as_str().into()), ("group", group.name.as_str().into())];
    Ok(call.order_to(group.host, "restart_process", &args).await?)
}

async fn delete(call: &mut Call<'_, '_>, names: &[&str]) -> Done {
    let all = pods(call).await?;
    let mut code = 0;
    for name in names {
        let Some(pod) = all.iter().find(|p| p.name == *name) else {
            call.warn(format!("Error from server (NotFound): pods \"{name}\" not found"));
            code = 1;
            continue;
        };
        match restart(call, pod).await? {
            Ok(()) => call.say(format!("pod \"{name}\" deleted")),
            Err(reason) => {
                call.warn(format!("Error from server: {reason}"));
                code = 1;
            }
        }
    }
    Ok(code)
}
