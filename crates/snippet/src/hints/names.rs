//! Advice on names that do not exist: tools, modules, types, crates.

use super::advice::Advice;
use super::imports::{self, CRATES};
use super::lookup::{Found, tools};
use super::nearest::{NEAR_KEPT, nearest};
use super::shown::{did_you_mean, list, quoted};
use super::slip::Slip;
use crate::catalog::ServerModule;
use crate::tokens::Kind;

/// Errors about names that can't be resolved.
const UNRESOLVED: [&str; 9] =
    ["E0405", "E0412", "E0422", "E0423", "E0425", "E0432", "E0433", "E0531", "E0574"];
/// The minimum length of a name that may match the end of a longer one.
const SHORTEST_END: usize = 4;

pub(super) fn advice<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let code = slip.message.code();
    if !UNRESOLVED.contains(&code) {
        return None;
    }
    let quoted = slip.message.quoted();
    let name = *quoted.first()?;
    if code == "E0432" {
        return imported(slip, name);
    }
    if code == "E0423" || code == "E0574" {
        return misused(slip, &quoted);
    }
    match quoted.get(1) {
        Some(container) => within(slip, container, name),
        None => bare(slip, name),
    }
}

/// An unknown path in a `use`.
fn imported<'a>(slip: &Slip<'a>, path: &str) -> Option<Advice<'a>> {
    let segments: Vec<&str> = path.split("::").map(str::trim).collect();
    if let Some(advice) = segments.first().and_then(|head| absent(slip, head)) {
        return Some(advice);
    }
    match segments[..] {
        [name] => bare(slip, name),
        [container, name] => within(slip, container, name),
        _ => None,
    }
}

/// A name that `container` does not have.
fn within<'a>(slip: &Slip<'a>, container: &str, name: &str) -> Option<Advice<'a>> {
    if let Some(module) = slip.lookup.module(container) {
        return Some(unknown(slip, module, name));
    }
    if !matches!(container, "crate" | "self" | "super") {
        return None;
    }
    match slip.lookup.module(name) {
        Some(module) => Some(at_top(module)),
        // In a crate of `codegen --out`, the bindings are in its module `tools`.
        None if name == "tools" => top_level(slip, name).or_else(|| Some(without_prefix(slip))),
        None => None,
    }
}

/// The servers' modules, for a path that names none of them.
fn without_prefix<'a>(slip: &Slip<'a>) -> Advice<'a> {
    let modules = list(slip.lookup.modules().iter().map(|module| module.name()), "and");
    Advice::new(format!("each server has a module without a prefix: {modules}"))
}

fn at_top<'a>(module: &'a dyn ServerModule) -> Advice<'a> {
    let name = module.name();
    Advice::new(format!("`{name}` is a crate: write `{name}::…` without a prefix"))
}

/// A name that the server's module does not have.
fn unknown<'a>(slip: &Slip<'a>, module: &'a dyn ServerModule, name: &str) -> Advice<'a> {
    if let Some(found) = tools(module).find(|found| found.tool.function == name) {
        let path = found.path();
        let types: Vec<String> =
            found.form().names().map(|name| format!("{}::{name}", module.name())).collect();
        let types = match list(types.iter().map(String::as_str), "and") {
            types if types.is_empty() => "it has no types".to_owned(),
            types => format!("its types are {types}"),
        };
        return Advice::new(format!("`{path}` is a function, not a module; {types}")).about([found]);
    }
    if let Some(advice) = absent(slip, module.name()).filter(|_| module.tools().next().is_none()) {
        return advice;
    }
    if let Some(reason) = slip.lookup.absent_tool(module, name) {
        return Advice::new(format!(
            "{} can't be called: {reason}",
            quoted(&format!("{}::{name}", module.name()))
        ));
    }
    let is_type = name.starts_with(char::is_uppercase);
    let types = if is_type { near_types(slip, module, name) } else { Vec::new() };
    let missing = format!("`{}` has no {}", module.name(), quoted(name));
    if !types.is_empty() {
        let names = types.iter().map(|(name, _)| name.as_str());
        let line = format!("{missing}{}", did_you_mean(names));
        let advice = Advice::new(line).focus(&types[0].0);
        return advice.about(types.into_iter().map(|(_, found)| found));
    }
    let near = near_tools(tools(module), name);
    if near.is_empty() {
        let all = tools(module).map(|found| found.tool.function);
        let line = match list(all, "and") {
            all if all.is_empty() => format!("{missing}: it has no tools"),
            all => format!("{missing}; its tools are {all}"),
        };
        return Advice::new(line);
    }
    let line = format!("{missing}{}", did_you_mean(near.iter().map(|found| found.tool.function)));
    Advice::new(line).about(near)
}

