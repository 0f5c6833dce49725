//! Component processes on this machine: started, introduced to each other, started again at the
//! same address when they die, and stopped together. A process that comes back is empty; the
//! episodes that it held are healed by those who play them.

use crate::body::Addresses;
use crate::failure::Failure;
use chassis::Token;
use futures_util::future::{join_all, select_all};
use mesh::Channel;
use proto::control::v1::ConnectPeersRequest;
use proto::control::v1::component_client::ComponentClient;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, sleep, timeout};

/// A process says where it listens within this time.
const START: Duration = Duration::from_secs(20);
/// A process ends within this time after SIGTERM, or is killed.
const GRACE: Duration = Duration::from_secs(10);
/// A process that lived this long died of something new.
const LIVED: Duration = Duration::from_secs(30);
/// Waits between attempts to start a process again: doubling from the first to the last.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// Attempts to start a process again.
const ATTEMPTS_MAX: u32 = 12;

/// What to start.
#[derive(Clone)]
pub struct Plan {
    /// The program: this one.
    pub program: PathBuf,
    /// The kinds.
    pub kinds: Vec<String>,
    /// The token that guards the processes.
    pub token: String,
    /// What they log; `None`: what they log by themselves.
    pub log: Option<String>,
}

/// The token is a secret.
impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Plan { program, kinds, log, .. } = self;
        let mut shown = f.debug_struct("Plan");
        shown.field("program", program).field("kinds", kinds).field("log", log);
        shown.finish_non_exhaustive()
    }
}

impl Plan {
    /// All kinds as processes of this program, guarded by the token of the environment or a new
    /// random one.
    ///
    /// # Errors
    /// Where the system does not name the program, or has no random numbers.
    pub fn of_this_program() -> Result<Plan, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::failed(format!("this program is not found: {error}")))?;
        let token = match crate::body::token()? {
            Some(token) => token.header().to_str().map_err(Failure::failed)?.to_string(),
            None => random_token()?,
        };
        let kinds = fleet::kinds().iter().map(|kind| kind.name().to_string()).collect();
        Ok(Plan { program, kinds, token, log: crate::logging::asked() })
    }
}

