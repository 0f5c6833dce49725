//! `awk`: a small language for lines with fields.

use super::Command;
use crate::awk;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["awk", "gawk", "mawk"],
    summary: "Pattern scanning and processing language",
    usage: "awk [-F fs] [-v var=value] 'prog' [file ...]",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.own_options("F:v:f:", &[("field-separator", 'F'), ("assign", 'v'), ("file", 'f')])?;
    let mut operands = given.operands.clone();
    let source = match given.value('f') {
        Some(name) => match call.shell.content(name).await? {
            Ok(text) => text,
            Err(reason) => return call.fail(2, format!("can't open file {name}: {reason}")),
        },
        None if operands.is_empty() => return call.misuse(""),
        None => operands.remove(0),
    };
    let program = match awk::parse(&source) {
        Ok(program) => program,
        Err(reason) => return call.fail(2, reason),
    };
    let mut vars = Vec::new();
    if let Some(separator) = given.value('F') {
        vars.push(("FS".to_string(), separator.to_string()));
    }
    for text in given.values('v') {
        match text.split_once('=') {
            Some((name, value)) => vars.push((name.into(), value.into())),
            None => return call.fail(2, format!("`{text}' argument to `-v' not in `var=value' form")),
        }
    }
    let (inputs, complete) = call.inputs(&operands).await?;
    let input: String = inputs.into_iter().map(|(_, text)| text).collect();
    match awk::run(&program, &input, &vars, &mut call.shell.fuel)? {
        Ok((out, code)) => {
            call.put(&out);
            Ok(if complete { code } else { 2 })
        }
        Err(reason) => call.fail(2, reason),
    }
}
