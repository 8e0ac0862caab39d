//! Finds the tool's parameter for which a part of a snippet is the argument.

use std::ops::Range;

use super::lookup::Found;
use super::signature::{Field, Shape};
use super::slip::Slip;
use crate::lexical::is_of_word;
use crate::tokens::{Kind, Tokens};

/// Types of signatures that are not generated, and in scope of every snippet.
const KNOWN: [&str; 7] = ["Box", "IndexMap", "Option", "Scalar", "String", "Value", "Vec"];

/// A parameter of a tool with its argument.
#[derive(Debug)]
pub(crate) struct Parameter<'a> {
    pub(crate) found: Found<'a>,
    pub(crate) field: Field,
    /// The tokens of the argument.
    pub(crate) range: Range<usize>,
}

impl Parameter<'_> {
    /// Its type as a snippet writes it, without the `Option` of an optional one.
    pub(crate) fn written(&self) -> Option<String> {
        // The values of an enumeration are shown instead of its name; it takes a text.
        if self.field.kind.starts_with('"') {
            return Some("String".to_owned());
        }
        let kind = in_module(&self.field.kind, self.found.module.name());
        (!kind.is_empty()).then_some(kind)
    }

    /// The type of an item of its list, or of the only list among the values of its union, as a snippet writes it.
    pub(crate) fn item(&self) -> Option<String> {
        let item = |kind: &str| Some(kind.strip_prefix("Vec<")?.strip_suffix('>')?.to_owned());
        let kind = &self.field.kind;
        let mut items = match item(kind) {
            Some(item) => vec![item],
            None => {
                let Shape::Enum(variants) = self.found.shape(kind)? else { return None };
                variants.iter().filter_map(|variant| item(variant.held.as_deref()?)).collect()
            }
        };
        let only = items.pop().filter(|_| items.is_empty())?;
        Some(in_module(&only, self.found.module.name()))
    }
}

impl Parameter<'_> {
    /// The remark on it in the signature; empty if there is none.
    pub(crate) fn remark(&self) -> String {
        let signature = self.found.signature();
        let name = &self.field.name;
        let marks = [format!("{name}: "), format!("{name}?: ")];
        let found = marks.iter().flat_map(|mark| signature.match_indices(mark.as_str()));
        let mut remarks = found.filter_map(|(at, mark)| {
            let is_name = !signature[..at].ends_with(is_of_word);
            let (kind, rest) = signature[at + mark.len()..].split_once(" /*")?;
            let is_own = is_name && !kind.contains([',', ')', '}', '\n']);
            Some(rest.split_once("*/")?.0.trim().to_owned()).filter(|_| is_own)
        });
        remarks.next().unwrap_or_default()
    }
}

/// Whether these tokens are a place or a call, to which a method can be added: no operator is among them.
pub(crate) fn is_chain(tokens: &Tokens<'_>, range: Range<usize>) -> bool {
    outside(tokens, range).all(|index| match tokens.kind(index) {
        Some(Kind::Sign(sign)) => ".:?<>".contains(sign),
        Some(Kind::Word) => !matches!(tokens.word(index), "as" | "if" | "match" | "move"),
        _ => true,
    })
}

/// The parameter whose argument contains the token `at`: of a stub, or of a setter.
pub(crate) fn around<'a>(slip: &Slip<'a>, at: usize) -> Option<Parameter<'a>> {
    let tokens = slip.tokens;
    let mut inside = at;
    while let Some(open) = tokens.enclosing(inside) {
        let callee = open.checked_sub(1)?;
        if tokens.kind(open) == Some(Kind::Open('(')) && !tokens.word(callee).is_empty() {
            let close = tokens.close(open)?;
            if let Some(parameter) = of_call(slip, callee, open + 1..close, at) {
                return Some(parameter);
            }
        }
        inside = open;
    }
    None
}

/// The parameters of the stub or setter `callee`, with their arguments.
pub(crate) fn of<'a>(slip: &Slip<'a>, callee: usize) -> Vec<Parameter<'a>> {
    let tokens = slip.tokens;
    let is_called = tokens.kind(callee + 1) == Some(Kind::Open('('));
    let Some(close) = tokens.close(callee + 1).filter(|_| is_called) else { return Vec::new() };
    let mut parameters = Vec::new();
    let mut at = callee + 2;
    while let Some(parameter) = of_call(slip, callee, callee + 2..close, at).filter(|_| at < close) {
        at = parameter.range.end + 1;
        parameters.push(parameter);
    }
    parameters
}

