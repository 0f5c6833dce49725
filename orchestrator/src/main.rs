//! The one binary of mayday.
fn main() {}
