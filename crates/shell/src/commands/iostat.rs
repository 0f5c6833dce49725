//! `iostat`: one sample of the disk.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["iostat"],
    summary: "Report CPU and input/output statistics for devices",
    usage: "iostat [-cdhkmxyz] [INTERVAL [COUNT]]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("cdhkmxyztNp:", &[])?;
    let host = call.host().await?;
    let busy = (100.0 * host.cpu_used / host.cpu_cores.max(0.1)).min(100.0);
    call.say(format!("Linux 5.15.0-91-generic ({}) \t_x86_64_\t({:.0} CPU)\n", host.name, host.cpu_cores));
    if !given.has('d') {
        call.say("avg-cpu:  %user   %nice %system %iowait  %steal   %idle");
        call.say(format!("          {:5.2}    0.00   {:5.2}    0.00    0.00   {:5.2}\n", busy * 0.9, busy * 0.1, 100.0 - busy));
    }
    if !given.has('c') {
        // Bytes per second that open files take, from how much they are written to.
        let written = |f: &&model::FileView| {
            !f.handles.is_empty() && f.modified.plus(1) >= host.now
        };
        let writers = host.files.iter().filter(written).count();
        call.say("Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn");
        call.say(format!("sda          {:9.2} {:12.2} {:12.2} {:10} {:10.0}", 2 + 40 * writers, 0.0, 12.0, 0, host.disk.used / 1024.0));
    }
    Ok(0)
}
