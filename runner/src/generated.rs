//! Caches generated bindings and reads them piecewise.
//!
//! Generating takes about a millisecond per tool, and the code of a thousand tools is some megabytes, of which a
//! snippet needs a few kilobytes: an index lists the tools and their offsets in a file of texts.
//!
//! | input of the key | why |
//! | --- | --- |
//! | build of codegen | what it generates |
//! | server, module name | names in the code |
//! | digest of the tools, with descriptions and schemas | the code and its signatures |
//! | style | how much of the descriptions signatures show |

use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Bound;
use std::os::unix::fs::FileExt as _;

use codegen::Warning;
use serde::{Deserialize, Serialize};

use crate::cache::{Bucket, Cache, Entry, Key};
use crate::error::{Error, Result};

/// The index in an entry's folder, and the file of texts that it points into.
const INDEX: &str = "index.json";
const TEXTS: &str = "texts";

/// A tool in generated code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolEntry {
    /// The server's name for the tool.
    pub name: String,
    /// The name of its stub.
    pub function: String,
    /// The prefix of its type names.
    pub prefix: String,
    /// Its identity in a program's manifest and for the broker.
    pub id: String,
    /// The indices of the types that its code needs.
    types: Vec<usize>,
    source: Piece,
    signature: Piece,
    documentation: Piece,
}

/// A type in generated code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TypeEntry {
    name: String,
    /// The indices of the types that its code needs, including itself.
    types: Vec<usize>,
    source: Piece,
}

/// The parts of a server that a snippet uses.
#[derive(Debug, Default)]
pub(crate) struct Selection<'a> {
    pub(crate) tools: Vec<&'a ToolEntry>,
    /// The types that it names, and all that its tools and types need.
    types: Vec<&'a TypeEntry>,
}

/// Offset and length of a text, in bytes.
type Piece = (u64, usize);

#[derive(Debug, Serialize, Deserialize)]
struct Index {
    tools: Vec<ToolEntry>,
    types: Vec<TypeEntry>,
    /// Tool, path and reason of each.
    warnings: Vec<(String, String, String)>,
}

/// The bindings of one server.
#[derive(Debug)]
pub(crate) struct Generated {
    /// The key of the cache entry; equal keys mean equal code.
    pub(crate) key: String,
    /// Whether they were just generated, not found in the cache.
    pub(crate) is_new: bool,
    server: String,
    index: Index,
    texts: Texts,
}

#[derive(Debug)]
enum Texts {
    /// In a cache entry, held against eviction; the open file stays readable even if the cache is deleted.
    Kept(File, Entry),
    /// In memory, because they could not be cached.
    Held(String),
}

impl ToolEntry {
    /// Whether one of a snippet's identifiers may refer to the tool: its stub, or one of the types that are named after it.
    fn is_named(&self, identifiers: &BTreeSet<String>) -> bool {
        // Sorted: all identifiers with the prefix follow it.
        let from = (Bound::Included(self.prefix.as_str()), Bound::Unbounded);
        identifiers.contains(&self.function)
            || identifiers
                .range::<str, _>(from)
                .next()
                .is_some_and(|identifier| identifier.starts_with(&self.prefix))
    }
}

impl Generated {
    /// The bindings of `server` as the module `module`; `tools` is called only if they are not cached, and `digest`
    /// represents the tools in the key.
    pub(crate) fn open(
        cache: &Cache,
        server: &str,
        module: &str,
        digest: &str,
        tools: impl FnOnce() -> Vec<codegen::Tool>,
        style: &codegen::Style,
    ) -> Self {
        let key = key(codegen::BUILD, (server, module), digest, style);
        if let Some((index, texts)) = kept(cache, &key) {
            return Generated { key, is_new: false, server: server.to_owned(), index, texts };
        }
        let server = codegen::Server { name: server.to_owned(), tools: tools() };
        let (index, text) = record(codegen::generate_with(&server, module, style));
        let server = server.name;
        // Without the entry, they are generated again; a full disk is reported elsewhere.
        let texts = keep(cache, &key, &index, &text).unwrap_or(Texts::Held(text));
        Generated { key, is_new: true, server, index, texts }
    }

    /// All tools, sorted by name.
    pub(crate) fn tools(&self) -> &[ToolEntry] {
        &self.index.tools
    }

