//! All components of one episode behind one trait, in two bodies: `embedded` calls the machines
//! directly, `remote` calls the same machines over gRPC. Chosen at run time; same inputs, same
//! bits. Knows every kind; knows nothing of scenarios, steps or grades.

pub mod any;
mod client;
pub mod embedded;
pub mod error;
pub mod fleet;
mod halt;
pub mod kinds;
pub mod links;
pub mod remote;
pub mod reply;
pub mod retry;
pub mod roster;

#[cfg(test)]
mod testkit;
#[cfg(test)]
mod tests;

pub use any::AnyFleet;
pub use embedded::EmbeddedFleet;
pub use error::FleetError;
pub use fleet::{Fleet, Told};
pub use kinds::{Part, kind, kinds, part, parts};
pub use links::Links;
pub use remote::RemoteFleet;
pub use reply::Reply;
pub use retry::RemoteConfig;
pub use roster::{Roster, Round, Savepoint};
