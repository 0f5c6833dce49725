//! Health checks: a balancer in front of a server probes its replicas and sends requests only to
//! those that answer in time. The replicas are counted one by one, since a group has few of them
//! and what flaps is one of them at a time.
//!
//! The rules are those of the balancers in use: a run of failed probes takes a replica out of
//! rotation and a run of passed ones brings it back (`fall` and `rise` of HAProxy, the thresholds
//! of Envoy and Kubernetes), and while too few are left, all of them take requests again (Envoy's
//! panic threshold). A probe is a request that calls nobody: it waits as long as others wait and
//! takes as long as own work takes, so it is late as often as [`flow::latency::timeout_prob`] says.
//! A replica out of rotation waits for nothing, which is why it passes and comes back.
//!
//! Without feedback the number of probes until a replica goes is the waiting time for a run of
//! `r` failures of chance p: (1 − pʳ)/((1 − p)·pʳ) (Feller, An Introduction to Probability Theory
//! and Its Applications I, XIII.7). With it, fewer replicas mean a longer wait, and that means more
//! failures.

use crate::keys;
use crate::state::Server;
use flow::latency::timeout_prob;
use machine::Cx;
use model::{GROUPS_MAX, LogLine, Order, Params, Refusal, Setup, Severity, Tick};
use serde::{Deserialize, Serialize};
use telemetry::{Change, Levels};

/// The lever of a pushed configuration: other settings of the health check.
pub const LEVER: &str = "server.probes";
/// What an order can set.
const SETTINGS: [&str; 5] = ["timeout", "period", "failures", "passes", "floor"];

/// How the balancer checks replicas.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HealthCheck {
    /// A probe that takes longer fails, seconds; 0: there are no probes.
    pub timeout_s: f64,
    /// Ticks between two probes of one replica.
    pub period: i64,
    /// Failed probes in a row that take a replica out of rotation.
    pub failures: u32,
    /// Passed probes in a row that bring it back.
    pub passes: u32,
    /// While the share of replicas in rotation is below this, all of them take requests.
    pub floor: f64,
}

impl HealthCheck {
    /// As the parameters of an instance have it.
    pub(crate) fn of(params: &Params) -> HealthCheck {
        HealthCheck {
            timeout_s: params.number("probe_timeout"),
            period: params.number("probe_period") as i64,
            failures: params.number("probe_failures") as u32,
            passes: params.number("probe_passes") as u32,
            floor: params.number("probe_floor"),
        }
    }

    /// Whether anybody probes.
    pub fn is_on(&self) -> bool {
        self.timeout_s > 0.0
    }

    /// Takes over what is given.
    fn change(&mut self, args: &Params) {
        let given = |name: &str| args.has(name).then(|| args.number(name));
        self.timeout_s = given("timeout").unwrap_or(self.timeout_s);
        self.period = given("period").map_or(self.period, |n| n as i64);
        self.failures = given("failures").map_or(self.failures, |n| n as u32);
        self.passes = given("passes").map_or(self.passes, |n| n as u32);
        self.floor = given("floor").unwrap_or(self.floor);
    }

    /// In one line, for change lists and configuration.
    pub(crate) fn describe(&self) -> String {
        let mut text = format!(
            "every {} s, time-out {} s, out of rotation after {} failed, back after {} passed",
            self.period, self.timeout_s, self.failures, self.passes
        );
        if self.floor > 0.0 {
            let floor = 100.0 * self.floor;
            text += &format!(", all take requests while fewer than {floor:.0} % are in rotation");
        }
        text
    }
}

/// How the balancer sees one replica.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Standing {
    /// It is out of rotation.
    out: bool,
    /// Probes in a row that speak for the other side.
    run: u32,
}

impl Standing {
    /// Takes the outcome of a probe; true if the replica goes out of rotation or comes back.
    fn hear(&mut self, passed: bool, check: &HealthCheck) -> bool {
        let against = passed == self.out;
        self.run = if against { self.run + 1 } else { 0 };
        let needed = if self.out { check.passes } else { check.failures };
        let turns = against && self.run >= needed.max(1);
        if turns {
            *self = Standing { out: !self.out, run: 0 };
        }
        turns
    }
}

/// How the balancer sees the replicas of a group; new processes are in rotation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// By the replica's number; empty while nobody probes.
    standing: Vec<Standing>,
    /// Replicas that fail their checks and get no requests for it.
    kept_out: u32,
}

