//! A PostgreSQL server for tests: made in a folder of its own, run as a user without rights, and
//! gone with the process that made it, however that ends.

mod programs;
mod server;

pub use programs::{found, skip};
pub use server::{Listen, PASSWORD, Server, USER};
