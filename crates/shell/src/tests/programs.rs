//! The programs: what they print and how they end, as rows. A row that starts with `~` holds if the
//! output contains the rest of it.

use super::rig::{World, disk, port, web};

fn check(world: &mut World, rows: &[(&str, &str, i32)]) {
    for (line, expected, code) in rows {
        let reply = world.line(line);
        let both = format!("{}{}", reply.stdout, reply.stderr);
        let fits = match expected.strip_prefix('~') {
            Some(part) => both.contains(part),
            None => both == *expected,
        };
        assert!(
            fits && reply.code == *code,
            "{line}\nexpected {code}: {expected}\ngot {}: {both}",
            reply.code
        );
    }
}

#[test]
fn every_program_has_help_and_refuses_what_it_does_not_know() {
    let mut world = web();
    for command in crate::commands::all() {
        let name = command.names[0];
        assert!(world.ok(&format!("man '{name}'")).contains(command.summary), "{name}");
        if NO_OPTIONS.contains(&name) {
            continue;
        }
        let help = world.line(&format!("'{name}' --help"));
        assert_eq!((help.code, help.stdout.starts_with("Usage: ")), (0, true), "{name}: {help:?}");
        let misuse = world.line(&format!("'{name}' --no-such-option"));
        assert_eq!(misuse.code, command.misuse, "{name}: {misuse:?}");
        assert!(
            misuse.stderr.contains("unrecognized option '--no-such-option'"),
            "{name}: {misuse:?}"
        );
    }
}

/// Programs whose arguments are no options, or that read them in a way of their own.
const NO_OPTIONS: &[&str] = &[
    "dd", "dig", "echo", "exit", "export", "find", "kill", "man", "openssl", "printf", "service",
    "test", "true", "vi", "which",
];

#[test]
fn files_are_listed() {
    check(
        &mut disk(false),
        &[
            (
                "df -h /",
                "Filesystem  Size  Used  Avail  Use%  Mounted on\n/dev/sda1    \
                     47G   47G      0  100%  /\n",
                0,
            ),
            ("df -h | head -1", "Filesystem  Size  Used  Avail  Use%  Mounted on\n", 0),
            ("df -i / | tail -1 | awk '{print $5}'", "~%", 0),
            (
                "df --nope",
                "df: unrecognized option '--nope'\nTry 'df --help' for more information.\n",
                1,
            ),
            ("df /nope", "df: /nope: No such file or directory\n", 1),
            ("du -sh /var/log/app.log", "28G\t/var/log/app.log\n", 0),
            ("du -sh /nope", "du: cannot access '/nope': No such file or directory\n", 1),
            ("ls /var/log", "app\napp.log\nauth.log\njournal\npostgresql\nsyslog\n", 0),
            ("ls -lh /var/log/app.log | cut -c1-20", "-rw-r--r-- 1 root ro\n", 0),
            ("ls /nope", "ls: cannot access '/nope': No such file or directory\n", 2),
            ("ls -y /", "ls: invalid option -- 'y'\nTry 'ls --help' for more information.\n", 2),
            ("stat -c '%n %F %a %U' /etc/hostname", "/etc/hostname regular file 644 root\n", 0),
            ("find /var/log -name '*.log' -size +1G", "/var/log/app.log\n", 0),
            ("find /var/log -maxdepth 1 -type f -empty", "/var/log/auth.log\n/var/log/syslog\n", 0),
            ("find /var/log -nope", "find: unknown predicate `-nope'\n", 1),
            ("cat /etc/hostname", "localhost\n", 0),
            ("cat /nope", "cat: /nope: No such file or directory\n", 1),
            ("cat /var", "cat: /var: Is a directory\n", 1),
            ("cat -Z", "cat: invalid option -- 'Z'\nTry 'cat --help' for more information.\n", 1),
            ("grep -c ERROR /var/log/app.log", "180\n", 0),
            ("grep -i PERMISSION /var/log/app.log | head -1", "~Permission denied", 0),
            ("grep nothing /etc/hostname", "", 1),
            ("grep -E '(a|b' /etc/hostname", "grep: Unmatched ( or \\(\n", 2),
            ("wc -l /etc/os-release", "5 /etc/os-release\n", 0),
            ("wc -c /var/log/app.log", "~ /var/log/app.log", 0),
            ("head -n 1 /etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n", 0),
            ("tail -f -n 1 /etc/os-release", "~does not follow", 0),
            ("echo x > /tmp/new", "echo: write error: No space left on device\n", 1),
            ("rm /nope", "rm: cannot remove '/nope': No such file or directory\n", 1),
            ("rm /var/log", "rm: cannot remove '/var/log': Is a directory\n", 1),
            ("rm -rf /", "~dangerous to operate recursively", 1),
            ("truncate /tmp/x", "~you must specify either", 1),
        ],
    );
}

