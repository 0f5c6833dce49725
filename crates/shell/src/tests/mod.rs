//! Tests of the terminal on hosts of the host kind.

mod fuzz;
mod grammar;
mod programs;
mod rig;
mod tasks;
