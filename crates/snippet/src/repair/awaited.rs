//! Whether an awaited value is plain data: then its `.await` does nothing and can be removed. In anything else, such as a
//! list of calls, something may be left to do.

use crate::hints::Slip;
use crate::hints::lookup::Known;
use crate::lexical::is_of_word;

use super::certain;

/// Whether the message is about an awaited value of plain data, or a `Result` of it.
pub(super) fn is_data(slip: &Slip<'_>) -> bool {
    let names = slip.message.quoted();
    let name = names.first().filter(|_| slip.message.message.ends_with("is not a future"));
    let Some(name) = name.filter(|name| has_no_call(slip, name)) else { return false };
    match slip.lookup.known(name) {
        Known::Result(value, error) if !name.starts_with('&') => {
            let is_error = error.split('<').next().is_some_and(|head| head.ends_with("Error"))
                || error.starts_with("Box<dyn ")
                || certain::is_plain(slip, &error);
            is_error && certain::is_plain(slip, &value)
        }
        _ => certain::is_plain(slip, name),
    }
}

/// Whether none of the types named is a call, its arguments, or a type of the snippet, which may contain calls.
fn has_no_call(slip: &Slip<'_>, name: &str) -> bool {
    let mut words = name.split(|c| !is_of_word(c)).filter(|word| !word.is_empty());
    words.all(|word| {
        slip.tokens.definition(word).is_none()
            && !matches!(slip.lookup.known(word), Known::Call(_) | Known::Input(_))
    })
}
