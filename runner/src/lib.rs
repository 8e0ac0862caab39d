//! A snippet in, an outcome out: build layers, compiler driver, broker, limits, cache. The texts are those of `snippet`.
//!
//! The runner reaches servers only through [`ToolHost`]; configuration, connections and user interfaces belong to its
//! callers. It trusts neither snippet nor compiler: both run in the sandbox, and the broker decides on every call.
//!
//! [`Engine::run`] parses a snippet, compiles it against the bindings of the servers it names, reads from the linked
//! program which tools it can call, and runs it with a broker that allows exactly those.

mod base;
mod base_creation;
mod base_layer;
mod bindings;
mod broker;
mod build;
pub mod bundle;
mod bundled_toolchain;
mod cache;
mod catalog;
mod classify;
mod clock;
mod compiler;
mod compiler_slots;
#[allow(unsafe_code, reason = "registers a descriptor that it owns")]
mod confined;
mod disk_full;
mod engine;
mod error;
mod executable;
mod export;
mod foreground;
mod generated;
mod heavy;
mod holder;
mod host;
mod inspect;
mod journal;
mod last_message;
mod layer;
mod layer_crates;
mod library;
pub mod limits;
mod manifest;
mod no_tools;
mod obeyed_files;
mod optimize;
mod optimized;
mod outcome;
mod precompile;
mod program;
mod program_compiler;
mod program_schemas;
mod protected;
pub mod protocol;
mod refused;
mod run;
mod rustc_explanation;
mod rustc_process;
mod sandbox_policies;
mod spare_compiler;
mod spare_compilers;
mod target;
mod toolchain;
mod turns;

pub use bindings::WHOLE_SERVER;
pub use bridge::size::size;
pub use bridge::wire::{CallFailure, FailureKind, FoundResource, FoundTool, Question};
pub use bridge::{PROGRAM_ARGUMENTS, presentable};
pub use broker::CALLS_KEPT;
pub use cache::{
    ArtifactId, Availability, BINDINGS_KEPT, Bucket, BucketContents, Cache, CacheContents, CacheStatistics,
    Claim, DEFAULT_SIZE, Entries, FILES_KEPT, Fetched, LARGEST_KEPT_PROGRAM, LAYERS_KEPT, LEAST_SIZE,
    Offered, PROGRAMS_KEPT, RemoteCache, RemoteStatistics, Removal, Removed, Wanted, look_into_cache,
    remove_from_cache,
};
pub use catalog::{Absences, Catalog, ServerModule, ServerTools};
pub use engine::{Engine, Options, Request};
pub use error::{Error, ErrorKind};
pub use export::{SNIPPET, is_crate, module_file, vendor, write_crate};
pub use generated::ToolEntry;
pub use holder::{CompilerTime, Holder};
pub use host::{Answer, REPAIRED_META, Refusal, SessionError, ToolHost};
pub use inspect::{CacheFolder, Inspection, Tools, inspect};
pub use journal::{
    Answered, AnsweredCall, Asked, Begin, CallBegun, EndedExecution, Event, Journal, JournaledCall,
    JournaledQuestion, NewExecution, NoSink, Outgoing, OwnedJournal, Phase, QuestionKind, READ, Refused,
    SentCall, Sink,
};
pub use layer_crates::LayerCrate;
pub use no_tools::NoTools;
pub use obeyed_files::ObeyedFiles;
pub use optimize::Optimized;
pub use outcome::{CachedAnswer, CallRecord, Failure, Outcome, Phases, SandboxReport, Status, Truncated};
pub use precompile::PrecompileReport;
pub use program_schemas::{Described, ProgramSchemas};
pub use protected::{Protected, touched};
pub use refused::CallsRefused;
pub use rustc_explanation::rustc_explanation;
pub use sandbox_policies::{Grants, Limits};
pub use spare_compilers::{MIN_SPARE_MEMORY, SpareCompilerEvent};
pub use toolchain::{OLDEST_RUSTC, Origin, TARGET, Toolchain, rustup};
