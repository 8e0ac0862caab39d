//! The program that a snippet becomes. This file is the same for all; the text stands in `snippet.rs`.
#[rustfmt::skip]
#[allow(clippy::print_stdout, clippy::unnecessary_mut_passed)]
mod snippet;

fn main() -> std::process::ExitCode {
    bridge::run(snippet::ORIGIN, |args| Box::pin(snippet::__entry(args)))
}
