//! Advice on members: unknown fields, variants and setters, and missing fields.

use super::advice::Advice;
use super::lookup::{Found, Known};
use super::nearest::nearest;
use super::shown::{all, did_you_mean, list, quoted};
use super::signature::{Field, Shape, Variant};
use super::slip::Slip;
use super::values::{awaited, is_result_method, result, tool_result};
use super::{imports, literal};

/// Errors about members.
const MEMBERS: [&str; 8] = ["E0026", "E0560", "E0599", "E0608", "E0609", "E0615", "E0616", "E0624"];

pub(super) fn advice<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let code = slip.message.code();
    if code == "E0063" {
        return missing(slip);
    }
    if !MEMBERS.contains(&code) {
        return None;
    }
    let known = slip.message.quoted().into_iter().map(|name| slip.lookup.known(name));
    let known = known.into_iter().find(|known| !matches!(known, Known::Other));
    match known {
        Some(Known::Call(found)) => Some(of_call(slip, found)),
        Some(Known::Input(found)) => Some(of_input(slip, found)),
        Some(Known::Generated(found, name)) => of_generated(slip, found, &name),
        Some(Known::Result(..)) => Some(result(slip)),
        Some(Known::ToolResult) => Some(tool_result()),
        _ if code == "E0608" && slip.message.quoted().contains(&"bridge::Args") => Some(Advice::new(
            "read an argument by its name: `args.require(\"name\")?`, or `args.get(\"name\")` for an `Option`",
        )),
        Some(Known::Value) if code == "E0609" => {
            let name = slip.name;
            Some(Advice::new(format!(
                "a JSON value has no fields: write `[\"{name}\"]` instead of `.{name}`"
            )))
        }
        Some(Known::List(item)) if code == "E0609" => of_list(slip, &item),
        Some(Known::Maybe(inner)) if code == "E0609" => {
            let line = "it is an `Option`: get its value with `.context(\"…\")?` or `if let Some(…)`";
            Some(Advice::new(line).about(owner(slip, &inner)))
        }
        _ => by_import(slip),
    }
}

fn owner<'a>(slip: &Slip<'a>, name: &str) -> Option<Found<'a>> {
    match slip.lookup.known(name) {
        Known::Call(found) | Known::Input(found) | Known::Generated(found, _) => Some(found),
        _ => None,
    }
}

/// A method that is available once its trait is imported.
fn by_import<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let found = imports::candidates(slip)?;
    let uses: Vec<String> = found.paths.iter().map(|path| format!("use {path};")).collect();
    let uses = list(uses.iter().map(String::as_str), "or");
    let of_iterators = found.paths.iter().any(|path| path == "itertools::Itertools");
    let whose = if of_iterators { " (a method of iterators: `.iter()`, `.into_iter()`)" } else { "" };
    Some(Advice::new(format!("{} needs its trait to be in scope: add {uses}{whose}", quoted(slip.name))))
}

/// A member of a call that is not a setter.
fn of_call<'a>(slip: &Slip<'a>, found: Found<'a>) -> Advice<'a> {
    let form = found.form();
    let is_result = is_result_method(slip.name);
    let is_text = form.output == "ToolResult" && matches!(slip.name, "text" | "json");
    if slip.message.code() != "E0599" || is_result || is_text {
        return awaited(slip, found);
    }
    let (path, name) = (found.path(), quoted(slip.name));
    if form.input.iter().any(|field| field.name == slip.name && !field.optional) {
        let required = form.input.iter().filter(|field| !field.optional).map(|field| field.name.as_str());
        let required: Vec<&str> = required.collect();
        let line =
            format!("{name} is a required argument, passed by position: `{path}({})`", required.join(", "));
        return Advice::new(line).about([found]);
    }
    let optional = || form.input.iter().filter(|field| field.optional).map(|field| field.name.as_str());
    let near = nearest(slip.name, optional());
    let line = match (near.is_empty(), list(optional(), "and")) {
        (false, _) => format!("`{path}` has no argument {name}{}", did_you_mean(near)),
        (true, all) if all.is_empty() => {
            format!(
                "`{path}` has no argument {name} and takes no optional ones; await the call first: `.await?`"
            )
        }
        (true, all) => format!("`{path}` has no argument {name}; optional arguments are {all}"),
    };
    Advice::new(line).about([found])
}

