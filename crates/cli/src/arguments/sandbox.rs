//! The command line of `mcp sandbox`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use config::InvalidValue;
use serde_json::Value as Json;

use super::output::OutputArguments;
use super::{ServersArguments, seconds, server_name};

/// Arguments of `mcp sandbox`.
#[derive(Debug, Args)]
pub(crate) struct SandboxArguments {
    /// The server's name in the configuration.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: String,
    /// Watch what the server is refused while it is used, and propose grants. A server that is not confined is tried
    /// first. Nothing is granted without your answer.
    #[arg(long)]
    pub(crate) learn: bool,
    /// With --learn: how long to watch, in seconds (default: until you answer, on a terminal).
    #[arg(long, value_name = "SECONDS", requires = "learn", value_parser = seconds)]
    pub(crate) seconds: Option<Duration>,
    /// Write GRANTS to the server's entry, and try it: true, false, or a mapping such as '{ read: [/srv/data] }'.
    #[arg(long, value_name = "GRANTS", conflicts_with = "learn", value_parser = grants)]
    pub(crate) set: Option<Json>,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// With --learn: watch until this command ends, such as `toolsmith run FILE`.
    #[arg(last = true, value_name = "COMMAND", requires = "learn", conflicts_with = "seconds")]
    pub(crate) command: Vec<OsString>,
}

/// A value of `sandbox`, in the form of the configuration.
fn grants(text: &str) -> Result<Json, InvalidValue> {
    let value = config::tree::yaml(text).ok().map(|node| node.to_json());
    value.filter(|value| value.is_boolean() || value.is_object()).ok_or_else(|| {
        InvalidValue(
            "write true, false, or a mapping such as '{ read: [/srv/data], network: none }'".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::grants;

    #[test]
    fn grants_are_read_as_in_the_configuration() {
        assert_eq!(grants("true"), Ok(json!(true)));
        let given = grants("{ read: [/srv/a, \"/srv/b c\"], network: none }");
        assert_eq!(given, Ok(json!({ "read": ["/srv/a", "/srv/b c"], "network": "none" })));
        for wrong in ["yes please", "[a]", "{ read: ["] {
            assert!(grants(wrong).unwrap_err().to_string().starts_with("write true, false, or a mapping"));
        }
    }
}
