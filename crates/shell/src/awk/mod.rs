//! The language of `awk`, as far as reading needs it: fields, patterns, actions, variables,
//! counting arrays, and the usual functions. It starts no programs and opens no files.

mod lex;
mod parse;
mod run;
mod value;

pub(crate) use parse::parse;
pub(crate) use run::run;
