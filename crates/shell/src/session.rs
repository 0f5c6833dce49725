//! What a terminal remembers between two lines: who, where, and the variables. Data that can be
//! kept and compared; nothing in it acts.

use model::InstanceId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The host one is logged in to.
    pub host: InstanceId,
    /// The name of the user.
    pub user: String,
    /// The working folder.
    pub cwd: String,
    /// Variables.
    pub vars: BTreeMap<String, String>,
    /// Exit code of the last command.
    pub status: i32,
    /// Lines so far, newest last.
    pub history: Vec<String>,
}

impl Session {
    /// A fresh login of `user` on `host`.
    pub fn new(host: InstanceId, user: &str) -> Session {
        let home = home(user);
        let vars = [
            ("HOME", home.as_str()),
            ("LANG", "C.UTF-8"),
            ("LOGNAME", user),
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("SHELL", "/bin/bash"),
            ("TERM", "dumb"),
            ("USER", user),
        ];
        Session {
            host,
            user: user.into(),
            cwd: home.clone(),
            vars: vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            status: 0,
            history: Vec::new(),
        }
    }
}

/// The home folder of a user.
pub(crate) fn home(user: &str) -> String {
    if user == "root" { "/root".into() } else { format!("/home/{user}") }
}
