//! What the agents' port says of itself: actions, observations, tasks. All of it follows from the
//! catalogue of actions and the names of tasks.

use super::observation;
use action::{ActionClass, ActionSpec, Duration};
use openenv::{About, Catalogue, Split, Tool};

/// Seeds of each split.
pub const SEEDS_PER_SPLIT: u64 = 1_000_000;
/// Its splits, and how many seeds of each are listed as tasks.
const SPLITS: [(&str, u64); 3] = [("train", 100), ("validation", 10), ("test", 10)];

const DESCRIPTION: &str = "An on-call gym: a simulated distributed system has been broken, you are \
    paged, and the reward is the harm to its users that you prevent. Each action takes simulated \
    time; `resolve` ends the episode. Some pages are false alarms.";

/// The catalogue over these tasks.
pub fn catalogue(tasks: impl Iterator<Item = String>) -> Catalogue {
    Catalogue {
        about: About {
            name: "mayday".into(),
            description: DESCRIPTION.into(),
            readme_content: Some(action::help::all()),
            version: Some(env!("CARGO_PKG_VERSION").into()),
            author: Some("the mayday authors".into()),
            documentation_url: None,
        },
        actions: action::all().iter().map(|spec| action::schema::action(spec, None)).collect(),
        observation: observation::schema(),
        tools: action::all().iter().map(tool).collect(),
        tasks: tasks.collect(),
        splits: splits(),
    }
}

/// Train has the seeds 0 to 999,999, validation and test the two millions after it; all others
/// belong to no split.
fn splits() -> Vec<Split> {
    let each = (0u64..).zip(SPLITS).map(|(at, (name, listed))| {
        let first = at * SEEDS_PER_SPLIT;
        Split { name, first, last: first + SEEDS_PER_SPLIT - 1, listed }
    });
    each.collect()
}

fn tool(spec: &ActionSpec) -> Tool {
    let takes = match spec.duration {
        Duration::Fixed(0) => "Takes no time.".to_string(),
        Duration::Fixed(seconds) => format!("Takes {seconds} simulated seconds."),
        Duration::Asked => "Takes as long as it says.".to_string(),
    };
    Tool {
        name: spec.name.into(),
        description: format!("{} {takes}", spec.doc),
        arguments: action::schema::object(spec.args, None),
        reads: spec.class == ActionClass::Read,
        name_field: action::action::NAME_FIELD,
    }
}
