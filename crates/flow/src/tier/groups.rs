//! Replica groups of one component: who gets how much, and what a sick replica does to the rest.
//!
//! Behind a common queue a slow replica takes fewer requests; behind a blind balancer it gets its
//! full share and chokes on it alone. Errors cost no time and follow the shares.

use crate::balance::{Balance, balanced};
use crate::mmck::Station;
use crate::spec::{Knobs, TierSpec};
use model::GROUPS_MAX;

/// The groups as a mixture that each attempt draws from afresh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Groups {
    pub running: f64,
    /// Share of the requests that each group works on.
    pub share: [f64; GROUPS_MAX],
    size: [f64; GROUPS_MAX],
    factor: [f64; GROUPS_MAX],
    failing: [f64; GROUPS_MAX],
    /// Slot time per request of each group, once reweighed.
    hold_s: [f64; GROUPS_MAX],
    /// Groups differ in speed.
    pub uneven: bool,
    /// Mean slowness, its second moment, error.
    pub slow: f64,
    pub slow_2: f64,
    pub error: f64,
}

impl Groups {
    /// Shares by replicas.
    pub(crate) fn of(knobs: &Knobs) -> Groups {
        let mut g = Groups { running: knobs.running(), ..Groups::default() };
        let mut first = None;
        for (i, group) in knobs.groups.iter().enumerate() {
            g.size[i] = group.running.max(0.0);
            g.factor[i] = group.slow.max(1e-6);
            g.failing[i] = group.error;
            if g.size[i] > 0.0 {
                g.share[i] = g.size[i] / g.running;
                let reference = *first.get_or_insert(g.factor[i]);
                g.uneven |= g.factor[i] != reference;
            }
        }
        g.mix();
        g
    }

    fn mix(&mut self) {
        (self.slow, self.slow_2, self.error) = (0.0, 0.0, 0.0);
        if self.running <= 0.0 {
            (self.slow, self.slow_2) = (1.0, 1.0);
        }
        for i in 0..GROUPS_MAX {
            self.slow += self.share[i] * self.factor[i];
            self.slow_2 += self.share[i] * self.factor[i] * self.factor[i];
            self.error += self.share[i] * self.failing[i];
        }
    }

    /// Shares by what each group can take: `offered` requests per second, `slots` per replica,
    /// `own_s` of own work at slowness 1 and `rest_s` of other slot time.
    pub(crate) fn reweigh(
        &mut self,
        spec: &TierSpec,
        offered: f64,
        slots: f64,
        own_s: f64,
        rest_s: f64,
    ) {
        let mut rate = [0.0; GROUPS_MAX];
        let mut most = 0.0;
        for i in 0..GROUPS_MAX {
            self.hold_s[i] = (own_s * self.factor[i] + rest_s).max(1e-9);
            most += self.size[i] * slots / self.hold_s[i];
        }
        let blind = matches!(spec.balance, Balance::Random | Balance::RoundRobin);
        let pull = if blind { 0.0 } else { self.pull(offered.min(0.995 * most), slots) };
        let mut total = 0.0;
        for i in 0..GROUPS_MAX {
            let servers = self.size[i] * slots;
            rate[i] = if blind {
                (offered * self.size[i] / self.running).min(servers / self.hold_s[i])
            } else {
                pull * servers / (1.0 + pull * self.hold_s[i])
            };
            total += rate[i];
        }
        if total > 1e-9 {
            self.share = rate.map(|x| x / total);
            self.mix();
        }
    }

    /// A free slot of any group is taken alike: x_g = k·(free slots of g), hence
    /// x_g = k·m_g/(1 + k·h_g); the `k` whose sum is `served`, by Newton from the left.
    fn pull(&self, served: f64, slots: f64) -> f64 {
        let mut k = served / (self.running * slots).max(1e-9);
        for _ in 0..30 {
            let (mut sum, mut slope) = (0.0, 1e-12);
            for i in 0..GROUPS_MAX {
                let (m, d) = (self.size[i] * slots, 1.0 + k * self.hold_s[i]);
                sum += k * m / d;
                slope += m / (d * d);
            }
            let step = (served - sum) / slope;
            k += step;
            if step <= 1e-9 * k {
                break;
            }
        }
        k
    }

    /// Groups that are served apart: a blind balancer in front of unlike replicas.
    pub(crate) fn apart(&self, how: Balance) -> bool {
        self.uneven && matches!(how, Balance::Random | Balance::RoundRobin)
    }

    /// All stations of such groups together; `slots` and `places` are totals.
    pub(crate) fn stations(
        &self,
        x: f64,
        (slots, places): (f64, f64),
        how: Balance,
        cs2: f64,
    ) -> Station {
        let mut all = Station::default();
        let (mut wait, mut second) = (0.0, 0.0);
        for i in 0..GROUPS_MAX {
            let part = self.size[i] / self.running.max(1e-9);
            if part <= 0.0 {
                continue;
            }
            let servers = slots * part;
            let rate = servers / self.hold_s[i].max(1e-9);
            let st = balanced(x * part, rate, servers, places * part, self.size[i], how, cs2);
            all.served += st.served;
            all.refused += part * st.refused;
            all.busy += part * st.busy;
            all.queue += st.queue;
            all.queue_var += st.queue_var;
            wait += st.served * st.wait;
            second += st.served * (st.wait_var + st.wait * st.wait);
        }
        if all.served > 1e-12 {
            all.wait = wait / all.served;
            all.wait_var = (second / all.served - all.wait * all.wait).max(0.0);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::GroupKnobs;

    fn uneven(balance: Balance, offered: f64) -> Groups {
        let mut knobs = Knobs::calm(3.0);
        knobs.groups[1] = GroupKnobs { running: 1.0, slow: 10.0, error: 0.0 };
        let mut g = Groups::of(&knobs);
        let spec = TierSpec { balance, ..TierSpec::default() };
        g.reweigh(&spec, offered, 16.0, 0.01, 0.0);
        g
    }

    #[test]
    fn a_slow_replica_takes_less_of_a_common_queue() {
        let idle = uneven(Balance::Shared, 1.0);
        assert!((idle.share[1] - 0.25).abs() < 0.01, "{:?}", idle.share);
        let busy = uneven(Balance::Shared, 1e6);
        // Saturated, each works at its own speed: 160 of 4960 per second.
        assert!((busy.share[1] - 160.0 / 4960.0).abs() < 0.01, "{:?}", busy.share);
    }

    #[test]
    fn a_blind_balancer_chokes_it_alone() {
        let g = uneven(Balance::Random, 2560.0);
        let st = g.stations(2560.0, (64.0, 128.0), Balance::Random, 1.0);
        // Its 640 per second meet 160: three quarters of a quarter are refused, no others.
        assert!((st.refused - 0.1875).abs() < 0.01, "{st:?}");
    }
}
