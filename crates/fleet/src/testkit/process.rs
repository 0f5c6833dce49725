//! A component process of the toy kinds, in a runtime of its own that can be killed: connections
//! are cut and everything it held is gone.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use chassis::{Component, Config, Limits, Token};
use tokio::sync::oneshot;

use crate::kinds::Part;

pub(crate) struct Process {
    runtime: Option<tokio::runtime::Runtime>,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: oneshot::Receiver<Result<(), String>>,
}

impl Process {
    /// Listens on a port of the kernel's choice.
    pub(crate) fn start(part: Part, token: Option<Token>) -> Process {
        Process::start_at(part, token, SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    pub(crate) fn start_at(part: Part, token: Option<Token>, listen: SocketAddr) -> Process {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let limits = Limits::default();
        let config = Config { listen, token, limits, reflection: true };
        let handle = runtime.handle().clone();
        let bound = std::thread::scope(|threads| {
            let bind = || handle.block_on(Component::bind(part.kind, config));
            threads.spawn(bind).join().expect("binding ends")
        });
        let component = bound.expect("the address is free");
        let address = component.address();
        let (stop, stopped) = oneshot::channel::<()>();
        let (end, ended) = oneshot::channel();
        runtime.spawn(async move {
            let stop = async {
                let _ = stopped.await;
            };
            let outcome = component.run(part.requests, stop).await;
            let _ = end.send(outcome.map_err(|error| error.to_string()));
        });
        Process { runtime: Some(runtime), address, stop: Some(stop), ended }
    }

    /// All at once, without a word.
    pub(crate) fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// As SIGTERM does; the outcome of the drain.
    pub(crate) async fn drain(mut self) -> Result<(), String> {
        drop(self.stop.take());
        (&mut self.ended).await.expect("the process ends by itself")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where processes listen, by kind.
pub(crate) fn addresses(parts: &[Part], processes: &[Process]) -> BTreeMap<String, String> {
    let named = parts.iter().zip(processes);
    named.map(|(part, process)| (part.kind.name().into(), process.address.to_string())).collect()
}
