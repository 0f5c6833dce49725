//! `free_disk`: removes what a path of a host holds.

use crate::arguments::{HOST, each_able, one_order};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec, Params};

/// Paths that variants try.
const PATHS: [&str; 3] = ["/tmp", "/var/lib", "/var/log"];

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "free_disk",
    doc: "Removes a file or all files of a folder of a host. What was needed is gone too.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[HOST, ParamSpec::required("path", ParamKind::Text, "An absolute path.")],
    effect,
    variants: |site| {
        let hosts = each_able(site, "host", "free_disk").into_iter();
        hosts.flat_map(|args| PATHS.map(|path| args.clone().with("path", path))).collect()
    },
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let path = args.text("path");
    if !path.starts_with('/') {
        let message = format!("is {path:?}; expected an absolute path such as /var/log/app.log");
        return Err(ActionError::field("path", message));
    }
    one_order(site, args, "host", "free_disk", &["path"])
}
