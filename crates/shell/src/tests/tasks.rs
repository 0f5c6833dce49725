//! Incidents that are solved in a terminal: every equivalent way counts, because the state decides,
//! and nothing that only looks like one does.

use super::rig::{World, disk, port, web};

fn all(lines: &[&str], fresh: impl Fn() -> World, solved: impl Fn(&World) -> bool, expected: bool) {
    for line in lines {
        let mut world = fresh();
        assert!(!solved(&world), "the incident is there at first");
        for one in line.split('\n') {
            world.line(one);
        }
        world.pass(30);
        assert_eq!(solved(&world), expected, "{line}");
    }
}

fn web_is_up(world: &World) -> bool {
    world.running("nginx") && world.listener(80).is_some()
}

#[test]
fn a_web_server_is_started_in_many_ways() {
    all(
        &[
            "systemctl start nginx",
            "sudo systemctl restart nginx.service",
            "service nginx start",
            "sudo service nginx restart",
            "nginx",
            "/usr/sbin/nginx",
            "nginx -t && systemctl start nginx",
            "systemctl status nginx || systemctl start nginx",
            "systemctl is-active --quiet nginx || systemctl start nginx",
            "for u in nginx; do systemctl start $u; done",
            "bash -c 'systemctl start nginx'",
            "echo nginx | xargs systemctl start",
            "systemctl enable --now nginx",
            "U=nginx; systemctl start \"$U\"",
            "if ! pgrep nginx; then systemctl start nginx; fi",
            "systemctl start nginx # back up",
        ],
        web,
        web_is_up,
        true,
    );
}

#[test]
fn talk_about_a_web_server_starts_none() {
    all(
        &[
            "echo systemctl start nginx",
            "# systemctl start nginx",
            "systemctl status nginx",
            "systemctl start nginxx",
            "systemctl restart nginx-exporter",
            "echo 'systemctl start nginx' > /tmp/fix.sh",
            "grep 'systemctl start nginx' /var/log/syslog",
            "systemctl reload nginx",
            "systemctl stop nginx",
            "nginx -t",
            "nginx -s reload",
            "man nginx",
            "sudo -u www-data systemctl start nginx",
            "false && systemctl start nginx",
            "true || systemctl start nginx",
            "systemctl \"start nginx\"",
            "kill -0 1",
        ],
        web,
        web_is_up,
        false,
    );
}

fn port_is_free(world: &World) -> bool {
    let view = world.view();
    let app = view.units.iter().find(|u| u.name == "app").unwrap().pid;
    world.listener(8080).is_none_or(|pid| pid == app)
}

#[test]
fn a_port_is_freed_in_many_ways() {
    all(
        &[
            "fuser -k 8080/tcp",
            "sudo fuser -k -n tcp 8080",
            "kill -9 $(lsof -t -i:8080)",
            "kill $(lsof -ti:8080)",
            "lsof -ti :8080 | xargs kill -9",
            "lsof -i TCP:8080 -t -sTCP:LISTEN | xargs -r kill",
            "pkill rogue_proc",
            "pkill -9 -f 'listen 8080'",
            "killall rogue_proc",
            "kill -TERM $(pgrep -o rogue)",
            "ss -ltnp | grep :8080 | grep -o 'pid=[0-9]*' | cut -d= -f2 | xargs kill",
            "netstat -tlnp | grep 8080 | awk '{print $7}' | cut -d/ -f1 | xargs kill -9",
            "ps aux | grep '[r]ogue_proc --listen' | awk '{print $2}' | xargs kill -9",
            "PID=$(lsof -t -i:8080); [ -n \"$PID\" ] && kill -9 $PID",
            "kill -s KILL `fuser 8080/tcp 2>/dev/null`",
        ],
        port,
        port_is_free,
        true,
    );
}

