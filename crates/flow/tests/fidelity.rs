//! The flow plane held against the per-request simulation: the figures of `docs/fidelity.md`, with
//! the bands that they must keep. `-- --nocapture` prints them; `MAYDAY_SOAK=1` takes all cases.

#![expect(clippy::print_stdout, reason = "printed figures are what this test is for")]

mod chain;
mod simulated;
