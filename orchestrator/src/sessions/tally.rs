//! Counts of what sessions do, for a page of metrics. They only grow.

use super::SessionError;
use episode::ControlOrder;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use record::EndReason;

/// Why an episode is over.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    reason: &'static str,
}

/// What kind of error, or of order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Sort {
    kind: &'static str,
}

/// The counts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    resets: Counter,
    steps: Counter,
    ended: Family<Ended, Counter>,
    errors: Family<Sort, Counter>,
    orders: Family<Sort, Counter>,
}

/// Kinds of errors, each with a count from the start.
const ERRORS: [&str; 5] = ["unknown", "wrong", "not_now", "full", "failed"];
const ORDERS: [&str; 4] = ["inject", "clear", "advance", "abandon"];

impl SessionError {
    fn kind(&self) -> &'static str {
        match self {
            SessionError::Unknown(_) => ERRORS[0],
            SessionError::Wrong(_) => ERRORS[1],
            SessionError::NotNow(_) => ERRORS[2],
            SessionError::Full(_) => ERRORS[3],
            SessionError::Failed { .. } => ERRORS[4],
        }
    }
}

impl Tally {
    /// Shows them on a page.
    pub fn register(&self, registry: &mut Registry) {
        for kind in ERRORS {
            drop(self.errors.get_or_create(&Sort { kind }));
        }
        for kind in ORDERS {
            drop(self.orders.get_or_create(&Sort { kind }));
        }
        for reason in EndReason::ALL.map(EndReason::word) {
            drop(self.ended.get_or_create(&Ended { reason }));
        }
        registry.register("resets", "Episodes that were begun", self.resets.clone());
        registry.register("steps", "Steps that agents took", self.steps.clone());
        registry.register("episodes_ended", "Episodes that ended", self.ended.clone());
        registry.register("errors", "Requests of agents that came to nothing", self.errors.clone());
        registry.register(
            "control_orders",
            "Orders of the control port to episodes",
            self.orders.clone(),
        );
    }

    pub(super) fn begun<T>(&self, outcome: &Result<T, SessionError>) {
        match outcome {
            Ok(_) => drop(self.resets.inc()),
            Err(error) => self.failed(error),
        }
    }

    pub(super) fn stepped<T>(&self, outcome: &Result<T, SessionError>) {
        match outcome {
            Ok(_) => drop(self.steps.inc()),
            Err(error) => self.failed(error),
        }
    }

    fn failed(&self, error: &SessionError) {
        self.errors.get_or_create(&Sort { kind: error.kind() }).inc();
    }

    pub(super) fn over(&self, end: EndReason) {
        self.ended.get_or_create(&Ended { reason: end.word() }).inc();
    }

    pub(super) fn ordered(&self, order: &ControlOrder) {
        let kind = match order {
            ControlOrder::Inject(_) => ORDERS[0],
            ControlOrder::Clear { .. } => ORDERS[1],
            ControlOrder::Advance { .. } => ORDERS[2],
            ControlOrder::Abandon => ORDERS[3],
        };
        self.orders.get_or_create(&Sort { kind }).inc();
    }
}
