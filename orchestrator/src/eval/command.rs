//! One run of an agent's command: started with what it has to know in its environment, ended with
//! everything that it has started.

use crate::failure::Failure;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// Variables of this program begin so: secrets, and addresses that are not for an agent.
const WITHHELD: &str = "MAYDAY_";
/// What one run says is kept up to here, bytes.
const LOG_MAX: u64 = 16 << 20;
/// After SIGTERM it has this long.
const GRACE: Duration = Duration::from_secs(2);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Itself(ExitStatus),
    /// It was ended after the deadline.
    Deadline,
    /// The episode was over, and it did not leave.
    Lingered,
}

impl Exit {
    /// For people.
    pub fn words(self) -> String {
        match self {
            Exit::Deadline => "ended at the deadline".into(),
            Exit::Lingered => "ended after the episode".into(),
            Exit::Itself(status) => match status.code() {
                Some(code) => format!("exit code {code}"),
                None => signal_of(status),
            },
        }
    }

    /// The shell did not find the command, or may not run it.
    pub fn is_no_command(self) -> bool {
        matches!(self, Exit::Itself(status) if matches!(status.code(), Some(126 | 127)))
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    status.signal().map_or("ended".into(), |signal| format!("signal {signal}"))
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> String {
    "ended".into()
}

/// A command that runs; dropped, all that it has started is killed.
#[derive(Debug)]
struct Running {
    child: Child,
    id: Option<u32>,
}

impl Running {
    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let id = self.id.and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(rustix::process::Pid::from_raw) {
            // Nobody is left in it where this fails.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// Ends it in order, if it obeys.
    async fn end(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
    }
}

/// How long a command may run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In all.
    pub deadline: Duration,
    /// After its episode is over.
    pub linger: Duration,
}

/// Runs `command` in a shell. What it says goes to the file `log`. `over` is ready when there is
/// nothing left for it to do.
///
/// # Errors
/// Where there is no shell, or the log cannot be written.
pub async fn run(
    command: &str,
    variables: &[(&str, String)],
    log: &Path,
    limits: Limits,
    over: impl Future<Output = ()>,
) -> Result<Exit, Failure> {
    let (mut running, logged) = start(command, variables, log)?;
    let lingered = async {
        over.await;
        tokio::time::sleep(limits.linger).await;
    };
    let exit = tokio::select! {
        status = running.child.wait() => Exit::Itself(status.map_err(Failure::failed)?),
        () = lingered => Exit::Lingered,
        () = tokio::time::sleep(limits.deadline) => Exit::Deadline,
    };
    if !matches!(exit, Exit::Itself(_)) {
        running.end().await;
    }
    // All that it has started is killed with it; what left the group is not waited for.
    drop(running);
    let _ = tokio::time::timeout(GRACE, logged).await;
    Ok(exit)
}

/// Begins it; the second is ready when nobody is left who could say anything.
fn start(
    command: &str,
    variables: &[(&str, String)],
    log: &Path,
) -> Result<(Running, oneshot::Receiver<()>), Failure> {
    let cannot = |error: std::io::Error| {
        Failure::failed(format!("the log {} cannot be written: {error}", log.display()))
    };
    let file = File::create(log).map_err(cannot)?;
    let (said, out) = std::io::pipe().map_err(cannot)?;
    let both = out.try_clone().map_err(cannot)?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(out).stderr(both);
    #[expect(clippy::disallowed_methods, reason = "what is withheld is known by its beginning")]
    let own = std::env::vars_os().map(|(name, _)| name);
    own.filter(|name| name.to_string_lossy().starts_with(WITHHELD)).for_each(|name| {
        shell.env_remove(name);
    });
    shell.envs(variables.iter().map(|(name, value)| (name, OsString::from(value))));
    // Of its own, so that Ctrl-C is ours and its children are found.
    #[cfg(unix)]
    shell.process_group(0);
    let child = shell.kill_on_drop(true).spawn().map_err(|error| {
        Failure::failed(format!("the agent's command needs a shell, and `sh`: {error}"))
    })?;
    // It holds the ends that are written to.
    drop(shell);
    let (tell, told) = oneshot::channel();
    let copying = std::thread::Builder::new().name("agent's log".into()).spawn(move || {
        // A full disk is no reason to hold the agent up.
        let _ = keep(said, file, LOG_MAX);
        drop(tell);
    });
    copying.map_err(cannot)?;
    Ok((Running { id: child.id(), child }, told))
}

/// Keeps what is said up to `most` bytes, and takes the rest.
fn keep(mut said: impl Read, mut log: impl Write, most: u64) -> std::io::Result<()> {
    let kept = std::io::copy(&mut said.by_ref().take(most), &mut log);
    let more = std::io::copy(&mut said, &mut std::io::sink())?;
    kept?;
    if more > 0 {
        writeln!(log, "\n[{more} bytes more, which are not kept]")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn end_of(command: &str, deadline_ms: u64, over: bool) -> (Exit, String) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let limits = Limits {
            deadline: Duration::from_millis(deadline_ms),
            linger: Duration::from_millis(1),
        };
        let variables = [("MAYDAY_TASK", "task-1".to_string())];
        let over = async move {
            if !over {
                std::future::pending::<()>().await;
            }
        };
        let exit = run(command, &variables, &log, limits, over).await.unwrap();
        (exit, std::fs::read_to_string(log).unwrap())
    }

    #[test]
    fn a_log_has_an_end() {
        let kept = |said: &str| {
            let mut log = Vec::new();
            keep(said.as_bytes(), &mut log, 8).unwrap();
            String::from_utf8(log).unwrap()
        };
        assert_eq!(kept("12345678"), "12345678");
        assert_eq!(kept("123456789a"), "12345678\n[2 bytes more, which are not kept]\n");
    }

    #[tokio::test]
    async fn commands_end_by_themselves_or_are_ended() {
        let (exit, said) = end_of("echo $MAYDAY_TASK; echo oh >&2; exit 3", 60_000, false).await;
        assert_eq!((exit.words().as_str(), said.as_str()), ("exit code 3", "task-1\noh\n"));
        assert!(!exit.is_no_command());
        let (exit, _) = end_of("kill -9 $$", 60_000, false).await;
        assert_eq!(exit.words(), "signal 9");
        let (exit, _) = end_of("/no/such/agent", 60_000, false).await;
        assert!(exit.is_no_command());
        // Its children end with it, or the test would wait for them.
        assert_eq!(end_of("sleep 1000 & sleep 1000", 20, false).await.0, Exit::Deadline);
        assert_eq!(end_of("sleep 1000", 60_000, true).await.0, Exit::Lingered);
    }
}
