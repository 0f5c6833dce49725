//! A resolved system: instances, edges, classes. Names are gone from references; what is left is
//! positions. Made by the scenario crate, read by everything else.

use crate::edge::EdgePolicy;
use crate::exchange::PerClass;
use crate::ids::{ClassId, EdgeId, InstanceId};
use crate::naming::NameSpec;
use crate::noise::Noise;
use crate::params::Params;
use serde::{Deserialize, Serialize};

/// A request class: one route as used by one cohort of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSpec {
    /// Its name, e.g. `checkout` or `checkout/beta`.
    pub name: String,
    /// The route.
    pub route: String,
    /// The cohort.
    pub cohort: String,
    /// User-minutes that a minute without one good answer per second … costs; 0 for abusive ones.
    pub weight: f64,
    /// Latency objective, seconds: later answers are not good.
    pub objective_s: f64,
    /// The user gives up after this long, seconds.
    pub patience_s: f64,
    /// Attempts after the first that the client makes.
    pub retries: u32,
    /// Mean back-off before each, seconds.
    pub backoff_s: f64,
    /// The users' edge it enters by.
    pub entry: EdgeId,
    /// Its requests write (the rest only read).
    pub writes: bool,
}

/// One edge. The users' edges come first and have no caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeSpec {
    /// Its position.
    pub id: EdgeId,
    /// The caller; `None`: the users.
    pub from: Option<InstanceId>,
    /// The callee.
    pub to: InstanceId,
    /// The operation asked for, e.g. `Verify`.
    pub operation: String,
    /// The caller's policy at the start.
    pub policy: EdgePolicy,
    /// Calls per request of each class; fractional ones are made by that share of requests.
    pub calls: PerClass,
}

/// Replicas of one version on one host in one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupSpec {
    /// Name within the instance: `stable`, `canary`, …
    pub name: String,
    /// Version label.
    pub version: String,
    /// The host they run on.
    pub host: InstanceId,
    /// How many.
    pub replicas: u32,
}

/// One named member of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceSpec {
    /// Its name, e.g. `user-db`.
    pub name: String,
    /// Its kind, e.g. `db`.
    pub kind: String,
    /// The kind's parameters, checked and complete.
    pub params: Params,
    /// Replica groups; hosts have none.
    pub groups: Vec<GroupSpec>,
}

/// A resolved system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Its name.
    pub name: String,
    /// Instances by id.
    pub instances: Vec<InstanceSpec>,
    /// Edges by id.
    pub edges: Vec<EdgeSpec>,
    /// Classes by id.
    pub classes: Vec<ClassSpec>,
    /// Names of components; those without one are found by their address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameSpec>,
}

/// One replica group as its host sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tenant {
    /// The instance.
    pub instance: InstanceId,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Position of the group in the instance.
    pub group: u8,
    /// Name of the group.
    pub group_name: String,
    /// Replicas at the start.
    pub replicas: u32,
    /// Seconds from a start to the first request served.
    pub boot_s: f64,
    /// Memory at which the host kills a replica, bytes.
    pub memory_limit: f64,
}

/// Everything that one instance is created from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Its id.
    pub id: InstanceId,
    /// Itself.
    pub spec: InstanceSpec,
    /// Edges that call it, in edge order.
    pub incoming: Vec<EdgeId>,
    /// Edges it calls over, in edge order.
    pub outgoing: Vec<EdgeSpec>,
    /// Names of the callees of `outgoing`, in the same order.
    pub callees: Vec<String>,
    /// All classes.
    pub classes: Vec<ClassSpec>,
    /// Names by which it finds those callees, in the same order; `None`: by the address.
    pub hostnames: Vec<Option<String>>,
    /// Hosts only: what runs on it, in (instance, group) order.
    pub tenants: Vec<Tenant>,
    /// Resolvers only: the names it answers for, in the order of the topology.
    pub names: Vec<NameSpec>,
    /// Its branch of the episode's noise.
    pub noise: Noise,
}

impl Topology {
    /// The id of the instance called `name`.
    pub fn instance(&self, name: &str) -> Option<InstanceId> {
        let at = self.instances.iter().position(|i| i.name == name)?;
        Some(InstanceId(u16::try_from(at).ok()?))
    }

    /// The id of the class called `name`.
    pub fn class(&self, name: &str) -> Option<ClassId> {
        let at = self.classes.iter().position(|c| c.name == name)?;
        Some(ClassId(u8::try_from(at).ok()?))
    }

    /// The edge between two named instances (`users` as the caller: an entry edge).
    pub fn edge(&self, from: &str, to: &str) -> Option<&EdgeSpec> {
        self.edges.iter().find(|e| {
            let caller = e.from.map_or("users", |id| self.instances[id.at()].name.as_str());
            caller == from && self.instances[e.to.at()].name == to
        })
    }

    /// All instance ids in order.
    pub fn ids(&self) -> impl Iterator<Item = InstanceId> + use<> {
        (0..self.instances.len()).map(|i| InstanceId(i as u16))
    }

    /// What `id` is created from in an episode with this noise.
    pub fn setup(&self, id: InstanceId, noise: Noise) -> Setup {
        let spec = self.instances[id.at()].clone();
        let outgoing: Vec<_> = self.edges.iter().filter(|e| e.from == Some(id)).cloned().collect();
        let name_of = |e: &EdgeSpec| self.instances[e.to.at()].name.clone();
        Setup {
            id,
            noise: noise.branch(&spec.name),
            incoming: self.edges.iter().filter(|e| e.to == id).map(|e| e.id).collect(),
            callees: outgoing.iter().map(name_of).collect(),
            hostnames: outgoing
                .iter()
                .map(|e| self.name_of_callee(e).map(|n| n.name.clone()))
                .collect(),
            names: self.names_of(id).cloned().collect(),
            outgoing,
            classes: self.classes.clone(),
            tenants: self.tenants(id),
            spec,
        }
    }

    /// The names that resolver `id` answers for, in order.
    pub fn names_of(&self, id: InstanceId) -> impl Iterator<Item = &NameSpec> {
        self.names.iter().filter(move |n| n.resolver == id)
    }

    /// The name by which the caller of an edge finds its callee: users have addresses, and a
    /// resolver knows what it answers for.
    pub fn name_of_callee(&self, edge: &EdgeSpec) -> Option<&NameSpec> {
        let from = edge.from?;
        self.names.iter().find(|n| n.component == edge.to && n.resolver != from)
    }

    /// What runs on host `id`, in (instance, group) order.
    pub fn tenants(&self, id: InstanceId) -> Vec<Tenant> {
        let mut tenants = Vec::new();
        for (at, instance) in self.instances.iter().enumerate() {
            for (group, spec) in instance.groups.iter().enumerate() {
                if spec.host == id {
                    tenants.push(Tenant {
                        instance: InstanceId(at as u16),
                        name: instance.name.clone(),
                        kind: instance.kind.clone(),
                        group: group as u8,
                        group_name: spec.name.clone(),
                        replicas: spec.replicas,
                        boot_s: instance.params.number("boot"),
                        memory_limit: instance.params.number("memory_limit"),
                    });
                }
            }
        }
        tenants
    }
}
