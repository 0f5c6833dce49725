//! The walk with its layers, over an arm whose hops follow a script.

use std::collections::BTreeMap;
use std::sync::Mutex;

use futures_util::FutureExt;
use model::{
    Call, ClassId, Code, EdgeId, Hop, HopReply, InstanceId, Next, PROCESS, PUBLISH, Span, SpanKind,
    Tick, Verdict,
};

use crate::trace::span_id;
use crate::{Arm, Attempt, MeshError, Reached, walk};

/// What a hop at an instance does: batches of calls, then a latency.
#[derive(Clone, Debug, Default)]
struct Plan {
    batches: Vec<Vec<Call>>,
    own_s: f64,
}

/// Plans by instance; every hop that was planned is written down.
#[derive(Debug, Default)]
struct Scripted {
    plans: BTreeMap<InstanceId, Plan>,
    asked: Mutex<Vec<Hop>>,
}

impl Arm for Scripted {
    fn plan(&self, hop: &Hop, replies: &[HopReply]) -> Result<Next, MeshError> {
        let lost = || MeshError::Lost { kind: format!("kind {}", hop.instance.0) };
        let plan = self.plans.get(&hop.instance).ok_or_else(lost)?;
        if replies.is_empty() {
            self.asked.lock().unwrap().push(hop.clone());
        }
        assert!(replies.iter().all(|reply| reply.spans.is_empty()), "a plan sees no spans");
        let mut answered = replies.len();
        for batch in &plan.batches {
            if answered == 0 {
                return Ok(Next::Call(batch.clone()));
            }
            answered -= batch.len();
        }
        let below: f64 = replies.iter().map(|reply| reply.latency_s).sum();
        let code = replies.last().map_or(Code::Ok, |reply| reply.code);
        let latency_s = plan.own_s + below;
        Ok(Next::Settle(HopReply { code, latency_s, message: String::new(), spans: vec![] }))
    }

    fn send(&self, hop: Hop) -> Reached<'_> {
        Box::pin(async move { walk(self, &hop).await })
    }
}

fn call(to: u16, verdict: Verdict, deadline_s: f64, start_s: f64) -> Call {
    let (edge, to) = (EdgeId(to), InstanceId(to));
    Call { edge, to, operation: "Do".into(), attempt: 0, deadline_s, verdict, start_s }
}

fn root(sampled: bool) -> Hop {
    Hop {
        request: 77,
        class: ClassId(0),
        instance: InstanceId(0),
        edge: EdgeId(0),
        operation: "Route".into(),
        path: 0,
        tick: Tick(3),
        deadline_s: 9.0,
        sampled,
    }
}

/// Instance 0 makes `batches`; instance 1 takes 0.2 s, instance 2 calls 1 at 0.1 s and adds 0.3 s.
fn scripted(batches: Vec<Vec<Call>>) -> Scripted {
    let below = vec![vec![call(1, Verdict::Pass, 1.0, 0.1)]];
    let plans = [
        (InstanceId(0), Plan { batches, own_s: 0.0 }),
        (InstanceId(1), Plan { batches: vec![], own_s: 0.2 }),
        (InstanceId(2), Plan { batches: below, own_s: 0.3 }),
    ];
    Scripted { plans: plans.into(), asked: Mutex::default() }
}

