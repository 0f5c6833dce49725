//! The only list of the kinds of components. A new kind is one folder, one proto and one line
//! here.

use machine::Kind;

/// All kinds, in alphabetical order.
pub fn kinds() -> &'static [&'static dyn Kind] {
    &[]
}

/// The kind called `name`.
pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    kinds().iter().copied().find(|kind| kind.name() == name)
}
