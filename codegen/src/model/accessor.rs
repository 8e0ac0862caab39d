//! Methods of an enum of objects for what all its variants have: the tag, and common members of one type.

use super::shape::{FieldModel, Shape, StructModel, TypeModel};
use super::tool::ToolModel;
use crate::names::snake;
use crate::typing::FieldType;

/// Names of methods that these would hide.
const RESERVED: &[&str] =
    &["clone", "eq", "fit", "into", "ne", "to_json", "to_owned", "to_string", "try_into"];

/// A method that returns a member of whichever variant a value is.
#[derive(Debug)]
pub(crate) struct Accessor {
    /// Its name.
    pub(crate) name: String,
    /// The member's name in JSON.
    pub(crate) key: String,
    /// The type that it returns, without `Option` and reference.
    pub(crate) field_type: FieldType,
    /// Whether a value may lack the member.
    pub(crate) optional: bool,
    pub(crate) source: Source,
}

/// Where an accessor finds the member.
#[derive(Debug)]
pub(crate) enum Source {
    /// The tag, which the variant itself is.
    Tag,
    /// In each variant, the field of this name, and whether it is an `Option`.
    Fields(Vec<(String, bool)>),
}

/// The accessors of a type: the tag first, then members in the order of the first variant.
///
/// The type of the members must be the same, apart from `Option`. If one may be absent or the enum has a variant for
/// unlisted values, the method returns an `Option`.
pub(crate) fn accessors(model: &TypeModel, tool: &ToolModel) -> Vec<Accessor> {
    let Shape::Tagged { tag, variants, other } = &model.shape else { return Vec::new() };
    let structs: Option<Vec<&StructModel>> =
        variants.iter().map(|(.., field_type)| fields(field_type, tool)).collect();
    let Some(structs) = structs else { return Vec::new() };
    let mut found = vec![Accessor {
        name: snake(tag),
        key: tag.clone(),
        field_type: FieldType::String,
        optional: false,
        source: Source::Tag,
    }];
    for field in structs.iter().take(1).flat_map(|first| &first.fields) {
        let common = common(field, &structs, other.is_some());
        found.extend(common.filter(|new| found.iter().all(|known| known.name != new.name)));
    }
    found.retain(|accessor| !RESERVED.contains(&accessor.name.as_str()));
    found
}

fn fields<'a>(field_type: &FieldType, tool: &'a ToolModel) -> Option<&'a StructModel> {
    let index = match field_type {
        FieldType::Named(index) => index,
        FieldType::Box(content) => return fields(content, tool),
        _ => return None,
    };
    match &tool.types.get(*index)?.shape {
        Shape::Struct(body) => Some(body),
        Shape::Alias(of) => fields(&FieldType::Named(*of), tool),
        _ => None,
    }
}

/// The accessor of a field of the first variant, if all have it.
fn common(field: &FieldModel, structs: &[&StructModel], is_open: bool) -> Option<Accessor> {
    let (field_type, _) = without_option(&field.field_type);
    let same = structs.iter().map(|body| {
        let same = body.fields.iter().find(|other| other.key == field.key)?;
        let (of, is_option) = without_option(&same.field_type);
        (of == field_type).then(|| (same.name.clone(), is_option))
    });
    let same: Vec<(String, bool)> = same.collect::<Option<_>>()?;
    Some(Accessor {
        name: field.name.clone(),
        key: field.key.clone(),
        field_type: field_type.clone(),
        optional: is_open || same.iter().any(|(_, is_option)| *is_option),
        source: Source::Fields(same),
    })
}

fn without_option(field_type: &FieldType) -> (&FieldType, bool) {
    match field_type {
        FieldType::Option(some) => (some, true),
        other => (other, false),
    }
}
