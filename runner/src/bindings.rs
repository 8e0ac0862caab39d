//! Compiles the bindings of a server into one small library that snippets link.
//!
//! A library of all tools of a server is compiled once and then costs nothing, but takes seconds for a large server. So
//! the first snippet gets a library with only the tools it names, unless the complete library already exists ([`warm`]
//! builds it).
//!
//! | input of the key | why |
//! | --- | --- |
//! | key of the layer below | libraries fit only what they were compiled against |
//! | module name, generated text or its key | the code (it holds the tools' identities, and so their schemas) |
//! | for a part of a server, the subject, if there is one | the selected tools are those that a snippet names |

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snippet::error_texts;
use tokio::time::timeout;

use crate::base_layer::BaseLayer;
use crate::cache::{Bucket, Cache, Found, Key, Temporary};
use crate::catalog::ServerModule;
use crate::compiler::{self, Job, Linker};
use crate::compiler_slots::AdmissionWait;
use crate::disk_full;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::generated::Selection;
use crate::holder::Holder;
use crate::journal::NoSink;
use crate::library::{Library, file_name};

/// Maximum number of tools for which a server's whole library is compiled at once: 16 take about as long as four small
/// libraries one after another, as a first conversation would need.
pub const WHOLE_SERVER: usize = 16;

/// Maximum number of compiler messages about bindings to report.
const MESSAGES: usize = 4;

/// Time limit for compiling the bindings of one server; 1 000 tools take about 8 s.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// A server's module with the tools that a snippet uses.
pub(crate) struct Named<'a> {
    module: &'a ServerModule,
    selection: Selection<'a>,
    /// The code that the snippet can reach.
    source: String,
}

impl<'a> Named<'a> {
    /// Selects what a snippet with `identifiers` uses of `module`.
    pub(crate) fn new(module: &'a ServerModule, identifiers: &BTreeSet<String>) -> Result<Self> {
        let selection = module.generated.named(identifiers);
        let source = match &module.source {
            Some(source) => source.clone(),
            None => module.generated.source(&selection)?,
        };
        Ok(Named { module, selection, source })
    }

    /// The program's dependency on the bindings: the same whichever library has its tools.
    pub(crate) fn key(&self) -> String {
        Key::new("named 2").part(&self.module.module).part(&self.source).finish()
    }
}

/// The key of the library of all tools of a server.
fn whole_key(layer: &BaseLayer, module: &ServerModule) -> String {
    Key::new("bindings 2").part(&layer.key).part("whole").part(&module.generated.key).finish()
}

/// The key of the library compiled from `source`, the tools that a snippet of this holder names.
fn text_key(layer: &BaseLayer, module: &str, source: &str, holder: &Holder) -> String {
    let key = Key::new("bindings 2").part(&layer.key).part("text");
    holder.own(key.part(module).part(source)).finish()
}

/// The library with this key, if it exists.
pub(crate) fn kept(cache: &Cache, module: &str, key: &str) -> Option<Library> {
    Some(Library::new(module, cache.entry(Bucket::Bindings, key)?))
}

/// Like [`kept`], for a library that is needed now.
fn counted(cache: &Cache, module: &str, key: &str) -> Option<Library> {
    kept(cache, module, key).inspect(|_| cache.count_local_hit())
}

/// Returns a library with everything the snippet names, compiling it if necessary.
pub(crate) async fn ensure(
    engine: &Engine,
    named: &Named<'_>,
    admission: AdmissionWait<'_>,
) -> Result<Library> {
    let Engine { cache, layer, .. } = engine;
    let module = &named.module.module;
    if named.module.source.is_none() {
        if let Some(library) = counted(cache, module, &whole_key(layer, named.module)) {
            return Ok(library);
        }
        let all = named.module.tools().len();
        if all <= WHOLE_SERVER || named.selection.tools.len() == all {
            return whole(engine, named.module, false, admission).await;
        }
    }
    // All snippets use the whole module if it has a source of its own.
    let anybody = Holder::default();
    let holder = if named.module.source.is_none() { admission.holder } else { &anybody };
    let key = text_key(layer, module, &named.source, holder);
    match counted(cache, module, &key) {
        Some(library) => Ok(library),
        None => compile(engine, module, &key, &named.source, false, admission).await,
    }
}

