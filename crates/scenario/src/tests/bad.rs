//! Where bad files are wrong: each row changes one thing in a good file.

use super::kit::{STORM, SYSTEM, resolve};

/// What is replaced, by what, the error's line and column, and the beginning of its message.
type Row = (&'static str, &'static str, &'static str, &'static str);

fn check(file: &str, rows: &[Row], edit: impl Fn(&str, &str) -> (String, String)) {
    for (old, new, place, message) in rows {
        let (scenario, system) = edit(old, new);
        let error = match resolve(&scenario, &system) {
            Ok(_) => panic!("{old:?} -> {new:?} is accepted"),
            Err(error) => error.to_string(),
        };
        let expected = format!("{file}:{place}: {message}");
        assert!(error.starts_with(&expected), "{old:?} -> {new:?}\n {error}\n {expected}");
    }
}

fn replace(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old:?} is not in the text");
    text.replacen(old, new, 1)
}

/// The scenario without overrides, which would meet flaws of the topology first.
fn plain() -> String {
    let (from, to) = (STORM.find("overrides:").unwrap(), STORM.find("workload:").unwrap());
    format!("{}{}", &STORM[..from], &STORM[to..])
}

#[test]
fn flaws_of_scenarios_are_found_at_their_place() {
    check("scenarios/overload/storm.yaml", SCENARIO_ROWS, |old, new| {
        (replace(STORM, old, new), SYSTEM.into())
    });
}

#[test]
fn flaws_of_topologies_are_found_at_their_place() {
    check("topologies/small.yaml", SYSTEM_ROWS, |old, new| (plain(), replace(SYSTEM, old, new)));
}

