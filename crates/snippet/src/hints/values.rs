//! Advice on values: calls not awaited, results not unwrapped, arguments of the wrong type.

use super::advice::Advice;
use super::lookup::{Found, Known};
use super::nearest::nearest;
use super::shown::{NAME_SHOWN, all, cut, list, quoted};
use super::signature::{Shape, Variant};
use super::slip::Slip;
use crate::lexical::is_of_word;
use crate::messages::mismatch;
use crate::tokens::Kind;

/// Methods of `Result` that snippets call on the result of a call.
const RESULT_METHODS: [&str; 20] = [
    "and_then",
    "as_ref",
    "context",
    "err",
    "expect",
    "expect_err",
    "inspect_err",
    "is_err",
    "is_ok",
    "map",
    "map_err",
    "map_or",
    "map_or_else",
    "ok",
    "or_else",
    "unwrap",
    "unwrap_err",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

pub(crate) fn is_result_method(name: &str) -> bool {
    RESULT_METHODS.contains(&name) || name == "with_context"
}

pub(super) fn advice<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    match slip.message.code() {
        "E0061" => count(slip),
        "E0271" => of_concurrently(slip),
        "E0277" => bound(slip),
        "E0282" | "E0283" => untyped(slip),
        "E0308" => mismatched(slip),
        "E0369" => of_types(slip),
        "E0728" => Some(not_async(slip)),
        _ => None,
    }
}

/// `.await` in a function or closure that is not `async`.
fn not_async<'a>(slip: &Slip<'a>) -> Advice<'a> {
    let head = slip.labelled("is not `async`").map_or("", |span| slip.source.slice(span));
    let before = head.split('(').next().unwrap_or("");
    let name = before.split_once("fn ").map(|(_, name)| name.split('<').next().unwrap_or(name).trim());
    Advice::new(match name.filter(|_| !before.contains('|')) {
        Some(name @ ("main" | "run")) => {
            format!(
                "`{name}` must be `async` to use `.await`: write `async fn {name}() -> Result<()>`, and `Ok(())` at the end"
            )
        }
        Some(name) => format!(
            "{} must be `async` to use `.await`: write `async fn {}(…)`, and `.await` where it is called",
            quoted(name),
            cut(name, NAME_SHOWN)
        ),
        None => "`.await` does not work in this closure: use a `for` loop, or \
                 `concurrently(8, items, |item| async move { … }).await?`"
            .to_owned(),
    })
}

/// A call used as its result.
pub(super) fn awaited<'a>(slip: &Slip<'a>, found: Found<'a>) -> Advice<'a> {
    let is_name = !slip.name.is_empty() && slip.name.chars().all(is_of_word);
    let whose = if is_name { format!(" before {}", quoted(slip.name)) } else { String::new() };
    let line = format!("a call must be awaited{whose}: `{}(…).await?`", found.path());
    Advice::new(line).about([found])
}

/// A `Result` used as its value.
pub(super) fn result<'a>(slip: &Slip<'a>) -> Advice<'a> {
    let by_reference = slip.message.quoted().iter().any(|name| name.starts_with('&'));
    let line = if by_reference {
        "each of them is a `Result`: unwrap them with `futures::future::try_join_all(…).await?`, or by \
         `.collect::<Result<Vec<_>, _>>()?`"
    } else {
        "it is a `Result`: add `?`, as in `.await?`"
    };
    let types =
        slip.message.quoted().into_iter().chain(mismatch(slip.message.label()).map(|(_, found)| found));
    let inner = types.filter_map(|name| match slip.lookup.known(name) {
        Known::Result(value, _) => Some(value),
        _ => None,
    });
    let found = inner.filter_map(|name| match slip.lookup.known(&name) {
        Known::Generated(found, _) => Some(found),
        _ => None,
    });
    Advice::new(line).about(found.take(1))
}

/// The result of a tool without an output schema, used as another type.
pub(super) fn tool_result<'a>() -> Advice<'a> {
    Advice::new(
        "a `ToolResult` does not have the tool's fields: use `.text()`, `.json::<Value>()?` (or your own type instead \
         of `Value`), `.structured` or `.content`",
    )
}

