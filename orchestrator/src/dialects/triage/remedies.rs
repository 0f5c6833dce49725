//! What a remediation may ask for, the words for it, and the typed action that it becomes on the
//! component that was named.

use super::status::{Member, Role};
use super::words::{Heard, Table};
use std::sync::LazyLock;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remedy {
    /// End sessions that do nothing.
    CloseIdle,
    /// End the session of a migration.
    EndMigration,
    /// End the session of a process id that was shown.
    EndPid,
    /// Make the replica the primary.
    FailOver,
    /// Drop what a cache holds.
    Flush,
    /// Remove old files.
    FreeSpace,
    /// Delete messages that wait.
    Purge,
    /// Write fewer lines.
    QuietLogs,
    /// Get a new certificate.
    Renew,
    /// Start the processes anew.
    Restart,
    /// Put a record back.
    RestoreRecord,
    /// Go back to the version before.
    RollBack,
    /// Have more of it.
    Scale,
}

use Remedy::{
    CloseIdle, EndMigration, EndPid, FailOver, Flush, FreeSpace, Purge, QuietLogs, Renew,
    Restart, RestoreRecord, RollBack, Scale,
};

const GROUPS: &[(&str, &str)] = &[
    ("CONNECTION", "connection connections session sessions"),
    ("END", "abort cancel close disconnect drop end kill recycle release stop terminate"),
    ("IDLE", "idle leaked stale unused"),
    ("LOGFILE", "file files log logfile logfiles logs"),
    ("MAKE", "add create fix readd recreate restore revert"),
    ("REMOVE", "archive clean cleanup clear compress delete gzip purge remove rm rotate truncate"),
    ("RENEW", "install issue reissue renew replace rotate update"),
    ("START", "bounce reboot recycle redeploy restart"),
    ("CERT", "cert certificate certificates ssl tls"),
];

const PATTERNS: &[(Remedy, &str)] = &[
    (CloseIdle, "END IDLE CONNECTION"),
    (EndMigration, "END migration"),
    (EndMigration, "END alter table"),
    (EndMigration, "END alter table statement/query/session"),
    (EndMigration, "END ddl/blocking/locking query/session/statement"),
    (EndMigration, "END exclusive/table/users lock"),
    (EndPid, "END pid"),
    (FailOver, "failover/promote"),
    (FailOver, "fail over"),
    (Flush, "clear/drop/empty/flush/invalidate cache/caches"),
    (Flush, "clear/flush/invalidate session cache"),
    (FreeSpace, "REMOVE LOGFILE"),
    (FreeSpace, "REMOVE old/debug/large/unrotated/rotated LOGFILE"),
    (FreeSpace, "free disk/space"),
    (FreeSpace, "run/trigger/force logrotate"),
    (Purge, "discard/drop/purge messages/backlog"),
    (QuietLogs, "disable debug"),
    (QuietLogs, "disable debug logging/logs"),
    (QuietLogs, "set/change/lower/reduce level info/warn"),
    (QuietLogs, "set/change/lower/reduce log level info/warn"),
    (Renew, "RENEW CERT"),
    (Renew, "RENEW new/expired/wildcard CERT"),
    (Restart, "START"),
    (Restart, "rolling START"),
    (RestoreRecord, "MAKE record/records"),
    (RestoreRecord, "MAKE dns record/records/zone/entry"),
    (RestoreRecord, "MAKE deleted/missing record/records"),
    (RestoreRecord, "revert/undo change zone/dns"),
    (RollBack, "rollback"),
    (RollBack, "rollback deploy/deployment/release/version"),
    (RollBack, "roll back"),
    (RollBack, "revert deploy/deployment/release/version"),
    (Scale, "add/increase capacity/instances/replicas"),
    (Scale, "add/increase more capacity/instances/replicas"),
    (Scale, "increase/raise pool"),
    (Scale, "increase/raise connection pool size/limit"),
    (Scale, "increase/raise max/maximum connections"),
    (Scale, "scale"),
    (Scale, "scale horizontally"),
];

static TABLE: LazyLock<Table<Remedy>> = LazyLock::new(|| Table::new(PATTERNS, GROUPS));

/// The remedies that a text asks for; `None` where it asks for none, or says what not to do.
pub(super) fn asked(text: &str) -> Option<Vec<Remedy>> {
    match TABLE.hear(text) {
        Heard::Says(said) if !said.is_empty() => Some(said),
        Heard::Says(_) | Heard::Negated => None,
    }
}

