//! The list of actions: one file and one line each, in alphabetical order.

use crate::action::Action;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec};

macro_rules! catalogue {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        static ALL: &[ActionSpec] = &[$($name::ACTION),*];
        #[cfg(test)]
        const FILES: &[&str] = &[$(stringify!($name)),*];
    };
}

catalogue![
    changes,
    config,
    create_index,
    declare,
    drain,
    failover,
    fix_record,
    flush_cache,
    flush_resolver,
    free_disk,
    kill_process,
    kill_session,
    logs,
    metrics,
    park_message,
    purge,
    reload_secret,
    renew_certificate,
    request_quota,
    resolve,
    restart,
    rollback,
    scale,
    set_cache,
    set_health_check,
    set_policy,
    shed,
    shell,
    shift_traffic,
    skip_offset,
    start_unit,
    status,
    topology,
    traces,
    wait,
    warm_cache,
];

/// All actions, by name.
pub fn all() -> &'static [ActionSpec] {
    ALL
}

/// The action called `name`.
pub fn find(name: &str) -> Option<&'static ActionSpec> {
    ALL.iter().find(|spec| spec.name == name)
}

/// All mutations over the present targets, with a few sensible values per argument: what a random
/// agent draws from and what the search for exploits tries. Each becomes orders that its target's
/// kind has.
pub fn variants(site: &Site<'_>) -> Vec<Action> {
    let mutations = ALL.iter().filter(|spec| spec.class == ActionClass::Mutate);
    mutations
        .flat_map(|spec| (spec.variants)(site).into_iter().map(move |args| (spec, args)))
        .filter_map(|(spec, args)| Action::new(spec.name, &args).ok())
        .filter(|action| action.effect(site).is_ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "compares the list with its folder")]
    fn the_list_is_the_folder_in_alphabetical_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalogue");
        let files: BTreeSet<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
            .filter(|stem| stem != "mod")
            .collect();
        assert_eq!(FILES.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), files);
        assert!(FILES.is_sorted());
        for (spec, file) in ALL.iter().zip(FILES) {
            assert_eq!(spec.name, *file);
            assert!(spec.doc.ends_with('.') && spec.args.iter().all(|a| a.doc.ends_with('.')));
        }
    }
}