#[test]
fn files_are_made_and_changed() {
    check(
        &mut web(),
        &[
            ("mkdir -p /srv/a/b && ls /srv", "a\n", 0),
            ("mkdir /tmp/d && touch /tmp/d/f && ls /tmp/d", "f\n", 0),
            ("rmdir /tmp/d", "rmdir: failed to remove '/tmp/d': Directory not empty\n", 1),
            ("printf 'b 2\\na 1\\n' > /tmp/d/f; sort /tmp/d/f", "a 1\nb 2\n", 0),
            ("cp /tmp/d/f /tmp/g; mv /tmp/g /tmp/h; cat /tmp/h", "b 2\na 1\n", 0),
            ("sed -n 2p /tmp/h; sed 's/a/<&>/' /tmp/h", "a 1\nb 2\n<a> 1\n", 0),
            ("sed -i 's/b/c/' /tmp/h; cat /tmp/h", "c 2\na 1\n", 0),
            ("cut -d' ' -f2 /tmp/h | tr '\\n' ,", "2,1,", 0),
            ("sort /tmp/h /tmp/h | uniq -c", "      2 a 1\n      2 c 2\n", 0),
            ("gzip /tmp/h && ls /tmp", "d\nh.gz\n", 0),
            ("chmod 600 /tmp/h.gz && stat -c %A /tmp/h.gz", "-rw-------\n", 0),
            ("sudo -u nobody cat /tmp/h.gz", "cat: /tmp/h.gz: Permission denied\n", 1),
            (
                "sudo -u nobody rm /etc/hostname",
                "rm: cannot remove '/etc/hostname': Permission denied\n",
                1,
            ),
            ("rm -r /tmp/d /tmp/h.gz; ls /tmp", "", 0),
            ("basename /a/b.log .log; dirname /a/b.log", "b\n/a\n", 0),
            (
                "logrotate -f /etc/logrotate.conf; ls /var/log/nginx",
                "nginx.log\nnginx.log.1.gz\n",
                0,
            ),
        ],
    );
}

#[test]
fn processes_and_sockets_are_shown_and_signalled() {
    let mut world = port();
    let pid = world.listener(8080).unwrap();
    let zombie = pid + 7;
    check(
        &mut world,
        &[
            ("pgrep rogue_proc", &format!("{pid}\n{zombie}\n"), 0),
            ("pgrep nothing", "", 1),
            ("ps -p 1 -o pid,comm", "PID CMD\n  1 init\n", 0),
            ("ps aux | grep defunct | awk '{print $2, $8}'", &format!("{zombie} Z\n"), 0),
            (
                "ps -Z9",
                "ps: invalid option -- '9'\nUsage: ps [aux] [-eflAFww] [-p PID] [-C \
                     NAME] [-u USER] [-o FORMAT] [--sort KEY] [--no-headers]\n",
                1,
            ),
            ("lsof -t -i:8080", &format!("{pid}\n"), 0),
            ("lsof -i :9999", "", 1),
            ("lsof -p 1", "", 1),
            ("fuser 8080/tcp 2>/dev/null", &format!("{pid:>6}"), 0),
            ("fuser 9999/tcp", "", 1),
            ("ss -ltn | grep -c LISTEN", "2\n", 0),
            ("ss -ltnp 'sport = :8080' | tail -1", &format!("~pid={pid}"), 0),
            ("netstat -tlnp | grep 8080", &format!("~{pid}/rogue_proc"), 0),
            ("kill", "~usage: kill", 2),
            ("kill abc", "bash: kill: abc: arguments must be process or job IDs\n", 1),
            ("kill 99999", "bash: kill: (99999) - No such process\n", 1),
            ("kill -NOPE 1", "bash: kill: NOPE: invalid signal specification\n", 1),
            (&format!("kill -0 {pid}"), "", 0),
            (
                &format!("sudo -u nobody kill {pid}"),
                &format!("bash: kill: ({pid}) - Operation not permitted\n"),
                1,
            ),
            ("top -b -n 1 | sed -n 2p", "~1 zombie", 0),
            (&format!("kill {pid}"), "", 0),
            (&format!("kill -0 {pid}"), &format!("bash: kill: ({pid}) - No such process\n"), 1),
            ("ps aux | grep -c '[d]efunct'", "0\n", 1),
            ("pkill rogue_proc", "", 1),
            ("killall rogue_proc", "rogue_proc: no process found\n", 1),
        ],
    );
}

