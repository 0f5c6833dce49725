//! `start_unit`: starts a stopped or failed unit of a host.

use crate::arguments::{HOST, able, one_order};
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "start_unit",
    doc: "Starts a stopped or failed unit of a host.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[HOST, ParamSpec::required("unit", ParamKind::Text, "Name of the unit.")],
    effect: |args, site| one_order(site, args, "host", "start_unit", &["unit"]),
    variants,
};

fn variants(site: &Site<'_>) -> Vec<Params> {
    let mut variants = Vec::new();
    for host in able(site, "start_unit") {
        let tenants = site.topology.instance(&host.name).map(|id| site.topology.tenants(id));
        let mut units: Vec<_> = tenants.into_iter().flatten().map(|tenant| tenant.name).collect();
        units.dedup();
        let args = Params::default().with("host", &*host.name);
        variants.extend(units.into_iter().map(|unit| args.clone().with("unit", unit)));
    }
    variants
}
