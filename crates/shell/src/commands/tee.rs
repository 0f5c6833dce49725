//! `tee`: standard input into files too.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["tee"],
    summary: "Copy standard input to each FILE, and also to standard output",
    usage: "tee [-ai] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("aip", &[("append", 'a'), ("ignore-interrupts", 'i')])?;
    let text = call.stdin();
    call.put(&text);
    let mut code = 0;
    for name in &given.operands {
        if let Err(reason) = call.shell.save(name, &text, given.has('a')).await? {
            call.complain(format!("{name}: {reason}"));
            code = 1;
        }
    }
    Ok(code)
}

impl crate::interpreter::Shell<'_> {
    /// Writes a text into a file, as a redirection would.
    pub(crate) async fn save(
        &mut self,
        name: &str,
        text: &str,
        append: bool,
    ) -> Result<Result<(), String>, crate::interpreter::Halt> {
        if name.starts_with("/dev/") {
            return Ok(Ok(()));
        }
        let path = self.path(name);
        if let Err(reason) = self.writable(&path).await? {
            return Ok(Err(reason.into()));
        }
        if !append {
            let args = [("path", path.as_str().into()), ("size", 0.0.into())];
            if let Err(refusal) = self.order("truncate", &args).await? {
                return Ok(Err(refusal.reason));
            }
        }
        self.append(&path, text).await
    }
}
