//! Looks up or compiles a snippet's program.
//!
//! | input of the key | why |
//! | --- | --- |
//! | key of the layer | the libraries it is linked with |
//! | code of the tools that it names | what it calls, whichever library that comes from |
//! | the base | the addresses of what it is linked against |
//! | flags, main file | the code around the text |
//! | the spliced text | the snippet |
//! | the subject, if there is one | nobody learns what others have run |

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use rustix::process::{Resource, Signal, getrlimit};
use serde::{Deserialize, Serialize};
use snippet::diagnostics::{self, Uncorrected};
use snippet::splice::{self, Changes, Spliced};
use snippet::{Attempts, Diagnostic, Fix, Purpose, SCHEMA_CRATE, Snippet, other_languages, repair};
use system::event_loop::off_loop;

use crate::bindings::{self, Named};
use crate::cache::{Bucket, Claim, Entry, Found, Key};
use crate::catalog::Catalog;
use crate::compiler;
use crate::compiler_slots::AdmissionWait;
use crate::disk_full;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::library::Library;
use crate::manifest;
use crate::optimized::{self, Source};
use crate::outcome::{SandboxReport, milliseconds};
use crate::program_compiler::{Attempt, Goal, PROGRAM, compile};

/// The result of building a snippet.
pub(crate) enum Built {
    /// A program, the identities of the tools that it can call, and notes on its text.
    Program { program: Program, manifest: Vec<String>, notes: Notes },
    /// The snippet does not compile.
    Rejected(Vec<Diagnostic>),
}

/// A linked program.
pub(crate) struct Program {
    /// The executable.
    pub(crate) file: PathBuf,
    /// The key of the program without optimization.
    pub(crate) key: String,
    /// Whether it was compiled with optimization.
    pub(crate) optimized: bool,
    /// Keeps it from being evicted.
    pub(crate) entry: Entry,
}

/// Notes on a text that compiles; kept next to the program, and reported each time it runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// The corrections.
    pub(crate) fixes: Vec<Fix>,
    /// The compiler's warnings.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// The result of a build with timing.
pub(crate) struct Report {
    pub(crate) result: Built,
    pub(crate) cached: bool,
    pub(crate) bindings_ms: f64,
    pub(crate) compile_ms: f64,
    pub(crate) sandbox: SandboxReport,
}

/// The file name of its [`Notes`].
pub(crate) const NOTES: &str = "notes.json";

/// Processor time of an execution's compilers after which no further correction is compiled: as much as one compiler
/// may use.
const CORRECTING_TIME: Duration = Duration::from_secs(compiler::SNIPPET_SECONDS);

/// Builds the program of `snippet`.
pub(crate) async fn build(
    engine: &Engine,
    catalog: &Catalog,
    snippet: &Snippet,
    admission: AdmissionWait<'_>,
) -> Result<Report> {
    let names = snippet.names();
    let modules: Vec<&str> = catalog.named(&names).map(|module| module.module.as_str()).collect();
    let spliced = splice::splice(snippet, &Changes::default(), &modules);
    let named = catalog.named(&names).map(|module| Named::new(module, &names));
    let named = named.collect::<Result<Vec<Named<'_>>>>()?;
    let keys: Vec<String> = named.iter().map(Named::key).collect();
    let key = key(engine, &keys, &spliced, admission.holder);
    let started = Instant::now();
    if let Some(program) = kept(engine, &key) {
        engine.cache.count_local_hit();
        return Ok(Report::of_kept(program));
    }
    let claim = match engine.cache.fetch(Bucket::Programs, &key, admission.sink).await {
        Found::Entry(entry) => match readable(engine, entry, &key) {
            Some(program) => {
                return Ok(Report { compile_ms: milliseconds(started), ..Report::of_kept(program) });
            }
            None => None,
        },
        Found::Missing(claim) => claim,
    };
    let _awaited = engine.foreground.begin();
    let mut libraries =
        try_join_all(named.iter().map(|named| bindings::ensure(engine, named, admission))).await?;
    libraries.extend(schema_library(engine, snippet));
    let bindings_ms = milliseconds(started);
    let started = Instant::now();
    let compilations = Compilations { engine, catalog, snippet, modules, libraries, admission };
    let Judged { accepted, mut diagnostics, sandbox } = compilations.run(spliced).await?;
    let compared = never_equal(catalog, snippet)?;
    let result = match accepted.filter(|_| compared.is_empty()) {
        Some(accepted) => match accepted.forbidden()? {
            Some(diagnostic) => Built::Rejected(vec![diagnostic]),
            None => {
                let folder = accepted.compiled.output.path();
                admission.holder.mark(folder).map_err(Error::cache(folder))?;
                accepted.publish(engine, &key, &compilations.libraries, claim)?
            }
        },
        None => {
            diagnostics.extend(compared);
            Built::Rejected(diagnostics)
        }
    };
    Ok(Report { result, cached: false, bindings_ms, compile_ms: milliseconds(started), sandbox })
}

