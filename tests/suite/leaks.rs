//! The truth never reaches the agent: nothing that it can be shown names a fault, a lever, a
//! grading term, a scenario, or the canary that is planted in the truth.

use crate::common::{all_scenarios, run};
use action::Action;
use episode::Episode;
use fleet::EmbeddedFleet;
use model::{EpisodeId, Params};
use scenario::Scenario;
use scenario::resolved::CANARY;

/// Words that must not be seen.
fn forbidden(scenario: &Scenario) -> Vec<String> {
    let mut words = vec![CANARY.to_string(), scenario.name.clone(), scenario.title.clone()];
    words.extend(scenario.name.split('/').next_back().map(str::to_string));
    // A fault's name is a noun phrase: those that are one common word would be seen in any log.
    words.extend(fault::all().iter().map(|f| f.name.to_string()).filter(|n| n.contains('_')));
    let levers = fleet::kinds().iter().flat_map(|k| k.levers());
    words.extend(levers.map(|l| l.name.to_string()));
    words.extend(["agent_phase", "restraint", "wrong plan", "palliative"].map(String::from));
    words.extend(scenario.truth.evidence.iter().map(|e| e.shows.clone()));
    words.extend(scenario.truth.wrong.iter().map(|w| w.why.clone()));
    words
}

/// Everything that can be read, of every component.
fn reads(scenario: &Scenario) -> Vec<Action> {
    let of = |name: &str, params: Params| Action::new(name, &params).expect("fits");
    let mut all = vec![
        of("topology", Params::default()),
        of("status", Params::default()),
        of("changes", Params::default().with("minutes", 30.0)),
        of("traces", Params::default()),
    ];
    for instance in &scenario.topology.instances {
        let component = || Params::default().with("component", instance.name.as_str());
        all.push(of("logs", component().with("minutes", 30.0)));
        all.push(of("metrics", component()));
        all.push(of("config", component()));
    }
    all
}

/// Everything that a terminal can be made to show, as lines for one host each.
fn lines(scenario: &Scenario) -> Vec<Action> {
    let names = || scenario.topology.instances.iter();
    let mut all = Vec::new();
    for host in names().filter(|i| i.kind == "host") {
        let mut line = |text: String| {
            let args = Params::default().with("host", host.name.as_str()).with("command", text);
            all.push(Action::new("shell", &args).expect("fits"));
        };
        line("ps auxf; pstree; top -bn1; env; id; set; history".into());
        line(
            "ls -laR /; find / -size +0 | xargs stat; df -h; df -i; du -a /; lsof; ss -anp".into(),
        );
        line("for f in $(find /etc /var/log /tmp /root -type f); do head -c 3000 $f; done".into());
        line("systemctl; systemctl list-units --all; systemctl --failed; dmesg; lsblk".into());
        line(
            "journalctl -n 300; free -m; vmstat; iostat; uptime; uname -a; chronyc tracking".into(),
        );
        line(
            "for u in $(systemctl list-units --all --plain --no-legend | awk '{print $1}'); do \
              systemctl status $u; systemctl show $u; journalctl -u $u -n 40; done"
                .into(),
        );
        line("kubectl get all; kubectl get events; kubectl get nodes; kubectl top pods".into());
        line("help; man man psql kubectl; cat /proc/1/environ /proc/cmdline; ls /proc /sys".into());
        for other in names() {
            let name = &other.name;
            line(format!(
                "kubectl describe deploy {name}; kubectl logs {name}; kubectl rollout history \
                 deploy {name}; curl -sv http://{name}/; dig {name}; redis-cli -h {name} INFO; \
                 redis-cli -h {name} CONFIG GET '*'; ssh {name} 'ps aux; ls -R /var'"
            ));
            line(format!(
                "for q in pg_stat_activity pg_locks pg_stat_replication pg_stat_statements; do \
                 psql -h {name} -c \"select * from $q\"; done; psql -h {name} -c 'SHOW all'; \
                 openssl s_client -connect {name}:443; openssl x509 -text -in /etc/ssl/certs/{name}.pem"
            ));
        }
    }
    all
}

/// Plays actions in copies of one moment, since there are more than an episode has time for.
async fn show(episode: &Episode<EmbeddedFleet>, plan: &[Action], shown: &mut String) {
    for action in plan {
        let reply = episode.fork().step(action).await.unwrap();
        *shown += &serde_json::to_string(&reply.observation).unwrap();
    }
}

#[test]
fn nothing_that_the_agent_is_shown_names_the_truth() {
    let mut leaks = Vec::new();
    for scenario in all_scenarios() {
        let kinds = fleet::kinds();
        let fleet = EmbeddedFleet::new(kinds);
        let mut episode =
            Episode::prepare(fleet, kinds, scenario.clone(), EpisodeId(1), 5, 1).unwrap();
        let mut shown = String::new();
        run(async {
            episode.begin().await.unwrap();
            shown += &serde_json::to_string(&episode.observe(None)).unwrap();
            show(&episode, &lines(&scenario), &mut shown).await;
            let mut plan = reads(&scenario);
            plan.extend(scenario.truth.reference.clone());
            plan.extend(reads(&scenario));
            for action in plan {
                if episode.ended().is_some() {
                    break;
                }
                let reply = episode.step(&action).await.unwrap();
                shown += &serde_json::to_string(&reply.observation).unwrap();
            }
            if episode.ended().is_none() {
                show(&episode, &lines(&scenario), &mut shown).await;
            }
        });
        assert!(shown.len() > 20_000, "something was shown");
        let shown = shown.to_lowercase();
        let seen = forbidden(&scenario).into_iter().map(|w| w.to_lowercase());
        let seen = seen.filter(|word| shown.contains(word)).collect::<Vec<_>>();
        leaks.extend(seen.into_iter().map(|word| (scenario.name.clone(), word)));
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}
