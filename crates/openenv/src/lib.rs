//! The agents' protocol: OpenEnv over HTTP, WebSocket and JSON-RPC, and the Model Context Protocol
//! beside it. It knows nothing of what is played: that is an [`Environment`]. Start with `desk`,
//! what all transports share, and `table`, the sessions; `socket` is one WebSocket.

pub mod desk;
pub mod environment;
pub mod item;
pub mod options;
pub mod router;
pub mod settings;

mod http;
mod lookup;
mod openapi;
mod page;
mod play;
mod rpc;
mod schema;
mod socket;
mod table;
mod tools;
mod wire;

pub use desk::Desk;
pub use environment::{
    About, Begun, Catalogue, End, Environment, Fields, Recalled, Refusal, Seen, Split, Tool, Turn,
    Wish,
};
pub use item::{Item, Place};
pub use router::router;
pub use settings::Settings;

#[cfg(test)]
mod tests;
