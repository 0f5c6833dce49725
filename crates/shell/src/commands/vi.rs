//! `vi`, `nano` and other editors: they need a keyboard.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["vi", "vim", "nano", "emacs", "ed", "visudo", "screen", "tmux"],
    summary: "Editors and screens need a keyboard, which this terminal has not",
    usage: "vi [FILE]...",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    call.fail(1, "needs a keyboard; write files with redirections, tee or sed -i instead")
}
