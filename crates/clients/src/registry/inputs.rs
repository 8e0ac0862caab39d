//! The values that a registry's entry asks for: the questions, and what becomes of the answers.

use std::collections::BTreeMap;

use config::Error;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

/// A value of an entry: fixed, a template with variables, or asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Input {
    /// `named` or `positional`, of an argument.
    pub(super) r#type: Option<String>,
    pub(super) name: Option<String>,
    value_hint: Option<String>,
    value: Option<String>,
    description: String,
    default: Option<String>,
    placeholder: Option<String>,
    choices: Vec<String>,
    format: Format,
    is_required: bool,
    is_secret: bool,
    is_repeated: bool,
    variables: BTreeMap<String, Input>,
}

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A path of this machine.
    FilePath,
    /// Any text.
    #[default]
    #[serde(other)]
    Text,
}

/// A value that the user is asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// Its name, by which scripts set it.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// The values without an answer.
    pub defaults: Vec<String>,
    /// An example.
    pub placeholder: Option<String>,
    /// The only accepted values, if there are any.
    pub choices: Vec<String>,
    /// The form.
    pub format: Format,
    /// The least number.
    pub minimum: Option<f64>,
    /// The greatest number.
    pub maximum: Option<f64>,
    /// Whether the server needs it.
    pub is_required: bool,
    /// Whether it is kept secret.
    pub is_secret: bool,
    /// Whether several values may be given.
    pub is_repeated: bool,
}

/// The answers by the questions' names, as texts of a configuration: `${NAME}` is a variable.
pub type Answers = BTreeMap<String, Vec<String>>;

/// A text of someone else as that of a configuration, which must read no variable of the user.
pub fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

impl Input {
    /// Its name among the answers.
    fn key(&self) -> &str {
        let name = self.name.as_deref().map(|name| name.trim_start_matches('-'));
        name.filter(|name| !name.is_empty()).or(self.value_hint.as_deref()).unwrap_or("value")
    }

    /// Adds its questions.
    pub(super) fn ask(&self, questions: &mut Vec<Question>) {
        let Some(template) = &self.value else { return self.ask_as(self.key(), false, questions) };
        let asked = self.variables.iter().filter(|(name, _)| template.contains(&format!("{{{name}}}")));
        for (name, variable) in asked {
            let before = questions.len();
            variable.ask_as(name, self.is_required, questions);
            if let Some(question) = questions.get_mut(before) {
                question.is_secret |= self.is_secret;
            }
        }
    }

    /// Adds the question for its value, unless that is fixed or asked for already.
    pub(super) fn ask_as(&self, name: &str, is_needed: bool, questions: &mut Vec<Question>) {
        if self.value.is_some() || questions.iter().any(|question| question.name == name) {
            return;
        }
        questions.push(Question {
            name: name.to_owned(),
            description: self.description.clone(),
            defaults: self.default.clone().into_iter().collect(),
            placeholder: self.placeholder.clone(),
            choices: self.choices.clone(),
            format: self.format,
            is_required: self.is_required || is_needed,
            is_secret: self.is_secret,
            is_repeated: self.is_repeated,
            ..Question::default()
        });
    }

    /// Its values: none if it is optional and has no answer.
    ///
    /// # Errors
    /// If it is required and has no answer.
    pub(super) fn values(&self, answers: &Answers) -> Result<Vec<String>, Error> {
        let values = match &self.value {
            Some(template) => fill(template, &self.variables, answers).into_iter().collect(),
            None => answers.get(self.key()).cloned().unwrap_or_default(),
        };
        if values.is_empty() && self.is_required {
            return Err(Error::new(format!("{} has no value", printable::name(self.key()))));
        }
        Ok(values)
    }
}

/// A template with the values of its variables; `None` if one has none. Other braces stay.
pub(super) fn fill(template: &str, variables: &BTreeMap<String, Input>, answers: &Answers) -> Option<String> {
    let (mut filled, mut plain, mut rest) = (String::new(), String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let found = after.split_once('}').and_then(|(name, end)| Some((name, variables.get(name)?, end)));
        let Some((name, variable, end)) = found else {
            plain.push('{');
            rest = after;
            continue;
        };
        filled.push_str(&literal(&std::mem::take(&mut plain)));
        match &variable.value {
            Some(fixed) => filled.push_str(&literal(fixed)),
            None => filled.push_str(&answers.get(name)?.join(",")),
        }
        rest = end;
    }
    plain.push_str(rest);
    filled.push_str(&literal(&plain));
    Some(filled)
}

/// The values of inputs that have a name: variables of the environment, or headers.
pub(super) fn named(inputs: &[Input], answers: &Answers) -> Result<Map<String, Json>, Error> {
    let mut all = Map::new();
    for input in inputs {
        if let Some(value) = input.values(answers)?.into_iter().next() {
            all.insert(input.name.clone().unwrap_or_default(), json!(value));
        }
    }
    Ok(all)
}