impl Rotation {
    /// Replicas that fail their checks.
    pub fn unhealthy(&self) -> u32 {
        self.standing.iter().filter(|s| s.out).count() as u32
    }

    /// Those of them that get no requests for it: all, or none while too few would be left.
    pub fn kept_out(&self) -> u32 {
        self.kept_out
    }
}

impl Server {
    /// The health check in force: a pushed configuration stands above the one before it.
    pub fn check(&self) -> HealthCheck {
        let pushed = self.pulled(LEVER);
        pushed.fold(self.state.check, |mut check, active| {
            check.change(&active.pull.args);
            check
        })
    }

    /// Probes the replicas whose turn it is, by what the last round was like. Probes belong to the
    /// tick: later rounds of it find them done.
    pub(crate) fn probe(&mut self, cx: &mut Cx<'_>) {
        let check = self.check();
        if !check.is_on() {
            self.state.groups.iter_mut().for_each(|g| g.rotation = Rotation::default());
            return;
        }
        if self.state.probed >= cx.tick().0 {
            return;
        }
        self.state.probed = cx.tick().0;
        let open = self.is_open(&check);
        for at in 0..self.state.groups.len().min(GROUPS_MAX) {
            self.probe_group(cx, &check, at, open);
        }
        self.keep_out(&check);
    }

    /// `open`: replicas out of rotation take requests, too.
    fn probe_group(&mut self, cx: &mut Cx<'_>, check: &HealthCheck, at: usize, open: bool) {
        let busy = self.failing(check, at, true);
        let idle = if open { busy } else { self.failing(check, at, false) };
        let (tick, period) = (cx.tick().0, check.period.max(1));
        let dice = self.setup.noise.branch("probe").index(at as u64);
        let group = &mut self.state.groups[at];
        let standing = &mut group.rotation.standing;
        standing.resize(group.grant.running as usize, Standing::default());
        for (n, replica) in standing.iter_mut().enumerate() {
            let dice = dice.index(n as u64);
            // Each replica was registered at a time of its own, which is its place in the period.
            let phase = (dice.branch("phase").bits(0) >> 1) as i64 % period;
            if (tick - phase).rem_euclid(period) != 0 {
                continue;
            }
            let chance = if replica.out { idle } else { busy };
            if replica.hear(dice.unit(tick) >= chance, check) {
                let key = if replica.out { keys::REMOVED } else { keys::RETURNED };
                cx.emit(key, which(at, n), "");
            }
        }
    }

    /// Keeps those that fail from requests, if enough are left.
    fn keep_out(&mut self, check: &HealthCheck) {
        let open = self.is_open(check);
        let mut moved = false;
        for group in &mut self.state.groups {
            let kept_out = if open { 0 } else { group.rotation.unhealthy() };
            moved |= kept_out != group.rotation.kept_out;
            group.rotation.kept_out = kept_out;
        }
        if moved {
            self.tier.excuse_swing();
        }
    }

    /// Whether so few replicas are in rotation that all take requests.
    fn is_open(&self, check: &HealthCheck) -> bool {
        let (mut known, mut out) = (0, 0);
        for group in &self.state.groups {
            known += group.rotation.standing.len();
            out += group.rotation.unhealthy() as usize;
        }
        ((known - out) as f64) < check.floor * known as f64
    }

    /// Chance that a probe of a replica of group number `at` fails; `busy`: it takes requests.
    fn failing(&self, check: &HealthCheck, at: usize, busy: bool) -> f64 {
        let own_s = self.spec.service_s * self.knobs.groups[at].slow;
        let own_var = own_s * own_s * self.spec.service_cv * self.spec.service_cv;
        if !busy {
            return timeout_prob(own_s, own_var, check.timeout_s);
        }
        let round = self.tier.last();
        let refused = if round.arrived > 1e-9 { round.refused / round.arrived } else { 0.0 };
        let (mean, var) = (round.wait_s + own_s, round.wait_var_s2 + own_var);
        let late = timeout_prob(mean, var, check.timeout_s);
        (refused + (1.0 - refused) * late).clamp(0.0, 1.0)
    }

