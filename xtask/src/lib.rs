//! The repository's own tasks: the gate (`check`), code generation, documentation and test runs.
//! Nothing here is part of the product. `tasks` is the list of commands, `checks` the list of
//! gates; each member of a list is one file.

pub mod checks;
pub mod clippy_bans;
pub mod clippy_files;
pub mod compose;
pub mod generated;
pub mod outcome;
pub mod process;
pub mod protos;
pub mod source_tree;
pub mod tasks;
pub mod workspace;
