//! The operations of a document: their names, their arguments, and what they answer.

use std::collections::{HashMap, HashSet};

use oas3::spec::{Encoding, ParameterIn, ParameterStyle};
use serde_json::{Map, Value, json};

use crate::arguments::{Arguments, described};
use crate::document::{Document, bounded};
use crate::error::Error;
use crate::media;
use crate::schema::Pool;

/// The methods of a path, in the order in which their operations are listed.
const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/// Maximum length of a tool's name (MCP, server/tools, "Tool Names").
const MAX_NAME: usize = 128;

/// Headers that a parameter cannot set (OpenAPI, "Parameter Object").
const RESERVED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// An operation, which becomes a tool.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    /// In capitals.
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) is_deprecated: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    /// The media types to ask for.
    pub(crate) accept: String,
    /// A server of its own instead of the document's.
    pub(crate) server: Option<oas3::spec::Server>,
    /// The translated schema of its arguments.
    pub(crate) input: Value,
    /// The translated schema of its answers, or why there is none.
    pub(crate) output: Result<Value, Untyped>,
}

/// The reason for an answer without a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untyped {
    /// It has no body, such as that of `204 No Content`.
    NoBody,
    /// It is not JSON.
    NotJson,
    /// The document has no schema for it.
    NoSchema,
}

/// A parameter of a request outside its body.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// The argument with its value.
    pub(crate) argument: String,
    pub(crate) name: String,
    pub(crate) place: ParameterIn,
    pub(crate) style: ParameterStyle,
    pub(crate) explodes: bool,
    /// Whether its value is written as JSON.
    pub(crate) is_json: bool,
}

/// The body of a request.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) media_type: String,
    pub(crate) arguments: BodyArguments,
    /// How the members of a form are written.
    pub(crate) encodings: HashMap<String, Encoding>,
    /// The members of a form that are files.
    pub(crate) files: HashSet<String>,
}

/// The arguments that make the body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyArguments {
    /// One argument.
    Whole(String),
    /// An argument for each member.
    Members(HashSet<String>),
}

/// The operations of a document, and what is wrong with those that are left out.
pub(crate) struct Operations {
    pub(crate) all: Vec<Operation>,
    pub(crate) warnings: Vec<String>,
}

/// Reads all operations, in the order of the document. `configured` are the headers that each request has anyway, in
/// lower case.
pub(crate) fn operations(
    document: &Document,
    pool: &mut Pool<'_>,
    configured: &HashSet<String>,
) -> Result<Operations, Error> {
    let mut found = Operations { all: Vec::new(), warnings: Vec::new() };
    let mut names = HashSet::new();
    for (path, item) in document.root["paths"].as_object().into_iter().flatten() {
        let item = document.resolved(item)?;
        for method in METHODS {
            let Some(given) = item.get(method).filter(|given| given.is_object()) else { continue };
            let reader = Reader { document, configured, path, item, method };
            match reader.operation(given, pool) {
                Ok(mut operation) => {
                    operation.name = unique(operation.name, method, path, &mut names);
                    found.all.push(operation);
                }
                // A reference that leaves the document concerns the document as a whole.
                Err(Fault::Document(error)) => return Err(error),
                Err(Fault::Operation(reason)) => {
                    let place = bounded(&format!("{} {path}", method.to_uppercase()));
                    found.warnings.push(format!("{place} is left out: {}", bounded(&reason)));
                }
            }
        }
    }
    Ok(found)
}

/// The name of an operation: its `operationId`; if another operation has that, its method and path, and then a number.
fn unique(name: String, method: &str, path: &str, names: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| tool_name(&format!("{name}_{number}")));
    let mut candidates = [name.clone(), by_path(method, path)].into_iter().chain(numbered);
    let free = candidates.find(|name| !name.is_empty() && !names.contains(name)).unwrap_or(name);
    names.insert(free.clone());
    free
}

fn by_path(method: &str, path: &str) -> String {
    tool_name(&format!("{method}_{path}"))
}

/// A name with only the characters of tool names; a run of others becomes one `_`.
fn tool_name(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        match character {
            c if c.is_ascii_alphanumeric() || "-.".contains(c) => name.push(c),
            _ if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            _ => {}
        }
    }
    name.truncate(MAX_NAME);
    name.trim_end_matches('_').to_owned()
}

/// The reason why an operation can't be used.
enum Fault {
    Document(Error),
    Operation(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Document(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Fault::Operation(error.to_string())
    }
}

/// Reads one operation.
struct Reader<'a> {
    document: &'a Document,
    configured: &'a HashSet<String>,
    path: &'a str,
    item: &'a Value,
    method: &'a str,
}

