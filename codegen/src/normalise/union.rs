//! `anyOf`, `oneOf` and lists of types: enums, structs with the fields of all, or anything.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::keywords::{
    Schema, allowed_values, allows_anything, fixed_value, is_nullable, is_unsigned, name_in_title, types,
};
use super::merge::{matters, merge};
use super::place::Place;
use super::reader::Reader;
use crate::form::{Body, Form, Kind};

/// Maximum number of variants of a union. A larger one is anything.
const MAX_VARIANTS: usize = 64;

/// The type of a union's variant.
enum Variant {
    Null,
    Anything,
    Of(Kind),
}

impl Reader<'_> {
    /// The form of a schema with `anyOf` or `oneOf`.
    pub(super) fn union(&mut self, schema: &Schema, place: &Place) -> Form {
        if let Some(only) = only_besides_null(schema) {
            return self.form(only, &place.hop()).nullable();
        }
        let mut found = Vec::new();
        match self.expand(schema, place, 0, &mut found) {
            Ok(()) => self.variants(found, place),
            Err(reason) => self.give_up(place, reason),
        }
    }

    /// The variants of a schema, if all of them are objects.
    pub(super) fn object_variants(&mut self, schema: &Schema, place: &Place) -> Option<Vec<Schema>> {
        let mut found = Vec::new();
        self.expand(schema, place, 0, &mut found).ok()?;
        found.retain(|variant| !matches!(classify(variant), Variant::Null));
        let objects = found.iter().all(|variant| matches!(classify(variant), Variant::Of(Kind::Object)));
        (objects && !found.is_empty()).then_some(found)
    }

    /// Splits a schema into variants without unions. Keywords next to a union apply to each variant.
    fn expand(
        &mut self,
        schema: &Schema,
        place: &Place,
        depth: usize,
        found: &mut Vec<Schema>,
    ) -> Result<(), &'static str> {
        if depth > self.shared.deepest || found.len() >= MAX_VARIANTS || !self.spend(schema.len()) {
            return Err("the union has too many variants");
        }
        let mut base = schema.clone();
        let (any, one) = (base.remove("anyOf"), base.remove("oneOf"));
        let union = match (any, one) {
            (Some(Value::Array(any)), Some(Value::Array(one))) if !one.is_empty() => {
                base.insert("oneOf".to_owned(), Value::Array(one));
                any
            }
            (Some(Value::Array(variants)), _) | (_, Some(Value::Array(variants))) => variants,
            _ => Vec::new(),
        };
        if union.is_empty() {
            base.retain(|keyword, _| !matches!(keyword.as_str(), "nullable" | "x-nullable"));
            found.push(base);
            return Ok(());
        }
        // The name is that of the union.
        base.retain(|keyword, _| !matches!(keyword.as_str(), "nullable" | "x-nullable" | "title"));
        for variant in &union {
            let mut merged = self.flatten(variant, place).unwrap_or_default();
            if *variant == Value::Bool(false) {
                continue;
            }
            if let Some(name) = self.name_of_target(variant) {
                merged.entry("title").or_insert(Value::String(name));
            }
            if is_nullable(&merged) {
                merged.retain(|keyword, _| !matches!(keyword.as_str(), "nullable" | "x-nullable"));
                found.push(Schema::from_iter([("type".to_owned(), Value::from("null"))]));
            }
            merge(&mut merged, base.clone());
            self.expand(&merged, place, depth + 1, found)?;
        }
        Ok(())
    }

    /// The form of a choice between schemas without unions.
    pub(super) fn variants(&mut self, variants: Vec<Schema>, place: &Place) -> Form {
        let mut groups: BTreeMap<Kind, Vec<Schema>> = BTreeMap::new();
        let mut nullable = false;
        for variant in variants.into_iter().flat_map(split_types) {
            match classify(&variant) {
                Variant::Null => nullable = true,
                Variant::Anything if allows_anything(&variant) => return Form::Any,
                Variant::Anything => return self.lose("the union has a variant that names no type"),
                Variant::Of(kind) => {
                    nullable |= allowed_values(&variant).is_some_and(|values| values.contains(&Value::Null));
                    let group = groups.entry(kind).or_default();
                    if !group.contains(&variant) {
                        group.push(variant);
                    }
                }
            }
        }
        let form = match groups.len() {
            0 if nullable => Form::Null,
            0 => self.give_up(place, "the union has no variants"),
            _ => self.groups(groups, place),
        };
        if nullable { form.nullable() } else { form }
    }

    fn groups(&mut self, mut groups: BTreeMap<Kind, Vec<Schema>>, place: &Place) -> Form {
        let containers = groups.contains_key(&Kind::List) || groups.contains_key(&Kind::Object);
        match groups.len() {
            1 => match groups.pop_first() {
                Some((kind, schemas)) => self.group(kind, schemas, place),
                None => Form::Any,
            },
            _ if !containers => Form::Scalar(groups.into_keys().collect()),
            _ => self.define_with(place, |reader| {
                let member = |(kind, schemas)| {
                    let inner = place.step("", format!("{}{kind:?}", place.leaf));
                    (kind, reader.group(kind, schemas, &inner))
                };
                Body::Kinds(groups.into_iter().map(member).collect())
            }),
        }
    }

    /// The form of a choice between schemas of one kind.
    fn group(&mut self, kind: Kind, mut schemas: Vec<Schema>, place: &Place) -> Form {
        match (kind, schemas.len()) {
            (Kind::Boolean, _) => Form::Boolean,
            (Kind::Number, _) if schemas.iter().any(is_fractional) => Form::Number,
            (Kind::Number, _) if schemas.iter().any(is_unsigned) => Form::Unsigned,
            (Kind::Number, _) => Form::Integer,
            (Kind::Text, _) => self.text_group(&schemas, place),
            (Kind::List, 1) => self.array(&schemas.swap_remove(0), place),
            (Kind::List, _) => self.list_group(&schemas, place),
            (Kind::Object, 1) => {
                let schema = schemas.swap_remove(0);
                self.object(&schema, &place.titled(&schema))
            }
            (Kind::Object, _) => self.object_group(schemas, place),
        }
    }

    fn text_group(&mut self, schemas: &[Schema], place: &Place) -> Form {
        let values: Vec<Value> = schemas.iter().filter_map(allowed_values).flatten().collect();
        if values.is_empty() {
            return Form::Text;
        }
        let loose = schemas.iter().any(|schema| allowed_values(schema).is_none());
        self.texts(values.iter().filter_map(Value::as_str), loose, place)
    }

    /// A list of the items that any of the arrays allows.
    fn list_group(&mut self, schemas: &[Schema], place: &Place) -> Form {
        let mut items: Vec<&Value> = Vec::new();
        let place = place.item("[]");
        for schema in schemas {
            let prefix = schema.contains_key("prefixItems");
            match schema.get("items") {
                Some(Value::Bool(false)) if !prefix => {}
                Some(item @ Value::Object(_)) if !prefix => {
                    if !items.contains(&item) {
                        items.push(item);
                    }
                }
                None | Some(Value::Bool(true)) if !prefix => return Form::List(Box::new(Form::Any)),
                _ => {
                    let form = self.give_up(&place, "one of several arrays has a type for each item");
                    self.count(&place, &form);
                    return Form::List(Box::new(form));
                }
            }
        }
        let form = match items.as_slice() {
            [] => Form::Any,
            [only] => self.place(only, &place),
            several => self.place(&json!({ "anyOf": several }), &place),
        };
        Form::List(Box::new(form))
    }

    fn object_group(&mut self, schemas: Vec<Schema>, place: &Place) -> Form {
        if schemas.iter().any(|schema| !self.has_fields(schema, place)) {
            return self.give_up(place, "the union has an object without known fields");
        }
        match tag(&schemas) {
            Some(tag) => self.tagged(&tag, schemas, place),
            None => self.merged_struct(&schemas, place),
        }
    }

    fn tagged(&mut self, tag: &str, schemas: Vec<Schema>, place: &Place) -> Form {
        self.define_with(place, |reader| {
            let mut variants = Vec::new();
            for mut schema in schemas {
                let Some(value) = tag_value(&schema, tag) else { continue };
                remove_property(&mut schema, tag);
                let inner = place.variant(&value);
                let inner = match name_in_title(&schema) {
                    Some(name) => inner.named(name),
                    None => inner,
                };
                reader.count(&inner.field(tag), &Form::Text);
                variants.push((value, reader.merged_struct(&[schema], &inner)));
            }
            Body::Tagged { tag: tag.to_owned(), variants }
        })
    }
}

