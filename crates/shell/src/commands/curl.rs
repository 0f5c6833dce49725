//! `curl`, `wget`: one request, over the request plane.

use super::{Command, dig};
use crate::call::{Call, Done, Stop};
use crate::options::Given;
use crate::{show, units};
use model::{InstanceId, Look, Sight, UnitState, WebReply};

pub(crate) const COMMAND: Command = Command {
    names: &["curl", "wget"],
    summary: "Transfer a URL",
    usage: "curl [-fgIikLnsSvX] [-H HEADER] [-m SECONDS] [-o FILE] [-w FORMAT] [-d DATA] URL...",
    misuse: 2,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// A URL in parts.
struct Url {
    secure: bool,
    host: String,
    port: u16,
    path: String,
}

fn parse(text: &str) -> Option<Url> {
    let (secure, rest) = match text.split_once("://") {
        Some(("http", rest)) => (false, rest),
        Some(("https", rest)) => (true, rest),
        Some(_) => return None,
        None => (false, text),
    };
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(at);
    let place = place.rsplit('@').next().unwrap_or(place);
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (place, if secure { 443 } else { 80 }),
    };
    let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
    Some(Url { secure, host: host.into(), port, path })
}

/// Long options of `curl`, and the letters they stand for.
const LONG: &[(&str, char)] = &[
    ("fail", 'f'),
    ("head", 'I'),
    ("include", 'i'),
    ("insecure", 'k'),
    ("location", 'L'),
    ("silent", 's'),
    ("show-error", 'S'),
    ("verbose", 'v'),
    ("request", 'X'),
    ("header", 'H'),
    ("max-time", 'm'),
    ("connect-timeout", 'm'),
    ("output", 'o'),
    ("write-out", 'w'),
    ("data", 'd'),
    ("user-agent", 'A'),
    ("user", 'u'),
];
/// Those of `wget`.
const WGET: &[(&str, char)] =
    &[("quiet", 'q'), ("output-document", 'O'), ("timeout", 'T'), ("tries", 't'), ("spider", 'I')];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let wget = call.name == "wget";
    let given = match wget {
        true => call.options("qO:T:t:Sv", WGET)?,
        false => call.options("fgIikLnsSvX:H:m:o:Ow:d:A:u:b:c:x:e:4", LONG)?,
    };
    if given.operands.is_empty() {
        return call.misuse(if wget { "missing URL" } else { "(2) no URL specified" });
    }
    let mut code = 0;
    for text in given.operands.clone() {
        let Some(url) = parse(&text) else {
            return call.fail(3, "(3) URL using bad/illegal format or missing URL");
        };
        let failed = match fetch(call, &url, given.has('k')).await? {
            Err((failed, message)) => {
                report(call, &given, &format!("({failed}) {message}"));
                write_out(call, given.value('w'), &WebReply::default());
                if wget { 4 } else { failed }
            }
            Ok(reply) => answered(call, &given, &url, &reply).await?,
        };
        code = if failed == 0 { code } else { failed };
    }
    Ok(code)
}

/// Says what went wrong, unless it is to be silent about it.
fn report(call: &mut Call<'_, '_>, given: &Given, message: &str) {
    if !given.has('s') && !given.has('q') || given.has('S') {
        call.complain(message);
    }
}

/// Shows a reply; its exit code.
async fn answered(call: &mut Call<'_, '_>, given: &Given, url: &Url, reply: &WebReply) -> Done {
    let over = given.value('m').and_then(|m| m.parse::<f64>().ok());
    if reply.status == 0 || over.is_some_and(|m| reply.latency_s > m) {
        let waited = over.unwrap_or(reply.latency_s) * 1000.0;
        let message =
            format!("(28) Operation timed out after {waited:.0} milliseconds with 0 bytes received");
        report(call, given, &message);
        write_out(call, given.value('w'), &WebReply::default());
        return Ok(28);
    }
    let bad = reply.status >= 400;
    if given.has('f') && bad {
        call.complain(format!("(22) The requested URL returned error: {}", reply.status));
    } else {
        body(call, given, url, reply).await?;
    }
    write_out(call, given.value('w'), reply);
    if call.name == "wget" && bad {
        call.warn(format!("ERROR {}: {}.", reply.status, reason(reply.status)));
        return Ok(8);
    }
    Ok(if given.has('f') && bad { 22 } else { 0 })
}

async fn body(
    call: &mut Call<'_, '_>,
    given: &Given,
    url: &Url,
    reply: &WebReply,
) -> Result<(), Stop> {
    let head = format!(
        "HTTP/1.1 {} {}\nContent-Type: text/plain\nContent-Length: {}\n\n",
        reply.status,
        reason(reply.status),
        reply.body.len()
    );
    if given.has('v') {
        let Url { host, port, path, .. } = url;
        call.warn(format!("*   Trying {host}:{port}...\n* Connected\n> GET {path} HTTP/1.1"));
        call.warn(format!("> Host: {host}\n>"));
        call.warn(head.lines().map(|l| format!("< {l}\n")).collect::<String>().trim_end());
    }
    let text = match (given.has('I'), given.has('i')) {
        (true, _) => head,
        (_, true) => head + &reply.body,
        _ => reply.body.clone(),
    };
    let file = given.value('o').or(given.value('O')).filter(|f| *f != "-" && !f.is_empty());
    if let Some(file) = file.map(str::to_string) {
        if let Err(why) = call.shell.save(&file, &text, false).await? {
            return call.fail(23, format!("(23) Failure writing output to {file}: {why}"));
        }
        return Ok(());
    }
    call.put(&text);
    Ok(())
}

