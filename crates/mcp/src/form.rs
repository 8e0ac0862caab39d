//! Parses the forms of elicitations: flat objects of texts, numbers, booleans and choices (MCP, client/elicitation).

use serde_json::{Map, Number, Value};

/// Maximum number of fields in a form: users don't fill in more.
const MAX_FIELDS: usize = 50;

/// Maximum number of choices in a field.
const MAX_CHOICES: usize = 200;

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The member of the answer.
    pub name: String,
    /// Its title for the user, or its name.
    pub title: String,
    /// Its description; empty if the server gives none.
    pub description: String,
    /// Whether the answer must have it.
    pub is_required: bool,
    /// Its value if the user gives none.
    pub default: Option<Value>,
    /// Its type.
    pub kind: Kind,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// One of these.
    Choice(Vec<Choice>),
    /// Any of these.
    Choices(Vec<Choice>),
}

/// A value and its title.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The value that is sent.
    pub value: String,
    /// The title that the user sees.
    pub title: String,
}

/// The reason why a schema can't be shown as a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// It has more fields than users fill in.
    #[error("the form has {0} fields; at most {MAX_FIELDS} are shown")]
    TooManyFields(usize),
    /// A field has no supported type.
    #[error("the field {0:?} has a type that forms do not support")]
    UnsupportedField(String),
}

/// An invalid input, with the form that the field requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The field is required.
    #[error("this field is required")]
    Required,
    /// The field is a whole number.
    #[error("write a whole number, such as 3")]
    Integer,
    /// The field is a number.
    #[error("write a number, such as 2.5")]
    Number,
    /// The field is true or false.
    #[error("write yes or no")]
    Boolean,
    /// The field has this many choices.
    #[error("write a number from 1 to {0}")]
    Choice(usize),
}

/// Reads the fields of a requested schema.
///
/// # Errors
/// If the schema is not a form, or has too many fields.
pub fn fields(schema: &Value) -> Result<Vec<Field>, FormError> {
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    if properties.len() > MAX_FIELDS {
        return Err(FormError::TooManyFields(properties.len()));
    }
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    properties
        .iter()
        .map(|(name, property)| field(name, property, required.contains(&name.as_str())))
        .collect()
}

fn field(name: &str, property: &Value, is_required: bool) -> Result<Field, FormError> {
    let text = |member: &str| property.get(member).and_then(Value::as_str).map(str::to_owned);
    Ok(Field {
        title: text("title").unwrap_or_else(|| name.to_owned()),
        description: text("description").unwrap_or_default(),
        is_required,
        default: property.get("default").cloned(),
        kind: kind(property).ok_or_else(|| FormError::UnsupportedField(name.to_owned()))?,
        name: name.to_owned(),
    })
}

fn kind(property: &Value) -> Option<Kind> {
    if let Some(choices) = choices(property) {
        return Some(Kind::Choice(choices));
    }
    Some(match property.get("type").and_then(Value::as_str)? {
        "string" => Kind::Text,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        "array" => Kind::Choices(choices(property.get("items")?)?),
        _ => return None,
    })
}

/// The choices of a property, in the form of any revision of the protocol.
fn choices(property: &Value) -> Option<Vec<Choice>> {
    let titled = property.get("oneOf").or_else(|| property.get("anyOf")).and_then(Value::as_array);
    let choices: Vec<Choice> = match (titled, property.get("enum").and_then(Value::as_array)) {
        (Some(options), _) => options.iter().filter_map(titled_choice).collect(),
        (None, Some(values)) => {
            let names = property.get("enumNames").and_then(Value::as_array);
            let values = values.iter().filter_map(Value::as_str).enumerate();
            let title = |index: usize| names.and_then(|names| names.get(index)).and_then(Value::as_str);
            values
                .map(|(index, value)| Choice {
                    value: value.to_owned(),
                    title: title(index).unwrap_or(value).to_owned(),
                })
                .collect()
        }
        (None, None) => return None,
    };
    (!choices.is_empty() && choices.len() <= MAX_CHOICES).then_some(choices)
}

