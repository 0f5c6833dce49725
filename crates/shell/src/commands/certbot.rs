//! `certbot`: certificates of this host, shown and renewed.

use super::{Command, openssl};
use crate::call::{Call, Done, Stop};
use model::{Face, FileContent, InstanceId};

pub(crate) const COMMAND: Command = Command {
    names: &["certbot", "letsencrypt"],
    summary: "Obtain, renew and show certificates",
    usage: "certbot certificates|renew [--cert-name NAME] [--force-renewal] [--dry-run] [-nq]",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
    ("cert-name", 'c'),
    ("domain", 'd'),
    ("force-renewal", 'f'),
    ("force-renew", 'f'),
    ("dry-run", 'D'),
    ("non-interactive", 'n'),
    ("quiet", 'q'),
];

/// A certificate that lies on this host.
struct Kept {
    of: InstanceId,
    name: String,
    path: String,
    expired: bool,
}

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("c:d:fDnq", LONG)?;
    let verb = given.first().unwrap_or_default().to_string();
    if !matches!(verb.as_str(), "certificates" | "renew") {
        return match verb.as_str() {
            "" => call.misuse(""),
            other => call.misuse(format!("error: unrecognized arguments: {other}")),
        };
    }
    if !call.shell.is_root() {
        return call.fail(1, "The following error was encountered: Permission denied");
    }
    let wanted = given.value('c').or(given.value('d')).map(str::to_string);
    let mut all = kept(call).await?;
    all.retain(|one| wanted.as_ref().is_none_or(|name| *name == one.name));
    if all.is_empty() {
        call.say("No certificates found.");
        return Ok(i32::from(wanted.is_some()));
    }
    for one in all {
        let Kept { of, name, path, expired } = one;
        if verb == "certificates" {
            let state = if expired { "INVALID: EXPIRED" } else { "VALID: 89 days" };
            call.say(format!("  Certificate Name: {name}\n    Domains: {name}"));
            call.say(format!("    Expiry: {state}\n    Certificate Path: {path}"));
            continue;
        }
        if given.has('D') {
            call.say(format!("Simulating renewal of an existing certificate for {name}"));
            continue;
        }
        if !expired && !given.has('f') {
            call.say(format!("Certificate not yet due for renewal: {path}"));
            continue;
        }
        if let Err(reason) = call.order_to(of, "renew_certificate", &[]).await? {
            return call.fail(1, format!("Failed to renew certificate {name}: {reason}"));
        }
        call.say(format!("Renewing an existing certificate for {name}\n  {path} (success)"));
    }
    Ok(0)
}

/// Certificates whose files are here.
async fn kept(call: &mut Call<'_, '_>) -> Result<Vec<Kept>, Stop> {
    let host = call.host().await?;
    let site = call.shell.site().await?;
    let mut all = Vec::new();
    for file in host.files.iter().filter(|f| !f.deleted) {
        let FileContent::View { instance: of, face: Face::Certificate, .. } = file.content else {
            continue;
        };
        let Some(state) = openssl::certificate(call, of).await? else { continue };
        let name = site.member(of).map_or(String::new(), |m| m.name.clone());
        let path = file.path.clone();
        all.push(Kept { of, name, path, expired: state.starts_with("expired") });
    }
    Ok(all)
}
