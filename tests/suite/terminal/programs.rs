//! Programs against live episodes: what they show is what components say, and what they change is
//! changed there.

use super::seat::{Seat, scenario};

/// What somebody on call reaches for.
const WANTED: &str = "systemctl service journalctl ps pgrep pkill kill fuser lsof ss netstat df du \
    ls find stat cat head tail grep wc sort sed awk cut truncate rm mv cp gzip tee dd touch mkdir \
    echo printf logrotate curl dig nslookup ping openssl date chronyc uptime free top vmstat iostat \
    dmesg uname whoami id hostname env nginx psql redis-cli kubectl ssh help man vi less watch";

#[test]
fn every_program_is_there_and_explains_itself() {
    let mut seat = Seat::new(&scenario("process/dead-unit"), "hall-2");
    let pages = seat.ok(&format!("man {WANTED}"));
    assert_eq!(pages.matches("(1)\n").count(), WANTED.split_whitespace().count());
    assert!(seat.ok("help").lines().count() > 80);
    let said = seat.line("frobnicate -x");
    assert_eq!((said.code, said.err.as_str()), (127, "bash: frobnicate: command not found\n"));
}

#[test]
fn an_unknown_option_is_the_programs_own_complaint() {
    let seat = Seat::new(&scenario("process/dead-unit"), "hall-2");
    for (line, code, part) in [
        ("ls --frob", 2, "unrecognized option '--frob'"),
        ("df -Q", 1, "invalid option -- 'Q'"),
        ("grep -Q x", 2, "invalid option -- 'Q'"),
        ("systemctl --frob", 1, "unrecognized option '--frob'"),
        ("journalctl --frob", 1, "unrecognized option '--frob'"),
        ("kubectl frob", 1, "unknown command \"frob\" for \"kubectl\""),
        ("openssl frob", 1, "Invalid command 'frob'"),
        ("kill", 2, "usage: kill"),
        ("tail -f", 0, "does not follow"),
        ("vi /etc/hostname", 1, "keyboard"),
        ("cat <(ls)", 2, "not supported by this terminal"),
    ] {
        let said = seat.fork().line(line);
        assert_eq!(said.code, code, "{line}: {said:?}");
        assert!(said.err.contains(part) || said.out.contains(part), "{line}: {said:?}");
    }
}

#[test]
fn a_session_that_holds_a_lock_is_found_and_ended() {
    let mut seat = Seat::new(&scenario("data/migration-lock"), "node-2");
    let activity = seat.ok("psql -At -c 'SELECT pid, query FROM pg_stat_activity'");
    let held = activity.lines().find(|l| l.contains("ALTER TABLE")).expect("a migration");
    let pid = held.split('|').next().unwrap();
    assert!(seat.ok("psql -c 'select * from pg_locks'").contains(pid));
    assert!(seat.ok("psql -c 'SHOW lock_timeout'").contains(" s"));
    assert_eq!(seat.fails("psql -c 'SHOW frob'", 1).matches("unrecognized").count(), 1);
    let said = seat.line("psql -h orders-db -c 'select pg_terminate_backend(1)'");
    assert!(said.out.contains(" f") && said.err.contains("is not a PostgreSQL backend"));
    let lock = "psql -At -c \"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query \
                LIKE 'ALTER%'\"";
    assert_eq!(seat.ok(lock), "t\n");
    assert!(seat.serves());
}

#[test]
fn an_index_that_is_missing_is_found_and_created() {
    let mut seat = Seat::new(&scenario("data/missing-index"), "rack-3");
    let scans = "psql -h ledger-db -At -c 'SELECT relname FROM pg_stat_statements'";
    assert!(seat.ok(scans).starts_with("statement|"));
    let on = |table: &str| format!("psql -h ledger-db -c 'CREATE INDEX i ON {table} (account)'");
    assert!(seat.fails(&on("frob"), 1).contains("relation \"frob\" does not exist"));
    seat.ok(&on("card"));
    seat.wait(90);
    assert!(!seat.ok(scans).is_empty(), "an index on another table helps nothing");
    seat.ok(&on("statement"));
    seat.wait(90);
    assert_eq!(seat.ok(scans), "");
}

