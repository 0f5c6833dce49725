//! `shell`: a line typed in a terminal of a host.

use crate::arguments::{HOST, none};
use crate::error::ActionError;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "shell",
    doc: "Runs a line in a terminal of a host, where one is logged in as root and stays so; `help` \
          lists the programs. Each command that looks takes 5 seconds, each that changes \
          something 30.",
    class: ActionClass::Mutate,
    duration: Duration::READ,
    args: &[HOST, ParamSpec::required("command", ParamKind::Content, "The line, in bash's grammar.")],
    effect: |args, site| {
        let host = site.component(args, "host")?;
        let spec = site.instance(host);
        if spec.kind != "host" {
            let of_kind = |i: &&model::InstanceSpec| i.kind == "host";
            let hosts: Vec<_> = site.topology.instances.iter().filter(of_kind).collect();
            let names: Vec<_> = hosts.iter().map(|i| i.name.as_str()).collect();
            let message = format!("`{}` is no host; expected one of {}", spec.name, names.join(", "));
            return Err(ActionError::field("host", message));
        }
        Ok(Effect::Shell { host, command: args.text("command").into() })
    },
    // Lines are not in the topology.
    variants: none,
};