fn of_input<'a>(slip: &Slip<'a>, found: Found<'a>) -> Advice<'a> {
    let form = found.form();
    let name = format!("{}Input", found.tool.prefix);
    if slip.message.code() == "E0599" {
        let line = format!(
            "`{name}` has no method {}: write a literal with all fields, then `.call().await?`",
            quoted(slip.name)
        );
        return Advice::new(line).about([found]);
    }
    unknown_field(slip, found, &name, &form.input)
}

/// A member of a generated type that is not for a call.
fn of_generated<'a>(slip: &Slip<'a>, found: Found<'a>, name: &str) -> Option<Advice<'a>> {
    match found.shape(name)? {
        Shape::Struct(fields) => Some(unknown_field(slip, found, name, &fields)),
        Shape::Enum(variants) => Some(unknown_variant(slip, found, name, &variants)),
        Shape::Alias(_) => Some(Advice::new("").focus(name).about([found])),
    }
}

fn unknown_field<'a>(slip: &Slip<'a>, found: Found<'a>, name: &str, fields: &[Field]) -> Advice<'a> {
    let (code, names) = (slip.message.code(), || fields.iter().map(|field| field.name.as_str()));
    let lists = fields.iter().filter(|field| field.kind.starts_with("Vec<")).map(|field| field.name.as_str());
    let lists: Vec<&str> = lists.collect();
    let near = nearest(slip.name, names());
    let is_method = code == "E0599" || code == "E0608";
    let line = match (&lists[..], list(names(), "and")) {
        _ if code == "E0615" => format!("{} is a method of `{name}`, not a field", quoted(slip.name)),
        _ if !is_method && !near.is_empty() => {
            format!("`{name}` has no field {}{}", quoted(slip.name), did_you_mean(near))
        }
        ([only], _) if is_method => {
            format!("`{name}` is a struct; its list is the field `{only}`: write `.{only}` before it")
        }
        (_, all) if all.is_empty() => format!("`{name}` has no fields"),
        (_, all) if is_method => format!("`{name}` is a struct with the fields {all}"),
        (_, all) => format!("`{name}` has no field {}; its fields are {all}", quoted(slip.name)),
    };
    Advice::new(line).focus(name).about([found])
}

fn unknown_variant<'a>(slip: &Slip<'a>, found: Found<'a>, name: &str, variants: &[Variant]) -> Advice<'a> {
    let names = || variants.iter().map(|variant| variant.name.as_str());
    // Both `demo::Status::pending()` and `demo::Status::Waiting` are unknown variants.
    let near = nearest(slip.name, names());
    let line = match near.is_empty() {
        true => format!("`{name}` has no {}; its variants are {}", quoted(slip.name), all(names(), "and")),
        false => format!("`{name}` has no {}{}", quoted(slip.name), did_you_mean(near)),
    };
    Advice::new(line).focus(name).about([found])
}

/// A field of a list, where an item is meant.
fn of_list<'a>(slip: &Slip<'a>, item: &str) -> Option<Advice<'a>> {
    let found = owner(slip, item)?;
    let line = format!("it is a list of `{item}`: iterate with `.iter()`, or take one item with `[0]`");
    let form = found.form();
    let field = form.fields(item).is_some_and(|fields| fields.iter().any(|field| field.name == slip.name));
    let line =
        if field { line } else { format!("{line}; `{item}` has no field {} either", quoted(slip.name)) };
    Some(Advice::new(line).focus(item).about([found]))
}

/// A struct literal that lacks fields.
fn missing<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let literal = literal::incomplete(slip)?;
    let required = literal.missing.iter().filter(|field| !field.optional);
    let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
    let optional = literal.missing.iter().filter(|field| field.optional);
    let none: Vec<String> = optional.map(|field| format!("{}: {}", field.name, field.absent())).collect();
    let none = list(none.iter().map(String::as_str), "and");
    let mut line = format!("a literal of `{}` needs every field", literal.name);
    if !required.is_empty() {
        line.push_str(&format!("; {} must be set", list(required, "and")));
    }
    if !none.is_empty() {
        line.push_str(&format!("; write {none} for the others"));
    }
    if literal.name == format!("{}Input", literal.found.tool.prefix) {
        line.push_str(&format!(", or call `{}(…)`", literal.found.path()));
    }
    Some(Advice::new(line).focus(&literal.name).about([literal.found]))
}