#[test]
fn what_only_looks_like_killing_frees_no_port() {
    let pid = port().listener(8080).unwrap();
    let zombie = pid + 7;
    let lines = [
        format!("echo kill {pid}"),
        format!("# kill -9 {pid}"),
        format!("kill -0 {pid}"),
        format!("kill -9 1{pid}"),
        format!("kill -9 {pid}9"),
        format!("kill -9 {zombie}"),
        format!("kill -STOP {pid}"),
        format!("kill -HUPP {pid}"),
        format!("sudo -u nobody kill -9 {pid}"),
        format!("grep 'kill {pid}' /var/log/syslog"),
        "pgrep rogue_proc".into(),
        "pkill -0 rogue_proc".into(),
        "fuser 8080/tcp".into(),
        "fuser -k 80/tcp".into(),
        "systemctl restart app".into(),
        "pkill -x rogue".into(),
    ];
    all(&lines.iter().map(String::as_str).collect::<Vec<_>>(), port, port_is_free, false);
}

fn database_is_up(world: &World) -> bool {
    world.running("postgresql") && world.used() < 0.9
}

#[test]
fn a_full_disk_is_freed_in_many_ways_and_the_database_started() {
    let frees = [
        "rm /var/log/app.log",
        "rm -f /var/log/app.log",
        "> /var/log/app.log",
        ": > /var/log/app.log",
        "echo > /var/log/app.log",
        "truncate -s 0 /var/log/app.log",
        "sudo truncate -s0 /var/log/app.log",
        "cp /dev/null /var/log/app.log",
        "cat /dev/null > /var/log/app.log",
        "dd if=/dev/null of=/var/log/app.log",
        "find /var/log -name '*.log' -size +1G -delete",
        "find /var/log -type f -size +1G -exec rm {} \\;",
        "find /var/log -maxdepth 1 -size +1G | xargs rm -f",
        "cd /var/log && rm app.log",
        "rm /var/log/app.*",
        "tee /var/log/app.log < /dev/null",
        "du -a /var/log | sort -rn | awk '{print $2}' | grep '[.]log$' | \
             head -1 | xargs truncate -s 0",
        "journalctl --vacuum-size=100M && gzip /var/log/app.log",
        "unlink /var/log/app.log",
    ];
    for free in frees {
        let line = format!("{free} && systemctl start postgresql");
        all(&[&line], || disk(false), database_is_up, true);
    }
    all(
        &[
            "ls -la /var/log; rm /var/log/app.log; service postgresql start",
            "systemctl start postgresql || { rm -f /var/log/app.log && \
                 systemctl restart postgresql; }",
            "rm /var/log/app.log\nsystemctl start postgresql",
        ],
        || disk(false),
        database_is_up,
        true,
    );
}

#[test]
fn what_frees_nothing_starts_no_database() {
    all(
        &[
            "systemctl start postgresql",
            "echo rm /var/log/app.log; systemctl start postgresql",
            "grep -i permission /var/log/app.log; systemctl start postgresql",
            "mv /var/log/app.log /tmp/; systemctl start postgresql",
            "rm -rf /var/log/nope; systemctl start postgresql",
            "rm /var/log/application.log && systemctl start postgresql",
            "truncate -s 0 /tmp/app.log; systemctl start postgresql",
            "ls /var/log/app.log | cat; systemctl restart postgresql",
            "rm /var/log/app.log",
        ],
        || disk(false),
        database_is_up,
        false,
    );
}

#[test]
fn a_removed_file_that_is_held_open_frees_nothing_until_it_is_closed() {
    let mut world = disk(true);
    world.ok("rm /var/log/app.log");
    assert!(world.used() > 0.99, "its space is still taken");
    assert_eq!(world.line("ls /var/log/app.log").code, 2);
    let open = world.ok("lsof +L1");
    assert!(open.contains("/var/log/app.log (deleted)") && open.contains("tee"), "{open}");
    assert_eq!(world.line("systemctl start postgresql").code, 1);
    world.ok("kill $(lsof -t +L1)");
    assert!(world.used() < 0.5);
    world.ok("systemctl start postgresql");
    world.pass(10);
    assert!(world.running("postgresql"));
    // Emptying it instead frees its space at once, open or not.
    let mut world = disk(true);
    world.ok("truncate -s 0 /var/log/app.log");
    assert!(world.used() < 0.5);
    assert!(world.ok("lsof /var/log/app.log").contains("tee"));
}
