//! `lsblk`, `mount`, `findmnt`: the file systems there are.

use super::Command;
use crate::call::{Call, Done};
use crate::show;

pub(crate) const COMMAND: Command = Command {
    names: &["lsblk", "mount", "findmnt"],
    summary: "List block devices and where they are mounted",
    usage: "lsblk [-f]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("aflnt:o:", &[])?;
    if !given.operands.is_empty() {
        return call.fail(32, "mounting is not supported by this terminal");
    }
    let size = show::human(call.host().await?.disk.capacity);
    match call.name.as_str() {
        "mount" => call.say("/dev/sda1 on / type ext4 (rw,relatime)\ntmpfs on /dev/shm type \
             tmpfs (rw,nosuid,nodev)"),
        "findmnt" => call.say("TARGET     SOURCE    FSTYPE OPTIONS\n/          /dev/sda1 ext4   \
             rw,relatime\n└─/dev/shm tmpfs     tmpfs  rw,nosuid,nodev"),
        _ => call.say(format!("NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS\nsda      8:0    0 \
             {size:>4}  0 disk\n└─sda1   8:1    0 {size:>4}  0 part /")),
    }
    Ok(0)
}
