//! Protocol files: compiling them without protoc, and comparing two versions of them.

pub mod compat;
pub mod compile;
mod flatten;

#[cfg(test)]
mod compat_tests;
#[cfg(test)]
mod compile_tests;
