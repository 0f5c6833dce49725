//! What all transports share.

use crate::environment::Environment;
use crate::openapi;
use crate::page;
use crate::play::Session;
use crate::schema;
use crate::settings::Settings;
use crate::table::Table;
use axum::body::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Calls that make an environment for themselves alone, at once.
const THROWAWAY_MAX: usize = 32;
/// Sessions are swept at least this often, and at most so.
const SWEEP: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// The server behind all transports.
#[derive(Debug)]
pub struct Desk {
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) settings: Settings,
    pub(crate) table: Arc<Table>,
    /// No new work: sockets close.
    pub(crate) stop: CancellationToken,
    /// Open sockets and running steps.
    pub(crate) tasks: TaskTracker,
    pub(crate) throwaway: Semaphore,
    pub(crate) texts: Texts,
}

/// Answers that never change.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) metadata: Bytes,
    pub(crate) schema: Bytes,
    pub(crate) openapi: Bytes,
    pub(crate) docs: Bytes,
    pub(crate) page: Bytes,
}

impl Desk {
    /// Over this environment. [`Desk::upkeep`] has to run beside it.
    pub fn new(environment: Arc<dyn Environment>, settings: Settings) -> Arc<Desk> {
        let catalogue = environment.catalogue();
        let schema = schema::published(catalogue);
        let openapi = openapi::document(catalogue, &schema, settings.simulation);
        let about = serde_json::to_string(&catalogue.about).unwrap_or_default();
        let texts = Texts {
            metadata: about.into(),
            schema: schema.to_string().into(),
            docs: page::docs(catalogue, &openapi).into(),
            page: page::front(catalogue, &settings).into(),
            openapi: openapi.to_string().into(),
        };
        Arc::new(Desk {
            table: Arc::new(Table::new(environment.clone(), &settings)),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            throwaway: Semaphore::new(THROWAWAY_MAX),
            environment,
            settings,
            texts,
        })
    }

    /// Ends sessions that nobody comes back to, until the server is drained.
    pub async fn upkeep(&self) {
        let shortest = self.settings.idle.min(self.settings.grace) / 4;
        let mut every = tokio::time::interval(shortest.clamp(SWEEP.0, SWEEP.1));
        while self.stop.run_until_cancelled(every.tick()).await.is_some() {
            self.table.sweep();
        }
    }

    /// How it behaves.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sessions that are held, and the most there may be.
    pub fn load(&self) -> (usize, usize) {
        self.table.load()
    }

    /// Lets running steps be answered, then closes every socket with 1012 and ends every session.
    pub async fn drain(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.table.clear();
    }

    /// A session that serves one call.
    pub(crate) fn passing(&self) -> Session {
        Session::new(None, self.environment.clone())
    }

    /// To its end, whether or not the caller still waits for it.
    pub(crate) async fn whole<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.tasks.spawn(work).await.ok()
    }
}
