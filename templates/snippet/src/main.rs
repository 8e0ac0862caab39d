//! The program for a snippet. This file is always the same; the snippet is in `snippet.rs`.

extern crate bridge;

/// The snippet's module. rustc reads the file of a module that a macro declares after it has loaded the crates that are
/// named outside of macros. So a compiler that is started before there is a snippet loads them while it waits.
macro_rules! __snippet {
    () => {
        #[allow(clippy::print_stdout, clippy::unnecessary_mut_passed)]
        mod snippet;
    };
}
__snippet!();

fn main() -> std::process::ExitCode {
    bridge::run(snippet::ORIGIN, snippet::__entry)
}
