//! `test`, `[`: conditions.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::{Access, Node, Tree};

pub(crate) const COMMAND: Command = Command {
    names: &["test", "["],
    summary: "Evaluate a conditional expression",
    usage: "test EXPRESSION | [ EXPRESSION ]",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let mut args = std::mem::take(&mut call.args);
    if call.name == "[" && args.pop().as_deref() != Some("]") {
        call.warn("bash: [: missing `]'");
        return Ok(2);
    }
    let tree = call.tree().await?;
    let session = &call.shell.session;
    let context = Context { cwd: session.cwd.clone(), user: session.user.clone(), tree };
    match context.any(&args) {
        Ok(holds) => Ok(i32::from(!holds)),
        Err(message) => {
            let name = call.name.clone();
            call.warn(format!("bash: {name}: {message}"));
            Ok(2)
        }
    }
}

struct Context {
    cwd: String,
    user: String,
    tree: Tree,
}

impl Context {
    /// Alternatives by `-o`, each of parts joined by `-a`.
    fn any(&self, args: &[String]) -> Result<bool, String> {
        let mut holds = false;
        for part in args.split(|a| a == "-o") {
            let mut all = true;
            for one in part.split(|a| a == "-a") {
                all &= self.one(one)?;
            }
            holds |= all;
        }
        Ok(holds)
    }

    fn one(&self, args: &[String]) -> Result<bool, String> {
        match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => Ok(false),
            ["!", ..] if args.len() > 1 => Ok(!self.one(&args[1..])?),
            [text] => Ok(!text.is_empty()),
            [operator, value] => self.unary(operator, value),
            [left, operator, right] => binary(left, operator, right),
            _ => Err("too many arguments".into()),
        }
    }

    fn unary(&self, operator: &str, value: &str) -> Result<bool, String> {
        let path = crate::tree::absolute(&self.cwd, value);
        let node = self.tree.at(&path);
        Ok(match operator {
            "-z" => value.is_empty(),
            "-n" => !value.is_empty(),
            "-e" | "-a" => !matches!(node, Node::Missing),
            "-f" => matches!(node, Node::File(_)),
            "-d" => matches!(node, Node::Folder(_)),
            "-s" => matches!(node, Node::File(f) if f.size > 0.0),
            "-c" => matches!(node, Node::Device),
            "-r" => !matches!(node, Node::Missing) && self.tree.may(&self.user, &path, Access::Read),
            "-w" => !matches!(node, Node::Missing) && self.tree.may(&self.user, &path, Access::Write),
            "-x" => match node {
                Node::File(file) => file.mode & 0o111 != 0,
                other => matches!(other, Node::Folder(_)),
            },
            "-L" | "-h" | "-p" | "-S" | "-b" | "-t" => false,
            _ => return Err(format!("{operator}: unary operator expected")),
        })
    }
}

fn binary(left: &str, operator: &str, right: &str) -> Result<bool, String> {
    let number = |text: &str| {
        text.trim().parse::<i64>().map_err(|_| format!("{text}: integer expression expected"))
    };
    Ok(match operator {
        "=" | "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        ">" => left > right,
        "-eq" => number(left)? == number(right)?,
        "-ne" => number(left)? != number(right)?,
        "-lt" => number(left)? < number(right)?,
        "-le" => number(left)? <= number(right)?,
        "-gt" => number(left)? > number(right)?,
        "-ge" => number(left)? >= number(right)?,
        _ => return Err(format!("{operator}: binary operator expected")),
    })
}
