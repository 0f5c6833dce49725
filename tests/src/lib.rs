//! The integration tests: one binary, see `tests/suite`.
