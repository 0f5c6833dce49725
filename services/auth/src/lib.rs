//! Auth: verifies tokens and logs users in. What sets it apart is secrets, sessions and clocks.

mod behavior;
mod kind;
mod signals;

pub use kind::{Auth, KIND};
