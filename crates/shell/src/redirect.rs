//! Redirections: where the two outputs of a command go and where its input comes from.

use crate::interpreter::{Halt, Output, Shell};
use crate::tree::{self, Access, Node};
use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect};
use model::params::CONTENT_MAX;

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sink {
    Out,
    Err,
    Null,
    /// Always full.
    Full,
    File(String),
}

/// The wiring of one command.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    sinks: [Sink; 2],
    /// Standard input, where it is redirected.
    pub(crate) input: Option<String>,
}

impl Wiring {
    pub(crate) fn plain() -> Wiring {
        Wiring { sinks: [Sink::Out, Sink::Err], input: None }
    }
}

impl Shell<'_> {
    /// Opens what is redirected, in order. A refusal is a message of the shell.
    pub(crate) async fn wire(
        &mut self,
        redirects: &[&IoRedirect],
    ) -> Result<Result<Wiring, String>, Halt> {
        let mut wiring = Wiring::plain();
        for redirect in redirects {
            if let Err(message) = self.connect(redirect, &mut wiring).await? {
                return Ok(Err(message));
            }
        }
        Ok(Ok(wiring))
    }

    async fn connect(
        &mut self,
        redirect: &IoRedirect,
        wiring: &mut Wiring,
    ) -> Result<Result<(), String>, Halt> {
        match redirect {
            IoRedirect::HereDocument(_, document) => {
                let body = &document.doc.value;
                wiring.input = Some(match document.requires_expansion {
                    true => self.document(body).await?,
                    false => body.clone(),
                });
                Ok(Ok(()))
            }
            IoRedirect::HereString(_, word) => {
                wiring.input = Some(self.text(&word.value).await? + "\n");
                Ok(Ok(()))
            }
            IoRedirect::OutputAndError(word, append) => {
                let path = self.text(&word.value).await?;
                let sink = match self.open(&path, *append).await? {
                    Ok(sink) => sink,
                    Err(message) => return Ok(Err(message)),
                };
                wiring.sinks = [sink.clone(), sink];
                Ok(Ok(()))
            }
            IoRedirect::File(fd, kind, target) => self.file(*fd, kind, target, wiring).await,
        }
    }

    async fn file(
        &mut self,
        fd: Option<i32>,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        wiring: &mut Wiring,
    ) -> Result<Result<(), String>, Halt> {
        let reads = matches!(
            kind,
            IoFileRedirectKind::Read
                | IoFileRedirectKind::ReadAndWrite
                | IoFileRedirectKind::DuplicateInput
        );
        let word = match target {
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                self.text(&word.value).await?
            }
            IoFileRedirectTarget::Fd(fd) => fd.to_string(),
            IoFileRedirectTarget::ProcessSubstitution(..) => String::new(),
        };
        let duplicates = matches!(
            kind,
            IoFileRedirectKind::DuplicateInput | IoFileRedirectKind::DuplicateOutput
        );
        if reads {
            match fd.unwrap_or(0) {
                0 if duplicates => {}
                0 => match self.content(&word).await? {
                    Ok(text) => wiring.input = Some(text),
                    Err(reason) => return Ok(Err(format!("{word}: {reason}"))),
                },
                other => return Ok(Err(format!("{other}: Bad file descriptor"))),
            }
            return Ok(Ok(()));
        }
        let fd = fd.unwrap_or(1);
        if !(1..=2).contains(&fd) {
            return Ok(Err(format!("{fd}: Bad file descriptor")));
        }
        let sink = match (duplicates, word.as_str()) {
            (true, "1") => wiring.sinks[0].clone(),
            (true, "2") => wiring.sinks[1].clone(),
            (true, "-") => Sink::Null,
            (true, other) if other.parse::<u32>().is_ok() => {
                return Ok(Err(format!("{other}: Bad file descriptor")));
            }
            _ => match self.open(&word, matches!(kind, IoFileRedirectKind::Append)).await? {
                Ok(sink) => sink,
                Err(message) => return Ok(Err(message)),
            },
        };
        wiring.sinks[fd as usize - 1] = sink;
        Ok(Ok(()))
    }

    /// Opens a file for writing, which empties it unless one appends.
    async fn open(&mut self, word: &str, append: bool) -> Result<Result<Sink, String>, Halt> {
        match word {
            "/dev/null" | "/dev/zero" | "/dev/random" | "/dev/urandom" => {
                return Ok(Ok(Sink::Null));
            }
            "/dev/stdout" => return Ok(Ok(Sink::Out)),
            "/dev/stderr" => return Ok(Ok(Sink::Err)),
            "/dev/full" => return Ok(Ok(Sink::Full)),
            "" => return Ok(Err(": No such file or directory".into())),
            _ => {}
        }
        let path = self.path(word);
        if let Err(reason) = self.writable(&path).await? {
            return Ok(Err(format!("{word}: {reason}")));
        }
        let tree = self.tree().await?;
        if !append {
            let args = [("path", path.as_str().into()), ("size", 0.0.into())];
            if let Err(refusal) = self.order("truncate", &args).await? {
                return Ok(Err(format!("{word}: {refusal}")));
            }
        } else if !tree.exists(&path) {
            let args = [("path", path.as_str().into()), ("text", "".into())];
            if let Err(refusal) = self.order("write", &args).await? {
                return Ok(Err(format!("{word}: {refusal}")));
            }
        }
        Ok(Ok(Sink::File(path)))
    }

    /// Whether the user may write a file at `path`, made or not.
    pub(crate) async fn writable(&mut self, path: &str) -> Result<Result<(), &'static str>, Halt> {
        let tree = self.tree().await?;
        if path.len() > 200 {
            return Ok(Err("File name too long"));
        }
        Ok(match tree.at(path) {
            Node::Folder(_) => Err("Is a directory"),
            Node::Device => Ok(()),
            Node::Missing if !tree.is_folder(tree::parent(path)) => {
                Err(match tree.at(tree::parent(path)) {
                    Node::File(_) => "Not a directory",
                    _ => "No such file or directory",
                })
            }
            _ if !tree.may(&self.session.user, path, Access::Write) => Err("Permission denied"),
            _ => Ok(()),
        })
    }

    /// Sends what a command wrote where it belongs. What stays is for the pipe and the terminal.
    pub(crate) async fn deliver(
        &mut self,
        wiring: &Wiring,
        who: &str,
        output: Output,
    ) -> Result<Output, Halt> {
        let mut kept = Output { code: output.code, ..Output::default() };
        for (text, sink) in [output.out, output.err].into_iter().zip(&wiring.sinks) {
            match sink {
                Sink::Out => kept.out += &text,
                Sink::Err => kept.err += &text,
                Sink::Null => {}
                Sink::Full if text.is_empty() => {}
                Sink::Full => {
                    kept.err += &format!("{who}: write error: No space left on device\n");
                    kept.code = 1;
                }
                Sink::File(path) => {
                    if let Err(reason) = self.append(path, &text).await? {
                        kept.err += &format!("{who}: write error: {reason}\n");
                        kept.code = 1;
                    }
                }
            }
        }
        Ok(kept)
    }

    /// Adds text to the end of a file.
    pub(crate) async fn append(
        &mut self,
        path: &str,
        text: &str,
    ) -> Result<Result<(), String>, Halt> {
        let mut rest = text;
        while !rest.is_empty() {
            let mut end = rest.len().min(CONTENT_MAX);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let args =
                [("path", path.into()), ("text", rest[..end].into()), ("append", true.into())];
            if let Err(refusal) = self.order("write", &args).await? {
                return Ok(Err(refusal.reason));
            }
            rest = &rest[end..];
        }
        Ok(Ok(()))
    }
}
