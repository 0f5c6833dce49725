//! Messages that wait, by partition: how many, how old the oldest is, and how far the consumers
//! have committed. Which class a message is of is known of all partitions together.

use model::{CLASSES_MAX, PerClass};
use serde::{Deserialize, Serialize};

/// Fewer messages than this are none.
const NONE: f64 = 1e-9;

/// One partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Partition {
    /// Messages that wait.
    pub(crate) lag: f64,
    /// Time since the oldest of them was published, seconds.
    pub(crate) age_s: f64,
    /// Messages that the consumers are done with.
    pub(crate) committed: f64,
}

impl Partition {
    /// The consumers are done with `messages` from the head on; returns how many there were.
    pub(crate) fn commit(&mut self, messages: f64) -> f64 {
        let done = messages.min(self.lag).max(0.0);
        if done <= 0.0 {
            return 0.0;
        }
        // Messages are as dense in the backlog as they were in time: the head moves by its share.
        let left = self.lag - done;
        if left > NONE {
            self.age_s *= left / self.lag;
            self.lag = left;
        } else {
            (self.lag, self.age_s) = (0.0, 0.0);
        }
        self.committed += done;
        done
    }
}

/// All messages that wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Backlog {
    /// By partition.
    pub(crate) partitions: Vec<Partition>,
    /// Shares of the classes in it; they sum to 1 as soon as there was a message.
    pub(crate) shares: PerClass,
}

impl Backlog {
    /// No messages in so many partitions.
    pub(crate) fn empty(partitions: usize) -> Backlog {
        let partitions = vec![Partition::default(); partitions.max(1)];
        Backlog { partitions, shares: [0.0; CLASSES_MAX] }
    }

    /// Takes `rate` messages per second and class for `dt_s` seconds, spread over the partitions.
    pub(crate) fn publish(&mut self, rate: &PerClass, dt_s: f64) {
        let new: f64 = rate.iter().sum::<f64>() * dt_s;
        let old = self.total();
        if new > 0.0 {
            for (share, rate) in self.shares.iter_mut().zip(rate) {
                *share = (old * *share + rate * dt_s) / (old + new);
            }
        }
        let each = new / self.partitions.len() as f64;
        for partition in &mut self.partitions {
            partition.lag += each;
            if partition.lag > 0.0 {
                partition.age_s += dt_s;
            }
        }
    }

    /// Messages that wait.
    pub(crate) fn total(&self) -> f64 {
        self.partitions.iter().map(|p| p.lag).sum()
    }

    /// Messages in the fullest partition.
    pub(crate) fn most(&self) -> f64 {
        self.partitions.iter().map(|p| p.lag).fold(0.0, f64::max)
    }

    /// Age of the oldest message, seconds.
    pub(crate) fn oldest_s(&self) -> f64 {
        self.partitions.iter().map(|p| p.age_s).fold(0.0, f64::max)
    }

    /// Deletes everything that waits; returns how many messages that were.
    pub(crate) fn purge(&mut self) -> f64 {
        self.partitions.iter_mut().map(|p| p.commit(f64::INFINITY)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(of: f64) -> PerClass {
        let mut rate = [0.0; CLASSES_MAX];
        rate[1] = of;
        rate
    }

    #[test]
    fn the_oldest_is_as_old_as_the_backlog_took_to_gather() {
        let mut backlog = Backlog::empty(4);
        for _ in 0..100 {
            backlog.publish(&rate(40.0), 1.0);
            for partition in &mut backlog.partitions {
                partition.commit(5.0);
            }
        }
        // Half of what comes is handled: after 100 s the head was published 50 s ago.
        assert!((backlog.total() - 2000.0).abs() < 1e-6, "{}", backlog.total());
        assert!((backlog.oldest_s() - 50.0).abs() < 1.5, "{}", backlog.oldest_s());
        assert!((backlog.shares[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_handled_in_the_same_round_leaves_nothing() {
        let mut backlog = Backlog::empty(3);
        backlog.publish(&rate(30.0), 0.25);
        let done: f64 = backlog.partitions.iter_mut().map(|p| p.commit(2.5)).sum();
        assert!((done - 7.5).abs() < 1e-12);
        assert_eq!((backlog.total(), backlog.oldest_s(), backlog.most()), (0.0, 0.0, 0.0));
        assert_eq!(backlog.partitions[0].commit(1.0), 0.0);
    }

    #[test]
    fn a_purge_takes_all_and_says_how_many() {
        let mut backlog = Backlog::empty(2);
        backlog.publish(&rate(10.0), 1.0);
        backlog.partitions[0].commit(1.0);
        assert!((backlog.purge() - 9.0).abs() < 1e-12);
        assert_eq!((backlog.total(), backlog.partitions[0].committed), (0.0, 5.0));
    }
}
