//! `?` after a failure that is only a text or a box, where `anyhow::Error` is expected: the text becomes the error's
//! message, the box its error.

use super::edit::Edit;
use crate::hints::Slip;
use crate::hints::lookup::Known;
use crate::messages::quoted;

/// Texts that are used as errors.
const TEXTS: [&str; 4] = ["String", "&str", "Cow<str>", "Box<str>"];

/// The edits for a `?` whose error does not convert.
pub(super) fn edits(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    let message = slip.message;
    if message.code() != "E0277" || !message.message.starts_with("`?` couldn't convert the error") {
        return None;
    }
    let primary = message.primary()?;
    let in_macro = primary.expansion.as_ref().is_some_and(|from| !from.is_of_compiler());
    let at = slip.source.range(primary).filter(|_| !in_macro)?.start;
    // Another error type than `anyhow`'s may not take a text.
    let is_any = message.children.iter().any(|child| child.message.contains("anyhow::Error"));
    let label = slip.labelled("this has type")?.label.as_deref()?;
    let Known::Result(_, error) = slip.lookup.known(quoted(label).first()?) else { return None };
    let error = error.replace("'static ", "").replace("'_, ", "").replace("std::borrow::", "");
    let text = match error.as_str() {
        text if TEXTS.contains(&text) => ".map_err(|error| ::anyhow::anyhow!(\"{error}\"))",
        boxed if boxed.starts_with("Box<dyn ") && boxed.contains("Error") => ".map_err(::bridge::fault)",
        _ => return None,
    };
    is_any.then(|| vec![Edit::insert(at, text)])
}
