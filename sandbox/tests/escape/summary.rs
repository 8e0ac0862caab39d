//! A readable summary of the attempts: one line for each user, profile and tier, and one for each attempt.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use sandbox::{Layers, Profile};

use crate::common::REQUIRE_ALL;
use crate::suite::{Ending, Suite, Tried, is_excused, title};

/// Writes the summary and returns the failures.
pub(crate) fn conclude(suite: &Suite, profile: Profile, tried: &[Tried], folder: &Path) -> Vec<String> {
    let (mut text, mut wrong) = (String::new(), Vec::new());
    let subject = format!("{profile:?} as {}", suite.user);
    let worked = tried.iter().filter(|tried| tried.control == Ending::Worked).count();
    let _ = writeln!(text, "{subject}: {} attempts, {worked} work without a sandbox", tried.len());
    for tried in tried.iter().filter(|tried| tried.control != Ending::Worked) {
        let reason = describe(&tried.control);
        let _ = writeln!(text, "  not applicable: {}: {reason}", title(tried.row));
        let is_strange = matches!(tried.control, Ending::Strange(_));
        let is_required = std::env::var_os(REQUIRE_ALL).is_some() && !is_excused(tried.row, suite.user);
        if is_strange || is_required {
            wrong.push(format!("{subject}: the control of {} must work: {reason}", title(tried.row)));
        }
    }
    for layers in
        tried.first().map(|first| first.confined.iter().map(|(layers, _)| *layers)).into_iter().flatten()
    {
        count(&subject, layers, tried, &mut text, &mut wrong);
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
    for tried in tried {
        let _ = write!(text, "{}: plain: {}", title(tried.row), describe(&tried.control));
        for (layers, ending) in &tried.confined {
            let _ = write!(text, "; {layers}: {}", describe(ending));
        }
        text.push('\n');
    }
    let name = format!("escape-{}-{profile:?}.txt", suite.user).to_lowercase().replace(' ', "-");
    let _ = std::fs::write(folder.join(name), text);
    wrong
}

fn count(subject: &str, layers: Layers, tried: &[Tried], text: &mut String, wrong: &mut Vec<String>) {
    let of =
        |tried: &Tried| tried.confined.iter().find(|(of, _)| *of == layers).map(|(_, ending)| ending.clone());
    let (mut claimed, mut through, mut by_layers_alone) = (0, 0, 0);
    for tried in tried {
        match of(tried) {
            None | Some(Ending::NotClaimed | Ending::Compared(_)) => continue,
            Some(Ending::Stopped(_)) => {}
            Some(Ending::Worked) => {
                through += 1;
                wrong.push(format!("{subject}, {layers}: {} GOT THROUGH", title(tried.row)));
            }
            Some(Ending::Strange(what)) => {
                wrong.push(format!(
                    "{subject}, {layers}: {} was not stopped as expected: {what}",
                    title(tried.row)
                ));
            }
        }
        claimed += 1;
        by_layers_alone +=
            usize::from(tried.confined.iter().any(|(_, ending)| *ending == Ending::Compared(true)));
    }
    let kind = if Layers::TIERS.contains(&layers) { "tier" } else { "alone" };
    let _ = writeln!(
        text,
        "  {kind} {layers}: {claimed} of {} must be stopped ({by_layers_alone} work with no layer), {through} got through",
        tried.len()
    );
}

fn describe(ending: &Ending) -> String {
    match ending {
        Ending::Worked => "works".to_owned(),
        Ending::Stopped(how) => how.clone(),
        Ending::Strange(what) => format!("STRANGE {what}"),
        Ending::NotClaimed => "not tried".to_owned(),
        Ending::Compared(true) => "works (no layer)".to_owned(),
        Ending::Compared(false) => "fails (no layer)".to_owned(),
    }
}
