//! Struct literals of generated types that lack fields.

use super::lookup::{Found, Known};
use super::signature::Field;
use super::slip::Slip;

/// A literal that lacks fields.
#[derive(Debug)]
pub(crate) struct Incomplete<'a> {
    /// The struct's name.
    pub(crate) name: String,
    pub(crate) found: Found<'a>,
    pub(crate) missing: Vec<Field>,
    /// Where more fields can be inserted, and the separator they need before them.
    pub(crate) end: usize,
    pub(crate) before: &'static str,
}

/// The literal whose missing fields a message (`E0063`) reports.
pub(crate) fn incomplete<'a>(slip: &Slip<'a>) -> Option<Incomplete<'a>> {
    let quoted = slip.message.quoted();
    let (found, name, mut fields) = match slip.lookup.known(quoted.last()?) {
        Known::Input(found) => (found, format!("{}Input", found.tool.prefix), found.form().input),
        Known::Generated(found, name) => {
            let fields = found.form().fields(&name)?.to_vec();
            (found, name, fields)
        }
        _ => return None,
    };
    // The signature does not show the field for undeclared members of answers.
    let (_, lacking) = quoted.split_last()?;
    let extra = lacking
        .iter()
        .find(|field| field.starts_with("extra") && fields.iter().all(|known| known.name != **field));
    fields.extend(extra.map(|field| Field {
        name: (*field).to_owned(),
        kind: "IndexMap<String, Value>".to_owned(),
        optional: true,
        is_setter: false,
    }));
    let tokens = slip.tokens;
    let path = slip.source.range(slip.message.primary()?)?;
    let open = tokens.at(path.end);
    let close = tokens.close(open)?;
    let mut present = Vec::new();
    let mut index = open + 1;
    while index < close {
        present.push(tokens.word(index));
        // Skip to after the next comma outside brackets.
        while index < close && !tokens.is_sign(index, ',') {
            index = match tokens.close(index).filter(|end| *end > index) {
                Some(end) => end + 1,
                None => index + 1,
            };
        }
        index += 1;
    }
    let missing: Vec<Field> =
        fields.into_iter().filter(|field| !present.contains(&field.name.as_str())).collect();
    let (last, before) = match close - 1 {
        last if last == open => (last, " "),
        last if tokens.is_sign(last, ',') => (last, " "),
        last => (last, ", "),
    };
    let end = tokens.range(last).end;
    (!missing.is_empty()).then_some(Incomplete { name, found, missing, end, before })
}
