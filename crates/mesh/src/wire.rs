//! The request plane on the wire: hops and replies to and from `mayday.request.v1`, bit for bit.

use model::{ClassId, Code, EdgeId, EpisodeId, Hop, HopReply, InstanceId, Span, Tick};
use proto::request::v1 as pb;

/// A message that does not mean anything in the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field {field}: {problem}")]
pub struct WireError {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

impl WireError {
    /// `field` has this problem.
    pub fn new(field: &'static str, problem: impl Into<String>) -> WireError {
        WireError { field, problem: problem.into() }
    }
}

/// A number for an `optional double`: +0.0 is left out, and nothing else is (a plain double would
/// lose the sign of -0.0).
pub fn put(value: f64) -> Option<f64> {
    (value.to_bits() != 0).then_some(value)
}

/// The number that [`put`] put.
pub fn get(value: Option<f64>) -> f64 {
    value.unwrap_or(0.0)
}

/// A value of a field that is wider on the wire than in the model.
///
/// # Errors
/// Where it does not fit.
pub fn narrow<T: TryFrom<u32>>(field: &'static str, value: u32) -> Result<T, WireError> {
    T::try_from(value).map_err(|_| WireError::new(field, format!("{value} is too large")))
}

/// A hop for the wire.
pub fn hop_out(episode: EpisodeId, hop: &Hop) -> pb::Hop {
    pb::Hop {
        episode: episode.0,
        request: hop.request,
        class: u32::from(hop.class.0),
        instance: u32::from(hop.instance.0),
        edge: u32::from(hop.edge.0),
        operation: hop.operation.clone(),
        path: hop.path,
        tick: hop.tick.0,
        deadline_s: put(hop.deadline_s),
        sampled: hop.sampled,
    }
}

/// A hop from the wire, and its episode.
///
/// # Errors
/// Where a position does not fit.
pub fn hop_in(hop: pb::Hop) -> Result<(EpisodeId, Hop), WireError> {
    let episode = EpisodeId(hop.episode);
    let hop = Hop {
        request: hop.request,
        class: ClassId(narrow("class", hop.class)?),
        instance: InstanceId(narrow("instance", hop.instance)?),
        edge: EdgeId(narrow("edge", hop.edge)?),
        operation: hop.operation,
        path: hop.path,
        tick: Tick(hop.tick),
        deadline_s: get(hop.deadline_s),
        sampled: hop.sampled,
    };
    Ok((episode, hop))
}

/// A reply for the wire.
pub fn reply_out(reply: HopReply) -> pb::HopReply {
    pb::HopReply {
        code: reply.code.number(),
        latency_s: put(reply.latency_s),
        message: reply.message,
        spans: reply.spans.into_iter().map(span_out).collect(),
    }
}

/// A reply from the wire.
///
/// # Errors
/// Where a code or a position is none of the model's.
pub fn reply_in(reply: pb::HopReply) -> Result<HopReply, WireError> {
    Ok(HopReply {
        code: code_in("code", reply.code)?,
        latency_s: get(reply.latency_s),
        message: reply.message,
        spans: reply.spans.into_iter().map(span_in).collect::<Result<_, _>>()?,
    })
}

fn code_in(field: &'static str, number: i32) -> Result<Code, WireError> {
    let code = Code::from_number(number);
    match code.number() == number {
        true => Ok(code),
        false => Err(WireError::new(field, format!("{number} is no code of the world"))),
    }
}

fn span_out(span: Span) -> pb::Span {
    pb::Span {
        id: span.id,
        parent: span.parent,
        instance: u32::from(span.instance.0),
        operation: span.operation,
        client: span.client,
        start_s: put(span.start_s),
        length_s: put(span.length_s),
        code: span.code.number(),
        message: span.message,
    }
}

fn span_in(span: pb::Span) -> Result<Span, WireError> {
    Ok(Span {
        id: span.id,
        parent: span.parent,
        instance: InstanceId(narrow("spans.instance", span.instance)?),
        operation: span.operation,
        client: span.client,
        start_s: get(span.start_s),
        length_s: get(span.length_s),
        code: code_in("spans.code", span.code)?,
        message: span.message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    /// Values whose bits a sloppy encoding loses.
    const EDGY: [f64; 6] = [0.0, -0.0, 1.0 / 3.0, f64::MIN_POSITIVE / 4.0, f64::INFINITY, -1e300];

    #[test]
    fn hops_and_replies_come_back_bit_for_bit() {
        for (at, value) in EDGY.into_iter().enumerate() {
            let hop = Hop {
                request: u64::MAX - at as u64,
                class: ClassId(7),
                instance: InstanceId(u16::MAX),
                edge: EdgeId(3),
                operation: "Query".into(),
                path: 1 << 63,
                tick: Tick(-300 + at as i64),
                deadline_s: value,
                sampled: at % 2 == 0,
            };
            let bytes = hop_out(EpisodeId(9), &hop).encode_to_vec();
            let (episode, back) = hop_in(pb::Hop::decode(&bytes[..]).unwrap()).unwrap();
            assert_eq!(episode, EpisodeId(9));
            assert_eq!(back.deadline_s.to_bits(), value.to_bits());
            assert_eq!(back, hop);
            let code = Code::ALL[at].0;
            let span = Span {
                id: 1,
                parent: u64::MAX,
                instance: InstanceId(4),
                operation: "Query".into(),
                client: true,
                start_s: value,
                length_s: -value,
                code,
                message: "é".into(),
            };
            let reply = HopReply { code, latency_s: value, message: "m".into(), spans: vec![span] };
            let bytes = reply_out(reply.clone()).encode_to_vec();
            let back = reply_in(pb::HopReply::decode(&bytes[..]).unwrap()).unwrap();
            assert_eq!(back.latency_s.to_bits(), value.to_bits());
            assert_eq!(back.spans[0].length_s.to_bits(), (-value).to_bits());
            assert_eq!(back, reply);
        }
    }

    #[test]
    fn what_the_model_cannot_hold_is_refused() {
        let hop = pb::Hop { class: 256, ..pb::Hop::default() };
        assert_eq!(hop_in(hop).unwrap_err().to_string(), "field class: 256 is too large");
        let reply = pb::HopReply { code: 2, ..pb::HopReply::default() };
        assert!(reply_in(reply).unwrap_err().to_string().contains("2 is no code"));
    }
}