/// Too many or too few arguments.
fn count<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    if slip.name.ends_with("concurrently") {
        let line = "call it as `concurrently(limit, items, |item| async move { … Ok(value) }).await?`";
        return Some(Advice::new(line));
    }
    let function = slip.name.rsplit("::").next()?.trim();
    let qualified = slip.name.split("::").next().and_then(|module| slip.lookup.module(module.trim()));
    let mut functions = slip.lookup.functions(function);
    if let Some(module) = qualified {
        functions.retain(|found| found.module.name() == module.name());
    }
    let found = functions.first().copied()?;
    let form = found.form();
    let path = found.path();
    let input = format!("{}Input", found.tool.prefix);
    if slip.labelled(&input).is_some() {
        let line =
            format!("call `{input}` directly: `{}::{input} {{ … }}.call().await?`", found.module.name());
        return Some(Advice::new(line).about([found]));
    }
    let names = |optional: bool| {
        let fields = form.input.iter().filter(move |field| field.optional == optional);
        fields.map(|field| field.name.as_str()).collect::<Vec<_>>()
    };
    let (required, optional) = (names(false), names(true));
    let mut line = format!("write `{path}({})`", required.join(", "));
    if !optional.is_empty() {
        let setters: Vec<String> = optional.iter().map(|name| format!(".{name}(…)")).collect();
        let setters = list(setters.iter().map(String::as_str), "and");
        line.push_str(&format!("; optional arguments are set with methods: {setters}"));
    }
    Some(Advice::new(line).about([found]))
}

/// A trait that a type does not implement.
fn bound<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let message = &slip.message.message;
    let label = slip.message.label();
    let names = slip.message.quoted().into_iter().chain(crate::messages::quoted(label));
    let mut known = names.map(|name| slip.lookup.known(name));
    if message.contains("the `?` operator can only be used in") {
        let is_function = message.contains("in a function") || message.contains("in an async function");
        return Some(Advice::new(if is_function {
            "to use `?` in a function, let it return a `Result`: write `-> Result<()>` after its arguments, and \
             `Ok(())` at its end"
        } else {
            "to use `?` there, let it end with a `Result`: `Ok(value)`"
        }));
    }
    if message.contains("can only be used on `Result`s, not `Option`s") {
        return Some(Advice::new("it is an `Option`: unwrap it with `.context(\"…\")?`"));
    }
    if message.starts_with("`?` couldn't convert the error") {
        return Some(Advice::new(
            "the error does not implement `std::error::Error`: write `.map_err(|error| anyhow!(\"{error:?}\"))?`",
        ));
    }
    if message.contains("is not a future") {
        return known.find_map(|known| match known {
            Known::Input(found) => {
                let path = format!("{}::{}Input", found.module.name(), found.tool.prefix);
                Some(Advice::new(format!("call `{path} {{ … }}` first: `.call().await?`")).about([found]))
            }
            _ => None,
        });
    }
    if let Some(expected) = message.strip_prefix("the argument must be a `") {
        return argument(slip, expected.split('`').next().unwrap_or(""));
    }
    if message.contains("String: From<") {
        return text_argument(slip);
    }
    if message.starts_with("the `?` operator can only be applied")
        && crate::messages::quoted(label)
            .iter()
            .any(|name| name.contains("Result<") && (name.starts_with('(') || name.starts_with("Vec<")))
    {
        let line = "each of them is a `Result`: use `tokio::try_join!(…)?` or `futures::future::try_join_all(…).await?`";
        return Some(Advice::new(line));
    }
    let is_iterator = message.contains("is not an iterator");
    known.find_map(|known| match known {
        Known::Call(found) => Some(awaited(slip, found)),
        Known::Generated(found, name) if is_iterator => list_of(found, &name),
        Known::Input(found) if message.contains("Default`") => {
            let line = "it has required fields, so it has no default: write all of its fields";
            Some(Advice::new(line).about([found]))
        }
        Known::Generated(found, name) => of_type(slip, found, &name),
        Known::ToolResult if !is_iterator => Some(tool_result()),
        _ => None,
    })
}

/// A struct that is iterated over, where its list is meant.
fn list_of<'a>(found: Found<'a>, name: &str) -> Option<Advice<'a>> {
    let form = found.form();
    let lists = form.fields(name)?.iter().filter(|field| field.kind.starts_with("Vec<"));
    let lists = list(lists.map(|field| field.name.as_str()), "or");
    (!lists.is_empty()).then(|| {
        Advice::new(format!("`{name}` is a struct; iterate over its field {lists}"))
            .focus(name)
            .about([found])
    })
}

