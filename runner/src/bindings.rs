//! The bindings of a server, compiled: one small library that snippets link.
//!
//! | input of the key | why |
//! | --- | --- |
//! | key of the layer below | libraries fit only what they were compiled against |
//! | version of codegen | the meaning of the text below |
//! | module name, generated text | the code (it holds the tools' identities, and so their schemas) |

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::timeout;

use crate::cache::{Bucket, Cache, Key};
use crate::compiler::{self, Job};
use crate::error::{Error, ErrorKind, Result};
use crate::layer::Layer;
use crate::room;
use crate::toolchain::Toolchain;

/// Compiled bindings.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    /// The name that snippets use.
    pub(crate) module: String,
    /// The library.
    pub(crate) file: PathBuf,
}

/// Longest time to compile the bindings of one server; 1 000 tools take about 10 s.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The key that the bindings are kept under.
pub(crate) fn key(layer: &Layer, bindings: &codegen::Bindings) -> String {
    Key::new("bindings 1")
        .part(&layer.key)
        .part(codegen::VERSION.to_le_bytes())
        .part(&bindings.module)
        .part(&bindings.source)
        .finish()
}

/// The library of `bindings`, compiled if it is not there yet.
pub(crate) async fn ensure(
    cache: &Cache,
    toolchain: &Toolchain,
    layer: &Layer,
    bindings: &codegen::Bindings,
) -> Result<Library> {
    let key = key(layer, bindings);
    let module = bindings.module.clone();
    let name = format!("lib{module}.rlib");
    if let Some(folder) = cache.entry(Bucket::Bindings, &key) {
        return Ok(Library { module, file: folder.join(name) });
    }
    let source = cache.temporary()?;
    let output = cache.temporary()?;
    fs_err::write(source.path().join("lib.rs"), &bindings.source).map_err(Error::cache(source.path()))?;
    let job = Job {
        toolchain,
        layer,
        libraries: &[],
        source: source.path(),
        output: output.path(),
        // One unit: splitting small libraries costs more than it gains on two cores (about a tenth).
        arguments: &[
            "--crate-type=rlib",
            "--crate-name",
            &module,
            "--cap-lints=allow",
            "-Ccodegen-units=1",
            "-o",
            &name,
        ],
        main: "lib.rs",
    };
    let failed = |detail: &str| {
        let message = format!("the bindings generated for the module `{module}` do not compile: {detail}");
        Error::new(ErrorKind::Bindings, message)
            .hint("this is a fault of the code generator; please report it with the server's tools/list")
    };
    let compiled = timeout(TIMEOUT, compiler::run(&job)).await;
    let compiled = compiled.map_err(|_| failed(&format!("no end after {} s", TIMEOUT.as_secs())))??;
    if !compiled.status.success() {
        let said = format!("{}\n{}", compiled.status, compiled.messages.text());
        if room::is_missing(&said) {
            return Err(room::error(cache, &said));
        }
        return Err(failed(&compiled.messages.text()));
    }
    let folder = cache.publish(Bucket::Bindings, &key, output)?;
    Ok(Library { module, file: folder.join(name) })
}
