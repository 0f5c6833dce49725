//! `fix_record`: writes the entry of a name anew.

use crate::arguments::{COMPONENT, able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "fix_record",
    doc: "Writes the entry of a name anew at the component that answers for it, with the present \
          address. Callers follow as their caches run out.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::required("record", ParamKind::Text, "The name, as the topology lists it."),
    ],
    effect: |args, site| one_order(site, args, "component", "fix_record", &["record"]),
    variants: |site| {
        let mut variants = Vec::new();
        for spec in able(site, "fix_record") {
            let id = site.topology.instance(&spec.name).unwrap_or_default();
            for name in site.topology.names_of(id) {
                let args = Params::default().with("component", &*spec.name);
                variants.push(args.with("record", &*name.name));
            }
        }
        variants
    },
};
