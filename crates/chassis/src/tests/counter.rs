//! A kind that counts what is done to it.

use std::collections::BTreeMap;

use machine::{Cx, Kind, LeverSpec, Machine, OperationSpec, Past, SnapshotError, decode, encode};
use model::{
    Answer, Hop, HopReply, Inbox, InstanceId, InstanceSpec, LeverPull, Next, Order, Outbox,
    ParamError, ParamSpec, Query, Refusal, Setup,
};
use telemetry::{ColumnSpec, SignalSpec};

#[derive(Debug)]
pub(crate) struct Counter;

#[derive(Clone, Debug, Default)]
struct Counted(f64);

pub(crate) fn setup_json(id: u16) -> Vec<u8> {
    let counter = InstanceSpec::plain(&format!("counter-{id}"), "counter", Vec::new());
    let setup = Setup { id: InstanceId(id), incoming: Vec::new(), ..Setup::alone(counter) };
    serde_json::to_vec(&setup).expect("a setup is JSON")
}

impl Kind for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }
    fn doc(&self) -> &'static str {
        "Counts rounds."
    }
    fn params(&self) -> &'static [ParamSpec] {
        &[]
    }
    fn levers(&self) -> &'static [LeverSpec] {
        &[LeverSpec { name: "counter.jump", doc: "Jumps.", args: &[] }]
    }
    fn operations(&self) -> &'static [OperationSpec] {
        &[OperationSpec { verb: "reset", doc: "Starts again.", args: &[], delay: 0 }]
    }
    fn rpcs(&self) -> &'static [&'static str] {
        &[]
    }
    fn columns(&self, _: &Setup) -> Vec<ColumnSpec> {
        vec![]
    }
    fn signals(&self) -> &'static [SignalSpec] {
        &[]
    }
    fn create(&self, _: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        Ok(Box::new(Counted::default()))
    }
}

impl Machine for Counted {
    fn round(&mut self, _: &mut Cx<'_>, _: &Inbox, out: &mut Outbox) {
        self.0 += 1.0;
        out.report.ok_mean_s = self.0;
    }
    fn accepts(&self, _: &Order) -> Result<(), Refusal> {
        if self.0 > 2.0 { Err(Refusal::because("too late")) } else { Ok(()) }
    }
    fn operate(&mut self, _: &mut Cx<'_>, _: &Order) {
        self.0 = 0.0;
    }
    fn inject(&mut self, _: &mut Cx<'_>, _: &LeverPull) {
        self.0 += 100.0;
    }
    fn clear(&mut self, _: &mut Cx<'_>, _: &LeverPull) {}
    fn read(&self, _: &Past<'_>, _: &Query) -> Answer {
        Answer::Facts(BTreeMap::new())
    }
    fn inspect(&self, facts: &mut BTreeMap<String, f64>) {
        facts.insert("count".into(), self.0);
    }
    fn plan(&self, _: &Past<'_>, _: &Hop, _: &[HopReply]) -> Next {
        Next::Call(vec![])
    }
    fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        encode("counter", &self.0)
    }
    fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.0 = decode("counter", bytes)?;
        Ok(())
    }
    fn fork(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }
}