fn titled_choice(option: &Value) -> Option<Choice> {
    let value = option.get("const")?.as_str()?.to_owned();
    let title = option.get("title").and_then(Value::as_str).map_or_else(|| value.clone(), str::to_owned);
    Some(Choice { value, title })
}

impl Field {
    /// Parses the typed text; returns `None` if an optional field is empty.
    ///
    /// # Errors
    /// If the text is not valid for the field.
    pub fn read(&self, typed: &str) -> Result<Option<Value>, InvalidInput> {
        if typed.is_empty() {
            return match &self.default {
                Some(default) => Ok(Some(default.clone())),
                None if self.is_required && self.kind != Kind::Text => Err(InvalidInput::Required),
                None if self.is_required => Ok(Some(Value::from(""))),
                None => Ok(None),
            };
        }
        self.value(typed).map(Some)
    }

    fn value(&self, typed: &str) -> Result<Value, InvalidInput> {
        match &self.kind {
            Kind::Text => Ok(Value::from(typed)),
            Kind::Integer => typed.parse::<i64>().map(Value::from).map_err(|_| InvalidInput::Integer),
            Kind::Number => {
                let number = typed.parse::<f64>().ok().and_then(Number::from_f64);
                number.map(Value::Number).ok_or(InvalidInput::Number)
            }
            Kind::Boolean => match typed.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Value::Bool(true)),
                "n" | "no" | "false" => Ok(Value::Bool(false)),
                _ => Err(InvalidInput::Boolean),
            },
            Kind::Choice(choices) => Ok(Value::from(choose(choices, typed)?)),
            Kind::Choices(choices) => {
                let chosen = typed.split(',').map(|word| choose(choices, word.trim()));
                Ok(Value::from(chosen.collect::<Result<Vec<_>, _>>()?))
            }
        }
    }
}

/// Finds a choice by its value, its title or its number.
fn choose(choices: &[Choice], typed: &str) -> Result<String, InvalidInput> {
    let by_number = typed.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let by_name = choices.iter().find(|choice| choice.value == typed || choice.title == typed);
    let chosen = by_name.or(by_number).ok_or(InvalidInput::Choice(choices.len()))?;
    Ok(chosen.value.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FormError, fields};

    #[test]
    fn typed_text_becomes_a_value_of_the_schema() {
        let schema = json!({ "type": "object", "required": ["count"], "properties": {
            "count": { "type": "integer" },
            "size": { "type": "number", "default": 1.5 },
            "sure": { "type": "boolean" },
            "color": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] },
            "days": { "type": "array", "items": { "anyOf": [{ "const": "mo", "title": "Monday" }, { "const": "tu" }] } },
            "name": { "type": "string" },
        } });
        let fields = fields(&schema).unwrap();
        let read = |name: &str, typed: &str| {
            fields.iter().find(|field| field.name == name).unwrap().read(typed).map(Option::unwrap_or_default)
        };
        assert_eq!(read("count", "7"), Ok(json!(7)));
        assert!(read("count", "").is_err() && read("count", "many").is_err());
        assert_eq!((read("size", ""), read("size", "2")), (Ok(json!(1.5)), Ok(json!(2.0))));
        assert!(read("size", "inf").is_err());
        assert_eq!((read("sure", "yes"), read("sure", "")), (Ok(json!(true)), Ok(json!(null))));
        assert_eq!((read("color", "2"), read("color", "Red")), (Ok(json!("g")), Ok(json!("r"))));
        assert!(read("color", "0").is_err() && read("color", "3").is_err());
        assert_eq!(read("days", "Monday, 2"), Ok(json!(["mo", "tu"])));
        assert_eq!(read("name", "a b"), Ok(json!("a b")));
    }

    #[test]
    fn schemas_that_are_not_forms_are_refused() {
        let nested = json!({ "properties": { "a": { "type": "object" } } });
        assert_eq!(fields(&nested), Err(FormError::UnsupportedField("a".to_owned())));
        let many: serde_json::Map<_, _> =
            (0..60).map(|number| (number.to_string(), json!({ "type": "string" }))).collect();
        assert_eq!(fields(&json!({ "properties": many })), Err(FormError::TooManyFields(60)));
        assert_eq!(fields(&json!({})), Ok(Vec::new()));
    }
}
