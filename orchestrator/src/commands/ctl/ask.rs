//! Calls of the control port.

use crate::body;
use crate::console;
use crate::control::Schema;
use crate::failure::Failure;
use chassis::token;
use mesh::Channel;
use prost::Message;
use prost_types::value::Kind;
use proto::orchestrator::v1 as pb;
use proto::orchestrator::v1::control_client::ControlClient;
use proto::orchestrator::v1::episodes_client::EpisodesClient;
use serde_json::Value;
use tonic::{Code, Status};

/// Records of long episodes are the largest answers.
const ANSWER_MAX: usize = 64 << 20;
const PACKAGE: &str = "mayday.orchestrator.v1";

/// The control port of a server.
#[derive(Debug)]
pub(super) struct Control {
    address: String,
    calls: ControlClient<Channel>,
    episodes: EpisodesClient<Channel>,
    schema: Option<Schema>,
}

macro_rules! calls {
    ($($client:ident . $call:ident as $name:ident: $request:ident -> $reply:ident;)*) => {
        $(
            pub(super) async fn $name(
                &mut self,
                request: pb::$request,
            ) -> Result<pb::$reply, Failure> {
                let reply = self.$client.$call(request).await;
                reply.map(|reply| reply.into_inner()).map_err(|status| self.failure(&status))
            }
        )*
    };
}

impl Control {
    /// Connects with the first call. `json`: what is said is said in JSON.
    ///
    /// # Errors
    /// Where the address or the token is none.
    pub(super) fn new(address: &str, json: bool) -> Result<Control, Failure> {
        let channel = Channel::tcp(address)
            .map_err(|error| Failure::usage(format!("--control {error}")))?
            .with_token(body::token()?.as_ref().map(token::Token::header));
        let calls = ControlClient::new(channel.clone()).max_decoding_message_size(ANSWER_MAX);
        let episodes = EpisodesClient::new(channel).max_decoding_message_size(ANSWER_MAX);
        let schema = if json { Some(Schema::new()?) } else { None };
        Ok(Control { address: address.into(), calls, episodes, schema })
    }

    calls! {
        calls.show as show: ShowRequest -> ShowResponse;
        calls.inspect as inspect: InspectRequest -> InspectResponse;
        calls.inject as inject: InjectRequest -> InjectResponse;
        calls.clear as clear: ClearRequest -> ClearResponse;
        calls.advance as advance: AdvanceRequest -> AdvanceResponse;
        calls.fork as fork: ForkRequest -> ForkResponse;
        calls.grade as grade: GradeRequest -> GradeResponse;
        calls.abandon as abandon: AbandonRequest -> AbandonResponse;
        calls.list_records as list_records: ListRecordsRequest -> ListRecordsResponse;
        calls.get_record as get_record: GetRecordRequest -> GetRecordResponse;
        calls.drain as drain: DrainRequest -> DrainResponse;
        episodes.list as list: ListRequest -> ListResponse;
        episodes.drop as forget: DropRequest -> DropResponse;
    }

    pub(super) async fn catalogue(&mut self) -> Result<pb::CatalogueResponse, Failure> {
        let reply = self.calls.catalogue(pb::CatalogueRequest {}).await;
        reply.map(|reply| reply.into_inner()).map_err(|status| self.failure(&status))
    }

    /// Says what was answered: in JSON, or as `plainly` does.
    pub(super) fn say<M: Message>(
        &self,
        name: &str,
        message: &M,
        plainly: impl FnOnce(&M),
    ) -> Result<(), Failure> {
        match &self.schema {
            Some(schema) => console::json(&schema.json(&format!("{PACKAGE}.{name}"), message)?),
            None => plainly(message),
        }
        Ok(())
    }

    fn failure(&self, status: &Status) -> Failure {
        let (address, said) = (&self.address, status.message());
        match status.code() {
            Code::InvalidArgument | Code::NotFound | Code::FailedPrecondition => {
                Failure::usage(said)
            }
            Code::Unauthenticated => Failure::failed(format!("{address}: {said}")),
            Code::Unimplemented => Failure::failed(format!(
                "{address} is no control port of this version: see --control"
            )),
            Code::Unavailable if said.starts_with("the simulator") => Failure::failed(said),
            Code::Unavailable | Code::Unknown => Failure::failed(format!(
                "no control port answers at {address} ({said}): start `mayday serve`, or name \
                 another with --control"
            )),
            _ => Failure::failed(format!("{address}: {said}")),
        }
    }
}

/// One NAME=VALUE.
pub(super) fn parameter(text: &str) -> Result<(String, prost_types::Value), String> {
    let split = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = split.ok_or_else(|| format!("`{text}`: expected NAME=VALUE"))?;
    let kind = match (value, value.parse::<f64>()) {
        ("true", _) => Kind::BoolValue(true),
        ("false", _) => Kind::BoolValue(false),
        (_, Ok(number)) if number.is_finite() => Kind::NumberValue(number),
        _ => Kind::StringValue(value.into()),
    };
    Ok((name.into(), prost_types::Value { kind: Some(kind) }))
}

/// One action: a JSON object.
pub(super) fn action(text: &str) -> Result<prost_types::Struct, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let expected = "expected a JSON object, such as {\"action\": \"resolve\"}";
    crate::control::to_struct(&value).ok_or_else(|| expected.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_switches_numbers_or_texts() {
        let kind = |text: &str| parameter(text).map(|(_, value)| value.kind.unwrap());
        assert_eq!(kind("a=8"), Ok(Kind::NumberValue(8.0)));
        assert_eq!(kind("a=true"), Ok(Kind::BoolValue(true)));
        for text in ["2s", "30%", "checkout", "inf", "a=b"] {
            assert_eq!(kind(&format!("a={text}")), Ok(Kind::StringValue(text.into())));
        }
        for text in ["a", "=1", "a="] {
            assert!(kind(text).unwrap_err().contains("expected NAME=VALUE"), "{text}");
        }
        assert!(action("[]").unwrap_err().contains("JSON object"));
        assert!(action("{").is_err() && action(r#"{"action":"resolve"}"#).is_ok());
    }
}