/// An argument of the wrong type; `expected` is the type in the schema.
fn argument<'a>(slip: &Slip<'a>, expected: &str) -> Option<Advice<'a>> {
    if let Known::Generated(found, name) = slip.lookup.known(expected) {
        return of_type(slip, found, &name);
    }
    let (head, _) = expected.split_once('<').unwrap_or((expected, ""));
    let is_literal = slip.name.starts_with('"') && slip.name.len() <= NAME_SHOWN;
    (head == "Vec" && is_literal).then(|| Advice::new(format!("a list is expected: `[{}]`", slip.name)))
}

/// Another type where a string is expected.
fn text_argument<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let message = &slip.message.message;
    let source = message.split_once("From<").map_or("", |(_, rest)| rest);
    let source = source.split_once(">`").map_or(source, |(source, _)| source);
    match slip.lookup.known(source) {
        Known::Input(found) => {
            let path = format!("{}::{}Input", found.module.name(), found.tool.prefix);
            Some(Advice::new(format!("call it directly: `{path} {{ … }}.call().await?`")).about([found]))
        }
        Known::Call(found) => Some(awaited(slip, found)),
        Known::Maybe(_) if slip.name == "None" => {
            Some(Advice::new("this argument is required: it can't be `None`"))
        }
        Known::Maybe(_) => {
            Some(Advice::new("this argument is required, not an `Option`: unwrap it with `.context(\"…\")?`"))
        }
        Known::Value => Some(Advice::new(
            "pass arguments one by one, not as JSON; get a string from a JSON value with `.as_str()`",
        )),
        _ if source == "{integer}" || source == "{float}" || source.chars().all(char::is_alphanumeric) => {
            Some(Advice::new("a string is expected: `.to_string()`"))
        }
        _ => None,
    }
}

/// A mismatch between the expected type and the one found.
fn mismatched<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let (expected, found) = mismatch(slip.message.label())?;
    let (expected_type, found_type) = (slip.lookup.known(expected), slip.lookup.known(found));
    match (expected_type, found_type) {
        (Known::Call(call), _) | (_, Known::Call(call)) => Some(awaited(slip, call)),
        (Known::Result(..), Known::Result(..)) => {
            Some(Advice::new("the error types differ: unwrap it with `?`, and wrap the value in `Ok(…)`"))
        }
        (Known::Result(..), _) if found == "()" => Some(Advice::new("end it with `Ok(())`")),
        (Known::Result(..), _) => Some(Advice::new("a `Result` is expected: write `Ok(…)`")),
        (_, Known::Result(..)) => Some(result(slip)),
        (Known::Maybe(_), Known::Maybe(_)) => None,
        (Known::Maybe(inner), _) if matches!(slip.lookup.known(&inner), Known::Generated(..)) => {
            argument(slip, &inner)
                .map(|advice| Advice { line: format!("{}, in `Some(…)`", advice.line), ..advice })
        }
        (Known::Maybe(_), _) => Some(Advice::new(
            "an optional field is an `Option`: write `Some(…)`, with `.to_string()` for a string in it",
        )),
        (Known::Generated(owner, name), _) => of_type(slip, owner, &name),
        (_, Known::ToolResult) => Some(tool_result()),
        (_, Known::Maybe(_)) => Some(Advice::new(
            "it is an `Option`: unwrap it with `.context(\"…\")?`, `.unwrap_or_default()` or `if let Some(…)`",
        )),
        _ if expected == "String" && found == "&String" => {
            Some(Advice::new("an owned string is expected: write `.clone()`"))
        }
        _ if expected == "String" && found.starts_with('&') => {
            Some(Advice::new("an owned string is expected: write `.to_string()`"))
        }
        _ => None,
    }
}

/// A comparison or another operation with a generated type.
fn of_types<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    slip.message.quoted().into_iter().find_map(|name| match slip.lookup.known(name) {
        Known::Call(found) => Some(awaited(slip, found)),
        Known::Result(..) => Some(result(slip)),
        Known::Generated(found, name) => of_type(slip, found, &name),
        _ => None,
    })
}

