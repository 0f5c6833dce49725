//! Payment: charges cards through a provider outside. What sets it apart is that provider.

mod behavior;
mod kind;
mod signals;

pub use kind::{KIND, Payment};
