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
    db,
    gateway,
    host,
    payment,
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
