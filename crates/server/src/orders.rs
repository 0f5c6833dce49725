//! What operators' orders do to any server.

use crate::keys;
use crate::state::Server;
use machine::Cx;
use model::{BreakerPolicy, CLASSES_MAX, EdgePolicy, Order, Params, Refusal};

/// Ticks in which replicas are replaced one by one.
const ROLLING_S: i64 = 30;
/// What changed within so many ticks was one change.
const ONE_CHANGE_S: i64 = 5;

impl Server {
    /// Would [`Server::operate`] do this?
    ///
    /// # Errors
    /// A sentence for the one who ordered.
    pub fn accepts(&self, order: &Order) -> Result<(), Refusal> {
        let args = &order.args;
        let group = args.text("group");
        if args.has("group")
            && !self.state.groups.iter().any(|g| group.is_empty() || g.name == group)
        {
            let names: Vec<_> = self.state.groups.iter().map(|g| g.name.as_str()).collect();
            return Err(Refusal::because(format!(
                "no replica group `{group}`; there is {}",
                names.join(", ")
            )));
        }
        match order.verb.as_str() {
            "rollback" if !self.can_roll_back() => {
                Err(Refusal::because("no earlier version to roll back to"))
            }
            "set_health_check" => self.accepts_check(order),
            "set_policy" => self.accepts_policy(args),
            "shed" if !args.text("class").is_empty() => {
                let class = args.text("class");
                let known = self.setup.classes.iter().any(|c| c.name == class || c.route == class);
                let names: Vec<_> = self.setup.classes.iter().map(|c| c.name.as_str()).collect();
                let text = format!("no class or route `{class}`; there is {}", names.join(", "));
                if known { Ok(()) } else { Err(Refusal::because(text)) }
            }
            _ => Ok(()),
        }
    }

    fn accepts_policy(&self, args: &Params) -> Result<(), Refusal> {
        let callee = args.text("callee");
        if !callee.is_empty() && !self.setup.callees.iter().any(|c| c == callee) {
            let text = if self.setup.callees.is_empty() {
                "it calls nobody".to_string()
            } else {
                format!("it calls {}", self.setup.callees.join(", "))
            };
            return Err(Refusal::because(format!("no dependency `{callee}`; {text}")));
        }
        let fields = ["timeout", "retries", "backoff", "retry_budget", "breaker", "queue_limit"];
        if fields.iter().any(|f| args.has(f)) {
            return Ok(());
        }
        Err(Refusal::because(format!("nothing to set; give one of {}", fields.join(", "))))
    }

    /// Does what was ordered; false if it is not a shared operation.
    pub fn operate(&mut self, cx: &mut Cx<'_>, order: &Order) -> bool {
        let args = &order.args;
        match order.verb.as_str() {
            "deploy" => {
                for at in 0..self.state.groups.len() {
                    self.deploy(cx, at, args.text("version"));
                }
            }
            "drain" => self.shift(cx, args.text("group"), 0.0),
            "shift_traffic" => self.shift(cx, args.text("group"), args.number("ratio")),
            "reload_secret" => {
                self.heal(&["auth.stale_secret", "server.stale_secret"]);
                cx.emit(keys::NOTE, 0.0, "secrets reloaded");
            }
            "rollback" => self.roll_back(cx),
            "scale" => self.scale(cx, args.number("replicas") as u32, args.text("group")),
            "set_health_check" => self.set_check(cx, args),
            "set_policy" => self.set_policy(cx, args),
            "shed" => {
                let chosen = self.classes(args.text("class"));
                for c in (0..CLASSES_MAX).filter(|c| chosen[*c]) {
                    self.state.shed[c] = args.number("ratio");
                }
                let (what, share) = (args.text("class"), 100.0 * args.number("ratio"));
                let what = if what.is_empty() { "all requests" } else { what };
                cx.emit(keys::NOTE, 0.0, format!("shedding {share:.0} % of {what}"));
            }
            _ => return false,
        }
        true
    }

    pub(crate) fn deploy(&mut self, cx: &mut Cx<'_>, at: usize, version: &str) {
        let fresh = self.setup.spec.params.number("memory");
        let group = &mut self.state.groups[at];
        group.deploy(version, cx.tick().0);
        group.rolling_until = cx.tick().0 + ROLLING_S;
        group.renew(fresh);
        let text = format!("{}: version {} deployed", group.name, group.version);
        cx.emit(keys::NOTE, 0.0, text);
    }

