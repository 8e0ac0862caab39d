//! Compiles a spliced text into a program: with a spare compiler if one fits, otherwise with a new one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

use fs_err::os::unix::fs::OpenOptionsExt as _;
use snippet::splice;
use tokio::task::spawn_blocking;

use crate::base::Base;
use crate::cache::Temporary;
use crate::compiler::{self, Job, Launch, Linker};
use crate::compiler_slots::{AdmissionWait, Admitted, Priority};
use crate::confined::Captured;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::holder::CompilerTime;
use crate::last_message;
use crate::library::Library;
use crate::outcome::SandboxReport;
use crate::rustc_process::{self, Compiled};
use crate::sandbox_policies;
use crate::spare_compiler::SpareCompiler;

/// The file name of the linked program.
pub(crate) const PROGRAM: &str = "program";

/// The lints that snippets need: dropped values that should be used, such as a call that is never made, changes that
/// nothing reads, such as those of a copy, and functions that nothing calls. [`warned`](snippet::diagnostics::warned)
/// reports some of them.
const UNUSED: [&str; 4] = [
    "--force-warn=unused_must_use",
    "--force-warn=unused_assignments",
    "--force-warn=unused_variables",
    "--force-warn=dead_code",
];

/// If two glob imports provide the same name, the compiler may use the first and only warn. As an error it is handled
/// like other ambiguities; otherwise, names in scope by default would win over the snippet's own imports.
const AMBIGUOUS: &str = "--deny=ambiguous_glob_imports";

/// The root file of a program, and the snippet's file beside it.
const MAIN: &str = "main.rs";
const SNIPPET: &str = "snippet.rs";

/// The goal of compiling a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Goal {
    /// With optimization.
    pub(crate) optimize: bool,
    /// With lower priority than all other work.
    pub(crate) background: bool,
    /// Without a spare compiler, because no similar text is expected.
    pub(crate) is_rare: bool,
}

/// The result of a compilation, and the folder of the program.
pub(crate) struct Attempt {
    pub(crate) status: ExitStatus,
    pub(crate) messages: Captured,
    object: Captured,
    pub(crate) sandbox: SandboxReport,
    pub(crate) output: Temporary,
}

impl Attempt {
    fn new(compiled: Compiled, output: Temporary) -> Self {
        let Compiled { status, messages, object, sandbox } = compiled;
        Attempt { status, messages, object, sandbox, output }
    }
}

/// Everything that a compilation depends on besides its text.
struct Inputs<'a> {
    engine: &'a Engine,
    libraries: &'a [Library],
    goal: Goal,
    linker: Linker<'a>,
}

impl<'a> Inputs<'a> {
    /// Returns the options of the first compilation of a text.
    fn new(engine: &'a Engine, libraries: &'a [Library], goal: Goal) -> Self {
        let linker = if engine.layer.base.is_ok() { Linker::Base } else { Linker::Rust };
        Inputs { engine, libraries, goal, linker }
    }

    /// Returns the command that starts the compiler with these folders.
    fn launch(&self, source: &Path, output: &Path) -> Launch {
        Launch::of(&Job {
            toolchain: &self.engine.toolchain,
            confinement: self.engine.confinement,
            crates: &self.engine.layer.crates,
            libraries: self.libraries,
            source,
            output,
            arguments: &[
                "--crate-type=bin",
                "--crate-name=program",
                last_message::OPTION,
                UNUSED[0],
                UNUSED[1],
                UNUSED[2],
                UNUSED[3],
                AMBIGUOUS,
            ],
            file: PROGRAM,
            main: MAIN,
            background: self.goal.background,
            optimize: self.goal.optimize,
            linker: self.linker,
            cpu_seconds: compiler::SNIPPET_SECONDS,
            largest_file: compiler::LARGEST_PROGRAM,
        })
    }

    /// The same for every pair of folders, so that spare compilers can be compared.
    fn key(&self) -> Launch {
        self.launch(Path::new("/source"), Path::new("/output"))
    }

    /// Two new folders, the first with the main file.
    fn folders(&self) -> Result<(Temporary, Temporary)> {
        let (source, output) = (self.engine.cache.temporary()?, self.engine.cache.temporary()?);
        write(&source, MAIN, splice::MAIN)?;
        Ok((source, output))
    }
}

fn write(source: &Temporary, name: &str, text: &str) -> Result<()> {
    fs_err::write(source.path().join(name), text).map_err(Error::cache(source.path()))
}

