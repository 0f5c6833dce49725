//! What a diagnosis may claim, and the words for it.

use super::words::{Heard, Table};
use std::sync::LazyLock;

/// What somebody holds to be the matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Backends behind a load balancer are down.
    BackendsDown,
    /// A release that is broken.
    BadDeploy,
    /// It waits for a database.
    BlockedOnDatabase,
    /// A certificate ran out.
    Certificate,
    /// Clients give up; the component itself is well.
    ClientTimeouts,
    /// Connections are held and not used.
    Connections,
    /// Consumers do not get on.
    ConsumersBlocked,
    /// A component is down by itself.
    Crash,
    /// A disk is full.
    Disk,
    /// Health checks fail.
    HealthChecks,
    /// Somebody else holds connections for long.
    HeldConnections,
    /// Memory that grows.
    Leak,
    /// A lock on a table.
    Lock,
    /// Something was migrated.
    Migration,
    /// A name is not resolved.
    NameLookup,
    /// A network that loses or delays.
    Network,
    /// All is as it should be.
    Normal,
    /// More is wanted than can be served.
    Overload,
    /// A record of a name is gone.
    Record,
    /// A statement that takes too long.
    SlowQuery,
    /// It follows from something else. Says nothing by itself.
    Symptom,
}

use Cause::{
    BackendsDown, BadDeploy, BlockedOnDatabase, Certificate, ClientTimeouts, Connections,
    ConsumersBlocked, Crash, Disk, HealthChecks, HeldConnections, Leak, Lock, Migration,
    NameLookup, Network, Normal, Overload, Record, SlowQuery, Symptom,
};

const GROUPS: &[(&str, &str)] = &[
    ("BROKEN", "bad broken buggy failed failing fails faulty regression"),
    ("CONNECTION", "connection connections session sessions"),
    ("DATABASE", "database database_primary databases db primary"),
    ("DNS", "dns record records zone"),
    ("EXPIRED", "expiration expire expired expires expiry invalid lapsed outdated renewal"),
    ("FAIL", "error errors fail failed failing fails failure failures"),
    ("FULL", "critical exhausted exhaustion filled filling full space usage"),
    ("GONE", "deleted deletion gone lost misconfiguration misconfigured missing removed"),
    ("GROWS", "eviction exhausted exhaustion growing growth leak leaking leaks unbounded"),
    ("IDLE", "exhausted exhaustion idle leak leaked leaking stale unclosed"),
    ("LOCK", "lock locked locking locks"),
    ("STUCK", "blocked blocking slow stalled starved stuck wait waiting waits"),
    ("THING", "app broker cache cache_redis database db dns message_queue process redis server"),
];

const PATTERNS: &[(Cause, &str)] = &[
    (BackendsDown, "backend/backends blocked/down/failed/failing/unavailable/unhealthy"),
    (BadDeploy, "deploy/deployment/release/rollout/version BROKEN"),
    (BlockedOnDatabase, "STUCK DATABASE"),
    (BlockedOnDatabase, "thread/threads/worker/workers STUCK"),
    (BlockedOnDatabase, "queue overflow"),
    (Certificate, "cert/certificate/https/ssl/tls EXPIRED"),
    (ClientTimeouts, "app_server_1/caller/callers/client/clients timeout/timeouts"),
    (ClientTimeouts, "client side timeout/timeouts"),
    (Connections, "connection/connections IDLE"),
    (Connections, "session/sessions idle/stale/unclosed"),
    (Connections, "pool exhausted/exhaustion/leak/saturated"),
    (Connections, "limit/max/maximum connections"),
    (ConsumersBlocked, "consumer/consumers STUCK"),
    (ConsumersBlocked, "backlog consumer/consumers/message/messages/queue"),
    (Crash, "THING crash/crashed/crashing/dead/down/unavailable"),
    (Disk, "disk/filesystem/partition/storage/volume FULL"),
    (Disk, "log/logs debug/filling/full/growing/growth/large/rotated/rotation/unrotated"),
    (HealthChecks, "health check/checks FAIL"),
    (HeldConnections, "CONNECTION held/hold/holding/holds"),
    (HeldConnections, "upstream CONNECTION held/hold/holding/holds"),
    (Leak, "heap/memory GROWS"),
    (Leak, "cache session GROWS"),
    (Leak, "eviction stuck/thread"),
    (Leak, "gc pause/pauses/pressure"),
    (Leak, "oom/outofmemoryerror"),
    (Leak, "out memory"),
    (Lock, "alter table"),
    (Lock, "ddl/exclusive/migration/table/users LOCK"),
    (Migration, "migration/migrations"),
    (Migration, "migration held/hold/holding/holds/long/stuck"),
    (NameLookup, "dns/hostname/lookup/lookups/name/names/resolution FAIL"),
    (NameLookup, "dns/hostname/name resolution/resolve/unreachable/unresolved"),
    (NameLookup, "discovery FAIL"),
    (Network, "connectivity/network failure/issue/latency/loss/partition/problem"),
    (Network, "packet loss"),
    (Normal, "expected behavior/behaviour"),
    (Normal, "false alarm"),
    (Normal, "no action"),
    (Normal, "no action needed/required"),
    (Normal, "normal"),
    (Normal, "red herring"),
    (Overload, "demand/load/requests/traffic high/increase/increased/overload/spike/surge"),
    (Overload, "overload/overloaded"),
    (Record, "DNS GONE"),
    (Record, "nxdomain"),
    (SlowQuery, "index/queries/query missing/slow/unindexed"),
    (Symptom, "cascade/cascading/consequence/effect/secondary/symptom/symptoms"),
];

