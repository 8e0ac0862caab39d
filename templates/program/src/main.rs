//! The program for a snippet. This file is always the same; the snippet is in `snippet.rs`.
#[rustfmt::skip]
#[allow(clippy::print_stdout, clippy::unnecessary_mut_passed)]
mod snippet;

fn main() -> std::process::ExitCode {
    bridge::run(snippet::ORIGIN, snippet::__entry)
}