/// Another type where the type called `name` is expected.
fn of_type<'a>(slip: &Slip<'a>, found: Found<'a>, name: &str) -> Option<Advice<'a>> {
    let module = found.module.name();
    let line = match found.shape(name)? {
        Shape::Enum(variants) => of_enum(slip, &format!("{module}::{name}"), &variants),
        Shape::Struct(_) | Shape::Alias(_) => String::new(),
    };
    Some(Advice::new(line).focus(name).about([found]))
}

/// Another type where the enum at `path` is expected: the variant for what was passed, or all.
fn of_enum(slip: &Slip<'_>, path: &str, variants: &[Variant]) -> String {
    let name = path.rsplit("::").next().unwrap_or(path);
    let near = nearest(slip.name.trim_matches('"'), variants.iter().map(|variant| variant.name.as_str()));
    let is_literal = slip.name.starts_with('"');
    let given = passed(slip);
    let mut holding =
        variants.iter().filter(|variant| variant.held.as_deref().is_some_and(|held| takes(held, &given)));
    match (near.first(), holding.next()) {
        (Some(near), _) if is_literal => format!("write a `{name}` as `{path}::{near}`"),
        (_, Some(only)) if holding.next().is_none() && !only.is_any_text() => {
            format!("write a `{name}` as `{path}::{}(…)`, with this value in it", only.name)
        }
        _ => {
            let names = all(variants.iter().map(|variant| variant.name.as_str()), "or");
            format!("write a `{name}` as `{path}::…`: {names}")
        }
    }
}

/// The type of what was passed instead.
fn passed(slip: &Slip<'_>) -> String {
    let message = slip.message;
    let found = mismatch(message.label()).map(|(_, found)| found);
    let found = found.or_else(|| message.message.split("but this is a `").nth(1)?.split('`').next());
    found.unwrap_or("").trim_start_matches('&').to_owned()
}

/// Whether a variant with a value of the type `held` takes a value of the type `given`.
fn takes(held: &str, given: &str) -> bool {
    let is_number = |name: &str| {
        let name = name.trim_matches(['{', '}']);
        matches!(name, "integer" | "float" | "floating-point number" | "usize" | "isize")
            || name.strip_prefix(['i', 'u', 'f']).is_some_and(|width| width.parse::<u8>().is_ok())
    };
    match held {
        "String" => matches!(given, "str" | "String" | "char"),
        "i64" | "u64" | "f64" => is_number(given),
        _ if held.starts_with("Vec<") => given.starts_with("Vec<") || given.starts_with('['),
        _ if held.starts_with("IndexMap<") => given.contains("Map<"),
        _ => given.rsplit("::").next() == Some(held),
    }
}

/// A value of unknown type: text read as JSON, or `None` for an optional argument.
fn untyped<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let mut statement = slip.tokens.statement(slip.at);
    if statement.any(|index| {
        slip.tokens.word(index) == "json" && slip.tokens.kind(index + 1) == Some(Kind::Open('('))
    }) {
        return Some(Advice::new("name the type to read: `.json::<Value>()?`, or your own type"));
    }
    let setter = slip.at.checked_sub(2).map(|before| slip.tokens.word(before))?;
    let found = slip
        .nearby()
        .into_iter()
        .find(|found| found.form().input.iter().any(|field| field.optional && field.name == setter))
        .filter(|_| slip.name == "None")?;
    Some(
        Advice::new(format!("remove `.{setter}(None)`: arguments that are not set are not sent"))
            .about([found]),
    )
}

/// A closure for `concurrently` that does not end with a `Result`.
fn of_concurrently<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let is_work = slip.name.contains("concurrently") || slip.notes("concurrently");
    if !is_work {
        return None;
    }
    let call = crate::messages::quoted(slip.message.label()).into_iter().find_map(|name| {
        match slip.lookup.known(name) {
            Known::Call(found) => Some(found),
            _ => None,
        }
    });
    Some(match call {
        Some(found) => {
            Advice::new(format!("the closure must end with a `Result`: `{}(…).await`", found.path()))
                .about([found])
        }
        None => Advice::new("the closure of `concurrently` must end with a `Result`: `Ok(value)`"),
    })
}