/// Whether the text is compiled to get JSON Schemas.
fn is_for_schemas(snippet: &Snippet) -> bool {
    matches!(snippet.purpose, Purpose::Schemas { .. })
}

/// The library of the layer with which a program returns its JSON Schemas.
fn schema_library(engine: &Engine, snippet: &Snippet) -> Option<Library> {
    let entry = engine.layer.entry.clone().filter(|_| is_for_schemas(snippet))?;
    Some(Library::of_layer(SCHEMA_CRATE, &engine.layer.schema, entry))
}

/// The program of the cache: the optimized one, if there is one.
fn kept(engine: &Engine, key: &str) -> Option<Built> {
    if let Some(program) = optimized(engine, key) {
        return Some(program);
    }
    readable(engine, engine.cache.entry(Bucket::Programs, key)?, key)
}

/// The program of an entry, which is removed if it can't be read.
fn readable(engine: &Engine, entry: Entry, key: &str) -> Option<Built> {
    let program = program(entry, key, false);
    if program.is_err() {
        engine.cache.discard(Bucket::Programs, key);
    }
    program.ok()
}

/// The compilations of one snippet: first of its own text, then of corrected ones.
struct Compilations<'a> {
    engine: &'a Engine,
    catalog: &'a Catalog,
    snippet: &'a Snippet,
    /// The modules that it names.
    modules: Vec<&'a str>,
    libraries: Vec<Library>,
    admission: AdmissionWait<'a>,
}

/// A text that compiles.
struct Accepted {
    compiled: Attempt,
    /// The spliced text.
    text: String,
    notes: Notes,
    /// Warnings of calls that are never made.
    idle: Vec<Diagnostic>,
}

/// The result of compiling corrected texts.
struct Corrected {
    accepted: Option<Accepted>,
    /// If none is accepted, the errors that are left in the text with the most corrections.
    left: Vec<Diagnostic>,
}

/// The result of all compilations.
struct Judged {
    accepted: Option<Accepted>,
    /// The errors of the snippet's own text, then those that are left after corrections.
    diagnostics: Vec<Diagnostic>,
    sandbox: SandboxReport,
}

