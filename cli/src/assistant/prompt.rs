//! What a conversation begins with: a template, filled in with what is known of the moment.

use std::path::Path;

use crate::failure::Failure;

/// Most bytes of a template.
const LONGEST: u64 = 1 << 20;

/// Where the configuration names no file.
const DEFAULT: &str = "You work on the tasks that you are given, with the tools that you have. Do what is asked, and say \
                       what came of it in few words.\n\nWorking folder: {{folder}}\nDate: {{date}}\n{{instructions}}";

/// What a conversation begins with, before it is filled in.
#[derive(Debug, Clone)]
pub(crate) struct Prompt(String);

/// What is known of the moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moment {
    /// The working folder.
    pub(crate) folder: String,
    /// The day, as 2026-11-22.
    pub(crate) date: String,
    /// The names of the tools.
    pub(crate) tools: Vec<String>,
    /// What servers say of themselves, by server.
    pub(crate) instructions: Vec<(String, String)>,
}

impl Prompt {
    /// # Errors
    /// Where the file can't be read, or names something that is not known.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else { return Ok(Prompt(DEFAULT.to_owned())) };
        let wrong = |why: String| {
            Failure::configuration(format!("the system prompt {} can't be used: {why}", file.display()))
        };
        let length = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
        if length > LONGEST {
            return Err(wrong(format!("it has {length} bytes, and at most {LONGEST} are read")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        Ok(Prompt(text))
    }
}
