//! Flows in words, bounded and safe to show.

use config::FlowAction;
use printable::name;

use crate::flow::Flow;
use crate::labels::Labels;

/// Maximum tools named in one sentence.
const NAMED: usize = 10;

/// Maximum sentences about the flows of a program.
const LINES: usize = 20;

/// The tools whose answers flow, with their labels: `mail.read_message (private) and 3 more`.
#[must_use]
pub fn sources(flows: &[Flow]) -> String {
    let mut named: Vec<String> = flows.iter().take(NAMED).map(source).collect();
    match flows.len().saturating_sub(NAMED) {
        0 => {}
        more => named.push(format!("{more} more")),
    }
    match named.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => named.concat(),
    }
}

/// A sentence about the flows of one call: `It carries what mail.read_message (private) answered.`
#[must_use]
pub fn carried(flows: &[Flow]) -> String {
    format!("It can carry what {} answered.", sources(flows))
}

/// A line for each tool that is called, about all that can flow into it. `flows` are sorted.
#[must_use]
pub fn lines(flows: &[Flow]) -> Vec<String> {
    let mut lines = Vec::new();
    for flows in flows.chunk_by(|one, other| (&one.to, one.then) == (&other.to, other.then)) {
        let Some(Flow { to, then, .. }) = flows.first() else { continue };
        let denied = if *then == FlowAction::Deny { " (denied)" } else { "" };
        lines.push(format!("answers of {} into {}{denied}", sources(flows), name(to)));
    }
    let more = lines.len().saturating_sub(LINES);
    if more > 0 {
        lines.truncate(LINES);
        lines.push(format!("and into {more} more"));
    }
    lines
}

fn source(flow: &Flow) -> String {
    let labels: Vec<&str> = Labels::words(flow.labels).collect();
    match labels.is_empty() {
        true => name(&flow.from),
        false => format!("{} ({})", name(&flow.from), labels.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(from: &str, labels: Labels, to: &str, then: FlowAction) -> Flow {
        Flow { from: from.to_owned(), labels, to: to.to_owned(), then }
    }

    #[test]
    fn flows_are_named_by_call_and_decision() {
        let private = Labels { private: true, untrusted: false };
        let both = Labels { private: true, untrusted: true };
        let flows = [
            flow("crm.find", both, "web.post", FlowAction::Ask),
            flow("mail.read", private, "web.post", FlowAction::Ask),
            flow("db.get", Labels::default(), "web.send", FlowAction::Deny),
        ];
        assert_eq!(
            lines(&flows),
            [
                "answers of crm.find (private, untrusted) and mail.read (private) into web.post",
                "answers of db.get into web.send (denied)",
            ]
        );
        assert_eq!(carried(&flows[2..]), "It can carry what db.get answered.");
    }

    #[test]
    fn any_number_of_flows_has_a_short_text() {
        let many = |to: &str| -> Vec<Flow> {
            let one = |number| flow(&format!("s.t{number}"), Labels::default(), to, FlowAction::Ask);
            (0..NAMED + 2).map(one).collect()
        };
        assert!(sources(&many("a")).ends_with("s.t9 and 2 more"), "{}", sources(&many("a")));
        let flows: Vec<Flow> = (0..LINES + 3).flat_map(|number| many(&format!("t{number:02}"))).collect();
        let lines = lines(&flows);
        assert_eq!((lines.len(), lines[LINES].as_str()), (LINES + 1, "and into 3 more"));
    }
}
