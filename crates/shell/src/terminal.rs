//! The door: one line in, one bounded reply out.

use crate::fuel::{Limits, Spent};
use crate::interpreter::{Halt, Output, Shell};
use crate::rig::{Rig, RigError};
use crate::session::Session;
use crate::show;

/// Lines that a session remembers.
const HISTORY_MAX: usize = 500;

/// Bytes that the variables of a session may hold.
const VARIABLES_MAX: usize = 262_144;

/// What a line did, as its typist sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output, shortened in the middle.
    pub stdout: String,
    /// Standard error, shortened in the middle.
    pub stderr: String,
    /// Exit code.
    pub code: i32,
    /// What ran out, where the line ended for it.
    pub spent: Option<Spent>,
    /// Whether a command printed what it saw of the system, or why a change failed.
    pub showed: bool,
}

/// Runs one line of a session.
///
/// # Errors
/// Only where the system behind the terminal cannot be asked. The session is then as it was.
pub async fn run(
    session: &mut Session,
    rig: &mut dyn Rig,
    line: &str,
    limits: Limits,
) -> Result<Reply, RigError> {
    let mut now = session.clone();
    let mut shell = Shell::new(&mut now, rig, limits);
    let ran = shell.line(line).await;
    let noise = std::mem::take(&mut shell.noise);
    let showed = shell.showed;
    let ran = match now.vars.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>() {
        0..=VARIABLES_MAX => ran,
        _ => {
            now.vars.clone_from(&session.vars);
            ran.and(Err(Halt::Spent(Spent::Output)))
        }
    };
    let (mut output, spent) = match ran {
        Ok(output) => (output, None),
        Err(Halt::Rig(error)) => return Err(error),
        Err(Halt::Fatal(message)) => (Output::failed(1, format!("{message}\n")), None),
        Err(Halt::Spent(spent)) => (Output::failed(2, format!("bash: {spent}\n")), Some(spent)),
    };
    output.err.insert_str(0, &noise);
    // A command in another's place (sudo, ssh) gives user and host back; a stopped one could not.
    (now.user, now.host) = (session.user.clone(), session.host);
    now.status = output.code;
    if !line.trim().is_empty() && line.len() <= limits.input {
        now.history.push(line.to_string());
        let over = now.history.len().saturating_sub(HISTORY_MAX);
        now.history.drain(..over);
    }
    *session = now;
    Ok(Reply {
        stdout: show::shorten(&output.out, limits.shown),
        stderr: show::shorten(&output.err, limits.shown),
        code: output.code,
        spent,
        showed,
    })
}
