//! The processes of a host: one unit per replica group that lives here, and strays that nobody
//! asked for. A unit's restart policy is `always`, with a back-off that doubles to five minutes.

use model::{Grant, Need, Tenant, Tick};
use serde::{Deserialize, Serialize};

const BACKOFF_FIRST_S: i64 = 5;
const BACKOFF_MAX_S: i64 = 300;
/// A process that lived this long has its back-off forgotten.
const BACKOFF_RESET_S: i64 = 120;

/// One unit: the processes of one replica group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// Position among the host's tenants.
    pub(crate) tenant: usize,
    /// Replicas that serve.
    pub(crate) running: u32,
    /// Replicas on their way.
    pub(crate) booting: u32,
    /// When those serve.
    pub(crate) ready: Tick,
    /// Counts starts of the whole group.
    pub(crate) generation: u32,
    /// Counts exits that nobody ordered.
    pub(crate) exits: u32,
    pub(crate) backoff_s: i64,
    pub(crate) started: Tick,
    /// It lost its port to this stray process; 0: the port is its own.
    pub(crate) squatter: u32,
    /// Stopped and not to be restarted by the unit's policy.
    pub(crate) stopped: bool,
    /// Its files are gone: it cannot be started any more.
    pub(crate) wrecked: bool,
    /// Stopped by a signal: it is there and does nothing.
    pub(crate) paused: bool,
    /// Since when it is in its present state.
    pub(crate) since: Tick,
    /// What its processes used in the last round.
    pub(crate) cpu_cores: f64,
    /// Memory of one of them, bytes.
    pub(crate) memory: f64,
    /// Why it last went down.
    pub(crate) reason: String,
}

impl Unit {
    /// Running since before the first tick.
    pub(crate) fn up(tenant: usize, replicas: u32, start: Tick) -> Unit {
        Unit {
            tenant,
            running: replicas,
            booting: 0,
            ready: start,
            generation: 0,
            exits: 0,
            backoff_s: BACKOFF_FIRST_S,
            started: start.plus(-BACKOFF_RESET_S),
            squatter: 0,
            stopped: false,
            wrecked: false,
            paused: false,
            since: start.plus(-BACKOFF_RESET_S),
            cpu_cores: 0.0,
            memory: 0.0,
            reason: String::new(),
        }
    }

    /// Takes all its processes down and starts them again after `pause_s` and the boot time.
    pub(crate) fn restart(&mut self, now: Tick, replicas: u32, boot_s: f64, pause_s: i64) {
        self.running = 0;
        self.paused = false;
        self.since = now;
        if self.wrecked {
            return;
        }
        self.booting = replicas;
        self.ready = now.plus(pause_s + (boot_s.max(1.0)) as i64);
        self.generation += 1;
        self.started = self.ready;
        self.stopped = false;
    }

    /// All its processes ended by themselves: the unit's policy starts them again, later each time.
    pub(crate) fn exited(&mut self, now: Tick, replicas: u32, boot_s: f64, reason: &str) {
        if now.since(self.started) >= BACKOFF_RESET_S {
            self.backoff_s = BACKOFF_FIRST_S;
        }
        let pause = self.backoff_s;
        self.backoff_s = (self.backoff_s * 2).min(BACKOFF_MAX_S);
        self.exits += 1;
        self.reason = reason.into();
        self.restart(now, replicas, boot_s, pause);
    }

    /// All its processes are down and stay so until somebody starts them.
    pub(crate) fn stop(&mut self, now: Tick, reason: &str) {
        (self.running, self.booting, self.stopped) = (0, 0, true);
        self.paused = false;
        self.since = now;
        self.generation += 1;
        self.reason = reason.into();
    }

    /// Brings the number of replicas to what is needed; returns whether replicas became ready.
    pub(crate) fn settle(&mut self, now: Tick, need: &Need, tenant: &Tenant) -> bool {
        if self.stopped {
            return false;
        }
        let ready = self.booting > 0 && now >= self.ready;
        if ready {
            if self.running == 0 {
                self.since = now;
            }
            self.running += self.booting;
            self.booting = 0;
        }
        let wanted = need.replicas;
        if self.running + self.booting < wanted {
            self.booting = wanted - self.running;
            self.ready = now.plus((tenant.boot_s.max(1.0)) as i64);
        } else if self.running + self.booting > wanted {
            self.running = self.running.min(wanted);
            self.booting = wanted - self.running;
        }
        ready
    }

