//! What an agent can do: one catalogue of typed actions. Each becomes reads, orders for
//! components, a wait, or a claim; an action does not know what is broken.

pub mod error;
pub mod json;
pub mod near;

pub mod action;
pub mod site;
pub mod spec;

mod arguments;
pub mod catalogue;

pub mod help;
pub mod schema;

pub use action::Action;
pub use catalogue::{all, find, variants};
pub use error::ActionError;
pub use site::Site;
pub use spec::{ActionClass, ActionSpec, CauseClass, Claim, Duration, Effect, Reading};

#[cfg(test)]
mod tests;