fn write_out(call: &mut Call<'_, '_>, format: Option<&str>, reply: &WebReply) {
    let Some(format) = format else { return };
    let text = crate::expand::unescape(format)
        .replace("%{http_code}", &format!("{:03}", reply.status))
        .replace("%{response_code}", &format!("{:03}", reply.status))
        .replace("%{time_total}", &format!("{:.6}", reply.latency_s))
        .replace("%{size_download}", &reply.body.len().to_string());
    call.put(&text);
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        301 | 302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unknown",
    }
}

/// Who answers at a place: the component, another process, or why nobody does.
pub(super) async fn listener(
    call: &mut Call<'_, '_>,
    host: &str,
    port: u16,
) -> Result<Result<Result<InstanceId, String>, (i32, String)>, Stop> {
    let found = dig::resolve(call, host).await?;
    let Some((_, id)) = found.into_iter().next() else {
        return Ok(Err((6, format!("Could not resolve host: {host}"))));
    };
    let site = call.shell.site().await?;
    let refused = || {
        let text = "after 0 ms: Connection refused";
        (7, format!("Failed to connect to {host} port {port} {text}"))
    };
    let Some(member) = site.member(id) else { return Ok(Err(refused())) };
    if member.kind != "host" && member.groups.is_empty() {
        // Somebody else's, somewhere else: its doors are the usual ones.
        return Ok(if matches!(port, 80 | 443) { Ok(Ok(id)) } else { Err(refused()) });
    }
    if member.kind != "host" {
        // A component by its name: its own port is open while any of its processes runs.
        let own = call.shell.session.host;
        let mut hosts: Vec<InstanceId> = member.groups.iter().map(|g| g.host).collect();
        hosts.dedup();
        let mut open = false;
        for one in hosts {
            call.shell.go_to(one);
            let view = call.host().await?;
            let mine = view.units.iter().filter(|u| u.instance == Some(id));
            open |= mine.filter(|u| u.state == UnitState::Active).any(|u| {
                let usual = matches!(port, 80 | 443);
                let bound = view.sockets.iter().any(|s| s.port == u.port && s.pid == u.pid);
                (usual || u.port == port) && bound
            });
        }
        call.shell.go_to(own);
        return Ok(if open { Ok(Ok(id)) } else { Err(refused()) });
    }
    let own = call.shell.session.host;
    call.shell.go_to(id);
    let view = call.host().await;
    call.shell.go_to(own);
    let view = view?;
    let Some(socket) = view.sockets.iter().find(|s| s.port == port) else {
        return Ok(Err(refused()));
    };
    let unit = view.units.iter().find(|u| u.pid == socket.pid && u.pid != 0);
    Ok(Ok(match unit.and_then(|u| u.instance) {
        Some(instance) => Ok(instance),
        None => {
            let process = units::process(&view, socket.pid);
            Err(process.map_or(String::new(), |p| show::comm(&p.command)))
        }
    }))
}

async fn fetch(
    call: &mut Call<'_, '_>,
    url: &Url,
    trusting: bool,
) -> Result<Result<WebReply, (i32, String)>, Stop> {
    let to = match listener(call, &url.host, url.port).await? {
        Err(failed) => return Ok(Err(failed)),
        // Another process holds the port and speaks something else.
        Ok(Err(name)) if name == "sshd" => {
            return Ok(Err((1, "Received HTTP/0.9 when not allowed".into())));
        }
        Ok(Err(name)) => {
            let body = format!("{name}: not found\n");
            return Ok(Ok(WebReply { status: 404, latency_s: 0.001, body }));
        }
        Ok(Ok(to)) => to,
    };
    let checked = url.secure && !trusting;
    if checked && super::openssl::certificate(call, to).await?.as_deref() == Some("expired") {
        return Ok(Err((60, "SSL certificate problem: certificate has expired".into())));
    }
    let look = Look::Request { from: call.shell.session.host, to, path: url.path.clone() };
    match call.shell.look(&look).await? {
        Sight::Reply(reply) => Ok(Ok(reply)),
        _ => Ok(Err((52, "Empty reply from server".into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_parts() {
        for (text, expected) in [
            ("localhost", Some((false, "localhost", 80, "/"))),
            ("https://shop/checkout?x=1", Some((true, "shop", 443, "/checkout?x=1"))),
            ("http://127.0.0.1:8080/health", Some((false, "127.0.0.1", 8080, "/health"))),
            ("ftp://x", None),
            ("http://x:port/", None),
        ] {
            let url = parse(text);
            let parts = url.as_ref().map(|u| (u.secure, u.host.as_str(), u.port, u.path.as_str()));
            assert_eq!(parts, expected, "{text}");
        }
    }
}