const SCENARIO_ROWS: &[Row] = &[
    ("tier: 2", "tiers: 2", "3:1", "unknown key `tiers`; did you mean `tier`?"),
    ("tier: 2", "tier: 5", "3:7", "`tier` is 5; expected a whole number from 0 to 4"),
    ("tier: 2", "tier: two", "3:7", "`tier` is \"two\"; expected a whole number from 0 to 4"),
    ("tier: 2", "tier: [2]", "3:7", "`tier` is a list; expected a whole number from 0 to 4"),
    ("tier: 2\n", "tier: 2\ntier: 3\n", "4:1", "duplicate mapping key `tier` is not allowed here"),
    ("tier: 2\n", "", "1:1", "`tier` is missing; expected a whole number from 0 to 4"),
    ("tier: 2\n", "tier: 2\nformat: 9\n", "4:9", "`format` is 9; this program reads 1"),
    ("stake: 50", "stake: -1", "38:8", "`stake` is -1; expected a number from 0.001 to 1000000000"),
    ("stake: 50", "stake: .nan", "38:8", "value `.nan` is not a finite number"),
    (
        "horizon: 20m",
        "horizon: 20x",
        "37:10",
        "`horizon` is \"20x\"; expected a duration from 1s to 86400s, ",
    ),
    ("horizon: 20m", "horizon: 20m\ntail: 100s", "38:7", "`tail` is 100s; expected at least 300s"),
    ("topology: small", "topology: smal", "4:11", "unknown topology `smal`; did you mean `small`?"),
    (
        "db: {concurrency: 8}",
        "dbs: {concurrency: 8}",
        "7:5",
        "unknown component `dbs`; did you mean `db`?",
    ),
    (
        "db: {concurrency: 8}",
        "db: {concurency: 8}",
        "7:10",
        "unknown key of kind db `concurency`; did you mean `concurrency`?",
    ),
    (
        "db: {concurrency: 8}",
        "db: {concurrency: 0}",
        "7:23",
        "`concurrency` is 0; expected a whole number from 1 to 1000",
    ),
    (
        "db: {concurrency: 8}",
        "db: {concurrency: 13}",
        "7:23",
        "db: `concurrency`: 13 brings bad luck",
    ),
    (
        "shop -> db: {retries: 3",
        "shop -> dbs: {retries: 3",
        "9:5",
        "unknown edge `shop -> dbs`; did you mean `shop -> db`?",
    ),
    (
        "shop -> db: {retries: 3",
        "shop -> db: {retries: 30",
        "9:27",
        "`retries` is 30; expected a whole number from 0 to 10",
    ),
    (
        "shop -> db: {retries: 3",
        "shop -> db: {retry: 3",
        "9:18",
        "unknown key `retry`; expected one of from, to, operation, calls,",
    ),
    ("browse: 300/s", "browse: 300/d", "13:20", "`browse` is \"300/d\"; expected a rate "),
    ("browse: 300/s", "browse: -300/s", "13:20", "`browse` is \"-300/s\"; expected a rate "),
    (
        "browse: 300/s",
        "brows: 300/s",
        "13:12",
        "unknown class or route `brows`; did you mean `browse`?",
    ),
    ("browse: 300/s, ", "", "13:11", "`browse` is missing; expected the demand of every class, "),
    ("30s..60s", "60s..30s", "15:9", "`hold` is \"60s..30s\"; expected a duration "),
    ("[checkout/beta]", "[beta]", "17:38", "unknown class or route `beta`"),
    ("[checkout/beta]", "beta", "17:37", "`classes` is \"beta\"; expected `all` or a list"),
    (
        "objective: 99.9%",
        "objective: 100%",
        "19:28",
        "`objective` is 1; expected more than 0, less than 1",
    ),
    ("objective: 99.9%", "objective: 101%", "19:28", "`objective` is \"101%\""),
    ("name: pay", "name: all", "20:12", "there are two objectives `all`"),
    ("slo: pay", "slo: play", "22:39", "unknown objective `play`; did you mean `pay`?"),
    ("signal: burn,", "signal: burns,", "22:52", "unknown signal `burns`; did you mean `burn`?"),
    (
        "severity: page",
        "severity: pages",
        "22:28",
        "`severity` is \"pages\"; expected one of page, ticket",
    ),
    (
        "severity: page",
        "severity: ticket",
        "22:3",
        "no alert has the severity page, so nothing starts the episode",
    ),
    (
        "on: shop, signal: latency.p99",
        "on: shops, signal: latency.p99",
        "23:40",
        "unknown component `shops`; did you mean `shop`?",
    ),
    (
        "latency.p99, above: 250ms",
        "latency.p9, above: 250ms",
        "23:54",
        "unknown signal `latency.p9`; did you mean `latency.p99`?",
    ),
    (
        "latency.p99, above: 250ms",
        "latency.p99, above: 5%",
        "23:74",
        "is \"5%\"; the signal is in s: expected a duration such as 250ms",
    ),
    (
        "latency.p99, above: 250ms",
        "latency.p99",
        "23:5",
        "`above` is missing; expected `above` or `below`",
    ),
    ("above: 250ms", "above: 250ms, below: 1s", "23:88", "`above` and `below` exclude each other"),
    (
        "fault: capacity_dip",
        "fault: capacity_drop",
        "26:22",
        "unknown fault `capacity_drop`; did you mean `capacity_dip`?",
    ),
    (
        "on: db, with: {factor: 6}",
        "on: db, with: {faktor: 6}",
        "26:51",
        "unknown key `faktor`; did you mean `factor`?",
    ),
    (
        "on: db, with: {factor: 6}",
        "on: db",
        "26:22",
        "`factor`: is missing; expected a number from 1 to 1000",
    ),
    (
        "on: db, with: {factor: 6}",
        "on: db, with: {factor: 0.5}",
        "26:59",
        "`factor` is 0.5; expected a number from 1 to 1000",
    ),
    (
        "on: db, with: {factor: 6}",
        "on: db, with: {factor: 60}",
        "26:59",
        "lever server.slow: `factor`: is 60",
    ),
    (
        "on: db, with: {factor: 6}",
        "on: db, with: {factor: [6]}",
        "26:59",
        "`factor` is a list; expected a number from 1 to 1000",
    ),
    (
        "on: db, with: {factor: 6}",
        "on: node-1, with: {factor: 6}",
        "26:40",
        "`on`: capacity_dip hits a component of kind app, auth, cache, db, dns, ",
    ),
    (
        "fault: packet_loss, on: shop -> db",
        "fault: packet_loss, on: shop -> gateway",
        "27:40",
        "unknown edge `shop -> gateway`; did you mean `users -> gateway`?",
    ),
    (
        "fault: packet_loss, on: shop -> db",
        "fault: packet_loss, on: shop",
        "27:40",
        "`on`: packet_loss hits an edge, written `caller -> callee`, not ",
    ),
    (
        "fault: packet_loss",
        "fault: breaker_stuck",
        "27:61",
        "unknown key `ratio`; none is accepted here",
    ),
    ("id: link", "id: capacity_dip", "27:75", "there are two faults `capacity_dip`; give an `id`"),
    ("clear: link", "clear: lnk", "28:22", "unknown fault above `lnk`; did you mean `link`?"),
    ("clear: link", "clear: link, on: db", "28:32", "`on` means nothing for a clear"),
    ("at: 10s, clear", "at: -10m, clear", "28:10", "`at` is outside of -300s to 1500s"),
    (
        "at: 10s, clear: link",
        "at: 10s",
        "28:5",
        "has 0 of burst, clear, fault, note, order; expected exactly one",
    ),
    (
        "at: 10s, clear: link",
        "at: 10s, clear: link, note: x",
        "28:5",
        "has 2 of burst, clear, fault, note, order; expected exactly one",
    ),
    ("{at: 10s, clear: link}", "{clear: link}", "28:5", "`at` is missing; expected `at` or `when`"),
    (
        "order: scale",
        "order: scal",
        "30:21",
        "unknown operation of shop `scal`; did you mean `scale`?",
    ),
    (
        "replicas: 4",
        "replicas: 0",
        "30:55",
        "`replicas` is 0; expected a whole number from 1 to 64",
    ),
    ("until: 90s", "until: 30s", "36:86", "`until` is not after `at`"),
    ("class: browse", "class: brow", "36:58", "`class`: unknown class or route `brow`"),
    (
        "- {at: 0s, burst: 1.5, for: 1m}",
        "- {at: 0s, burst: 1.5}",
        "35:5",
        "`for` is missing; expected how long the burst lasts",
    ),
    ("below: 10/s", "below: 10ms", "31:50", "is \"10ms\"; the signal is in {request}/s"),
    (
        "on: shop -> db, class: overload",
        "on: shop -> db, class: load",
        "40:29",
        "`class` is \"load\"; expected one of overload, change, configurati",
    ),
    (
        "causes:\n  - {on: shop -> db, class: overload, onset: -90s}\n",
        "",
        "1:1",
        "`causes` is missing; expected a list of what is wrong",
    ),
    (
        "action: wait",
        "action: wat",
        "45:14",
        "`action`: unknown action `wat`; did you mean `wait`?",
    ),
    (
        "seconds: 60",
        "seconds: 6000",
        "45:29",
        "wait: `seconds`: is 6000; expected a whole number from 1 to 600",
    ),
    ("seconds: 60", "second: 60", "45:20", "wait: `second`: unknown parameter; expected seconds"),
    (
        "callee: db, retries: 0",
        "callee: gateway, retries: 0",
        "44:51",
        "set_policy: `callee`: shop does not call gateway; it calls db",
    ),
    (
        "callee: db, retries: 0",
        "callee: db",
        "44:5",
        "set_policy: sets nothing; give at least one of timeout, retries,",
    ),
    (
        "{action: restart, component: shop}",
        "{action: restart, component: shoop}",
        "47:58",
        "restart: `component`: unknown component `shoop`; did you mean `shop`?",
    ),
    (
        "{action: restart, component: shop}",
        "{action: failover, component: shop}",
        "47:29",
        "failover: shop is of kind app, which has no operation `failover`",
    ),
    (
        "{action: restart, component: shop}",
        "{component: shop}",
        "47:29",
        "`action` is missing; expected one of changes, config, create_i",
    ),
    (
        "label: useless",
        "label: bad",
        "47:13",
        "`label` is \"bad\"; expected one of harmful, useless, palliative",
    ),
    ("tier: 2", "tier: 2\nhealthy: true", "41:3", "a healthy scenario has no causes"),
    (
        "title: A storm",
        "title: &a A storm",
        "1:11",
        "is too large, too deep, or uses anchors or aliases, which are no",
    ),
    ("title: A storm", "title: \"A storm", "1:8", "unclosed quote"),
    (
        "on: shop -> db, class: overload",
        "on: shop, class: *x",
        "40:23",
        "reference to unknown value",
    ),
    (
        "- {at: 0s, burst: 1.5, for: 1m}",
        "- {when: {on: db, signal: requests.rate, above: 1}, burst: 2, for: 9s}",
        "35:12",
        "a recheck happens in every world alike: give `at`",
    ),
    ("fault: process_crash", "burst: 2", "33:9", "`on` means nothing for a burst"),
    (
        "replicas: 4, group: stable",
        "replicas: 4, group: [a]",
        "30:65",
        "`group` is a list; expected a text of 1 to 200 characters",
    ),
    (
        "recheck:\n",
        "recheck: none\nextra:\n",
        "34:10",
        "`recheck` is \"none\"; expected `hold` or a list",
    ),
    (
        "latency.p99, above: 250ms",
        "latency.p99, above: [1]",
        "23:74",
        "`above` is a list; expected a number with or without a unit",
    ),
    ("reference:\n", "reference:\n  - wait\n", "44:5", "is \"wait\"; expected a map"),
    ("summary: Retries go on.", "summary: ''", "2:10", "`summary` is \"\"; expected a text"),
    (
        "with: {factor: 6}, for: 45s",
        "with: {factor: 6}, classes: all",
        "26:72",
        "`classes` means nothing for a fault",
    ),
    (
        "with: {factor: 6}, for: 45s",
        "with: {factor: 6}, for: 45s, until: 0s",
        "26:80",
        "`for` and `until` exclude each other",
    ),
];