impl Reader<'_> {
    fn operation(&self, given: &Value, pool: &mut Pool<'_>) -> Result<Operation, Fault> {
        let own = ["tags", "summary", "description", "operationId", "deprecated", "servers"];
        let typed: oas3::spec::Operation = serde_json::from_value(only(given, &own))?;
        let mut arguments = Arguments::default();
        let parameters = self.parameters(given, pool, &mut arguments)?;
        let body = self.body(given, pool, &mut arguments)?;
        let (output, accept) = self.answer(given, pool)?;
        let named = typed.operation_id.as_deref().map(tool_name).filter(|name| !name.is_empty());
        let summary = typed.summary.or_else(|| self.text("summary")).unwrap_or_default();
        let description = typed.description.or_else(|| self.text("description")).unwrap_or_default();
        Ok(Operation {
            name: named.unwrap_or_else(|| by_path(self.method, self.path)),
            method: self.method.to_uppercase(),
            path: self.path.to_owned(),
            summary,
            description,
            tags: typed.tags,
            is_deprecated: typed.deprecated == Some(true),
            parameters,
            body,
            accept,
            server: typed.servers.into_iter().next().or_else(|| self.server()),
            input: arguments.schema(),
            output,
        })
    }

    fn text(&self, key: &str) -> Option<String> {
        self.item[key].as_str().map(str::to_owned)
    }

    fn server(&self) -> Option<oas3::spec::Server> {
        serde_json::from_value(self.item["servers"].get(0)?.clone()).ok()
    }

    /// The parameters of the operation, which replace those of its path with the same name and place.
    fn parameters(
        &self,
        given: &Value,
        pool: &mut Pool<'_>,
        arguments: &mut Arguments,
    ) -> Result<Vec<Parameter>, Fault> {
        let mut by_key: indexmap::IndexMap<(String, &str), (oas3::spec::Parameter, &Value)> =
            indexmap::IndexMap::new();
        let lists = [&self.item["parameters"], &given["parameters"]];
        for parameter in lists.into_iter().filter_map(Value::as_array).flatten() {
            let parameter = self.document.resolved(parameter)?;
            let own = ["name", "in", "description", "required", "deprecated", "style", "explode"];
            let typed: oas3::spec::Parameter = serde_json::from_value(only(parameter, &own))?;
            by_key.insert((typed.name.clone(), place(typed.location)), (typed, parameter));
        }
        // Arguments of the path come first, and keep their names.
        by_key.sort_by_cached_key(|_, (typed, _)| typed.location != ParameterIn::Path);
        let mut parameters = Vec::new();
        for (typed, parameter) in by_key.into_values() {
            let lower = typed.name.to_ascii_lowercase();
            let is_header = typed.location == ParameterIn::Header;
            if is_header && (RESERVED_HEADERS.contains(&lower.as_str()) || self.configured.contains(&lower)) {
                continue;
            }
            let is_json = parameter["content"].is_object();
            let (_, media) = media::first(&parameter["content"]);
            let schema = if is_json { &media["schema"] } else { &parameter["schema"] };
            let argument = arguments.free(&typed.name, place(typed.location));
            let schema = described(pool.translate(schema)?, typed.description.as_deref());
            // Every part of a path is needed, whatever the document says.
            let is_required = typed.location == ParameterIn::Path || typed.required == Some(true);
            arguments.add(&argument, schema, is_required);
            let style = typed.style.unwrap_or(match typed.location {
                ParameterIn::Query | ParameterIn::Cookie => ParameterStyle::Form,
                ParameterIn::Path | ParameterIn::Header => ParameterStyle::Simple,
            });
            parameters.push(Parameter {
                argument,
                name: typed.name,
                place: typed.location,
                style,
                explodes: typed.explode.unwrap_or(style == ParameterStyle::Form),
                is_json,
            });
        }
        let in_path = parameters.iter().filter(|parameter| parameter.place == ParameterIn::Path);
        let mut rest = self.path.to_owned();
        in_path.for_each(|parameter| rest = rest.replace(&format!("{{{}}}", parameter.name), ""));
        if rest.contains('{') {
            return Err(Fault::Operation("its path has a parameter that is not declared".to_owned()));
        }
        Ok(parameters)
    }

    fn body(
        &self,
        given: &Value,
        pool: &mut Pool<'_>,
        arguments: &mut Arguments,
    ) -> Result<Option<Body>, Fault> {
        let Some(body) = given.get("requestBody") else { return Ok(None) };
        let body = self.document.resolved(body)?;
        let Some((media_type, media)) = media::preferred(&body["content"]) else { return Ok(None) };
        let encodings = media["encoding"].as_object().into_iter().flatten();
        let encodings = encodings.filter_map(|(name, given)| {
            let own = ["contentType", "style", "explode"];
            Some((name.clone(), serde_json::from_value(only(given, &own)).ok()?))
        });
        let encodings = encodings.collect();
        let is_required = body["required"] == json!(true);
        let schema = match media.get("schema") {
            Some(schema) => pool.translate(schema)?,
            None if media::is_json(media_type) => json!({}),
            None => json!({ "type": "string" }),
        };
        let target = pool.target(&schema).clone();
        // Some generators declare a body without any member where there is none.
        if !is_required && target["properties"].as_object().is_some_and(Map::is_empty) {
            return Ok(None);
        }
        let is_form = media::is_form(media_type);
        let members = target["properties"].as_object();
        let files = members.into_iter().flatten().filter(|(_, member)| is_file(pool.target(member)));
        let files = files.map(|(name, _)| name.clone()).collect();
        let is_flat = (is_form || media::is_json(media_type)) && is_plain_object(&target, is_required);
        let members = members
            .filter(|members| is_flat && members.keys().all(|name| !arguments.properties.contains_key(name)));
        let body_arguments = match members {
            Some(members) => {
                let required = target["required"].as_array();
                let is_required = |name: &str| required.is_some_and(|all| all.contains(&json!(name)));
                let mut names = HashSet::new();
                for (name, member) in members {
                    if pool.target(member)["readOnly"] == json!(true) || member["readOnly"] == json!(true) {
                        continue;
                    }
                    arguments.add(name, member.clone(), is_required(name));
                    names.insert(name.clone());
                }
                BodyArguments::Members(names)
            }
            None => {
                let argument = arguments.free("body", "request");
                let schema = described(schema, body["description"].as_str());
                arguments.add(&argument, schema, is_required);
                BodyArguments::Whole(argument)
            }
        };
        Ok(Some(Body { media_type: media_type.to_owned(), arguments: body_arguments, encodings, files }))
    }

    /// The schema of the successful answers, and the media types to ask for.
    fn answer(&self, given: &Value, pool: &mut Pool<'_>) -> Result<(Result<Value, Untyped>, String), Fault> {
        let all = given["responses"].as_object();
        let successes = |statuses: &dyn Fn(&str) -> bool| {
            let chosen = all.into_iter().flatten().filter(|(status, _)| statuses(status));
            chosen.map(|(_, answer)| answer).collect::<Vec<_>>()
        };
        let mut answers = successes(&|status: &str| status.starts_with('2'));
        if answers.is_empty() {
            answers = successes(&|status: &str| status == "default");
        }
        let (mut schemas, mut accepted) = (Vec::new(), Vec::new());
        let mut why = Untyped::NoBody;
        for answer in answers {
            let answer = self.document.resolved(answer)?;
            let Some(content) = answer["content"].as_object().filter(|content| !content.is_empty()) else {
                continue;
            };
            let json = content.iter().find(|(name, _)| media::is_json(name));
            let Some((name, media)) = json else {
                why = Untyped::NotJson;
                accepted.extend(content.keys().map(String::as_str));
                continue;
            };
            accepted.push(if name.starts_with("*/") { "application/json" } else { name });
            match media.get("schema") {
                Some(schema) => {
                    let schema = pool.translate(schema)?;
                    if !schemas.contains(&schema) {
                        schemas.push(schema);
                    }
                }
                None => why = Untyped::NoSchema,
            }
        }
        accepted.dedup();
        let accept = if accepted.is_empty() { "*/*".to_owned() } else { accepted.join(", ") };
        let schema = match schemas.len() {
            0 => Err(why),
            1 => Ok(schemas.remove(0)),
            _ => Ok(json!({ "anyOf": schemas })),
        };
        // A schema without any keyword describes nothing.
        Ok((
            schema.and_then(|schema| if schema == json!({}) { Err(Untyped::NoSchema) } else { Ok(schema) }),
            accept,
        ))
    }
}

