//! Calibration: the figures that are shown for a computed status. A row may ask for the status of
//! another component too, the one whose trouble the figures tell of. Nothing is computed from them.

use super::tasks::SERVICES;
use crate::stage::Health;
use crate::stage::Health::{Degraded, Down, Healthy};

/// CPU and memory in percent, share of errors, latency in milliseconds, requests per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) cpu: f64,
    pub(super) memory: f64,
    pub(super) errors: f64,
    pub(super) latency_ms: u32,
    pub(super) rps: u32,
}

struct Row {
    task: &'static str,
    service: &'static str,
    health: Health,
    /// Another component, and how it has to do.
    beside: Option<(&'static str, Health)>,
    figures: Figures,
}

const fn row(
    task: &'static str,
    service: &'static str,
    health: Health,
    beside: Option<(&'static str, Health)>,
    (cpu, memory, errors, latency_ms, rps): (f64, f64, f64, u32, u32),
) -> Row {
    let figures = Figures { cpu, memory, errors, latency_ms, rps };
    Row { task, service, health, beside, figures }
}

/// The first row that fits is shown. `*` stands for every task.
static TABLE: &[Row] = &[
    row("easy", "payment-service", Down, None, (0.0, 99.8, 1.0, 0, 0)),
    row("easy", "payment-service", Healthy, None, (27.0, 48.0, 0.02, 115, 200)),
    row("easy", "api-gateway", Degraded, None, (48.0, 58.0, 0.38, 920, 310)),
    row("easy", "api-gateway", Healthy, None, (41.0, 57.0, 0.03, 205, 400)),
    row("easy", "frontend", Healthy, None, (32.0, 41.0, 0.04, 195, 420)),
    row("easy", "user-db", Healthy, None, (24.0, 49.0, 0.01, 9, 210)),
    row("easy", "auth-service", Healthy, None, (19.0, 36.0, 0.01, 72, 310)),
    row("medium", "payment-service", Healthy, None, (31.0, 46.0, 0.02, 145, 200)),
    row("medium", "api-gateway", Degraded, None, (87.0, 78.0, 0.18, 4100, 600)),
    row("medium", "api-gateway", Healthy, Some(("user-db", Healthy)), (31.0, 51.0, 0.02, 148, 600)),
    row("medium", "api-gateway", Healthy, None, (34.0, 52.0, 0.03, 175, 600)),
    row("medium", "frontend", Degraded, Some(("api-gateway", Healthy)),
        (52.0, 63.0, 0.38, 7000, 800)),
    row("medium", "frontend", Degraded, None, (41.0, 52.0, 0.13, 4800, 520)),
    row("medium", "frontend", Healthy, None, (29.0, 46.0, 0.03, 195, 500)),
    row("medium", "user-db", Degraded, None, (92.0, 89.0, 0.08, 3800, 600)),
    row("medium", "user-db", Healthy, None, (19.0, 44.0, 0.01, 11, 600)),
    row("medium", "auth-service", Healthy, None, (23.0, 39.0, 0.01, 78, 360)),
    row("hard", "auth-service", Down, None, (0.0, 99.2, 1.0, 0, 0)),
    row("hard", "auth-service", Healthy, None, (21.0, 38.0, 0.01, 75, 340)),
    row("hard", "api-gateway", Down, None, (96.0, 91.0, 0.98, 30_000, 0)),
    row("hard", "api-gateway", Degraded, None, (62.0, 72.0, 0.22, 2100, 450)),
    row("hard", "api-gateway", Healthy, None, (34.0, 52.0, 0.03, 175, 600)),
    row("hard", "frontend", Degraded, Some(("api-gateway", Healthy)),
        (52.0, 63.0, 0.38, 7000, 800)),
    row("hard", "frontend", Degraded, None, (73.0, 82.0, 0.91, 28_000, 800)),
    row("hard", "frontend", Healthy, None, (27.0, 41.0, 0.02, 185, 480)),
    row("hard", "user-db", Healthy, None, (19.0, 31.0, 0.01, 8, 40)),
    row("hard", "payment-service", Healthy, None, (11.0, 26.0, 0.0, 48, 0)),
    row("*", "*", Down, None, (0.0, 0.0, 1.0, 0, 0)),
    row("*", "*", Degraded, None, (70.0, 70.0, 0.2, 3000, 400)),
    row("*", "*", Healthy, None, (30.0, 45.0, 0.02, 150, 400)),
];

/// What is shown for the component at `at` of a task, where all of them do as `health` says.
pub(super) fn figures(task: &str, at: usize, health: &[Health]) -> Figures {
    let beside = |(name, wanted): (&str, Health)| {
        SERVICES.iter().zip(health).any(|(of, is)| of.component == name && *is == wanted)
    };
    let fits = |row: &&Row| {
        (row.task == task || row.task == "*")
            && (row.service == SERVICES[at].component || row.service == "*")
            && row.health == health[at]
            && row.beside.is_none_or(beside)
    };
    TABLE.iter().find(fits).map(|row| row.figures).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_statuses_alone() {
        let mut health = [Healthy; SERVICES.len()];
        let at = |name| SERVICES.iter().position(|of| of.component == name).unwrap();
        let (gateway, db) = (at("api-gateway"), at("user-db"));
        assert_eq!(figures("medium", gateway, &health).latency_ms, 148);
        health[db] = Degraded;
        assert_eq!(figures("medium", gateway, &health).latency_ms, 175);
        health[gateway] = Degraded;
        assert_eq!(figures("medium", gateway, &health).latency_ms, 4100);
        health[gateway] = Down;
        assert_eq!(figures("medium", gateway, &health).errors, 1.0, "no row of its own");
    }
}
