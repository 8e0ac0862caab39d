//! Uses typify to turn forms into the types of fields: it decides what is an `Option`, a `Vec` or a map, and
//! where a recursive type needs a `Box`.
//!
//! Names and generated code are Toolsmith's; those of typify are not used.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use typify::{Type, TypeDetails, TypeId, TypeSpace};

use crate::form::{Definition, definition_name, document, member_name};

/// The Rust type of a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FieldType {
    Value,
    /// `()`, for null.
    Unit,
    Bool,
    I64,
    U64,
    F64,
    String,
    /// `bridge::Scalar`: a text, a number or a boolean.
    Scalar,
    Vec(Box<FieldType>),
    Map(Box<FieldType>),
    Tuple(Vec<FieldType>),
    Option(Box<FieldType>),
    Box(Box<FieldType>),
    /// A definition, by its index.
    Named(usize),
}

impl FieldType {
    /// Whether it is a plain type that is returned by value.
    pub(crate) fn is_copied(&self) -> bool {
        matches!(self, FieldType::Unit | FieldType::Bool | FieldType::I64 | FieldType::U64 | FieldType::F64)
    }
}

/// The reason why typify gave no types. Each caller then tries a simpler schema.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TypingError {
    /// The forms are no JSON Schema.
    #[error(transparent)]
    Schema(#[from] serde_json::Error),
    /// Typify failed.
    #[error(transparent)]
    Typify(#[from] typify::Error),
    /// Typify panicked.
    #[error("typify panicked")]
    Panic,
    /// A definition has no type.
    #[error("typify created no type {0}")]
    NoType(String),
    /// A definition has a type that is not a struct.
    #[error("typify created no struct for {0}")]
    NoStruct(String),
    /// The struct of a definition lacks a field.
    #[error("typify dropped a field of {0}")]
    NoField(String),
    /// A struct belongs to no definition.
    #[error("typify created an unexpected type {0}")]
    UnexpectedStruct(String),
    /// A field has a type that no form has.
    #[error("typify chose {0}")]
    UnexpectedType(String),
}

/// The types of all members of all definitions, in their order.
///
/// # Errors
///
/// If typify fails or panics, or its types are not those of the definitions.
pub(crate) fn types(definitions: &[Definition]) -> Result<Vec<Vec<FieldType>>, TypingError> {
    let document = document(definitions);
    let work = || -> Result<TypeSpace, TypingError> {
        let root = serde_json::from_value(document)?;
        let mut space = TypeSpace::default();
        space.add_root_schema(root)?;
        Ok(space)
    };
    let space = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(TypingError::Panic))?;
    Reader::new(&space, definitions).read(definitions)
}

/// Reads types from a typify space.
struct Reader<'a> {
    space: &'a TypeSpace,
    by_name: BTreeMap<String, Type<'a>>,
    indices: BTreeMap<String, usize>,
}

impl<'a> Reader<'a> {
    fn new(space: &'a TypeSpace, definitions: &[Definition]) -> Self {
        let by_name = space.iter_types().map(|found| (found.name(), found)).collect();
        let indices = (0..definitions.len()).map(|index| (definition_name(index), index)).collect();
        Reader { space, by_name, indices }
    }

    fn read(&self, definitions: &[Definition]) -> Result<Vec<Vec<FieldType>>, TypingError> {
        definitions
            .iter()
            .enumerate()
            .map(|(index, definition)| self.members(&definition_name(index), definition.members().len()))
            .collect()
    }

    fn members(&self, name: &str, count: usize) -> Result<Vec<FieldType>, TypingError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let found = self.by_name.get(name).ok_or_else(|| TypingError::NoType(name.to_owned()))?;
        let TypeDetails::Struct(details) = found.details() else {
            return Err(TypingError::NoStruct(name.to_owned()));
        };
        let properties: BTreeMap<&str, TypeId> = details.properties().collect();
        (0..count)
            .map(|index| {
                let id = properties.get(member_name(index).as_str());
                self.field_type(id.ok_or_else(|| TypingError::NoField(name.to_owned()))?)
            })
            .collect()
    }

    fn field_type(&self, id: &TypeId) -> Result<FieldType, TypingError> {
        let found = self.space.get_type(id)?;
        let boxed = |id: &TypeId| self.field_type(id).map(Box::new);
        Ok(match found.details() {
            TypeDetails::Struct(_) => {
                let name = found.name();
                let index = self.indices.get(&name).copied();
                FieldType::Named(index.ok_or(TypingError::UnexpectedStruct(name))?)
            }
            TypeDetails::Option(id) => FieldType::Option(boxed(&id)?),
            TypeDetails::Vec(id) => FieldType::Vec(boxed(&id)?),
            TypeDetails::Map(_, id) => FieldType::Map(boxed(&id)?),
            TypeDetails::Box(id) => match self.field_type(&id)? {
                // The size is known either way. This order is easier to read and write.
                FieldType::Option(some) => FieldType::Option(Box::new(FieldType::Box(some))),
                other => FieldType::Box(Box::new(other)),
            },
            TypeDetails::Tuple(items) => {
                FieldType::Tuple(items.map(|id| self.field_type(&id)).collect::<Result<_, _>>()?)
            }
            TypeDetails::String => FieldType::String,
            TypeDetails::Builtin(name) => match name.trim_start_matches(':') {
                "bool" => FieldType::Bool,
                // `Form::schema` passes a scalar to typify as `i8`, and null as `i16`.
                "i8" => FieldType::Scalar,
                "i16" => FieldType::Unit,
                "i64" => FieldType::I64,
                "u64" => FieldType::U64,
                "f64" => FieldType::F64,
                "serde_json::Value" => FieldType::Value,
                other => return Err(TypingError::UnexpectedType(format!("the type {other}"))),
            },
            _ => return Err(TypingError::UnexpectedType(found.describe())),
        })
    }
}
