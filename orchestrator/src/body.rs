//! Where the components of episodes are: in this process, or in processes elsewhere. Chosen at run
//! time; results do not depend on it.

use crate::export::Hub;
use crate::failure::Failure;
use chassis::Token;
use fleet::{AnyFleet, EmbeddedFleet, Links, RemoteConfig, RemoteFleet};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

/// Which body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BodyChoice {
    /// The components are called directly, in this process.
    Embedded,
    /// The components are processes of their own, asked over gRPC.
    Remote,
}

/// Options on where the components are.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BodyArgs {
    /// Where the components are; remote without --component: in processes started for this.
    #[arg(long, value_enum, value_name = "BODY")]
    pub fleet: Option<BodyChoice>,
    /// Address of a component process, once per kind; implies --fleet remote.
    #[arg(long = "component", value_name = "KIND=ADDR")]
    pub components: Vec<Peer>,
    /// Addresses for --fleet remote where no --component is given.
    #[arg(long, hide = true, env = "MAYDAY_COMPONENTS", value_name = "KIND=ADDR,…")]
    pub components_of_environment: Option<String>,
}

/// One `KIND=ADDR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The kind.
    pub kind: String,
    /// Where it listens.
    pub address: String,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Peer, String> {
        let expected = "expected KIND=HOST:PORT, such as db=127.0.0.1:7000";
        let Some((kind, address)) = text.trim().split_once('=') else {
            return Err(format!("`{text}`: {expected}"));
        };
        if address.is_empty() || address.contains([',', ' ', '=']) {
            return Err(format!("`{text}`: {expected}; give --component once per kind"));
        }
        check_kind(kind)?;
        Ok(Peer { kind: kind.into(), address: address.into() })
    }
}

/// The kind has to exist.
///
/// # Errors
/// Names the nearest one, and all there are.
pub fn check_kind(kind: &str) -> Result<(), String> {
    let known: Vec<_> = fleet::kinds().iter().map(|kind| kind.name()).collect();
    match fleet::kind(kind) {
        Some(_) => Ok(()),
        None => Err(action::near::suggestion("kind", kind, &known)),
    }
}

/// Addresses by kind.
pub type Addresses = BTreeMap<String, String>;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// In this process.
    Embedded,
    /// In these processes.
    Remote(Addresses),
    /// In processes that are yet to be started.
    Private,
}

impl BodyArgs {
    /// What they ask for.
    ///
    /// # Errors
    /// Where they contradict each other.
    pub fn wanted(&self) -> Result<Wanted, Failure> {
        match (self.fleet, self.components.is_empty()) {
            (Some(BodyChoice::Embedded), false) => {
                Err(Failure::usage("--component is for --fleet remote: leave one of them out"))
            }
            (Some(BodyChoice::Embedded) | None, true) => Ok(Wanted::Embedded),
            (_, false) => Ok(Wanted::Remote(by_kind(self.components.clone())?)),
            (Some(BodyChoice::Remote), true) => match &self.components_of_environment {
                Some(text) if !text.trim().is_empty() => Ok(Wanted::Remote(parse_list(text)?)),
                _ => Ok(Wanted::Private),
            },
        }
    }
}

/// A list `KIND=ADDR,KIND=ADDR`.
///
/// # Errors
/// Where it is not one.
pub fn parse_list(text: &str) -> Result<Addresses, Failure> {
    let peers = text.split(',').filter(|word| !word.trim().is_empty()).map(str::parse);
    let peers = peers.collect::<Result<Vec<Peer>, _>>();
    by_kind(peers.map_err(|error| Failure::usage(format!("MAYDAY_COMPONENTS: {error}")))?)
}

fn by_kind(peers: Vec<Peer>) -> Result<Addresses, Failure> {
    let mut addresses = BTreeMap::new();
    for Peer { kind, address } in peers {
        if addresses.insert(kind.clone(), address).is_some() {
            return Err(Failure::usage(format!("two addresses for kind `{kind}`: give one")));
        }
    }
    Ok(addresses)
}

