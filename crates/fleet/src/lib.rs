//! All components of one episode behind one trait, in two bodies: `embedded` calls the machines
//! directly, `remote` calls the same machines over gRPC. Chosen at run time; same inputs, same
//! bits. Knows every kind; knows nothing of scenarios, steps or grades.

pub mod embedded;
pub mod error;
pub mod fleet;
pub mod halt;
pub mod kinds;
pub mod reply;
pub mod roster;

pub use embedded::EmbeddedFleet;
pub use error::FleetError;
pub use fleet::Fleet;
pub use kinds::{kind, kinds};
pub use reply::Reply;
pub use roster::{Roster, Round, Savepoint};