/// The members of an object that `oas3` reads.
fn only(given: &Value, keys: &[&str]) -> Value {
    let members = given.as_object().into_iter().flatten();
    members
        .filter(|(key, value)| keys.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn place(place: ParameterIn) -> &'static str {
    match place {
        ParameterIn::Path => "path",
        ParameterIn::Query => "query",
        ParameterIn::Header => "header",
        ParameterIn::Cookie => "cookie",
    }
}

/// Whether each member of a body can be an argument of its own.
fn is_plain_object(schema: &Value, is_required: bool) -> bool {
    let Some(members) = schema.as_object() else { return false };
    let is_plain = |key: &str| {
        !matches!(key, "allOf" | "anyOf" | "oneOf" | "not" | "if" | "patternProperties" | "dependentSchemas")
    };
    let is_closed =
        members.get("additionalProperties").is_none_or(|more| !more.is_object() && *more != json!(true));
    // A body that may be absent as a whole differs from one whose members are absent.
    let is_certain =
        is_required || members.get("required").is_none_or(|all| all.as_array().is_none_or(Vec::is_empty));
    let is_object = members.get("type").is_none_or(|kind| kind == "object");
    let has_members = members.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    members.keys().all(|key| is_plain(key)) && is_closed && is_certain && is_object && has_members
}

/// Whether a member of a form is a file.
fn is_file(schema: &Value) -> bool {
    schema["format"] == json!("binary")
        || schema["contentMediaType"].is_string()
        || schema["contentEncoding"].is_string()
}
