//! The binary as its users meet it: arguments in, stdout, stderr and exit code out. Scenarios are
//! those of `tests/library`, whose balance does not move.

mod backend;
mod batch;
mod bench;
mod ctl;
mod distributed;
mod eval;
mod kit;
mod play;
mod postgres;
mod processes;
mod python;
#[cfg(target_os = "linux")]
mod readme;
mod records;
mod replicas;
mod rollout;
mod serve;
mod served;
mod soak;
mod telemetry;
mod usage;
mod violence;
