//! What several subjects share: the shipped scenarios and a way to run a future.

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
    let text = include_str!("calm.yaml");
    match scenario::parse(&Library::shipped(), "test/calm", text, &fleet::kinds()) {
        Ok(scenario) => Arc::new(scenario),
        Err(error) => panic!("{error}"),
    }
}

/// All shipped scenarios.
pub(crate) fn all_scenarios() -> Vec<Arc<Scenario>> {
    let library = Library::shipped();
    let load = |name: &String| match scenario::load(&library, name, &fleet::kinds()) {
        Ok(scenario) => Arc::new(scenario),
        Err(error) => panic!("{error}"),
    };
    library.scenarios.keys().map(load).collect()
}