/// The tools with names similar to `name`, by stub or by the server's own name.
fn near_tools<'a>(among: impl Iterator<Item = Found<'a>>, name: &str) -> Vec<Found<'a>> {
    let among: Vec<Found<'a>> = among.collect();
    if let Some(found) = among.iter().find(|found| found.tool.name == name) {
        return vec![*found];
    }
    let near = nearest(name, among.iter().map(|found| found.tool.function));
    let found = near.iter().flat_map(|name| among.iter().filter(move |found| found.tool.function == *name));
    found.take(NEAR_KEPT).copied().collect()
}

/// A module's types whose names are similar to `name` or end with it.
fn near_types<'a>(slip: &Slip<'a>, module: &'a dyn ServerModule, name: &str) -> Vec<(String, Found<'a>)> {
    let types = slip.lookup.types(module);
    // The name of a tool means its arguments: `demo::ListOrders { … }`.
    let mut found: Vec<(String, Found<'a>)> =
        types.iter().filter(|(other, _)| other.strip_suffix("Input") == Some(name)).cloned().collect();
    if !found.is_empty() {
        return found;
    }
    found.extend(
        types.iter().filter(|(other, _)| name.len() >= SHORTEST_END && other.ends_with(name)).cloned(),
    );
    for near in nearest(name, types.iter().map(|(name, _)| name.as_str())) {
        found.extend(types.iter().find(|(other, _)| other == near).cloned());
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|(name, _)| seen.insert(name.clone()));
    found.truncate(NEAR_KEPT);
    found
}

/// A configured server that is unavailable, by its module name.
fn absent<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    let reason = slip.lookup.absent_server(name)?;
    Some(Advice::new(format!("the server of the module {} can't be used now: {reason}", quoted(name))))
}

/// A name that is not in scope.
fn bare<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    if let Some(advice) = absent(slip, name) {
        return Some(advice);
    }
    let exact = slip.lookup.functions(name);
    if !exact.is_empty() {
        let paths: Vec<String> = exact.iter().map(Found::path).collect();
        let paths = list(paths.iter().map(String::as_str), "or");
        return Some(Advice::new(format!("{} is a tool: write {paths}", quoted(name))).about(exact));
    }
    let owners = slip.lookup.owners(name);
    if !owners.is_empty() {
        let paths: Vec<String> =
            owners.iter().map(|found| format!("{}::{name}", found.module.name())).collect();
        let paths = list(paths.iter().map(String::as_str), "or");
        let line = format!("{} is a type of a tool: write {paths}", quoted(name));
        return Some(Advice::new(line).focus(name).about(owners));
    }
    let found = named_argument(slip, name)
        .or_else(|| nested(name))
        .or_else(|| server_name(slip))
        .or_else(|| importable(slip, name))
        .or_else(|| top_level(slip, name));
    let found = found.or_else(|| near_module(slip, name)).or_else(|| near_call(slip, name));
    found.or_else(|| tool_as_text(slip)).or_else(|| no_crate(slip, name))
}

/// `limit = 10` as an argument, which assigns to a variable in Rust.
fn named_argument<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    let before = slip.at.checked_sub(1)?;
    let is_argument = slip.tokens.kind(before) == Some(Kind::Open('(')) || slip.tokens.is_sign(before, ',');
    let is_named = slip.tokens.is_sign(slip.at + 1, '=') && !slip.tokens.is_sign(slip.at + 2, '=');
    let line =
        format!("arguments have no names: pass required ones by position, optional ones as `.{name}(…)`");
    (is_argument && is_named).then(|| Advice::new(line))
}

/// A tool named by a string, as in `call_tool("echo")`.
fn tool_as_text<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let arguments = slip.at + 1;
    let end =
        slip.tokens.close(arguments).filter(|_| slip.tokens.kind(arguments) == Some(Kind::Open('(')))?;
    let texts = (arguments..end).filter_map(|index| slip.tokens.literal_text(index));
    let found = texts.map(|text| text.trim_matches('"')).find_map(|text| {
        slip.lookup.tools().find(|found| found.tool.name == text || found.tool.function == text)
    })?;
    Some(Advice::new(format!("tools are functions: `{}(…).await?`", found.path())).about([found]))
}

/// A server's name from the configuration (`my-shop`) instead of its module.
fn server_name<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let place = slip.tokens.range(slip.at);
    let statement = slip.tokens.statement(slip.at);
    let start = slip.tokens.range(statement.start).start;
    let end = slip.tokens.range(statement.end.checked_sub(1)?).end;
    let text = slip.source.text.get(start..end)?;
    let (name, server) = slip.lookup.servers().into_iter().find(|(module, server)| {
        let mut places =
            text.match_indices(server.as_str()).map(|(at, found)| start + at..start + at + found.len());
        server != module && places.any(|found| found.start <= place.start && place.end <= found.end)
    })?;
    let server = quoted(&server);
    Some(Advice::new(format!("the module of the server {server} is `{name}`: write `{name}::…`")))
}

