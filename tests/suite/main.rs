//! The integration tests: one binary, one module per subject. `MAYDAY_SOAK` asks for full counts.

mod common;
#[cfg(target_os = "linux")]
mod containers;
mod determinism;
mod golden;
mod grading;
mod healing;
mod kinds;
mod leaks;
mod names;
mod request_plane;
mod soak;
mod terminal;
