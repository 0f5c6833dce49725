//! The status of a component in this dialect's words, computed from what it publishes. It is the
//! health that all dialects share, with two things of its own: *critical* begins where half of the
//! requests end badly or answers take far too long; and a component is degraded, too, where one of
//! its callers does not get through to it, or where it publishes what requests do not show (a cache
//! that misses, messages that wait, names that are not found).

use crate::stage::Health;
use crate::stage::health::Published;
use episode::Episode;
use fleet::Fleet;
use model::InstanceId;

/// Share of bad requests from which a component is critical.
const ERRORS_CRITICAL: f64 = 0.5;

/// Share of a caller's attempts that fail from which it does not get through.
const CALLS_FAILING: f64 = 0.05;
/// Names of the signals of a caller, one for each of its dependencies.
const CALLS: [&str; 3] =
    ["dependency.1.failure.ratio", "dependency.2.failure.ratio", "dependency.3.failure.ratio"];

/// How a component does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// It serves as it should.
    Healthy,
    /// It serves badly.
    Degraded,
    /// It hardly serves.
    Critical,
}

impl Status {
    /// The word.
    pub(super) fn name(self) -> &'static str {
        match self {
            Status::Healthy => "healthy",
            Status::Degraded => "degraded",
            Status::Critical => "critical",
        }
    }
}

/// Which side of a value is fine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fine {
    /// At most this.
    UpTo(f64),
    /// At least this.
    From(f64),
}

impl Fine {
    /// Whether a value is; what is not published is not.
    pub(super) fn holds(self, value: Option<f64>) -> bool {
        match (self, value) {
            (_, None) => false,
            (Fine::UpTo(limit), Some(value)) => value <= limit,
            (Fine::From(limit), Some(value)) => value >= limit,
        }
    }
}

/// A component and what is fine for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) role: Role,
    /// 95th percentile of its answers' time above which it is degraded, seconds.
    pub(super) slow_s: f64,
    /// And above which it is critical, seconds.
    pub(super) stuck_s: f64,
    /// A signal of its own and its bound: beyond it, it is degraded.
    pub(super) own: Option<(&'static str, Fine)>,
}

/// What a component is, as far as remedies fit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An application server.
    App,
    /// It verifies tokens.
    Auth,
    /// A load balancer.
    Balancer,
    /// A cache.
    Cache,
    /// A third party's network.
    Cdn,
    /// A database.
    Database,
    /// It answers for names.
    Names,
    /// It keeps messages.
    Queue,
}

const fn member(name: &'static str, role: Role, slow_s: f64, stuck_s: f64) -> Member {
    Member { name, role, slow_s, stuck_s, own: None }
}

const fn with(member: Member, signal: &'static str, fine: Fine) -> Member {
    Member { own: Some((signal, fine)), ..member }
}

/// All components, in the order in which they are shown.
pub(super) const MEMBERS: &[Member] = &[
    member("load_balancer", Role::Balancer, 1.5, 3.0),
    member("app_server_1", Role::App, 0.4, 0.9),
    member("app_server_2", Role::App, 0.4, 0.9),
    member("database_primary", Role::Database, 0.08, 5.0),
    member("database_replica", Role::Database, 0.08, 5.0),
    with(member("cache_redis", Role::Cache, 0.08, 5.0), "cache.hit.ratio", Fine::From(0.5)),
    with(member("message_queue", Role::Queue, 0.5, 30.0), "messages.age.seconds", Fine::UpTo(30.0)),
    member("cdn", Role::Cdn, 1.0, 5.0),
    with(member("dns", Role::Names, 0.5, 5.0), "lookups.nxdomain.ratio", Fine::UpTo(0.05)),
    member("auth_service", Role::Auth, 0.3, 2.0),
];

/// The member called `name`.
pub(super) fn find(name: &str) -> Option<&'static Member> {
    MEMBERS.iter().find(|member| member.name == name)
}

impl Member {
    /// Its status in this episode now; `None` where the episode has no such component.
    pub(super) fn status<F: Fleet>(&self, episode: &Episode<F>) -> Option<Status> {
        let id = episode.scenario().topology.instance(self.name)?;
        let mut published = Published::of(episode, self.name);
        // Whose processes are not ours publishes nothing of them.
        published.running = episode.signal(id, "replicas.running").unwrap_or(1.0);
        let own = self.own.is_none_or(|(signal, fine)| fine.holds(episode.signal(id, signal)));
        Some(self.judge(published, own && reached(episode, id)))
    }

    fn judge(&self, published: Published, own: bool) -> Status {
        let stuck = published.errors >= ERRORS_CRITICAL || published.latency_s > self.stuck_s;
        match published.health(self.slow_s) {
            Health::Down => Status::Critical,
            _ if stuck => Status::Critical,
            Health::Degraded => Status::Degraded,
            Health::Healthy if own => Status::Healthy,
            Health::Healthy => Status::Degraded,
        }
    }
}

/// Whether all callers get through to a component, as they publish it themselves.
fn reached<F: Fleet>(episode: &Episode<F>, id: InstanceId) -> bool {
    let edges = &episode.scenario().topology.edges;
    let callers = edges.iter().filter(|edge| edge.to == id).filter_map(|edge| {
        let of_caller = edges.iter().filter(|other| other.from == edge.from);
        let at = of_caller.take_while(|other| other.id != edge.id).count();
        Some((edge.from?, *CALLS.get(at)?))
    });
    let failing = |(caller, signal)| episode.signal(caller, signal).unwrap_or(0.0);
    callers.map(failing).all(|share| share < CALLS_FAILING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_follows_from_what_is_published() {
        let member = find("dns").unwrap();
        for (running, errors, latency_s, own, status) in [
            (1.0, 0.0, 0.01, true, Status::Healthy),
            (1.0, 0.0, 0.01, false, Status::Degraded),
            (1.0, 0.06, 0.01, true, Status::Degraded),
            (1.0, 0.0, 0.6, true, Status::Degraded),
            (1.0, 0.5, 0.01, true, Status::Critical),
            (1.0, 0.0, 5.1, true, Status::Critical),
            (0.0, 0.0, 0.0, true, Status::Critical),
        ] {
            let published = Published { running, errors, latency_s };
            assert_eq!(member.judge(published, own), status, "{published:?}");
        }
    }

    #[test]
    fn bounds_hold_on_their_side_and_never_for_what_is_not_published() {
        assert!(Fine::UpTo(1.0).holds(Some(1.0)) && !Fine::UpTo(1.0).holds(Some(1.1)));
        assert!(Fine::From(1.0).holds(Some(1.0)) && !Fine::From(1.0).holds(Some(0.9)));
        assert!(!Fine::UpTo(1.0).holds(None) && !Fine::From(1.0).holds(None));
    }
}