/// The only variant of a union besides null, if no keyword next to the union affects the type.
pub(super) fn only_besides_null(schema: &Schema) -> Option<&Value> {
    let others = schema.keys().filter(|keyword| matters(keyword)).count();
    let variants = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let (nulls, rest): (Vec<&Value>, Vec<&Value>) = variants.iter().partition(|variant| {
        variant.as_object().is_some_and(|variant| matches!(classify(variant), Variant::Null))
    });
    match rest.as_slice() {
        [only] if others == 1 && !nulls.is_empty() => Some(only),
        _ => None,
    }
}

/// A schema for each type that `type` lists.
fn split_types(schema: Schema) -> Vec<Schema> {
    let names = types(&schema);
    if names.len() < 2 || allowed_values(&schema).is_some() {
        return vec![schema];
    }
    names
        .into_iter()
        .map(|name| {
            let mut variant = schema.clone();
            variant.insert("type".to_owned(), Value::String(name));
            variant
        })
        .collect()
}

fn classify(schema: &Schema) -> Variant {
    if let Some(values) = allowed_values(schema) {
        let kinds: BTreeSet<Kind> = values.iter().filter_map(kind_of_value).collect();
        return match (kinds.len(), kinds.first()) {
            (0, _) => Variant::Null,
            (1, Some(&kind)) if matches!(kind, Kind::Text | Kind::Number | Kind::Boolean) => {
                Variant::Of(kind)
            }
            _ => Variant::Anything,
        };
    }
    match types(schema).as_slice() {
        [name] => match name.as_str() {
            "string" => Variant::Of(Kind::Text),
            "integer" | "number" => Variant::Of(Kind::Number),
            "boolean" => Variant::Of(Kind::Boolean),
            "array" => Variant::Of(Kind::List),
            "object" => Variant::Of(Kind::Object),
            "null" => Variant::Null,
            _ => Variant::Anything,
        },
        _ => Variant::Anything,
    }
}

