//! `openssl x509`, `openssl s_client`: certificates.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::clock::Date;
use crate::tree::Node;
use model::{Face, FileContent, InstanceId, Query};

pub(crate) const COMMAND: Command = Command {
    names: &["openssl"],
    summary: "Show certificates",
    usage: "openssl x509 [-noout] [-dates] [-enddate] [-subject] [-issuer] \
         [-text] [-checkend N] [-in FILE] | openssl s_client -connect \
         HOST:PORT",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// `valid` or `expired`; `None`: the component has no certificate.
pub(super) async fn certificate(
    call: &mut Call<'_, '_>,
    of: InstanceId,
) -> Result<Option<String>, Stop> {
    let facts = call.shell.facts(of, Query::Status).await?;
    Ok(facts.into_iter().find(|(name, _)| name == "certificate").map(|(_, text)| text))
}

async fn run(call: &mut Call<'_, '_>) -> Done {
    let mut args = call.args.clone().into_iter();
    match args.next().as_deref() {
        Some("x509") => x509(call, args.collect()).await,
        Some("s_client") => s_client(call, args.collect()).await,
        Some("version") => {
            call.say("OpenSSL 3.0.11 19 Sep 2023 (Library: OpenSSL 3.0.11 19 Sep 2023)");
            Ok(0)
        }
        Some(other) => {
            let text = format!("Invalid command '{other}'; type \"help\" for a list.");
            call.warn(text);
            Ok(1)
        }
        None => call.misuse(""),
    }
}

async fn x509(call: &mut Call<'_, '_>, args: Vec<String>) -> Done {
    let (mut file, mut shown, mut check, mut noout) = (None, Vec::new(), None, false);
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-in" => file = args.next(),
            "-noout" => noout = true,
            "-checkend" => check = args.next().and_then(|n| n.parse::<i64>().ok()).or(Some(0)),
            "-dates" | "-enddate" | "-startdate" | "-subject" | "-issuer" | "-text" | "-serial" => {
                shown.push(arg);
            }
            "-inform" | "-outform" | "-nameopt" => drop(args.next()),
            _ => {
                call.warn(format!("x509: Unknown option: {arg}\nx509: Use -help for summary."));
                return Ok(1);
            }
        }
    }
    let (name, text) = shown_certificate(call, file).await?;
    let host = call.host().await?;
    let expired = text.starts_with("expired");
    let end = host.now.plus(if expired { -7200 } else { 89 * 86_400 });
    let stamp = |tick: model::Tick| {
        let d = Date::at(tick);
        format!("{} {:2} {} {} GMT", d.month_name(), d.day, d.time(), d.year)
    };
    for option in shown {
        match option.as_str() {
            "-subject" => call.say(format!("subject=CN = {name}")),
            "-issuer" => call.say("issuer=C = US, O = Let's Encrypt, CN = R3"),
            "-serial" => call.say("serial=04A1"),
            "-enddate" => call.say(format!("notAfter={}", stamp(end))),
            "-startdate" => call.say(format!("notBefore={}", stamp(end.plus(-90 * 86_400)))),
            "-dates" => {
                call.say(format!("notBefore={}", stamp(end.plus(-90 * 86_400))));
                call.say(format!("notAfter={}", stamp(end)));
            }
            _ => call.say(format!(
                "Certificate:\n    Data:\n        Issuer: C = US, O = Let's \
                     Encrypt, CN = R3\n        Validity\n            Not Before: \
                     {}\n            Not After : {}\n        Subject: CN = {name}",
                stamp(end.plus(-90 * 86_400)),
                stamp(end)
            )),
        }
    }
    if let Some(seconds) = check {
        let ends = host.now.plus(seconds.clamp(0, 1 << 40)) >= end;
        call.say(if ends { "Certificate will expire" } else { "Certificate will not expire" });
        return Ok(i32::from(ends));
    }
    if !noout {
        call.say(format!("-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----"));
    }
    Ok(0)
}

