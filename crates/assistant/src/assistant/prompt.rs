//! The system prompt of a conversation: a template that is filled in at its start.
//!
//! `{{folder}}` is replaced by the working folder, and so on (`Place`); `{{{{` produces two braces.

use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use gateway::failure::Failure;
use report::Kind;
use server::definitions::EXECUTE;
use system::calendar;

use super::Tools;

/// Maximum size of a template, in bytes (1 MiB).
const LONGEST: u64 = 1 << 20;

/// Maximum length of one server's instructions, in characters: they are untrusted, and part of each request.
const MAX_INSTRUCTIONS: usize = 8_000;

/// Limit on tools that are listed; models see all of them anyway.
const TOOLS_SHOWN: usize = 500;

/// The template if the configuration names no file.
const DEFAULT: &str = "Complete the tasks you are given with the available tools. Do what is asked, then report the \
                       result briefly.\n\nWorking folder: {{folder}}\nDate: {{date}}\n{{instructions}}";

/// The error in a template, with its line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct TemplateError(String);

/// The template of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt(Vec<Part>);

/// The values that are filled in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moment {
    /// The working folder.
    pub(crate) folder: String,
    /// The day, as 2026-11-22.
    pub(crate) date: String,
    /// The names of the tools.
    pub(crate) tools: Vec<String>,
    /// The instructions of servers, by server.
    pub(crate) instructions: Vec<(String, String)>,
    /// The name of the subagent; empty in the user's own conversations.
    pub(crate) subagent: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(Place),
}

/// A placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Folder,
    Date,
    Tools,
    Instructions,
    Subagent,
}

const PLACES: [(&str, Place); 5] = [
    ("folder", Place::Folder),
    ("date", Place::Date),
    ("tools", Place::Tools),
    ("instructions", Place::Instructions),
    ("subagent", Place::Subagent),
];

impl Prompt {
    /// # Errors
    /// If the file can't be read, or contains an unknown placeholder.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else {
            return Prompt::parse(DEFAULT).map_err(|error| Failure::new(Kind::Model, error.0));
        };
        let wrong = |why: String| {
            Failure::new(Kind::Model, format!("the system prompt {} can't be used: {why}", file.display()))
        };
        let found = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?;
        if !found.is_file() {
            return Err(wrong(
                "it is not a regular file; name one under `defaults.systemPromptPath`".to_owned(),
            ));
        }
        let length = found.len();
        if length > LONGEST {
            return Err(wrong(format!("it has {length} bytes, and at most {LONGEST} are read")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        Prompt::parse(strict_json::without_mark(&text)).map_err(|error| wrong(error.0))
    }

    fn parse(template: &str) -> Result<Self, TemplateError> {
        let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), template);
        while let Some((before, behind)) = rest.split_once("{{") {
            text.push_str(before);
            if let Some(behind) = behind.strip_prefix("{{") {
                text.push_str("{{");
                rest = behind;
                continue;
            }
            let read = template.len().saturating_sub(behind.len());
            let line = template.get(..read).unwrap_or_default().matches('\n').count() + 1;
            let Some((name, behind)) = behind.split_once("}}").filter(|(name, _)| !name.contains('\n'))
            else {
                let message = format!("`{{{{` on line {line} has no `}}}}`; write `{{{{{{{{` for two braces");
                return Err(TemplateError(message));
            };
            let place = place(name.trim()).ok_or_else(|| unknown(name.trim(), line))?;
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Place(place));
            rest = behind;
        }
        text.push_str(rest);
        parts.push(Part::Text(text));
        Ok(Prompt(parts))
    }

    /// The system prompt of a conversation that starts now, in `folder`, with these tools.
    pub(crate) async fn begin(
        &self,
        folder: &Path,
        tools: &Tools,
        names: Vec<String>,
        subagent: &str,
    ) -> String {
        let has_instructions = self.0.contains(&Part::Place(Place::Instructions));
        let instructions = if has_instructions { tools.instructions().await } else { Vec::new() };
        let date = calendar::day(SystemTime::now());
        let (folder, subagent) = (folder.display().to_string(), subagent.to_owned());
        // With code mode, the description of its tool contains these lines.
        let has_code_mode = names.iter().any(|name| name == EXECUTE);
        let lines = if has_code_mode { [None, None] } else { [tools.missing().await, tools.untrusted()] };
        let mut text = self.fill(&Moment { folder, date, tools: names, instructions, subagent });
        lines.iter().flatten().for_each(|line| text.extend(["\n\n", line.as_str()]));
        text
    }

    /// Fills in the template.
    pub(crate) fn fill(&self, moment: &Moment) -> String {
        let mut filled = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Place(place) => fill(*place, moment, &mut filled),
            }
        }
        let whole = filled.trim_end().len();
        filled.truncate(whole);
        filled
    }
}

