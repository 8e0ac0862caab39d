//! The renderers, one for each reader: the terminal, a model, and JSON.

use std::fmt::Write as _;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::{Place, Problem, Report};

impl Report {
    /// For a user at a terminal: what failed, where with the line and a mark below the column, and what to do.
    pub fn for_terminal(&self) -> String {
        with_help(problems(&self.problems), &self.hints)
    }

    /// For a model, whose context is small: what failed, where, and what to do, without lines of files.
    pub fn for_model(&self) -> String {
        with_help(self.message(), &self.hints)
    }
}

/// Problems as the terminal shows them, each with its line if it has one.
pub fn problems(problems: &[Problem]) -> String {
    problems.iter().map(with_line).collect::<Vec<_>>().join("\n")
}

fn with_line(problem: &Problem) -> String {
    let Some(Place { line, excerpt: Some(excerpt), .. }) = &problem.place else { return problem.to_string() };
    let margin = " ".repeat(line.to_string().len());
    let indent = " ".repeat(excerpt.mark);
    format!("{problem}\n{margin} |\n{line} | {}\n{margin} | {indent}^", excerpt.text)
}

fn with_help(mut text: String, hints: &[String]) -> String {
    for hint in hints {
        // Writing to a string does not fail.
        let _ = write!(text, "\nhelp: {hint}");
    }
    text
}

/// For scripts. Members are added, never renamed.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let places: Vec<&Problem> = self.problems.iter().filter(|problem| problem.place.is_some()).collect();
        let mut object = serializer.serialize_struct("Report", 4)?;
        object.serialize_field("kind", &self.kind)?;
        object.serialize_field("message", &self.message())?;
        object.serialize_field("places", &places)?;
        object.serialize_field("hints", &self.hints)?;
        object.end()
    }
}

/// A problem and its place as one flat object.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Problem", 5)?;
        object.serialize_field("message", &self.message)?;
        if let Some(Place { file, line, column, excerpt }) = &self.place {
            object.serialize_field("file", file)?;
            object.serialize_field("line", line)?;
            object.serialize_field("column", column)?;
            object.serialize_field("excerpt", &excerpt.as_ref().map(|excerpt| &excerpt.text))?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Excerpt, Kind, Place, Problem, Report};
    use serde_json::json;

    fn report() -> Report {
        let excerpt = Some(Excerpt { text: "timeout: soon".to_owned(), mark: 9 });
        let place = Place { file: "a.yaml".to_owned(), line: 12, column: Some(10), excerpt };
        let problems = vec![Problem::at(place, "expected a number"), Problem::new("no server is left")];
        Report::of(Kind::Configuration, problems).hint("correct it").hint("or add one:\n  a: {}")
    }

    #[test]
    fn the_terminal_shows_the_line_and_a_mark_below_the_column() {
        assert_eq!(
            report().for_terminal(),
            "a.yaml:12:10: expected a number\n   |\n12 | timeout: soon\n   |          ^\n\
             no server is left\nhelp: correct it\nhelp: or add one:\n  a: {}"
        );
        assert_eq!(Report::new(Kind::Cache, "it is full").for_terminal(), "it is full");
    }

    #[test]
    fn a_model_reads_no_lines_of_files() {
        assert_eq!(
            report().for_model(),
            "a.yaml:12:10: expected a number\nno server is left\nhelp: correct it\nhelp: or add one:\n  a: {}"
        );
    }

    #[test]
    fn json_has_kind_message_places_and_hints() {
        assert_eq!(
            serde_json::to_value(report()).unwrap(),
            json!({
                "kind": "configuration",
                "message": "a.yaml:12:10: expected a number\nno server is left",
                "places": [{ "message": "expected a number", "file": "a.yaml", "line": 12, "column": 10,
                    "excerpt": "timeout: soon" }],
                "hints": ["correct it", "or add one:\n  a: {}"],
            })
        );
    }

    #[test]
    fn the_error_below_is_kept_and_not_repeated() {
        let below = std::io::Error::other("the disk is full");
        let report =
            Report::new(Kind::Output, "the output can't be written: the disk is full").caused_by(below);
        let source = std::error::Error::source(&report).unwrap();
        assert_eq!(source.to_string(), "the disk is full");
        assert!(source.downcast_ref::<std::io::Error>().is_some());
        assert_eq!(report.for_terminal(), "the output can't be written: the disk is full");
    }
}
