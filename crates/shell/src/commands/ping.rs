//! `ping`: whether a host answers.

use super::{Command, dig};
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["ping"],
    summary: "Send ICMP ECHO_REQUEST to network hosts",
    usage: "ping [-c COUNT] [-i INTERVAL] [-W TIMEOUT] [-nq] HOST",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("46c:i:W:w:nqs:t:", &[])?;
    let Some(name) = given.first().map(str::to_string) else {
        return call.misuse("usage error: Destination address required");
    };
    let count = match given.value('c').map(str::parse::<u32>) {
        None => 4,
        Some(Ok(count)) if count > 0 => count.min(10),
        _ => return call.fail(1, format!("invalid argument: '{}'", given.value('c').unwrap_or_default())),
    };
    let Some((address, _)) = dig::resolve(call, &name).await?.into_iter().next() else {
        return call.fail(2, format!("{name}: Name or service not known"));
    };
    call.say(format!("PING {name} ({address}) 56(84) bytes of data."));
    if !given.has('q') {
        for n in 1..=count {
            call.say(format!("64 bytes from {address}: icmp_seq={n} ttl=64 time=0.4{} ms", n % 10));
        }
    }
    call.say(format!("\n--- {name} ping statistics ---"));
    call.say(format!("{count} packets transmitted, {count} received, 0% packet loss, \
         time {}ms", 1000 * (count - 1)));
    call.say("rtt min/avg/max/mdev = 0.410/0.425/0.440/0.010 ms");
    if given.value('c').is_none() {
        call.warn("ping: this terminal stops after four; use -c for another number");
    }
    Ok(0)
}
