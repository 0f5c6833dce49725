//! Rows: what is taken, and what it becomes or why it is refused.

use super::kit::{kinds, system};
use crate::{Action, Effect, Reading, Site};
use machine::{decode, encode};
use model::{Query, Tick};

/// One line per order, or the effect as JSON.
fn effect(text: &str) -> Result<String, String> {
    let (system, kinds) = (system(), kinds());
    let action = Action::parse(text).map_err(|error| error.to_string())?;
    let effect = action.effect(&Site::new(&system, &kinds)).map_err(|e| e.to_string())?;
    let Effect::Orders(orders) = effect else {
        return Ok(crate::json::canonical(&serde_json::to_value(effect).unwrap()));
    };
    let line = |order: &model::Order| {
        let args = serde_json::to_value(&order.args).unwrap();
        let target = &system.instances[order.target.at()].name;
        format!("{target} {} {}", order.verb, crate::json::canonical(&args))
    };
    Ok(orders.iter().map(line).collect::<Vec<_>>().join("; "))
}

#[test]
fn actions_become_reads_orders_waits_and_claims() {
    for (text, expected) in [
        (
            r#"{"action":"restart","component":"shop"}"#,
            concat!(
                r#"node-1 restart_process {"group":"stable","instance":"shop"}; "#,
                r#"node-2 restart_process {"group":"canary","instance":"shop"}"#,
            ),
        ),
        (
            r#"{"action":"restart","component":"shop","group":"canary"}"#,
            r#"node-2 restart_process {"group":"canary","instance":"shop"}"#,
        ),
        (
            r#"{"action":"scale","component":"shop","replicas":4,"group":""}"#,
            r#"shop scale {"replicas":4}"#,
        ),
        (
            r#"{"action":"set_health_check","component":"shop","timeout":"1s","floor":"100%"}"#,
            r#"shop set_health_check {"floor":1,"timeout":1}"#,
        ),
        (
            r#"{"action":"set_policy","component":"shop","callee":"orders","retries":0}"#,
            r#"shop set_policy {"callee":"orders","retries":0}"#,
        ),
        (
            r#"{"action":"set_policy","component":"shop","callee":"acquirer","retries":0}"#,
            r#"shop set_policy {"callee":"acquirer","retries":0}"#,
        ),
        (
            r#"{"action":"shed","component":"shop","class":"checkout","ratio":"30%"}"#,
            r#"shop shed {"class":"checkout","ratio":0.3}"#,
        ),
        (r#"{"action":"failover","component":"orders"}"#, "orders failover {}"),
        (r#"{"action":"flush_cache","component":"stock"}"#, "stock flush {}"),
        (
            r#"{"action":"set_cache","component":"stock","ttl":"5m"}"#,
            r#"stock set_cache {"ttl":300}"#,
        ),
        (
            r#"{"action":"warm_cache","component":"stock","entries":900}"#,
            r#"stock warm {"entries":900,"rate":50}"#,
        ),
        (
            r#"{"action":"request_quota","component":"rates","rps":400}"#,
            r#"rates request_quota {"rps":400}"#,
        ),
        (r#"{"action":"wait","seconds":90}"#, r#"{"wait":90}"#),
        (r#"{"action":"resolve","summary":"over"}"#, r#""resolve""#),
        (r#"{"action":"topology"}"#, r#"{"read":"topology"}"#),
        (r#"{"action":"status"}"#, r#"{"read":{"status":{"of":null}}}"#),
        (
            r#"{"action":"metrics","component":"shop","signals":" requests.rate "}"#,
            r#"{"read":{"metrics":{"minutes":5,"of":2,"signals":["requests.rate"]}}}"#,
        ),
        (
            r#"{"action":"declare","from":"shop","to":"orders","cause":"network"}"#,
            concat!(
                r#"{"declare":{"cause":"network","component":null,"edge":1,"#,
                r#""evidence":"","onset_minutes_ago":null}}"#,
            ),
        ),
    ] {
        assert_eq!(effect(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_field_and_what_is_allowed() {
    for (text, expected) in [
        ("restart", "is not JSON"),
        ("[]", "an action is a JSON object with the field `action`"),
        ("{}", "`action`: is missing or no text; expected one of changes, config"),
        (r#"{"action":"restrat"}"#, "`action`: unknown action `restrat`; did you mean `restart`?"),
        (r#"{"action":"restart"}"#, "restart: `component`: is missing"),
        (
            r#"{"action":"restart","component":"shopp"}"#,
            "restart: `component`: unknown component `shopp`; did you mean `shop`? expected one \
             of node-1, node-2, shop, orders, stock, rates",
        ),
        (r#"{"action":"restart","component":"node-1"}"#, "node-1 runs no processes"),
        (
            r#"{"action":"restart","component":"shop","group":"beta"}"#,
            "restart: `group`: unknown group `beta`; expected one of stable, canary",
        ),
        (r#"{"action":"restart","component":["shop"]}"#, "restart: `component`: is a list"),
        (r#"{"action":"restart","component":"shop","force":true}"#, "`force`: unknown parameter"),
        (
            r#"{"action":"failover","component":"shop"}"#,
            "failover: shop is of kind app, which has no operation `failover`; db only (here: \
             orders)",
        ),
        (r#"{"action":"drain","component":"shop","group":"canary"}"#, "no kind only (there is"),
        (r#"{"action":"scale","component":"shop","replicas":0.5}"#, "whole number from 1 to 64"),
        (r#"{"action":"wait","seconds":601}"#, "wait: `seconds`: is 601; expected a whole number"),
        (
            r#"{"action":"set_policy","component":"shop","retries":9}"#,
            "set_policy: `retries`: is 9; expected a whole number from 0 to 5",
        ),
        (r#"{"action":"set_policy","component":"shop"}"#, "sets nothing; give at least one of"),
        (
            r#"{"action":"set_policy","component":"shop","callee":"shop","retries":0}"#,
            "`callee`: shop does not call shop; it calls orders, acquirer",
        ),
        (r#"{"action":"shed","component":"shop","class":"x","ratio":1}"#, "expected one of check"),
        (
            r#"{"action":"flush_cache","component":"orders"}"#,
            "orders is of kind db, which has no operation `flush`; cache only (here: stock)",
        ),
        (r#"{"action":"restart","component":"rates"}"#, "run by a third party; nobody here can"),
        (
            r#"{"action":"scale","component":"rates","replicas":4}"#,
            "rates is of kind external and run by a third party, which has no operation `scale`",
        ),
        (r#"{"action":"set_cache","component":"stock"}"#, "set_cache: sets nothing; give at least"),
        (
            r#"{"action":"set_health_check","component":"shop"}"#,
            "set_health_check: sets nothing; give at least one of timeout, period, failures",
        ),
        (r#"{"action":"warm_cache","component":"stock"}"#, "warm_cache: `entries`: is missing"),
        (
            r#"{"action":"metrics","component":"shop","signals":"request.rate"}"#,
            "`signals`: unknown signal `request.rate`; did you mean `requests.rate`?",
        ),
        (r#"{"action":"declare","cause":"overload"}"#, "names either `component`, or `from` and"),
        (r#"{"action":"declare","cause":"none","component":"shop"}"#, "there is no component"),
        (
            r#"{"action":"declare","cause":"network","from":"users","to":"orders"}"#,
            "`to`: unknown entry of the users `orders`; expected one of shop",
        ),
        (r#"{"action":"free_disk","host":"node-1","path":"log"}"#, "expected an absolute path"),
    ] {
        let error = effect(text).unwrap_err();
        assert!(error.contains(expected), "{text}\n  {error}\n  {expected}");
    }
}

#[test]
fn canonical_json_sorts_keys_and_leaves_defaults_out() {
    for (text, canonical, seconds) in [
        (
            r#"{"replicas":4.0,"group":"","component":"shop","action":"scale"}"#,
            r#"{"action":"scale","component":"shop","replicas":4}"#,
            30,
        ),
        (
            r#"{"action":"set_policy","component":"shop","timeout":"250ms","backoff":null}"#,
            r#"{"action":"set_policy","component":"shop","timeout":0.25}"#,
            30,
        ),
        (
            r#"{"action":"logs","minutes":5,"component":"shop"}"#,
            r#"{"action":"logs","component":"shop"}"#,
            5,
        ),
        (r#"{"action":"wait","seconds":90}"#, r#"{"action":"wait","seconds":90}"#, 90),
        (r#"{"action":"resolve"}"#, r#"{"action":"resolve"}"#, 0),
    ] {
        let action = Action::parse(text).unwrap();
        assert_eq!(action.to_string(), canonical);
        assert_eq!(action.duration_s(), seconds);
        assert_eq!(Action::parse(canonical).unwrap(), action);
        assert_eq!(serde_json::to_string(&action).unwrap(), canonical);
        assert_eq!(serde_json::from_str::<Action>(canonical).unwrap(), action);
        let bytes = encode("action", &action).unwrap();
        assert_eq!(decode::<Action>("action", &bytes).unwrap(), action);
    }
}

#[test]
fn reads_become_queries_that_end_now() {
    let reading = Reading::Metrics { of: model::InstanceId(2), signals: Vec::new(), minutes: 10 };
    let [(of, query)] = &reading.queries(&system(), Tick(60))[..] else { panic!("one query") };
    let expected =
        Query::Metrics { signals: Vec::new(), from: Tick(-540), to: Tick(60), every: 10 };
    assert_eq!((of.0, query), (2, &expected));
    assert_eq!(Reading::Changes { minutes: 1 }.queries(&system(), Tick(0)).len(), 6);
    assert!(Reading::Topology.queries(&system(), Tick(0)).is_empty());
}
