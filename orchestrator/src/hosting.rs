//! What a process needs that holds episodes for others: scenarios, components, a grader.

use crate::body::{Body, BodyArgs, Wanted, token};
use crate::control::{ControlService, Held, Metrics};
use crate::export::{ExportArgs, Hub};
use crate::failure::Failure;
use crate::judge::AnyJudge;
use crate::keeping::Keeping;
use crate::play::RewardMode;
use crate::preflight;
use crate::service::EpisodesService;
use crate::sessions::{House, Sessions};
use crate::shelf::{LibraryArgs, Shelf};
use crate::supervisor::{Plan, Supervisor};
use crate::task_key::TaskKey;
use archive::Place;
use chassis::Token;
use otlp::Overflow;
use proto::orchestrator::v1::control_server::ControlServer;
use proto::orchestrator::v1::episodes_server::EpisodesServer;
use scenario::Scenario;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

/// Where records are kept, where none is the default.
#[derive(Clone, Debug, clap::Args)]
pub struct RecordsArgs {
    /// Where records are kept: a file, postgres://USER@HOST/DATABASE, memory or off. In the first
    /// two they outlive this process, and can be replayed.
    #[arg(
        long,
        value_name = "PLACE",
        default_value = "off",
        env = "MAYDAY_RECORDS",
        hide_env_values = true
    )]
    pub records: Place,
}

/// Options on what is played, by which components, and who grades.
#[derive(Clone, Debug, clap::Args)]
pub struct HostingArgs {
    #[command(flatten)]
    body: BodyArgs,
    /// A grader elsewhere; default: one in this process.
    #[arg(long, value_name = "ADDR", env = "MAYDAY_GRADER")]
    grader: Option<String>,
    /// When the reward is paid: with every step (training), or with the last one (evaluation: a
    /// reward on the way tells the agent what is true).
    /// Default: dense, and final where agents are evaluated.
    #[arg(long, value_enum, value_name = "MODE")]
    reward: Option<RewardMode>,
    #[command(flatten)]
    export: ExportArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// Sessions, and what has to run as long as they do.
#[derive(Debug)]
pub struct Hosted {
    /// The sessions.
    pub sessions: Arc<Sessions>,
    /// What callers of the control port have to show.
    pub token: Option<Token>,
    /// Where simulated telemetry goes, and what became of it.
    pub export: Option<Arc<Hub>>,
    supervisor: Option<Supervisor>,
    /// The control port says that the process is to end.
    stop: CancellationToken,
}

impl HostingArgs {
    /// The same for an evaluation, whose rewards are final.
    ///
    /// # Errors
    /// Where others are asked for.
    pub fn for_evaluation(&self) -> Result<HostingArgs, Failure> {
        match self.reward {
            Some(RewardMode::Dense) => Err(Failure::usage(
                "--reward dense tells the agent what is true: an evaluation pays at the end",
            )),
            _ => Ok(HostingArgs { reward: Some(RewardMode::Final), ..self.clone() }),
        }
    }

    /// The scenarios to choose from.
    ///
    /// # Errors
    /// Where a folder or a file cannot be read.
    pub fn shelf(&self) -> Result<Shelf, Failure> {
        self.library.open()
    }

    /// Makes ready; has to be called in the runtime that serves. `more`: scenarios that are played
    /// beside the tasks.
    ///
    /// # Errors
    /// Where scenarios are wrong, or components or the grader cannot be had.
    pub async fn open(
        &self,
        records: &Place,
        episodes_max: usize,
        more: &[Arc<Scenario>],
    ) -> Result<Hosted, Failure> {
        let scenarios = self.library.open()?.load_all(&[])?;
        let wanted = self.body.wanted()?;
        let store = Keeping::new(records.open().map_err(Failure::usage)?);
        let token = token()?;
        let export = self.export.begin(Overflow::Drop)?;
        if let Some(grader) = &self.grader {
            chassis::probe(grader).await.map_err(no_grader)?;
        }
        let mut supervisor = None;
        let body = match wanted {
            Wanted::Embedded => Body::Embedded,
            Wanted::Remote(addresses) => {
                let played = scenarios.iter().chain(more).map(|s| &**s);
                preflight::complete(played, &addresses)?;
                Body::Remote { addresses, token: token.clone() }
            }
            Wanted::Private => {
                let started = Supervisor::start(Plan::of_this_program()?).await?;
                let token = Some(started.token().clone());
                let addresses = started.addresses();
                supervisor = Some(started);
                Body::Remote { addresses, token }
            }
        };
        let key = TaskKey::of_environment()?;
        let tasks = scenarios.iter().map(|s| (key.task(&s.name), s.clone()));
        let sessions = Arc::new(Sessions::new(House {
            tasks: tasks.collect(),
            source: body.source()?.exporting(export.clone()),
            judge: AnyJudge::new(self.grader.as_deref(), &body)?,
            store,
            reward: self.reward.unwrap_or_default(),
            episodes_max,
        }));
        let stop = CancellationToken::new();
        Ok(Hosted { sessions, token, export, supervisor, stop })
    }
}

impl Hosted {
    /// What its control port serves: episodes, control, metrics. `held`: where agents have a port.
    pub fn control(&self, held: Option<Held>) -> Routes {
        let metrics = Metrics::new(self.sessions.clone(), self.export.clone(), held);
        let episodes = EpisodesServer::new(EpisodesService::new(self.sessions.clone()));
        let control = ControlService::new(self.sessions.clone(), self.stop.clone());
        let routes = Routes::from(metrics.router());
        routes.add_service(episodes).add_service(ControlServer::new(control))
    }

    /// Until a signal, or the word of the control port; component processes of its own are looked
    /// after meanwhile.
    pub async fn until_stopped(&mut self) {
        let (told, supervisor) = (self.stop.clone(), &mut self.supervisor);
        let watching = async {
            match supervisor {
                None => std::future::pending().await,
                Some(supervisor) => supervisor.watch().await,
            }
        };
        tokio::select! {
            () = watching => {}
            () = told.cancelled() => {}
            () = chassis::stop_signal() => {}
        }
    }

    /// Stops component processes of its own, and sends the telemetry that still waits.
    pub async fn stop(self) {
        if let Some(supervisor) = self.supervisor {
            supervisor.stop().await;
        }
        if let Some(hub) = self.export {
            hub.finish().await;
        }
    }
}

/// An address that is none is a wrong option; one without an answer is a failure.
fn no_grader(error: chassis::ProbeError) -> Failure {
    let text = format!("--grader: {error}");
    match error {
        chassis::ProbeError::Address(_) => Failure::usage(text),
        _ => Failure::failed(text),
    }
}
