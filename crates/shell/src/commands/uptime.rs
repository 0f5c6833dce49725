//! `uptime`, `w`: how long the host runs, and its load.

use super::Command;
use crate::call::{Call, Done};
use crate::clock::UPTIME;
use model::HostView;

pub(crate) const COMMAND: Command = Command {
    names: &["uptime", "w"],
    summary: "Tell how long the system has been running",
    usage: "uptime [-ps]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("ps", &[("pretty", 'p'), ("since", 's')])?;
    let host = call.host().await?;
    let up = UPTIME + host.now.0;
    if given.has('p') {
        let (days, hours, minutes) = (up / 86_400, up / 3600 % 24, up / 60 % 60);
        call.say(format!("up {} weeks, {} days, {hours} hours, {minutes} minutes", days / 7, days % 7));
    } else if given.has('s') {
        let boot = crate::clock::Date::at(model::Tick(-UPTIME));
        call.say(format!("{} {}", boot.iso(), boot.time()));
    } else {
        let date = call.shell.date().await?;
        call.say(format!(" {}", line(&host, &date.time())));
    }
    Ok(0)
}

/// `10:30:00 up 45 days,  3:22,  1 user,  load average: …`, as `top` has it too.
pub(super) fn line(host: &HostView, time: &str) -> String {
    let up = UPTIME + host.now.0;
    let load = load(host);
    let (days, hours, minutes) = (up / 86_400, up / 3600 % 24, up / 60 % 60);
    format!("{time} up {days} days, {hours:2}:{minutes:02},  1 user,  load \
         average: {load:.2}, {:.2}, {:.2}", load * 0.95, load * 0.9)
}

/// Cores in use, and what waits for one.
pub(super) fn load(host: &HostView) -> f64 {
    let wanted: f64 = host.processes.iter().map(|p| p.cpu_cores).sum();
    wanted.max(host.cpu_used)
}
