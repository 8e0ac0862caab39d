//! The manifest of a bundle (MCPB specification, versions 0.1 to 0.4): what is read of it, and its questions.

use std::collections::BTreeMap;

use config::Error;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::folders::with_folders;
use crate::registry::{Format, Question};

/// The versions of the manifest that are known.
const VERSIONS: [&str; 4] = ["0.1", "0.2", "0.3", "0.4"];

/// The name of this platform.
pub(super) const PLATFORM: &str = "linux";

/// Maximum number of questions: more is no form that a user would fill in.
const MAX_QUESTIONS: usize = 100;

/// The server in a manifest.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    #[serde(alias = "dxt_version")]
    manifest_version: String,
    pub(super) name: String,
    pub(super) version: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) server: Server,
    #[serde(default)]
    user_config: Map<String, Json>,
    #[serde(default)]
    compatibility: Compatibility,
}

#[derive(Debug, Default, Deserialize)]
struct Compatibility {
    platforms: Option<Vec<String>>,
}

/// The server of a bundle.
#[derive(Debug, Deserialize)]
pub(super) struct Server {
    pub(super) r#type: Kind,
    pub(super) entry_point: String,
    pub(super) mcp_config: Option<Launch>,
}

/// The program that runs a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Node,
    Python,
    Binary,
    Uv,
}

/// How a server is started.
#[derive(Debug, Deserialize)]
pub(super) struct Launch {
    pub(super) command: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) platform_overrides: BTreeMap<String, Override>,
}

/// The differences on a platform.
#[derive(Debug, Deserialize)]
pub(super) struct Override {
    pub(super) command: Option<String>,
    pub(super) args: Option<Vec<String>>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
}

/// A value that the user is asked for.
#[derive(Debug, Deserialize)]
pub(super) struct UserValue {
    pub(super) r#type: ValueType,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    required: bool,
    default: Option<Json>,
    #[serde(default)]
    multiple: bool,
    #[serde(default)]
    sensitive: bool,
    min: Option<f64>,
    max: Option<f64>,
}

/// The type of such a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ValueType {
    String,
    Number,
    Boolean,
    Directory,
    File,
}

impl Manifest {
    pub(super) fn read(text: &[u8]) -> Result<Self, Error> {
        let manifest: Manifest = strict_json::from_slice(text)
            .map_err(|error| Error::new(format!("the bundle's manifest.json can't be used: {error}")))?;
        let version = &manifest.manifest_version;
        if !VERSIONS.contains(&version.as_str()) {
            let version = printable::name(version);
            return Err(Error::new(format!(
                "the bundle's manifest has the version {version}; known are {}",
                VERSIONS.join(", ")
            ))
            .hint("update Toolsmith if there is a newer version: toolsmith update"));
        }
        if let Some(platforms) =
            manifest.compatibility.platforms.as_ref().filter(|all| !all.iter().any(|name| name == PLATFORM))
        {
            let platforms: Vec<String> = platforms.iter().map(|name| printable::name(name)).collect();
            return Err(Error::new(format!(
                "the bundle is not for {PLATFORM}, only for {}",
                platforms.join(", ")
            )));
        }
        Ok(manifest)
    }

    /// The values of `user_config`, by name.
    pub(super) fn values(&self) -> Result<Vec<(&str, UserValue)>, Error> {
        if self.user_config.len() > MAX_QUESTIONS {
            return Err(Error::new(format!("the bundle asks for more than {MAX_QUESTIONS} values")));
        }
        let mut values = Vec::new();
        for (name, value) in &self.user_config {
            let value = UserValue::deserialize(value).map_err(|error| {
                let name = printable::name(name);
                Error::new(format!("the bundle's manifest can't be used: user_config.{name}: {error}"))
            })?;
            values.push((name.as_str(), value));
        }
        Ok(values)
    }

    pub(super) fn questions(&self) -> Result<Vec<Question>, Error> {
        let values = self.values()?;
        Ok(values.into_iter().map(|(name, value)| value.question(name)).collect())
    }
}

impl UserValue {
    fn question(self, name: &str) -> Question {
        let description = match (self.title.trim(), self.description.trim()) {
            ("", text) | (text, "") => text.to_owned(),
            (title, text) => format!("{title}: {text}"),
        };
        Question {
            name: name.to_owned(),
            description,
            defaults: self.default.as_ref().map(defaults).unwrap_or_default(),
            format: match self.r#type {
                ValueType::String => Format::Text,
                ValueType::Number => Format::Number,
                ValueType::Boolean => Format::Boolean,
                ValueType::Directory | ValueType::File => Format::FilePath,
            },
            minimum: self.min,
            maximum: self.max,
            is_required: self.required,
            is_secret: self.sensitive,
            is_repeated: self.multiple,
            ..Question::default()
        }
    }
}

/// The texts of a default, with this user's folders.
fn defaults(value: &Json) -> Vec<String> {
    match value {
        Json::Array(values) => values.iter().flat_map(defaults).collect(),
        Json::String(text) => vec![with_folders(text)],
        Json::Number(_) | Json::Bool(_) => vec![value.to_string()],
        Json::Null | Json::Object(_) => Vec::new(),
    }
}
