//! Parses and hashes the arguments of `execute_code`.

use config::MAX_SECONDS;
use report::{Kind, Report};
use serde_json::{Value, json};

use super::ExecuteCode;

impl ExecuteCode {
    /// Parses the arguments of a call.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn read(arguments: Value) -> Result<Self, Report> {
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
