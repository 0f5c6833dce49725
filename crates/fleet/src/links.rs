//! The ways from a fleet to the component processes, one per kind, shared by all episodes: over
//! sockets, or to the same server stacks inside this process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use chassis::{Desk, Limits, Token};
use mesh::{AddressError, Channel};

use crate::error::FleetError;
use crate::kinds::Part;

/// One way per kind.
#[derive(Debug)]
pub struct Links {
    links: BTreeMap<String, Link>,
    /// In memory only: the processes that are none.
    desks: Vec<Desk>,
    heals: AtomicU64,
}

/// The way to one kind.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where it goes; `None`: inside this process.
    pub address: Option<String>,
    /// The way.
    pub channel: Channel,
    /// It gives no answer, and somebody has been told.
    silent: Arc<AtomicBool>,
}

impl Link {
    fn new(address: Option<String>, channel: Channel) -> Link {
        Link { address, channel, silent: Arc::default() }
    }

    /// Nothing was answered for a while; whether that is news.
    pub(crate) fn note_silence(&self) -> bool {
        !self.silent.swap(true, Ordering::Relaxed)
    }

    /// Something was answered; whether that is news.
    pub(crate) fn note_answer(&self) -> bool {
        self.silent.load(Ordering::Relaxed) && self.silent.swap(false, Ordering::Relaxed)
    }
}

impl Links {
    /// To processes that listen at these addresses, by kind. Connects when first called; names are
    /// looked up again at every new connection. Needs a tokio runtime.
    ///
    /// # Errors
    /// Where an address is not one.
    pub fn tcp(
        addresses: &BTreeMap<String, String>,
        token: Option<&Token>,
    ) -> Result<Arc<Links>, AddressError> {
        let mut links = BTreeMap::new();
        for (kind, address) in addresses {
            let channel = Channel::tcp(address)?.with_token(token.map(Token::header));
            links.insert(kind.clone(), Link::new(Some(address.clone()), channel));
        }
        Ok(Arc::new(Links { links, desks: Vec::new(), heals: AtomicU64::new(0) }))
    }

    /// To the server stacks of `parts` in this process: generated clients on generated servers, no
    /// socket, no task, no timer.
    pub fn in_memory(parts: &[Part], limits: Limits) -> Arc<Links> {
        let (mut links, mut desks, mut bindings) = (BTreeMap::new(), Vec::new(), Vec::new());
        for part in parts {
            let (channel, binding) = Channel::late();
            links.insert(part.kind.name().to_string(), Link::new(None, channel));
            desks.push(Desk::new(part.kind, limits, None));
            bindings.push(binding);
        }
        for ((part, desk), binding) in parts.iter().zip(&desks).zip(bindings) {
            // Components call in circles, a kind even its own: hence late channels.
            links.iter().for_each(|(kind, link)| desk.peers.set(kind, link.channel.clone()));
            binding.bind(desk.in_memory(part.requests, None));
        }
        Arc::new(Links { links, desks, heals: AtomicU64::new(0) })
    }

    /// The way to `kind`.
    ///
    /// # Errors
    /// Where there is none.
    pub fn to(&self, kind: &str) -> Result<&Link, FleetError> {
        self.links.get(kind).ok_or_else(|| {
            let known: Vec<_> = self.links.keys().map(String::as_str).collect();
            FleetError::defect(format!("no address for kind {kind:?}; known: {}", known.join(", ")))
        })
    }

    /// Addresses by kind, to introduce the processes to each other; empty in memory.
    pub fn addresses(&self) -> BTreeMap<String, String> {
        let listed = self.links.iter();
        listed.filter_map(|(kind, link)| Some((kind.clone(), link.address.clone()?))).collect()
    }

    /// How often a kind was healed that had lost an episode, over all fleets of these links.
    pub fn heals(&self) -> u64 {
        self.heals.load(Ordering::Relaxed)
    }

    pub(crate) fn count_heal(&self) {
        self.heals.fetch_add(1, Ordering::Relaxed);
    }

    /// In memory only: the desks of the kinds, in alphabetical order.
    pub fn desks(&self) -> &[Desk] {
        &self.desks
    }
}

impl Drop for Links {
    /// Desks in memory reach each other, and themselves, through their peers: cut the circle.
    fn drop(&mut self) {
        self.desks.iter().for_each(|desk| desk.peers.clear());
    }
}
