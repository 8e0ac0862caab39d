//! What a conversation begins with: a template, filled in with what is known of the moment.
//!
//! `{{folder}}` stands for the working folder, and so on (`Place`); `{{{{` stands for two braces.

use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use gateway::failure::Failure;
use system::calendar;

use super::Tools;
use crate::definitions::EXECUTE;

/// Most bytes of a template (1 MiB).
const LONGEST: u64 = 1 << 20;

/// Most characters of what one server says of itself: it is a server's word, and each request carries it.
const LONGEST_INSTRUCTIONS: usize = 8_000;

/// Most tools that are named; models see all of them anyway.
const MOST_TOOLS: usize = 500;

/// Where the configuration names no file.
const DEFAULT: &str = "You work on the tasks that you are given, with the tools that you have. Do what is asked, and say \
                       what came of it in few words.\n\nWorking folder: {{folder}}\nDate: {{date}}\n{{instructions}}";

/// What a conversation begins with, before it is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt(Vec<Part>);

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
    /// The name of the subagent; empty where a person asks.
    pub(crate) subagent: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(Place),
}

/// What can be filled in.
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
    /// Where the file can't be read, or names something that is not known.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else { return Prompt::parse(DEFAULT).map_err(Failure::configuration) };
        let wrong = |why: String| {
            Failure::configuration(format!("the system prompt {} can't be used: {why}", file.display()))
        };
        let found = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?;
        if !found.is_file() {
            return Err(wrong(
                "it is no regular file; name one under `defaults.systemPromptPath`".to_owned(),
            ));
        }
        let length = found.len();
        if length > LONGEST {
            return Err(wrong(format!("it has {length} bytes, and at most {LONGEST} are read")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        Prompt::parse(&text).map_err(wrong)
    }

    /// # Errors
    /// What is wrong with the template, and on which line.
    fn parse(template: &str) -> Result<Self, String> {
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
                return Err(format!("`{{{{` on line {line} has no `}}}}`; write `{{{{{{{{` for two braces"));
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

    /// The text of a conversation that begins now, in `folder`, with these tools.
    pub async fn begin(&self, folder: &Path, tools: &Tools, names: Vec<String>, subagent: &str) -> String {
        let is_asked_for = self.0.contains(&Part::Place(Place::Instructions));
        let instructions = if is_asked_for { tools.instructions().await } else { Vec::new() };
        let date = calendar::day(SystemTime::now());
        let (folder, subagent) = (folder.display().to_string(), subagent.to_owned());
        // Where there is code mode, the description of its tool says it.
        let is_told = names.iter().any(|name| name == EXECUTE);
        let lines = if is_told { [None, None] } else { [tools.missing().await, tools.untrusted()] };
        let mut text = self.fill(&Moment { folder, date, tools: names, instructions, subagent });
        lines.iter().flatten().for_each(|line| text.extend(["\n\n", line.as_str()]));
        text
    }

    /// The text for what is known of a moment.
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

fn unknown(name: &str, line: usize) -> String {
    let name: String = name.chars().take(80).collect();
    let known: Vec<String> = PLACES.iter().map(|(known, _)| format!("{{{{{known}}}}}")).collect();
    format!(
        "`{{{{{name}}}}}` on line {line} is not known; there are {} (write `{{{{{{{{` for two braces)",
        known.join(", ")
    )
}

fn fill(place: Place, moment: &Moment, filled: &mut String) {
    match place {
        Place::Folder => filled.push_str(&moment.folder),
        Place::Date => filled.push_str(&moment.date),
        Place::Subagent => filled.push_str(&moment.subagent),
        Place::Tools => {
            let shown: Vec<&str> = moment.tools.iter().take(MOST_TOOLS).map(String::as_str).collect();
            filled.push_str(&shown.join(", "));
            let left_out = moment.tools.len() - shown.len();
            if left_out > 0 {
                // Writing to a string does not fail.
                let _ = write!(filled, " and {left_out} more");
            }
        }
        Place::Instructions => {
            for (server, text) in &moment.instructions {
                let text: String = text.trim().chars().take(LONGEST_INSTRUCTIONS).collect();
                let _ = write!(filled, "\nWhat the server {server} says of its use:\n{text}\n");
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
        let wanted =
            "reviewer in /work on 2026-11-22: a, b\n\nWhat the server files says of its use:\nRead first.";
        assert_eq!(prompt.fill(&moment()), wanted);
        assert!(
            Prompt::read(None).unwrap().fill(&moment()).contains("Working folder: /work\nDate: 2026-11-22")
        );
    }

    #[test]
    fn what_is_filled_in_is_no_template() {
        let sly = Moment { folder: "{{date}}".into(), ..moment() };
        assert_eq!(Prompt::parse("{{folder}}").unwrap().fill(&sly), "{{date}}");
    }

    #[test]
    fn two_braces_have_an_escape() {
        let prompt = Prompt::parse("{{{{date}} }} { } {{date}}").unwrap();
        assert_eq!(prompt.fill(&moment()), "{{date}} }} { } 2026-11-22");
    }

    #[test]
    fn what_is_not_known_is_an_error_that_lists_what_is() {
        let error = Prompt::parse("one\n{{dat}}").unwrap_err();
        assert!(error.contains("`{{dat}}` on line 2"), "{error}");
        assert!(error.contains("{{folder}}, {{date}}, {{tools}}, {{instructions}}, {{subagent}}"), "{error}");
        for open in ["{{date", "{{\ndate}}", "{{"] {
            assert!(Prompt::parse(open).unwrap_err().contains("on line 1"), "{open}");
        }
    }
}
