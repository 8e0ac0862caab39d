//! Types that the compiler cannot infer for an argument, because its stub accepts several: the type of the signature is
//! stated.
//!
//! A stub accepts what converts to the type in the schema, so `text.parse()?`, `id.into()`, `items.collect()`, `vec![]`
//! and `None` have no certain type. As arguments of a tool they have one meaning: the type that the signature shows.

use std::ops::Range;

use super::edit::Edit;
use crate::hints::Slip;
use crate::hints::arguments::{self, Parameter};
use crate::tokens::{Kind, Tokens};

/// Errors about types that are not known.
const UNDETERMINED: [&str; 3] = ["E0282", "E0283", "E0284"];

/// Methods whose type parameter is the type of the argument, wherever they are in it.
const TYPED: [&str; 3] = ["parse", "product", "sum"];

/// The one of two types that is stated, if the compiler may refuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stated {
    /// The type that probably fits: that of the signature, but `Vec<_>` for items whose type the compiler knows.
    Likely,
    /// The other one.
    Other,
}

/// The edits that state the type of the argument that a message is about.
pub(super) fn edits(slip: &Slip<'_>, stated: Stated) -> Option<Vec<Edit>> {
    if !is_undetermined(slip) {
        return None;
    }
    let tokens = slip.tokens;
    // The message may be about the stub or the setter.
    let mut open = arguments::of(slip, slip.at);
    open.retain(|parameter| is_open(tokens, &parameter.range));
    if !open.is_empty() {
        let edits: Option<Vec<_>> = open.iter().map(|parameter| argument(slip, parameter, stated)).collect();
        return edits.map(|edits| edits.concat());
    }
    match arguments::around(slip, slip.at) {
        Some(parameter) => match variable(tokens, &parameter.range) {
            Some(name) => declared(slip, name, stated).or_else(|| argument(slip, &parameter, stated)),
            None => argument(slip, &parameter, stated),
        },
        None => declared(slip, declared_name(tokens, slip.at)?, stated),
    }
}

/// Whether an argument has an open type by its text.
fn is_open(tokens: &Tokens<'_>, range: &Range<usize>) -> bool {
    const OPEN: [&str; 8] = ["None", "collect", "default", "into", "new", "parse", "try_into", "vec"];
    let is_list = range.clone().any(|index| {
        tokens.kind(index) == Some(Kind::Open('[')) && tokens.kind(index + 1) == Some(Kind::Close('['))
    });
    is_list || range.clone().any(|index| OPEN.contains(&tokens.word(index)))
}

/// Whether a message is about a type that nothing determines. After a `?`, the compiler assumes `!` for it.
fn is_undetermined(slip: &Slip<'_>) -> bool {
    let is_never = |text: &&str| *text == "!" || text.starts_with("!: ") || text.ends_with("<!>");
    UNDETERMINED.contains(&slip.message.code())
        || (slip.message.code() == "E0277" && slip.message.quoted().iter().any(is_never))
}

/// States the type in an argument.
fn argument(slip: &Slip<'_>, parameter: &Parameter<'_>, stated: Stated) -> Option<Vec<Edit>> {
    let tokens = slip.tokens;
    // A reference to a value of the type is accepted too.
    let skipped = parameter.range.clone().take_while(|index| tokens.is_sign(*index, '&')).count();
    let range = parameter.range.start + skipped..parameter.range.end;
    let bytes = tokens.range(range.start).start..tokens.range(range.end.checked_sub(1)?).end;
    let written = parameter.written()?;
    // A text may be meant as it is, or as JSON.
    if written == "Value" && range.clone().any(|index| tokens.word(index) == "parse") {
        return None;
    }
    let kind = kind(tokens, &range, &written, stated);
    let item = kind.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>'));
    if range.len() == 1 && tokens.word(range.start) == "None" {
        return Some(vec![Edit::insert(bytes.end, format!("::<{kind}>"))]);
    }
    if is_new_map(tokens, &range) {
        let entries = match &*kind {
            "Value" => "String, Value",
            _ => kind.strip_suffix('>')?.split_once('<')?.1,
        };
        return Some(vec![Edit::insert(tokens.range(range.start).end, format!("::<{entries}>"))]);
    }
    if is_empty_list(slip.source.text.get(bytes.clone())?) {
        let item = if kind == "Value" { kind } else { parameter.item()? };
        let text = format!("Vec::<{item}>::new()");
        return Some(vec![Edit { start: parameter_start(tokens, parameter), end: bytes.end, text }]);
    }
    if let Some(method) = typed_method(tokens, &range, &kind) {
        return Some(vec![Edit::insert(tokens.range(method).end, format!("::<{kind}>"))]);
    }
    let kind = match item {
        Some(item) if tokens.kind(range.start) == Some(Kind::Open('[')) => format!("[{item}; _]"),
        _ if is_option(tokens, &range) => format!("Option<{kind}>"),
        _ => kind,
    };
    Some(vec![
        Edit::insert(bytes.start, format!("std::convert::identity::<{kind}>(")),
        Edit::insert(bytes.end, ")"),
    ])
}

fn parameter_start(tokens: &Tokens<'_>, parameter: &Parameter<'_>) -> usize {
    tokens.range(parameter.range.start).start
}