/// The parameter of the stub or setter `callee` for the argument with the token `at` among those in `range`.
fn of_call<'a>(slip: &Slip<'a>, callee: usize, range: Range<usize>, at: usize) -> Option<Parameter<'a>> {
    let tokens = slip.tokens;
    let is_member = tokens.is_sign_before(callee, 1, &['.']);
    if !is_member {
        let found = slip.lookup.within(tokens, callee..callee + 1).into_iter().next()?;
        let (index, range) = argument(tokens, range, at)?;
        let field = found.form().input.into_iter().filter(|field| !field.optional).nth(index)?;
        return Some(Parameter { found, field, range });
    }
    let setter = tokens.word(callee);
    let owners = match root(tokens, callee) {
        Some(root) => slip.lookup.within(tokens, root..root + 1),
        // The call is in a variable.
        None => slip.lookup.within(tokens, 0..tokens.len()),
    };
    let mut fields: Vec<(Found<'a>, Field)> = Vec::new();
    for found in owners {
        let field = found.form().input.into_iter().find(|field| field.optional && field.name == setter);
        if let Some(field) = field.filter(|field| fields.iter().all(|(_, other)| other.kind != field.kind)) {
            fields.push((found, field));
        }
    }
    // Setters of different types may be meant.
    let (found, field) = fields.pop().filter(|_| fields.is_empty())?;
    let (_, range) = argument(tokens, range, at)?;
    Some(Parameter { found, field, range })
}

/// The name of the stub or struct at the start of the chain with the method `method`.
fn root(tokens: &Tokens<'_>, method: usize) -> Option<usize> {
    let mut method = method;
    loop {
        let before = method.checked_sub(2)?;
        let name = match tokens.kind(before)? {
            Kind::Close('(' | '{') => tokens.open(before)?.checked_sub(1)?,
            _ => return None,
        };
        if tokens.word(name).is_empty() {
            return None;
        }
        match name.checked_sub(1) {
            Some(dot) if tokens.is_sign(dot, '.') => method = name,
            _ => return Some(name),
        }
    }
}

/// The index and the tokens of the argument with the token `at` among the arguments in `range`.
fn argument(tokens: &Tokens<'_>, range: Range<usize>, at: usize) -> Option<(usize, Range<usize>)> {
    let commas = outside(tokens, range.clone()).filter(|index| tokens.is_sign(*index, ','));
    let mut start = range.start;
    for (position, end) in commas.chain([range.end]).enumerate() {
        if (start..end).contains(&at) {
            return Some((position, start..end));
        }
        start = end + 1;
    }
    None
}

/// The tokens in `range` outside brackets, also outside the `<…>` after a `::`; the brackets are included.
pub(crate) fn outside(tokens: &Tokens<'_>, range: Range<usize>) -> impl Iterator<Item = usize> {
    let mut next = range.start;
    std::iter::from_fn(move || {
        let index = Some(next).filter(|index| *index < range.end)?;
        next = match tokens.kind(index) {
            Some(Kind::Open(_)) => tokens.close(index).unwrap_or(index),
            Some(Kind::Sign('<')) if index > 0 && tokens.is_sign(index - 1, ':') => {
                end_of_types(tokens, index)
            }
            _ => index,
        } + 1;
        Some(index)
    })
}

/// The `>` for the `<` at `open`.
fn end_of_types(tokens: &Tokens<'_>, open: usize) -> usize {
    let mut depth = 0_usize;
    for index in open..tokens.len() {
        match tokens.kind(index) {
            Some(Kind::Sign('<')) => depth += 1,
            Some(Kind::Sign('>')) if !tokens.is_sign(index - 1, '-') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    open
}

/// A type as a snippet writes it: generated types with their module.
pub(crate) fn in_module(kind: &str, module: &str) -> String {
    let mut written = String::new();
    for part in kind.split_inclusive(|c| !is_of_word(c)) {
        let name = part.trim_end_matches(|c| !is_of_word(c));
        if name.starts_with(char::is_uppercase) && !KNOWN.contains(&name) {
            written.push_str(module);
            written.push_str("::");
        }
        written.push_str(part);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::{argument, in_module};
    use crate::tokens::Tokens;

    #[test]
    fn generated_types_are_written_with_their_module() {
        for (kind, written) in [
            ("String", "String"),
            ("i64", "i64"),
            ("Item", "demo::Item"),
            ("Vec<My_Item>", "Vec<demo::My_Item>"),
            ("IndexMap<String, Option<Item>>", "IndexMap<String, Option<demo::Item>>"),
        ] {
            assert_eq!(in_module(kind, "demo"), written);
        }
    }

    #[test]
    fn arguments_are_separated_outside_brackets_and_types() {
        let text = "f(a, g(b, c), d.e::<F<G, H>>(i), |j| k, l)";
        let tokens = Tokens::read(text);
        let found = ["a", "g", "c", "d", "H", "i)", "k", "l)"].map(|part| {
            let at = tokens.at(text.find(part).unwrap());
            argument(&tokens, 2..tokens.len() - 1, at).map(|(position, _)| position)
        });
        assert_eq!(found, [0, 1, 1, 2, 2, 2, 3, 4].map(Some));
    }
}