const SYSTEM_ROWS: &[Row] = &[
    (
        "kind: db",
        "kind: database",
        "12:14",
        "unknown kind `database`; expected one of app, db, gateway",
    ),
    (
        "kind: db",
        "kind: host",
        "12:14",
        "unknown kind `host`; expected one of app, db, gateway; hosts sta",
    ),
    ("kind: db", "king: db", "12:7", "`kind` is missing; expected a text of 1 to 200 characters"),
    ("  db: {kind", "  shop: {kind", "12:3", "duplicate mapping key `shop` is not allowed here"),
    ("  db: {kind", "  node-1: {kind", "12:3", "node-1 is the name of a host already"),
    (
        "  db: {kind",
        "  DB: {kind",
        "12:3",
        "\"DB\" is no name; expected a letter, then letters, digits and -_.",
    ),
    ("queue: 50", "queue: 5.5", "12:39", "`queue` is 5.5; expected a whole number from 0 to 10000"),
    (
        "queue: 50",
        "queue: {}",
        "12:39",
        "`queue` is a map; expected a whole number from 0 to 10000",
    ),
    ("queue: 50", "que: 50", "12:32", "unknown key of kind db `que`"),
    (
        "kind: db, host: node-2",
        "kind: db, host: node-3",
        "12:24",
        "unknown host `node-3`; did you mean `node-1`?",
    ),
    ("{name: canary, version", "{name: stable, version", "11:16", "there are two groups `stable`"),
    (
        "version: v12\n",
        "version: v12\n    replicas: 2\n",
        "9:15",
        "`replicas` stands in each of the groups",
    ),
    ("service_time: 1ms", "service_time: 1kg", "5:55", "`service_time` is \"1kg\""),
    ("cpu: 8", "gpu: 8", "2:12", "unknown key `gpu`; did you mean `cpu`? expected one of cpu"),
    (
        "from: shop, to: db",
        "from: shp, to: db",
        "14:12",
        "unknown component `shp`; did you mean `shop`?",
    ),
    (
        "from: shop, to: db",
        "from: shop, to: node-1",
        "14:22",
        "node-1 is a host; nobody calls hosts",
    ),
    (
        "from: shop, to: db, operation: Query",
        "from: shop, to: shop, operation: Handle",
        "14:5",
        "calls go round in a circle: shop -> shop",
    ),
    (
        "from: users, to: gateway",
        "from: db, to: gateway, operation: Route",
        "14:3",
        "no edge comes from `users`",
    ),
    (
        "  - {from: users, to: gateway}",
        "  - {from: users, to: gateway}\n  - {from: db, to: gateway}",
        "18:5",
        "calls go round in a circle: db -> gateway -> shop -> db",
    ),
    (
        "  - {from: users, to: gateway}",
        "  - {from: users, to: gateway}\n  - {from: users, to: gateway}",
        "18:5",
        "there are two edges users -> gateway",
    ),
    (
        "  - {from: users, to: gateway}",
        "  - {from: users, to: gateway}\n  - {from: users, to: shop}",
        "20:11",
        "class browse: `entry` is missing; expected one of gateway, shop",
    ),
    (
        "operation: Query",
        "operation: Quer",
        "14:37",
        "unknown operation of kind db `Quer`; did you mean `Query`?",
    ),
    ("operation: Query, ", "", "14:5", "`operation` is missing; expected one of Query, Write"),
    ("checkout: 3", "checkin: 3", "14:52", "unknown class or route `checkin`"),
    ("checkout: 3", "checkout: -3", "14:62", "`checkout` is -3; expected a number from 0 to 1000"),
    (
        "timeout: 800ms",
        "timeout: 800",
        "15:15",
        "`timeout` is 800; expected a duration from 0.001s to 60s, ",
    ),
    ("open: 5s", "opens: 5s", "16:54", "unknown key `opens`; did you mean `open`?"),
    ("pool: {size: 32}", "pool: 32", "16:71", "`pool` is 32; expected a map"),
    ("objective: 400ms, ", "", "19:11", "`objective` is missing"),
    (
        "objective: 400ms",
        "objective: 400ms, entry: shop",
        "19:37",
        "unknown entry `shop`; expected one of gateway",
    ),
    (
        "  browse: {objective",
        "  all: {objective",
        "19:3",
        "\"all\" is no name; expected a letter, then letters, digits and -_",
    ),
    (
        "  checkout/beta",
        concat!(
            "  c1: {objective: 1s, patience: 1s}\n",
            "  c2: {objective: 1s, patience: 1s}\n",
            "  c3: {objective: 1s, patience: 1s}\n",
            "  c4: {objective: 1s, patience: 1s}\n",
            "  c5: {objective: 1s, patience: 1s}\n",
            "  c6: {objective: 1s, patience: 1s}\n",
            "  checkout/beta"
        ),
        "27:3",
        "there are 9 classes; expected 1 to 8",
    ),
];
