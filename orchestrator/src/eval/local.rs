//! A server for agents on this machine, for as long as an evaluation lasts. It has no control
//! port: who evaluates is in the same process.

use super::evaluation::Evaluation;
use crate::commands::serve::serve_agents;
use crate::failure::Failure;
use crate::serving;
use axum::Router;
use openenv::{Desk, Settings};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Steps in flight get this long to end.
const DRAIN: Duration = Duration::from_secs(5);

/// A server that runs.
#[derive(Debug)]
pub struct Local {
    /// Where agents find it.
    pub url: String,
    desk: Arc<Desk>,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Local {
    /// Starts it in the present runtime, at a port that the kernel chooses.
    ///
    /// # Errors
    /// Where there is none.
    pub async fn start(evaluation: Evaluation) -> Result<Local, Failure> {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (listener, address) = serving::bind(anywhere).await?;
        let desk = Desk::new(Arc::new(evaluation), Settings::default());
        let stop = CancellationToken::new();
        let upkeep = tokio::spawn({
            let desk = desk.clone();
            async move { desk.upkeep().await }
        });
        let agents = tokio::spawn({
            let serving = serve_agents(listener, desk.clone(), Router::new(), stop.clone());
            async move {
                if let Err(failure) = serving.await {
                    tracing::error!(%failure, "agents are not served any more");
                }
            }
        });
        Ok(Local { url: format!("http://{address}"), desk, stop, tasks: vec![upkeep, agents] })
    }

    /// Ends it.
    pub async fn stop(self) {
        self.stop.cancel();
        let _ = tokio::time::timeout(DRAIN, self.desk.drain()).await;
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}