pub(super) fn kind_of_value(value: &Value) -> Option<Kind> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some(Kind::Boolean),
        Value::Number(_) => Some(Kind::Number),
        Value::String(_) => Some(Kind::Text),
        Value::Array(_) => Some(Kind::List),
        Value::Object(_) => Some(Kind::Object),
    }
}

fn is_fractional(schema: &Schema) -> bool {
    match allowed_values(schema) {
        Some(values) => values.iter().any(|value| !value.is_i64()),
        None => types(schema) == ["number"],
    }
}

/// The property whose fixed text distinguishes the objects: the schema's discriminator, otherwise the first
/// that does.
fn tag(schemas: &[Schema]) -> Option<String> {
    let (first, others) = schemas.split_first()?;
    let mut keys: Vec<String> = first.get("properties")?.as_object()?.keys().cloned().collect();
    keys.sort_unstable();
    let discriminator =
        first.get("discriminator").and_then(|discriminator| discriminator.get("propertyName"));
    if let Some(name) = discriminator.and_then(Value::as_str) {
        keys.insert(0, name.to_owned());
    }
    keys.into_iter().find(|key| {
        let mut seen = BTreeSet::from_iter(tag_value(first, key));
        !seen.is_empty()
            && others.iter().all(|schema| tag_value(schema, key).is_some_and(|value| seen.insert(value)))
    })
}

fn tag_value(schema: &Schema, tag: &str) -> Option<String> {
    let value = fixed_value(schema.get("properties")?.get(tag)?)?;
    value.as_str().map(ToOwned::to_owned)
}

/// Removes a property from the schema and from its conditional schemas.
fn remove_property(schema: &mut Schema, name: &str) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), Value::Bool(false));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|required| required.as_str() != Some(name));
    }
}
