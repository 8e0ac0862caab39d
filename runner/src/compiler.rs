//! Runs rustc once in the sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sandbox::{Access, Confinement, Policy};

use crate::base_layer::Crates;
use crate::error::Result;
use crate::holder::CompilerTime;
use crate::library::Library;
use crate::rustc_process::{Compiled, RustcProcess};
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
    /// Arguments for the kind of crate.
    pub(crate) arguments: &'a [&'a str],
    /// The name of the file that is written, unless it is an object file.
    pub(crate) file: &'a str,
    /// The root file in the source folder.
    pub(crate) main: &'a str,
    /// The linker of the result.
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

/// The linker of the result of a compilation.
#[derive(Clone, Copy)]
pub(crate) enum Linker<'a> {
    /// rust-lld, which links the program as a whole.
    Rust,
    /// None: rustc writes an object file into a pipe, which is linked against the base (`base-link`).
    Base,
    /// The program at this path, which links the base itself.
    OfBase(&'a Path),
}

/// Processor time limit for compiling a snippet, in seconds: about ten times what the longest of 1 925 texts of three
/// public benchmarks takes (1.2 s, on a busy machine). Others wait that long for a compiler.
pub const SNIPPET_SECONDS: u64 = 10;
/// Maximum size of a snippet's program, in bytes (64 MiB): programs are kept, and read as a whole.
pub const LARGEST_PROGRAM: u64 = 64 << 20;
/// Maximum size of a bindings library, in bytes (256 MiB): one of 1 000 tools has 30 MiB.
pub const LARGEST_LIBRARY: u64 = 256 << 20;
/// `nice(2)` value of background work, ten more than that of programs and other compilers: the kernel gives it a tenth of
/// their time. With 19, another process that needs the same result would wait for minutes on a busy machine.
const BACKGROUND: u8 = 15;

/// Flags of every compilation.
const FLAGS: [&str; 14] = [
    "--edition=2024",
    "--error-format=json",
    "--diagnostic-width=100",
    "-Awarnings",
    // Denied by default; a snippet's own macro may end with `;`, and then has no value.
    "-Asemicolon_in_expressions_from_macros",
    // Denied by default; allowed because a macro takes the value at the end, with what precedes it.
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

/// Overrides the level in [`FLAGS`]; checks of overflow stay. LLVM must not compute functions such as `sin` of constants:
/// its results differ from those of the C library in the last digits, so the same text would have two results.
pub(crate) const OPTIMIZE: [&str; 2] = ["-Copt-level=2", "-Cllvm-args=-disable-fp-call-folding"];

/// The flags, as part of keys.
pub(crate) fn flags() -> String {
    FLAGS.join(" ")
}

/// The command that starts a compiler. The launches of two jobs are equal only if their compilers have the same command
/// line and the same policy.
#[derive(Debug, PartialEq)]
pub(crate) struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Whether its output is an object file, which is not kept in a file.
    writes_object: bool,
    policy: Policy,
    confinement: Confinement,
}

impl Launch {
    /// Returns the command that starts the compiler of `job`.
    pub(crate) fn of(job: &Job<'_>) -> Self {
        Launch {
            program: job.toolchain.rustc.clone(),
            arguments: arguments(job),
            writes_object: matches!(job.linker, Linker::Base),
            policy: policy(job),
            confinement: job.confinement,
        }
    }

    /// Starts the compiler, with the output folder of its job. Blocks for a few milliseconds.
    ///
    /// # Errors
    /// If the sandbox or the folder can't be used.
    pub(crate) fn start(self, output: &Path) -> Result<RustcProcess> {
        let command = sandbox::Command::new(self.program).args(self.arguments);
        RustcProcess::start(self.policy, self.confinement, command, self.writes_object.then_some(output))
    }
}

/// Runs the compiler to its end; it must be admitted first. Dropping the future kills it. Its processor time is added to
/// `time`.
pub(crate) async fn run(job: &Job<'_>, time: &CompilerTime) -> Result<Compiled> {
    Launch::of(job).start(job.output)?.counted_in(time).finish().await
}

fn policy(job: &Job<'_>) -> Policy {
    let mut read: Vec<&Path> = vec![job.source, &job.crates.folder];
    read.extend(job.libraries.iter().filter_map(|library| library.file.parent()));
    let policy = sandbox_policies::compiler(job.toolchain, &read, job.output).limits(|set| {
        set.cpu_seconds = Some(job.cpu_seconds);
        set.file_size = Some(job.largest_file);
        if job.background {
            set.niceness = BACKGROUND;
        }
    });
    match job.linker {
        Linker::Rust | Linker::Base => policy,
        Linker::OfBase(linker) => policy.grant(linker, Access::ReadExecute),
    }
}

fn arguments(job: &Job<'_>) -> Vec<OsString> {
    let library = |(name, file): (&String, &String)| {
        format!("--extern={name}={}", job.crates.folder.join(file).display())
    };
    let bindings = |library: &Library| format!("--extern={}={}", library.module, library.file.display());
    let mut arguments: Vec<OsString> = FLAGS.map(OsString::from).into();
    arguments.extend(OPTIMIZE.iter().filter(|_| job.optimize).map(OsString::from));
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
    let own = job.toolchain.linker.display();
    match job.linker {
        Linker::Rust => vec![format!("-Clinker={own}"), "-o".to_owned(), job.file.to_owned()],
        // Of several units, rustc would write several files.
        Linker::Base => ["--emit=obj", "-Ccodegen-units=1"].map(str::to_owned).into(),
        // Its command line is that of rust-lld.
        Linker::OfBase(linker) => vec![
            format!("-Clinker={}", linker.display()),
            "-Clinker-flavor=ld.lld".to_owned(),
            format!("-Clink-arg=--base-linker={own}"),
            "-o".to_owned(),
            job.file.to_owned(),
        ],
    }
}
