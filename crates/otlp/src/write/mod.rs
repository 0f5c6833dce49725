//! Calls, lines and levels as messages of OTLP, in a fixed order: by instance, then by time.

pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod spans;

use model::InstanceId;
use std::collections::BTreeMap;

/// Items by the instance that they belong to.
pub(crate) fn by_instance<T>(
    items: impl Iterator<Item = (InstanceId, T)>,
) -> BTreeMap<InstanceId, Vec<T>> {
    let mut groups: BTreeMap<InstanceId, Vec<T>> = BTreeMap::new();
    for (of, item) in items {
        groups.entry(of).or_default().push(item);
    }
    groups
}
