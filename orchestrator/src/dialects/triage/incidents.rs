//! The six situations: which scenario file plays each, what pages, and what has to be true of the
//! published state for an incident to be over.

use super::diagnoses::Cause::{
    self, BackendsDown, BlockedOnDatabase, Certificate, ClientTimeouts, Connections,
    ConsumersBlocked, Disk, HealthChecks, HeldConnections, Leak, Lock, Migration, NameLookup,
    Normal, Record,
};
use super::status::Fine;

/// What an incident is among those of its situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The only one.
    Alone,
    /// The one that the others follow from.
    Origin,
    /// One that follows.
    Symptom,
    /// Nothing is wrong there.
    Herring,
}

/// One incident.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incident {
    /// Its name.
    pub(super) id: &'static str,
    /// Of its alert.
    pub(super) severity: &'static str,
    /// The component that it shows at.
    pub(super) service: &'static str,
    /// What the alert is called.
    pub(super) title: &'static str,
    /// What the alert says.
    pub(super) message: &'static str,
    /// When it fired, in the story.
    pub(super) timestamp: &'static str,
    /// The priority it should get, 1 to 4.
    pub(super) priority: u8,
    /// What it is among the others.
    pub(super) part: Part,
    /// Diagnoses that are right.
    pub(super) accepts: &'static [Cause],
    /// Signals that have to be fine besides the status of its component.
    pub(super) over: &'static [(&'static str, &'static str, Fine)],
}

/// A fact of the story, shown at a component while an incident lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clue {
    /// Where.
    pub(super) service: &'static str,
    /// Under which aspect.
    pub(super) aspect: &'static str,
    /// What it says.
    pub(super) text: &'static str,
}

/// One situation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    /// Its name.
    pub(super) id: &'static str,
    /// `family/stem` of its scenario.
    pub(super) scenario: &'static str,
    /// Steps within which it should be over.
    pub(super) expected: u32,
    /// Its incidents.
    pub(super) incidents: &'static [Incident],
    /// Components where there is something to see.
    pub(super) scope: &'static [&'static str],
    /// Facts that are shown while it lasts.
    pub(super) clues: &'static [Clue],
    /// Process ids among them, and how the statement of the session behind each begins.
    pub(super) pids: &'static [(u32, &'static str)],
}

impl Situation {
    /// The causes that everything follows from.
    pub(super) fn origin(&self) -> &'static [Cause] {
        let mut origins = self.incidents.iter().filter(|one| one.part == Part::Origin);
        origins.next().map_or(&[], |one| one.accepts)
    }

    /// Incidents that have to be over: all but herrings.
    pub(super) fn total(&self) -> u32 {
        self.incidents.iter().filter(|one| one.part != Part::Herring).count() as u32
    }

    /// The incident of this name, or at this component.
    pub(super) fn find(&self, name: &str) -> Option<&'static Incident> {
        let named = self.incidents.iter().find(|one| one.id == name);
        named.or_else(|| self.incidents.iter().find(|one| one.service == name))
    }
}

const fn clue(service: &'static str, aspect: &'static str, text: &'static str) -> Clue {
    Clue { service, aspect, text }
}

pub(super) const CONNECTION_POOL: Situation = Situation {
    id: "db_connection_pool_exhaustion",
    scenario: "triage/connection-pool",
    expected: 5,
    incidents: &[Incident {
        id: "alert_001",
        severity: "critical",
        service: "database_primary",
        title: "Hardly a connection left",
        message: "195 of 200 connections of database_primary are taken and 34 callers wait for \
                  one; statements take 4.2 s on average.",
        timestamp: "14:23",
        priority: 1,
        part: Part::Alone,
        accepts: &[Connections],
        over: &[("database_primary", "connections.idle", Fine::UpTo(0.0))],
    }],
    scope: &["database_primary", "app_server_1"],
    clues: &[
        clue("database_primary", "logs", "47 sessions have not sent a statement for up to 3600 s"),
        clue("database_primary", "logs", "acquiring a connection timed out after 30 s"),
        clue(
            "database_primary",
            "connections",
            "195 of 200 taken: 148 at work, 47 idle; 34 callers wait; 23 statements above 5 s",
        ),
        clue(
            "database_primary",
            "connections",
            "idle for the longest: pid 4521 (3600 s) and pid 4522 (2800 s), client app_server_1",
        ),
        clue("database_primary", "config", "max_connections 200, idle_timeout 3600 s"),
        clue("app_server_1", "logs", "503 answered: no connection to database_primary within 30 s"),
        clue(
            "app_server_1",
            "config",
            "connections are returned to the pool by the request handler",
        ),
    ],
    pids: &[(4521, "idle"), (4522, "idle")],
};

