//! Incidents that are solved at a terminal: every equivalent way counts, since the state decides,
//! and nothing that only looks like one does. Each way is one or more lines.

use super::seat::{Seat, scenario};
use crate::common::run;
use grader::{Search, prove};

struct Incident {
    name: &'static str,
    host: &'static str,
    solved: fn(&mut Seat) -> bool,
}

const SERVICE: Incident = Incident {
    name: "netarena/service-down",
    host: "prod-web-01",
    solved: |seat| seat.runs("nginx") && seat.serves(),
};
const PORT: Incident = Incident {
    name: "netarena/port-conflict",
    host: "prod-app-01",
    solved: |seat| {
        let view = seat.view();
        let app = view.units.iter().find(|u| u.name == "app").expect("a unit").pid;
        let free = view.sockets.iter().filter(|s| s.port == 8080).all(|s| s.pid == app);
        free && seat.serves()
    },
};
const DISK: Incident = Incident {
    name: "netarena/disk-full",
    host: "prod-db-01",
    solved: |seat| seat.used() < 0.9 && seat.runs("postgresql") && seat.serves(),
};

impl Incident {
    fn seat(&self) -> Seat {
        Seat::new(&scenario(self.name), self.host)
    }

    fn all(&self, ways: &[&[&str]], expected: bool) {
        let fresh = self.seat();
        assert!(!(self.solved)(&mut fresh.fork()), "{}: it is there at first", self.name);
        for lines in ways {
            let mut seat = fresh.fork();
            let said: Vec<_> = lines.iter().map(|line| seat.line(line)).collect();
            assert_eq!((self.solved)(&mut seat), expected, "{lines:?}: {said:?}");
        }
    }
}

