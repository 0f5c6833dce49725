//! Where records are kept: the places that `--records` can name, and records in PostgreSQL, which
//! several processes can share.

pub mod address;
pub mod place;
pub mod postgres;

pub use address::Address;
pub use place::Place;
pub use postgres::PostgresStore;

#[cfg(test)]
mod law;
