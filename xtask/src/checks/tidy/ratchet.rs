//! Offenders that are known and pardoned up to their present size. The list may only shrink: a
//! pardon that is larger than its offender, or has none, fails the check as well.

use super::Offence;
use crate::outcome::Finding;

/// A file that may depart from one rule, up to a size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pardon {
    pub(super) path: &'static str,
    /// Name of the rule: `file-length`, `function-length`, `line-length`, …
    pub(super) rule: &'static str,
    pub(super) size: usize,
}

/// The only list of pardons.
pub(super) const RATCHET: &[Pardon] = &[];

/// The list, with the largest offender that each pardon covered.
#[derive(Debug)]
pub(super) struct Pardons {
    used: Vec<(Pardon, usize)>,
}

impl Pardons {
    pub(super) fn of(list: &[Pardon]) -> Self {
        Self { used: list.iter().map(|pardon| (*pardon, 0)).collect() }
    }

    /// True when a pardon covers this offence.
    pub(super) fn cover(&mut self, path: &str, offence: &Offence) -> bool {
        let found = self.used.iter_mut().find(|(pardon, _)| {
            pardon.path == path && pardon.rule == offence.rule && pardon.size >= offence.size
        });
        let Some((_, largest)) = found else { return false };
        *largest = (*largest).max(offence.size);
        true
    }

    /// A finding for each pardon that can be smaller.
    pub(super) fn to_tighten(&self) -> Vec<Finding> {
        let loose = self.used.iter().filter(|(pardon, largest)| *largest < pardon.size);
        let findings = loose.map(|(pardon, largest)| {
            let problem = format!(
                "the pardon for {} says {}, and the largest offender is {largest}",
                pardon.rule, pardon.size
            );
            let way_out = "lower the pardon in xtask/src/checks/tidy/ratchet.rs, or remove it";
            Finding::new(pardon.path, problem, way_out)
        });
        findings.collect()
    }
}
