//! `mayday health`: the health check of a container, in an image without a shell.

use crate::console;
use crate::failure::Failure;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A health check that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(2);
/// Where a component listens unless told otherwise.
const DEFAULT: &str = "127.0.0.1:7000";

/// Options of `mayday health`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Where processes listen for gRPC: components, graders, orchestrators, control ports. Default:
    /// what the environment tells the process of this container, else 127.0.0.1:7000.
    #[arg(value_name = "ADDR")]
    addresses: Vec<String>,
    /// Where `mayday serve` listens for agents; it is asked, too.
    #[arg(long, env = "MAYDAY_AGENTS", value_name = "ADDR")]
    agents: Option<String>,
    #[arg(long, hide = true, env = "MAYDAY_CONTROL")]
    control: Option<String>,
    #[arg(long, hide = true, env = "MAYDAY_LISTEN")]
    listen: Option<String>,
}

/// Whom to ask.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// The standard health service of gRPC.
    Grpc(String),
    /// The agents' port.
    Agents(String),
}

impl Options {
    /// Addresses that were given come in the place of what the environment says.
    fn asked(self) -> Vec<Asked> {
        let control = self.control.filter(|control| control != "off");
        let own = || [control, self.listen].into_iter().flatten().collect();
        let grpc = if self.addresses.is_empty() { own() } else { self.addresses };
        let mut asked: Vec<_> = grpc.into_iter().map(Asked::Grpc).collect();
        asked.extend(self.agents.map(Asked::Agents));
        if asked.is_empty() {
            asked.push(Asked::Grpc(DEFAULT.into()));
        }
        asked
    }
}

/// Runs it.
///
/// # Errors
/// Where a process does not serve.
pub fn run(options: Options) -> Result<(), Failure> {
    let runtime = crate::runtime::current()?;
    runtime.block_on(async {
        for one in options.asked() {
            let address = match one {
                Asked::Grpc(address) => {
                    let address = here(&address);
                    chassis::probe(&address).await.map_err(Failure::failed)?;
                    address
                }
                Asked::Agents(address) => {
                    let address = here(&address);
                    let asked = tokio::time::timeout(PATIENCE, greeted(&address)).await;
                    let status = asked.ok().and_then(Result::ok).unwrap_or_default();
                    served(&address, &status)?;
                    address
                }
            };
            console::out(format_args!("{address} serves"));
        }
        Ok(())
    })
}

/// A process that listens everywhere is asked here.
fn here(address: &str) -> String {
    match address.strip_prefix("0.0.0.0:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => address.replace("[::]:", "[::1]:"),
    }
}

/// The status of the agents' health route.
async fn greeted(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await?;
    let reply = String::from_utf8_lossy(&reply);
    let status = reply.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    Ok(status.unwrap_or("another program").to_string())
}

fn served(address: &str, status: &str) -> Result<(), Failure> {
    match status {
        "200" => Ok(()),
        "" => Err(Failure::failed(format!(
            "{address} gave no answer: see that the process runs and listens there"
        ))),
        other => Err(Failure::failed(format!(
            "{address} answers but does not serve ({other}): it is draining, or another program"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_whom_it_is_told_else_whom_the_environment_names() {
        let some = |text: &str| Some(text.to_string());
        let options = |addresses: &[&str], agents, control, listen| Options {
            addresses: addresses.iter().map(ToString::to_string).collect(),
            agents,
            control,
            listen,
        };
        let grpc = |text: &str| Asked::Grpc(text.into());
        let agents = || Asked::Agents("0.0.0.0:8000".into());
        for (options, asked) in [
            (options(&[], None, None, None), vec![grpc(DEFAULT)]),
            (options(&[], None, None, some("db:1")), vec![grpc("db:1")]),
            (options(&["db:2"], None, some("here:1"), some("db:1")), vec![grpc("db:2")]),
            (options(&["db:2"], some("0.0.0.0:8000"), None, None), vec![grpc("db:2"), agents()]),
            (
                options(&[], some("0.0.0.0:8000"), some("control:7100"), None),
                vec![grpc("control:7100"), agents()],
            ),
            (options(&[], some("0.0.0.0:8000"), some("off"), None), vec![agents()]),
        ] {
            assert_eq!(options.clone().asked(), asked, "{options:?}");
        }
        assert_eq!(here("0.0.0.0:8000"), "127.0.0.1:8000");
        assert_eq!(here("[::]:7000"), "[::1]:7000");
        assert_eq!(here("db:7000"), "db:7000");
    }
}
