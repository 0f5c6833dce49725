//! The list of agents: one file and one line each, in the order in which they are shown.

use crate::agent::AgentSpec;

macro_rules! agents {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        static ALL: &[AgentSpec] = &[$($name::AGENT),*];
        #[cfg(test)]
        const FILES: &[&str] = &[$(stringify!($name)),*];
    };
}

agents![reference, noop, random, restart_all, rollback_all, scale_all, shed_half];

/// All agents.
pub fn all() -> &'static [AgentSpec] {
    ALL
}

/// The agent called `name`.
///
/// # Errors
/// Names the nearest one, and all there are.
pub fn find(name: &str) -> Result<&'static AgentSpec, String> {
    ALL.iter().find(|spec| spec.name == name).ok_or_else(|| {
        let known: Vec<_> = ALL.iter().map(|spec| spec.name).collect();
        action::near::suggestion("agent", name, &known)
    })
}

#[cfg(test)]
pub(crate) mod tests;
