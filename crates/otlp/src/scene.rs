//! Who telemetry is about: one resource per simulated instance of one episode.

use crate::attribute::{text, texts};
use crate::names;
use model::{Digester, EpisodeId, InstanceId, Topology};
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use std::collections::BTreeSet;

/// The instances of an episode.
#[derive(Clone, Debug)]
pub struct Scene {
    topology: Topology,
    resources: Vec<Resource>,
}

impl Scene {
    /// The instances of `topology` in `episode`. What is in it is what everybody may know: no
    /// version either, since a deploy would make it wrong.
    pub fn new(topology: &Topology, episode: EpisodeId) -> Scene {
        let resources = topology.ids().map(|of| resource(topology, episode, of)).collect();
        Scene { topology: topology.clone(), resources }
    }

    /// The resource of an instance.
    pub(crate) fn resource(&self, of: InstanceId) -> Option<Resource> {
        self.resources.get(of.at()).cloned()
    }

    /// The name of an instance.
    pub(crate) fn name(&self, of: InstanceId) -> &str {
        self.topology.instances.get(of.at()).map_or("", |instance| &instance.name)
    }

    /// Full name of an operation of an instance.
    pub(crate) fn method(&self, of: InstanceId, operation: &str) -> String {
        let kind = self.topology.instances.get(of.at()).map_or("", |instance| &instance.kind);
        names::method(kind, operation)
    }

    /// The name of a class.
    pub(crate) fn class(&self, at: usize) -> &str {
        self.topology.classes.get(at).map_or("", |class| &class.name)
    }

    /// Whom `caller` asks for `operation`, if that can only be one.
    pub(crate) fn only_callee(&self, caller: InstanceId, operation: &str) -> Option<InstanceId> {
        let edges = self.topology.edges.iter();
        let fits = edges.filter(|e| e.from == Some(caller) && e.operation == operation);
        let callees: BTreeSet<_> = fits.map(|edge| edge.to).collect();
        callees.first().copied().filter(|_| callees.len() == 1)
    }
}

fn resource(topology: &Topology, episode: EpisodeId, of: InstanceId) -> Resource {
    let instance = &topology.instances[of.at()];
    let mut attributes = vec![
        text(names::SERVICE_NAME, &*instance.name),
        text(names::SERVICE_NAMESPACE, &*topology.name),
        text(names::SERVICE_INSTANCE_ID, instance_id(episode, &instance.name)),
    ];
    attributes.extend(host(topology, of));
    attributes.push(text(names::ENVIRONMENT, names::SIMULATION));
    attributes.push(text(names::EPISODE, episode.to_string()));
    Resource { attributes, ..Resource::default() }
}

/// The host or hosts of an instance; a host is its own, and a third party's has none here.
fn host(topology: &Topology, of: InstanceId) -> Option<KeyValue> {
    let instance = &topology.instances[of.at()];
    let mut hosts: BTreeSet<_> = instance.groups.iter().map(|group| group.host).collect();
    if instance.kind == "host" {
        hosts.insert(of);
    }
    let mut names = hosts.iter().filter_map(|host| topology.instances.get(host.at()));
    match hosts.len() {
        0 => None,
        1 => Some(text(names::HOST_NAME, &*names.next()?.name)),
        _ => Some(texts(names::HOSTS, names.map(|host| &*host.name))),
    }
}

/// A UUID (version 8, RFC 9562) made of the episode and the instance.
fn instance_id(episode: EpisodeId, instance: &str) -> String {
    let mut digester = Digester::default();
    digester.bytes(b"instance");
    digester.word(episode.0);
    digester.bytes(instance.as_bytes());
    let digest = digester.finish();
    let (high, low) = (digest.0 & !0xf000 | 0x8000, digest.1 & !(0b11 << 62) | 0b10 << 62);
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    let (d, e) = (low >> 48, low & 0xffff_ffff_ffff);
    format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
}

/// The scope of everything simulated.
pub(crate) fn scope() -> InstrumentationScope {
    let version = env!("CARGO_PKG_VERSION").to_string();
    InstrumentationScope { name: names::SCOPE.into(), version, ..Default::default() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use model::{ClassSpec, EdgeSpec, GroupSpec, InstanceSpec};

    /// gateway → auth, gateway → db; all on one host, the gateway on two.
    pub(crate) fn topology() -> Topology {
        let group = |name: &str, host: u16| GroupSpec::plain(name, host, 1);
        let instance = InstanceSpec::plain;
        let edge = EdgeSpec::plain;
        let class = ClassSpec { patience_s: 8.0, writes: true, ..ClassSpec::plain("checkout") };
        Topology {
            name: "shop".into(),
            instances: vec![
                instance("node-1", "host", vec![]),
                instance("node-2", "host", vec![]),
                instance("front", "gateway", vec![group("stable", 0), group("canary", 1)]),
                instance("login", "auth", vec![group("stable", 0)]),
                instance("orders", "db", vec![group("stable", 1)]),
            ],
            edges: vec![
                edge(0, None, 2, "Route"),
                edge(1, Some(2), 3, "Verify"),
                edge(2, Some(2), 4, "Query"),
            ],
            classes: vec![class],
            names: Vec::new(),
        }
    }

    #[test]
    fn each_instance_has_a_resource_of_its_own_that_the_episode_decides() {
        let topology = topology();
        let scene = Scene::new(&topology, EpisodeId(7));
        let keys = |of: u16| -> Vec<String> {
            let attributes = scene.resource(InstanceId(of)).unwrap().attributes;
            attributes.into_iter().map(|attribute| attribute.key).collect()
        };
        assert!(keys(3).contains(&"host.name".into()));
        assert!(keys(0).contains(&"host.name".into()), "a host is on itself");
        assert!(keys(2).contains(&"mayday.host.names".into()));
        let again = Scene::new(&topology, EpisodeId(7));
        assert_eq!(scene.resources, again.resources);
        let other = Scene::new(&topology, EpisodeId(8));
        assert!(scene.resources.iter().zip(&other.resources).all(|(a, b)| a != b));
    }

    #[test]
    fn an_instance_id_is_a_uuid() {
        let id = instance_id(EpisodeId(7), "front");
        let parts: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
        assert!(id[14..15] == *"8" && "89ab".contains(&id[19..20]), "{id}");
        assert_ne!(id, instance_id(EpisodeId(7), "login"));
    }

    #[test]
    fn the_callee_of_an_operation_is_known_where_there_is_one() {
        let mut topology = topology();
        let callee = |topology: &Topology| {
            Scene::new(topology, EpisodeId(1)).only_callee(InstanceId(2), "Query")
        };
        assert_eq!(callee(&topology), Some(InstanceId(4)));
        topology.edges[1].operation = "Query".into();
        assert_eq!(callee(&topology), None);
    }
}