fn walked(arm: &Scripted, sampled: bool) -> Result<HopReply, MeshError> {
    walk(arm, &root(sampled)).now_or_never().expect("nothing to wait for")
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn every_verdict_is_obeyed() {
    let cases = [
        (Verdict::Pass, Code::Ok, 0.2, 1),
        (Verdict::Delay(0.5), Code::Ok, 0.7, 1),
        (Verdict::Delay(0.9), Code::DeadlineExceeded, 1.0, 1),
        (Verdict::DropRequest, Code::DeadlineExceeded, 1.0, 0),
        (Verdict::DropReply, Code::DeadlineExceeded, 1.0, 1),
        (Verdict::Abort, Code::Unavailable, 0.0, 0),
    ];
    for (verdict, code, latency_s, arrived) in cases {
        let arm = scripted(vec![vec![call(1, verdict, 1.0, 0.0)]]);
        let reply = walked(&arm, false).unwrap();
        assert_eq!(reply.code, code, "{verdict:?}");
        assert!(near(reply.latency_s, latency_s), "{verdict:?}: {}", reply.latency_s);
        let asked = arm.asked.lock().unwrap();
        let at_callee = asked.iter().filter(|hop| hop.instance == InstanceId(1)).count();
        assert_eq!(at_callee, arrived, "{verdict:?}");
    }
}

#[test]
fn a_reply_after_the_deadline_is_none_and_one_at_it_is() {
    for (deadline_s, code, latency_s) in
        [(0.1, Code::DeadlineExceeded, 0.1), (0.2, Code::Ok, 0.2), (0.3, Code::Ok, 0.2)]
    {
        let arm = scripted(vec![vec![call(1, Verdict::Pass, deadline_s, 0.0)]]);
        let reply = walked(&arm, false).unwrap();
        assert_eq!((reply.code, reply.latency_s), (code, latency_s), "{deadline_s}");
        assert_eq!(arm.asked.lock().unwrap()[1].deadline_s, deadline_s);
    }
}

#[test]
fn batches_come_one_after_the_other_and_replies_in_the_order_of_their_calls() {
    let first = vec![
        call(1, Verdict::DropRequest, 0.25, 0.0),
        call(2, Verdict::Pass, 1.0, 0.0),
        call(1, Verdict::Abort, 1.0, 0.0),
    ];
    let arm = scripted(vec![first, vec![call(1, Verdict::Pass, 1.0, 0.5)]]);
    let reply = walked(&arm, false).unwrap();
    assert!(near(reply.latency_s, 0.25 + 0.5 + 0.0 + 0.2), "{}", reply.latency_s);
    assert_eq!(reply.code, Code::Ok, "the last batch was the last reply");
    assert!(reply.spans.is_empty(), "not sampled");
}

#[test]
fn spans_stand_where_and_when_they_belong() {
    let arm = scripted(vec![vec![call(2, Verdict::Delay(0.4), 5.0, 1.0)]]);
    let spans = walked(&arm, true).unwrap().spans;
    let asked = arm.asked.lock().unwrap();
    let id = |at: usize, client| span_id(77, asked[at].path, client);
    let expected = [
        // id, parent, client, start, length, instance
        (id(0, false), 0, false, 0.0, 0.9, 0),
        (id(1, true), id(0, false), true, 1.0, 0.9, 0),
        (id(1, false), id(1, true), false, 1.2, 0.5, 2),
        (id(2, true), id(1, false), true, 1.3, 0.2, 2),
        (id(2, false), id(2, true), false, 1.3, 0.2, 1),
    ];
    assert_eq!(spans.len(), expected.len());
    for (span, (id, parent, client, start_s, length_s, instance)) in spans.iter().zip(expected) {
        assert_eq!((span.id, span.parent, span.client), (id, parent, client), "{span:?}");
        assert_eq!(span.instance, InstanceId(instance));
        assert!(near(span.start_s, start_s) && near(span.length_s, length_s), "{span:?}");
    }
}

/// Instance 2 takes a message at 1.0 s and handles it itself, 30 s later, by asking instance 1.
#[test]
fn a_message_is_handled_below_the_span_that_handed_it_over() {
    let publish = Call { operation: PUBLISH.into(), ..call(2, Verdict::Pass, 9.0, 1.0) };
    let process = Call { operation: PROCESS.into(), ..call(3, Verdict::Pass, f64::INFINITY, 30.0) };
    let mut arm = scripted(vec![vec![publish]]);
    let keeper = Plan { batches: vec![vec![process.clone()]], own_s: 0.01 };
    let handler = Plan { batches: vec![vec![call(1, Verdict::Pass, 1.0, 0.1)]], own_s: 0.3 };
    arm.plans.extend([(InstanceId(2), keeper), (InstanceId(3), handler.clone())]);
    let spans = walked(&arm, true).unwrap().spans;
    let kinds: Vec<_> = spans.iter().map(|span| (span.kind(), span.instance.0)).collect();
    let expected = [
        (SpanKind::Server, 0),
        (SpanKind::Producer, 0),
        (SpanKind::Server, 2),
        (SpanKind::Consumer, 3),
        (SpanKind::Client, 3),
        (SpanKind::Server, 1),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(spans[3].parent, spans[1].id);
    assert_eq!((spans[4].parent, spans[5].parent), (spans[3].id, spans[4].id));
    let starts = [0.0, 1.0, 1.0, 31.0, 31.1, 31.1];
    assert!(spans.iter().zip(starts).all(|(s, start_s)| near(s.start_s, start_s)), "{spans:?}");
    let later = [spans[3].id, spans[4].id, spans[5].id];
    assert_eq!(Span::deferred(&spans), later.into());
    // A message that users hand over themselves has no caller's side to stand below.
    let mut arm = scripted(vec![vec![process]]);
    arm.plans.insert(InstanceId(3), handler);
    let spans = walked(&arm, true).unwrap().spans;
    assert_eq!((spans[1].kind(), spans[1].parent), (SpanKind::Consumer, spans[0].id));
}

#[test]
fn whether_a_request_is_sampled_changes_nothing_else() {
    let batches = vec![vec![call(2, Verdict::Delay(0.4), 5.0, 1.0)]];
    let (plain, traced) = (scripted(batches.clone()), scripted(batches));
    let (a, b) = (walked(&plain, false).unwrap(), walked(&traced, true).unwrap());
    assert_eq!((a.code, a.latency_s), (b.code, b.latency_s));
    assert_eq!((a.spans.len(), b.spans.len()), (0, 5));
}

#[test]
fn failures_of_the_simulator_come_up_as_they_are() {
    let arm = scripted(vec![vec![call(9, Verdict::Pass, 1.0, 0.0)]]);
    assert_eq!(walked(&arm, false), Err(MeshError::Lost { kind: "kind 9".into() }));
    let arm = scripted(vec![vec![]]);
    let error = walked(&arm, false).unwrap_err().to_string();
    assert!(error.contains("did not settle within 64 batches"), "{error}");
}

#[test]
fn attempts_of_one_hop_have_paths_of_their_own() {
    let mut again = call(1, Verdict::Pass, 1.0, 0.0);
    again.attempt = 1;
    let paths = [call(1, Verdict::Pass, 1.0, 0.0), again, call(2, Verdict::Pass, 1.0, 0.0)]
        .map(|call| Attempt::new(&root(false), call).hop.path);
    assert!(paths[0] != paths[1] && paths[0] != paths[2] && paths[1] != paths[2]);
}
