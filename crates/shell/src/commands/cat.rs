//! `cat`: files one after another.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::Node;
use model::FileContent;

pub(crate) const COMMAND: Command = Command {
    names: &["cat", "zcat"],
    summary: "Concatenate files to standard output",
    usage: "cat [-AbEnsT] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("AbeEnstTuv", &[("number", 'n'), ("number-nonblank", 'b')])?;
    let (inputs, complete) = call.inputs(&given.operands).await?;
    let mut number = 0;
    for (name, text) in inputs {
        if call.shell.is_opaque(&name).await? {
            call.complain(format!("{name}: binary data, not shown"));
        }
        for line in text.split_inclusive('\n') {
            let blank = line.trim_end_matches('\n').is_empty();
            if given.has('n') && !given.has('b') || given.has('b') && !blank {
                number += 1;
                call.put(&format!("{number:6}\t"));
            }
            let end = given.has('E') || given.has('A') || given.has('e');
            match line.strip_suffix('\n') {
                Some(line) if end => call.put(&format!("{line}$\n")),
                _ => call.put(line),
            }
        }
    }
    Ok(i32::from(!complete))
}

impl crate::interpreter::Shell<'_> {
    /// Whether a file holds bytes that mean nothing to a reader.
    pub(crate) async fn is_opaque(
        &mut self,
        name: &str,
    ) -> Result<bool, crate::interpreter::Halt> {
        let path = self.path(name);
        let tree = self.places().await?;
        Ok(match tree.at(&path) {
            Node::File(file) => file.content == FileContent::Opaque && file.size > 0.0,
            _ => false,
        })
    }
}
