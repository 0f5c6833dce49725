//! Tasks of the Production Incident Response Simulator: what is played, what counts as a goal, and
//! what actions become.

use crate::stage::Objective;
use serde_json::{Value, json};

/// The components, with their latency objectives.
pub(super) const SERVICES: [Objective; 5] = [
    Objective { component: "payment-service", latency_s: 1.0 },
    Objective { component: "api-gateway", latency_s: 1.0 },
    Objective { component: "frontend", latency_s: 0.8 },
    Objective { component: "user-db", latency_s: 0.5 },
    Objective { component: "auth-service", latency_s: 0.5 },
];
/// Types of actions.
pub(super) const TYPES: [&str; 6] =
    ["restart_service", "scale_service", "fix_query", "clear_cache", "rollback", "check_logs"];
/// Targets of actions, as the original lists them.
pub(super) const TARGETS: [&str; 5] =
    ["auth-service", "api-gateway", "frontend", "user-db", "payment-service"];

/// What has to be true of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The component is healthy.
    Healthy(&'static str),
    /// More replicas of it serve than at the start.
    Wider(&'static str),
}

/// Who is harmed, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Impact {
    pub(super) users: u32,
    pub(super) revenue: u32,
    pub(super) sla_minutes: u32,
}

/// One task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) scenario: &'static str,
    pub(super) story: &'static str,
    pub(super) hint: &'static str,
    pub(super) steps_max: u32,
    pub(super) goals: &'static [Goal],
    /// Goals count in their order only.
    pub(super) ordered: bool,
    pub(super) impact: Impact,
    /// The components in the order in which they are shown.
    pub(super) shown: [&'static str; 5],
    /// Who depends on whom.
    pub(super) dependencies: &'static [(&'static str, &'static [&'static str])],
    /// Log lines at the page.
    pub(super) logs: &'static [&'static str],
}

pub(super) static TASKS: [Task; 3] = [
    Task {
        id: "easy",
        name: "Payment Service OOM Crash",
        scenario: "incident-sim/payment-crash",
        story: "P1, 03:17 UTC. payment-service was killed for its memory again and again and does \
                not start any more; release v3.8.2 has grown for four hours. Checkouts answer 503.",
        hint: "Look at what does not run at all.",
        steps_max: 5,
        goals: &[Goal::Healthy("payment-service")],
        ordered: true,
        impact: Impact { users: 120_000, revenue: 4_800, sla_minutes: 3 },
        shown: ["payment-service", "api-gateway", "frontend", "user-db", "auth-service"],
        dependencies: &[
            ("api-gateway", &["payment-service", "auth-service"]),
            ("frontend", &["api-gateway"]),
            ("auth-service", &["user-db"]),
        ],
        logs: &[
            "[03:13:05] WARN      payment-service: heap is 97 % full, collections take seconds",
            "[03:14:11] ERROR     payment-service: out of memory, the heap cannot grow",
            "[03:14:12] ERROR     k8s: payment-service killed, exit code 137",
            "[03:15:40] WARN      k8s: payment-service waits before start number 7",
            "[03:16:02] ERROR     api-gateway: no connection to payment-service",
            "[03:16:20] ERROR     api-gateway: 38 of 100 checkouts answered with 503",
            "[03:16:31] WARN      api-gateway: breaker towards payment-service is open",
            "[03:16:50] INFO      user-db: 48 connections, all of them short",
            "[03:17:02] INFO      auth-service: tokens are verified as ever",
            "[03:17:30] INFO      k8s: payment-service last ran well 4 h 02 min ago, with v3.8.2",
        ],
    },
    Task {
        id: "medium",
        name: "Black Friday DB Overload",
        scenario: "incident-sim/query-overload",
        story: "P1, 11:58 UTC. Since v4.1.0 was deployed at 11:46 one query reads the whole table \
                of orders, 38 million rows. Callers hold their workers for seconds, and api-gateway, \
                two replicas, has none left for the rush.",
        hint: "A cause and a shortage: both are to be ended.",
        steps_max: 8,
        goals: &[Goal::Wider("api-gateway"), Goal::Healthy("user-db")],
        ordered: false,
        impact: Impact { users: 280_000, revenue: 22_000, sla_minutes: 1 },
        shown: ["payment-service", "api-gateway", "frontend", "user-db", "auth-service"],
        dependencies: &[
            ("payment-service", &["user-db", "auth-service"]),
            ("api-gateway", &["user-db", "auth-service", "payment-service"]),
            ("frontend", &["api-gateway"]),
            ("auth-service", &["user-db"]),
        ],
        logs: &[
            "[11:46:02] INFO      deploy: v4.1.0 is out",
            "[11:49:30] WARN      user-db: statement on orders reads the whole table",
            "[11:52:10] WARN      user-db: the same statement took 3810 ms, objective 200 ms",
            "[11:54:47] WARN      user-db: 196 of 200 connections are in use",
            "[11:55:20] WARN      api-gateway: 1400 requests wait, usually below 50",
            "[11:56:03] ERROR     api-gateway: 99th percentile 4100 ms, objective 500 ms",
            "[11:56:41] WARN      api-gateway: 2 replicas, all workers are busy",
            "[11:57:15] ERROR     frontend: pages with orders time out",
            "[11:58:02] INFO      payment-service: charges as ever",
            "[11:58:30] INFO      auth-service: tokens are verified as ever",
        ],
    },
    Task {
        id: "hard",
        name: "Auth Service Cascade — Total Outage",
        scenario: "incident-sim/auth-cascade",
        story: "P0, 22:43 UTC. Chart v5.0.0 left auth-service without its signing secret; it ended \
                at every start until it was started no more. The binding of the secret was put \
                right at 22:47. Nothing passes api-gateway, and the sessions that frontend caches \
                meanwhile are stale.",
        hint: "Mend from the origin outwards.",
        steps_max: 10,
        goals: &[
            Goal::Healthy("auth-service"),
            Goal::Wider("api-gateway"),
            Goal::Healthy("frontend"),
        ],
        ordered: true,
        impact: Impact { users: 1_400_000, revenue: 95_000, sla_minutes: 0 },
        shown: ["auth-service", "api-gateway", "frontend", "user-db", "payment-service"],
        dependencies: &[
            ("auth-service", &["user-db"]),
            ("api-gateway", &["auth-service"]),
            ("frontend", &["api-gateway"]),
            ("payment-service", &["auth-service", "user-db"]),
        ],
        logs: &[
            "[22:41:10] INFO      helm: chart v5.0.0 of auth-service is out",
            "[22:41:31] ERROR     auth-service: the signing secret is empty",
            "[22:41:31] ERROR     k8s: auth-service ended with exit code 1",
            "[22:42:05] WARN      k8s: auth-service waits 5 min before start number 12",
            "[22:42:18] ERROR     api-gateway: 502 for everything below /api",
            "[22:42:50] ERROR     api-gateway: no answer from auth-service",
            "[22:43:12] WARN      api-gateway: 2400 requests wait",
            "[22:44:00] WARN      frontend: cached sessions are stale, clients retry 800 times a second",
            "[22:45:21] ERROR     frontend: pages that need /api fail",
            "[22:46:10] INFO      payment-service: idle, nobody gets this far",
            "[22:47:00] INFO      ops: the secret's binding is right again (vault/auth/jwt)",
            "[22:47:03] INFO      user-db: idle but for a few reads",
        ],
    },
];

