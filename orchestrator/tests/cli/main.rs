//! The binary as its users meet it: arguments in, stdout, stderr and exit code out. Scenarios are
//! those of `tests/library`, whose balance does not move.

mod batch;
mod distributed;
mod kit;
mod postgres;
mod records;
mod served;
mod usage;
mod violence;
