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

/// The types of all members of all definitions, in their order.
///
/// # Errors
///
/// Returns typify's message if it fails or panics. Each caller then tries a simpler schema.
pub(crate) fn types(definitions: &[Definition]) -> Result<Vec<Vec<FieldType>>, String> {
    let document = document(definitions);
    let work = || -> Result<TypeSpace, String> {
        let root = serde_json::from_value(document).map_err(|error| error.to_string())?;
        let mut space = TypeSpace::default();
        space.add_root_schema(root).map_err(|error| error.to_string())?;
        Ok(space)
    };
    let space = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("typify panicked".to_owned()))?;
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

    fn read(&self, definitions: &[Definition]) -> Result<Vec<Vec<FieldType>>, String> {
        let read = |(index, definition): (usize, &Definition)| {
            self.members(&definition_name(index), definition.members().len())
        };
        definitions.iter().enumerate().map(read).collect()
    }

    fn members(&self, name: &str, count: usize) -> Result<Vec<FieldType>, String> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let found = self.by_name.get(name).ok_or_else(|| format!("typify created no type {name}"))?;
        let TypeDetails::Struct(details) = found.details() else {
            return Err(format!("typify created no struct for {name}"));
        };
        let properties: BTreeMap<&str, TypeId> = details.properties().collect();
        let member = |index| {
            let id = properties.get(member_name(index).as_str());
            self.field_type(id.ok_or_else(|| format!("typify dropped a field of {name}"))?)
        };
        (0..count).map(member).collect()
    }

    fn field_type(&self, id: &TypeId) -> Result<FieldType, String> {
        let found = self.space.get_type(id).map_err(|error| error.to_string())?;
        let boxed = |id: &TypeId| self.field_type(id).map(Box::new);
        Ok(match found.details() {
            TypeDetails::Struct(_) => {
                let name = found.name();
                let index = self.indices.get(&name);
                FieldType::Named(*index.ok_or_else(|| format!("typify created an unexpected type {name}"))?)
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
                // `Form::schema` passes a scalar to typify as `i8`.
                "i8" => FieldType::Scalar,
                "i64" => FieldType::I64,
                "u64" => FieldType::U64,
                "f64" => FieldType::F64,
                "serde_json::Value" => FieldType::Value,
                other => return Err(format!("typify chose the type {other}")),
            },
            _ => return Err(format!("typify chose {}", found.describe())),
        })
    }
}
