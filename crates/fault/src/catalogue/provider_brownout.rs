//! `provider_brownout`: a third party that is slow or fails.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "provider_brownout",
    doc: "A third party, or the one behind payments, answers late or with errors. Only what needs \
          it is hit, until waiting calls fill the workers of everybody. It ends with the \
          provider; a breaker contains it.",
    targets: Targets::Kinds(&["external", "payment"]),
    params: &[
        ParamSpec::number(
            "factor",
            ParamKind::Number { min: 1.0, max: 1000.0 },
            1.0,
            "It takes this many times as long.",
        ),
        ParamSpec::number("ratio", ParamKind::Ratio, 0.0, "Share of its answers that are errors."),
    ],
    levers: |aim| {
        let (slow, errors) = match aim.kind() {
            "external" => ("external.slow", "external.errors"),
            _ => ("payment.provider_slow", "payment.provider_errors"),
        };
        aim.pull(slow, &["factor"]);
        aim.pull(errors, &["ratio"]);
    },
    symptoms: &["Spans toward the provider are long or fail; the own work of payments is as ever."],
    twin: Some("bad_deploy"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    (
        "payment",
        "factor=20 ratio=0.3",
        "payment payment.provider_slow: factor=20; payment payment.provider_errors: ratio=0.3",
    ),
    (
        "acquirer",
        "factor=8 ratio=0.1",
        "acquirer external.slow: factor=8; acquirer external.errors: ratio=0.1",
    ),
];
