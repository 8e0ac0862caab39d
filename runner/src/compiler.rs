//! Runs rustc once in the sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::fs::Mode;
use sandbox::{Access, Confinement, Policy};
use system::random;
use tokio::sync::Notify;

use crate::base::Base;
use crate::base_layer::Crates;
use crate::confined::{Captured, Confined};
use crate::error::{Error, Result};
use crate::last_message::LastMessage;
use crate::library::Library;
use crate::outcome::SandboxReport;
use crate::sandbox_policies;
use crate::toolchain::{TARGET, Toolchain};

/// A compilation.
pub(crate) struct Job<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) confinement: Confinement,
    /// The crates for snippets.
    pub(crate) crates: &'a Crates,
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
    /// What links the result.
    pub(crate) linker: Linker<'a>,
    /// Whether all other work has priority.
    pub(crate) background: bool,
    /// Whether to optimize: takes longer, and changes neither results nor messages.
    pub(crate) optimize: bool,
    /// Limit on processor time, in seconds.
    pub(crate) cpu_seconds: u64,
    /// Maximum size of a written file, in bytes.
    pub(crate) largest_file: u64,
}

/// What rustc starts to link a program.
#[derive(Clone, Copy)]
pub(crate) enum Linker<'a> {
    /// rust-lld, which links the program as a whole.
    Rust,
    /// The base's linker, which links the program against the base.
    Program(&'a Base),
    /// The base's linker at this path, which links the base itself.
    Base(&'a Path),
}

/// Processor time limit for compiling a snippet, in seconds.
pub const SNIPPET_SECONDS: u64 = 30;
/// Maximum size of a snippet's program, in bytes (64 MiB): programs are kept, and read as a whole.
pub const LARGEST_PROGRAM: u64 = 64 << 20;
/// Maximum size of a bindings library, in bytes (256 MiB): one of 1 000 tools has 30 MiB.
pub const LARGEST_LIBRARY: u64 = 256 << 20;
/// `nice(2)` value of background work: with 10, the kernel gives it a tenth of the time of normal processes. With 19 it
/// would be a seventieth, and another process that needs the same result would wait for minutes on a busy machine.
const BACKGROUND: u8 = 10;

/// The result of a compilation.
pub(crate) struct Compiled {
    /// How it has ended, or has announced to end.
    pub(crate) status: ExitStatus,
    /// The compiler's messages, one JSON object per line.
    pub(crate) messages: Captured,
    pub(crate) sandbox: SandboxReport,
}

/// Maximum size of the compiler's messages, in bytes (16 MiB): one may quote a line of a megabyte several times.
const MESSAGES_LIMIT: usize = 16 << 20;

/// Flags of every compilation.
const FLAGS: [&str; 14] = [
    "--edition=2024",
    "--error-format=json",
    "--diagnostic-width=100",
    "-Awarnings",
    // Denied by default; a snippet's own macro may end with `;`, and then has no value.
    "-Asemicolon_in_expressions_from_macros",
    // Denied by default; allowed because a macro declares the snippet's module in a spare compiler.
    "-Amacro_expanded_macro_exports_accessed_by_absolute_paths",
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

/// Overrides the level in [`FLAGS`]; checks of overflow stay.
pub(crate) const OPTIMIZE: &str = "-Copt-level=2";

/// The flags, as part of keys.
pub(crate) fn flags() -> String {
    FLAGS.join(" ")
}

/// What starts a compiler. The launches of two jobs are equal only if their compilers have the same command line and the
/// same policy.
#[derive(Debug, PartialEq)]
pub(crate) struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// The linker that starts together with the compiler.
    linker: Option<WaitingLinker>,
    policy: Policy,
    confinement: Confinement,
}

/// A linker that is started with the compiler, and waits for its command line.
#[derive(Debug, PartialEq)]
struct WaitingLinker {
    /// The base's linker, which starts both.
    base_linker: PathBuf,
    rust_lld: PathBuf,
    /// The folder of its pipe.
    folder: PathBuf,
}

impl Launch {
    /// What starts the compiler of `job`.
    pub(crate) fn of(job: &Job<'_>) -> Self {
        let mut launch = Launch {
            program: job.toolchain.rustc.clone(),
            arguments: arguments(job),
            linker: None,
            policy: policy(job),
            confinement: job.confinement,
        };
        if let Linker::Program(base) = job.linker
            && ends_all_processes(job.confinement)
        {
            launch.linker = Some(WaitingLinker {
                base_linker: base.linker(),
                rust_lld: job.toolchain.linker.clone(),
                folder: job.output.to_owned(),
            });
        }
        launch
    }

    /// Starts the compiler. Blocks for a few milliseconds.
    ///
    /// # Errors
    /// If the sandbox or the output folder can't be used.
    pub(crate) fn start(mut self) -> Result<Confined> {
        if let Some(linker) = self.linker.take() {
            self.start_linker(linker)?;
        }
        let command = sandbox::Command::new(self.program).args(self.arguments);
        Confined::spawn(self.policy, self.confinement, command)
    }

    /// Starts the linker as well, so that it has loaded when the compiler needs it.
    ///
    /// The name of its pipe is a secret: a snippet that included the pipe as a file would make the compiler wait for
    /// ever.
    fn start_linker(&mut self, linker: WaitingLinker) -> Result<()> {
        let name = random::id().map_err(Error::cache(&linker.folder))?;
        let pipe = linker.folder.join(format!("{name}.pipe"));
        create_pipe(&pipe)?;
        let rustc = std::mem::replace(&mut self.program, linker.base_linker);
        let own: [OsString; 4] =
            ["--base-start".into(), linker.rust_lld.into(), (&pipe).into(), rustc.into()];
        self.arguments.splice(..0, own);
        self.arguments.push(format!("-Clink-arg=--base-waiting={}", pipe.display()).into());
        Ok(())
    }
}

/// Whether all processes of a compiler end with it: they are in a process namespace of their own.
fn ends_all_processes(confinement: Confinement) -> bool {
    match confinement {
        Confinement::AtLeast(minimum) => {
            sandbox::probe().choose(minimum).is_ok_and(|layers| layers.namespaces)
        }
        Confinement::Exactly(layers) => layers.namespaces,
    }
}

/// Creates a named pipe.
///
/// # Errors
/// If its folder can't be written to.
pub(crate) fn create_pipe(path: &Path) -> Result<()> {
    let created = rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR);
    created.map_err(|error| Error::cache(path)(error.into()))
}

