//! The shell while a line runs: session, rig, fuel, and what was seen of the host since the last
//! order.

use crate::clock::Date;
use crate::fuel::{Fuel, Limits, Spent};
use crate::rig::{Rig, RigError, Spell};
use crate::session::Session;
use crate::tree::{self, Tree};
use model::{
    Answer, HostView, InstanceId, Look, Order, ParamValue, Params, Query, Refusal, Sight, Site,
};
use std::sync::Arc;

/// Why a line ends before its end.
#[derive(Debug)]
pub(crate) enum Halt {
    Spent(Spent),
    Rig(RigError),
    /// A message of the shell; nothing after it runs.
    Fatal(String),
}

impl From<Spent> for Halt {
    fn from(spent: Spent) -> Self {
        Halt::Spent(spent)
    }
}

impl From<RigError> for Halt {
    fn from(error: RigError) -> Self {
        Halt::Rig(error)
    }
}

/// What a command, pipeline or list wrote, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl Output {
    pub(crate) fn failed(code: i32, err: String) -> Output {
        Output { out: String::new(), err, code }
    }

    /// What came later, after what came first.
    pub(crate) fn then(&mut self, later: Output) {
        self.out += &later.out;
        self.err += &later.err;
        self.code = later.code;
    }
}

/// A jump out of the normal order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    Exit,
    Break,
    Continue,
    /// The time of a `timeout` is up: out of everything that it runs.
    Cut,
}

/// What a command has done so far that takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    /// Nothing outside the terminal.
    #[default]
    None,
    /// It looked at the system.
    Look,
    /// It gave an order that was accepted.
    Change,
}

/// The shell while a line runs.
pub(crate) struct Shell<'s> {
    pub(crate) session: &'s mut Session,
    pub(crate) rig: &'s mut dyn Rig,
    pub(crate) fuel: Fuel,
    /// Standard input of what runs now; `None`: a terminal nobody types at.
    pub(crate) stdin: Option<String>,
    pub(crate) jump: Option<Jump>,
    /// Seconds that may be waited still before a `timeout` cuts what it runs.
    pub(crate) left: Option<f64>,
    /// What substitutions complained about so far.
    pub(crate) noise: String,
    /// Exit code of the last substitution of a command.
    pub(crate) substituted: Option<i32>,
    /// What the present command has done.
    pub(crate) deed: Deed,
    /// Whether a command printed what it saw of the system, or why a change failed.
    pub(crate) showed: bool,
    seen: Option<Arc<HostView>>,
    site: Option<Arc<Site>>,
}

