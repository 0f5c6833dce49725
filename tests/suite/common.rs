//! What several subjects share: the shipped scenarios and a way to run a future.

use action::{Action, Site};
use model::{Noise, Params};
use scenario::{Library, Scenario};
use std::future::Future;
use std::sync::Arc;

/// Runs a future to its end on this thread.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// A calm shop in which nothing happens, for tests that do things themselves.
pub(crate) fn calm() -> Arc<Scenario> {
    parsed("test/calm", include_str!("calm.yaml"))
}

/// The scenario in a text of a test.
pub(crate) fn parsed(name: &str, text: &str) -> Arc<Scenario> {
    match scenario::parse(&Library::shipped(), name, text, &fleet::kinds()) {
        Ok(scenario) => Arc::new(scenario),
        Err(error) => panic!("{error}"),
    }
}

/// All shipped scenarios but those of dialects, whose tests play them through the dialect.
pub(crate) fn all_scenarios() -> Vec<Arc<Scenario>> {
    let library = Library::shipped();
    let load = |name: &String| match scenario::load(&library, name, &fleet::kinds()) {
        Ok(scenario) => Arc::new(scenario),
        Err(error) => panic!("{error}"),
    };
    library.ordinary().map(load).collect()
}

/// Whether the full counts are asked for.
#[expect(clippy::disallowed_methods, reason = "the one switch of the suite")]
pub(crate) fn soak() -> bool {
    std::env::var_os("MAYDAY_SOAK").is_some()
}

/// A list of inputs drawn from the seed: reads, waits and mutations.
pub(crate) fn plan(scenario: &Scenario, seed: u64) -> Vec<Action> {
    let kinds = fleet::kinds();
    let dice = Noise::root(seed).branch("conformance");
    let mut mutations = action::variants(&Site::new(&scenario.topology, &kinds));
    let components: Vec<_> = scenario.topology.instances.iter().map(|i| i.name.clone()).collect();
    let mut plan = Vec::new();
    for n in 0..8 {
        let dice = dice.index(n);
        let component = &components[dice.bits(0) as usize % components.len()];
        let of = |name: &str| Params::default().with(name, component.as_str());
        let action = match dice.bits(1) % 6 {
            0 => Action::new(
                "wait",
                &Params::default().with("seconds", dice.between(2, 5.0, 70.0).floor()),
            ),
            1 => Action::new("logs", &of("component")),
            2 => Action::new("traces", &Params::default()),
            3 => Action::new("metrics", &of("component")),
            _ => Ok(mutations.swap_remove(dice.bits(3) as usize % mutations.len())),
        };
        plan.push(action.expect("fits"));
    }
    plan
}