    fn roll_back(&mut self, cx: &mut Cx<'_>) {
        let fresh = self.setup.spec.params.number("memory");
        let newest = self.newest_change();
        let undone = |at: i64| at.saturating_add(ONE_CHANGE_S) >= newest;
        let deployed = self.state.groups.iter().any(|g| undone(g.deployed()));
        for group in &mut self.state.groups {
            // Without a deploy it was the configuration, and all replicas read it again.
            if deployed && !undone(group.deployed()) {
                continue;
            }
            group.rolling_until = cx.tick().0 + ROLLING_S;
            group.renew(fresh);
            let back = deployed && group.roll_back();
            let text = match (back, group.outdated()) {
                (false, _) => format!("{}: configuration before the last change", group.name),
                (true, false) => {
                    format!("{}: rolled back to version {}", group.name, group.version)
                }
                (true, true) => format!(
                    "{}: rolled back to version {}, older than its data and its callers",
                    group.name, group.version
                ),
            };
            cx.emit(keys::NOTE, 0.0, text);
        }
        // What came with the last version or configuration goes with it.
        let active = self.state.active.iter_mut();
        for active in active.filter(|a| of_a_change(&a.pull.lever) && undone(a.since)) {
            active.healed = true;
        }
        for at in 0..self.spec.edges.len() {
            self.tier.reset_pool(at, 1.0);
        }
    }

    /// When the last deploy or change of the configuration was; long ago if there was none.
    fn newest_change(&self) -> i64 {
        let deploys = self.state.groups.iter().map(crate::group::Group::deployed);
        let changes = self.changes_in_force();
        deploys.chain(changes).max().unwrap_or(i64::MIN)
    }

    fn changes_in_force(&self) -> impl Iterator<Item = i64> + '_ {
        let active = self.state.active.iter();
        active.filter(|a| !a.healed && of_a_change(&a.pull.lever)).map(|a| a.since)
    }

    fn can_roll_back(&self) -> bool {
        self.changes_in_force().next().is_some() || self.state.groups.iter().any(|g| !g.outdated())
    }

    fn shift(&mut self, cx: &mut Cx<'_>, group: &str, ratio: f64) {
        for g in self.state.groups.iter_mut().filter(|g| g.name == group) {
            g.weight = ratio;
            let text = format!("{}: takes {:.0} % of its traffic", g.name, 100.0 * ratio);
            cx.emit(keys::NOTE, 0.0, text);
        }
    }

    fn scale(&mut self, cx: &mut Cx<'_>, replicas: u32, group: &str) {
        // Without a group's name the first one is meant: the stable replicas.
        let at = self.state.groups.iter().position(|g| group.is_empty() || g.name == group);
        let Some(at) = at else { return };
        let g = &mut self.state.groups[at];
        let text = format!("{}: {} replicas wanted, was {}", g.name, replicas, g.wanted);
        g.wanted = replicas;
        cx.emit(keys::NOTE, 0.0, text);
    }

    fn set_policy(&mut self, cx: &mut Cx<'_>, args: &Params) {
        let callee = args.text("callee");
        for (at, policy) in self.state.policies.iter_mut().enumerate() {
            let name = &self.setup.callees[at];
            if callee.is_empty() || callee == name {
                change_policy(policy, args);
                let text = format!("policy towards {name}: {}", describe(policy));
                cx.emit(keys::NOTE, 0.0, text);
            }
        }
        if args.has("breaker") && !args.flag("breaker") {
            self.heal(&["edge.breaker_stuck"]);
        }
        self.follow_policies();
        if args.has("queue_limit") {
            self.state.queue = args.number("queue_limit");
            cx.emit(keys::NOTE, 0.0, format!("queue limit {} per replica", self.state.queue));
        }
    }
}

/// Levers whose cause is the last version or configuration, so that going back undoes them.
fn of_a_change(lever: &str) -> bool {
    matches!(
        lever,
        "server.version"
            | "server.memory_leak"
            | "server.slots_leak"
            | "server.crash_loop"
            | "server.probes"
            | "edge.pool_leak"
            | "edge.breaker_stuck"
            | "auth.bad_secret"
            | "db.slow_query"
            | "dns.record_lost"
            | "dns.record_wrong"
            | "gateway.route_drop"
            | "gateway.rate_limit"
    )
}

fn change_policy(policy: &mut EdgePolicy, args: &Params) {
    if args.has("timeout") {
        policy.timeout_s = args.number("timeout");
    }
    if args.has("retries") {
        policy.retries = args.number("retries") as u32;
    }
    if args.has("backoff") {
        policy.backoff_s = args.number("backoff");
    }
    if args.has("retry_budget") {
        let budget = args.number("retry_budget");
        policy.retry_budget = if budget < 1.0 { Some(budget) } else { None };
    }
    if args.has("breaker") {
        policy.breaker = args.flag("breaker").then(BreakerPolicy::default);
    }
}

/// A policy in one line, for change lists and configuration.
pub fn describe(policy: &EdgePolicy) -> String {
    let mut text = format!("timeout {} s, {} retries", policy.timeout_s, policy.retries);
    if policy.backoff_s > 0.0 {
        text += &format!(" after {} s", policy.backoff_s);
    }
    if let Some(budget) = policy.retry_budget {
        text += &format!(", retry budget {budget}");
    }
    if policy.breaker.is_some() {
        text += ", breaker";
    }
    if let Some(pool) = &policy.pool {
        text += &format!(", pool of {}", pool.size);
    }
    text
}
