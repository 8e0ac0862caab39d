//! A saved program: a file with a description, typed arguments and `async fn run`, which is compiled like a snippet.
//!
//! Reading it needs no compiler. What its types mean is known only after the caller has compiled it.

pub(crate) mod about;
mod arguments;
pub(crate) mod compose;
pub(crate) mod declarations;
pub(crate) mod derives;
pub(crate) mod flaw;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::code::{Code, ProgramText};
use crate::purpose::Purpose;
use crate::snippet::Shape;
use crate::syntax_depth::{self, on_parser_stack};
use crate::syntax_error::SyntaxError;

pub use about::{About, Example};
pub use arguments::{Argument, ArgumentKind};
use declarations::Declarations;
pub use flaw::Flaw;

/// A saved program.
#[derive(Debug, Clone)]
pub struct ProgramFile {
    code: Code,
    about: About,
    arguments: Vec<Argument>,
    hash: String,
}

/// The reason why a text is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct InvalidProgram {
    /// The error.
    pub message: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl From<&SyntaxError> for InvalidProgram {
    fn from(error: &SyntaxError) -> Self {
        InvalidProgram { message: error.message.clone(), line: error.line, column: error.column }
    }
}

impl ProgramFile {
    /// Reads a program.
    ///
    /// # Errors
    /// The first error in its form; the compiler finds those in its code.
    pub fn parse(text: String) -> Result<Self, InvalidProgram> {
        let code = Code::parse_for(text, Purpose::Program);
        code.snippet().map_err(InvalidProgram::from)?;
        let read = on_parser_stack(|| parts(code.text()));
        let (about, arguments) = read
            .unwrap_or_else(|| Err(Flaw::new("it can't be parsed")))
            .map_err(|flaw| InvalidProgram { message: flaw.to_string(), line: 1, column: 1 })?;
        let hash = hash(code.text(), "");
        Ok(ProgramFile { code, about, arguments, hash })
    }

    /// Reads a program, or a snippet of statements, which becomes the body of its `run`. Returns whether it is one.
    ///
    /// # Errors
    /// The first error in the form of the program, or in the syntax of the snippet.
    pub fn parse_or_wrap(text: String, title: &str) -> Result<(Self, bool), InvalidProgram> {
        let why = match ProgramFile::parse(text.clone()) {
            Ok(program) => return Ok((program, false)),
            Err(why) => why,
        };
        match ProgramFile::wrapping(&text, title) {
            Some(wrapped) => ProgramFile::parse(wrapped).map(|program| (program, true)),
            // A file of items has the form of a program.
            None if declares_run(&text)
                || on_parser_stack(|| syn::parse_file(&text).is_ok()) == Some(true) =>
            {
                Err(why)
            }
            None => Err(Code::parse(text).snippet().map_or_else(InvalidProgram::from, |_| why)),
        }
    }

    /// The text of a program with this title and the statements of a snippet as its body. `None` if the snippet has
    /// another form or wrong syntax.
    #[must_use]
    pub fn wrapping(snippet: &str, title: &str) -> Option<String> {
        let code = Code::parse(snippet.to_owned());
        let snippet = code.snippet().ok()?;
        let Shape::Statements(_) = snippet.shape else { return None };
        let body = snippet.text.trim_end();
        // A snippet's last value may be the `Result` of a call.
        let unwrapped = if body.ends_with(".await") { "?" } else { "" };
        // Lines are not indented: they may be part of a text.
        Some(format!(
            "//! {title}\n\nasync fn run() -> Result<serde_json::Value> {{\n    let result = {{\n{}{unwrapped}\n    \
             }};\n    Ok(serde_json::to_value(result)?)\n}}\n",
            body.trim_start()
        ))
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.code.text()
    }

    /// The code to run it: with [`ProgramFile::request_arguments`] as arguments.
    #[must_use]
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns the content of its doc comment.
    #[must_use]
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Its arguments, as declared.
    #[must_use]
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// A hash of its text and of the programs that it calls: 32 hexadecimal digits of BLAKE3.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The program as other texts call it, under this name.
    ///
    /// # Errors
    /// Returns the reason if it can't be called from other texts.
    pub fn as_function(&self, name: &str) -> Result<ProgramText, Flaw> {
        ProgramText::new(name, &self.code, &self.about)
    }

    /// The same program, with the others that it calls.
    #[must_use]
    pub fn with(self, programs: &BTreeMap<String, ProgramText>) -> Self {
        let code = self.code.with(programs);
        let hash = hash(code.text(), code.composed());
        ProgramFile { code, hash, ..self }
    }

    /// The code that returns its JSON Schemas instead of running it.
    #[must_use]
    pub fn schemas_code(&self, result: bool) -> Code {
        self.code.for_purpose(Purpose::Schemas { result })
    }

    /// The arguments of a request that runs it with these, a JSON object.
    #[must_use]
    pub fn request_arguments(arguments: &RawValue) -> BTreeMap<String, String> {
        BTreeMap::from([(bridge::PROGRAM_ARGUMENTS.to_owned(), arguments.get().to_owned())])
    }
}

/// Whether a text looks like the file of a program.
fn declares_run(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().trim_start_matches("pub ").starts_with("async fn run("))
}

fn hash(text: &str, composed: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes()).update(composed.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Maximum length of a program's name, in bytes: clients limit the names of tools to it.
const NAME_LIMIT: usize = 64;

/// Whether a program can have this name: that of a function in Rust, and of a tool in MCP.
#[must_use]
pub fn is_program_name(name: &str) -> bool {
    // The parser refuses keywords.
    name.len() <= NAME_LIMIT
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && syn::parse_str::<syn::Ident>(name).is_ok()
}

/// The parts of a text that are read here.
fn parts(text: &str) -> Result<(About, Vec<Argument>), Flaw> {
    let tokens = syntax_depth::tokens(text).map_err(|error| Flaw::from(&error))?;
    let file = syn::parse2::<syn::File>(tokens)?;
    let program = Declarations::of(&file)?;
    Ok((About::of(&file.attrs)?, arguments::of(&program)))
}

#[cfg(test)]
mod tests;