    /// The parts of schemas that did not become types.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Warning> + '_ {
        self.index.warnings.iter().map(|(tool, path, reason)| Warning {
            tool: tool.clone(),
            path: path.clone(),
            reason: reason.clone(),
        })
    }

    /// Selects the parts that a snippet with `identifiers` may refer to.
    pub(crate) fn named(&self, identifiers: &BTreeSet<String>) -> Selection<'_> {
        let Index { tools, types, .. } = &self.index;
        let tools: Vec<&ToolEntry> = tools.iter().filter(|tool| tool.is_named(identifiers)).collect();
        let named =
            types.iter().filter(|found| identifiers.contains(&found.name)).flat_map(|found| &found.types);
        let needed: BTreeSet<usize> =
            tools.iter().flat_map(|tool| &tool.types).chain(named).copied().collect();
        Selection { tools, types: needed.iter().filter_map(|index| types.get(*index)).collect() }
    }

    /// All tools and types.
    pub(crate) fn all(&self) -> Selection<'_> {
        Selection { tools: self.index.tools.iter().collect(), types: self.index.types.iter().collect() }
    }

    /// The root file of a crate with a selection of tools and types.
    pub(crate) fn source(&self, selection: &Selection<'_>) -> Result<String> {
        let sources = self.sources(selection)?;
        Ok(codegen::root(&self.server, sources.iter().map(String::as_str)))
    }

    /// The items of a selection of tools and types.
    pub(crate) fn items(&self, selection: &Selection<'_>) -> Result<String> {
        Ok(self.sources(selection)?.concat())
    }

    /// The tools that use the type called `name`, with their indices.
    pub(crate) fn users<'a>(&'a self, name: &str) -> impl Iterator<Item = (usize, &'a ToolEntry)> + use<'a> {
        let found = self.index.types.iter().position(|found| found.name == name);
        let tools = self.index.tools.iter().enumerate();
        tools.filter(move |(_, tool)| found.is_some_and(|found| tool.types.contains(&found)))
    }

    /// The code of the type called `name`, without the types that it needs.
    pub(crate) fn definition(&self, name: &str) -> Option<String> {
        let found = self.index.types.iter().find(|found| found.name == name)?;
        self.read(found.source).ok()
    }

    fn sources(&self, selection: &Selection<'_>) -> Result<Vec<String>> {
        let types = selection.types.iter().map(|found| found.source);
        let tools = selection.tools.iter().map(|tool| tool.source);
        types.chain(tools).map(|piece| self.read(piece)).collect()
    }

    /// The stub of a tool and its types in brief.
    pub(crate) fn signature(&self, tool: &ToolEntry) -> Result<String> {
        self.read(tool.signature)
    }

    /// The full documentation of a tool.
    pub(crate) fn documentation(&self, tool: &ToolEntry) -> Result<String> {
        self.read(tool.documentation)
    }

    fn read(&self, (offset, length): Piece) -> Result<String> {
        match &self.texts {
            Texts::Kept(file, entry) => {
                let path = entry.folder();
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset).map_err(Error::cache(path))?;
                String::from_utf8(bytes).map_err(|error| Error::cache(path)(std::io::Error::other(error)))
            }
            Texts::Held(text) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                Ok(text.get(start..start.saturating_add(length)).unwrap_or("").to_owned())
            }
        }
    }
}

fn key(build: &str, (server, module): (&str, &str), digest: &str, style: &codegen::Style) -> String {
    let codegen::Style { description, remark } = style;
    let key = Key::new("generated 4").part(build).part(server).part(module).part(digest);
    key.part(description.to_le_bytes()).part(remark.to_le_bytes()).finish()
}

fn kept(cache: &Cache, key: &str) -> Option<(Index, Texts)> {
    let entry = cache.entry(Bucket::Generated, key)?;
    let index = fs_err::read(entry.folder().join(INDEX)).ok();
    let index = index.and_then(|index| serde_json::from_slice(&index).ok());
    let read = index.and_then(|index| Some((index, open(entry).ok()?)));
    if read.is_none() {
        // Intact by its list of files, but unreadable.
        cache.discard(Bucket::Generated, key);
    }
    read
}

fn open(entry: Entry) -> std::io::Result<Texts> {
    Ok(Texts::Kept(File::open(entry.folder().join(TEXTS))?, entry))
}

fn keep(cache: &Cache, key: &str, index: &Index, text: &str) -> Result<Texts> {
    let built = cache.temporary()?;
    let write = |name: &str, bytes: &[u8]| {
        fs_err::write(built.path().join(name), bytes).map_err(Error::cache(built.path()))
    };
    let json = serde_json::to_vec(index).map_err(|error| Error::cache(built.path())(error.into()))?;
    write(INDEX, &json)?;
    write(TEXTS, text.as_bytes())?;
    open(cache.publish(Bucket::Generated, key, built)?).map_err(Error::cache(cache.folder()))
}

fn record(bindings: codegen::Bindings) -> (Index, String) {
    let mut text = String::new();
    let mut add = |piece: &str| {
        let place = (text.len() as u64, piece.len());
        text.push_str(piece);
        place
    };
    let entry = |tool: codegen::ToolBinding| ToolEntry {
        source: add(&tool.source),
        signature: add(&tool.signature),
        documentation: add(&tool.documentation),
        name: tool.name,
        function: tool.function,
        prefix: tool.prefix,
        id: tool.id,
        types: tool.types,
    };
    let tools = bindings.tools.into_iter().map(entry).collect();
    let entry = |found: codegen::TypeBinding| TypeEntry {
        source: add(&found.source),
        name: found.name,
        types: found.types,
    };
    let types = bindings.types.into_iter().map(entry).collect();
    let warnings = bindings.warnings.into_iter();
    let warnings = warnings.map(|warning| (warning.tool, warning.path, warning.reason)).collect();
    (Index { tools, types, warnings }, text)
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn builds_of_another_generator_share_nothing() {
        let style = codegen::Style::default();
        let of = |build: &str| key(build, ("demo", "demo"), "digest", &style);
        assert_eq!(of(codegen::BUILD), of(codegen::BUILD));
        assert_ne!(of(codegen::BUILD), of("another"));
        assert_eq!(codegen::BUILD.len(), 64);
    }
}
