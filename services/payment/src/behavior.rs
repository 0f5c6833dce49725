//! What payment adds to a server: an outside provider that holds a slot for as long as it answers,
//! and a breaker of its own towards it.

use crate::signals::{COLUMNS, MEMORY, PROVIDER, PROVIDER_ERRORS};
use flow::latency::{timeout_prob, truncated_mean};
use machine::Cx;
use model::{CLASSES_MAX, Code, Order, Outbox, Query, Refusal};
use serde::{Deserialize, Serialize};
use server::{Behavior, OwnFailure, Phrases, Server};
use std::collections::BTreeMap;
use telemetry::Levels;

/// With the breaker on, charges are not sent above this share of failures or beyond this factor on
/// the provider's usual time.
const BREAKER_FAILURES: f64 = 0.3;
const BREAKER_SLOWNESS: f64 = 5.0;
/// Share of charges that probe a provider behind an open breaker.
const PROBES: f64 = 0.05;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PaymentBehavior {
    /// The breaker towards the provider is switched on.
    breaker: bool,
    /// Time-out towards the provider by order, seconds; 0: the parameter's.
    timeout_s: f64,
    open: bool,
    provider_s: f64,
    failed: f64,
    noted: (f64, f64),
}

impl Phrases for PaymentBehavior {
    fn own_error(&self, levels: &Levels) -> String {
        if levels.get(PROVIDER_ERRORS, 0.0) <= 0.0 {
            "charge failed: internal error".into()
        } else if self.open {
            "charge not sent: breaker towards the provider is open".into()
        } else {
            "charge failed: provider answered 503 or exceeded its deadline".into()
        }
    }
}

/// The third party in orders and configuration.
pub(crate) const PROVIDER_NAME: &str = "provider";

impl PaymentBehavior {
    /// Whether an order sets the policy towards the provider: by name, or with that of all that
    /// payment calls if that is nobody else.
    fn is_mine(server: &Server, order: &Order) -> bool {
        let (args, callee) = (&order.args, order.args.text("callee"));
        let alone = server.setup.callees.is_empty();
        let named = callee == PROVIDER_NAME || (callee.is_empty() && alone);
        order.verb == "set_policy" && named && (args.has("breaker") || args.has("timeout"))
    }

    fn timeout(&self, server: &Server) -> f64 {
        let usual = server.setup.spec.params.number("provider_timeout");
        if self.timeout_s > 0.0 { self.timeout_s } else { usual }
    }
}

impl Behavior for PaymentBehavior {
    const COLUMNS: usize = COLUMNS.len();
    const FAILURE: OwnFailure =
        OwnFailure { code: Code::Unavailable, message: "charge failed at the provider" };

    fn knobs(&mut self, server: &mut Server, cx: &mut Cx<'_>) {
        let usual = server.setup.spec.params.number("provider_time");
        let factor: f64 =
            server.pulled("payment.provider_slow").map(|a| a.pull.args.number("factor")).product();
        let errors = server.pulled("payment.provider_errors").fold(0.0, |all, a| {
            let ratio = a.pull.args.number("ratio");
            all + ratio - all * ratio
        });
        let (mean, timeout) = (usual * factor, self.timeout(server));
        // Answers scatter by a half around their mean.
        let var = 0.25 * mean * mean;
        let late = if mean > 0.0 { timeout_prob(mean, var, timeout) } else { 0.0 };
        self.provider_s = truncated_mean(mean.max(1e-6), var, timeout);
        self.failed = errors + late - errors * late;
        let slow = mean > BREAKER_SLOWNESS * usual.max(1e-6);
        self.open = self.breaker && (self.failed > BREAKER_FAILURES || slow);
        let (hold, failed) = if self.open {
            (PROBES * self.provider_s, 1.0 - PROBES * (1.0 - self.failed))
        } else {
            (self.provider_s, self.failed)
        };
        for c in 0..CLASSES_MAX {
            server.knobs.lock_wait_s[c] += hold;
            let error = &mut server.knobs.error[c];
            *error = *error + failed - *error * failed;
        }
        if (self.provider_s - self.noted.0).abs() > 0.01 * self.noted.0 {
            cx.emit(PROVIDER, self.provider_s, "");
            self.noted.0 = self.provider_s;
        }
        if (failed - self.noted.1).abs() > 0.005 {
            cx.emit(PROVIDER_ERRORS, failed, "");
            self.noted.1 = failed;
        }
    }