/// Runs the compiler to its end; it must be admitted first. Dropping the future kills it.
pub(crate) async fn run(job: &Job<'_>) -> Result<Compiled> {
    finish(&mut Launch::of(job).start()?).await
}

/// Waits until a started compiler has ended, or has announced its exit status.
pub(crate) async fn finish(process: &mut Confined) -> Result<Compiled> {
    let (mut messages, mut printed) = (Captured::default(), Captured::default());
    let (mut last, is_last) = (LastMessage::default(), Notify::new());
    let (out, err) = (&mut process.stdout, &mut process.stderr);
    let each = |bytes: &[u8]| {
        if last.read(bytes) {
            is_last.notify_one();
        }
    };
    let output = async {
        tokio::join!(messages.read(err, MESSAGES_LIMIT, false, each), printed.read(out, 0, false, |_| {}));
    };
    tokio::select! {
        () = output => {}
        () = is_last.notified() => {}
    }
    let status = match last.status() {
        Some(status) => status,
        None => process.wait().await?,
    };
    Ok(Compiled { status, messages, sandbox: process.report() })
}

fn policy(job: &Job<'_>) -> Policy {
    let mut read: Vec<&Path> = vec![job.source, &job.crates.folder];
    read.extend(job.libraries.iter().filter_map(|library| library.file.parent()));
    let policy = sandbox_policies::compiler(job.toolchain, &read, job.output).limits(|set| {
        set.cpu_seconds = Some(job.cpu_seconds);
        set.file_size = Some(job.largest_file);
        set.niceness = if job.background { BACKGROUND } else { 0 };
    });
    match job.linker {
        Linker::Rust => policy,
        Linker::Program(base) => policy.grant(base.linker(), Access::ReadExecute),
        Linker::Base(linker) => policy.grant(linker, Access::ReadExecute),
    }
}

fn arguments(job: &Job<'_>) -> Vec<OsString> {
    let library = |(name, file): (&String, &String)| {
        format!("--extern={name}={}", job.crates.folder.join(file).display())
    };
    let bindings = |library: &Library| format!("--extern={}={}", library.module, library.file.display());
    let mut arguments: Vec<OsString> = FLAGS.map(OsString::from).into();
    arguments.extend(job.optimize.then(|| OPTIMIZE.into()));
    arguments.push(format!("--target={TARGET}").into());
    arguments.extend(linking(job).into_iter().map(OsString::from));
    arguments.push(format!("-Ldependency={}", job.crates.folder.display()).into());
    arguments.extend(job.crates.files.iter().map(|named| library(named).into()));
    arguments.extend(job.libraries.iter().map(|library| bindings(library).into()));
    arguments.extend(job.arguments.iter().map(OsString::from));
    // Messages and panics name sources without their folder.
    arguments.push(format!("--remap-path-prefix={}/=", job.source.display()).into());
    arguments.push(job.source.join(job.main).into());
    arguments
}

/// rustc's options for linking.
fn linking(job: &Job<'_>) -> Vec<String> {
    let own = &job.toolchain.linker;
    let (linker, options) = match job.linker {
        Linker::Rust => return vec![format!("-Clinker={}", own.display())],
        Linker::Program(base) => (base.linker(), base.options(job.toolchain)),
        Linker::Base(linker) => (linker.to_owned(), Vec::new()),
    };
    // Its command line is that of rust-lld.
    let mut arguments = vec![format!("-Clinker={}", linker.display()), "-Clinker-flavor=ld.lld".to_owned()];
    arguments.push(format!("-Clink-arg=--base-linker={}", own.display()));
    arguments.extend(options.iter().map(|option| format!("-Clink-arg={option}")));
    arguments
}
