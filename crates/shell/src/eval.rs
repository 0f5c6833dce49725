//! Lists, pipelines, compound and simple commands: from the tree of a line to its output.

use crate::call::{Call, Stop};
use crate::commands;
use crate::grammar::{self, Refused};
use crate::interpreter::{Deed, Halt, Jump, Output, Shell};
use crate::rig::Spell;
use crate::tree::{self, Node};
use crate::units;
use brush_parser::ast::{
    AndOrList, AssignmentName, AssignmentValue, CaseClauseCommand, Command,
    CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, IfClauseCommand, IoRedirect,
    Pipeline, PipelineOperator, SimpleCommand, WhileOrUntilClauseCommand,
};
use std::future::Future;
use std::pin::Pin;

pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Output, Halt>> + Send + 'a>>;

/// Folders that programs lie in.
const PROGRAMS: &[&str] =
    &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

impl Shell<'_> {
    /// Runs a line, or the text of a script.
    pub(crate) async fn line(&mut self, line: &str) -> Result<Output, Halt> {
        let program = match grammar::parse(line, &self.fuel.limits) {
            Ok(program) => program,
            Err(Refused::Spent(spent)) => return Err(spent.into()),
            Err(Refused::Syntax(message)) => {
                return Ok(Output::failed(2, format!("bash: {message}\n")));
            }
            Err(Refused::Unsupported(what)) => {
                let message = format!("bash: {what}: not supported by this terminal\n");
                return Ok(Output::failed(2, message));
            }
        };
        let mut output = Output { code: self.session.status, ..Output::default() };
        for list in &program.complete_commands {
            output.then(self.list(list).await?);
            if self.jump.is_some() {
                break;
            }
        }
        Ok(output)
    }

    fn list<'a>(&'a mut self, list: &'a CompoundList) -> Running<'a> {
        Box::pin(async move {
            self.fuel.enter()?;
            let mut output = Output::default();
            for item in &list.0 {
                // Before the first one, too: a condition may have jumped.
                if self.jump.is_some() {
                    break;
                }
                output.then(self.and_or(&item.0).await?);
            }
            self.fuel.leave();
            Ok(output)
        })
    }

    async fn and_or(&mut self, list: &AndOrList) -> Result<Output, Halt> {
        let mut output = Output::default();
        for (at, (operator, pipeline)) in list.into_iter().enumerate() {
            let wanted = match operator {
                _ if at == 0 => true,
                PipelineOperator::And => output.code == 0,
                PipelineOperator::Or => output.code != 0,
            };
            if wanted {
                output.then(self.pipeline(pipeline).await?);
                self.session.status = output.code;
            }
            if self.jump.is_some() {
                break;
            }
        }
        Ok(output)
    }

    async fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Output, Halt> {
        let mut output = Output::default();
        if let [only] = pipeline.seq.as_slice() {
            output = self.command(only).await?;
        } else {
            // Each part is a shell of its own: what it sets is gone with it.
            let kept = (self.session.cwd.clone(), self.session.vars.clone());
            let outer = self.stdin.take();
            for (at, command) in pipeline.seq.iter().enumerate() {
                self.stdin = if at == 0 { outer.clone() } else { Some(output.out) };
                let part = self.command(command).await?;
                (self.session.cwd, self.session.vars) = kept.clone();
                self.land();
                output = Output { err: output.err + &part.err, ..part };
                if self.jump.is_some() {
                    break;
                }
            }
            self.stdin = outer;
        }
        if pipeline.bang {
            output.code = i32::from(output.code == 0);
        }
        Ok(output)
    }

    /// One command, and the time it takes. What it makes other commands do takes theirs.
    async fn command(&mut self, command: &Command) -> Result<Output, Halt> {
        self.fuel.step()?;
        let outer = std::mem::take(&mut self.deed);
        let output = self.evaluate(command).await?;
        match std::mem::replace(&mut self.deed, outer) {
            Deed::None => {}
            Deed::Look => {
                self.showed |= !output.out.is_empty();
                self.spend(Spell::Look).await?;
            }
            Deed::Change => {
                self.showed |= output.code != 0;
                self.spend(Spell::Change).await?;
            }
        }
        Ok(output)
    }

    async fn evaluate(&mut self, command: &Command) -> Result<Output, Halt> {
        match command {
            Command::Simple(simple) => self.simple(simple).await,
            Command::Compound(compound, redirects) => {
                let redirects: Vec<_> = redirects.iter().flat_map(|r| &r.0).collect();
                let wiring = match self.wire(&redirects).await? {
                    Ok(wiring) => wiring,
                    Err(message) => return Ok(Output::failed(1, format!("bash: {message}\n"))),
                };
                let outer = self.stdin.clone();
                if wiring.input.is_some() {
                    self.stdin = wiring.input.clone();
                }
                let output = self.compound(compound).await?;
                if wiring.input.is_some() {
                    self.stdin = outer;
                }
                self.deliver(&wiring, "bash", output).await
            }
            Command::Function(_) | Command::ExtendedTest(..) => {
                Err(Halt::Fatal("bash: this construct is not supported by this terminal".into()))
            }
        }
    }

    async fn compound(&mut self, compound: &CompoundCommand) -> Result<Output, Halt> {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list).await,
            CompoundCommand::Subshell(group) => {
                let kept = (self.session.cwd.clone(), self.session.vars.clone());
                let output = self.list(&group.list).await?;
                (self.session.cwd, self.session.vars) = kept;
                self.land();
                Ok(output)
            }
            CompoundCommand::ForClause(clause) => {
                let words: Vec<&str> =
                    clause.values.iter().flatten().map(|w| w.value.as_str()).collect();
                let mut output = Output::default();
                for value in self.arguments(&words).await? {
                    self.session.vars.insert(clause.variable_name.clone(), value);
                    output.then(self.list(&clause.body.list).await?);
                    if self.leaves_loop() {
                        break;
                    }
                }
                Ok(output)
            }
            CompoundCommand::WhileClause(clause) => self.repeat(clause, true).await,
            CompoundCommand::UntilClause(clause) => self.repeat(clause, false).await,
            CompoundCommand::IfClause(clause) => self.branch(clause).await,
            CompoundCommand::CaseClause(clause) => self.case(clause).await,
            CompoundCommand::Arithmetic(_)
            | CompoundCommand::ArithmeticForClause(_)
            | CompoundCommand::Coprocess(_) => {
                Err(Halt::Fatal("bash: this construct is not supported by this terminal".into()))
            }
        }
    }

    /// Whether a loop ends after this turn.
    fn leaves_loop(&mut self) -> bool {
        match self.jump {
            Some(Jump::Continue) => {
                self.jump = None;
                false
            }
            Some(Jump::Break) => {
                self.jump = None;
                true
            }
            Some(Jump::Exit | Jump::Cut) => true,
            None => false,
        }
    }

    async fn repeat(
        &mut self,
        clause: &WhileOrUntilClauseCommand,
        while_true: bool,
    ) -> Result<Output, Halt> {
        let mut output = Output::default();
        loop {
            self.fuel.step()?;
            let test = self.list(&clause.0).await?;
            let goes_on = (test.code == 0) == while_true;
            let code = output.code;
            output.then(Output { code, ..test });
            if !goes_on || self.jump.is_some() {
                return Ok(output);
            }
            output.then(self.list(&clause.1.list).await?);
            if self.leaves_loop() {
                return Ok(output);
            }
        }
    }

    async fn branch(&mut self, clause: &IfClauseCommand) -> Result<Output, Halt> {
        let mut output = self.list(&clause.condition).await?;
        if output.code == 0 {
            output.then(self.list(&clause.then).await?);
            return Ok(output);
        }
        output.code = 0;
        for other in clause.elses.iter().flatten() {
            if let Some(condition) = &other.condition {
                output.then(self.list(condition).await?);
                if output.code != 0 {
                    output.code = 0;
                    continue;
                }
            }
            output.then(self.list(&other.body).await?);
            return Ok(output);
        }
        Ok(output)
    }

    async fn case(&mut self, clause: &CaseClauseCommand) -> Result<Output, Halt> {
        let value = self.text(&clause.value.value).await?;
        for case in &clause.cases {
            for pattern in &case.patterns {
                if self.pattern(&pattern.value).await?.is_match(&value) {
                    return match &case.cmd {
                        Some(list) => self.list(list).await,
                        None => Ok(Output::default()),
                    };
                }
            }
        }
        Ok(Output::default())
    }

    async fn simple(&mut self, simple: &SimpleCommand) -> Result<Output, Halt> {
        let (mut words, mut assignments, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        words.extend(simple.word_or_name.iter().map(|w| w.value.as_str()));
        for item in simple.prefix.iter().flat_map(|p| &p.0) {
            match item {
                Item::IoRedirect(redirect) => redirects.push(redirect),
                Item::AssignmentWord(assignment, _) => assignments.push(assignment),
                Item::Word(_) | Item::ProcessSubstitution(..) => {}
            }
        }
        for item in simple.suffix.iter().flat_map(|s| &s.0) {
            match item {
                Item::IoRedirect(redirect) => redirects.push(redirect),
                Item::Word(word) | Item::AssignmentWord(_, word) => words.push(&word.value),
                Item::ProcessSubstitution(..) => {}
            }
        }
        self.substituted = None;
        let kept = self.session.vars.clone();
        let args = self.arguments(&words).await?;
        for assignment in assignments {
            let (AssignmentName::VariableName(name), AssignmentValue::Scalar(word)) =
                (&assignment.name, &assignment.value)
            else {
                return Err(Halt::Fatal("bash: arrays are not supported by this terminal".into()));
            };
            let mut value = self.text(&word.value).await?;
            if assignment.append {
                value = self.session.vars.get(name).cloned().unwrap_or_default() + &value;
            }
            self.session.vars.insert(name.clone(), value);
        }
        if self.jump.is_some() {
            // A substitution was cut: what its command was for does not run.
            return Ok(Output::failed(1, std::mem::take(&mut self.noise)));
        }
        // A line of assignments alone ends as its last substitution did.
        let code = self.substituted.take().unwrap_or(0);
        let noise = std::mem::take(&mut self.noise);
        let mut output = self.redirected(&args, &redirects).await?;
        if args.is_empty() {
            output.code = output.code.max(code);
        } else if !words.is_empty() && !simple.prefix.iter().all(|p| p.0.is_empty()) {
            self.session.vars = kept;
        }
        output.err.insert_str(0, &noise);
        Ok(output)
    }

    async fn redirected(
        &mut self,
        args: &[String],
        redirects: &[&IoRedirect],
    ) -> Result<Output, Halt> {
        let wiring = match self.wire(redirects).await? {
            Ok(wiring) => wiring,
            Err(message) => return Ok(Output::failed(1, format!("bash: {message}\n"))),
        };
        let Some(name) = args.first() else {
            return Ok(Output::default());
        };
        let outer = self.stdin.clone();
        if wiring.input.is_some() {
            self.stdin = wiring.input.clone();
        }
        let output = self.invoke(args.to_vec()).await?;
        if wiring.input.is_some() {
            self.stdin = outer;
        }
        self.deliver(&wiring, name, output).await
    }

    /// Runs a program by its arguments, the first of which is its name.
    pub(crate) fn invoke(&mut self, args: Vec<String>) -> Running<'_> {
        Box::pin(async move {
            self.fuel.step()?;
            if self.jump == Some(Jump::Cut) {
                // Its time was up before it began.
                return Ok(Output::failed(1, String::new()));
            }
            self.fuel.enter()?;
            let mut args: std::collections::VecDeque<String> = args.into();
            let written = args.pop_front().unwrap_or_default();
            let name = match written.rsplit_once('/') {
                Some((folder, name)) if PROGRAMS.contains(&folder) => name.to_string(),
                Some(("/etc/init.d", unit)) if self.has_unit(unit).await? => {
                    args.push_front(unit.to_string());
                    "service".to_string()
                }
                Some(_) => {
                    self.fuel.leave();
                    return self.no_program(&written).await;
                }
                None => written.clone(),
            };
            let Some(command) = commands::find(&name) else {
                self.fuel.leave();
                return Ok(Output::failed(127, format!("bash: {written}: command not found\n")));
            };
            let mut call = Call::new(self, name, args.into(), command);
            let code = match (command.run)(&mut call).await {
                Ok(code) | Err(Stop::Exit(code)) => code,
                Err(Stop::Halt(halt)) => return Err(halt),
            };
            let output = Output { out: call.out, err: call.err, code };
            self.fuel.write(output.out.len() + output.err.len())?;
            self.fuel.leave();
            Ok(output)
        })
    }

    /// Whether the host has a unit of this name, and with it a script that starts and stops it.
    async fn has_unit(&mut self, name: &str) -> Result<bool, Halt> {
        Ok(units::unit(&*self.host().await?, name).is_some())
    }

    /// What the shell says to a path that is no program.
    async fn no_program(&mut self, written: &str) -> Result<Output, Halt> {
        let path = self.path(written);
        let tree = self.tree().await?;
        let (code, reason) = match tree.at(&path) {
            Node::Folder(_) => (126, "Is a directory"),
            Node::File(_) | Node::Device => (126, "Permission denied"),
            Node::Missing if tree.exists(tree::parent(&path)) => (127, "No such file or directory"),
            Node::Missing => (127, "No such file or directory"),
        };
        Ok(Output::failed(code, format!("bash: {written}: {reason}\n")))
    }

    /// Keeps what a substitution complained about for the command it is part of.
    pub(crate) fn complain(&mut self, err: &str) -> Result<(), Halt> {
        self.noise += err;
        Ok(())
    }
}
