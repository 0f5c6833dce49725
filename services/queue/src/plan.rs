//! The plan of one hop: a publish ends with its acknowledgment. A pure function of the published
//! past, as of the tick before.

use crate::signals::REFUSE;
use flow::latency_draw;
use machine::Past;
use model::{Code, Hop, HopReply, Next, Setup, Tick};
use server::signals::REFUSED;

/// Draws are numbered: each purpose has its own.
#[derive(Clone, Copy)]
enum Draw {
    Turned,
    Refused,
    Ack,
}

/// What becomes of the publish `hop`.
pub(crate) fn plan(setup: &Setup, past: &Past<'_>, hop: &Hop) -> Next {
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
    settle(Code::Ok, latency_draw(ack, ack * ack, unit(Draw::Ack)), "")
}
