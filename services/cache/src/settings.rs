//! What operators set of a cache, and how it reads.

use crate::expiry::Life;
use model::{Order, Params, Refusal};
use serde::{Deserialize, Serialize};

/// Names of what can be set.
const FIELDS: [&str; 5] = ["ttl", "jitter", "single_flight", "spread_hot_keys", "max_memory"];
const MIB: f64 = 1_048_576.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// Time to live of an entry, seconds.
    pub(crate) ttl_s: f64,
    /// Share of the time to live by which it is drawn shorter, 0..=1.
    pub(crate) jitter: f64,
    /// Misses of one key at one time are one fetch.
    pub(crate) single_flight: bool,
    /// The hottest keys are kept in every replica.
    pub(crate) spread_hot_keys: bool,
    /// Bytes of entries that one replica holds.
    pub(crate) max_memory: f64,
}

impl Settings {
    /// Those of the topology.
    pub(crate) fn of(params: &Params) -> Settings {
        Settings {
            ttl_s: params.number("ttl"),
            jitter: params.number("jitter"),
            single_flight: params.flag("single_flight"),
            spread_hot_keys: false,
            max_memory: params.number("max_memory"),
        }
    }

    pub(crate) fn life(&self) -> Life {
        Life { ttl_s: self.ttl_s, jitter: self.jitter }
    }

    /// Would [`Settings::change`] change anything?
    pub(crate) fn accepts(order: &Order) -> Result<(), Refusal> {
        if FIELDS.iter().any(|field| order.args.has(field)) {
            return Ok(());
        }
        Err(Refusal::because(format!("nothing to set; give one of {}", FIELDS.join(", "))))
    }

    pub(crate) fn change(&mut self, args: &Params) {
        let number = |name: &str, value: &mut f64| {
            if args.has(name) {
                *value = args.number(name);
            }
        };
        number("ttl", &mut self.ttl_s);
        number("jitter", &mut self.jitter);
        number("max_memory", &mut self.max_memory);
        if args.has("single_flight") {
            self.single_flight = args.flag("single_flight");
        }
        if args.has("spread_hot_keys") {
            self.spread_hot_keys = args.flag("spread_hot_keys");
        }
    }

    /// In one line, for the change list.
    pub(crate) fn describe(&self) -> String {
        let mut text = format!("entries live {} s", self.ttl_s);
        if self.jitter > 0.0 {
            text += &format!(" with {:.0} % jitter", 100.0 * self.jitter);
        }
        if self.single_flight {
            text += ", single flight";
        }
        if self.spread_hot_keys {
            text += ", hot keys in every replica";
        }
        text + &format!(", at most {:.0} MiB per replica", self.max_memory / MIB)
    }
}
