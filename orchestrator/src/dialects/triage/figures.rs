//! Figures that are shown beside a computed status. They are looked up by it and say nothing
//! that it does not: without this table nothing but these figures changes.

use super::incidents::Situation;
use super::status::Status;
use serde_json::{Map, Value, json};

/// Names and values.
type Figures = &'static [(&'static str, f64)];

/// Figures of a healthy component.
const HEALTHY: &[(&str, Figures)] = &[
    (
        "load_balancer",
        &[
            ("cpu_percent", 12.3),
            ("memory_percent", 34.5),
            ("error_rate", 0.001),
            ("latency_ms", 2.1),
            ("active_connections", 1520.0),
            ("requests_per_second", 8500.0),
        ],
    ),
    (
        "app_server_1",
        &[
            ("cpu_percent", 45.2),
            ("memory_percent", 62.1),
            ("error_rate", 0.002),
            ("latency_ms", 45.3),
            ("threads", 120.0),
            ("gc_pause_ms", 12.0),
        ],
    ),
    (
        "app_server_2",
        &[
            ("cpu_percent", 43.8),
            ("memory_percent", 59.7),
            ("error_rate", 0.002),
            ("latency_ms", 42.1),
            ("threads", 115.0),
            ("gc_pause_ms", 11.0),
        ],
    ),
    (
        "database_primary",
        &[
            ("cpu_percent", 28.4),
            ("memory_percent", 55.3),
            ("error_rate", 0.0),
            ("latency_ms", 8.2),
            ("connections", 85.0),
            ("max_connections", 200.0),
            ("replication_lag_ms", 0.0),
            ("slow_queries", 0.0),
        ],
    ),
    (
        "database_replica",
        &[
            ("cpu_percent", 22.1),
            ("memory_percent", 48.9),
            ("error_rate", 0.0),
            ("latency_ms", 9.1),
            ("connections", 45.0),
            ("max_connections", 200.0),
            ("replication_lag_ms", 12.0),
        ],
    ),
    (
        "cache_redis",
        &[
            ("cpu_percent", 8.5),
            ("memory_percent", 42.0),
            ("error_rate", 0.0),
            ("latency_ms", 0.8),
            ("hit_rate", 0.95),
            ("evictions_per_second", 2.0),
            ("clients", 60.0),
        ],
    ),
    (
        "message_queue",
        &[
            ("cpu_percent", 15.2),
            ("memory_percent", 38.4),
            ("error_rate", 0.0),
            ("queue_depth", 120.0),
            ("consumers", 8.0),
            ("messages_per_second", 450.0),
        ],
    ),
    (
        "cdn",
        &[
            ("hit_rate", 0.92),
            ("origin_requests_per_second", 680.0),
            ("bandwidth_mbps", 1250.0),
            ("error_rate", 0.001),
        ],
    ),
    ("dns", &[("latency_ms", 1.2), ("error_rate", 0.0), ("hit_rate", 0.88)]),
    (
        "auth_service",
        &[
            ("cpu_percent", 18.3),
            ("memory_percent", 35.2),
            ("error_rate", 0.001),
            ("latency_ms", 22.5),
            ("tokens_per_minute", 340.0),
        ],
    ),
];

/// Figures that differ while a component of a situation is not healthy.
const TROUBLED: &[(&str, &str, Figures)] = &[
    (
        "db_connection_pool_exhaustion",
        "database_primary",
        &[
            ("cpu_percent", 78.4),
            ("memory_percent", 82.3),
            ("error_rate", 0.15),
            ("latency_ms", 2500.0),
            ("connections", 195.0),
            ("replication_lag_ms", 450.0),
            ("slow_queries", 23.0),
        ],
    ),
    (
        "db_connection_pool_exhaustion",
        "app_server_1",
        &[("error_rate", 0.12), ("latency_ms", 3200.0)],
    ),
    (
        "disk_space_critical",
        "app_server_1",
        &[
            ("error_rate", 0.08),
            ("latency_ms", 120.0),
            ("disk_percent", 96.0),
            ("disk_free_gb", 2.1),
        ],
    ),
    (
        "ssl_certificate_expiry",
        "load_balancer",
        &[("error_rate", 1.0), ("requests_per_second", 0.0), ("ssl_errors_per_second", 8500.0)],
    ),
    (
        "memory_leak_cascade",
        "app_server_1",
        &[
            ("memory_percent", 93.8),
            ("gc_pause_ms", 850.0),
            ("heap_used_gb", 7.5),
            ("heap_gb", 8.0),
        ],
    ),
    (
        "memory_leak_cascade",
        "cache_redis",
        &[("hit_rate", 0.45), ("client_timeouts_per_second", 45.0)],
    ),
    ("memory_leak_cascade", "database_primary", &[("latency_ms", 180.0)]),
    ("dns_deploy_failure", "dns", &[("error_rate", 0.35)]),
    ("dns_deploy_failure", "auth_service", &[("tokens_per_minute", 12.0)]),
    (
        "full_stack_cascade",
        "load_balancer",
        &[("error_rate", 0.65), ("healthy_backends", 1.0), ("backends", 4.0)],
    ),
    ("full_stack_cascade", "app_server_1", &[("threads", 200.0), ("queued_requests", 523.0)]),
    ("full_stack_cascade", "app_server_2", &[("threads", 200.0), ("queued_requests", 523.0)]),
    (
        "full_stack_cascade",
        "database_primary",
        &[("connections", 200.0), ("waiting_queries", 340.0), ("replication_lag_ms", 45_000.0)],
    ),
    ("full_stack_cascade", "cache_redis", &[("hit_rate", 0.15), ("evictions_per_second", 2000.0)]),
    (
        "full_stack_cascade",
        "message_queue",
        &[("queue_depth", 15_000.0), ("messages_per_second", 45.0)],
    ),
];

/// What a component that was in trouble shows in the end, where it is not what it showed before.
const REPAIRED: &[(&str, &str, Figures)] = &[
    (
        "db_connection_pool_exhaustion",
        "database_primary",
        &[("connections", 92.0), ("latency_ms", 12.0)],
    ),
    ("disk_space_critical", "app_server_1", &[("disk_percent", 45.0), ("disk_free_gb", 27.5)]),
    ("ssl_certificate_expiry", "load_balancer", &[("certificate_days", 89.0)]),
];

/// A component with its status and figures; all of these are 0 where they are not to be shown.
pub(super) fn shown(situation: &Situation, name: &str, status: Status, figures: bool) -> Value {
    let mut shown = Map::new();
    shown.insert("status".into(), json!(status.name()));
    let healthy = HEALTHY.iter().filter(|(of, _)| *of == name).map(|(_, figures)| *figures);
    let table = if status == Status::Healthy { REPAIRED } else { TROUBLED };
    let of = |row: &&(&str, &str, Figures)| row.0 == situation.id && row.1 == name;
    for (name, value) in healthy.chain(table.iter().filter(of).map(|row| row.2)).flatten() {
        shown.insert((*name).into(), json!(if figures { *value } else { 0.0 }));
    }
    Value::Object(shown)
}