fn importable<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    let found = imports::candidates(slip)?;
    let uses: Vec<String> = found.paths.iter().take(NEAR_KEPT).map(|path| format!("use {path};")).collect();
    let uses = list(uses.iter().map(String::as_str), "or");
    Some(Advice::new(format!("{} is not in scope: add {uses}", quoted(name))))
}

/// A server's module after an unknown name: `tools::demo::echo`, or `tools.demo.echo` as in other languages.
fn top_level<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    let at = place_of(slip, name);
    let member =
        if slip.tokens.is_sign(at + 1, '.') { slip.tokens.word(at + 2) } else { slip.tokens.member(at) };
    slip.lookup.module(member).map(at_top)
}

/// A snippet that runs another one.
fn nested<'a>(name: &str) -> Option<Advice<'a>> {
    let line = "this code is the snippet already: write the inner code itself, without `execute_code`";
    (name == "execute_code").then(|| Advice::new(line))
}

/// The index of the token `name`: an import's span covers the whole path.
fn place_of(slip: &Slip<'_>, name: &str) -> usize {
    let statement = slip.tokens.statement(slip.at);
    (slip.at..statement.end).find(|index| slip.tokens.word(*index) == name).unwrap_or(slip.at)
}

/// Whether `name` is followed by a path: `name::other`.
fn has_members(slip: &Slip<'_>, name: &str) -> bool {
    !slip.tokens.member(place_of(slip, name)).is_empty()
}

fn near_module<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    // `name.tool()`, as in other languages, is handled elsewhere.
    if !has_members(slip, name) && !slip.tokens.is_sign(slip.at + 1, '.') {
        return None;
    }
    let servers = slip.lookup.servers();
    let modules = servers.keys().map(String::as_str);
    let near = nearest(name, modules.clone());
    let near = *near.first()?;
    let line = format!("there is no module {}{}", quoted(name), did_you_mean([near]));
    let line = match servers.len() {
        1 => line,
        _ => format!("{line} The modules are {}.", list(modules, "and")),
    };
    // The member that is used, if it is a tool.
    let member = slip.tokens.member(place_of(slip, name));
    let tool = slip.lookup.module(near).into_iter().flat_map(tools);
    let tool = tool.into_iter().find(|found| found.tool.function == member);
    Some(Advice::new(line).about(tool))
}

/// A function with a name similar to a tool's.
fn near_call<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    if slip.tokens.kind(slip.at + 1) != Some(Kind::Open('(')) || !name.starts_with(char::is_lowercase) {
        return None;
    }
    let near = near_tools(slip.lookup.tools(), name);
    let paths: Vec<String> = near.iter().map(Found::path).collect();
    let meant = did_you_mean(paths.iter().map(String::as_str));
    (!meant.is_empty())
        .then(|| Advice::new(format!("there is no function {}{meant}", quoted(name))).about(near))
}

/// A crate that is not available.
fn no_crate<'a>(slip: &Slip<'a>, name: &str) -> Option<Advice<'a>> {
    let is_crate = name.starts_with(char::is_lowercase) && has_members(slip, name);
    let is_crate = is_crate || slip.message.code() == "E0432";
    let servers = slip.lookup.servers();
    let modules = list(servers.keys().map(String::as_str), "and");
    let modules = if modules.is_empty() { modules } else { format!(", and the tool modules {modules}") };
    let crates = CRATES.join(", ");
    is_crate.then(|| {
        Advice::new(format!(
            "there is no crate or module {}; only these crates are available: std, {crates}{modules}",
            quoted(name)
        ))
    })
}

/// A module or a tool used as a value or a struct.
fn misused<'a>(slip: &Slip<'a>, quoted: &[&str]) -> Option<Advice<'a>> {
    if let Some(module) = quoted.iter().find_map(|name| slip.lookup.module(name)) {
        let name = module.name();
        let member = slip.tokens.word(slip.at + 2);
        let found = tools(module).find(|found| found.tool.function == member);
        return Some(Advice::new(format!("`{name}` is a module: write `{name}::{member}`")).about(found));
    }
    let (module, name) = quoted.iter().find(|name| name.contains("::"))?.rsplit_once("::")?;
    let module = slip.lookup.module(module)?;
    let found = tools(module).find(|found| found.tool.function == name)?;
    let (path, input) = (found.path(), format!("{}::{}Input", module.name(), found.tool.prefix));
    Some(
        Advice::new(format!("`{path}` is a function; the struct for its arguments is `{input}`"))
            .about([found]),
    )
}
