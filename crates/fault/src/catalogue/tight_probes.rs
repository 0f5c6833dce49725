//! `tight_probes`: health checks that healthy replicas fail.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

const COUNT: ParamKind = ParamKind::Count { min: 1, max: 10 };

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "tight_probes",
    doc: "A push of the balancer's configuration lets health checks time out before what a \
          replica under load takes for them. Replicas that are well go out of rotation, the rest \
          get their load and fail in their turn, and those that went out are idle, pass, and come \
          back: health-check flapping. Relaxed checks or a floor under the capacity end it, and a \
          rollback does; more replicas flap like the others, and a restart lasts until the next \
          probes.",
    targets: Targets::Kinds(&[
        "app", "auth", "cache", "db", "dns", "frontend", "gateway", "payment",
    ]),
    params: &[
        ParamSpec::required(
            "timeout",
            ParamKind::Duration { min: 0.001, max: 60.0 },
            "A check that takes longer fails.",
        ),
        ParamSpec::optional(
            "period",
            ParamKind::Count { min: 1, max: 300 },
            "Seconds between two checks of one replica.",
        ),
        ParamSpec::optional("failures", COUNT, "Failed checks in a row that take a replica out."),
        ParamSpec::optional("passes", COUNT, "Passed checks in a row that bring it back."),
        ParamSpec::optional(
            "floor",
            ParamKind::Ratio,
            "While a smaller share is in rotation, all replicas take requests.",
        ),
    ],
    levers: |aim| {
        aim.pull("server.probes", &["timeout", "period", "failures", "passes", "floor"]);
    },
    symptoms: &[
        "Replicas go out of rotation and come back while all their processes run.",
        "Requests wait and are refused in waves; own work takes as long as ever.",
    ],
    twin: Some("crash_loop"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("gateway", "timeout=0.02", "gateway server.probes: timeout=0.02"),
    (
        "app",
        "timeout=0.05 period=2 failures=1 floor=0",
        "app server.probes: failures=1 floor=0 period=2 timeout=0.05",
    ),
];
