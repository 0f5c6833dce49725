//! Events: faults become lever pulls, orders are checked, bursts join the workload.

use super::lookup::{self, Place, field_at, place};
use super::watch::Watch;
use super::workload::burst;
use crate::grammar::missing_field;
use crate::raw::{Flaw, Node};
use crate::resolved::{Burst, Event, Happening, PullRef, When};
use action::near::suggestion;
use action::{ActionError, Site};
use fault::Target;
use model::{LeverPull, Tick};

/// What an event can be.
const VERBS: [&str; 5] = ["burst", "clear", "fault", "note", "order"];

/// Resolves the events of one scenario; ids count through timeline and recheck.
pub(super) struct Events<'a> {
    watch: Watch<'a>,
    end: i64,
    next_id: u64,
    faults: Vec<(String, Vec<PullRef>)>,
    bursts: Vec<Burst>,
}

impl<'a> Events<'a> {
    pub(super) fn new(watch: Watch<'a>, end: i64) -> Events<'a> {
        Events { watch, end, next_id: 1, faults: Vec::new(), bursts: Vec::new() }
    }

    /// The bursts among the events.
    pub(super) fn into_bursts(self) -> Vec<Burst> {
        self.bursts
    }

    /// The events of a list whose times count from `origin`; in a recheck nothing waits for a
    /// condition.
    pub(super) fn resolve(
        &mut self,
        nodes: &[Node],
        origin: i64,
        earliest: i64,
        recheck: bool,
    ) -> Result<Vec<Event>, Flaw> {
        let mut events = Vec::new();
        for node in nodes {
            if let (true, Some(when)) = (recheck, node.get("when")) {
                let message = "a recheck happens in every world alike: give `at`";
                return Err(Flaw::new(when.at, message));
            }
            let at = self.when(node, origin, earliest)?;
            if let Some(what) = self.happening(node, &at, origin)? {
                events.push(Event { at, what });
            }
        }
        Ok(events)
    }

    fn when(&self, node: &Node, origin: i64, earliest: i64) -> Result<When, Flaw> {
        match (node.get("at"), node.get("when")) {
            (Some(at), None) => {
                let tick = origin + node.number("at", 0.0) as i64;
                if tick < earliest || tick >= self.end {
                    let (from, to) = (earliest - origin, self.end - origin);
                    let message = format!("`at` is outside of {from}s to {to}s");
                    return Err(Flaw::new(at.at, message));
                }
                Ok(When::Tick(Tick(tick)))
            }
            (None, Some(when)) => Ok(When::Condition {
                when: self.watch.condition(when)?,
                after: Tick(when.number("after", 0.0) as i64),
            }),
            (None, None) => Err(missing_field(node.at, "at", "`at` or `when`")),
            (Some(_), Some(when)) => Err(Flaw::new(when.at, "`at` and `when` exclude each other")),
        }
    }

    /// What happens; `None` for a burst, which joins the workload.
    fn happening(
        &mut self,
        node: &Node,
        at: &When,
        origin: i64,
    ) -> Result<Option<Happening>, Flaw> {
        let given: Vec<_> = VERBS.iter().filter(|verb| node.get(verb).is_some()).collect();
        let [verb] = given[..] else {
            let message =
                format!("has {} of {}; expected exactly one", given.len(), VERBS.join(", "));
            return Err(Flaw::new(node.at, message));
        };
        forbid(node, verb)?;
        let lasting_s = lasting(node, at, origin)?;
        match *verb {
            "burst" => {
                self.burst(node, at, lasting_s)?;
                Ok(None)
            }
            "fault" => self.fault(node, lasting_s).map(Some),
            "clear" => self.clear(node).map(Some),
            "order" => self.order(node).map(Some),
            _ => {
                let on = on(node)?;
                let component = lookup::instance(self.watch.topology, on.word(), on.at)?;
                Ok(Some(Happening::Note { component, text: node.text("note").into() }))
            }
        }
    }

    fn burst(&mut self, node: &Node, at: &When, lasting_s: Option<u32>) -> Result<(), Flaw> {
        let When::Tick(Tick(from)) = at else {
            let message = "demand depends on nothing that happens: give `at`";
            return Err(Flaw::new(node.at("burst"), message));
        };
        let Some(lasting) = lasting_s else {
            return Err(missing_field(node.at, "for", "how long the burst lasts"));
        };
        let (to, factor) = (from + i64::from(lasting), node.number("burst", 1.0));
        self.bursts.push(burst(node, self.watch.topology, *from, to, factor)?);
        Ok(())
    }

    fn fault(&mut self, node: &Node, lasting_s: Option<u32>) -> Result<Happening, Flaw> {
        let name = node.text("fault");
        let Some(spec) = fault::find(name) else {
            let known: Vec<_> = fault::all().iter().map(|spec| spec.name).collect();
            return Err(Flaw::new(node.at("fault"), suggestion("fault", name, &known)));
        };
        let target = match place(self.watch.topology, on(node)?)? {
            Place::Component(id) => Target::Component(id),
            Place::Edge(id) => Target::Edge(id),
        };
        let with = node.map("with");
        let whole = node.at("fault");
        let params = lookup::given(with.iter(), spec.params)?;
        let pulls =
            spec.pulls(target, &params, self.watch.topology, self.next_id).map_err(|error| {
                let at = match error.field.as_str() {
                    "on" => node.at("on"),
                    field => field_at(with.iter(), field, whole),
                };
                Flaw::new(at, error.to_string())
            })?;
        for pull in &pulls {
            self.check_lever(pull, node)?;
        }
        self.next_id += pulls.len() as u64;
        let label = match node.text("id") {
            "" => name,
            id => id,
        };
        if self.faults.iter().any(|(known, _)| known == label) {
            let at = node.get("id").map_or(whole, |id| id.at);
            return Err(Flaw::new(at, format!("there are two faults `{label}`; give an `id`")));
        }
        let refs = pulls.iter().map(|pull| PullRef { target: pull.target, id: pull.id });
        self.faults.push((label.into(), refs.collect()));
        Ok(Happening::Pull { label: label.into(), fault: name.into(), pulls, lasting_s })
    }

    /// The target's kind has the lever, and the lever takes these arguments.
    fn check_lever(&self, pull: &LeverPull, node: &Node) -> Result<(), Flaw> {
        let spec = &self.watch.topology.instances[pull.target.at()];
        let levers = self.watch.kinds.find(&spec.kind).map_or(&[][..], |kind| kind.levers());
        let Some(lever) = levers.iter().find(|lever| lever.name == pull.lever) else {
            let (name, kind, lever) = (&spec.name, &spec.kind, &pull.lever);
            let message = format!("{name} is of kind {kind}, which has no lever `{lever}`");
            return Err(Flaw::new(node.at("on"), message));
        };
        pull.args.check(lever.args).map(|_| ()).map_err(|error| {
            let at = field_at(node.map("with").iter(), &error.name, node.at("fault"));
            Flaw::new(at, format!("lever {}: {error}", lever.name))
        })
    }

    fn clear(&self, node: &Node) -> Result<Happening, Flaw> {
        let label = node.text("clear");
        match self.faults.iter().find(|(known, _)| known == label) {
            Some((_, pulls)) => Ok(Happening::Clear { label: label.into(), pulls: pulls.clone() }),
            None => {
                let known: Vec<_> = self.faults.iter().map(|(label, _)| label.as_str()).collect();
                let message = suggestion("fault above", label, &known);
                Err(Flaw::new(node.at("clear"), message))
            }
        }
    }

    fn order(&self, node: &Node) -> Result<Happening, Flaw> {
        let on = on(node)?;
        let target = lookup::instance(self.watch.topology, on.word(), on.at)?;
        let kind = self.watch.kinds.find(&self.watch.topology.instances[target.at()].kind);
        let known = kind.map_or(&[][..], |kind| kind.operations());
        let verb = node.text("order");
        let Some(operation) = known.iter().find(|operation| operation.verb == verb) else {
            let known: Vec<_> = known.iter().map(|operation| operation.verb).collect();
            let noun = format!("operation of {}", on.word());
            return Err(Flaw::new(node.at("order"), suggestion(&noun, verb, &known)));
        };
        let with = node.map("with");
        let args = lookup::given(with.iter(), operation.args)?;
        let site = Site::new(self.watch.topology, self.watch.kinds);
        let flaw = |error: ActionError| {
            let at = field_at(with.iter(), &error.field, node.at("order"));
            Flaw::new(at, error.to_string())
        };
        Ok(Happening::Order(site.order(target, verb, args).map_err(flaw)?))
    }
}

fn on(node: &Node) -> Result<&Node, Flaw> {
    let expected = "the component, or the edge as `caller -> callee`";
    node.get("on").ok_or_else(|| missing_field(node.at, "on", expected))
}

/// Fields that this sort of event has no use for.
fn forbid(node: &Node, verb: &str) -> Result<(), Flaw> {
    let fields: &[&str] = match verb {
        "burst" => &["id", "on", "with"],
        "fault" => &["classes"],
        "order" => &["id", "classes", "for", "until"],
        "note" => &["id", "with", "classes", "for", "until"],
        _ => &["id", "on", "with", "classes", "for", "until"],
    };
    match fields.iter().find_map(|name| node.get(name).map(|field| (name, field.at))) {
        Some((name, at)) => Err(Flaw::new(at, format!("`{name}` means nothing for a {verb}"))),
        None => Ok(()),
    }
}

/// How long it lasts, from `for` or `until`.
fn lasting(node: &Node, at: &When, origin: i64) -> Result<Option<u32>, Flaw> {
    match (node.get("for"), node.get("until"), at) {
        (None, None, _) => Ok(None),
        (Some(_), None, _) => Ok(Some(node.number("for", 1.0) as u32)),
        (Some(_), Some(until), _) => {
            Err(Flaw::new(until.at, "`for` and `until` exclude each other"))
        }
        (None, Some(until), When::Condition { .. }) => {
            Err(Flaw::new(until.at, "give `for`: nobody knows when it begins"))
        }
        (None, Some(until), When::Tick(Tick(from))) => {
            let to = origin + node.number("until", 0.0) as i64;
            match u32::try_from(to - from) {
                Ok(seconds) if seconds > 0 => Ok(Some(seconds)),
                _ => Err(Flaw::new(until.at, "`until` is not after `at`")),
            }
        }
    }
}
