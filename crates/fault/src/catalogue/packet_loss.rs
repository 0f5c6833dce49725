//! `packet_loss`: a link that loses packets.

use crate::params::RATIO;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "packet_loss",
    doc: "A share of attempts is lost and waits for its time-out or for a retransmission. The \
          median stays as it was, the tail moves in steps. It ends with the link; retries hide \
          it and add load.",
    targets: Targets::Edges,
    params: &[RATIO],
    levers: |aim| {
        aim.pull("edge.loss", &["ratio"]);
    },
    symptoms: &[
        "Tail latency grows in steps while the median stays.",
        "Time-outs of one caller toward one callee.",
    ],
    twin: Some("link_latency"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("app -> db", "ratio=0.05", "app edge.loss over 2: ratio=0.05")];
