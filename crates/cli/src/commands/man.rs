//! `toolsmith man`: writes a man page for each command.

use clap::CommandFactory as _;
use gateway::exit_code;
use gateway::failure::Failure;
use report::{Kind, Report};

use crate::arguments::{Arguments, ManArguments};

/// Runs the command and returns the exit code.
pub(crate) fn man(arguments: &ManArguments) -> Result<u8, Failure> {
    let folder = &arguments.out;
    let failed = |error: std::io::Error| {
        let message = format!("the man pages can't be written to {}: {error}", folder.display());
        Failure::from(Report::new(Kind::Output, message).hint("check the folder, or name another one"))
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let command = Arguments::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    terminal::say_note(format_args!(
        "toolsmith: the man pages are in {0}; to read one: man {0}/toolsmith.1\n",
        folder.display()
    ));
    Ok(exit_code::OK)
}
