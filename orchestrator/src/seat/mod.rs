//! A person's seat: what is typed becomes actions, and what comes back is shown. Everything here
//! but the input is a function of its arguments.

pub mod complete;
pub mod input;
pub mod keys;
pub mod line;
pub mod screen;
pub mod session;
#[cfg(unix)]
pub mod typing;
pub mod verdict;
pub mod words;
