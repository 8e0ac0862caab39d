//! The texts of an outcome for a model: output, value, and the reason of a failure.

use queue::shortened;
use runner::{Outcome, Status};
use serde_json::Value;
use snippet::{Code, Fix};

use crate::cut::{Cut, Keep, cut, shares};
use gateway::outcome_text;

/// Maximum size of a corrected line, in bytes: some snippets are one long line.
const FIX_SHOWN: usize = 1_000;

/// The texts of an outcome, each cut to head and tail if it is long.
pub(crate) struct Texts {
    pub(crate) stdout: Cut,
    /// The value that the snippet ended with.
    pub(crate) value: Option<Cut>,
    pub(crate) stderr: Cut,
    /// The reason why it is not `ok`, or warnings if it is; then the corrections.
    trouble: Cut,
}

impl Texts {
    /// The texts within `budget` bytes, beside `others` bytes of content parts, and the bytes that these may have.
    pub(crate) fn of(outcome: &Outcome, others: usize, budget: usize, keep: Keep<'_>) -> (Self, usize) {
        let trouble = outcome_text::trouble(outcome);
        let trouble = trouble.unwrap_or_else(|| outcome_text::messages(&outcome.diagnostics));
        let trouble = format!("{}\n{}", trouble.trim_end(), corrections(outcome));
        let value = outcome_text::result(outcome);
        let (stdout, stderr) = (outcome.stdout.trim_end_matches('\n'), without_panic(outcome));
        let trouble = trouble.trim();
        let lengths =
            [stdout.len(), value.as_ref().map_or(0, String::len), stderr.len(), trouble.len(), others];
        let [of_stdout, of_value, of_stderr, of_trouble, of_others] = shares(lengths, budget);
        let texts = Texts {
            stdout: cut("stdout", stdout, of_stdout, keep),
            value: value.map(|text| cut("result", &text, of_value, keep)),
            stderr: cut("stderr", stderr, of_stderr, keep),
            trouble: cut("trouble", trouble, of_trouble, keep),
        };
        (texts, of_others)
    }

    /// The text for a model. A value without other output needs no label.
    pub(crate) fn joined(&self, outcome: &Outcome, code: &Code, media: &str) -> String {
        let (stdout, stderr) = (self.stdout.shown.as_str(), self.stderr.shown.as_str());
        let is_alone =
            stdout.is_empty() && stderr.is_empty() && outcome.content.is_empty() && media.is_empty();
        let value = self.value.as_ref().map(|value| match value.shown.as_str() {
            "" => "result: \"\"".to_owned(),
            shown if is_alone => shown.to_owned(),
            shown => format!("result: {shown}"),
        });
        let has_nothing = is_alone && value.is_none();
        let no_result = (outcome.status == Status::Ok && value.is_none())
            .then(|| without_result(code, has_nothing))
            .flatten();
        let stderr = (!stderr.is_empty()).then(|| format!("stderr:\n{stderr}"));
        let sections = [stdout, value.as_deref().unwrap_or(""), stderr.as_deref().unwrap_or(""), media];
        let sections = sections.into_iter().chain([no_result.unwrap_or(""), &self.trouble.shown]);
        sections.filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Links to the texts that were cut, and are stored.
    pub(crate) fn into_links(self) -> impl Iterator<Item = Value> {
        let Texts { stdout, value, stderr, trouble } = self;
        let cuts = [Some(stdout), value, Some(stderr), Some(trouble)].into_iter().flatten();
        cuts.filter_map(|cut| cut.link).filter(|link| link["uri"] != "")
    }
}

/// Standard error without the report of the panic that ended the snippet, because the error contains its message and
/// line.
fn without_panic(outcome: &Outcome) -> &str {
    let stderr = outcome.stderr.trim_end_matches('\n');
    let last = stderr.rfind("thread '").filter(|start| *start == 0 || stderr[..*start].ends_with('\n'));
    let is_reported = |report: &str| {
        outcome.error.as_ref().is_some_and(|error| report.lines().skip(1).eq(error.message.lines()))
    };
    match last {
        Some(start) if outcome.status == Status::Panic && is_reported(&stderr[start..]) => {
            stderr[..start].trim_end_matches('\n')
        }
        _ => stderr,
    }
}

/// A note about a snippet that ended well but without a result, which may be a mistake.
fn without_result(code: &Code, has_nothing: bool) -> Option<&'static str> {
    if code.discards_value() {
        return Some("no result: the snippet ends with `;`, which drops the last value");
    }
    has_nothing.then_some("ok: no result, and nothing printed")
}

/// The corrections of the snippet, one line each.
fn corrections(outcome: &Outcome) -> String {
    let line =
        |fix: &Fix| format!("corrected line {}: {}\n", fix.line, shortened(fix.after.trim(), FIX_SHOWN));
    outcome.fixes.iter().map(line).collect()
}
