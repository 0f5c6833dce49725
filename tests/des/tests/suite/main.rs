//! The simulator held against what is known exactly, and against the rules it states. One binary.

mod calls;
mod faults;
mod graph;
mod guards;
mod repeat;
mod stations;
mod support;
mod verdicts;
