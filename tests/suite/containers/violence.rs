//! Containers that are killed, paused and cut off the network at random steps, in the middle of
//! mutating calls too.

use super::agent::Agent;
use super::project::{Project, docker};
use super::{Alone, replays, services, task};
use crate::common::soak;
use crate::determinism::rows;
use model::Noise;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Longer than a connection or an attempt is waited for.
const FAULT: Duration = Duration::from_secs(4);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Harm {
    Kill,
    Pause,
    Cut,
}

/// One blow: at which step, how long after its beginning, whom and how.
#[derive(Clone, Copy, Debug)]
struct Blow {
    step: usize,
    after: Duration,
    service: &'static str,
    harm: Harm,
}

impl Blow {
    fn draw(n: u64, steps: usize) -> Blow {
        let dice = Noise::root(n).branch("containers");
        let pick = |word: i64, of: usize| dice.bits(word) as usize % of;
        Blow {
            // Some steps are left to find out what is wrong.
            step: pick(0, steps - 2),
            after: Duration::from_millis(dice.bits(1) % 300),
            service: services()[pick(2, services().len())],
            harm: [Harm::Kill, Harm::Pause, Harm::Cut][n as usize % 3],
        }
    }

    /// Strikes, says so, and makes good after a while.
    #[expect(clippy::disallowed_methods, reason = "the length of a fault, not a wait for a state")]
    fn strike(self, project: &Project, begun: Instant, struck: &Sender<()>) {
        let container = project.container(self.service);
        let network = project.network("control");
        while begun.elapsed() < self.after {
            std::thread::yield_now();
        }
        let harm: &[&str] = match self.harm {
            Harm::Kill => &["kill", &container],
            Harm::Pause => &["pause", &container],
            Harm::Cut => &["network", "disconnect", &network, &container],
        };
        docker(harm).expect("struck");
        struck.send(()).expect("somebody waits");
        std::thread::sleep(FAULT);
        // Without its aliases a container that comes back has no name.
        let aliases: &[&str] = match self.service {
            "orchestrator" => &["--alias", "orchestrator", "--alias", "control.orchestrator"],
            service => &["--alias", service],
        };
        let connect = [&["network", "connect"], aliases, &[&network, &container]].concat();
        let cure: &[&str] = match self.harm {
            Harm::Kill => &["start", &container],
            Harm::Pause => &["unpause", &container],
            Harm::Cut => &connect,
        };
        docker(cure).expect("healed");
    }
}

#[test]
fn containers_that_are_killed_paused_and_cut_off_change_no_digest() {
    let Some(project) = Project::start("containers_that_are_killed") else { return };
    let (alone, rows) = (Alone::start(), rows());
    let address = || project.agents();
    for n in 0..if soak() { 24 } else { 3 } {
        let row = &rows[(n as usize * 7 + 3) % rows.len()];
        let blow = Blow::draw(n, row.plan.len());
        let name = format!("{} {blow:?}", row.scenario.name);
        let expected = alone.replies(row);
        let (mut agent, first) = Agent::begin(&address, &task(row), row.seed);
        assert_eq!(first, expected[0], "{name}");
        let mut lost = 0;
        std::thread::scope(|scope| {
            let (struck, blows) = channel();
            for (at, action) in row.plan.iter().enumerate() {
                if at == blow.step {
                    let (project, struck, now) = (&project, struck.clone(), Instant::now());
                    scope.spawn(move || blow.strike(project, now, &struck));
                }
                match agent.step(&action.to_json()) {
                    Some(reply) => assert_eq!(reply, expected[at + 1], "{name}, step {at}"),
                    None => lost += 1,
                }
                if at == blow.step {
                    blows.recv().expect("struck");
                }
            }
        });
        // Only who answers agents can lose an answer.
        assert!(lost == 0 || (blow.service == "orchestrator" && lost == 1), "{name}: {lost}");
        replays(&project, &agent);
    }
}
