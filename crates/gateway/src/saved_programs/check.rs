//! Whether a saved program fits the tools that it calls: it is compiled against their current schemas.

use runner::{Catalog, Described, Engine, Journal, NoTools, Outcome, ProgramSchemas, Request, Status};
use snippet::{Diagnostic, Fix, ProgramFile};

/// The result of checking a program.
#[derive(Debug)]
pub struct ProgramCheck {
    /// The fit.
    pub fit: Fit,
    /// The tools that it can call, as `server.tool`, sorted.
    pub manifest: Vec<String>,
    /// The JSON Schemas of its arguments and result, if it compiles.
    pub schemas: Option<ProgramSchemas>,
}

/// The fit of a program to its tools.
#[derive(Debug)]
pub enum Fit {
    /// As it is.
    Fits,
    /// With corrections, which are made each time it is compiled.
    Corrected(Vec<Fix>),
    /// Not at all.
    Broken(Broken),
}

/// The reason why a program can't be used.
#[derive(Debug)]
pub struct Broken {
    /// Why, in one sentence.
    pub message: String,
    /// The compiler's messages.
    pub diagnostics: Vec<Diagnostic>,
}

impl Fit {
    /// The word for it in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Fit::Fits => "fits",
            Fit::Corrected(_) => "corrected",
            Fit::Broken(_) => "broken",
        }
    }
}

/// Compiles `program` against `catalog`, without running it. `request` has the limits and the cancellation.
///
/// # Errors
/// Failures of the host.
pub async fn check(
    engine: &Engine,
    program: &ProgramFile,
    request: &Request,
    catalog: &Catalog,
    journal: &Journal,
) -> Result<ProgramCheck, runner::Error> {
    let request = Request { code: program.code().clone(), check_only: true, ..request.clone() };
    let outcome = engine.run(&request, catalog, &NoTools, journal).await?;
    with_schemas(engine, program, &request, catalog, journal, &outcome).await
}

/// Adds the schemas to the outcome of a check.
///
/// # Errors
/// Failures of the host.
pub async fn with_schemas(
    engine: &Engine,
    program: &ProgramFile,
    request: &Request,
    catalog: &Catalog,
    journal: &Journal,
    outcome: &Outcome,
) -> Result<ProgramCheck, runner::Error> {
    let manifest = outcome.manifest.clone();
    if outcome.status != Status::Ok {
        return Ok(ProgramCheck { fit: Fit::Broken(broken(outcome)), manifest, schemas: None });
    }
    let schemas = match engine.schemas(program, request, catalog, journal).await? {
        Described::Schemas(schemas) => schemas,
        Described::Failed(outcome) => {
            return Ok(ProgramCheck { fit: Fit::Broken(broken(&outcome)), manifest, schemas: None });
        }
    };
    let fit = if outcome.fixes.is_empty() { Fit::Fits } else { Fit::Corrected(outcome.fixes.clone()) };
    Ok(ProgramCheck { fit, manifest, schemas: Some(schemas) })
}

fn broken(outcome: &Outcome) -> Broken {
    let message =
        outcome.error.as_ref().map_or_else(|| outcome.status.to_string(), |error| error.message.clone());
    Broken { message, diagnostics: outcome.diagnostics.clone() }
}