#[test]
fn kubectl_looks_and_changes() {
    let mut seat = Seat::new(&scenario("change/bad-deploy"), "node-1");
    let pods = seat.ok("kubectl get pods | grep ^shop | awk '{print $1}'");
    let pod = pods.lines().next().expect("a pod").to_string();
    for line in [
        "kubectl get deployments,svc 2>/dev/null || kubectl get deploy",
        "kubectl get nodes",
        "kubectl get events",
        "kubectl describe deployment shop",
        &format!("kubectl describe pod {pod}"),
        &format!("kubectl logs {pod} --tail=5"),
        "kubectl top pods",
        "kubectl top nodes",
        "kubectl rollout history deployment/shop",
        "kubectl rollout status deployment/shop",
        &format!("kubectl delete pod {pod}"),
        "kubectl scale deployment/auth --replicas=3",
        "kubectl set env deployment/auth SECRET=x",
        "kubectl rollout restart deployment auth",
    ] {
        assert!(!seat.ok(line).is_empty(), "{line}");
    }
    assert_eq!(seat.ok("kubectl get deploy auth | awk 'NR == 2 {print $2}'"), "3/3\n");
    // What is added costs its price.
    seat.ok("kubectl scale deploy auth --replicas=2");
    seat.ok("kubectl rollout undo deployment/shop");
    seat.wait(60);
    assert!(seat.serves());
    assert!(seat.fails("kubectl get pods nope", 1).contains("NotFound"));
}

#[test]
fn a_certificate_is_looked_at_and_renewed() {
    let mut seat = Seat::new(&scenario("identity/certificate-expiry"), "node-1");
    let check = "openssl x509 -noout -checkend 0 -in /etc/ssl/certs/gateway.pem";
    assert_eq!(seat.line(check).out, "Certificate will expire\n");
    let dates = "echo | openssl s_client -connect gateway:443 2>/dev/null | \
                 openssl x509 -noout -enddate";
    assert!(seat.ok(dates).starts_with("notAfter="));
    assert!(seat.ok("certbot certificates").contains("EXPIRED"));
    seat.ok("certbot renew");
    seat.wait(60);
    assert_eq!(seat.ok(check), "Certificate will not expire\n");
    assert!(seat.serves());
}

#[test]
fn a_process_that_takes_the_processor_is_found_and_killed() {
    let mut seat = Seat::new(&scenario("resource/cpu-hog"), "node-2");
    let top = seat.ok("top -bn1 | head -12");
    let hog = seat.ok("ps -eo pid,pcpu,args --sort=-pcpu | awk 'NR == 2 {print $1}'");
    assert!(top.contains(hog.trim()), "{top}");
    let load = "cut -d' ' -f1 /proc/loadavg 2>/dev/null || uptime; vmstat; iostat; free -m; dmesg";
    assert!(seat.line(load).out.contains("load average"));
    seat.ok(&format!("kill {}", hog.trim()));
    assert!(seat.serves());
}

#[test]
fn names_places_and_other_hosts() {
    let mut seat = Seat::new(&scenario("network/partition"), "hall-1");
    let address = seat.ok("dig +short till");
    assert!(address.starts_with("10.0."), "{address}");
    assert!(seat.ok("nslookup till").contains(address.trim()));
    assert!(seat.fails("nslookup nowhere", 1).is_empty());
    assert!(seat.ok("dig nowhere").contains("NXDOMAIN"));
    assert_eq!(seat.ok("ssh hall-2 hostname"), "hall-2\n");
    assert_eq!(seat.ok("hostname; whoami; id -u"), "hall-1\nroot\n0\n");
    assert!(seat.ok("ping -c 1 hall-2").contains("1 received"));
    assert!(seat.ok("chronyc tracking").contains("Leap status"));
    assert!(seat.ok("ssh hall-2 'systemctl is-active till; df -h /'").contains("active"));
    assert!(seat.ok("curl -s -o /dev/null -w '%{http_code}' http://front/events").len() == 3);
    let config = seat.ok("ls /etc/front && cat /etc/front/front.conf");
    assert!(config.contains("concurrency") || config.contains("slots"), "{config}");
    assert!(seat.ok("redis-cli --help; env | grep ^HOME").contains("HOME=/root"));
    assert!(seat.fails("redis-cli ping", 1).contains("Connection refused"));
    let rotate = "logrotate -f /etc/logrotate.conf; gzip -k /var/log/syslog; ls /var/log";
    assert!(seat.line(rotate).out.contains("syslog"));
}

#[test]
fn nothing_runs_on_the_real_machine() {
    let marker = format!("mayday-{}", std::process::id());
    let path = std::env::temp_dir().join(&marker);
    let mut seat = Seat::new(&scenario("process/dead-unit"), "hall-2");
    for line in [
        format!("touch {}", path.display()),
        format!("bash -c 'echo x > {}'", path.display()),
        format!("dd if=/dev/zero of={} bs=1 count=1", path.display()),
        format!(
            "ssh hall-1 'touch {0}'; cp /etc/hostname {0}; tee {0} < /dev/null",
            path.display()
        ),
    ] {
        seat.line(&line);
        assert!(!path.exists(), "{line}");
    }
    assert!(seat.ok("cat /etc/hostname") == "localhost\n" || !seat.ok("hostname").is_empty());
}
