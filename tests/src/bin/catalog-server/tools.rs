//! Builds the tools from the domains and their operations.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The hand-written domains.
const DOMAINS: &str = include_str!("domains.json");

/// A subject area of tools.
#[derive(Deserialize)]
pub(crate) struct Domain {
    pub(crate) name: String,
    /// The noun for its items, singular and plural.
    pub(crate) one: String,
    pub(crate) many: String,
    what: String,
    /// The fields of an item.
    pub(crate) fields: Vec<Field>,
    own: Vec<SpecificTool>,
}

/// Name, kind and description. A kind with commas is an enumeration of words.
#[derive(Deserialize)]
pub(crate) struct Field(pub(crate) String, pub(crate) String, pub(crate) String);

/// A tool specific to this domain.
#[derive(Deserialize)]
struct SpecificTool {
    name: String,
    description: String,
    parameters: Vec<Field>,
}

/// The kind of a tool's answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// One item.
    Thing,
    /// Several items.
    Things,
    /// The number of items.
    Count,
    /// A confirmation.
    Done,
}

/// A tool as it is listed, and its kind of answer.
pub(crate) struct Entry {
    pub(crate) tool: Value,
    pub(crate) domain: Arc<Domain>,
    pub(crate) answer: Answer,
}

/// The parameters of a common tool.
#[derive(Clone, Copy)]
enum ParameterSet {
    /// All fields, of which the first two are required.
    Fields,
    /// The id, and the fields to change.
    IdAndFields,
    /// The id.
    Id,
    /// The id and one text with this name and description.
    IdAnd(&'static str, &'static str),
    /// Cursor, limit and sort order.
    Page,
    /// Query and limit.
    Words,
    /// One text with this name and description.
    Only(&'static str, &'static str),
    /// Several ids.
    Ids,
}

/// Name, description, parameters and answer of the tools common to all domains.
const COMMON: [(&str, &str, ParameterSet, Answer); 22] = [
    (
        "create_{one}",
        "Creates a new {one} ({what}) and returns it with its id.",
        ParameterSet::Fields,
        Answer::Thing,
    ),
    (
        "get_{one}",
        "Retrieves a single {one} by its id, with all of its fields.",
        ParameterSet::Id,
        Answer::Thing,
    ),
    (
        "update_{one}",
        "Changes some fields of a {one} and leaves the others.",
        ParameterSet::IdAndFields,
        Answer::Thing,
    ),
    ("delete_{one}", "Deletes a {one} for good. This cannot be undone.", ParameterSet::Id, Answer::Done),
    (
        "list_{many}",
        "Lists {many}, one page at a time, in a chosen order.",
        ParameterSet::Page,
        Answer::Things,
    ),
    (
        "search_{many}",
        "Full-text search over {many} ({what}), best matches first.",
        ParameterSet::Words,
        Answer::Things,
    ),
    (
        "count_{many}",
        "Counts the {many} that match a filter.",
        ParameterSet::Only("filter", "Condition on the fields, as in `name = \"x\"`"),
        Answer::Count,
    ),
    ("archive_{one}", "Hides a {one} from lists without deleting it.", ParameterSet::Id, Answer::Done),
    ("restore_{one}", "Brings an archived {one} back.", ParameterSet::Id, Answer::Thing),
    ("duplicate_{one}", "Makes a copy of a {one} under a new id.", ParameterSet::Id, Answer::Thing),
    (
        "export_{many}",
        "Writes all {many} to a file in CSV, JSON or XLSX.",
        ParameterSet::Only("format", "csv, json or xlsx"),
        Answer::Done,
    ),
    (
        "import_{many}",
        "Reads {many} from an uploaded CSV or JSON file.",
        ParameterSet::Only("file_url", "Address of the file"),
        Answer::Count,
    ),
    (
        "share_{one}",
        "Gives another user access to a {one}.",
        ParameterSet::IdAnd("person", "Mail address of the user"),
        Answer::Done,
    ),
    ("tag_{one}", "Attaches a label to a {one}.", ParameterSet::IdAnd("tag", "The label"), Answer::Done),
    ("untag_{one}", "Removes a label from a {one}.", ParameterSet::IdAnd("tag", "The label"), Answer::Done),
    (
        "comment_on_{one}",
        "Adds a remark to a {one} that others can read.",
        ParameterSet::IdAnd("text", "The remark, in Markdown"),
        Answer::Done,
    ),
    (
        "list_{one}_comments",
        "Reads the remarks that people left on a {one}.",
        ParameterSet::Id,
        Answer::Things,
    ),
    ("get_{one}_history", "Shows who changed what in a {one}, and when.", ParameterSet::Id, Answer::Things),
    ("compare_{many}", "Shows in which fields two or more {many} differ.", ParameterSet::Ids, Answer::Things),
    (
        "assign_{one}",
        "Assigns a {one} to a person.",
        ParameterSet::IdAnd("person", "Mail address of the person"),
        Answer::Done,
    ),
    ("watch_{one}", "Subscribes the caller to notifications about a {one}.", ParameterSet::Id, Answer::Done),
    ("summarize_{many}", "Condenses several {many} into a short overview.", ParameterSet::Ids, Answer::Done),
];