/// Compiles a spliced text into a new folder.
pub(crate) async fn compile(
    engine: &Engine,
    libraries: &[Library],
    text: &str,
    goal: Goal,
    admission: AdmissionWait<'_>,
) -> Result<Attempt> {
    let _admitted = engine.admit_compiler(goal.background, admission).await?;
    let time = &admission.holder.compiler_time;
    let mut inputs = Inputs::new(engine, libraries, goal);
    if names_library(text) {
        inputs.linker = Linker::Rust;
    }
    let mut attempt = match with_spare(&inputs, text, time).await {
        Some(attempt) => attempt,
        None => compile_with(&inputs, text, time).await?,
    };
    let (Linker::Base, Ok(base)) = (inputs.linker, engine.layer.base.clone()) else { return Ok(attempt) };
    if !attempt.status.success() {
        return Ok(attempt);
    }
    if link(base, &inputs, &mut attempt).await? {
        return Ok(attempt);
    }
    // rust-lld also reports what is wrong, if something is.
    compile_with(&Inputs { linker: Linker::Rust, ..inputs }, text, time).await
}

/// Whether a text may name libraries of C (`#[link(name = …)]`, also in other attributes and macros). Only a whole
/// program is linked with them: an object file does not name them.
fn names_library(text: &str) -> bool {
    text.match_indices("link").any(|(at, word)| {
        let is_word = !text[..at]
            .ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':' | '.'));
        is_word && text[at + word.len()..].trim_start().starts_with('(')
    })
}

/// Links the object file against the base, into a new folder: rustc may still write to its own. Returns whether that
/// worked.
async fn link(base: Arc<Base>, inputs: &Inputs<'_>, attempt: &mut Attempt) -> Result<bool> {
    let object = std::mem::take(&mut attempt.object.bytes);
    let libraries: Vec<PathBuf> = inputs.libraries.iter().map(|library| library.file.clone()).collect();
    let entry = inputs.engine.toolchain.entry_point();
    let folder = inputs.engine.cache.temporary()?;
    let program = folder.path().join(PROGRAM);
    let linked = spawn_blocking(move || {
        let linked = base.link(&object, &libraries, &entry).ok()?;
        // Executable, like a program that rust-lld has linked.
        let file = fs_err::OpenOptions::new().create_new(true).write(true).mode(0o755).open(program);
        file.ok()?.write_all(&linked).ok()
    });
    let is_linked = linked.await.ok().flatten().is_some();
    if is_linked {
        attempt.output = folder;
    }
    Ok(is_linked)
}

/// Compiles with a new compiler.
async fn compile_with(inputs: &Inputs<'_>, text: &str, time: &CompilerTime) -> Result<Attempt> {
    let (source, output) = inputs.folders()?;
    write(&source, SNIPPET, text)?;
    let mut process = inputs.launch(source.path(), output.path()).start(output.path())?.counted_in(time);
    let compiled = process.finish().await?;
    process.end_behind(source);
    Ok(Attempt::new(compiled, output))
}

/// Compiles with a spare compiler; `None` if none fits, or if it may have failed for a reason of its own.
async fn with_spare(inputs: &Inputs<'_>, text: &str, time: &CompilerTime) -> Option<Attempt> {
    if inputs.goal != Goal::default() {
        return None;
    }
    let spares = &inputs.engine.spare_compilers;
    spares.note_use(inputs.libraries);
    let spare = spares.take(&inputs.key())?;
    let compiled = spare.compile(text, time).await;
    spares.note_result(&compiled);
    let (compiled, output) = compiled.ok()?;
    Some(Attempt::new(compiled, output))
}

impl Engine {
    /// Admits a compiler. If there is not enough memory, spare compilers end.
    pub(crate) async fn admit_compiler(
        &self,
        background: bool,
        admission: AdmissionWait<'_>,
    ) -> Result<Admitted<'_>> {
        let priority = if background { Priority::Background } else { Priority::Foreground };
        self.admission
            .admit(priority, sandbox_policies::compiler_memory(), admission, || self.spare_compilers.end())
            .await
    }

    /// Starts a spare compiler, and ends those that are too many, unusable or not expected to be used. `limit` is the
    /// maximum number of spare compilers. Blocks for a few milliseconds. Returns whether another one may be missing.
    ///
    /// # Errors
    /// If it can't be started; the next snippet then starts its own compiler, and its outcome has the error.
    pub fn start_spare_compiler(&self, limit: usize) -> Result<bool> {
        let _turn = self.spare_compilers.begin();
        let Some(libraries) = self.spare_compilers.prune(limit) else { return Ok(false) };
        let inputs = Inputs::new(self, &libraries, Goal::default());
        let (source, output) = inputs.folders()?;
        rustc_process::create_pipe(&source.path().join(SNIPPET))?;
        let key = inputs.key();
        let process = inputs.launch(source.path(), output.path()).start(output.path())?;
        let spare = SpareCompiler::new(key, process, source, SNIPPET, output, libraries);
        self.spare_compilers.add(spare);
        Ok(true)
    }
}