impl<'s> Shell<'s> {
    pub(crate) fn new(session: &'s mut Session, rig: &'s mut dyn Rig, limits: Limits) -> Shell<'s> {
        let fuel = Fuel::new(limits);
        Shell {
            session,
            rig,
            fuel,
            stdin: None,
            jump: None,
            left: None,
            noise: String::new(),
            substituted: None,
            deed: Deed::None,
            showed: false,
            seen: None,
            site: None,
        }
    }

    /// The host as it is now.
    pub(crate) async fn host(&mut self) -> Result<Arc<HostView>, Halt> {
        self.deed = self.deed.max(Deed::Look);
        if let Some(seen) = &self.seen {
            return Ok(seen.clone());
        }
        let of = self.session.host;
        let seen = match self.ask(of, Query::Host).await? {
            Answer::Host(view) => Arc::new(*view),
            _ => return Err(unexpected("a host")),
        };
        self.seen = Some(seen.clone());
        Ok(seen)
    }

    /// The host, for what stands in any prompt: who and where one is, and when. That is no look.
    pub(crate) async fn prompt(&mut self) -> Result<Arc<HostView>, Halt> {
        let deed = self.deed;
        let host = self.host().await;
        self.deed = deed;
        host
    }

    /// Its files.
    pub(crate) async fn tree(&mut self) -> Result<Tree, Halt> {
        Ok(Tree::new(self.host().await?))
    }

    /// Its files, for where a name leads; what is read there is a look of its own.
    pub(crate) async fn places(&mut self) -> Result<Tree, Halt> {
        Ok(Tree::new(self.prompt().await?))
    }

    /// The map of the system.
    pub(crate) async fn site(&mut self) -> Result<Arc<Site>, Halt> {
        if let Some(site) = &self.site {
            return Ok(site.clone());
        }
        let Sight::Site(site) = self.rig.read(&Look::Site).await? else {
            return Err(unexpected("the map"));
        };
        let site = Arc::new(site);
        self.site = Some(site.clone());
        Ok(site)
    }

    /// Looks at the system, which takes time.
    pub(crate) async fn look(&mut self, look: &Look) -> Result<Sight, Halt> {
        self.deed = self.deed.max(Deed::Look);
        Ok(self.rig.read(look).await?)
    }

    /// Lets time pass; what was seen is old then.
    pub(crate) async fn spend(&mut self, spell: Spell) -> Result<(), Halt> {
        self.seen = None;
        Ok(self.rig.spend(spell).await?)
    }

    /// Waits, as long as the time-out that is in force lets it; then all that it runs ends.
    pub(crate) async fn wait(&mut self, seconds: f64) -> Result<(), Halt> {
        let waits = self.left.map_or(seconds, |left| left.min(seconds));
        self.left = self.left.map(|left| left - waits);
        self.spend(Spell::Seconds(waits.min(f64::from(u32::MAX)) as u32)).await?;
        if waits < seconds {
            self.jump = Some(Jump::Cut);
        }
        Ok(())
    }

    /// Ends a shell within this one: no jump in it leads further, but that of a time-out.
    pub(crate) fn land(&mut self) {
        self.jump = self.jump.filter(|jump| *jump == Jump::Cut);
    }

    /// What a component answers.
    pub(crate) async fn ask(&mut self, of: InstanceId, query: Query) -> Result<Answer, Halt> {
        match self.look(&Look::Component { of, query }).await? {
            Sight::Answer(answer) => Ok(answer),
            _ => Err(unexpected("a component")),
        }
    }

    /// Status or configuration of a component, name to text.
    pub(crate) async fn facts(
        &mut self,
        of: InstanceId,
        query: Query,
    ) -> Result<Vec<(String, String)>, Halt> {
        match self.ask(of, query).await? {
            Answer::Facts(facts) => Ok(facts.into_iter().collect()),
            _ => Err(unexpected("facts")),
        }
    }

    /// Gives an order to the host one is on.
    pub(crate) async fn order(
        &mut self,
        verb: &str,
        args: &[(&str, ParamValue)],
    ) -> Result<Result<String, Refusal>, Halt> {
        let target = self.session.host;
        self.order_to(target, verb, args).await
    }

    /// Gives an order to a component.
    pub(crate) async fn order_to(
        &mut self,
        target: InstanceId,
        verb: &str,
        args: &[(&str, ParamValue)],
    ) -> Result<Result<String, Refusal>, Halt> {
        self.fuel.order()?;
        let args = args.iter().fold(Params::default(), |all, (k, v)| all.with(k, v.clone()));
        self.seen = None;
        let told = self.rig.order(&Order { target, verb: verb.into(), args }).await?;
        self.deed = self.deed.max(if told.is_ok() { Deed::Change } else { Deed::Look });
        Ok(told)
    }

    pub(crate) fn path(&self, path: &str) -> String {
        tree::absolute(&self.session.cwd, path)
    }

    pub(crate) fn is_root(&self) -> bool {
        self.session.user == "root"
    }

    /// What the host's clock says.
    pub(crate) async fn date(&mut self) -> Result<Date, Halt> {
        let host = self.prompt().await?;
        Ok(Date::at(host.now.plus(host.skew_s.floor() as i64)))
    }

    /// Goes to another host, or back.
    pub(crate) fn go_to(&mut self, host: InstanceId) {
        self.session.host = host;
        self.seen = None;
    }
}

fn unexpected(what: &str) -> Halt {
    let message = format!("asked for {what}, got another answer");
    Halt::Rig(RigError(message.into()))
}