impl Compilations<'_> {
    async fn compile(&self, spliced: &Spliced) -> Result<Attempt> {
        let goal = Goal { is_rare: is_for_schemas(self.snippet), ..Goal::default() };
        compile(self.engine, &self.libraries, &spliced.text, goal, self.admission).await
    }

    /// Compiles the text, and corrected ones if it has errors or calls that are never made.
    async fn run(&self, spliced: Spliced) -> Result<Judged> {
        let Compilations { engine, catalog, snippet, .. } = *self;
        let compiled = self.compile(&spliced).await?;
        let sandbox = compiled.sandbox.clone();
        let messages = compiled.messages.text();
        let is_rejected = !compiled.status.success();
        let judge = || {
            if !is_rejected {
                let attempts = repair::unmade(&messages, snippet, &spliced, catalog);
                return Ok((diagnostics::unmade(&messages, &snippet.text, &spliced, catalog), attempts));
            }
            let mut diagnostics = rejected(engine, &compiled, snippet, &spliced, catalog)?;
            // Some foreign code parses as Rust.
            if let (Some(first), Some(hint)) = (diagnostics.first_mut(), other_languages::hint(&snippet.text))
            {
                first.hint = Some(hint);
            }
            Ok((diagnostics, repair::attempts(&messages, snippet, &spliced, catalog)))
        };
        let (mut diagnostics, attempts) = off_loop(messages.len(), judge)?;
        let Corrected { mut accepted, left } =
            self.corrected(Attempts::new(attempts, &messages, is_rejected), &diagnostics).await?;
        if accepted.is_none() && !is_rejected && diagnostics.is_empty() {
            let warnings = diagnostics::warned(&messages, &snippet.text, &spliced);
            let notes = Notes { fixes: Vec::new(), warnings };
            let idle = diagnostics::idle(snippet, &[], catalog);
            accepted = Some(Accepted { compiled, text: spliced.text, notes, idle });
        }
        if accepted.is_none() && is_rejected {
            diagnostics.extend(left);
        }
        Ok(Judged { accepted, diagnostics, sandbox })
    }

    /// Compiles corrected texts until one is accepted; `known` are the errors of the snippet's own text.
    async fn corrected(&self, mut attempts: Attempts, known: &[Diagnostic]) -> Result<Corrected> {
        let Compilations { catalog, snippet, .. } = *self;
        let mut left = Vec::new();
        let mut furthest = 0;
        while let Some(repaired) = attempts.take_next() {
            // Each correction of a text with costly macros is as costly.
            if self.admission.holder.compiler_time.total() >= CORRECTING_TIME {
                break;
            }
            let Ok(corrected) = snippet.again(&repaired.text) else { break };
            let spliced = splice::splice(&corrected, &repaired.changes, &self.modules);
            let compiled = self.compile(&spliced).await?;
            let messages = compiled.messages.text();
            let (drops, unmade) = off_loop(messages.len(), || {
                let drops = repair::drops(&messages, &corrected.text, &spliced, &repaired.changes);
                (drops, diagnostics::unmade(&messages, &corrected.text, &spliced, catalog))
            });
            if compiled.status.success() && !drops && unmade.is_empty() {
                let warnings = diagnostics::warned(&messages, &snippet.text, &spliced);
                let idle = diagnostics::idle(snippet, &repaired.fixes, catalog);
                let notes = Notes { fixes: repaired.fixes, warnings };
                let accepted = Accepted { compiled, text: spliced.text, notes, idle };
                return Ok(Corrected { accepted: Some(accepted), left: Vec::new() });
            }
            if repaired.count() > furthest {
                furthest = repaired.count();
                let (text, fixes) = (corrected.text.as_str(), repaired.fixes.as_slice());
                let uncorrected = Uncorrected { text, spliced: &spliced, messages: &messages, fixes };
                left = off_loop(messages.len(), || {
                    diagnostics::left(&uncorrected, &snippet.text, catalog, known)
                });
                left.extend(unmade);
            }
            if attempts.may_go_on(&messages) {
                attempts.add(off_loop(messages.len(), || {
                    repair::further(&messages, snippet, &repaired, &corrected, &spliced, catalog)
                }));
            }
        }
        Ok(Corrected { accepted: None, left })
    }
}

impl Accepted {
    /// The diagnostic for a program that is linked, but must not run.
    fn forbidden(&self) -> Result<Option<Diagnostic>> {
        let folder = self.compiled.output.path();
        let read = manifest::read_file(&folder.join(PROGRAM)).map_err(Error::cache(folder))?;
        let hint =
            "leave sections, segments and libraries to the compiler (`link_section`, `global_asm!`, `link`)";
        Ok(read.err().map(|error| breakdown(error.to_string(), "", hint)))
    }

    /// Puts the program into the cache.
    fn publish(
        self,
        engine: &Engine,
        key: &str,
        libraries: &[Library],
        claim: Option<Claim>,
    ) -> Result<Built> {
        let Accepted { compiled, text, mut notes, idle } = self;
        notes.add_idle(idle);
        notes.keep(compiled.output.path())?;
        Source::keep(compiled.output.path(), &text, libraries)?;
        let entry = engine.cache.publish(Bucket::Programs, key, compiled.output)?;
        engine.cache.share(Bucket::Programs, key, &entry, claim);
        program(entry, key, false)
    }
}

impl Report {
    fn of_kept(result: Built) -> Self {
        Report { result, cached: true, bindings_ms: 0.0, compile_ms: 0.0, sandbox: SandboxReport::default() }
    }
}

/// Diagnostics of comparisons in a snippet that are never true.
fn never_equal(catalog: &Catalog, snippet: &Snippet) -> Result<Vec<Diagnostic>> {
    diagnostics::compared(&snippet.text, || {
        let named = catalog.named(&snippet.identifiers);
        named.map(|module| module.source_of(&snippet.identifiers)).collect::<Result<String>>()
    })
}

fn key(engine: &Engine, bindings: &[String], spliced: &Spliced, holder: &Holder) -> String {
    let key = Key::new("program 11").part(&engine.layer.key).part(compiler::flags()).part(splice::MAIN);
    let base: &[u8] = engine.layer.base.as_ref().map_or(&[], |base| base.identity());
    let key = key.part(base);
    holder.own(bindings.iter().fold(key, Key::part).part(&spliced.text)).finish()
}

