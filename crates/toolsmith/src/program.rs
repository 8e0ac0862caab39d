//! Saved programs: files with a description, typed arguments and `async fn run`.

use std::path::Path;

use gateway::saved_programs;
use report::{Kind, Report};
use runner::limits::SNIPPET_LIMIT;
use serde::Serialize;
use serde_json::value::to_raw_value;
use snippet::ProgramFile;
use system::file;

use crate::{Error, Execute, Toolsmith};

/// A saved program, as those of `toolsmith program`: a file with a description, `struct Args` and
/// `async fn run(args: Args)`.
///
/// ```
/// let program = toolsmith::Program::parse(
///     "//! Doubles a number.\n\
///      struct Args { number: i64 }\n\
///      async fn run(args: Args) -> Result<i64> { Ok(2 * args.number) }",
/// )?;
/// assert_eq!(program.title(), "Doubles a number.");
/// assert_eq!(program.arguments().collect::<Vec<_>>(), ["number"]);
/// # Ok::<(), toolsmith::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Program(ProgramFile);

impl Program {
    /// Reads a program from its text.
    ///
    /// # Errors
    /// The first error in its form, with its line. The compiler finds those in its code.
    pub fn parse(text: impl Into<String>) -> Result<Self, Error> {
        Program::of_file(Path::new("program.rs"), text.into())
    }

    /// Reads a program from a file of at most 1 MiB.
    ///
    /// # Errors
    /// If the file can't be read, and as [`Program::parse`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let unread = |why: String| {
            Report::new(Kind::CommandLine, format!("the program {} can't be read: {why}", path.display()))
        };
        let bytes = file::read(path, SNIPPET_LIMIT as u64)
            .map_err(|error| unread(error.to_string()))?
            .ok_or_else(|| unread("there is no such file".to_owned()))?;
        let text = String::from_utf8(bytes).map_err(|_| unread("it is not UTF-8".to_owned()))?;
        Program::of_file(path, text)
    }

    fn of_file(path: &Path, text: String) -> Result<Self, Error> {
        let program = ProgramFile::parse(text).map_err(|error| saved_programs::invalid(path, error))?;
        Ok(Program(program))
    }

    /// The first line of its description.
    #[must_use]
    pub fn title(&self) -> &str {
        self.0.about().title()
    }

    /// The names of its arguments.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.arguments().iter().map(|argument| argument.name.as_str())
    }
}

impl Toolsmith {
    /// Executes a saved program with these arguments: a struct or a map with its members.
    ///
    /// # Errors
    /// If the arguments are no JSON object. Whether they fit is known when it runs.
    pub fn run(&self, program: &Program, arguments: &impl Serialize) -> Result<Execute<'_>, Error> {
        let wrong = |why: String| {
            Report::new(Kind::CommandLine, format!("the arguments of the program can't be used: {why}"))
        };
        let arguments = to_raw_value(arguments).map_err(|error| wrong(error.to_string()))?;
        let arguments =
            strict_json::canonical_object(&arguments).map_err(|error| wrong(error.to_string()))?;
        let mut execute = self.execute_code(program.0.code().clone());
        execute.args = ProgramFile::request_arguments(&arguments);
        Ok(execute)
    }
}
