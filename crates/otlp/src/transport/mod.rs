//! The ways to a collector: one request, its answer, and whether it is worth another try.

mod grpc;
mod web;

use crate::config::{Protocol, Target};
use crate::payload::{Payload, Signal};

/// Why a request was not taken.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    /// For the log.
    pub(crate) cause: String,
    /// The same request may be taken later.
    pub(crate) again: bool,
}

/// What a collector said to a request that it took.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Taken {
    /// Items of it that it did not take.
    pub(crate) rejected: u64,
    /// Why, or a warning.
    pub(crate) message: String,
}

impl Taken {
    /// Of the parts of a partial success; counts are never negative.
    fn new((rejected, message): (i64, String)) -> Taken {
        Taken { rejected: u64::try_from(rejected).unwrap_or(0), message }
    }
}

/// A way to a collector, for one signal.
#[derive(Debug)]
pub(crate) enum Transport {
    Grpc(grpc::Grpc),
    Web(Box<web::Web>),
}

impl Transport {
    /// Connects when first used. Needs a runtime.
    pub(crate) fn new(signal: Signal, target: &Target) -> Transport {
        match target.protocol {
            Protocol::Grpc => Transport::Grpc(grpc::Grpc::new(signal, target)),
            Protocol::HttpProtobuf => Transport::Web(Box::new(web::Web::new(target))),
        }
    }

    /// Sends a request.
    pub(crate) async fn send(&mut self, payload: &Payload) -> Result<Taken, Refused> {
        match self {
            Transport::Grpc(way) => way.send(payload).await,
            Transport::Web(way) => way.send(payload).await,
        }
    }
}
