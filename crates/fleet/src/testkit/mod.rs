//! What the tests of a fleet share: toy kinds, a toy world that drives any body, and component
//! processes that can be killed.

pub(crate) mod process;
pub(crate) mod proxy;
pub(crate) mod toy;
pub(crate) mod world;

pub(crate) use process::Process;
pub(crate) use proxy::Proxy;
pub(crate) use toy::{KINDS, PARTS};
pub(crate) use world::{Script, World, hop, roster};