pub(super) const DISK_SPACE: Situation = Situation {
    id: "disk_space_critical",
    scenario: "triage/disk-space",
    expected: 5,
    incidents: &[Incident {
        id: "alert_002",
        severity: "high",
        service: "app_server_1",
        title: "Volume of the logs almost full",
        message: "/var/log of app_server_1 is at 96 %, 2.1 GB of 50 GB are left; writes fail.",
        timestamp: "09:15",
        priority: 2,
        part: Part::Alone,
        accepts: &[Disk],
        over: &[("app-1", "disk.utilization", Fine::UpTo(0.9))],
    }],
    scope: &["app_server_1"],
    clues: &[
        clue("app_server_1", "logs", "rotation has not run for 7 days"),
        clue(
            "app_server_1",
            "metrics",
            "/var/log: application.log 18 GB, debug.log 15 GB, access.log 12 GB",
        ),
        clue(
            "app_server_1",
            "config",
            "log level DEBUG (production), retention 30 days, size of a file unlimited",
        ),
    ],
    pids: &[],
};

pub(super) const CERTIFICATE: Situation = Situation {
    id: "ssl_certificate_expiry",
    scenario: "triage/certificate",
    expected: 5,
    incidents: &[Incident {
        id: "alert_003",
        severity: "critical",
        service: "load_balancer",
        title: "Nobody gets a secure connection",
        message: "All TLS handshakes at load_balancer fail, 8500 a second, since 14:00.",
        timestamp: "16:00",
        priority: 1,
        part: Part::Alone,
        accepts: &[Certificate],
        over: &[("load_balancer", "connections.handshake.failure.ratio", Fine::UpTo(0.01))],
    }],
    scope: &["load_balancer"],
    clues: &[
        clue("load_balancer", "logs", "14:00:00 notAfter of *.production.example.com has passed"),
        clue("load_balancer", "connections", "handshakes failed: 100 %, 8500 a second"),
        clue("load_balancer", "config", "issuer Let's Encrypt, auto_renew false"),
    ],
    pids: &[],
};

pub(super) const MEMORY_LEAK: Situation = Situation {
    id: "memory_leak_cascade",
    scenario: "triage/memory-leak",
    expected: 12,
    incidents: &[
        Incident {
            id: "alert_101",
            severity: "high",
            service: "app_server_1",
            title: "Collections take longer and longer",
            message: "Heap of app_server_1 went from 2.1 to 7.5 of 8 GB in 30 minutes, pauses \
                      from 320 to 850 ms.",
            timestamp: "11:30",
            priority: 1,
            part: Part::Origin,
            accepts: &[Leak],
            over: &[("app_server_1", "memory.usage.mebibytes", Fine::UpTo(6000.0))],
        },
        Incident {
            id: "alert_102",
            severity: "high",
            service: "cache_redis",
            title: "Commands to the cache time out",
            message: "45 commands a second to cache_redis get no answer within 5 s; 45 % hit.",
            timestamp: "11:30",
            priority: 2,
            part: Part::Symptom,
            accepts: &[ClientTimeouts],
            over: &[],
        },
        Incident {
            id: "alert_103",
            severity: "medium",
            service: "database_primary",
            title: "Statements are slow",
            message: "database_primary answers in 180 ms, more than ten times as long as usual.",
            timestamp: "11:30",
            priority: 3,
            part: Part::Symptom,
            accepts: &[HeldConnections],
            over: &[],
        },
    ],
    scope: &["app_server_1", "cache_redis", "database_primary"],
    clues: &[
        clue(
            "app_server_1",
            "logs",
            "UserSessionCache: 2.1M entries, the eviction thread is stuck",
        ),
        clue("app_server_1", "logs", "OutOfMemoryError in a request handler"),
        clue("app_server_1", "metrics", "heap 7.5 of 8 GB, pause of a collection 850 ms"),
        clue("app_server_1", "config", "UserSessionCache: at most 100000 entries, ttl 1800 s"),
        clue("cache_redis", "logs", "clients closed connections before they read the answer"),
        clue("cache_redis", "metrics", "time of a command on the server 0.8 ms; 45 time-outs/s"),
        clue("database_primary", "metrics", "time of a statement on the server 8 ms"),
        clue("database_primary", "connections", "app_server_1 has 85, each for 4.2 s (usual 0.05)"),
    ],
    pids: &[],
};

