//! The only list of the kinds of components. A new kind is one folder, one proto and one line
//! here.

use chassis::RequestRoutes;
use machine::Kind;

/// A kind with everything that the server stack of its process needs.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The kind.
    pub kind: &'static dyn Kind,
    /// Its request plane.
    pub requests: RequestRoutes,
}

/// From the crates of the services: each exports `KIND` and `routes`.
macro_rules! list {
    ($($service:ident,)*) => {
        static KINDS: &[&dyn Kind] = &[$($service::KIND,)*];
        static PARTS: &[Part] =
            &[$(Part { kind: $service::KIND, requests: $service::routes },)*];
    };
}

list! {
    app,
    auth,
    cache,
    db,
    dns,
    external,
    frontend,
    gateway,
    host,
    payment,
    queue,
}

/// All kinds, in alphabetical order.
pub fn kinds() -> &'static [&'static dyn Kind] {
    KINDS
}

/// All kinds with their request planes, in the same order.
pub fn parts() -> &'static [Part] {
    PARTS
}

/// The kind called `name`.
pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    kinds().iter().copied().find(|kind| kind.name() == name)
}

/// The kind called `name` with its request plane.
pub fn part(name: &str) -> Option<Part> {
    parts().iter().copied().find(|part| part.kind.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;
    use futures_util::FutureExt;
    use mesh::MeshError;
    use model::EpisodeId;

    #[test]
    fn the_list_is_alphabetical_and_complete_in_both_forms() {
        let names: Vec<_> = kinds().iter().map(|kind| kind.name()).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(!names.is_empty());
        let parts: Vec<_> = parts().iter().map(|part| part.kind.name()).collect();
        assert_eq!(names, parts);
        assert!(names.iter().all(|name| kind(name).is_some() && part(name).is_some()));
    }

    #[test]
    fn every_operation_of_every_kind_has_a_method_in_its_proto_and_shell() {
        let links = Links::in_memory(parts(), chassis::Limits::default());
        for kind in kinds() {
            let name = kind.name();
            assert!(!kind.rpcs().is_empty(), "{name} has a service");
            for operation in kind.rpcs() {
                let mut hop = crate::testkit::hop(1, 0);
                hop.operation = operation.to_string();
                let channel = links.to(name).unwrap().channel.clone();
                let asked = mesh::ask(channel, name, EpisodeId(1), &hop).now_or_never();
                // Nobody holds the episode; a missing method would be a defect.
                assert_eq!(asked, Some(Err(MeshError::Lost { kind: name.into() })), "{operation}");
            }
        }
    }
}
