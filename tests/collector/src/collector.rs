//! A running collector, and what it was sent.

use crate::captured::{Captured, Manners, Shelf};
use crate::{grpc, web};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// A running collector; it ends with the process.
#[derive(Debug)]
pub struct Collector {
    address: SocketAddr,
    shelf: Arc<Shelf>,
}

impl Collector {
    /// One that is asked over gRPC.
    ///
    /// # Panics
    /// Where the system has no socket or thread for it.
    pub fn grpc(manners: Manners) -> Collector {
        Collector::start(manners, grpc::serve)
    }

    /// One that is asked over HTTP.
    ///
    /// # Panics
    /// As [`Collector::grpc`].
    pub fn http(manners: Manners) -> Collector {
        Collector::start(manners, web::serve)
    }

    fn start(manners: Manners, serve: fn(TcpListener, Arc<Shelf>)) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shelf = Arc::new(Shelf::new(manners));
        let kept = shelf.clone();
        std::thread::spawn(move || serve(listener, kept));
        Collector { address, shelf }
    }

    /// Where it listens.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Export requests that it took, in the order in which they came.
    pub fn taken(&self) -> Vec<Captured> {
        self.shelf.taken()
    }

    /// Those of one signal (`traces`, `logs` or `metrics`), as bytes.
    pub fn bytes(&self, signal: &str) -> Vec<Vec<u8>> {
        let taken = self.taken().into_iter().filter(|one| one.signal == signal);
        taken.map(|one| one.bytes).collect()
    }
}
