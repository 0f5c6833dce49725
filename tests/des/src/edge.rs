//! The state of an edge: present values of its schedules, retry budget, breaker, connections. What
//! a caller does with them is in `call`.

use std::collections::VecDeque;

use crate::agenda::{Instant, instant, seconds};
use crate::breaker::Breaker;
use crate::config;
use crate::output::EdgeRow;
use crate::record::Slab;
use crate::rng::Rng;

/// The connections of an edge.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) size: u32,
    pub(crate) in_use: u32,
    pub(crate) leaked: u32,
    pub(crate) acquire: Instant,
    pub(crate) leak: f64,
    /// Callers that wait, with the stamps they had; who has gone on is skipped.
    pub(crate) waiting: VecDeque<(u32, u32)>,
}

/// An edge of the graph, or the entry of a class.
#[derive(Debug)]
pub(crate) struct EdgeState {
    pub(crate) to: u16,
    pub(crate) deadline: bool,
    pub(crate) optional: bool,
    calls: Vec<f64>,
    jitter: bool,
    pub(crate) timeout: Instant,
    pub(crate) retries: u16,
    backoff: f64,
    pub(crate) delay: Instant,
    pub(crate) loss: f64,
    pub(crate) abort: f64,
    budget_share: f64,
    budget_cap: f64,
    tokens: f64,
    pub(crate) breaker: Option<Breaker>,
    pub(crate) pool: Option<Pool>,
    pub(crate) rng: Rng,
    pub(crate) row: EdgeRow,
}

impl EdgeState {
    pub(crate) fn new(config: &config::Edge, from: Option<usize>, rng: Rng) -> Self {
        let mut edge = Self {
            to: config.to as u16,
            deadline: config.deadline,
            optional: config.optional,
            calls: config.calls.clone(),
            jitter: config.jitter,
            timeout: 0,
            retries: 0,
            backoff: 0.0,
            delay: 0,
            loss: 0.0,
            abort: 0.0,
            budget_share: f64::INFINITY,
            budget_cap: 0.0,
            tokens: 0.0,
            breaker: None,
            pool: None,
            rng,
            row: EdgeRow { from, to: config.to, ..EdgeRow::default() },
        };
        edge.reset(config);
        edge.refresh(config, 0.0);
        edge
    }

    /// Pool, breaker and budget as at the start.
    pub(crate) fn reset(&mut self, config: &config::Edge) {
        self.breaker = config.breaker.as_ref().map(Breaker::new);
        self.budget_cap = config.budget.as_ref().map_or(0.0, |budget| budget.cap);
        self.tokens = self.budget_cap;
        self.pool = config.pool.as_ref().map(|pool| Pool {
            size: pool.size,
            in_use: 0,
            leaked: 0,
            acquire: instant(pool.acquire),
            leak: 0.0,
            waiting: VecDeque::new(),
        });
    }

    /// The values of the schedules at `time` (s).
    pub(crate) fn refresh(&mut self, config: &config::Edge, time: f64) {
        self.timeout = instant(config.timeout.at(time));
        self.retries = config.retries.at(time).round() as u16;
        self.backoff = config.backoff.at(time);
        self.delay = instant(config.delay.at(time));
        self.loss = config.loss.at(time);
        self.abort = config.abort.at(time);
        self.budget_share =
            config.budget.as_ref().map_or(f64::INFINITY, |budget| budget.share.at(time));
        if let (Some(pool), Some(config)) = (&mut self.pool, &config.pool) {
            pool.leak = config.leak.at(time);
        }
    }

    /// How often a request of `class` calls.
    pub(crate) fn draw_calls(&mut self, class: u16) -> u32 {
        let mean = self.calls.get(usize::from(class)).copied().unwrap_or(1.0);
        mean as u32 + u32::from(self.rng.chance(mean.fract()))
    }

    /// The pause before a retry.
    pub(crate) fn draw_pause(&mut self) -> Instant {
        if self.backoff <= 0.0 {
            0
        } else if self.jitter {
            instant(self.backoff * 2.0 * self.rng.uniform())
        } else {
            instant(self.backoff)
        }
    }

    /// Takes a token for a retry, if there is one.
    pub(crate) fn take_token(&mut self) -> bool {
        if self.budget_share.is_infinite() {
            return true;
        }
        let granted = self.tokens >= 1.0;
        if granted {
            self.tokens -= 1.0;
        } else {
            self.row.over_budget += 1;
        }
        granted
    }

    /// Counts the end of an attempt for breaker and budget.
    pub(crate) fn outcome(&mut self, now: Instant, good: bool) {
        if good && self.budget_share.is_finite() {
            self.tokens = (self.tokens + self.budget_share).min(self.budget_cap);
        }
        if let Some(breaker) = &mut self.breaker
            && breaker.record(now, good)
        {
            self.row.opened += 1;
        }
    }

    /// A connection is given back, or leaks. The caller that gets it next, if one waits.
    pub(crate) fn release(&mut self, slab: &Slab) -> Option<u32> {
        let pool = self.pool.as_mut()?;
        if self.rng.chance(pool.leak) {
            pool.leaked += 1;
            return None;
        }
        while let Some((id, stamp)) = pool.waiting.pop_front() {
            if slab.is_current(id, stamp) {
                return Some(id);
            }
        }
        pool.in_use -= 1;
        None
    }

    /// The counts since the last call, and the state now.
    pub(crate) fn take_row(&mut self, length: Instant) -> EdgeRow {
        let (in_use, leaked) = self.pool.as_ref().map_or((0, 0), |pool| (pool.in_use, pool.leaked));
        let fresh = EdgeRow { from: self.row.from, to: self.row.to, ..EdgeRow::default() };
        let row = std::mem::replace(&mut self.row, fresh);
        EdgeRow { seconds: seconds(length), in_use, leaked, tokens: self.tokens, ..row }
    }
}
