//! Joins a kind's own constant lists to the shared ones at compile time, so that each list stays
//! one `static` slice. Constant functions cannot be generic over traits yet: one per type.

use crate::signals::NO_SIGNAL;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use telemetry::SignalSpec;

const NO_PARAM: ParamSpec = ParamSpec::required("", ParamKind::Flag, "");
const NO_LEVER: LeverSpec = LeverSpec { name: "", doc: "", args: &[] };
const NO_OPERATION: OperationSpec = OperationSpec { verb: "", doc: "", args: &[], delay: 0 };

macro_rules! joiner {
    ($name:ident, $item:ty, $blank:expr, $doc:literal) => {
        #[doc = $doc]
        pub const fn $name<const N: usize>(own: &[$item], shared: &[$item]) -> [$item; N] {
            assert!(own.len() + shared.len() == N, "N is the length of both lists together");
            let mut all = [$blank; N];
            let mut at = 0;
            while at < N {
                all[at] = if at < own.len() { own[at] } else { shared[at - own.len()] };
                at += 1;
            }
            all
        }
    };
}

joiner!(join_params, ParamSpec, NO_PARAM, "Parameters: the kind's own, then the shared ones.");
joiner!(join_levers, LeverSpec, NO_LEVER, "Levers: the kind's own, then the shared ones.");
joiner!(join_operations, OperationSpec, NO_OPERATION, "Operations: own, then shared.");
joiner!(join_signals, SignalSpec, NO_SIGNAL, "Signals: the kind's own, then the shared ones.");
