//! One call of a program: its arguments, its outputs, and what it may do.

use crate::commands::Command;
use crate::fuel::Spent;
use crate::interpreter::{Halt, Output, Shell};
use crate::options::{self, Accepts, Given};
use crate::rig::RigError;
use crate::tree::{self, Access, Node, Tree};
use model::{Answer, Face, FileContent, HostView, InstanceId, ParamValue, Query, Severity};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Most log lines that a file shows.
const LINES_MAX: u32 = 2000;
/// Logs are shown back to this long ago, seconds.
const LOG_WINDOW: i64 = 3600;

/// Why a program ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// With this exit code; what there is to say was said.
    Exit(i32),
    Halt(Halt),
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Stop::Halt(halt)
    }
}

impl From<Spent> for Stop {
    fn from(spent: Spent) -> Self {
        Stop::Halt(Halt::Spent(spent))
    }
}

impl From<RigError> for Stop {
    fn from(error: RigError) -> Self {
        Stop::Halt(Halt::Rig(error))
    }
}

/// An exit code, or an early end.
pub(crate) type Done = Result<i32, Stop>;
/// A program that runs.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// One call of a program.
pub(crate) struct Call<'c, 's> {
    pub(crate) shell: &'c mut Shell<'s>,
    /// The name it was called by.
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    pub(crate) out: String,
    pub(crate) err: String,
    command: &'static Command,
    room: usize,
}

impl<'c, 's> Call<'c, 's> {
    pub(crate) fn new(
        shell: &'c mut Shell<'s>,
        name: String,
        args: Vec<String>,
        command: &'static Command,
    ) -> Call<'c, 's> {
        let room = shell.fuel.room();
        Call { shell, name, args, out: String::new(), err: String::new(), command, room }
    }

    /// Writes to standard output. What is over the fuel is cut, and the line then ends for it.
    pub(crate) fn put(&mut self, text: &str) {
        if self.out.len() <= self.room {
            self.out += text;
        }
    }

    /// Whether more output makes sense.
    pub(crate) fn is_full(&self) -> bool {
        self.out.len() > self.room
    }

    /// Writes a line.
    pub(crate) fn say(&mut self, line: impl AsRef<str>) {
        self.put(line.as_ref());
        self.put("\n");
    }

    /// Writes `name: message` to standard error.
    pub(crate) fn complain(&mut self, message: impl AsRef<str>) {
        let line = format!("{}: {}", self.name, message.as_ref());
        self.warn(line);
    }

    /// Writes a line to standard error.
    pub(crate) fn warn(&mut self, line: impl AsRef<str>) {
        if self.err.len() <= self.room {
            self.err += line.as_ref();
            self.err.push('\n');
        }
    }

    /// Complains, and ends the program with this code.
    pub(crate) fn fail<T>(&mut self, code: i32, message: impl AsRef<str>) -> Result<T, Stop> {
        self.complain(message);
        Err(Stop::Exit(code))
    }

    /// A complaint about how it was called, with what leads on, and the end.
    pub(crate) fn misuse<T>(&mut self, message: impl AsRef<str>) -> Result<T, Stop> {
        let message = message.as_ref();
        if !message.is_empty() {
            self.complain(message);
        }
        if self.command.short_hint {
            let name = &self.name;
            let hint = format!("Try '{name} --help' for more information.");
            self.warn(hint);
        } else {
            self.warn(self.command.synopsis());
        }
        Err(Stop::Exit(self.command.misuse))
    }