/// 128 random bits in hexadecimal.
fn random_token() -> Result<String, Failure> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::failed(format!("the system gives no random numbers ({error}): set MAYDAY_TOKEN"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// One process.
#[derive(Debug)]
struct Charge {
    kind: String,
    address: SocketAddr,
    /// `None`: it is to be started again, unless it was given up.
    process: Option<Child>,
    given_up: bool,
    /// Open as long as the process is to run; apart, since waiting for a child closes its stdin.
    lifeline: Option<ChildStdin>,
    since: Instant,
    /// Deaths in a row.
    deaths: u32,
}

/// What a component process says on stdout when it listens.
#[derive(Deserialize)]
struct Announcement {
    address: SocketAddr,
}

/// The processes of a plan.
#[derive(Debug)]
pub struct Supervisor {
    plan: Plan,
    token: Token,
    charges: Vec<Charge>,
}

impl Supervisor {
    /// Starts all processes and introduces them to each other.
    ///
    /// # Errors
    /// Where one cannot be started; the others are stopped then.
    pub async fn start(plan: Plan) -> Result<Supervisor, Failure> {
        let token = Token::new(&plan.token).map_err(Failure::usage)?;
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let started = join_all(plan.kinds.iter().map(|kind| launch(&plan, kind, anywhere))).await;
        // Children are killed where their handles are dropped.
        let charges = started.into_iter().collect::<Result<Vec<_>, _>>()?;
        let supervisor = Supervisor { plan, token, charges };
        join_all(supervisor.charges.iter().map(|charge| supervisor.introduce(charge))).await;
        Ok(supervisor)
    }

    /// Where they listen, by kind. They keep their addresses when they are started again.
    pub fn addresses(&self) -> Addresses {
        self.charges.iter().map(|c| (c.kind.clone(), c.address.to_string())).collect()
    }

    /// What they have to be shown.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The same as text, to be passed on by environment.
    pub fn token_text(&self) -> &str {
        &self.plan.token
    }

    /// Process ids by kind, of those that run.
    pub fn processes(&self) -> Vec<(String, u32)> {
        let id = |c: &Charge| Some((c.kind.clone(), c.process.as_ref()?.id()?));
        self.charges.iter().filter_map(id).collect()
    }

    /// Starts processes again when they die. Never ends; begun again where it was left, it goes on
    /// with what was to be done.
    pub async fn watch(&mut self) {
        loop {
            let missing = |charge: &Charge| charge.process.is_none() && !charge.given_up;
            match self.charges.iter().position(missing) {
                Some(at) => self.revive(at).await,
                None => {
                    let (at, how) = self.next_death().await;
                    self.mourn(at, how);
                }
            }
        }
    }

    async fn next_death(&mut self) -> (usize, std::io::Result<ExitStatus>) {
        let running = self.charges.iter_mut().enumerate().filter_map(|(at, charge)| {
            let process = charge.process.as_mut()?;
            Some(Box::pin(async move { (at, process.wait().await) }))
        });
        let running: Vec<_> = running.collect();
        if running.is_empty() {
            return std::future::pending().await;
        }
        select_all(running).await.0
    }

    fn mourn(&mut self, at: usize, how: std::io::Result<ExitStatus>) {
        let charge = &mut self.charges[at];
        let how = how.map_or_else(|error| error.to_string(), |status| status.to_string());
        let kind = &charge.kind;
        tracing::warn!(kind, how, "a component process ended; starting it again");
        charge.deaths = if charge.since.elapsed() > LIVED { 1 } else { charge.deaths + 1 };
        (charge.process, charge.lifeline) = (None, None);
    }

    async fn revive(&mut self, at: usize) {
        let Charge { kind, address, deaths, .. } = &self.charges[at];
        let (kind, address, deaths) = (kind.clone(), *address, *deaths);
        for attempt in 0..ATTEMPTS_MAX {
            // The first time at once.
            let failures = deaths - 1 + attempt;
            if failures > 0 {
                sleep((BACKOFF.0 * 2u32.pow(failures.min(8))).min(BACKOFF.1)).await;
            }
            match launch(&self.plan, &kind, address).await {
                Ok(fresh) => {
                    self.charges[at] = Charge { deaths, ..fresh };
                    self.introduce(&self.charges[at]).await;
                    return;
                }
                Err(failure) => tracing::warn!(kind, %failure, "it cannot be started"),
            }
        }
        self.charges[at].given_up = true;
        tracing::error!(kind, "given up: stop this and start it anew");
    }

    /// Tells a process where the others are. Fleets do so too, so a failure is no disaster.
    async fn introduce(&self, charge: &Charge) {
        let Ok(channel) = Channel::tcp(&charge.address.to_string()) else { return };
        let channel = channel.with_token(Some(self.token.header()));
        let peers = self.addresses().into_iter().collect();
        let mut client = ComponentClient::new(channel);
        let asked = client.connect_peers(ConnectPeersRequest { peers });
        match timeout(Duration::from_secs(5), asked).await {
            Ok(Ok(_)) => {}
            Ok(Err(status)) => tracing::warn!(kind = charge.kind, %status, "not introduced"),
            Err(_) => tracing::warn!(kind = charge.kind, "not introduced: no answer"),
        }
    }

    /// SIGTERM to all, and after a grace the end.
    pub async fn stop(mut self) {
        for charge in &mut self.charges {
            if let Some(process) = &mut charge.process {
                // A process that waits for this end sees it, whatever the system.
                drop(charge.lifeline.take());
                terminate(process);
            }
        }
        let ends = self.charges.iter_mut().filter_map(|charge| charge.process.as_mut());
        join_all(ends.map(|process| async {
            if timeout(GRACE, process.wait()).await.is_err() {
                let _ = process.kill().await;
            }
        }))
        .await;
    }
}

/// Asks a process to end.
fn terminate(process: &Child) {
    #[cfg(unix)]
    {
        let id = process.id().and_then(|id| i32::try_from(id).ok());
        if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }
}

/// Starts one process and waits until it says where it listens.
async fn launch(plan: &Plan, kind: &str, listen: SocketAddr) -> Result<Charge, Failure> {
    let failed = |what: String| Failure::failed(format!("component process {kind}: {what}"));
    let mut command = Command::new(&plan.program);
    command.args(["component", kind, "--until-stdin-closes", "--listen", &listen.to_string()]);
    if let Some(log) = &plan.log {
        command.args(["--log", log]);
    }
    // The token by environment: every process of the machine could read arguments.
    command.env(chassis::token::VARIABLE, &plan.token);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    // Ctrl-C is for this process, which then stops them in order.
    #[cfg(unix)]
    command.process_group(0);
    let mut process = command.spawn().map_err(|e| failed(format!("cannot be started: {e}")))?;
    let stdout = process.stdout.take().ok_or_else(|| failed("has no stdout".into()))?;
    let mut lines = BufReader::new(stdout).lines();
    let line = match timeout(START, lines.next_line()).await {
        Ok(Ok(Some(line))) => line,
        Ok(Ok(None)) => return Err(failed("ended before it listened; see its log above".into())),
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Err(_) => return Err(failed(format!("did not listen within {} s", START.as_secs()))),
    };
    let announcement: Announcement =
        serde_json::from_str(&line).map_err(|error| failed(format!("said {line:?} ({error})")))?;
    let lifeline = process.stdin.take();
    Ok(Charge {
        kind: kind.into(),
        address: announcement.address,
        process: Some(process),
        given_up: false,
        lifeline,
        since: Instant::now(),
        deaths: 0,
    })
}
