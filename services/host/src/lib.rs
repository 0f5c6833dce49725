//! The host: files, inodes, processes, units, sockets and the clock of one computer of the
//! simulated system. It owns whether a process runs; components only ask.

mod disk;
mod grpc;
mod kind;
mod layout;
mod machine;
mod process;
mod signals;
mod terminal;
mod view;

pub use grpc::routes;
pub use kind::{Host, KIND};