#[test]
fn units_are_shown_and_changed() {
    let mut world = web();
    check(
        &mut world,
        &[
            ("systemctl is-active nginx", "failed\n", 3),
            (
                "systemctl status nginx | sed -n 3p",
                "~Active: failed (failed) (Result: exit-code)",
                0,
            ),
            ("systemctl status nginx > /dev/null", "", 3),
            ("systemctl status nope", "Unit nope.service could not be found.\n", 4),
            (
                "systemctl start nope",
                "Failed to start nope.service: Unit nope.service not found.\n",
                5,
            ),
            ("systemctl frobnicate nginx", "Unknown command verb frobnicate.\n", 1),
            (
                "systemctl --failed --no-legend",
                "● nginx.service loaded failed failed A high performance web server \
                     and a reverse proxy server\n",
                0,
            ),
            ("service nginx status", "~failed", 3),
            ("service", "~Usage: service", 1),
            ("nginx -t", "~test is successful", 0),
            ("nginx -s reload", "~[error]", 1),
            (
                "curl localhost",
                "curl: (7) Failed to connect to localhost port 80 after 0 ms: Connection refused\n",
                7,
            ),
            ("journalctl -u nginx -n 1", "~FATAL", 0),
            ("journalctl -u nope", "-- No entries --\n", 0),
            ("systemctl start nginx; systemctl is-active nginx", "activating\n", 3),
        ],
    );
    world.pass(5);
    check(
        &mut world,
        &[
            ("nginx", "~Address already in use", 1),
            ("curl -s localhost/x", "nginx answers /x\n", 0),
            ("curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1/", "200", 0),
            ("curl nope.example", "curl: (6) Could not resolve host: nope.example\n", 6),
            ("systemctl stop nginx; systemctl is-active nginx", "inactive\n", 3),
            ("systemctl show -p MainPID --value nginx", "0\n", 0),
        ],
    );
}

#[test]
fn the_host_tells_about_itself() {
    let mut world = web();
    check(
        &mut world,
        &[
            ("hostname", "prod-web-01\n", 0),
            ("whoami", "root\n", 0),
            ("id", "uid=0(root) gid=0(root) groups=0(root)\n", 0),
            ("uname -sr", "Linux 5.15.0-91-generic\n", 0),
            ("date +%F", "2026-04-08\n", 0),
            ("date -s '2026-04-08 12:00:00' > /dev/null; date +%H", "12\n", 0),
            ("chronyc tracking | grep 'System time'", "~fast of NTP", 0),
            ("chronyc makestep; date +%H", "200 OK\n10\n", 0),
            ("uptime -p", "~up 6 weeks", 0),
            ("free -h | head -1", "~total", 0),
            ("vmstat | tail -1", "~0", 0),
            ("iostat -d | tail -1", "~sda", 0),
            ("dmesg | grep nginx", "~segfault", 0),
            (
                "ping -c 1 prod-web-01 | sed -n 5p",
                "1 packets transmitted, 1 received, 0% packet loss, time 0ms\n",
                0,
            ),
            ("ping -c 1 nope", "ping: nope: Name or service not known\n", 2),
            ("dig +short nginx.internal", "10.0.1.11\n", 0),
            ("dig nginx.internal", "~nginx.internal.\t\t45\tIN\tA\t10.0.1.11\n", 0),
            ("dig localhost", "~localhost.\t\t0\tIN\tA\t127.0.0.1\n", 0),
            (
                "nslookup nope.internal | tail -2 | head -1",
                "** server can't find nope.internal: NXDOMAIN\n",
                0,
            ),
            (
                "openssl x509 -in /etc/ssl/certs/nginx.pem -noout -checkend 0",
                "Certificate will expire\n",
                1,
            ),
            ("openssl x509 -in /etc/ssl/certs/nginx.pem -noout -enddate", "~notAfter=Apr  8", 0),
            ("openssl x509 -in /nope", "~No such file or directory", 1),
            ("cat /etc/nginx/nginx.conf | head -1", "lock timeout = 20 s\n", 0),
            ("which grep nope", "/usr/bin/grep\n", 1),
            ("type cd", "cd is a shell builtin\n", 0),
        ],
    );
}

