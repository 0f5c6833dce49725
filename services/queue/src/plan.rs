//! The plan of one hop: a publish ends with its acknowledgment, and its message is handled later.
//! Pure functions of the published past, as of the tick before.

use crate::broker::Terms;
use crate::foresight::handled_after_s;
use crate::signals::REFUSE;
use flow::latency_draw;
use machine::Past;
use model::{Call, Code, Hop, HopReply, Next, PROCESS, Setup, Tick, Verdict};
use server::OwnFailure;
use server::plan::{Own, handle};
use server::signals::REFUSED;

/// How a delivery that its handler fails looks.
const OWN: Own = Own {
    failure: OwnFailure {
        code: Code::Internal,
        message: "handler failed, message not committed and delivered again",
    },
    calls_made: |_, _, _| 1.0,
};

/// Draws are numbered: each purpose has its own.
#[derive(Clone, Copy)]
enum Draw {
    Turned,
    Refused,
    Ack,
    Late,
    Wait,
}

/// What becomes of the publish `hop`, or of the message that it handles.
pub(crate) fn plan(setup: &Setup, past: &Past<'_>, hop: &Hop, replies: &[HopReply]) -> Next {
    if hop.operation == PROCESS {
        return handle(setup, OWN, past, hop, replies);
    }
    let seen = Tick(hop.tick.0 - 1);
    let noise = past.noise.branch("plan").index(hop.request).index(hop.path);
    let unit = |draw: Draw| noise.unit(draw as i64);
    let settle = |code: Code, latency_s: f64, message: &str| {
        Next::Settle(HopReply { code, latency_s, message: message.into(), spans: Vec::new() })
    };
    let turned = past.history.level(REFUSE + u16::from(hop.class.0), seen, 0.0);
    if unit(Draw::Turned) < turned {
        return settle(Code::ResourceExhausted, 0.000_1, "turned away");
    }
    if unit(Draw::Refused) < past.history.row(seen)[REFUSED] {
        return settle(Code::ResourceExhausted, 0.000_1, "the broker is full");
    }
    let ack = setup.spec.params.number("ack_time");
    let acknowledged = settle(Code::Ok, latency_draw(ack, ack * ack, unit(Draw::Ack)), "");
    // Nobody waits for the handler, so its reply says nothing here: only spans come of it.
    if !hop.sampled || !replies.is_empty() {
        return acknowledged;
    }
    let draws = (unit(Draw::Late), unit(Draw::Wait));
    match handled_after_s(setup, &Terms::of(setup), past.history, seen, draws) {
        Some(start_s) => Next::Call(vec![Call {
            edge: hop.edge,
            to: hop.instance,
            operation: PROCESS.into(),
            attempt: 0,
            deadline_s: f64::INFINITY,
            verdict: Verdict::Pass,
            start_s,
        }]),
        None => acknowledged,
    }
}