/// The task of this id.
pub(super) fn find(id: &str) -> Option<&'static Task> {
    TASKS.iter().find(|task| task.id == id)
}

/// Whether a request names a type that there is.
pub(super) fn is_valid(kind: &str) -> bool {
    TYPES.contains(&kind)
}

/// Whether it is one that may change something for the better in some task.
pub(super) fn is_recognised(kind: &str, target: &str) -> bool {
    matches!(
        (kind, target),
        ("restart_service", "payment-service" | "auth-service")
            | ("rollback", "auth-service" | "payment-service" | "api-gateway")
            | ("scale_service", "api-gateway")
            | ("fix_query", "user-db")
            | ("clear_cache", "frontend")
    )
}

/// The typed actions that a request becomes; none where it means nothing here.
pub(super) fn actions(kind: &str, target: &str) -> Vec<Value> {
    if !TARGETS.contains(&target) {
        return Vec::new();
    }
    let restart = json!({"action": "restart", "component": target});
    match kind {
        "restart_service" => vec![restart],
        "scale_service" => vec![json!({"action": "scale", "component": target, "replicas": WIDE})],
        // What was rolled back is started, too, where nothing runs.
        "rollback" => vec![json!({"action": "rollback", "component": target}), restart],
        "fix_query" => {
            vec![json!({"action": "create_index", "component": target, "table": "orders"})]
        }
        "clear_cache" => vec![json!({"action": CLEAR, "component": target})],
        "check_logs" => vec![json!({
            "action": "logs", "component": target, "minutes": 10, "severity": "warn", "limit": 1,
        })],
        _ => Vec::new(),
    }
}

/// Replicas after a component was scaled out: twice as many as at the start.
const WIDE: u32 = 4;
/// Replicas of a component at the start.
pub(super) const NARROW: f64 = 2.0;
/// The typed action that drops what a component keeps of its clients' sessions.
const CLEAR: &str = "flush_cache";
