//! `chronyc`, `ntpdate`, `timedatectl`: the clock against the time servers.

use super::Command;
use crate::call::{Call, Done};
use crate::units;
use model::UnitState;

pub(crate) const COMMAND: Command = Command {
    names: &["chronyc", "ntpdate", "timedatectl"],
    summary: "Command-line interface for the chrony daemon",
    usage: "chronyc [-na] tracking|sources|sourcestats|makestep|burst",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("nacqv", &[])?;
    let host = call.host().await?;
    let up = units::unit(&host, "chrony").is_some_and(|u| u.state == UnitState::Active);
    let skew = host.skew_s;
    match (call.name.as_str(), given.first()) {
        ("timedatectl", None | Some("status" | "show" | "timesync-status")) => {
            let date = call.shell.date().await?;
            let synced = skew.abs() < 0.1 && up;
            call.say(format!("               Local time: {}", date.systemd()));
            call.say(format!("           Universal time: {}", date.systemd()));
            call.say("                Time zone: Etc/UTC (UTC, +0000)");
            call.say(format!("System clock synchronized: {}", if synced { "yes" } else { "no" }));
            call.say(format!("              NTP service: {}", if up { "active" } else { "inactive" }));
            call.say("          RTC in local TZ: no");
            Ok(0)
        }
        ("timedatectl", Some("set-ntp")) => Ok(0),
        ("timedatectl", Some(other)) => {
            let message = format!("Unknown command verb {other}.");
            call.warn(message);
            Ok(1)
        }
        ("chronyc", _) if !up => {
            call.warn("506 Cannot talk to daemon");
            Ok(1)
        }
        ("chronyc", Some("tracking")) => {
            let way = if skew < 0.0 { "slow" } else { "fast" };
            call.say("Reference ID    : 0A000001 (time.internal)");
            call.say("Stratum         : 3");
            call.say(format!("System time     : {:.9} seconds {way} of NTP time", skew.abs()));
            call.say(format!("Last offset     : {skew:+.9} seconds"));
            call.say(format!("RMS offset      : {:.9} seconds", skew.abs()));
            call.say("Frequency       : 0.000 ppm slow\nResidual freq   : +0.000 \
                 ppm\nSkew            : 0.010 ppm");
            call.say("Root delay      : 0.000500000 seconds\nRoot dispersion : \
                 0.000100000 seconds");
            call.say("Update interval : 64.0 seconds\nLeap status     : Normal");
            Ok(0)
        }
        ("chronyc", Some("sources" | "sourcestats")) => {
            call.say("MS Name/IP address         Stratum Poll Reach LastRx Last sample");
            call.say("===============================================================================");
            call.say(format!("^* time.internal                 2   6   377    21   \
                 {:+.0}us[{:+.0}us] +/-  500us", skew * 1e6, skew * 1e6));
            Ok(0)
        }
        ("chronyc", Some("makestep")) | ("ntpdate", _) => {
            if !call.shell.is_root() {
                call.warn(if call.name == "chronyc" { "501 Not authorised" } else { "ntpdate: Operation not permitted" });
                return Ok(1);
            }
            match call.order("step_clock", &[("offset", 0.0.into())]).await? {
                Ok(()) => call.say("200 OK"),
                Err(reason) => return call.fail(1, reason),
            }
            Ok(0)
        }
        ("chronyc", Some("burst" | "online" | "waitsync" | "activity")) => {
            call.say("200 OK");
            Ok(0)
        }
        (_, None) => call.misuse(""),
        (_, Some(_)) => {
            call.warn("Unrecognized command");
            Ok(1)
        }
    }
}
