//! Is a process up? Asks the standard health service, which needs no token. In an image without a
//! shell this is what a container's health check runs.

use std::time::Duration;

use mesh::{AddressError, Channel};
use tonic::Status;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

/// A health check that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a process does not count as up.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The address is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// No answer.
    #[error("{0} gave no answer: see that the process runs and listens there")]
    Silent(String),
    /// An answer, but not that it serves.
    #[error("{0} answers but does not serve ({1}): it is starting, draining, or another program")]
    NotServing(String, String),
}

/// Succeeds if the process at `address` serves.
///
/// # Errors
/// Where it does not, or gives no answer in two seconds.
pub async fn probe(address: &str) -> Result<(), ProbeError> {
    let mut client = HealthClient::new(Channel::tcp(address)?);
    let asked = client.check(HealthCheckRequest { service: String::new() });
    let silent = || ProbeError::Silent(address.to_string());
    let answer = tokio::time::timeout(PATIENCE, asked).await.map_err(|_| silent())?;
    match answer.map(|answer| answer.into_inner().status()) {
        Ok(ServingStatus::Serving) => Ok(()),
        Ok(other) => {
            Err(ProbeError::NotServing(address.to_string(), other.as_str_name().to_string()))
        }
        Err(status) if mesh::status::is_transient(&status) => Err(silent()),
        Err(status) => Err(wrong(address, &status)),
    }
}

fn wrong(address: &str, status: &Status) -> ProbeError {
    ProbeError::NotServing(address.to_string(), format!("{:?}", status.code()))
}
