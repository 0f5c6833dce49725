//! The list of faults: one file and one line each, in alphabetical order.

use crate::spec::FaultSpec;

macro_rules! catalogue {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        static ALL: &[FaultSpec] = &[$($name::FAULT),*];
        #[cfg(test)]
        const FILES: &[(&str, Rows)] = &[$((stringify!($name), $name::ROWS)),*];
    };
}

/// Rows of a fault's test: target, parameters, and the pulls they become.
#[cfg(test)]
type Rows = &'static [(&'static str, &'static str, &'static str)];

catalogue![
    bad_canary,
    bad_deploy,
    bad_secret,
    breaker_stuck,
    cache_flush,
    capacity_dip,
    certificate_expiry,
    clock_skew,
    cohort_bug,
    connection_leak,
    consumer_backlog,
    cpu_hog,
    crash_loop,
    disk_full,
    entry_growth,
    expiry_storm,
    idle_sessions,
    inode_exhaustion,
    key_skew,
    link_abort,
    link_latency,
    memory_leak,
    memory_pressure,
    migration_lock,
    missing_index,
    packet_loss,
    partition,
    poison_message,
    port_squat,
    process_crash,
    provider_brownout,
    quota_cut,
    rate_limit,
    record_lost,
    record_wrong,
    replica_lag,
    route_drop,
    session_loss,
    slot_leak,
    slow_dependency,
    stale_pages,
    stale_secret,
    stuck_consumers,
    tight_probes,
];

/// All faults, by name.
pub fn all() -> &'static [FaultSpec] {
    ALL
}

/// The fault called `name`.
pub fn find(name: &str) -> Option<&'static FaultSpec> {
    ALL.iter().find(|spec| spec.name == name)
}

#[cfg(test)]
mod tests;