    /// Its options. `--help` is answered here.
    pub(crate) fn options(
        &mut self,
        short: &'static str,
        long: &'static [(&'static str, char)],
    ) -> Result<Given, Stop> {
        self.given(Accepts { short, long, first_operand_ends: false })
    }

    /// The same, for programs that run other ones.
    pub(crate) fn own_options(
        &mut self,
        short: &'static str,
        long: &'static [(&'static str, char)],
    ) -> Result<Given, Stop> {
        self.given(Accepts { short, long, first_operand_ends: true })
    }

    fn given(&mut self, accepts: Accepts) -> Result<Given, Stop> {
        let stop = self.args.iter().position(|a| a == "--").unwrap_or(self.args.len());
        let mine = if accepts.first_operand_ends { stop.min(1) } else { stop };
        if self.args[..mine].iter().any(|a| a == "--help") {
            let text = self.command.help();
            self.put(&text);
            return Err(Stop::Exit(0));
        }
        match options::parse(&self.args, &accepts) {
            Ok(given) => Ok(given),
            Err(misuse) => self.misuse(misuse.to_string()),
        }
    }

    pub(crate) async fn host(&mut self) -> Result<Arc<HostView>, Halt> {
        self.shell.host().await
    }

    pub(crate) async fn tree(&mut self) -> Result<Tree, Halt> {
        self.shell.tree().await
    }

    pub(crate) fn path(&self, path: &str) -> String {
        self.shell.path(path)
    }

    /// Standard input to its end; at a terminal nobody types.
    pub(crate) fn stdin(&mut self) -> String {
        self.shell.stdin.take().unwrap_or_default()
    }

    /// Gives an order to the host.
    pub(crate) async fn order(
        &mut self,
        verb: &str,
        args: &[(&str, ParamValue)],
    ) -> Result<Result<(), String>, Halt> {
        Ok(self.shell.order(verb, args).await?.map(drop).map_err(|refusal| refusal.reason))
    }

    /// Gives an order to a component.
    pub(crate) async fn order_to(
        &mut self,
        target: InstanceId,
        verb: &str,
        args: &[(&str, ParamValue)],
    ) -> Result<Result<(), String>, Halt> {
        let told = self.shell.order_to(target, verb, args).await?;
        Ok(told.map(drop).map_err(|refusal| refusal.reason))
    }

    /// Runs another program in this one's place; its output becomes this one's.
    pub(crate) async fn run(&mut self, args: Vec<String>) -> Done {
        let output = self.shell.invoke(args).await?;
        Ok(self.take(output))
    }

    pub(crate) fn take(&mut self, output: Output) -> i32 {
        self.put(&output.out);
        self.err += &output.err;
        output.code
    }

    /// The texts of the named files, or of standard input where none is named; `-` is that too.
    /// A file that cannot be read is complained about and left out.
    pub(crate) async fn inputs(
        &mut self,
        names: &[String],
    ) -> Result<(Vec<(String, String)>, bool), Halt> {
        let (mut all, mut complete) = (Vec::new(), true);
        if names.is_empty() {
            all.push(("-".to_string(), self.stdin()));
        }
        for name in names {
            if name == "-" {
                all.push((name.clone(), self.stdin()));
                continue;
            }
            match self.shell.content(name).await? {
                Ok(text) => all.push((name.clone(), text)),
                Err(reason) => {
                    self.complain(format!("{name}: {reason}"));
                    complete = false;
                }
            }
        }
        Ok((all, complete))
    }
}

impl Shell<'_> {
    /// What is in a file, or why it cannot be read.
    pub(crate) async fn content(&mut self, name: &str) -> Result<Result<String, String>, Halt> {
        if name == "/dev/stdin" {
            return Ok(Ok(self.stdin.take().unwrap_or_default()));
        }
        let path = self.path(name);
        let tree = self.tree().await?;
        let file = match tree.at(&path) {
            Node::Missing => return Ok(Err("No such file or directory".into())),
            Node::Folder(_) => return Ok(Err("Is a directory".into())),
            Node::Device => return Ok(Ok(String::new())),
            Node::File(file) => file.clone(),
        };
        if !tree.may(&self.session.user, &path, Access::Read) {
            return Ok(Err("Permission denied".into()));
        }
        match file.content {
            FileContent::Text(text) => Ok(Ok(text)),
            FileContent::Opaque | FileContent::Folder => Ok(Ok(String::new())),
            FileContent::View { instance, face: Face::Log, since } => {
                let now = self.host().await?.now;
                let from = since.max(now.plus(-LOG_WINDOW));
                let contains = String::new();
                let severity = Severity::Info;
                let query = Query::Logs { from, to: now, severity, contains, limit: LINES_MAX };
                let Answer::Logs(lines) = self.ask(instance, query).await? else {
                    return Ok(Ok(String::new()));
                };
                let mut text = String::new();
                for line in lines {
                    let date = crate::clock::Date::at(line.tick);
                    let level = match line.severity {
                        Severity::Info => "INFO",
                        Severity::Warn => "WARN",
                        Severity::Error => "ERROR",
                    };
                    let (day, time) = (date.iso(), date.time());
                    text += &format!("{day}T{time}Z {level} [{}] {}\n", line.replica, line.message);
                }
                Ok(Ok(text))
            }
            FileContent::View { instance, face: Face::Configuration, .. } => {
                let facts = self.facts(instance, Query::Config).await?;
                let line = |(k, v): (String, String)| format!("{k} = {v}\n");
                Ok(Ok(facts.into_iter().map(line).collect()))
            }
            FileContent::View { face: Face::Certificate, .. } => {
                let name = tree::name(&path).to_string();
                Ok(Ok(format!("-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n")))
            }
        }
    }
}