fn place(name: &str) -> Option<Place> {
    PLACES.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
}

fn unknown(name: &str, line: usize) -> TemplateError {
    let name: String = name.chars().take(80).collect();
    let known: Vec<String> = PLACES.iter().map(|(known, _)| format!("{{{{{known}}}}}")).collect();
    TemplateError(format!(
        "`{{{{{name}}}}}` on line {line} is unknown; the placeholders are {} (write `{{{{{{{{` for two braces)",
        known.join(", ")
    ))
}

fn fill(place: Place, moment: &Moment, filled: &mut String) {
    match place {
        Place::Folder => filled.push_str(&moment.folder),
        Place::Date => filled.push_str(&moment.date),
        Place::Subagent => filled.push_str(&moment.subagent),
        Place::Tools => {
            let shown: Vec<&str> = moment.tools.iter().take(TOOLS_SHOWN).map(String::as_str).collect();
            filled.push_str(&shown.join(", "));
            let left_out = moment.tools.len() - shown.len();
            if left_out > 0 {
                // Writing to a string does not fail.
                let _ = write!(filled, " and {left_out} more");
            }
        }
        Place::Instructions => {
            for (server, text) in &moment.instructions {
                let text: String = text.trim().chars().take(MAX_INSTRUCTIONS).collect();
                let _ = write!(filled, "\nInstructions of the server {server}:\n{text}\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment() -> Moment {
        Moment {
            folder: "/work".into(),
            date: "2026-11-22".into(),
            tools: vec!["a".into(), "b".into()],
            instructions: vec![("files".into(), " Read first. ".into())],
            subagent: "reviewer".into(),
        }
    }

    #[test]
    fn templates_are_filled_in() {
        let prompt =
            Prompt::parse("{{subagent}} in {{ folder }} on {{date}}: {{tools}}\n{{instructions}}").unwrap();
        let expected =
            "reviewer in /work on 2026-11-22: a, b\n\nInstructions of the server files:\nRead first.";
        assert_eq!(prompt.fill(&moment()), expected);
        assert!(
            Prompt::read(None).unwrap().fill(&moment()).contains("Working folder: /work\nDate: 2026-11-22")
        );
    }

    #[test]
    fn values_are_not_filled_in_again() {
        let moment = Moment { folder: "{{date}}".into(), ..moment() };
        assert_eq!(Prompt::parse("{{folder}}").unwrap().fill(&moment), "{{date}}");
    }

    #[test]
    fn two_braces_have_an_escape() {
        let prompt = Prompt::parse("{{{{date}} }} { } {{date}}").unwrap();
        assert_eq!(prompt.fill(&moment()), "{{date}} }} { } 2026-11-22");
    }

    #[test]
    fn unknown_placeholders_are_errors_that_list_the_known_ones() {
        let error = Prompt::parse("one\n{{dat}}").unwrap_err().0;
        assert!(error.contains("`{{dat}}` on line 2"), "{error}");
        assert!(error.contains("{{folder}}, {{date}}, {{tools}}, {{instructions}}, {{subagent}}"), "{error}");
        for open in ["{{date", "{{\ndate}}", "{{"] {
            assert!(Prompt::parse(open).unwrap_err().0.contains("on line 1"), "{open}");
        }
    }
}
