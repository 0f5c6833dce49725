//! The simulated terminal: the grammar of a shell, and programs that read and order through a
//! [`Rig`]. No command touches the machine that this runs on. Start with `terminal`, then `eval`;
//! a program is one file in `commands`.

mod awk;
mod call;
mod clock;
mod commands;
mod eval;
mod expand;
mod fuel;
mod grammar;
mod interpreter;
mod options;
mod parameter;
mod redirect;
mod regular;
mod rig;
mod session;
mod show;
mod terminal;
mod tree;
mod units;

#[cfg(test)]
mod tests;

pub use commands::{Manual, manuals};
pub use fuel::{Limits, Spent};
pub use rig::{Pending, Rig, RigError, Spell};
pub use session::Session;
pub use terminal::{Reply, run};
