//! Messages about a saved program that a snippet calls: they name the program and its line.

use std::fmt::Write as _;

use super::{CHILDREN_KEPT, Diagnostic, Place, Reader, is_noise};
use crate::messages::{Message, Span};
use crate::snippet::CalledProgram;
use crate::syntax_error::count;

impl Reader<'_> {
    /// The saved program that a span is in, and the line there.
    pub(super) fn in_program(&self, span: &Span) -> Option<(&CalledProgram, u32)> {
        let mut span = span;
        while let (false, Some(expansion)) = (span.file_name == "snippet.rs", &span.expansion) {
            span = &expansion.span;
        }
        if span.file_name != "snippet.rs" {
            return None;
        }
        let line =
            |program: &CalledProgram| span.line_start.checked_sub(program.before).filter(|line| *line > 0);
        let mut found = self.spliced.programs.iter().filter_map(|program| Some((program, line(program)?)));
        found.find(|(program, line)| *line <= program.lines)
    }

    /// The diagnostic of a message about a line of a saved program. Its place is the program's name in the snippet.
    pub(super) fn in_called(&self, message: &Message, program: &CalledProgram, line: u32) -> Diagnostic {
        let code = message.code.as_ref().map(|code| code.code.clone());
        let name = &program.name;
        let text = format!("in the saved program {name}, line {line}: {}", self.moved(&message.message));
        let shown = code.as_ref().map_or_else(|| "error".to_owned(), |code| format!("error[{code}]"));
        let own = program.text.lines().nth(line as usize - 1).unwrap_or_default();
        let mut rendered =
            format!("{shown}: {text}\n --> programs::{name}:{line}\n{line} | {}\n", own.trim_end());
        for child in message.children.iter().filter(|child| !is_noise(&child.message)).take(CHILDREN_KEPT) {
            // Positions in a suggestion are not those of the program.
            let first = child.message.lines().next().unwrap_or_default();
            // Writing to a string does not fail.
            let _ = writeln!(rendered, "{}: {}", child.level, self.moved(first));
        }
        let Place { line, column, .. } = self.call_of(name);
        Diagnostic { level: "error".to_owned(), code, message: text, line, column, rendered, hint: None }
    }

    /// Returns the remedy for a message about a saved program.
    pub(super) fn program_hint(&self, message: &Message) -> Option<String> {
        let (program, _) = self.in_program(message.primary()?)?;
        let name = &program.name;
        Some(format!(
            "the saved program {name} must be corrected, not this text: `toolsmith program check {name}`"
        ))
    }

    /// Where the snippet names a program; its end if only another program does.
    fn call_of(&self, name: &str) -> Place {
        let mut lines = self.lines.iter().zip(1..);
        let found = lines.find_map(|(text, line)| Some((line, text.find(name)?, text)));
        found.map_or_else(
            || self.end(),
            |(line, at, text)| {
                let before = text.get(..at).unwrap_or_default().chars().count();
                Place { line, column: count(before + 1), width: count(name.chars().count()) }
            },
        )
    }
}
