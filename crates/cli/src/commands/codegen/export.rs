//! `--out DIR`: writes a crate with the bindings, for `cargo build`, editors and `toolsmith run --crate`.

use std::path::Path;

use codegen::Bindings;
use config::LOCK;
use gateway::cache;
use gateway::failure::Failure;
use mcp::Lock;
use report::{Kind, Report};
use terminal::Terminal;

use crate::arguments::CodegenArguments;

/// Writes the crate.
pub(super) async fn export(
    folder: &Path,
    bindings: &[Bindings],
    lock: &Lock,
    arguments: &CodegenArguments,
    terminal: &Terminal,
) -> Result<(), Failure> {
    check(folder)?;
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::new(Kind::Export, format!("{} can't be created: {error}", folder.display()))
    })?;
    let modules: Vec<(String, String)> =
        bindings.iter().map(|server| (server.module.clone(), server.source())).collect();
    runner::write_crate(folder, &modules)?;
    lock.write(&folder.join(LOCK))?;
    if !arguments.no_vendor {
        let cache = cache::open(&config::CacheSettings::default())?;
        let options = config::CodeMode::default().engine(cache);
        if let Err(error) = runner::vendor(&options, folder, terminal).await {
            let why = Report::from(error).for_terminal();
            terminal.note(&format!(
                "{why}\nThe crate is written without the sources of its dependencies: `cargo build` will download them."
            ));
        }
    }
    let shown = folder.display();
    terminal.note(&format!(
        "wrote {shown}: edit {shown}/{}, check it with `cargo build`, run it with `toolsmith run --crate {shown}`",
        runner::SNIPPET
    ));
    Ok(())
}

/// Checks that an existing folder is empty or has a crate written by this command, so that no other files are
/// overwritten.
fn check(folder: &Path) -> Result<(), Failure> {
    let mut entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(Failure::new(
                Kind::Export,
                format!("{} can't be written to: {error}", folder.display()),
            ));
        }
    };
    if entries.next().is_some() && !runner::is_crate(folder) {
        let message = format!("{} is neither empty nor a crate written by `codegen --out`", folder.display());
        return Err(Failure::new(Kind::Export, message).hint("name another folder"));
    }
    Ok(())
}
