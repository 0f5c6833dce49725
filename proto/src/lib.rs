//! Generated code of the files in `proto/mayday`, and their descriptors. No logic: conversions to
//! and from the model live where they are used, in `mesh` and `chassis`.

mod r#gen;

pub use r#gen::mayday::*;

/// Descriptors of all files, for reflection.
pub const DESCRIPTOR: &[u8] = include_bytes!("../descriptor.bin");
