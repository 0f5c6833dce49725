//! What a terminal stands on: calls that look, that change something, and that let time pass.

use model::{Look, Order, Refusal, Sight};
use std::future::Future;
use std::pin::Pin;

/// The system could not be asked: a failure of what runs the world, never one in it.
#[derive(Debug, thiserror::Error)]
#[error("the system behind the terminal does not answer")]
pub struct RigError(#[from] pub Box<dyn std::error::Error + Send + Sync>);

/// A call on its way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, RigError>> + Send + 'a>>;

/// Time that a line takes. What each is in seconds is the rig's affair, as long as that is never
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spell {
    /// A command has looked at the system.
    Look,
    /// A command has changed something; orders may have taken a part of it.
    Change,
    /// A command waits for so many seconds.
    Seconds(u32),
}

/// Whoever lets a terminal look and act.
pub trait Rig: Send {
    /// Looks at the system. Changes nothing.
    fn read<'a>(&'a mut self, look: &'a Look) -> Pending<'a, Sight>;

    /// Gives an order, and comes back when a host has done it or a component has accepted it, or
    /// with the reason why not. Time passes meanwhile.
    fn order<'a>(&'a mut self, order: &'a Order) -> Pending<'a, Result<String, Refusal>>;

    /// Lets time pass.
    fn spend(&mut self, spell: Spell) -> Pending<'_, ()>;
}
