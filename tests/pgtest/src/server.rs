//! The server, its databases, and what can be done to it.

use crate::programs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The user that owns everything.
pub const USER: &str = "mayday";
/// The password of that user over TCP; a socket lets it in without.
pub const PASSWORD: &str = "corr3ct-h0rse";

const KEEPER: &str = include_str!("keeper.sh");
/// A port that was free may be taken a moment later.
const ATTEMPTS: u32 = 5;

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// On a socket in its folder.
    Socket,
    /// On 127.0.0.1 as well.
    Tcp,
    /// On 127.0.0.1 as well, with a certificate for it from an authority of its own.
    Tls,
}

/// A running server; it ends when this is dropped or the process ends.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    databases: AtomicU32,
    keeper: Mutex<Keeper>,
}

#[derive(Debug)]
struct Keeper {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Server {
    /// Starts one; `None`, said aloud, where PostgreSQL's programs are missing.
    ///
    /// # Panics
    /// Where they are there and do not work.
    pub fn start(test: &str, listen: Listen) -> Option<Server> {
        let Some(programs) = programs::found() else {
            programs::skip(test, "PostgreSQL's programs are not installed");
            return None;
        };
        let started = (0..ATTEMPTS).find_map(|_| Server::attempt(&programs, listen).ok());
        Some(started.expect("PostgreSQL starts"))
    }

    fn attempt(programs: &Path, listen: Listen) -> Result<Server, String> {
        let folder = tempfile::Builder::new().prefix("mayday-pg-").tempdir().expect("a folder");
        let folder = folder.keep();
        let (port, address) = match listen {
            Listen::Socket => (5432, ""),
            Listen::Tcp | Listen::Tls => {
                let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
                (free.local_addr().expect("bound").port(), "127.0.0.1")
            }
        };
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER, "keeper"]).arg(programs).arg(&folder).arg(port.to_string());
        command.args([address, USER, PASSWORD]);
        command.arg(if listen == Listen::Tls { "tls" } else { "plain" });
        command.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own: Ctrl-C at the tests reaches it by the end of its input.
        command.process_group(0);
        if let Some((user, group)) = humble(&folder) {
            std::os::unix::fs::chown(&folder, Some(user), Some(group)).expect("by root");
            command.uid(user).gid(group);
        }
        let mut child = command.spawn().expect("a shell");
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut keeper = Keeper { child, orders, answers };
        let answer = keeper.answer();
        let (programs, databases) = (programs.to_path_buf(), AtomicU32::new(0));
        let keeper = Mutex::new(keeper);
        let server = Server { programs, folder, port, databases, keeper };
        if answer == "done" { Ok(server) } else { Err(server.log()) }
    }

    /// What it has logged; to be shown when something is wrong.
    pub fn log(&self) -> String {
        let files = ["initdb.log", "openssl.log", "pg_ctl.log", "server.log"];
        let read = |name| std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        files.map(read).concat()
    }

    /// Makes a database and says its name.
    pub fn database(&self) -> String {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// The address of a database over the socket.
    pub fn address(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{folder}:{}/{database}", self.port)
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The certificate of the authority.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// What `psql` prints for these statements, columns divided by `|`.
    ///
    /// # Panics
    /// Where a statement fails.
    pub fn sql(&self, database: &str, statements: &str) -> String {
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-U", USER, "-d", database])
            .args(["-p", &self.port.to_string(), "-c", statements, "-h"])
            .arg(&self.folder)
            .stdin(Stdio::null())
            .output()
            .expect("psql");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statements}: {said}");
        String::from_utf8(output.stdout).expect("text").trim_end().to_string()
    }

    /// Stops it in order; connections end.
    pub fn stop(&self) {
        self.order("stop");
    }

    /// Stops it as a power failure would.
    pub fn crash(&self) {
        self.order("crash");
    }

    /// Starts it again after [`Server::stop`] or [`Server::crash`].
    pub fn start_again(&self) {
        self.order("start");
    }

    fn order(&self, word: &str) {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let orders = keeper.orders.as_mut().expect("until it is dropped");
        writeln!(orders, "{word}").expect("the keeper listens");
        assert_eq!(keeper.answer(), "done", "{word}: {}", self.log());
    }
}

impl Keeper {
    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("text");
        line.trim().to_string()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.child.wait();
    }
}

/// PostgreSQL refuses to run as root: the user it is run as then, and the group.
fn humble(folder: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    // Whoever makes a folder owns it.
    let root = std::fs::metadata(folder).expect("just made").uid() == 0;
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let ids = |wanted: &str| {
        let line = known.lines().find(|line| line.split(':').next() == Some(wanted))?;
        let mut numbers = line.split(':').skip(2);
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    };
    root.then(|| ids("postgres").or_else(|| ids("nobody"))).flatten()
}