pub(super) const DNS_DEPLOY: Situation = Situation {
    id: "dns_deploy_failure",
    scenario: "triage/dns-deploy",
    expected: 13,
    incidents: &[
        Incident {
            id: "alert_201",
            severity: "high",
            service: "dns",
            title: "Names are not found",
            message: "35 % of the lookups end with NXDOMAIN: 127 a minute for one name.",
            timestamp: "10:05",
            priority: 1,
            part: Part::Origin,
            accepts: &[Record, Migration],
            over: &[("dns", "zone.present.ratio", Fine::From(1.0))],
        },
        Incident {
            id: "alert_202",
            severity: "high",
            service: "app_server_1",
            title: "The rollout of v2.4.1 does not pass its checks",
            message: "v2.4.1 failed its health checks on app_server_1; v2.4.0, put back, fails \
                      them as well.",
            timestamp: "10:05",
            priority: 2,
            part: Part::Symptom,
            accepts: &[NameLookup, HealthChecks],
            over: &[],
        },
        Incident {
            id: "alert_203",
            severity: "medium",
            service: "auth_service",
            title: "Tokens are hardly issued",
            message: "auth_service issues 12 tokens a minute; its callers do not find it.",
            timestamp: "10:05",
            priority: 2,
            part: Part::Symptom,
            accepts: &[NameLookup],
            over: &[],
        },
    ],
    scope: &["dns", "app_server_1", "auth_service"],
    clues: &[
        clue(
            "dns",
            "logs",
            "10:00:05 admin: A record api-internal.example.com (10.0.1.50) deleted",
        ),
        clue("dns", "logs", "10:00:05 admin: A record api-internal-v2.example.com added"),
        clue("dns", "metrics", "NXDOMAIN: 127 a minute, and 45 a minute for another caller"),
        clue("dns", "config", "ttl 300 s; 14 services look api-internal.example.com up"),
        clue("app_server_1", "logs", "health check: api-internal.example.com: no such host"),
        clue("auth_service", "logs", "listening on 10.0.2.30:8080, checks of its own pass"),
        clue(
            "auth_service",
            "connections",
            "callers by address get through, callers by name do not",
        ),
    ],
    pids: &[],
};

pub(super) const FULL_STACK: Situation = Situation {
    id: "full_stack_cascade",
    scenario: "triage/full-stack",
    expected: 20,
    incidents: &[
        Incident {
            id: "alert_301",
            severity: "critical",
            service: "load_balancer",
            title: "Most backends fail their checks",
            message: "1 of 4 backends passes its health check; 65 % of the answers are 502.",
            timestamp: "15:40",
            priority: 1,
            part: Part::Symptom,
            accepts: &[BackendsDown, HealthChecks, BlockedOnDatabase],
            over: &[],
        },
        Incident {
            id: "alert_302",
            severity: "critical",
            service: "app_server_1",
            title: "No thread left",
            message: "All 200 threads of app_server_1 are blocked, 523 requests wait for a place.",
            timestamp: "15:38",
            priority: 1,
            part: Part::Symptom,
            accepts: &[BlockedOnDatabase],
            over: &[],
        },
        Incident {
            id: "alert_303",
            severity: "critical",
            service: "database_primary",
            title: "Statements wait for a lock",
            message: "340 statements of database_primary wait, all 200 connections are taken, and \
                      the replica is 45 s behind.",
            timestamp: "15:35",
            priority: 1,
            part: Part::Origin,
            accepts: &[Lock, Migration],
            over: &[("database_primary", "locks.waiting", Fine::UpTo(0.0))],
        },
        Incident {
            id: "alert_304",
            severity: "high",
            service: "cache_redis",
            title: "Many evictions",
            message: "cache_redis evicts 2000 entries a second, 15 % of the lookups hit.",
            timestamp: "15:42",
            priority: 4,
            part: Part::Herring,
            accepts: &[Normal],
            over: &[],
        },
        Incident {
            id: "alert_305",
            severity: "medium",
            service: "message_queue",
            title: "Messages pile up",
            message: "15000 messages wait (usual 120), 45 a second are handled (usual 450).",
            timestamp: "15:45",
            priority: 2,
            part: Part::Symptom,
            accepts: &[ConsumersBlocked, BlockedOnDatabase],
            over: &[],
        },
    ],
    scope: &["load_balancer", "app_server_1", "database_primary", "cache_redis", "message_queue"],
    clues: &[
        clue(
            "database_primary",
            "logs",
            "15:34 pid 4521: ALTER TABLE users ADD COLUMN preferences JSONB (45M rows)",
        ),
        clue("database_primary", "metrics", "pid 4521 has an exclusive lock since 15:34, 340 wait"),
        clue("database_primary", "connections", "200 of 200 taken, nearly all wait for users"),
        clue(
            "database_primary",
            "config",
            "no lock_timeout, no statement_timeout, no time-out for migrations",
        ),
        clue("app_server_1", "logs", "thread pool: 200 of 200 wait for an answer of the database"),
        clue(
            "load_balancer",
            "logs",
            "app_server_4, which does not use table users, passes its check",
        ),
        clue("cache_redis", "logs", "evictions follow from entries that nobody could refresh"),
        clue("message_queue", "logs", "consumers wait for their write to database_primary"),
    ],
    pids: &[(4521, "ALTER TABLE")],
};
