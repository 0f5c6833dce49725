//! `service`: units, the old way.

use super::Command;
use crate::call::{Call, Done};
use crate::units;
use model::UnitState;

pub(crate) const COMMAND: Command = Command {
    names: &["service"],
    summary: "Run a System V init script",
    usage: "service < option > | --status-all | [ service_name [ command | --full-restart ] ]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let host = call.host().await?;
    let args = call.args.clone();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--status-all"] => {
            for unit in &host.units {
                let sign = if unit.state == UnitState::Active { '+' } else { '-' };
                call.say(format!(" [ {sign} ]  {}", unit.name));
            }
            Ok(0)
        }
        [name, verb] => {
            let name = name.to_string();
            if units::unit(&host, &name).is_none() {
                if verb == "status" {
                    call.warn(format!("Unit {name}.service could not be found."));
                    return Ok(4);
                }
                call.warn(format!("Failed to {verb} {name}.service: Unit {name}.service not found."));
                return Ok(5);
            }
            match verb {
                "start" | "stop" | "restart" | "reload" => {
                    super::systemctl::change_all(call, &[name], verb, verb).await
                }
                "force-reload" => {
                    super::systemctl::change_all(call, &[name], verb, "reload").await
                }
                "--full-restart" => {
                    super::systemctl::change_all(call, &[name], "restart", "restart").await
                }
                "status" => call.run(vec!["systemctl".into(), "status".into(), name]).await,
                _ => {
                    call.warn(format!("Usage: /etc/init.d/{name} \
                         {{start|stop|restart|reload|force-reload|status}}"));
                    Ok(1)
                }
            }
        }
        _ => call.misuse(""),
    }
}
