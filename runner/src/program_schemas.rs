//! The JSON Schemas of a saved program's arguments and result: compiled into a program that returns them, which runs in
//! the sandbox like any other, without tools.
//!
//! They are kept in the cache. The key is the layer, with the version of schemars, and the program's text; no type of a
//! tool has a schema there, so the tools are no part of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use snippet::ProgramFile;

use crate::cache::{Bucket, Key};
use crate::catalog::Catalog;
use crate::engine::{Engine, Request};
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::no_tools::NoTools;
use crate::outcome::{Outcome, Status};
use crate::sandbox_policies::Grants;

/// The file of the schemas in an entry of the cache.
const FILE: &str = "schemas.json";

/// The JSON Schemas of a program (draft 2020-12).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramSchemas {
    /// Of the arguments: an object.
    pub arguments: Value,
    /// Of the result; `None` if a type in it has none.
    pub result: Option<Value>,
    /// The reason why the result has no schema.
    pub without_result: Option<String>,
}

/// The result for the schemas of a program.
#[derive(Debug)]
pub enum Described {
    /// They are known.
    Schemas(ProgramSchemas),
    /// The program does not compile, or another limit was reached: the outcome says which.
    Failed(Box<Outcome>),
}

/// The return type of a program.
#[derive(Deserialize)]
struct Returned {
    arguments: Value,
    result: Option<Value>,
}

impl Engine {
    /// The schemas of `program`. Its limits, time limit and cancellation are those of `request`.
    ///
    /// # Errors
    /// Failures of the host.
    pub async fn schemas(
        &self,
        program: &ProgramFile,
        request: &Request,
        catalog: &Catalog,
        journal: &Journal,
    ) -> Result<Described> {
        let key = self.schemas_key(program);
        if let Some(kept) = self.kept_schemas(&key) {
            return Ok(Described::Schemas(kept));
        }
        let whole = self.described(program, true, request, catalog, journal).await?;
        let (returned, without_result) = match whole {
            Ok(returned) => (returned, None),
            Err(outcome) if outcome.status == Status::CompileError => {
                let reason = outcome.error.as_ref().map(|error| error.message.clone());
                match self.described(program, false, request, catalog, journal).await? {
                    Ok(returned) => (returned, reason),
                    Err(outcome) => return Ok(Described::Failed(outcome)),
                }
            }
            Err(outcome) => return Ok(Described::Failed(outcome)),
        };
        let Returned { arguments, result } = returned;
        let schemas = ProgramSchemas { arguments, result, without_result };
        self.keep_schemas(&key, &schemas)?;
        Ok(Described::Schemas(schemas))
    }

    /// The schemas of `program`, if they are in the cache.
    #[must_use]
    pub fn known_schemas(&self, program: &ProgramFile) -> Option<ProgramSchemas> {
        self.kept_schemas(&self.schemas_key(program))
    }

    fn schemas_key(&self, program: &ProgramFile) -> String {
        let key = Key::new("program schemas 1").part(&self.layer.key).part(program.text());
        key.part(program.code().composed()).finish()
    }

    async fn described(
        &self,
        program: &ProgramFile,
        result: bool,
        request: &Request,
        catalog: &Catalog,
        journal: &Journal,
    ) -> Result<std::result::Result<Returned, Box<Outcome>>> {
        let request = Request {
            code: program.schemas_code(result),
            args: BTreeMap::new(),
            check_only: false,
            grants: Grants::default(),
            ..request.clone()
        };
        let outcome = self.run(&request, catalog, &NoTools, journal).await?;
        let returned = outcome.result.as_ref().filter(|_| outcome.status == Status::Ok);
        let returned = returned.and_then(|result| serde_json::from_str(result.get()).ok());
        Ok(returned.ok_or_else(|| Box::new(outcome)))
    }

    fn kept_schemas(&self, key: &str) -> Option<ProgramSchemas> {
        let entry = self.cache.entry(Bucket::Programs, key)?;
        serde_json::from_slice(&fs_err::read(entry.folder().join(FILE)).ok()?).ok()
    }

    fn keep_schemas(&self, key: &str, schemas: &ProgramSchemas) -> Result<()> {
        let folder = self.cache.temporary()?;
        let in_folder = |error: std::io::Error| Error::cache(folder.path())(error);
        let text = serde_json::to_vec(schemas).map_err(|error| in_folder(error.into()))?;
        fs_err::write(folder.path().join(FILE), text).map_err(in_folder)?;
        self.cache.publish(Bucket::Programs, key, folder).map(drop)
    }
}