/// What is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    /// An action that needs nothing but the component.
    Plain(&'static str),
    /// Ends the session of a database whose statement begins so.
    EndSession(&'static str),
    /// Ends the sessions of the process ids in the text.
    EndPids,
    /// Removes the logs of a component on its host.
    RemoveLogs,
    /// Ends the process that writes them.
    EndWriter,
    /// Twice as many replicas.
    Double,
    /// Writes the missing entries of the zone anew.
    FixRecords,
}

/// What a remedy is on a component; `None` where it does not fit.
pub(super) fn deed(remedy: Remedy, member: &Member) -> Option<Deed> {
    use Role::{App, Auth, Balancer, Cache, Cdn, Database, Names, Queue};
    match (remedy, member.role) {
        (CloseIdle, Database) => Some(Deed::EndSession("idle")),
        (EndMigration, Database) => Some(Deed::EndSession("ALTER TABLE")),
        (EndPid, Database) => Some(Deed::EndPids),
        (FailOver, Database) => Some(Deed::Plain("failover")),
        (Flush, Cache) => Some(Deed::Plain("flush_cache")),
        (Flush, Names) => Some(Deed::Plain("flush_resolver")),
        // What a server keeps in its own memory goes with its process.
        (Flush, App) => Some(Deed::Plain("restart")),
        (FreeSpace, App | Database) => Some(Deed::RemoveLogs),
        (Purge, Queue) => Some(Deed::Plain("purge")),
        (QuietLogs, App) => Some(Deed::EndWriter),
        (Renew, Balancer) => Some(Deed::Plain("renew_certificate")),
        (RestoreRecord, Names) => Some(Deed::FixRecords),
        (Restart, App | Auth | Balancer | Cache | Database | Names | Queue) => {
            Some(Deed::Plain("restart"))
        }
        (RollBack, App | Auth | Balancer | Cache | Database | Names | Queue) => {
            Some(Deed::Plain("rollback"))
        }
        (Scale, App | Auth | Balancer | Cache | Cdn | Database | Names | Queue) => {
            Some(Deed::Double)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::triage::status::find;

    #[test]
    fn remediations_ask_for_what_the_tables_know() {
        for (text, remedy) in [
            ("kill stale connections", CloseIdle),
            ("Terminate the idle sessions", CloseIdle),
            ("rotate logs", FreeSpace),
            ("archive old logs", FreeSpace),
            ("set log level to INFO", QuietLogs),
            ("renew certificate", Renew),
            ("rotate the cert", Renew),
            ("rolling restart", Restart),
            ("restart", Restart),
            ("recycle the process", Restart),
            ("restore the A record", RestoreRecord),
            ("revert the zone change", RestoreRecord),
            ("cancel migration", EndMigration),
            ("terminate migration", EndMigration),
            ("kill pid 4521", EndPid),
            ("abort the ALTER TABLE statement", EndMigration),
            ("flush redis cache", Flush),
            ("scale out", Scale),
            ("add more capacity", Scale),
        ] {
            assert_eq!(asked(text), Some(vec![remedy]), "{text}");
        }
    }

    #[test]
    fn single_words_chatter_and_negations_ask_for_nothing() {
        for text in [
            "increase",
            "add index",
            "kill",
            "add",
            "lock the door",
            "do not kill anything",
            "don't restart",
            "restart everything that moves",
            "never mind",
            "",
        ] {
            assert_eq!(asked(text), None, "{text}");
        }
        let two = asked("restart, renew certificate").unwrap();
        assert_eq!(two, [Renew, Restart], "whoever asks for several things is told so");
    }

    #[test]
    fn a_remedy_fits_some_components_and_not_others() {
        let on = |remedy, name| deed(remedy, find(name).unwrap());
        assert_eq!(on(CloseIdle, "database_primary"), Some(Deed::EndSession("idle")));
        assert_eq!(on(CloseIdle, "cache_redis"), None);
        assert_eq!(on(CloseIdle, "app_server_1"), None);
        assert_eq!(on(Renew, "app_server_1"), None);
        assert_eq!(on(Restart, "cdn"), None);
        assert_eq!(on(Flush, "app_server_1"), on(Restart, "app_server_1"));
    }
}