/// The type as it is stated for a value with these tokens, for a parameter whose type is `written` so.
fn kind(tokens: &Tokens<'_>, range: &Range<usize>, written: &str, stated: Stated) -> String {
    const PLAIN: [&str; 5] = ["String", "bool", "f64", "i64", "u64"];
    let has = |names: &[&str]| range.clone().any(|index| names.contains(&tokens.word(index)));
    let is_open = has(&["None", "default", "into", "parse", "try_into", "unwrap_or_default"]);
    let is_other = stated == Stated::Other;
    // Items that the text does not convert have a type.
    let is_known = has(&["collect"]) && is_open == is_other;
    let kind = match written {
        "Value" if is_known => "Vec<_>",
        _ if written.starts_with("Vec<") && is_known => "Vec<_>",
        _ if written.starts_with("IndexMap<") && is_known => "IndexMap<_, _>",
        // An integer that becomes a number.
        "f64" if is_other && has(&["product", "sum", "try_into"]) && !has(&["parse"]) => "i64",
        // A text that becomes a variant.
        _ if is_other && has(&["into"]) && !PLAIN.contains(&written) && written.contains("::") => "String",
        _ => written,
    };
    kind.to_owned()
}

/// Whether an argument is a new map.
fn is_new_map(tokens: &Tokens<'_>, range: &Range<usize>) -> bool {
    let is_map = matches!(tokens.word(range.start), "BTreeMap" | "HashMap" | "IndexMap");
    range.len() == 6 && is_map && tokens.word(range.start + 3) == "new"
}

/// Whether a text is a list without items.
fn is_empty_list(text: &str) -> bool {
    let text: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    matches!(text.as_str(), "vec![]" | "Vec::new()" | "[]")
}

/// The name of the only method in an argument that takes the argument's type: `parse` of `text.parse()? + 1`, or the
/// last `collect`.
fn typed_method(tokens: &Tokens<'_>, range: &Range<usize>, kind: &str) -> Option<usize> {
    const PARSED: [&str; 5] = ["String", "bool", "f64", "i64", "u64"];
    let is_untyped = |index: usize| {
        let is_member = tokens.is_sign_before(index, 1, &['.']);
        is_member && tokens.kind(index + 1) == Some(Kind::Open('(')) && index + 2 < range.end
    };
    if kind != "Value"
        && let Some(last) = range.end.checked_sub(3)
        && last > range.start
        && tokens.word(last) == "collect"
        && is_untyped(last)
    {
        return Some(last);
    }
    let mut found = arguments::outside(tokens, range.clone())
        .filter(|index| TYPED.contains(&tokens.word(*index)) && is_untyped(*index));
    let only = found.next().filter(|_| PARSED.contains(&kind))?;
    found.next().is_none().then_some(only)
}

/// Whether an argument is an `Option` by its text.
fn is_option(tokens: &Tokens<'_>, range: &Range<usize>) -> bool {
    tokens.word(range.start) == "Some"
        || range.clone().any(|index| tokens.word(index) == "None" && tokens.is_plain(index))
}

/// The variable that an argument consists of, perhaps cloned.
fn variable<'a>(tokens: &Tokens<'a>, range: &Range<usize>) -> Option<&'a str> {
    let first = range.clone().find(|index| !tokens.is_sign(*index, '&'))?;
    let rest: Vec<&str> = (first + 1..range.end).map(|index| tokens.word(index)).collect();
    let is_whole = rest.is_empty() || (rest.len() == 4 && rest[1] == "clone");
    let name = tokens.word(first);
    let is_name = is_whole && name.starts_with(|c: char| c.is_lowercase() || c == '_');
    is_name.then_some(name)
}

/// The variable that the `let` around a token declares without a type.
fn declared_name<'a>(tokens: &Tokens<'a>, at: usize) -> Option<&'a str> {
    let statement = tokens.statement(at);
    let is_let = tokens.word(statement.start) == "let";
    let name = statement.start + 1 + usize::from(tokens.word(statement.start + 1) == "mut");
    (is_let && tokens.is_sign(name + 1, '=')).then(|| tokens.word(name))
}

/// States the type of a variable where it is declared: that of the arguments for which it is used, if they agree.
fn declared(slip: &Slip<'_>, name: &str, stated: Stated) -> Option<Vec<Edit>> {
    let tokens = slip.tokens;
    let uses = tokens.words().filter(|(index, word)| *word == name && tokens.is_plain(*index));
    let mut places = Vec::new();
    let mut kinds = Vec::new();
    for (index, _) in uses {
        if tokens.is_declared(index) {
            places.push(index);
        } else if let Some(parameter) = arguments::around(slip, index)
            && variable(tokens, &parameter.range) == Some(name)
        {
            kinds.push(parameter.written()?);
        }
    }
    kinds.sort();
    kinds.dedup();
    match (&places[..], &kinds[..]) {
        ([place], [written]) if tokens.is_sign(place + 1, '=') || tokens.is_sign(place + 1, ';') => {
            let kind = kind(tokens, &tokens.statement(*place), written, stated);
            Some(vec![Edit::insert(tokens.range(*place).end, format!(": {kind}"))])
        }
        _ => None,
    }
}