/// Addresses as one word.
pub fn list(addresses: &Addresses) -> String {
    let each: Vec<_> = addresses.iter().map(|(kind, at)| format!("{kind}={at}")).collect();
    each.join(",")
}

/// Where components are; sharable between threads.
#[derive(Clone, Debug)]
pub enum Body {
    /// In this process.
    Embedded,
    /// In others.
    Remote {
        /// Where they listen, by kind.
        addresses: Addresses,
        /// What they are shown.
        token: Option<Token>,
    },
}

impl Body {
    /// A source of fleets for the present runtime, which owns the connections.
    ///
    /// # Errors
    /// Where an address is not one.
    pub fn source(&self) -> Result<Source, Failure> {
        let links = match self {
            Body::Embedded => None,
            Body::Remote { addresses, token } => {
                Some(Links::tcp(addresses, token.as_ref()).map_err(Failure::usage)?)
            }
        };
        Ok(Source { links, hub: None })
    }
}

/// Makes fleets over shared connections, and knows where the telemetry of their episodes goes.
#[derive(Clone, Debug)]
pub struct Source {
    links: Option<Arc<Links>>,
    hub: Option<Arc<Hub>>,
}

impl Source {
    /// The same, and telemetry of its episodes goes there.
    pub fn exporting(self, hub: Option<Arc<Hub>>) -> Source {
        Source { hub, ..self }
    }

    /// Where telemetry goes.
    pub fn hub(&self) -> Option<&Arc<Hub>> {
        self.hub.as_ref()
    }

    /// How often a component that had lost an episode was healed.
    pub fn heals(&self) -> u64 {
        self.links.as_ref().map_or(0, |links| links.heals())
    }

    /// A fleet that holds nothing yet.
    pub fn fleet(&self) -> AnyFleet {
        match &self.links {
            None => AnyFleet::Embedded(EmbeddedFleet::new(fleet::kinds())),
            Some(links) => {
                let config = RemoteConfig::default();
                AnyFleet::Remote(Box::new(RemoteFleet::new(links.clone(), config)))
            }
        }
    }
}

/// The token of the environment.
///
/// # Errors
/// Where it is no token.
pub fn token() -> Result<Option<Token>, Failure> {
    Token::from_environment().map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_components_are_read_and_written() {
        let addresses = parse_list("db=127.0.0.1:7000, app=host:1,").unwrap();
        assert_eq!(list(&addresses), "app=host:1,db=127.0.0.1:7000");
        for (text, says) in [
            ("db", "expected KIND=HOST:PORT"),
            ("db=", "expected KIND=HOST:PORT"),
            ("dbb=x:1", "did you mean `db`"),
            ("db=a:1,db=b:2", "two addresses for kind `db`"),
        ] {
            let error = parse_list(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_wanted_follows_from_the_options() {
        let peer = Peer { kind: "db".into(), address: "h:1".into() };
        let some: Addresses = [("db".to_string(), "h:1".to_string())].into();
        let environment = Some("db=h:1".to_string());
        for (fleet, given, environment, wanted) in [
            (None, false, None, Wanted::Embedded),
            (None, false, environment.clone(), Wanted::Embedded),
            (None, true, None, Wanted::Remote(some.clone())),
            (Some(BodyChoice::Remote), false, environment, Wanted::Remote(some.clone())),
            (Some(BodyChoice::Remote), false, None, Wanted::Private),
        ] {
            let components = if given { vec![peer.clone()] } else { Vec::new() };
            let args = BodyArgs { fleet, components, components_of_environment: environment };
            assert_eq!(args.wanted().unwrap(), wanted, "{args:?}");
        }
        let both = BodyArgs {
            fleet: Some(BodyChoice::Embedded),
            components: vec![peer],
            components_of_environment: None,
        };
        assert!(both.wanted().is_err());
    }
}
