//! Specifications with nothing special about them: what tests of kinds, faults, actions and traces
//! start from, so that a new field of a specification is written in one place.

use crate::edge::EdgePolicy;
use crate::exchange::CLASSES_MAX;
use crate::ids::{EdgeId, InstanceId};
use crate::noise::Noise;
use crate::params::Params;
use crate::spec::{ClassSpec, EdgeSpec, GroupSpec, InstanceSpec, Setup};

impl ClassSpec {
    /// A class that reads, enters by edge 0, has an objective of 1 s and a patience of 4 s, and is
    /// not tried again; its route has its name.
    pub fn plain(name: &str) -> ClassSpec {
        ClassSpec {
            name: name.into(),
            route: name.into(),
            cohort: String::new(),
            weight: 1.0,
            objective_s: 1.0,
            patience_s: 4.0,
            retries: 0,
            backoff_s: 0.0,
            entry: EdgeId(0),
            writes: false,
        }
    }
}

impl EdgeSpec {
    /// An edge with the policy of an edge that has none of its own, over which each request makes
    /// one call. No caller: the users'.
    pub fn plain(id: u16, from: Option<u16>, to: u16, operation: &str) -> EdgeSpec {
        EdgeSpec {
            id: EdgeId(id),
            from: from.map(InstanceId),
            to: InstanceId(to),
            operation: operation.into(),
            policy: EdgePolicy::default(),
            calls: [1.0; CLASSES_MAX],
        }
    }
}

impl GroupSpec {
    /// A group of version `v7` on a host.
    pub fn plain(name: &str, host: u16, replicas: u32) -> GroupSpec {
        GroupSpec { name: name.into(), version: "v7".into(), host: InstanceId(host), replicas }
    }
}

impl InstanceSpec {
    /// An instance without parameters.
    pub fn plain(name: &str, kind: &str, groups: Vec<GroupSpec>) -> InstanceSpec {
        InstanceSpec { name: name.into(), kind: kind.into(), params: Params::default(), groups }
    }
}

impl Setup {
    /// Instance 0 of a system, called over edge 0 by nothing but users and calling nobody.
    pub fn alone(spec: InstanceSpec) -> Setup {
        Setup {
            id: InstanceId(0),
            spec,
            incoming: vec![EdgeId(0)],
            outgoing: Vec::new(),
            callees: Vec::new(),
            classes: Vec::new(),
            hostnames: Vec::new(),
            tenants: Vec::new(),
            names: Vec::new(),
            noise: Noise::root(1),
        }
    }
}
