//! Evaluation of agents elsewhere. On the side of the server: assignments, which agents play at
//! their port and nobody but the control port gives out. On the side of who evaluates: a plan, a
//! journal, an agent's command, and the report. The rules are in `docs/evaluation.md`.

pub mod command;
pub mod evaluation;
pub mod examine;
pub mod journal;
pub mod local;
pub mod office;
pub mod outcome;
pub mod plan;
pub mod proctor;
pub mod report;
pub mod runner;
pub mod secret;
pub mod service;
pub mod stats;
