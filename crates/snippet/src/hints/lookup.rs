//! Finds the catalog's tools and types that a snippet or a compiler message names.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::enums;
use super::signature::{Shape, Signature};
use crate::catalog::{Catalog, ServerModule, Tool};
use crate::tokens::{Kind, Tokens};

/// Maximum number of tools whose signatures are read for their type names.
const TOOLS_READ: usize = 2_000;

/// A tool with its server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) module: &'a dyn ServerModule,
    pub(crate) tool: Tool<'a>,
}

impl<'a> Found<'a> {
    /// The parsed signature; empty if it can't be read.
    pub(crate) fn form(&self) -> Signature {
        Signature::read(&self.signature(), self.tool.prefix)
    }

    /// The definition of the type called `name`: as in the signature, or of an enum of texts, which a signature may show
    /// by its texts alone, as in its code.
    pub(crate) fn shape(&self, name: &str) -> Option<Shape> {
        self.form().into_shape(name).or_else(|| enums::shape(&self.module.definition(name)?, name))
    }

    pub(crate) fn signature(&self) -> String {
        self.module.signature(self.tool)
    }

    /// The path of the stub as a snippet names it.
    pub(crate) fn path(&self) -> String {
        format!("{}::{}", self.module.name(), self.tool.function)
    }

    pub(crate) fn key(&self) -> (&'a str, &'a str) {
        (self.module.name(), self.tool.function)
    }
}

/// A type as compiler messages name it.
#[derive(Debug)]
pub(crate) enum Known<'a> {
    /// The future of a call.
    Call(Found<'a>),
    /// The struct of a tool's arguments.
    Input(Found<'a>),
    /// Another generated type, by its name.
    Generated(Found<'a>, String),
    /// A result, by the types of value and error.
    Result(String, String),
    /// The result of a tool without an output schema.
    ToolResult,
    /// A JSON value.
    Value,
    /// A list, by the type of its items.
    List(String),
    /// An `Option`, by the type in it.
    Maybe(String),
    /// Any other type.
    Other,
}

/// The catalog as seen from a snippet.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    /// The modules, those that the snippet names first.
    modules: Vec<&'a dyn ServerModule>,
    /// The number of modules the snippet names.
    named: usize,
    catalog: &'a dyn Catalog,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(catalog: &'a dyn Catalog, tokens: &Tokens<'_>) -> Self {
        let words: BTreeSet<&str> = tokens.words().map(|(_, word)| word).collect();
        let all = catalog.modules().into_iter();
        let (mut modules, rest): (Vec<_>, Vec<_>) = all.partition(|module| words.contains(module.name()));
        let named = modules.len();
        modules.extend(rest);
        Lookup { modules, named, catalog }
    }

    /// All modules, those that the snippet names first.
    pub(crate) fn modules(&self) -> &[&'a dyn ServerModule] {
        &self.modules
    }

    /// Whether the snippet names `module`.
    pub(crate) fn is_named(&self, module: &dyn ServerModule) -> bool {
        self.modules.iter().take(self.named).any(|other| other.name() == module.name())
    }

    pub(crate) fn module(&self, name: &str) -> Option<&'a dyn ServerModule> {
        self.modules.iter().copied().find(|module| module.name() == name)
    }

    /// The names of all configured servers, by module: also of those whose tools are unknown.
    pub(crate) fn servers(&self) -> BTreeMap<String, String> {
        let mut servers = self.catalog.absent_servers();
        servers
            .extend(self.modules.iter().map(|module| (module.name().to_owned(), module.server().to_owned())));
        servers
    }

    /// Returns the reason why the server of this module is unavailable.
    pub(crate) fn absent_server(&self, module: &str) -> Option<String> {
        self.catalog.absent_server(module)
    }

    /// Returns the reason why a server's tool was left out.
    pub(crate) fn absent_tool(&self, module: &dyn ServerModule, name: &str) -> Option<String> {
        self.catalog.absent_tool(module.server(), name)
    }

    /// All tools of all modules.
    pub(crate) fn tools(&self) -> impl Iterator<Item = Found<'a>> + '_ {
        self.modules.iter().flat_map(|module| tools(*module))
    }

    /// The tools whose stub is called `function`.
    pub(crate) fn functions(&self, function: &str) -> Vec<Found<'a>> {
        self.tools().filter(|found| found.tool.function == function).collect()
    }

    /// The tools that have a type called `name`.
    pub(crate) fn owners(&self, name: &str) -> Vec<Found<'a>> {
        self.modules.iter().flat_map(|module| owners(*module, name)).collect()
    }

    /// Resolves a type named in a message, ignoring references.
    pub(crate) fn known(&self, name: &str) -> Known<'a> {
        let name = unreferenced(name);
        let (head, arguments) = match name.split_once('<') {
            Some((head, rest)) => (head, rest.strip_suffix('>').unwrap_or(rest)),
            None => (name, ""),
        };
        let head = head.rsplit("::").next().unwrap_or(head);
        let arguments = super::signature::parts(arguments);
        let argument = |index: usize| arguments.get(index).copied().unwrap_or("_").to_owned();
        match head {
            "Result" => return Known::Result(argument(0), argument(1)),
            "Option" => return Known::Maybe(argument(0)),
            "Vec" => return Known::List(argument(0)),
            "ToolResult" => return Known::ToolResult,
            "Value" => return Known::Value,
            _ => {}
        }
        let Some(found) = self.owners(head).into_iter().next() else { return Known::Other };
        match head.strip_prefix(found.tool.prefix) {
            Some("Call") => Known::Call(found),
            Some("Input") => Known::Input(found),
            _ => Known::Generated(found, head.to_owned()),
        }
    }

    /// The names of the types of `module`, with their tools.
    pub(crate) fn types(&self, module: &'a dyn ServerModule) -> Vec<(String, Found<'a>)> {
        let mut seen = BTreeSet::new();
        let all = tools(module).take(TOOLS_READ).flat_map(|found| {
            let mut names: Vec<String> = found.form().names().map(ToOwned::to_owned).collect();
            names.push(format!("{}Input", found.tool.prefix));
            names.into_iter().map(move |name| (name, found))
        });
        all.filter(|(name, _)| seen.insert(name.clone())).collect()
    }

    /// The tools that the tokens in `range` name, by stub or type.
    pub(crate) fn within(&self, tokens: &Tokens<'_>, range: Range<usize>) -> Vec<Found<'a>> {
        let mut found = Vec::new();
        for index in range {
            let word = tokens.word(index);
            if word.is_empty() {
                continue;
            }
            match self.module(tokens.qualifier(index)) {
                Some(module) => {
                    let own = tools(module).find(|found| found.tool.function == word);
                    found.extend(own.or_else(|| owners(module, word).into_iter().next()));
                }
                // Imported and used by its name alone.
                None if tokens.is_plain(index) && tokens.kind(index + 1) == Some(Kind::Open('(')) => {
                    found.extend(self.functions(word).into_iter().find(|found| self.is_named(found.module)));
                }
                None => {}
            }
        }
        found
    }
}

