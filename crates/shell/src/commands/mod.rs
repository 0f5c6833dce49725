//! The programs there are: one file and one line each, in alphabetical order.

use crate::call::{Call, Running};

/// A program, or a few of one family.
pub(crate) struct Command {
    /// The names it is called by, the usual one first.
    pub(crate) names: &'static [&'static str],
    /// What it does, in a few words.
    pub(crate) summary: &'static str,
    /// How it is called; lines beyond the first are explained options.
    pub(crate) usage: &'static str,
    /// Its exit code for a call it does not understand.
    pub(crate) misuse: i32,
    /// It points to `--help` instead of printing how it is called.
    pub(crate) short_hint: bool,
    /// What it does.
    pub(crate) run: for<'a, 'c, 's> fn(&'a mut Call<'c, 's>) -> Running<'a>,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Command {
    /// The first line of how it is called.
    pub(crate) fn synopsis(&self) -> String {
        format!("Usage: {}", self.usage.lines().next().unwrap_or_default())
    }

    pub(crate) fn help(&self) -> String {
        format!("Usage: {}\n{}.\n", self.usage, self.summary)
    }
}

/// The page of a program, for help that is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manual {
    /// Its usual name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// How it is called.
    pub usage: &'static str,
}

macro_rules! commands {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        static ALL: &[&Command] = &[$(&$name::COMMAND),*];
        #[cfg(test)]
        const FILES: &[&str] = &[$(stringify!($name)),*];
    };
}

commands![
    awk, basename, bash, cat, cd, certbot, chmod, chronyc, cp, curl, cut, date, dd, df, dig, dmesg,
    du, echo, env, exit, export, find, free, fuser, grep, gzip, head, history, hostname, id,
    iostat, journalctl, kill, kubectl, less, logrotate, ls, lsblk, lsof, man, mkdir, mv, nc, nginx,
    nothing, openssl, pgrep, ping, printf, ps, psql, read, redis_cli, rm, sed, seq, service, sort,
    ss, ssh, stat, sudo, systemctl, tail, tee, test, timeout, top, touch, tr, truncate, uname,
    uniq, uptime, vi, vmstat, wc, which, whoami, xargs,
];

/// The program called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    ALL.iter().copied().find(|command| command.names.contains(&name))
}

/// The pages of all programs.
pub fn manuals() -> impl Iterator<Item = Manual> {
    ALL.iter().map(|c| Manual { name: c.names[0], summary: c.summary, usage: c.usage })
}

/// Arguments in a format, as `printf` has it; the error is an unknown conversion.
pub(crate) fn format(
    format: &str,
    args: &mut impl Iterator<Item = String>,
) -> Result<String, char> {
    printf::write(format, args)
}

pub(crate) fn all() -> &'static [&'static Command] {
    ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_alphabetical_and_names_are_used_once() {
        assert!(FILES.is_sorted(), "{FILES:?}");
        let names: Vec<_> = ALL.iter().flat_map(|c| c.names).collect();
        let once: BTreeSet<_> = names.iter().collect();
        assert_eq!(once.len(), names.len());
        for command in ALL {
            assert!(!command.summary.ends_with('.'), "{command:?}");
            assert!(command.usage.starts_with(command.names[0]), "{command:?}");
        }
    }
}
