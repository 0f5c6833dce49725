//! `vmstat`: one sample of what the host does.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["vmstat", "mpstat"],
    summary: "Report virtual memory statistics",
    usage: "vmstat [-nwt] [DELAY [COUNT]]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("anwtP:S:", &[])?;
    if let Some(bad) = given.operands.iter().find(|o| o.parse::<u32>().is_err()) {
        return call.misuse(format!("failed to parse argument: '{bad}'"));
    }
    let host = call.host().await?;
    let busy = (100.0 * host.cpu_used / host.cpu_cores.max(0.1)).min(100.0);
    if call.name == "mpstat" {
        call.say("CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle");
        call.say(format!("all  {:6.2}    0.00  {:6.2}    0.00    0.00    0.00    0.00    \
             0.00  {:6.2}", busy * 0.9, busy * 0.1, 100.0 - busy));
        return Ok(0);
    }
    let running = super::uptime::load(&host).ceil();
    let free = (host.memory - host.memory_used).max(0.0) / 1024.0;
    call.say("procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----");
    call.say(" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st");
    call.say(format!("{running:2.0}  0      0 {:6.0} {:6.0} {:6.0}    0    0     0    \
         12  150  300 {:2.0} {:2.0} {:2.0}  0  0", free * 0.7, 0.0, free * 0.3, busy * 0.9, busy * 0.1, 100.0 - busy));
    if given.operands.len() == 1 {
        call.warn("vmstat: this terminal shows one sample and does not repeat; run it \
             again for more");
    }
    Ok(0)
}
