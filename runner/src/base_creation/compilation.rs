//! Compiles the programs of a base: its linker, the base itself, its test.

use snippet::error_texts;

use crate::base_layer::Crates;
use crate::cache::Cache;
use crate::compiler::{self, Job, Linker};
use crate::disk_full;
use crate::error::{Error, ErrorKind, Result};
use crate::holder::CompilerTime;
use crate::toolchain::Toolchain;

/// The file of a linked program.
const PROGRAM: &str = "program";

/// Processor time limit for each of these compilations, in seconds: that of the layer's crates, because an emulated
/// machine needs more than 30 s to compile the linker.
const CPU_SECONDS: u64 = 600;

/// The parts that compile a base.
#[derive(Clone, Copy)]
pub(crate) struct Creation<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) confinement: sandbox::Confinement,
}

impl Creation<'_> {
    /// Compiles a program, or an object file, from a named file, and returns it.
    pub(super) async fn compile(
        self,
        crates: &Crates,
        (name, source): (&str, &str),
        linker: Linker<'_>,
        arguments: &[&str],
    ) -> Result<Vec<u8>> {
        let folder = self.cache.temporary()?;
        let output = self.cache.temporary()?;
        fs_err::write(folder.path().join(name), source).map_err(Error::cache(folder.path()))?;
        let fixed = ["--crate-type=bin"];
        let job = Job {
            toolchain: self.toolchain,
            confinement: self.confinement,
            crates,
            libraries: &[],
            source: folder.path(),
            output: output.path(),
            arguments: &[&fixed, arguments].concat(),
            file: PROGRAM,
            main: name,
            linker,
            background: false,
            optimize: false,
            cpu_seconds: CPU_SECONDS,
            largest_file: compiler::LARGEST_PROGRAM,
        };
        // Not admitted: a layer is built before anything else can be compiled.
        let compiled = compiler::run(&job, &CompilerTime::default()).await?;
        if compiled.status.success() {
            return match linker {
                Linker::Base => Ok(compiled.object.bytes),
                _ => fs_err::read(output.path().join(PROGRAM)).map_err(Error::cache(output.path())),
            };
        }
        let messages = compiled.messages.text();
        if disk_full::is_full(&messages) {
            return Err(disk_full::error(self.cache, &messages));
        }
        let first = error_texts(&messages).next().unwrap_or_default();
        Err(unusable(format!("{name} does not compile: {}: {first}", compiled.status)))
    }
}

/// The error for a base that can't be used.
pub(super) fn unusable(reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Layer, reason.to_string())
}
