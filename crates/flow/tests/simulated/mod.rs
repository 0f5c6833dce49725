//! The same systems in the flow plane and request by request, and how far apart they end.

mod chains;
mod graphs;
mod measure;
mod replicas;
mod shops;
mod storms;

use crate::chain::World;
use measure::Seen;
use model::{CLASSES_MAX, PerClass};

/// A system in both worlds.
pub(crate) struct Pair {
    pub(crate) flow: World,
    pub(crate) des: des::Config,
}

/// Seconds that the simulation is left to settle before it is looked at.
const SETTLED_S: f64 = 30.0;
/// Ticks that the flow plane is left, and those that it is looked at.
const LOOKED_AT: std::ops::Range<usize> = 120..160;

impl Pair {
    /// Both at constant load: the flow plane, the simulation.
    fn compare(&mut self) -> [Seen; 2] {
        let seen = Seen::simulated(&des::run(&self.des), SETTLED_S, self.des.end);
        self.flow.play(LOOKED_AT.end);
        [Seen::flow(&self.flow, LOOKED_AT), seen]
    }
}

/// All cases, or a share of them.
fn soak() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
    std::env::var_os("MAYDAY_SOAK").is_some()
}

/// Users who arrive at `rate` per second whatever happens.
fn open(rate: f64) -> des::Class {
    des::Class { users: des::Users::Open { rate: rate.into() }, ..des::Class::default() }
}

fn two(x: [f64; 2]) -> PerClass {
    let mut out = [0.0; CLASSES_MAX];
    (out[0], out[1]) = (x[0], x[1]);
    out
}
