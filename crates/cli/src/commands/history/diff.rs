//! The differences between two executions, for the terminal.

use std::fmt::Write as _;

use history::shown::duration;
use history::{Calls, Differences, Member, Tally};

/// The differences as text.
pub(super) fn text(differences: &Differences) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    for Member { name, old, new } in &differences.members {
        let or_none = |value: &String| if value.is_empty() { "none".to_owned() } else { value.clone() };
        let _ = writeln!(text, "{name}: {} → {}", or_none(old), or_none(new));
    }
    for Calls { tool, old, new } in &differences.calls {
        let tally = |tally: &Tally| {
            let Tally { calls, failed, bytes, ms, .. } = tally;
            format!("{calls} calls ({failed} failed), {bytes} bytes, {}", duration(*ms))
        };
        let same = (old.calls, old.failed, old.bytes) == (new.calls, new.failed, new.bytes);
        let arguments = if same { " (with other arguments)" } else { "" };
        let _ = writeln!(text, "{tool}: {} → {}{arguments}", tally(old), tally(new));
    }
    for (name, difference) in &differences.texts {
        let _ = writeln!(text, "\n{name}:\n{difference}");
    }
    text
}