/// All tools, domain by domain.
pub(crate) fn all() -> Result<Vec<Entry>, serde_json::Error> {
    let domains: Vec<Domain> = serde_json::from_str(DOMAINS)?;
    Ok(domains.into_iter().map(Arc::new).flat_map(|domain| of(&domain)).collect())
}

fn of(domain: &Arc<Domain>) -> Vec<Entry> {
    let filled = |text: &str| {
        text.replace("{one}", &domain.one).replace("{many}", &domain.many).replace("{what}", &domain.what)
    };
    let mut entries = Vec::new();
    let mut add = |name: &str, description: String, input: Value, answer: Answer| {
        let mut tool = json!({
            "name": format!("{}_{name}", domain.name),
            "description": description,
            "inputSchema": input,
        });
        if let Some(output) = output(domain, answer) {
            tool["outputSchema"] = output;
        }
        entries.push(Entry { tool, domain: domain.clone(), answer });
    };
    for (name, description, takes, answer) in COMMON {
        add(&filled(name), filled(description), input(domain, takes), answer);
    }
    for own in &domain.own {
        let required: Vec<_> = own.parameters.iter().take(1).map(|field| field.0.as_str()).collect();
        add(
            &own.name,
            own.description.clone(),
            object(&properties(&own.parameters), &required),
            Answer::Done,
        );
    }
    entries
}

fn input(domain: &Domain, takes: ParameterSet) -> Value {
    let id = format!("{}_id", domain.one);
    let with_id = |mut properties: Map<String, Value>, required: &[&str]| {
        properties.insert(
            id.clone(),
            json!({ "type": "string", "description": format!("Id of the {}", domain.one) }),
        );
        object(&properties, &[&[id.as_str()], required].concat())
    };
    let text = |name: &str, description: &str| {
        Map::from_iter([(name.to_owned(), json!({ "type": "string", "description": description }))])
    };
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": 100, "description": "How many at most" });
    match takes {
        ParameterSet::Fields => {
            let required: Vec<_> = domain.fields.iter().take(2).map(|field| field.0.as_str()).collect();
            object(&properties(&domain.fields), &required)
        }
        ParameterSet::IdAndFields => with_id(properties(&domain.fields), &[]),
        ParameterSet::Id => with_id(Map::new(), &[]),
        ParameterSet::IdAnd(name, description) => with_id(text(name, description), &[name]),
        ParameterSet::Page => {
            let names: Vec<_> = domain.fields.iter().map(|field| &field.0).collect();
            let mut properties = text("cursor", "Where the last page ended");
            properties.insert("limit".to_owned(), limit);
            properties.insert(
                "sort_by".to_owned(),
                json!({ "type": "string", "enum": names, "description": "Field to sort by" }),
            );
            object(&properties, &[])
        }
        ParameterSet::Words => {
            let mut properties = text("query", "Words to look for");
            properties.insert("limit".to_owned(), limit);
            object(&properties, &["query"])
        }
        ParameterSet::Only(name, description) => object(&text(name, description), &[name]),
        ParameterSet::Ids => {
            let ids = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "description": format!("Ids of the {}", domain.many) });
            object(
                &Map::from_iter([(format!("{}_ids", domain.one), ids)]),
                &[format!("{}_ids", domain.one).as_str()],
            )
        }
    }
}

/// Only tools that return one item or a number have an output schema, as with real servers.
fn output(domain: &Domain, answer: Answer) -> Option<Value> {
    match answer {
        Answer::Thing => {
            let mut properties = properties(&domain.fields);
            properties.insert("id".to_owned(), json!({ "type": "string" }));
            Some(object(&properties, &["id"]))
        }
        Answer::Count => {
            Some(object(&Map::from_iter([("count".to_owned(), json!({ "type": "integer" }))]), &["count"]))
        }
        Answer::Things | Answer::Done => None,
    }
}

fn properties(fields: &[Field]) -> Map<String, Value> {
    let described = |Field(name, kind, description): &Field| {
        let mut schema = match kind.as_str() {
            "integer" | "number" | "boolean" => json!({ "type": kind }),
            "date" | "date-time" | "email" => json!({ "type": "string", "format": kind }),
            "strings" => json!({ "type": "array", "items": { "type": "string" } }),
            words if words.contains(',') => {
                json!({ "type": "string", "enum": words.split(',').collect::<Vec<_>>() })
            }
            _ => json!({ "type": "string" }),
        };
        schema["description"] = json!(description);
        (name.clone(), schema)
    };
    fields.iter().map(described).collect()
}

fn object(properties: &Map<String, Value>, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
