//! The floor: `rustc` on hello world, for the target of snippets, linked with rust-lld.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Checked;

const TARGET: &str = "x86_64-unknown-linux-musl";
const SOURCE: &str = "fn main() { println!(\"hello world\"); }\n";

/// The compiler, by its own path, because rustup's proxy takes time too.
pub(crate) struct Hello {
    rustc: PathBuf,
    linker: PathBuf,
    folder: PathBuf,
}

impl Hello {
    /// Finds the compiler.
    pub(crate) fn find(folder: &Path) -> Checked<Self> {
        let sysroot = PathBuf::from(printed(Command::new("rustc").args(["--print", "sysroot"]))?);
        let rustc = sysroot.join("bin/rustc");
        let host = printed(Command::new(&rustc).args(["--print", "host-tuple"]))?;
        let linker = sysroot.join("lib/rustlib").join(host).join("bin/rust-lld");
        std::fs::write(folder.join("hello.rs"), SOURCE).map_err(|error| error.to_string())?;
        Ok(Self { rustc, linker, folder: folder.to_owned() })
    }

    /// Compiles hello world.
    pub(crate) fn compile(&self) -> Checked<Duration> {
        let mut command = Command::new(&self.rustc);
        command
            .current_dir(&self.folder)
            .arg(format!("--target={TARGET}"))
            .arg(format!("-Clinker={}", self.linker.display()))
            .args(["hello.rs", "-o", "hello"]);
        let started = Instant::now();
        printed(&mut command)?;
        Ok(started.elapsed())
    }
}

/// Returns the output of a command, without the end of the line.
pub(crate) fn printed(command: &mut Command) -> Checked<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}
