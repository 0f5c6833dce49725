//! Golden digests: what each shipped scenario plays to. A digest that changes is another world:
//! raise the world revision with it. `MAYDAY_BLESS=1` writes the file anew.

use crate::common::{all_scenarios, plan, run};
use episode::Episode;
use fleet::EmbeddedFleet;
use model::EpisodeId;
use std::fmt::Write as _;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/worlds.txt");

#[test]
#[expect(clippy::disallowed_methods, reason = "the switch that writes the file anew")]
fn shipped_worlds_are_what_they_were() {
    let mut lines = format!("world revision {}\n", record::WORLD_REVISION);
    for scenario in all_scenarios() {
        let kinds = fleet::kinds();
        let fleet = EmbeddedFleet::new(kinds);
        let id = EpisodeId(1);
        let mut episode = Episode::prepare(fleet, kinds, scenario.clone(), id, 42, 1).unwrap();
        run(async {
            episode.begin().await.unwrap();
            for action in plan(&scenario, 42) {
                if episode.ended().is_none() {
                    episode.step(&action).await.unwrap();
                }
            }
        });
        let world = episode.record().steps().last().expect("a step").world;
        writeln!(lines, "{} {world} {}", scenario.name, episode.record().digest()).unwrap();
    }
    if std::env::var_os("MAYDAY_BLESS").is_some() {
        std::fs::write(FILE, &lines).unwrap();
    }
    let golden = std::fs::read_to_string(FILE).unwrap_or_default();
    assert_eq!(
        golden, lines,
        "the worlds changed: raise WORLD_REVISION, say why in the changelog, and bless the file"
    );
}
