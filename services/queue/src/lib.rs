//! Queue: a broker and the group of consumers that handles its messages. A publish is acknowledged
//! at once; what it put off is done when a consumer comes to it.

mod backlog;
mod broker;
mod foresight;
mod grpc;
mod kind;
mod machine;
mod plan;
mod signals;

pub use grpc::routes;
pub use kind::{KIND, Queue};

#[cfg(test)]
mod tests;