static TABLE: LazyLock<Table<Cause>> = LazyLock::new(|| Table::new(PATTERNS, GROUPS));

/// What a diagnosis came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It says what is the matter.
    Right,
    /// It says something else.
    Wrong,
    /// It says nothing that the tables know.
    Unclear,
    /// It says what is not the matter.
    Negated,
}

/// Judges a text about an incident: right where everything it says is among `accepts`, or among
/// `origin`, the causes it follows from, where it says that it is a symptom.
pub(super) fn judge(text: &str, accepts: &[Cause], origin: &[Cause]) -> Verdict {
    let said = match TABLE.hear(text) {
        Heard::Negated => return Verdict::Negated,
        Heard::Says(said) => said,
    };
    let symptom = said.contains(&Symptom);
    let mut claims = said.iter().filter(|cause| **cause != Symptom).peekable();
    if claims.peek().is_none() {
        return Verdict::Unclear;
    }
    let right = |cause: &Cause| accepts.contains(cause) || symptom && origin.contains(cause);
    if claims.all(right) { Verdict::Right } else { Verdict::Wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Option<Vec<Cause>> {
        match TABLE.hear(text) {
            Heard::Says(said) => Some(said),
            Heard::Negated => None,
        }
    }

    #[test]
    fn diagnoses_say_what_the_tables_know() {
        for (text, said) in [
            ("connection pool exhaustion, stale connections", &[Connections][..]),
            ("Stale idle connections from app_server_1", &[Connections]),
            ("The TLS certificate of the load balancer has expired.", &[Certificate]),
            ("memory leak in session cache", &[Leak]),
            ("symptom, client-side timeouts", &[ClientTimeouts, Symptom]),
            ("upstream connection holding", &[HeldConnections]),
            ("migration holds table lock on users table", &[Lock, Migration]),
            ("migration", &[Migration]),
            ("symptom: blocked on database", &[BlockedOnDatabase, Symptom]),
            (
                "symptom: health check failing as backends down",
                &[BackendsDown, HealthChecks, Symptom],
            ),
            ("consumers blocked", &[ConsumersBlocked]),
            ("red herring, normal", &[Normal]),
            ("no action required", &[Normal]),
            ("redis down", &[Crash]),
            ("DNS record deleted during a migration", &[]),
            ("DNS A record deleted, migration", &[Migration, Record]),
        ] {
            assert_eq!(heard(text).as_deref(), Some(said), "{text}");
        }
    }

    #[test]
    fn single_words_chatter_and_negations_say_nothing() {
        for text in [
            "exhaustion",
            "heap",
            "root cause",
            "symptom of who knows what",
            "I wonder whether the connection pool exhaustion is interesting",
            "",
            "🦀",
        ] {
            assert_eq!(heard(text), Some(Vec::new()), "{text}");
        }
        assert_eq!(heard("symptom"), Some(vec![Symptom]));
        for text in [
            "this is certainly not a connection pool problem",
            "certificate expired? no",
            "isn't a memory leak",
            "it doesn’t look like a table lock",
        ] {
            assert_eq!(heard(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_right_for_an_incident_is_all_that_is_said() {
        let judged = |text| judge(text, &[ClientTimeouts], &[Leak]);
        assert_eq!(judged("client-side timeouts"), Verdict::Right);
        assert_eq!(judged("symptom: memory leak"), Verdict::Right);
        assert_eq!(judged("memory leak"), Verdict::Wrong);
        assert_eq!(judged("client timeouts, memory leak, certificate expired"), Verdict::Wrong);
        assert_eq!(judged("symptom"), Verdict::Unclear);
        assert_eq!(judged("not client timeouts"), Verdict::Negated);
    }
}