/// The tools of a module.
pub(crate) fn tools(module: &dyn ServerModule) -> impl Iterator<Item = Found<'_>> {
    module.tools().map(move |tool| Found { module, tool })
}

/// The tools of a module that have a type called `name`: their own, or one that they share.
fn owners<'a>(module: &'a dyn ServerModule, name: &str) -> Vec<Found<'a>> {
    let is_own =
        |found: &Found<'_>| matches!(name.strip_prefix(found.tool.prefix), Some("Input" | "Output" | "Call"));
    let own = tools(module).find(is_own);
    let users = module.users(name).map(|tool| Found { module, tool });
    own.into_iter().chain(users.filter(|found| !is_own(found))).collect()
}

/// The type without leading references.
fn unreferenced(name: &str) -> &str {
    let mut name = name.trim();
    while let Some(rest) = name.strip_prefix('&') {
        // Skip the lifetime and `mut` of `&'a mut T`.
        let rest = match rest.strip_prefix('\'') {
            Some(lifetime) => lifetime.split_once(' ').map_or("", |(_, rest)| rest),
            None => rest,
        };
        name = rest.trim_start().strip_prefix("mut ").unwrap_or(rest).trim();
    }
    name
}

impl Known<'_> {
    /// Whether the result's error certainly converts with `?`.
    pub(crate) fn is_result_of_call(&self) -> bool {
        matches!(self, Known::Result(_, error) if matches!(error.rsplit("::").next(), Some("ToolError")))
    }
}

impl Signature {
    /// Whether the result has a public field called `name`.
    pub(crate) fn has_output_field(&self, name: &str) -> bool {
        if self.output == "ToolResult" {
            return matches!(name, "content" | "structured");
        }
        match self.shape(&self.output) {
            Some(Shape::Struct(fields)) => fields.iter().any(|field| field.name == name),
            _ => false,
        }
    }
}
