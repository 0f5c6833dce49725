//! Replica groups: what is wanted, what the host grants, and what a restart takes away.

use crate::health::Rotation;
use model::{Grant, GroupSpec};
use serde::{Deserialize, Serialize};

/// A version that was replaced by a later one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// Its label.
    pub version: String,
    /// When, in ticks; the one before the topology's own was replaced long ago.
    pub at: i64,
}

/// One replica group of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Version label.
    pub version: String,
    /// Labels it can be rolled back to, newest last.
    pub before: Vec<Replaced>,
    /// Replicas wanted.
    pub wanted: u32,
    /// Share of its traffic that it takes, 0..=1.
    pub weight: f64,
    /// What the host granted last.
    pub grant: Grant,
    /// Memory of one replica, bytes.
    pub memory: f64,
    /// Slots of one replica that hang.
    pub slots_leaked: f64,
    /// Replicas are replaced one by one until this tick.
    pub rolling_until: i64,
    /// How a balancer sees its replicas.
    pub rotation: Rotation,
}

impl Group {
    /// As the topology has it, with everything running.
    pub fn new(spec: &GroupSpec, grant: Grant, memory: f64) -> Group {
        Group {
            name: spec.name.clone(),
            version: spec.version.clone(),
            before: vec![Replaced { version: previous(&spec.version), at: i64::MIN }],
            wanted: spec.replicas,
            weight: 1.0,
            grant,
            memory,
            slots_leaked: 0.0,
            rolling_until: i64::MIN,
            rotation: Rotation::default(),
        }
    }

    /// Takes a grant over; true if the processes are new ones.
    pub fn granted(&mut self, grant: &Grant, fresh_memory: f64) -> bool {
        let renewed = grant.generation != self.grant.generation;
        self.grant = *grant;
        if renewed {
            self.renew(fresh_memory);
        }
        renewed
    }

    /// New processes: what they had leaked is back, and nobody holds failed probes against them.
    pub fn renew(&mut self, fresh_memory: f64) {
        self.memory = fresh_memory;
        self.slots_leaked = 0.0;
        self.rotation = Rotation::default();
    }

    /// Whether it runs a version that is older than the topology's: what callers and data have come
    /// to need since is not in it.
    pub fn outdated(&self) -> bool {
        self.before.is_empty()
    }

    /// Replicas that serve now; while they are replaced one by one, one of them does not, and those
    /// out of rotation are replaced first.
    pub fn serving(&self, tick: i64) -> f64 {
        if !self.grant.port_bound {
            return 0.0;
        }
        let absent = u32::from(tick < self.rolling_until).max(self.rotation.kept_out());
        f64::from(self.grant.running.saturating_sub(absent)) * self.weight
    }

    /// A new version takes over; the present one can be rolled back to.
    pub fn deploy(&mut self, version: &str, at: i64) {
        let next = if version.is_empty() { next(&self.version) } else { version.to_string() };
        let version = std::mem::replace(&mut self.version, next);
        self.before.push(Replaced { version, at });
    }

    /// When the present version was deployed; long ago for the topology's own.
    pub fn deployed(&self) -> i64 {
        self.before.last().map_or(i64::MIN, |replaced| replaced.at)
    }

    /// Goes back to the version before; false if there is none.
    pub fn roll_back(&mut self) -> bool {
        let Some(replaced) = self.before.pop() else { return false };
        self.version = replaced.version;
        true
    }
}

/// The number at the end of a label and what stands before it: `v41` is (`v`, 41).
fn split(version: &str) -> (&str, u64) {
    let digits = version.len() - version.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (stem, number) = version.split_at(version.len() - digits);
    (stem, number.parse().unwrap_or(1))
}

fn next(version: &str) -> String {
    let (stem, number) = split(version);
    format!("{stem}{}", number + 1)
}

fn previous(version: &str) -> String {
    let (stem, number) = split(version);
    format!("{stem}{}", number.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::InstanceId;

    #[test]
    fn labels_count_up_and_down() {
        assert_eq!(next("v41"), "v42");
        assert_eq!(previous("2.10.0"), "2.10.0");
        assert_eq!(next("release-9"), "release-10");
    }

    #[test]
    fn a_new_generation_gives_leaked_things_back() {
        let spec = GroupSpec {
            name: "stable".into(),
            version: "v7".into(),
            host: InstanceId(0),
            replicas: 2,
        };
        let grant = Grant::ample(InstanceId(1), 0, 2);
        let mut group = Group::new(&spec, grant, 100.0);
        (group.memory, group.slots_leaked) = (900.0, 3.0);
        assert!(!group.granted(&grant, 100.0));
        assert_eq!(group.memory, 900.0);
        assert!(group.granted(&Grant { generation: 1, running: 0, ..grant }, 100.0));
        assert_eq!((group.memory, group.slots_leaked, group.serving(0)), (100.0, 0.0, 0.0));
    }

    #[test]
    fn a_rollback_goes_back_one_version_and_below_the_first_one_is_outdated() {
        let spec = GroupSpec {
            name: "stable".into(),
            version: "v7".into(),
            host: InstanceId(0),
            replicas: 2,
        };
        let mut group = Group::new(&spec, Grant::ample(InstanceId(1), 0, 2), 100.0);
        group.deploy("", -40);
        assert_eq!((group.version.as_str(), group.deployed()), ("v8", -40));
        assert!(group.roll_back() && !group.outdated());
        assert_eq!((group.version.as_str(), group.deployed()), ("v7", i64::MIN));
        assert!(group.roll_back() && group.outdated() && !group.roll_back());
    }

    #[test]
    fn one_replica_at_a_time_is_replaced() {
        let spec = GroupSpec {
            name: "stable".into(),
            version: "v7".into(),
            host: InstanceId(0),
            replicas: 4,
        };
        for (replicas, serving) in [(4, 3.0), (2, 1.0), (1, 0.0)] {
            let grant = Grant::ample(InstanceId(1), 0, replicas);
            let mut group = Group::new(&spec, grant, 100.0);
            group.rolling_until = 10;
            assert_eq!((group.serving(9), group.serving(10)), (serving, f64::from(replicas)));
        }
    }
}