#[test]
fn databases_caches_and_clusters_are_asked_and_ordered() {
    let mut world = World::new(&[
        ("db-01", &[("postgresql", "db"), ("sessions", "cache")]),
        ("app-01", &[("api", "app")]),
    ]);
    check(
        &mut world,
        &[
            ("psql -Atc 'SELECT pid, query FROM pg_stat_activity'", "~4521|app|active|", 0),
            (
                "psql -c 'SELECT count(*) FROM pg_stat_activity;'",
                " count\n-------\n 1\n(1 row)\n\n",
                0,
            ),
            ("psql -Atc 'SHOW lock_timeout'", "20 s\n", 0),
            ("psql -c 'SHOW nope'", "ERROR:  unrecognized configuration parameter \"nope\"\n", 1),
            ("psql -c 'SELECT * FROM users'", "~does not run statements", 1),
            ("psql -Atc 'SELECT pg_terminate_backend(4521)'", "t\n", 0),
            (
                "psql -Atc 'SELECT pg_terminate_backend(7)'",
                "~is not a PostgreSQL backend process",
                0,
            ),
            ("psql -c 'CREATE INDEX ON orders (user_id)'", "CREATE INDEX\n", 0),
            ("pg_isready", "/var/run/postgresql:5432 - accepting connections\n", 0),
            ("redis-cli ping", "PONG\n", 0),
            (
                "redis-cli config get memory_limit",
                "1) \"memory_limit\"\n2) \"512 MiB per replica\"\n",
                0,
            ),
            ("redis-cli DBSIZE", "(integer) 6731\n", 0),
            ("redis-cli config set maxmemory 512mb", "OK\n", 0),
            ("redis-cli config set maxmemory much", "~must be a memory value", 1),
            ("redis-cli config set port 1", "~unknown command 'config'", 1),
            ("redis-cli FLUSHALL", "OK\n", 0),
            ("redis-cli -h api ping", "~Connection refused", 1),
            ("kubectl get pods | awk '{print $2, $3}' | sort -u", "1/1 Running\nREADY STATUS\n", 0),
            ("kubectl get deployment api", "~1/1", 0),
            (
                "kubectl get deployment nope",
                "Error from server (NotFound): deployments.apps \"nope\" not found\n",
                1,
            ),
            ("kubectl logs deployment/api --tail 1", "~Permission denied", 0),
            ("kubectl rollout history deployment/api", "~deployed v2", 0),
            ("kubectl rollout undo deployment/api", "deployment.apps/api rolled back\n", 0),
            ("kubectl scale deployment api --replicas=3", "deployment.apps/api scaled\n", 0),
            ("kubectl set env deployment/api A=b", "deployment.apps/api env updated\n", 0),
            ("kubectl delete pod $(kubectl get pods | grep api | awk '{print $1}')", "~deleted", 0),
            ("kubectl frob", "error: unknown command \"frob\" for \"kubectl\"\n", 1),
            ("kubectl exec api sh", "~not supported", 1),
            ("ssh app-01 hostname", "app-01\n", 0),
            ("ssh app-01 'systemctl stop api; systemctl is-active api'", "inactive\n", 3),
            ("hostname", "db-01\n", 0),
            ("ssh nope hostname", "~Could not resolve hostname", 255),
            ("curl -s http://api:8080/", "", 7),
        ],
    );
    let verbs: Vec<_> = world.orders.iter().map(|o| o.verb.as_str()).collect();
    let database = ["kill_session", "create_index"];
    let cache = ["set_cache", "flush"];
    let cluster = ["rollback", "scale", "reload_secret"];
    assert_eq!(verbs, [&database[..], &cache, &cluster].concat());
    assert!(world.deeds.iter().any(|d| d.verb == "restart_process" && d.target.0 == 1));
}

