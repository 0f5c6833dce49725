//! One attempt of a hop to call another one: what passes through the layers of the mesh.

use futures_util::future::BoxFuture;
use model::{Call, Digester, Hop, HopReply};

use crate::error::MeshError;

/// A call that a hop makes, and the hop that it becomes at its callee.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// What the caller's plan asked for.
    pub call: Call,
    /// The callee's hop.
    pub hop: Hop,
}

/// The future of an attempt. Boxed because hops nest.
pub type Reached<'a> = BoxFuture<'a, Result<HopReply, MeshError>>;

impl Attempt {
    /// The attempt that `call` makes on behalf of `caller`.
    pub fn new(caller: &Hop, call: Call) -> Attempt {
        let hop = Hop {
            request: caller.request,
            class: caller.class,
            instance: call.to,
            edge: call.edge,
            operation: call.operation.clone(),
            path: path_of(caller.path, &call),
            tick: caller.tick,
            deadline_s: call.deadline_s,
            sampled: caller.sampled,
        };
        Attempt { call, hop }
    }
}

/// The path of a call made at `path`: every draw of the callee is keyed by it. Never 0, which is
/// the path of the first hop.
fn path_of(path: u64, call: &Call) -> u64 {
    let mut digester = Digester::default();
    digester.word(path);
    digester.word(u64::from(call.edge.0));
    digester.bytes(call.operation.as_bytes());
    digester.word(u64::from(call.attempt));
    digester.finish().0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClassId, EdgeId, InstanceId, Tick, Verdict};
    use std::collections::BTreeSet;

    fn call(edge: u16, operation: &str, attempt: u32) -> Call {
        Call {
            edge: EdgeId(edge),
            to: InstanceId(9),
            operation: operation.into(),
            attempt,
            deadline_s: 0.5,
            verdict: Verdict::Pass,
            start_s: 0.0,
        }
    }

    #[test]
    fn every_edge_operation_attempt_and_ancestor_has_a_path_of_its_own() {
        let mut seen = BTreeSet::new();
        for path in [0, 1, 77] {
            for edge in 0..4 {
                for operation in ["Query", "Write"] {
                    for attempt in 0..4 {
                        assert!(seen.insert(path_of(path, &call(edge, operation, attempt))));
                    }
                }
            }
        }
        assert!(!seen.contains(&0));
    }

    #[test]
    fn a_sub_hop_keeps_the_request_and_takes_the_deadline_of_the_call() {
        let caller = Hop {
            request: 5,
            class: ClassId(2),
            instance: InstanceId(1),
            edge: EdgeId(0),
            operation: "Route".into(),
            path: 0,
            tick: Tick(7),
            deadline_s: 3.0,
            sampled: true,
        };
        let hop = Attempt::new(&caller, call(3, "Query", 1)).hop;
        assert_eq!((hop.request, hop.class, hop.tick), (5, ClassId(2), Tick(7)));
        assert_eq!(
            (hop.instance, hop.edge, hop.operation.as_str()),
            (InstanceId(9), EdgeId(3), "Query")
        );
        assert_eq!((hop.deadline_s, hop.sampled), (0.5, true));
    }
}
