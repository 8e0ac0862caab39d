//! `toolsmith bundle`: builds what snippets need, and has the crate `bundle` write it.

use std::path::{Path, PathBuf};

use ::bundle::{ARCHIVE, Contents, Written};
use execution::setup;
use gateway::cache;
use gateway::exit_code;
use gateway::failure::Failure;
use report::{Kind, Report};
use runner::bundle::Bundle;
use runner::{Catalog, Engine};
use terminal::Terminal;

use super::cache::build_bindings;
use crate::arguments::BundleArguments;

/// Names of archives that are not written, by their ends.
const OTHER_ARCHIVES: [&str; 7] = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".zip", ".zst"];

/// Runs the command and returns the exit code.
pub(crate) async fn bundle(arguments: &BundleArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = write(arguments, &terminal).await;
    if let Ok(written) = &done {
        show(written, arguments, &terminal)?;
    }
    terminal.flush().await.map_err(Failure::output)?;
    done.map(|_| exit_code::OK)
}

async fn write(arguments: &BundleArguments, terminal: &Terminal) -> Result<Written, Failure> {
    let out = arguments.out.to_string_lossy();
    if !out.ends_with(ARCHIVE) && OTHER_ARCHIVES.iter().any(|end| out.ends_with(end)) {
        return Err(Failure::command_line(format!("a bundle is a folder or a {ARCHIVE} file, not {out}"))
            .hint("let the name in --out end with .tar.zst"));
    }
    if let Some(folder) = Bundle::folder_of_this_program() {
        let message =
            format!("this program is part of the bundle in {}, which has no cargo", folder.display());
        return Err(Failure::new(Kind::Bundle, message).hint(
            "make bundles with a `toolsmith` that uses your own Rust toolchain; to pass this one on, copy its folder",
        ));
    }
    ::bundle::check(&arguments.out, &arguments.sbom)?;
    let program = program(arguments.binary.as_deref())?;
    let (engine, catalog) = build(arguments, terminal).await?;
    if let Some(reason) = engine.without_base() {
        terminal.eprint(&format!("warning: with this bundle, compiling a snippet takes longer: {reason}"));
    }
    let entries = engine.warmed(&catalog)?;
    terminal.note("collecting the licences of the crates for snippets");
    let crates = engine.layer_crates().await?;
    let contents = Contents {
        version: env!("CARGO_PKG_VERSION"),
        program: &program,
        toolchain: engine.toolchain(),
        entries: &entries,
        crates: &crates,
        lists: &arguments.sbom,
        licences: arguments.licences.as_deref(),
    };
    Ok(::bundle::write(contents, &arguments.out, arguments.level, terminal).await?)
}

/// The program to include.
fn program(given: Option<&Path>) -> Result<PathBuf, Failure> {
    match given {
        Some(path) if path.is_file() => Ok(path.to_owned()),
        Some(path) => Err(Failure::command_line(format!("there is no file {}", path.display()))
            .hint("name the executable of Toolsmith in --binary")),
        None => std::env::current_exe().map_err(Failure::system),
    }
}

/// Compiles the crates for snippets, and the bindings if they are wanted.
async fn build(arguments: &BundleArguments, terminal: &Terminal) -> Result<(Engine, Catalog), Failure> {
    if arguments.bindings {
        return build_bindings(&setup::configure(&arguments.place.options())?, terminal).await;
    }
    let config = setup::configure(&arguments.place.config.options())?;
    let engine = Engine::open(&config.code_mode.engine(cache::open(&config.cache)?), terminal).await?;
    Ok((engine, Catalog::default()))
}

/// Prints what was written, and what limits where it runs.
fn show(written: &Written, arguments: &BundleArguments, terminal: &Terminal) -> Result<(), Failure> {
    if arguments.output.json {
        terminal.print_json(&serde_json::to_string(written).map_err(Failure::system)?);
    } else {
        lines(written).iter().for_each(|line| terminal.print(line));
    }
    if written.dynamic {
        let report = Report::new(Kind::Bundle, "the program in the bundle is dynamically linked: it runs only on systems with a C library like this one's")
            .hint(format!("build it for {} and name it in --binary; see docs/bundle.md", runner::TARGET));
        terminal.eprint(&format!("warning: {report}"));
        report.hints.iter().for_each(|hint| terminal.eprint(&format!("help: {hint}")));
    }
    if arguments.sbom.is_empty() {
        terminal.note("the bundle has no list of the program's own components; --sbom adds one");
    }
    Ok(())
}

/// The report as text.
fn lines(written: &Written) -> Vec<String> {
    let Written { path, files, bytes, archive_bytes, first_result_ms, libraries, .. } = written;
    let unpacked = format!("{files} files, {}", megabytes(*bytes));
    let size = archive_bytes
        .as_ref()
        .map_or_else(|| unpacked.clone(), |archive| format!("{} ({unpacked} unpacked)", megabytes(*archive)));
    vec![
        format!("bundle        {}", path.display()),
        format!("size          {size}"),
        format!("first result  {first_result_ms} ms"),
        format!("needs         Linux with {}", libraries.join(", ")),
    ]
}

/// A size, as sizes of downloads are given.
fn megabytes(bytes: u64) -> String {
    // Rounded up, so that no limit seems to be kept that is not.
    format!("{} MB", bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_place_size_time_and_needs() {
        let written = Written {
            path: "toolsmith.tar.zst".into(),
            files: 120,
            bytes: 612_345_678,
            archive_bytes: Some(120_000_001),
            first_result_ms: 431,
            dynamic: false,
            libraries: vec!["libc.so.6".to_owned(), "libz.so.1".to_owned()],
        };
        insta::assert_snapshot!(lines(&written).join("\n"), @r"
        bundle        toolsmith.tar.zst
        size          121 MB (120 files, 613 MB unpacked)
        first result  431 ms
        needs         Linux with libc.so.6, libz.so.1
        ");
    }
}
