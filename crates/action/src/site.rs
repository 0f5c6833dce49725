//! Where an action happens: the topology and the kinds of its components. Looks names up and
//! answers unknown ones with what there is.

use crate::error::ActionError;
use crate::near::suggestion;
use machine::{Kind, Kinds};
use model::{EdgeSpec, InstanceId, InstanceSpec, Order, Params, Topology};

/// A topology and the kinds of its components.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The system.
    pub topology: &'a Topology,
    /// The kinds there are.
    pub kinds: &'a dyn Kinds,
}

impl<'a> Site<'a> {
    /// A topology and the kinds of its components.
    pub fn new(topology: &'a Topology, kinds: &'a dyn Kinds) -> Site<'a> {
        Site { topology, kinds }
    }

    /// The component that the argument `field` names.
    ///
    /// # Errors
    /// Lists the components there are.
    pub fn component(&self, args: &Params, field: &str) -> Result<InstanceId, ActionError> {
        let name = args.text(field);
        self.topology.instance(name).ok_or_else(|| {
            let known: Vec<_> = self.topology.instances.iter().map(|i| i.name.as_str()).collect();
            ActionError::field(field, suggestion("component", name, &known))
        })
    }

    /// The same, or `None` where the argument is absent or empty.
    ///
    /// # Errors
    /// Lists the components there are.
    pub fn component_if_given(
        &self,
        args: &Params,
        field: &str,
    ) -> Result<Option<InstanceId>, ActionError> {
        if args.text(field).is_empty() {
            return Ok(None);
        }
        self.component(args, field).map(Some)
    }

    /// The specification of a component.
    pub fn instance(&self, id: InstanceId) -> &'a InstanceSpec {
        &self.topology.instances[id.at()]
    }

    /// The class or route that the argument `field` names; empty: all.
    ///
    /// # Errors
    /// Lists the classes and routes there are.
    pub fn class<'p>(&self, args: &'p Params, field: &str) -> Result<&'p str, ActionError> {
        let name = args.text(field);
        let mut known = Vec::new();
        for class in &self.topology.classes {
            for word in [class.name.as_str(), class.route.as_str()] {
                if !known.contains(&word) {
                    known.push(word);
                }
            }
        }
        if name.is_empty() || known.contains(&name) {
            return Ok(name);
        }
        Err(ActionError::field(field, suggestion("class or route", name, &known)))
    }

    /// The replica group of `of` that the argument `field` names; empty: all of them.
    ///
    /// # Errors
    /// Lists the groups there are.
    pub fn group<'p>(
        &self,
        of: InstanceId,
        args: &'p Params,
        field: &str,
    ) -> Result<&'p str, ActionError> {
        let name = args.text(field);
        let known: Vec<_> = self.instance(of).groups.iter().map(|g| g.name.as_str()).collect();
        if name.is_empty() || known.contains(&name) {
            return Ok(name);
        }
        Err(ActionError::field(field, suggestion("group", name, &known)))
    }

    /// The edge from one component to another.
    ///
    /// # Errors
    /// Lists what the caller calls.
    pub fn edge(
        &self,
        from: InstanceId,
        to: InstanceId,
        field: &str,
    ) -> Result<&'a EdgeSpec, ActionError> {
        let callees: Vec<_> =
            self.topology.edges.iter().filter(|edge| edge.from == Some(from)).collect();
        if let Some(edge) = callees.iter().find(|edge| edge.to == to) {
            return Ok(edge);
        }
        let (caller, callee) = (&self.instance(from).name, &self.instance(to).name);
        let mut known: Vec<_> =
            callees.iter().map(|edge| self.instance(edge.to).name.as_str()).collect();
        known.extend(self.third_parties(from));
        let known = if known.is_empty() { "nothing".into() } else { known.join(", ") };
        let message = format!("{caller} does not call {callee}; it calls {known}");
        Err(ActionError::field(field, message))
    }

    /// Third parties that `of` calls.
    pub fn third_parties(&self, of: InstanceId) -> &'static [&'static str] {
        self.kinds.find(&self.instance(of).kind).map_or(&[], |kind| kind.third_parties())
    }

    /// Whether `of` is run by a third party.
    pub fn outside(&self, of: InstanceId) -> bool {
        self.kinds.find(&self.instance(of).kind).is_some_and(|kind| kind.outside())
    }

    /// Whether the kind of `of` has the operation `verb`.
    pub fn can(&self, of: InstanceId, verb: &str) -> bool {
        self.kinds
            .find(&self.instance(of).kind)
            .is_some_and(|kind| kind.operations().iter().any(|o| o.verb == verb))
    }

    /// An order, checked against the operations of the target's kind.
    ///
    /// # Errors
    /// Names the kinds that have the operation, or the argument that does not fit.
    pub fn order(
        &self,
        target: InstanceId,
        verb: &str,
        args: Params,
    ) -> Result<Order, ActionError> {
        let spec = self.instance(target);
        let operation = self
            .kinds
            .find(&spec.kind)
            .and_then(|kind| kind.operations().iter().find(|o| o.verb == verb));
        let Some(operation) = operation else {
            return Err(self.cannot(spec, verb));
        };
        args.check(operation.args)?;
        Ok(Order { target, verb: verb.into(), args })
    }

    fn cannot(&self, spec: &InstanceSpec, verb: &str) -> ActionError {
        let has = |kind: &&&'static dyn Kind| kind.operations().iter().any(|o| o.verb == verb);
        let able: Vec<_> = self.kinds.all().iter().filter(has).map(|kind| kind.name()).collect();
        let names: Vec<_> = self
            .topology
            .instances
            .iter()
            .filter(|i| able.contains(&i.kind.as_str()))
            .map(|i| i.name.as_str())
            .collect();
        let here = if names.is_empty() {
            "there is none here".to_string()
        } else {
            format!("here: {}", names.join(", "))
        };
        let able = if able.is_empty() { "no kind".to_string() } else { able.join(", ") };
        let outside = self.kinds.find(&spec.kind).is_some_and(|kind| kind.outside());
        let whose = if outside { " and run by a third party" } else { "" };
        ActionError::whole(format!(
            "{} is of kind {}{whose}, which has no operation `{verb}`; {able} only ({here})",
            spec.name, spec.kind
        ))
    }
}
