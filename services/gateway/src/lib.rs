//! The gateway: the users' entry. What sets it apart is its certificate, its routes and its limits.

mod behavior;
mod kind;
mod signals;

pub use kind::{Gateway, KIND};
