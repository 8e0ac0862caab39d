//! Runs rustc once in the sandbox.

use std::path::Path;
use std::process::ExitStatus;

use crate::confined::{Captured, Confined};
use crate::error::Result;
use crate::layer::BaseLayer;
use crate::library::Library;
use crate::outcome::SandboxReport;
use crate::sandbox_policies;
use crate::toolchain::{TARGET, Toolchain};

/// A compilation.
pub(crate) struct Job<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) confinement: sandbox::Confinement,
    pub(crate) layer: &'a BaseLayer,
    /// The bindings that the source may name.
    pub(crate) libraries: &'a [Library],
    /// The source folder, which also names the source in messages.
    pub(crate) source: &'a Path,
    /// The output folder.
    pub(crate) output: &'a Path,
    /// Arguments for the kind of crate and its output.
    pub(crate) arguments: &'a [&'a str],
    /// The root file in the source folder.
    pub(crate) main: &'a str,
    /// Whether all other work has priority.
    pub(crate) background: bool,
    /// Limit on processor time, in seconds.
    pub(crate) cpu_seconds: u64,
    /// Maximum size of a written file, in bytes.
    pub(crate) largest_file: u64,
}

/// Processor time limit for compiling a snippet, in seconds.
pub const SNIPPET_SECONDS: u64 = 30;
/// Maximum size of a snippet's program, in bytes (64 MiB): programs are kept, and read as a whole.
pub const LARGEST_PROGRAM: u64 = 64 << 20;
/// Maximum size of a bindings library, in bytes (256 MiB): one of 1 000 tools has 30 MiB.
pub const LARGEST_LIBRARY: u64 = 256 << 20;
/// `nice(2)` value of background work: with 19, the kernel gives it a seventieth of the time of normal processes.
const BACKGROUND: u8 = 19;

/// The result of a compilation.
pub(crate) struct Compiled {
    pub(crate) status: ExitStatus,
    /// The compiler's messages, one JSON object per line.
    pub(crate) messages: Captured,
    pub(crate) sandbox: SandboxReport,
}

/// Maximum size of the compiler's messages, in bytes (16 MiB): one may quote a line of a megabyte several times.
const MESSAGES_LIMIT: usize = 16 << 20;

/// Flags of every compilation.
const FLAGS: [&str; 13] = [
    "--edition=2024",
    "--error-format=json",
    "--diagnostic-width=100",
    "-Awarnings",
    // Denied by default; a snippet's own macro may end with `;`, and then has no value.
    "-Asemicolon_in_expressions_from_macros",
    "-Copt-level=0",
    "-Cdebuginfo=0",
    "-Cstrip=symbols",
    "-Crelocation-model=static",
    "-Clink-arg=-O0",
    "-Cdebug-assertions=no",
    "-Coverflow-checks=yes",
    // Only link-time optimisation would read it; saves a twentieth of the compile time of bindings.
    "-Cembed-bitcode=no",
];

/// The flags, as part of keys.
pub(crate) fn flags() -> String {
    FLAGS.join(" ")
}

/// Runs the compiler to its end; it must be admitted first. Dropping the future kills it.
pub(crate) async fn run(job: &Job<'_>) -> Result<Compiled> {
    let mut read: Vec<&Path> = vec![job.source, &job.layer.folder];
    read.extend(job.libraries.iter().filter_map(|library| library.file.parent()));
    let policy = sandbox_policies::compiler(job.toolchain, &read, job.output).limits(|set| {
        set.cpu_seconds = Some(job.cpu_seconds);
        set.file_size = Some(job.largest_file);
        set.niceness = if job.background { BACKGROUND } else { 0 };
    });
    let mut process = Confined::spawn(policy, job.confinement, command(job))?;
    let mut messages = Captured::default();
    let mut printed = Captured::default();
    let (out, err) = (&mut process.stdout, &mut process.stderr);
    tokio::join!(messages.read(err, MESSAGES_LIMIT, false, |_| {}), printed.read(out, 0, false, |_| {}),);
    let status = process.wait().await?;
    Ok(Compiled { status, messages, sandbox: process.report() })
}

fn command(job: &Job<'_>) -> sandbox::Command {
    let library = |(name, file): (&String, &String)| {
        format!("--extern={name}={}", job.layer.folder.join(file).display())
    };
    let bindings = |library: &Library| format!("--extern={}={}", library.module, library.file.display());
    sandbox::Command::new(&job.toolchain.rustc)
        .args(FLAGS)
        .arg(format!("--target={TARGET}"))
        .arg(format!("-Clinker={}", job.toolchain.linker.display()))
        .arg(format!("-Ldependency={}", job.layer.folder.display()))
        .args(job.layer.crates.iter().map(library))
        .args(job.libraries.iter().map(bindings))
        .args(job.arguments)
        // Messages and panics name sources without their folder.
        .arg(format!("--remap-path-prefix={}/=", job.source.display()))
        .arg(job.source.join(job.main))
}
