//! What a terminal may look at, and what it sees: the vocabulary between the terminal and whoever
//! lets it act on a system.

use crate::ids::InstanceId;
use crate::query::{Answer, Query};
use serde::{Deserialize, Serialize};

/// A look at the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Look {
    /// The public map: components, hosts, groups.
    Site,
    /// A question to a component or host.
    Component {
        /// Whom.
        of: InstanceId,
        /// What.
        query: Query,
    },
    /// The addresses that a host gets for a name.
    Resolve {
        /// The host that asks.
        from: InstanceId,
        /// The name, without a final dot.
        name: String,
    },
    /// One request from a host to a component, over the request plane.
    Request {
        /// The host that asks.
        from: InstanceId,
        /// Whom.
        to: InstanceId,
        /// Path and query, from the `/` on.
        path: String,
    },
}

/// What was seen; each [`Look`] has its variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sight {
    /// The public map.
    Site(Site),
    /// A component's answer.
    Answer(Answer),
    /// Addresses; none: the name does not exist.
    Addresses(Vec<Located>),
    /// The reply to a request.
    Reply(WebReply),
}

/// Whom a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Located {
    /// Whose address it is.
    pub owner: InstanceId,
    /// How long whoever asks may keep it, seconds; 0: it is known on the host itself.
    pub ttl_s: f64,
}

/// The public map of a system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Components and hosts by id.
    pub members: Vec<Member>,
}

/// One component or host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its id.
    pub id: InstanceId,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Its replica groups; hosts have none.
    pub groups: Vec<MemberGroup>,
}

/// One replica group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemberGroup {
    /// Its name.
    pub name: String,
    /// The host it runs on.
    pub host: InstanceId,
}

/// The reply to a request, as an HTTP client sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WebReply {
    /// Status; 0: no answer in time.
    pub status: u16,
    /// Seconds until the reply.
    pub latency_s: f64,
    /// The body.
    pub body: String,
}

impl Site {
    /// The member called `name`.
    pub fn find(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|m| m.name == name)
    }

    /// The member with this id.
    pub fn member(&self, id: InstanceId) -> Option<&Member> {
        self.members.iter().find(|m| m.id == id)
    }
}
