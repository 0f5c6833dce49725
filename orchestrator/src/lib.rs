//! Drives episodes and serves them: batches of built-in agents, sessions of agents elsewhere,
//! component processes and their supervision, records, and the command line over all of it. Start
//! with `commands`, the list; `play` is one episode from reset to grade.

pub mod agent;
pub mod agents;
pub mod agents_port;
pub mod batch;
pub mod bench;
pub mod body;
pub mod cli;
pub mod commands;
pub mod console;
pub mod control;
pub mod dialects;
pub mod eval;
pub mod export;
pub mod failure;
pub mod given;
pub mod hosting;
pub mod ids;
pub mod judge;
pub mod keeper;
pub mod keeping;
pub mod keyed;
pub mod live;
pub mod logging;
pub mod look;
pub mod narrate;
pub mod play;
pub mod pool;
pub mod preflight;
pub mod report;
pub mod rollout;
pub mod runtime;
pub mod seat;
pub mod seeds;
pub mod service;
pub mod serving;
pub mod sessions;
pub mod shelf;
pub mod stage;
pub mod stats;
pub mod supervisor;
pub mod task_key;
pub mod tracer;
