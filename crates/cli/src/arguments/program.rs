//! The command line of `program`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::values::seconds;
use super::{AllowArguments, ConfigArguments, ServersArguments};

/// Subcommands of `program`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProgramCommand {
    /// List the saved programs.
    List(ListProgramsArguments),
    /// Print a program's description, arguments and text.
    Show(ShowProgramArguments),
    /// Compile programs against the current tools of the servers, and say which still fit. Nothing runs.
    Check(CheckProgramsArguments),
    /// Save a program, or a snippet as a program, and approve it. Shows the text and the tools that it can call.
    Save(SaveProgramArguments),
    /// Approve a program that was written or changed outside of `program save`: its text, and the tools that it can call.
    Approve(ApproveProgramArguments),
    /// Rename a program, with its recorded runs.
    Rename(RenameProgramArguments),
    /// Delete a program, with its recorded runs.
    Delete(DeleteProgramArguments),
    /// Print a program as one JSON object that `program save` reads elsewhere, or write it as a signed skill.
    Export(ExportProgramArguments),
    /// Save and approve the program of a skill that `program export --skill` has written. Verifies its signature, shows
    /// the text and the tools that it can call, and runs its recorded tests before anything is saved.
    Import(ImportProgramArguments),
    /// Run a program, and keep its calls and their answers for `program test`, without secrets. Without arguments for
    /// the program, its examples are recorded.
    #[command(
        disable_help_subcommand = true,
        subcommand_value_name = "NAME [ARGUMENTS]",
        subcommand_required = true
    )]
    Record(RunProgramArguments),
    /// Run programs again with their recorded answers, and compare the results. Needs no server.
    Test(TestProgramsArguments),
    /// Run a program: `toolsmith program run NAME --ARGUMENT VALUE`. `toolsmith program run NAME --help` lists its
    /// arguments.
    #[command(
        disable_help_subcommand = true,
        subcommand_value_name = "NAME [ARGUMENTS]",
        subcommand_required = true
    )]
    Run(RunProgramArguments),
}

/// Arguments of `program list`.
#[derive(Debug, Args)]
pub(crate) struct ListProgramsArguments {
    /// Only programs with this tag.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Print the programs as one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `program show`.
#[derive(Debug, Args)]
pub(crate) struct ShowProgramArguments {
    /// The program's name.
    #[arg(value_name = "PROGRAM")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// Print one JSON object with the JSON Schemas of the arguments and the result, and the tools that the program can
    /// call. Compiles the program if it is not in the cache.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `program check`.
#[derive(Debug, Args)]
pub(crate) struct CheckProgramsArguments {
    /// The programs' names (default: all programs).
    #[arg(value_name = "PROGRAM")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// Print the results as one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `program save`.
#[derive(Debug, Args)]
pub(crate) struct SaveProgramArguments {
    /// The program's name: lowercase letters, digits and underscores.
    #[arg(value_name = "PROGRAM")]
    pub(crate) name: String,
    /// The file with the program, with a snippet of statements, which becomes the body of `run`, or with what `program
    /// export` has printed; `-` for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// Save it in this project, in .toolsmith/programs, instead of among your own programs.
    #[arg(long)]
    pub(crate) project: bool,
    /// Save and approve it without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
}

/// Arguments of `program approve`.
#[derive(Debug, Args)]
pub(crate) struct ApproveProgramArguments {
    /// The program's name.
    #[arg(value_name = "PROGRAM")]
    pub(crate) name: String,
    /// Approve it without asking.
    #[arg(long, short, conflicts_with = "remove")]
    pub(crate) yes: bool,
    /// Take the approval back.
    #[arg(long)]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
}

/// Arguments of `program rename`.
#[derive(Debug, Args)]
pub(crate) struct RenameProgramArguments {
    /// The program's name.
    #[arg(value_name = "PROGRAM")]
    pub(crate) name: String,
    /// Its new name.
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
}

/// Arguments of `program delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteProgramArguments {
    /// The program's name.
    #[arg(value_name = "PROGRAM")]
    pub(crate) name: String,
    /// Delete it without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `program export`.
#[derive(Debug, Args)]
pub(crate) struct ExportProgramArguments {
    /// The program's name.
    #[arg(value_name = "PROGRAM")]
    pub(crate) name: String,
    /// Write an Agent Skill into a new folder inside this one: the program, the tools that it can call, its JSON Schemas
    /// and recorded runs, signed with your key. Compiles the program if it is not in the cache.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) skill: Option<PathBuf>,
    /// Leave the recorded runs out, which contain answers of the tools.
    #[arg(long, requires = "skill")]
    pub(crate) without_tests: bool,
    /// Sign with the Ed25519 key in this file (PKCS#8, PEM), instead of the one that Toolsmith creates for you.
    #[arg(long, value_name = "FILE", requires = "skill")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
}

/// Arguments of `program import`.
#[derive(Debug, Args)]
pub(crate) struct ImportProgramArguments {
    /// The folder of the skill.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Save it in this project, in .toolsmith/programs, instead of among your own programs.
    #[arg(long)]
    pub(crate) project: bool,
    /// Save and approve it without asking, if its key is trusted.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Trust the key that signed the skill if it is this one, without asking.
    #[arg(long, value_name = "KEY")]
    pub(crate) trust_key: Option<String>,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
}

/// Arguments of `program test`.
#[derive(Debug, Args)]
pub(crate) struct TestProgramsArguments {
    /// The programs' names (default: all programs with recorded runs or examples).
    #[arg(value_name = "PROGRAM")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print the results as one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `program run` and `record`.
#[derive(Debug, Args)]
pub(crate) struct RunProgramArguments {
    #[command(flatten)]
    pub(crate) options: RunProgramOptions,
    #[command(subcommand)]
    pub(crate) program: NamedProgram,
}

/// A program with its own command line.
#[derive(Debug, Subcommand)]
pub(crate) enum NamedProgram {
    /// The name, and the words after it.
    #[command(external_subcommand)]
    Words(Vec<String>),
}

/// Options of `program run`, before or after the program's name.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunProgramOptions {
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// Print the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// All arguments as one JSON object; options for single arguments override its members.
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Time limit for the whole run, compiling included, in seconds (at most 86400). Overrides `codeMode.sandbox.wallClock`.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
}

impl RunProgramOptions {
    /// These options, and those of `later` where they are given.
    pub(crate) fn and(self, later: Self) -> Self {
        let ConfigArguments { config, strict } = later.place.config;
        let file: Option<PathBuf> = config.or(self.place.config.config);
        let config = ConfigArguments { config: file, strict: strict || self.place.config.strict };
        let place = ServersArguments { config, demo: self.place.demo || later.place.demo };
        let allow = [self.permission.allow, later.permission.allow].concat();
        RunProgramOptions {
            place,
            json: self.json || later.json,
            args: later.args.or(self.args),
            timeout: later.timeout.or(self.timeout),
            permission: AllowArguments { allow },
        }
    }
}