    pub(crate) fn grant(&self, tenant: &Tenant, base: &Grant) -> Grant {
        Grant {
            instance: tenant.instance,
            group: tenant.group,
            running: if self.paused { 0 } else { self.running },
            port_bound: self.squatter == 0,
            generation: self.generation,
            ..*base
        }
    }

    /// The process id shown for it.
    pub(crate) fn pid(&self) -> u32 {
        1000 + 10 * self.tenant as u32 + self.generation % 10
    }
}

/// A process that nobody asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stray {
    pub(crate) pid: u32,
    /// The lever pull that started it.
    pub(crate) pull: u64,
    /// What `ps` shows.
    pub(crate) command: String,
    pub(crate) cpu_cores: f64,
    pub(crate) memory: f64,
    pub(crate) started: Tick,
    /// Stopped by a signal.
    pub(crate) paused: bool,
    /// It ended, and its parent, another stray, has not asked for its exit code; 0: it lives.
    pub(crate) zombie_of: u32,
}

/// A process of the host itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Daemon {
    /// Position in [`DAEMONS`].
    pub(crate) which: usize,
    /// 0 while it is down.
    pub(crate) pid: u32,
    pub(crate) since: Tick,
}

/// What a host runs by itself: unit, first process id, port, command line.
pub(crate) const DAEMONS: &[(&str, u32, u16, &str)] = &[
    ("chrony", 431, 0, "/usr/sbin/chronyd -F 1"),
    ("cron", 402, 0, "/usr/sbin/cron -f"),
    ("ssh", 512, 22, "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups"),
    ("systemd-journald", 265, 0, "/lib/systemd/systemd-journald"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use model::InstanceId;

    fn tenant() -> Tenant {
        Tenant {
            instance: InstanceId(1),
            name: "payment".into(),
            kind: "payment".into(),
            group: 0,
            group_name: "stable".into(),
            replicas: 2,
            boot_s: 20.0,
            memory_limit: 1e9,
        }
    }

    #[test]
    fn a_crash_loop_backs_off_and_a_long_life_forgives() {
        let mut unit = Unit::up(0, 2, Tick(0));
        let need = Need::idle(InstanceId(1), 0, 2);
        let mut gaps = Vec::new();
        for _ in 0..3 {
            let now = unit.ready;
            unit.exited(now, 2, 20.0, "exit code 1");
            gaps.push(unit.ready.since(now));
            assert!(!unit.settle(unit.ready.plus(-1), &need, &tenant()));
            assert!(unit.settle(unit.ready, &need, &tenant()));
        }
        assert_eq!(gaps, [25, 30, 40]);
        let later = unit.ready.plus(500);
        unit.exited(later, 2, 20.0, "exit code 1");
        assert_eq!(unit.ready.since(later), 25);
        assert_eq!(unit.generation, 4);
    }

    #[test]
    fn without_its_files_a_unit_does_not_start() {
        let mut unit = Unit::up(0, 2, Tick(0));
        unit.wrecked = true;
        unit.stop(Tick(4), "its files are missing");
        unit.restart(Tick(5), 2, 20.0, 0);
        assert!(!unit.settle(Tick(60), &Need::idle(InstanceId(1), 0, 2), &tenant()));
        assert_eq!((unit.running, unit.booting, unit.stopped), (0, 0, true));
    }

    #[test]
    fn scaling_up_boots_and_scaling_down_is_immediate() {
        let mut unit = Unit::up(0, 2, Tick(0));
        unit.settle(Tick(10), &Need::idle(InstanceId(1), 0, 5), &tenant());
        assert_eq!((unit.running, unit.booting), (2, 3));
        assert!(unit.settle(Tick(30), &Need::idle(InstanceId(1), 0, 5), &tenant()));
        assert_eq!(unit.running, 5);
        unit.settle(Tick(31), &Need::idle(InstanceId(1), 0, 1), &tenant());
        assert_eq!((unit.running, unit.booting, unit.generation), (1, 0, 0));
    }
}