/// Whose certificate a file or standard input shows, and whether it is valid: from a file it is
/// the view's component, from a pipe what `s_client` printed.
async fn shown_certificate(
    call: &mut Call<'_, '_>,
    file: Option<String>,
) -> Result<(String, String), Stop> {
    let Some(name) = file else {
        let input = call.stdin();
        let of = |key: &str| input.lines().find_map(|l| l.strip_prefix(key)).map(str::to_string);
        let expired = of("verify error:num=10").is_some();
        return match of("subject=CN = ") {
            Some(name) => Ok((name, if expired { "expired" } else { "valid" }.into())),
            None => unreadable(call, "<stdin>"),
        };
    };
    let path = call.path(&name);
    let tree = call.tree().await?;
    let instance = match tree.at(&path) {
        Node::Missing => {
            call.warn(format!("Can't open \"{name}\" for reading, No such file or directory"));
            return Err(Stop::Exit(1));
        }
        Node::File(f) => match f.content {
            FileContent::View { instance, face: Face::Certificate, .. } => instance,
            _ => return unreadable(call, &name),
        },
        _ => return unreadable(call, &name),
    };
    let site = call.shell.site().await?;
    let owner = site.member(instance).map_or(String::new(), |m| m.name.clone());
    Ok((owner, certificate(call, instance).await?.unwrap_or("valid".into())))
}

fn unreadable<T>(call: &mut Call<'_, '_>, name: &str) -> Result<T, Stop> {
    call.warn(format!("Could not read certificate from {name}"));
    call.warn("Unable to load certificate");
    Err(Stop::Exit(1))
}

async fn s_client(call: &mut Call<'_, '_>, args: Vec<String>) -> Done {
    let mut place = None;
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-connect" => place = args.next(),
            "-servername" | "-CAfile" | "-showcerts_count" => drop(args.next()),
            "-showcerts" | "-brief" | "-quiet" | "-tls1_2" | "-tls1_3" => {}
            _ if arg.starts_with('-') => {
                call.warn(format!("s_client: Unknown option: {arg}\ns_client: Use -help for summary."));
                return Ok(1);
            }
            _ => place = Some(arg),
        }
    }
    let place = place.unwrap_or("localhost:443".into());
    let (name, port) = place.rsplit_once(':').unwrap_or((&place, "443"));
    let Ok(port) = port.parse::<u16>() else {
        call.warn(format!("s_client: invalid port in {place}"));
        return Ok(1);
    };
    let component = match super::curl::listener(call, name, port).await? {
        Ok(Ok(component)) => component,
        Ok(Err(_)) => {
            call.say("CONNECTED(00000003)");
            call.warn("error:0A00010B:SSL routines:ssl3_get_record:wrong version number");
            return Ok(1);
        }
        Err((_, reason)) => {
            call.warn(format!("connect:errno=111\n{reason}"));
            return Ok(1);
        }
    };
    let site = call.shell.site().await?;
    let owner = site.member(component).map_or(String::new(), |m| m.name.clone());
    let Some(text) = certificate(call, component).await? else {
        call.say("CONNECTED(00000003)");
        call.warn("error:0A00010B:SSL routines:ssl3_get_record:wrong version number");
        return Ok(1);
    };
    call.say("CONNECTED(00000003)");
    let expired = text.starts_with("expired");
    if expired {
        call.say("verify error:num=10:certificate has expired");
    }
    call.say(format!("---\nCertificate chain\n 0 s:CN = {owner}\n   i:C = US, O = Let's \
         Encrypt, CN = R3\n---"));
    call.say(format!("Server certificate\n-----BEGIN CERTIFICATE-----\n{owner}\n-----END \
         CERTIFICATE-----"));
    call.say(format!("subject=CN = {owner}\nissuer=C = US, O = Let's Encrypt, CN = R3\n---"));
    let verdict = if expired { "10 (certificate has expired)" } else { "0 (ok)" };
    call.say(format!("    Verify return code: {verdict}\n---"));
    Ok(0)
}
