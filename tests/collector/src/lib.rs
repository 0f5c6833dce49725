//! A collector of OTLP for tests: in this process, on a port that the kernel chooses. It keeps
//! every export request as it came and answers as it was told to.

mod captured;
mod collector;
mod grpc;
mod web;

pub use captured::{Captured, Manners};
pub use collector::Collector;
