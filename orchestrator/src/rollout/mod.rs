//! Many episodes over one connection, for trainers: `worker` answers requests that come line by
//! line, `policy` lets built-in agents play, `trajectory` is what an episode leaves for learning.
//! Like the agents' port it knows tasks by their opaque names and never says what is true.

pub mod ledger;
pub mod pipes;
pub mod player;
pub mod policy;
pub mod request;
pub mod trajectory;
pub mod worker;

#[cfg(test)]
mod tests;