/// The optimized program for the program `key`, if there is one.
pub(crate) fn optimized(engine: &Engine, key: &str) -> Option<Built> {
    let entry = optimized::entry(&engine.cache, key)?;
    if !entry.folder().join(PROGRAM).exists() {
        return None;
    }
    let built = program(entry, key, true);
    if built.is_err() {
        engine.cache.discard(Bucket::Programs, &optimized::key_of(key));
    }
    built.ok()
}

/// The program of an entry; an error if it is damaged.
pub(crate) fn program(entry: Entry, key: &str, optimized: bool) -> Result<Built> {
    let folder = entry.folder();
    let file = folder.join(PROGRAM);
    let torn = |name: &str, error: String| {
        Error::cache(folder)(std::io::Error::other(format!("the file {name} is damaged: {error}")))
    };
    let manifest = manifest::read_file(&file).map_err(Error::cache(folder))?;
    let manifest = manifest.map_err(|error| torn(PROGRAM, error.to_string()))?;
    let notes = match fs_err::read(folder.join(NOTES)) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| torn(NOTES, error.to_string()))?,
        Err(_) => Notes::default(),
    };
    let program = Program { file, key: key.to_owned(), optimized, entry };
    Ok(Built::Program { program, manifest, notes })
}

impl Notes {
    /// Adds warnings of unused calls, except where the compiler warns already.
    fn add_idle(&mut self, idle: Vec<Diagnostic>) {
        for warning in idle {
            let is_there = |other: &Diagnostic| other.line == warning.line && other.column == warning.column;
            if self.warnings.len() < diagnostics::DIAGNOSTICS_KEPT && !self.warnings.iter().any(is_there) {
                self.warnings.push(warning);
            }
        }
    }

    /// Writes the notes next to the program in `folder`.
    fn keep(&self, folder: &Path) -> Result<()> {
        if self.fixes.is_empty() && self.warnings.is_empty() {
            return Ok(());
        }
        let text = serde_json::to_vec(self).map_err(|error| Error::cache(folder)(error.into()))?;
        fs_err::write(folder.join(NOTES), text).map_err(Error::cache(folder))
    }
}

/// Describes the compiler's end, with its messages that have no position in the snippet.
fn last_words(compiled: &Attempt) -> String {
    format!("{}\n{}", compiled.status, diagnostics::unplaced(&compiled.messages.text()))
}

/// Whether the compiler or linker exceeded the maximum program size (signal(7)), and not the host's own limit.
fn is_too_large(compiled: &Attempt) -> bool {
    let host = getrlimit(Resource::Fsize).current;
    host.is_none_or(|limit| limit >= compiler::LARGEST_PROGRAM) && last_words(compiled).contains("(SIGXFSZ)")
}

/// The compiler's output, if the disk was full; this is not the snippet's fault.
pub(crate) fn no_room(compiled: &Attempt) -> Option<String> {
    Some(last_words(compiled)).filter(|output| disk_full::is_full(output))
}

/// The compiler's messages; never empty, even if the compiler itself crashed.
fn rejected(
    engine: &Engine,
    compiled: &Attempt,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &Catalog,
) -> Result<Vec<Diagnostic>> {
    if is_too_large(compiled) {
        let message = format!("the program would be larger than {} MiB", compiler::LARGEST_PROGRAM >> 20);
        let hint = "a large `static` is part of the program; create large values at run time";
        return Ok(vec![breakdown(message, "", hint)]);
    }
    if let Some(output) = no_room(compiled) {
        return Err(disk_full::error(&engine.cache, &output));
    }
    let messages = compiled.messages.text();
    let diagnostics = diagnostics::read(&messages, &snippet.text, spliced, catalog);
    if !diagnostics.is_empty() {
        return Ok(diagnostics);
    }
    let plain: Vec<&str> = messages.lines().filter(|line| !line.starts_with('{')).take(12).collect();
    let message = if compiled.status.signal() == Some(Signal::XCPU.as_raw()) {
        format!("the compiler used more than {} s of processor time", compiler::SNIPPET_SECONDS)
    } else {
        format!("the compiler ended with {} and no error", compiled.status)
    };
    let hint = "the compiler has limits of time and memory; simplify the snippet";
    Ok(vec![breakdown(message, &plain.join("\n"), hint)])
}

/// The diagnostic for a compiler that was stopped.
fn breakdown(message: String, output: &str, hint: &str) -> Diagnostic {
    Diagnostic {
        level: "error".to_owned(),
        code: None,
        rendered: format!("error: {message}\n{output}\n"),
        message,
        line: 1,
        column: 1,
        hint: Some(hint.to_owned()),
    }
}
