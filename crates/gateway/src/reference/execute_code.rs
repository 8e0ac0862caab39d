//! Parses and hashes the arguments of `execute_code`.

use config::MAX_SECONDS;
use report::{Kind, Report};
use serde_json::{Value, json};

use super::ExecuteCode;

impl ExecuteCode {
    /// Parses the arguments of a call. One that waits for an execution needs no code.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn read(mut arguments: Value) -> Result<Self, Report> {
        // Models fill optional texts with nothing.
        if arguments["execution"] == "" {
            arguments["execution"] = Value::Null;
        }
        if arguments["execution"].is_string()
            && let Some(members) = arguments.as_object_mut()
        {
            members.entry("code").or_insert_with(|| json!(""));
        }
        let arguments: Self = serde_json::from_value(arguments).map_err(|error| {
            Report::new(Kind::CommandLine, format!("invalid arguments of execute_code: {error}"))
                .caused_by(error)
                .hint(r#"{ "code": "…Rust…", "timeout"?: seconds, "check_only"?: true, "args"?: { … } }"#)
        })?;
        if let Some(seconds) = arguments.timeout
            && !(seconds > 0.0 && seconds <= MAX_SECONDS)
        {
            let message =
                format!("timeout: {seconds} is out of range: more than 0, at most {MAX_SECONDS} seconds");
            return Err(Report::new(Kind::CommandLine, message));
        }
        if arguments.execution.is_some() && !arguments.code.is_empty() {
            let message = "execution: this waits for an execution that has begun, and runs no other code";
            let hint = "leave code empty to wait, or leave execution out to run the code";
            return Err(Report::new(Kind::CommandLine, message).hint(hint));
        }
        Ok(arguments)
    }

    /// A hash of the request.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(self.code.len() as u64).to_le_bytes()).update(self.code.as_bytes());
        // The order of the arguments does not matter.
        let mut rest = json!([self.check_only, self.args]);
        rest.sort_all_objects();
        hasher.update(rest.to_string().as_bytes());
        hasher.finalize().to_hex().to_string()
    }
}