    fn served(&mut self, server: &mut Server, _cx: &mut Cx<'_>, out: &mut Outbox, first: usize) {
        out.row[first + MEMORY] = server.memory_mean() / 1_048_576.0;
    }

    fn accepts(&self, server: &Server, order: &Order) -> Option<Result<(), Refusal>> {
        if PaymentBehavior::is_mine(server, order) {
            return Some(Ok(()));
        }
        if order.verb != "set_policy" || order.args.text("callee") != PROVIDER_NAME {
            return None;
        }
        Some(Err(Refusal::because("towards the provider only `breaker` and `timeout` can be set")))
    }

    fn operate(&mut self, server: &mut Server, cx: &mut Cx<'_>, order: &Order) -> bool {
        let args = &order.args;
        if !PaymentBehavior::is_mine(server, order) {
            return false;
        }
        if args.has("breaker") {
            self.breaker = args.flag("breaker");
        }
        if args.has("timeout") {
            self.timeout_s = args.number("timeout");
        }
        let breaker = if self.breaker { "on" } else { "off" };
        let timeout = self.timeout(server);
        let text = format!("policy towards provider: timeout {timeout} s, breaker {breaker}");
        cx.emit(server::keys::NOTE, 0.0, text);
        !args.has("queue_limit")
    }

    fn facts(&self, server: &Server, query: &Query, facts: &mut BTreeMap<String, String>) {
        let text = if matches!(query, Query::Config) {
            let breaker = if self.breaker { ", breaker" } else { "" };
            format!("timeout {} s{breaker}", self.timeout(server))
        } else {
            let open = if self.open { ", breaker open" } else { "" };
            let (time, failed) = (self.provider_s, 100.0 * self.failed);
            format!("{time:.3} s per charge, {failed:.1} % failed{open}")
        };
        facts.insert("provider".into(), text);
    }

    fn inspect(&self, _server: &Server, facts: &mut BTreeMap<String, f64>) {
        facts.insert("provider_failed_ratio".into(), self.failed);
    }
}

#[cfg(test)]
mod tests {
    use crate::KIND;
    use machine::Instance;
    use model::{
        Answer, GroupSpec, Inbox, InstanceId, InstanceSpec, Order, Params, Query, Setup, Tick,
    };

    #[test]
    fn the_policy_of_all_that_it_calls_is_that_of_the_provider() {
        let groups = vec![GroupSpec::plain("stable", 1, 1)];
        let params = Params::default().check(KIND.params()).unwrap();
        let spec = InstanceSpec { params, ..InstanceSpec::plain("payment", "payment", groups) };
        let setup = Setup { incoming: Vec::new(), ..Setup::alone(spec) };
        let mut payment = Instance::create(KIND, setup, Tick(0)).unwrap();
        let args = Params::default().with("breaker", true).with("queue_limit", 9.0);
        let order = Order { target: InstanceId(0), verb: "set_policy".into(), args };
        payment.operate(Tick(0), &order).unwrap();
        for t in 0..10 {
            let at = machine::Moving { tick: Tick(t), round: 0, rounds: 1 };
            payment.advance(at, &Inbox::default());
        }
        let Answer::Facts(facts) = payment.read(&Query::Config) else { panic!("no facts") };
        assert_eq!(facts["provider"], "timeout 3 s, breaker");
        assert_eq!(facts["queue limit"], "9 per replica");
    }
}
