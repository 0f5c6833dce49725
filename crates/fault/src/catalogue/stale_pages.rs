//! `stale_pages`: clients with pages and sessions of an older release.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "stale_pages",
    doc: "The cache of a frontend goes on handing out entries that are not valid any more. The \
          pages of the clients that get them fail, and their scripts call again and again, which \
          loads everything behind the frontend. It ends when the cache is emptied; the cache \
          outlives the processes of the frontend.",
    targets: Targets::Kinds(&["frontend"]),
    params: &[
        ParamSpec::required("ratio", ParamKind::Ratio, "Share of the clients."),
        ParamSpec::number(
            "calls",
            ParamKind::Number { min: 0.0, max: 1000.0 },
            10.0,
            "Calls that such a page makes in vain, for each that a page makes otherwise.",
        ),
    ],
    levers: |aim| {
        aim.pull("frontend.stale_cache", &["calls", "ratio"]);
    },
    symptoms: &[
        "Far more calls leave the frontend than pages are asked for.",
        "A share of the pages fails at the frontend itself, whatever is behind it.",
    ],
    twin: Some("session_loss"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[(
    "pages",
    "ratio=0.1 calls=20",
    "pages frontend.stale_cache: calls=20 ratio=0.1",
)];