/// What `mayday scenario check` holds each scenario to.
#[test]
fn each_is_proven() {
    let mut findings = Vec::new();
    for incident in [SERVICE, PORT, DISK] {
        let scenario = scenario(incident.name);
        for seed in 0..20 {
            let search = if seed < 3 { Search::Singles } else { Search::None };
            let proof = run(prove(fleet::kinds(), &scenario, seed, search)).unwrap();
            findings.extend(proof.findings.into_iter().map(|f| (incident.name, f)));
        }
    }
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn a_service_is_brought_back_in_many_ways() {
    SERVICE.all(
        &[
            &["systemctl start nginx"],
            &["sudo systemctl start nginx"],
            &["systemctl restart nginx.service"],
            &["service nginx start"],
            &["/etc/init.d/nginx start"],
            &["nginx"],
            &["/usr/sbin/nginx"],
            &["nginx -t && systemctl start nginx"],
            &["systemctl status nginx || systemctl start nginx"],
            &["systemctl enable --now nginx"],
            &["systemctl reset-failed nginx; systemctl start nginx"],
            &["bash -c 'systemctl start nginx'"],
            &["echo nginx | xargs systemctl start"],
            &["U=nginx; systemctl start \"$U\""],
            &["if ! pgrep nginx; then systemctl start nginx; fi"],
            &["systemctl list-units --failed --plain --no-legend | awk '{print $1}' | \
               xargs systemctl start"],
            &["while ! systemctl is-active -q nginx; do systemctl start nginx; sleep 2; done"],
            &["kubectl rollout restart deployment/nginx"],
            &["echo 'systemctl start nginx' > /tmp/fix.sh", "bash /tmp/fix.sh"],
        ],
        true,
    );
}

#[test]
fn talk_of_a_service_brings_none_back() {
    SERVICE.all(
        &[
            &["echo systemctl start nginx"],
            &["# systemctl start nginx"],
            &["systemctl start nginxx"],
            &["systemctl restart nginx-exporter"],
            &["systemctl reload nginx"],
            &["nginx -s reload"],
            &["nginx -t"],
            &["grep 'systemctl start nginx' /var/log/syslog"],
            &["systemctl \"start nginx\""],
            &["false && systemctl start nginx"],
            &["sudo -u www-data systemctl start nginx"],
            &["man nginx; help"],
            &["curl -s http://localhost/"],
        ],
        false,
    );
}

#[test]
fn a_port_is_freed_in_many_ways() {
    PORT.all(
        &[
            &["fuser -k 8080/tcp"],
            &["sudo fuser -k -n tcp 8080"],
            &["kill -9 6789"],
            &["kill 6789"],
            &["kill -9 $(lsof -t -i:8080)"],
            &["kill $(lsof -ti tcp:8080)"],
            &["lsof -ti :8080 | xargs kill -9"],
            &["pkill zombie_proc"],
            &["pkill -f 'listen 8080'"],
            &["killall -9 zombie_proc"],
            &["kill -TERM $(pgrep -o zombie)"],
            &["ss -ltnp | grep :8080 | grep -o 'pid=[0-9]*' | cut -d= -f2 | xargs kill"],
            &["netstat -tlnp | grep :8080 | awk '{print $7}' | cut -d/ -f1 | xargs kill -9"],
            &["ps aux | grep '[z]ombie_proc --listen' | awk '{print $2}' | xargs kill -9"],
            &["PID=$(lsof -t -i:8080); [ -n \"$PID\" ] && kill -9 $PID"],
            &["kill -s KILL `fuser 8080/tcp 2>/dev/null`"],
            &["kill -STOP 6789", "kill -KILL 6789; systemctl restart app"],
        ],
        true,
    );
}

#[test]
fn what_only_looks_like_killing_frees_no_port() {
    PORT.all(
        &[
            &["echo kill 6789"],
            &["# do not kill 6789"],
            &["kill -0 6789"],
            &["kill -9 167890"],
            &["kill -9 67"],
            &["kill -9 6796"],
            &["kill -STOP 6789"],
            &["kill -HUPP 6789"],
            &["sudo -u nobody kill -9 6789"],
            &["grep 'kill 6789' /var/log/syslog"],
            &["pgrep zombie_proc; fuser 8080/tcp; lsof -i :8080"],
            &["pkill -x zombie"],
            &["fuser -k 80/tcp"],
            &["systemctl restart app"],
            &["systemctl restart nginx"],
        ],
        false,
    );
}

#[test]
fn a_full_disk_is_freed_and_its_database_started_in_many_ways() {
    DISK.all(
        &[
            &["rm /var/log/app.log && systemctl start postgresql"],
            &["> /var/log/app.log", "systemctl start postgresql"],
            &[": > /var/log/app.log; service postgresql start"],
            &["truncate -s 0 /var/log/app.log", "systemctl restart postgresql.service"],
            &["cp /dev/null /var/log/app.log && systemctl start postgresql"],
            &["cat /dev/null > /var/log/app.log; systemctl start postgres"],
            &["dd if=/dev/null of=/var/log/app.log; systemctl start postgresql"],
            &["find /var/log -name '*.log' -size +1G -delete; systemctl start postgresql"],
            &["find /var/log -type f -size +1G -exec rm {} \\; && service postgresql restart"],
            &["find /var/log -size +1G | xargs rm -f", "systemctl start postgresql"],
            &["cd /var/log && rm app.log", "pwd; systemctl start postgresql"],
            &["ls -la /var/log; rm /var/log/app.log", "systemctl start postgresql"],
            &["tee /var/log/app.log < /dev/null; systemctl start postgresql"],
            &["journalctl --vacuum-size=100M; gzip /var/log/app.log; systemctl start postgresql"],
            &["unlink /var/log/app.log; systemctl start postgresql"],
            &["systemctl start postgresql || { rm -f /var/log/app.log && \
               systemctl restart postgresql; }"],
            &[
                "du -a /var/log | sort -rn | awk '{print $2}' | grep '[.]log$' | head -1 | \
               xargs truncate -s 0",
                "systemctl start postgresql",
            ],
            &["sed -i '1,$d' /var/log/app.log; systemctl start postgresql"],
        ],
        true,
    );
}

#[test]
fn what_frees_nothing_starts_no_database() {
    DISK.all(
        &[
            &["systemctl start postgresql"],
            &["rm /var/log/app.log"],
            &["echo rm /var/log/app.log; echo systemctl start postgresql"],
            &["grep -i permission /var/log/app.log; systemctl start postgresql"],
            &["mv /var/log/app.log /tmp/; systemctl start postgresql"],
            &["mv /var/log/app.log /var/log/app.log.1", "systemctl start postgresql"],
            &["rm -rf /var/log/nope; systemctl start postgresql"],
            &["rm /var/log/application.log && systemctl start postgresql"],
            &["rm /var/log/app/app.log /var/log/postgresql/postgresql.log; \
               systemctl start postgresql"],
            &["truncate -s 0 /tmp/app.log; systemctl start postgresql"],
            &["cp /var/log/app.log /dev/null; systemctl start postgresql"],
            &["rm -rf /var/lib/postgresql; systemctl start postgresql"],
        ],
        false,
    );
}

#[test]
fn a_log_that_is_held_open_keeps_its_space_until_it_is_closed() {
    // A trace writes to it and has it open.
    let mut seat = Seat::new(&scenario("resource/disk-full"), "rack-3");
    assert!(seat.used() > 0.99);
    seat.ok("rm /var/log/ledger-trace.log");
    assert_eq!(seat.fails("ls /var/log/ledger-trace.log", 2).lines().count(), 1);
    assert!(seat.used() > 0.99, "nothing is freed");
    let open = seat.ok("lsof +L1");
    assert!(open.contains("/var/log/ledger-trace.log (deleted)"), "{open}");
    let mut other = seat.fork();
    seat.ok("kill $(lsof -t +L1)");
    assert!(seat.used() < 0.7, "its last handle is closed");
    assert!(seat.serves());
    // Emptied instead, it is free at once, and filled again since its writer lives.
    let mut emptied = Seat::new(&scenario("resource/disk-full"), "rack-3");
    emptied.ok("truncate -s 0 /var/log/ledger-trace.log");
    assert!(emptied.used() < 0.7);
    emptied.wait(300);
    assert!(emptied.used() > 0.99);
    other.wait(60);
    assert!(other.used() > 0.99);
}