    /// # Errors
    /// A sentence for the one who ordered.
    pub(crate) fn accepts_check(&self, order: &Order) -> Result<(), Refusal> {
        if !self.check().is_on() {
            return Err(Refusal::because("no health check takes its replicas out of rotation"));
        }
        if SETTINGS.iter().any(|name| order.args.has(name)) {
            return Ok(());
        }
        Err(Refusal::because(format!("nothing to set; give one of {}", SETTINGS.join(", "))))
    }

    /// The check as it is, changed by an order, is from now on the configuration.
    pub(crate) fn set_check(&mut self, cx: &mut Cx<'_>, args: &Params) {
        let mut check = self.check();
        check.change(args);
        self.state.check = check;
        self.heal(&[LEVER]);
        cx.emit(keys::NOTE, 0.0, format!("health check: {}", check.describe()));
    }
}

/// A replica as the value of [`keys::REMOVED`] and [`keys::RETURNED`].
fn which(group: usize, replica: usize) -> f64 {
    (replica * GROUPS_MAX + group) as f64
}

/// The line that a change writes into the log of the replica that it is about.
pub(crate) fn line(setup: &Setup, levels: &Levels, change: &Change) -> Option<LogLine> {
    let timeout_ms = levels.get(keys::PROBE_TIMEOUT, 0.0);
    let (severity, message) = match change.key {
        keys::REMOVED => {
            let text = format!(
                "removed from rotation: health check timed out, no answer in {timeout_ms:.0} ms"
            );
            (Severity::Warn, text)
        }
        keys::RETURNED => (Severity::Info, "back in rotation: health checks pass".to_string()),
        _ => return None,
    };
    let (at, n) = (change.value as usize % GROUPS_MAX, change.value as usize / GROUPS_MAX);
    let group = setup.spec.groups.get(at)?;
    let replica = format!("{}-{}-{n}", setup.spec.name, group.name);
    Some(LogLine { tick: Tick(change.tick.0), severity, replica, message, trace: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Noise;

    const CHECK: HealthCheck =
        HealthCheck { timeout_s: 0.1, period: 5, failures: 3, passes: 2, floor: 0.0 };

    #[test]
    fn runs_of_probes_turn_a_replica() {
        // Probes as they come (+ passed, − failed), and where it stands after each.
        for (probes, stands) in [
            ("+++++", "in in in in in"),
            ("--+--", "in in in in in"),
            ("---", "in in out"),
            ("---+-+", "in in out out out out"),
            ("---++-", "in in out out in in"),
            ("---++---", "in in out out in in in out"),
        ] {
            let mut replica = Standing::default();
            let mut seen = Vec::new();
            for probe in probes.chars() {
                let before = replica.out;
                let turned = replica.hear(probe == '+', &CHECK);
                assert_eq!(turned, before != replica.out, "{probes}");
                seen.push(if replica.out { "out" } else { "in" });
            }
            assert_eq!(seen.join(" "), stands, "{probes}");
        }
    }

    #[test]
    fn a_replica_goes_after_as_many_probes_as_a_run_takes() {
        for (chance, failures) in [(0.5_f64, 1), (0.5, 3), (0.3, 2), (0.9, 4)] {
            let check = HealthCheck { failures, ..CHECK };
            let (mut probes, mut gone) = (0_i64, 0);
            let mut replica = Standing::default();
            while gone < 20_000 {
                let passed = Noise::root(7).index(u64::from(failures)).unit(probes) >= chance;
                probes += 1;
                if replica.hear(passed, &check) {
                    gone += 1;
                    replica = Standing::default();
                }
            }
            let run: f64 = (0..failures).map(|_| chance).product();
            let expected = (1.0 - run) / ((1.0 - chance) * run);
            let mean = probes as f64 / f64::from(gone);
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean} is not {expected}");
        }
    }

    #[test]
    fn only_what_is_given_changes() {
        for (args, expected) in [
            (Params::default(), CHECK),
            (Params::default().with("timeout", 0.5), HealthCheck { timeout_s: 0.5, ..CHECK }),
            (
                Params::default().with("period", 10.0).with("failures", 1.0),
                HealthCheck { period: 10, failures: 1, ..CHECK },
            ),
            (
                Params::default().with("passes", 4.0).with("floor", 1.0),
                HealthCheck { passes: 4, floor: 1.0, ..CHECK },
            ),
        ] {
            let mut check = CHECK;
            check.change(&args);
            assert_eq!(check, expected);
        }
    }
}
