//! `image`: the image of `deploy/Dockerfile`, by the same shim as `deploy/compose up`. Where no
//! registry can be reached, `--stand-in` makes an image in the place of the toolchain's, out of
//! this machine's toolchain, so that the stage that compiles can be tried.
#![expect(clippy::print_stdout, reason = "a command-line tool reports on the terminal")]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::compose::dockerfile;
use crate::process;
use crate::tasks::dist;
use crate::workspace::Workspace;

/// What the toolchain's image has of Debian, as far as the build needs it.
const PACKAGES: &str = "--include=gcc,libc6-dev,ca-certificates,pkg-config";

/// Options of `image`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Compile in the image and not here.
    #[arg(long)]
    build: bool,
    /// Before that, make a stand-in for the toolchain's image (root, debootstrap and 2 GB of disk).
    #[arg(long, requires = "build")]
    stand_in: bool,
    /// The image's name.
    #[arg(long, default_value = "mayday", value_name = "NAME")]
    tag: String,
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    if args.stand_in {
        stand_in(workspace)?;
    }
    if !args.build && dist::run(workspace, &dist::Args {})? != ExitCode::SUCCESS {
        return Ok(ExitCode::FAILURE);
    }
    let mut build = Command::new(workspace.path("deploy/compose"));
    build.arg("build").env("MAYDAY_IMAGE", &args.tag);
    build.env("MAYDAY_BUILD", if args.build { "build" } else { "prebuilt" });
    process::run_as_task(&mut build)
}

/// Debian with a compiler, and this machine's toolchain where `PATH` of the real image leads.
fn stand_in(workspace: &Workspace) -> Result<()> {
    let text = fs::read_to_string(workspace.path(dockerfile::FILE))?;
    let name = dockerfile::toolchain(&text).context("the Dockerfile names no toolchain")?;
    let present = Command::new("docker").args(["image", "inspect", &name]).output()?;
    if present.status.success() {
        println!("{name} is there already");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    let mut bootstrap = Command::new("debootstrap");
    bootstrap.args(["--variant=minbase", PACKAGES, "bookworm"]).arg(&root);
    if !process::run(&mut bootstrap)? {
        bail!("debootstrap failed: it needs root and a mirror of Debian");
    }
    let sysroot = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let sysroot = String::from_utf8(sysroot)?;
    let home = root.join("usr/local");
    for part in ["bin", "lib", "libexec"] {
        let from = Path::new(sysroot.trim()).join(part);
        if from.exists() && !process::run(Command::new("cp").arg("-a").arg(&from).arg(&home))? {
            bail!("cannot copy {}", from.display());
        }
    }
    // A proxy of this machine may have an authority of its own.
    let bundle = "etc/ssl/certs/ca-certificates.crt";
    fs::copy(Path::new("/").join(bundle), root.join(bundle)).context("copy the authorities")?;
    import(&root, &name)
}

/// `tar | docker import`.
fn import(root: &Path, name: &str) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root).args(["-c", "."]);
    let mut packed = tar.stdout(Stdio::piped()).spawn().context("start tar")?;
    let stdout = packed.stdout.take().context("tar has no stdout")?;
    let mut import = Command::new("docker");
    import.args(["import", "-c", "ENV PATH=/usr/local/bin:/usr/bin:/bin", "-", name]).stdin(stdout);
    let imported = process::run(&mut import)?;
    if !packed.wait()?.success() || !imported {
        bail!("{name} was not imported");
    }
    Ok(())
}
