//! Tests of actions as taken, against a small system of toy kinds.

mod kit;
mod rows;
