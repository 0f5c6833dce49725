//! Before a batch: do the processes that it needs answer, and are they what they are said to be?

use crate::body::Addresses;
use crate::failure::Failure;
use chassis::Token;
use futures_util::future::try_join_all;
use mesh::Channel;
use proto::control::v1::DescribeRequest;
use proto::control::v1::component_client::ComponentClient;
use scenario::Scenario;
use std::collections::BTreeSet;
use std::time::Duration;
use tonic::Code;

/// A process that does not answer for so long is not there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Every kind that the scenarios need has an address.
///
/// # Errors
/// Names those that have none.
pub fn complete<'a>(
    scenarios: impl IntoIterator<Item = &'a Scenario>,
    addresses: &Addresses,
) -> Result<(), Failure> {
    let mut missing = BTreeSet::new();
    for scenario in scenarios {
        for instance in &scenario.topology.instances {
            if !addresses.contains_key(&instance.kind) {
                missing.insert(instance.kind.as_str());
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<_> = missing.into_iter().collect();
    Err(Failure::usage(format!(
        "no address for {}: add --component KIND=ADDR for each, or start all with `mayday up`",
        missing.join(", ")
    )))
}

/// Every process answers, accepts the token, and is of its kind.
///
/// # Errors
/// Names the first that does not.
pub async fn answering(addresses: &Addresses, token: Option<&Token>) -> Result<(), Failure> {
    let each = addresses.iter().map(|(kind, address)| one(kind, address, token));
    try_join_all(each).await.map(drop)
}

async fn one(kind: &str, address: &str, token: Option<&Token>) -> Result<(), Failure> {
    let channel = Channel::tcp(address).map_err(Failure::usage)?;
    let mut client = ComponentClient::new(channel.with_token(token.map(Token::header)));
    let silent = |why: String| {
        Failure::failed(format!(
            "{kind} at {address} does not answer ({why}): start it with `mayday component {kind} \
             --listen {address}`, or correct --component"
        ))
    };
    let asked = tokio::time::timeout(PATIENCE, client.describe(DescribeRequest {})).await;
    let answer = match asked {
        Err(_) => return Err(silent(format!("nothing within {} s", PATIENCE.as_secs()))),
        Ok(Err(status)) if mesh::status::is_transient(&status) => {
            return Err(silent(mesh::status::describe(&status)));
        }
        Ok(Err(status)) if status.code() == Code::Unauthenticated => {
            let message = status.message();
            return Err(Failure::failed(format!("{kind} at {address} refuses: {message}")));
        }
        Ok(Err(status)) => {
            return Err(Failure::failed(format!(
                "{address} is no component of mayday ({:?}): correct --component {kind}",
                status.code()
            )));
        }
        Ok(Ok(answer)) => answer.into_inner(),
    };
    if answer.kind != kind {
        return Err(Failure::usage(format!(
            "the process at {address} is of kind {}, not {kind}: correct --component",
            answer.kind
        )));
    }
    Ok(())
}
