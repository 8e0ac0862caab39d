//! The linker that rustc starts to link the base: it changes rustc's command line, and becomes rust-lld.
//!
//! It is compiled when a layer is built, and runs confined. Its own option is `--base-linker=`, with the path of rust-lld;
//! all others are rust-lld's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The C library's entry point, which calls `main`: it belongs to programs.
const ENTRY: &str = "crt1.o";
/// rustc's object with references to everything that a program exports.
const EXPORTED: &str = "symbols.o";
/// The options that are left out, because nothing in the base is reachable without a program, and programs name its
/// symbols.
const UNWANTED: [&str; 2] = ["--gc-sections", "--strip-all"];

/// The own option.
const LINKER: &[u8] = b"--base-linker=";

fn main() -> ExitCode {
    let mut linker = OsString::new();
    let mut arguments = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.as_bytes().strip_prefix(LINKER) {
            Some(path) => linker = OsStr::from_bytes(path).to_owned(),
            None => arguments.push(argument),
        }
    }
    let error = Command::new(&linker).args(base(arguments)).exec();
    eprintln!("{} can't be executed: {error}", Path::new(&linker).display());
    ExitCode::FAILURE
}

/// The arguments that link the base: all libraries as a whole, nothing of the program that names them, all symbols.
fn base(whole: Vec<OsString>) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for argument in whole {
        let is_of_program = is_object(&argument) && !is_allocator(&argument)
            || [ENTRY, EXPORTED].iter().any(|name| is_file(&argument, name));
        if is_of_program || UNWANTED.iter().any(|unwanted| argument == *unwanted) {
            continue;
        }
        if has_suffix(&argument, ".rlib") {
            arguments.extend(["--whole-archive".into(), argument, "--no-whole-archive".into()]);
        } else {
            arguments.push(argument);
        }
    }
    arguments
}

/// Whether it is an object that rustc has just compiled.
fn is_object(argument: &OsStr) -> bool {
    has_suffix(argument, ".rcgu.o")
}

/// Whether it is rustc's object that connects allocation to the default allocator. It is the same in all programs, and
/// the only one that is not named after a part of the crate (`-cgu`).
fn is_allocator(argument: &OsStr) -> bool {
    is_object(argument) && !argument.as_bytes().windows(5).any(|part| part == b"-cgu.")
}

fn is_file(argument: &OsStr, name: &str) -> bool {
    Path::new(argument).file_name() == Some(OsStr::new(name))
}

fn has_suffix(argument: &OsStr, suffix: &str) -> bool {
    argument.as_bytes().ends_with(suffix.as_bytes())
}
