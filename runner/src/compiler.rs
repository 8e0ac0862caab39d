//! One run of rustc in the sandbox.

use std::path::Path;
use std::process::ExitStatus;

use crate::confined::{Captured, Confined};
use crate::error::Result;
use crate::layer::BaseLayer;
use crate::library::Library;
use crate::outcome::SandboxReport;
use crate::sandbox_policies;
use crate::toolchain::{TARGET, Toolchain};

/// What is compiled.
pub(crate) struct Job<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) confinement: sandbox::Confinement,
    pub(crate) layer: &'a BaseLayer,
    /// Bindings that can be named.
    pub(crate) libraries: &'a [Library],
    /// The folder of the source text, which also names it in messages.
    pub(crate) source: &'a Path,
    /// The folder that is written to.
    pub(crate) output: &'a Path,
    /// What kind of crate, and where to.
    pub(crate) arguments: &'a [&'a str],
    /// The root file, in the folder of the source.
    pub(crate) main: &'a str,
    /// Whether all other work comes first.
    pub(crate) background: bool,
    /// Longest processor time, in seconds.
    pub(crate) cpu_seconds: u64,
    /// Bytes of the largest file that it may write.
    pub(crate) largest_file: u64,
}

/// Processor time of a snippet's compilation, in seconds.
pub(crate) const SNIPPET_SECONDS: u64 = 30;
/// Bytes of a snippet's program (64 MiB): programs are kept, and read as a whole.
pub(crate) const LARGEST_PROGRAM: u64 = 64 << 20;
/// Bytes of a library of bindings (256 MiB): one of 1 000 tools has 30 MiB.
pub(crate) const LARGEST_LIBRARY: u64 = 256 << 20;
/// `nice(2)` of work in the background: with 19 the kernel gives it a seventieth of the time that others want.
const BACKGROUND: u8 = 19;

/// What came of it.
pub(crate) struct Compiled {
    pub(crate) status: ExitStatus,
    /// The compiler's messages, one JSON object a line.
    pub(crate) messages: Captured,
    pub(crate) sandbox: SandboxReport,
}

/// Most bytes kept of the compiler's messages (16 MiB): one may quote a line of a megabyte several times.
const MESSAGES_LIMIT: usize = 16 << 20;

/// Flags of every compilation.
const FLAGS: [&str; 13] = [
    "--edition=2024",
    "--error-format=json",
    "--diagnostic-width=100",
    "-Awarnings",
    // Denied by itself; a macro of one's own may end with `;`, and then has no value.
    "-Asemicolon_in_expressions_from_macros",
    "-Copt-level=0",
    "-Cdebuginfo=0",
    "-Cstrip=symbols",
    "-Crelocation-model=static",
    "-Clink-arg=-O0",
    "-Cdebug-assertions=no",
    "-Coverflow-checks=yes",
    // Nothing is optimised at link time, so nobody reads it; a twentieth of the time of bindings.
    "-Cembed-bitcode=no",
];

/// The flags, for keys.
pub(crate) fn flags() -> String {
    FLAGS.join(" ")
}

/// Runs the compiler to its end; it must be admitted. Dropping the future kills it.
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
        // Sources are named as they are in messages and panics: without their folder.
        .arg(format!("--remap-path-prefix={}/=", job.source.display()))
        .arg(job.source.join(job.main))
}
