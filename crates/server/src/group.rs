//! Replica groups: what is wanted, what the host grants, and what a restart takes away.

use model::{Grant, GroupSpec};
use serde::{Deserialize, Serialize};

/// One replica group of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Version label.
    pub version: String,
    /// Labels it can be rolled back to, newest last.
    pub before: Vec<String>,
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
}

impl Group {
    /// As the topology has it, with everything running.
    pub fn new(spec: &GroupSpec, grant: Grant, memory: f64) -> Group {
        Group {
            name: spec.name.clone(),
            version: spec.version.clone(),
            before: vec![previous(&spec.version)],
            wanted: spec.replicas,
            weight: 1.0,
            grant,
            memory,
            slots_leaked: 0.0,
            rolling_until: i64::MIN,
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

    /// New processes: what they had leaked is back.
    pub fn renew(&mut self, fresh_memory: f64) {
        self.memory = fresh_memory;
        self.slots_leaked = 0.0;
    }

    /// Replicas that serve now, while replicas are replaced three quarters of them.
    pub fn serving(&self, tick: i64) -> f64 {
        if !self.grant.port_bound {
            return 0.0;
        }
        let rolling = if tick < self.rolling_until { 0.75 } else { 1.0 };
        f64::from(self.grant.running) * self.weight * rolling
    }

    /// A new version takes over; the present one can be rolled back to.
    pub fn deploy(&mut self, version: &str) {
        let next = if version.is_empty() { next(&self.version) } else { version.to_string() };
        self.before.push(std::mem::replace(&mut self.version, next));
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
}
