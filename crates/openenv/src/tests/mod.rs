//! The protocol over an environment that counts.

mod fuzz;
mod http;
mod play;
mod rpc;
mod socket;
mod tools;
mod toy;
mod trouble;