/// The whole library of a server, if it exists.
pub(crate) fn kept_whole(engine: &Engine, module: &ServerModule) -> Option<Library> {
    kept(&engine.cache, &module.module, &whole_key(&engine.layer, module))
}

/// Whether the whole library of a server exists.
pub(crate) fn is_whole(engine: &Engine, module: &ServerModule) -> bool {
    kept_whole(engine, module).is_some()
}

/// The folder of the whole library of a server, if it exists.
pub(crate) fn whole_entry(engine: &Engine, module: &ServerModule) -> Option<PathBuf> {
    let library = kept_whole(engine, module)?;
    library.file.parent().map(Path::to_owned)
}

/// Compiles the whole library of a server if it does not exist, at low priority.
pub(crate) async fn warm(engine: &Engine, module: &ServerModule) -> Result<()> {
    let holder = Holder::default();
    let admission = AdmissionWait { holder: &holder, sink: &NoSink, clock: None };
    if is_whole(engine, module) { Ok(()) } else { whole(engine, module, true, admission).await.map(drop) }
}

async fn whole(
    engine: &Engine,
    module: &ServerModule,
    background: bool,
    admission: AdmissionWait<'_>,
) -> Result<Library> {
    let source = module.generated.source(&module.generated.all())?;
    let key = whole_key(&engine.layer, module);
    compile(engine, &module.module, &key, &source, background, admission).await
}

/// Returns the library from the remote cache, or compiles it.
async fn compile(
    engine: &Engine,
    module: &str,
    key: &str,
    source: &str,
    background: bool,
    admission: AdmissionWait<'_>,
) -> Result<Library> {
    let claim = match engine.cache.fetch(Bucket::Bindings, key, admission.sink).await {
        Found::Entry(entry) => return Ok(Library::new(module, entry)),
        Found::Missing(claim) => claim,
    };
    let output = compile_here(engine, module, source, background, admission).await?;
    let entry = engine.cache.publish(Bucket::Bindings, key, output)?;
    engine.cache.share(Bucket::Bindings, key, &entry, claim);
    Ok(Library::new(module, entry))
}

/// Compiles a library into a new folder.
async fn compile_here(
    engine: &Engine,
    module: &str,
    source: &str,
    background: bool,
    admission: AdmissionWait<'_>,
) -> Result<Temporary> {
    let Engine { cache, toolchain, layer, confinement, .. } = engine;
    let name = file_name(module);
    let _admitted = engine.admit_compiler(background, admission).await?;
    let folder = cache.temporary()?;
    let output = cache.temporary()?;
    fs_err::write(folder.path().join("lib.rs"), source).map_err(Error::cache(folder.path()))?;
    let job = Job {
        toolchain,
        confinement: *confinement,
        crates: &layer.crates,
        libraries: &[],
        source: folder.path(),
        output: output.path(),
        // One unit: splitting small libraries costs about a tenth more than it gains on two cores.
        arguments: &["--crate-type=rlib", "--crate-name", module, "--cap-lints=allow", "-Ccodegen-units=1"],
        file: &name,
        main: "lib.rs",
        linker: Linker::Rust,
        background,
        optimize: false,
        cpu_seconds: TIMEOUT.as_secs(),
        largest_file: crate::compiler::LARGEST_LIBRARY,
    };
    let failed = |detail: &str| {
        let message = format!("the bindings of the module `{module}` do not compile: {detail}");
        Error::new(ErrorKind::Bindings, message)
            .hint("if the bindings were edited, fix them; otherwise, this is a bug in the code generator: please report it with the server's tools/list")
    };
    let compiled = timeout(TIMEOUT, compiler::run(&job, &admission.holder.compiler_time)).await;
    let compiled = compiled.map_err(|_| failed(&format!("timed out after {} s", TIMEOUT.as_secs())))??;
    if !compiled.status.success() {
        let output = format!("{}\n{}", compiled.status, compiled.messages.text());
        if disk_full::is_full(&output) {
            return Err(disk_full::error(cache, &output));
        }
        let errors: Vec<String> = error_texts(&compiled.messages.text()).take(MESSAGES).collect();
        return Err(failed(&errors.join("; ")));
    }
    Ok(output)
}