#[test]
fn pagers_and_followers_answer_once_and_long_output_is_shortened() {
    let mut world = disk(false);
    check(
        &mut world,
        &[
            ("less /etc/hostname", "localhost\n", 0),
            ("watch -n 1 hostname", "~runs a command once", 0),
            ("top | head -1", "~top - ", 0),
            ("journalctl -f -n 1", "~does not follow", 0),
            ("vim /etc/hostname", "~needs a keyboard", 1),
        ],
    );
    let reply =
        world.line("for i in {1..400}; do echo $i 0123456789012345678901234567890123456789; done");
    assert!(
        reply.stdout.starts_with("1 0123") && reply.stdout.contains("lines left out"),
        "{reply:?}"
    );
    assert!(reply.stdout.ends_with("400 0123456789012345678901234567890123456789\n"));
}

#[test]
fn the_same_incident_of_many_small_files_is_solved_by_find() {
    let mut world = web();
    let args = model::Params::default().with("path", "/var/spool/sessions").with("rate", 1e6);
    world.pull(0, "host.inode_leak", args);
    world.pass(15);
    let before = world.view().disk;
    assert!(before.inodes_used / before.inodes > 0.99);
    assert!(world.ok("df -i / | tail -1").contains("100%"));
    assert!(world.ok("ls /var/spool/sessions").contains("small files"));
    assert_eq!(world.line("touch /tmp/x").code, 1);
    world.ok("pkill session-writer");
    world.ok("find /var/spool/sessions -delete");
    let after = world.view().disk;
    assert!(after.inodes_used / after.inodes < 0.1, "{after:?}");
}

#[test]
fn a_time_out_cuts_what_waits_and_nothing_else() {
    check(
        &mut web(),
        &[
            ("timeout 5 sleep 60", "", 124),
            ("timeout 60 sleep 5", "", 0),
            ("timeout 5 sleep 5", "", 0),
            ("timeout 0 sleep 5", "", 0),
            ("timeout 1m sleep 61; echo $?", "124\n", 0),
            ("timeout -s KILL 5 sleep 60", "", 137),
            ("timeout --preserve-status 5 sleep 60", "", 143),
            ("timeout 1 false", "", 1),
            ("timeout 5 bash -c 'echo a; sleep 60; echo b'; echo c", "a\nc\n", 0),
            ("timeout 5 bash -c 'sleep 60 | touch /tmp/late; touch /tmp/late'", "", 124),
            ("timeout 5 bash -c 'echo $(sleep 60) > /tmp/late'", "", 124),
            ("timeout 5 sh -c 'for n in 1 2 3; do echo $n; sleep 2; done'", "1\n2\n3\n", 124),
            ("timeout 5 sh -c 'if sleep 60; then echo yes; else echo no; fi'", "", 124),
            ("echo 3 3 | timeout 5 xargs -n 1 sleep", "", 124),
            ("timeout 5 timeout 60 sleep 30; echo $?", "124\n", 0),
            ("timeout 60 sh -c 'timeout 5 sleep 30; echo $?'", "124\n", 0),
            ("timeout 9 sh -c 'timeout 5 sleep 30; sleep 3; echo a; sleep 2; echo b'", "a\n", 124),
            ("ls /tmp/late", "ls: cannot access '/tmp/late': No such file or directory\n", 2),
            (
                "timeout 5x true",
                "timeout: invalid time interval '5x'\nTry 'timeout --help' for more information.\n",
                125,
            ),
            (
                "timeout 5",
                "timeout: missing operand\nTry 'timeout --help' for more information.\n",
                125,
            ),
            ("for n in 1 2; do if break; then echo x; fi; done; echo y", "y\n", 0),
        ],
    );
}
