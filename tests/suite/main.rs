//! The integration tests: one binary, one module per subject.

mod common;
mod determinism;
mod kinds;
mod request_plane;
