//! The bindings of a server, compiled: one small library that snippets link.
//!
//! All tools of a server in one library are compiled once and then cost nothing; for a large server that takes
//! seconds, so the first answer comes from a library with only those tools that the snippet names, unless the whole
//! one is there already ([`warm`] builds it).
//!
//! | input of the key | why |
//! | --- | --- |
//! | key of the layer below | libraries fit only what they were compiled against |
//! | version of codegen | the meaning of the text below |
//! | module name, generated text or its key | the code (it holds the tools' identities, and so their schemas) |

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::timeout;

use crate::cache::{Bucket, Cache, Key};
use crate::catalog::ServerModule;
use crate::compiler::{self, Job};
use crate::compiler_slots::AdmissionWait;
use crate::disk_full;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::generated::ToolEntry;
use crate::layer::BaseLayer;
use crate::library::{Library, file_name};
use crate::messages::errors;
use crate::observer::Unobserved;
use crate::sandbox_policies;

/// Up to so many tools a server's library is compiled whole at once: 16 take about as long as compiling four small
/// libraries one after another, which is what a first conversation would do.
pub const WHOLE_SERVER: usize = 16;

/// How many of the compiler's messages about bindings are told.
const MESSAGES: usize = 4;

/// Longest time to compile the bindings of one server; 1 000 tools take about 8 s.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A server's module as a snippet uses it.
pub(crate) struct Named<'a> {
    module: &'a ServerModule,
    tools: Vec<&'a ToolEntry>,
    /// The code that the snippet can reach.
    source: String,
}

impl<'a> Named<'a> {
    /// The `module` of a snippet with `identifiers`.
    pub(crate) fn new(module: &'a ServerModule, identifiers: &BTreeSet<String>) -> Result<Self> {
        let tools = module.generated.named(identifiers);
        let source = match &module.source {
            Some(source) => source.clone(),
            None => module.generated.source(&tools)?,
        };
        Ok(Named { module, tools, source })
    }

    /// What the program depends on: the same whether its tools are compiled with others or apart.
    pub(crate) fn key(&self) -> String {
        let key = Key::new("named 1").part(codegen::VERSION.to_le_bytes());
        key.part(&self.module.module).part(&self.source).finish()
    }
}

/// The library of all tools of a server.
fn whole_key(layer: &BaseLayer, module: &ServerModule) -> String {
    Key::new("bindings 2").part(&layer.key).part("whole").part(&module.generated.key).finish()
}

/// The library of a text.
fn text_key(layer: &BaseLayer, module: &str, source: &str) -> String {
    let key = Key::new("bindings 2").part(&layer.key).part("text");
    key.part(codegen::VERSION.to_le_bytes()).part(module).part(source).finish()
}

fn kept(cache: &Cache, module: &str, key: &str) -> Option<Library> {
    Some(Library::new(module, cache.entry(Bucket::Bindings, key)?))
}

/// A library in which the snippet finds what it names, compiled if it is not there yet.
pub(crate) async fn ensure(
    engine: &Engine,
    named: &Named<'_>,
    patience: AdmissionWait<'_>,
) -> Result<Library> {
    let Engine { cache, layer, .. } = engine;
    let module = &named.module.module;
    if named.module.source.is_none() {
        if let Some(library) = kept(cache, module, &whole_key(layer, named.module)) {
            return Ok(library);
        }
        let all = named.module.tools().len();
        if all <= WHOLE_SERVER || named.tools.len() == all {
            return whole(engine, named.module, false, patience).await;
        }
    }
    let key = text_key(layer, module, &named.source);
    match kept(cache, module, &key) {
        Some(library) => Ok(library),
        None => compile(engine, (module, &key), &named.source, false, patience).await,
    }
}

/// Whether the whole library of a server is there.
pub(crate) fn is_whole(engine: &Engine, module: &ServerModule) -> bool {
    kept(&engine.cache, &module.module, &whole_key(&engine.layer, module)).is_some()
}

/// Compiles the whole library of a server if it is not there yet, out of the way of other work.
pub(crate) async fn warm(engine: &Engine, module: &ServerModule) -> Result<()> {
    let patience = AdmissionWait { observer: &Unobserved, clock: None };
    if is_whole(engine, module) { Ok(()) } else { whole(engine, module, true, patience).await.map(drop) }
}

async fn whole(
    engine: &Engine,
    module: &ServerModule,
    background: bool,
    patience: AdmissionWait<'_>,
) -> Result<Library> {
    let all: Vec<&ToolEntry> = module.tools().iter().collect();
    let source = module.generated.source(&all)?;
    let key = whole_key(&engine.layer, module);
    compile(engine, (&module.module, &key), &source, background, patience).await
}

async fn compile(
    engine: &Engine,
    (module, key): (&str, &str),
    source: &str,
    background: bool,
    patience: AdmissionWait<'_>,
) -> Result<Library> {
    let Engine { cache, toolchain, layer, confinement, .. } = engine;
    let name = file_name(module);
    let _admitted = engine.admission.admit(sandbox_policies::compiler_memory(), patience).await?;
    let folder = cache.temporary()?;
    let output = cache.temporary()?;
    fs_err::write(folder.path().join("lib.rs"), source).map_err(Error::cache(folder.path()))?;
    let job = Job {
        toolchain,
        confinement: *confinement,
        layer,
        libraries: &[],
        source: folder.path(),
        output: output.path(),
        // One unit: splitting small libraries costs more than it gains on two cores (about a tenth).
        arguments: &[
            "--crate-type=rlib",
            "--crate-name",
            module,
            "--cap-lints=allow",
            "-Ccodegen-units=1",
            "-o",
            &name,
        ],
        main: "lib.rs",
        background,
        cpu_seconds: TIMEOUT.as_secs(),
        largest_file: crate::compiler::LARGEST_LIBRARY,
    };
    let failed = |detail: &str| {
        let message = format!("the bindings of the module `{module}` do not compile: {detail}");
        Error::new(ErrorKind::Bindings, message)
            .hint("bindings that were edited must compile; otherwise it is a fault of the code generator: please report it with the server's tools/list")
    };
    let compiled = timeout(TIMEOUT, compiler::run(&job)).await;
    let compiled = compiled.map_err(|_| failed(&format!("no end after {} s", TIMEOUT.as_secs())))??;
    if !compiled.status.success() {
        let said = format!("{}\n{}", compiled.status, compiled.messages.text());
        if disk_full::is_missing(&said) {
            return Err(disk_full::error(cache, &said));
        }
        let said: Vec<String> =
            errors(&compiled.messages.text()).take(MESSAGES).map(|error| error.message).collect();
        return Err(failed(&said.join("; ")));
    }
    Ok(Library::new(module, cache.publish(Bucket::Bindings, key, output)?))
}
