//! Keywords about contained values: items of arrays and properties of objects.

use serde_json::{Value, json};

use super::{Place, Rewriter, Schema, SchemaError, assertions::count, sources};

impl<'a> Rewriter<'a> {
    /// `prefixItems`, `items`, `contains` and the bounds on the number of items.
    pub(super) fn arrays(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<(), SchemaError> {
        Self::counts(schema, &["minItems", "maxItems"], place, made)?;
        match schema.get("uniqueItems") {
            Some(Value::Bool(true)) => {
                made.insert("uniqueItems".to_owned(), json!(true));
            }
            Some(Value::Bool(false)) | None => {}
            Some(_) => Self::leave_out(place)?,
        }
        // Before 2020 a list of schemas was called `items`, and the schema of the others `additionalItems`.
        let (first, others) = match (schema.get("prefixItems"), schema.get("items")) {
            (None, Some(first @ Value::Array(_))) => (Some(first), schema.get("additionalItems")),
            (first, others) => (first, others),
        };
        match first {
            Some(Value::Array(first)) => {
                let items: Result<Vec<Value>, SchemaError> =
                    first.iter().map(|item| self.inside(item, "0000", place)).collect();
                made.insert("prefixItems".to_owned(), Value::Array(items?));
            }
            // Without it, `items` would apply to the first ones too.
            Some(_) => return Self::leave_out(place),
            None => {}
        }
        if let Some(others) = others {
            made.insert("items".to_owned(), self.inside(others, "", place)?);
        }
        self.contains(schema, place, made)
    }

    fn contains(&mut self, schema: &'a Schema, place: Place, made: &mut Schema) -> Result<(), SchemaError> {
        let Some(item) = schema.get("contains") else { return Ok(()) };
        // An upper bound would get stricter with every item schema that gets milder.
        if schema.contains_key("maxContains") {
            Self::leave_out(place)?;
        }
        match schema.get("minContains").map(count) {
            Some(None) => return Self::leave_out(place),
            Some(Some(0)) => return Ok(()),
            Some(Some(minimum)) => {
                made.insert("minContains".to_owned(), json!(minimum));
            }
            None => {}
        }
        made.insert("contains".to_owned(), self.inside(item, "", place)?);
        Ok(())
    }

    /// `properties`, `patternProperties`, `additionalProperties`, `propertyNames` and `required`.
    pub(super) fn objects(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<(), SchemaError> {
        Self::counts(schema, &["minProperties", "maxProperties"], place, made)?;
        let mut all_known = true;
        match schema.get("properties") {
            Some(Value::Object(properties)) => {
                let mut known = Schema::new();
                for (name, property) in properties {
                    known.insert(name.clone(), self.inside(property, name, place)?);
                }
                made.insert("properties".to_owned(), Value::Object(known));
            }
            Some(_) => {
                Self::leave_out(place)?;
                all_known = false;
            }
            None => {}
        }
        all_known &= self.pattern_properties(schema, place, made)?;
        if let Some(additional) = schema.get("additionalProperties") {
            let alone = !place.open && sources(schema) <= 1;
            if all_known && alone {
                made.insert("additionalProperties".to_owned(), self.inside(additional, "", place)?);
                if *additional == Value::Bool(false) {
                    allow_required(schema, made);
                }
            } else if *additional != Value::Bool(true) {
                Self::leave_out(place)?;
            }
        }
        if let Some(names) = schema.get("propertyNames") {
            made.insert("propertyNames".to_owned(), self.inside(names, "", place)?);
        }
        self.required(schema, place, made)?;
        self.dependencies(schema, place, made)?;
        if ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| schema.contains_key(*keyword)) {
            Self::leave_out(place)?;
        }
        Ok(())
    }

    /// `patternProperties`. Returns whether all of it was taken over.
    fn pattern_properties(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<bool, SchemaError> {
        let properties = match schema.get("patternProperties") {
            None => return Ok(true),
            Some(Value::Object(properties)) => properties,
            Some(_) => return Self::leave_out(place).map(|()| false),
        };
        let mut known = Schema::new();
        for (text, property) in properties {
            let index = self.pattern(text);
            let pattern = index.and_then(|index| self.patterns.get(index));
            let usable = pattern.filter(|pattern| pattern.is_exact() && pattern.is_small());
            if let Some(portable) = usable.map(|pattern| pattern.portable().to_owned()) {
                self.name_patterns += 1;
                known.insert(portable, self.inside(property, text, place)?);
            } else {
                Self::leave_out(place)?;
            }
        }
        let all = known.len() == properties.len();
        made.insert("patternProperties".to_owned(), Value::Object(known));
        Ok(all)
    }

    fn required(&mut self, schema: &Schema, place: Place, made: &mut Schema) -> Result<(), SchemaError> {
        let names = match schema.get("required") {
            Some(Value::Array(names)) => names,
            // In draft 3, `required` is a boolean on the property itself; some authors still write it that way.
            Some(Value::Bool(_)) | None => return Ok(()),
            Some(_) => return Self::leave_out(place),
        };
        self.spend(names.len(), place)?;
        // Generators that describe values after filling in defaults list all properties as required.
        let has_default = |name: &str| {
            let property = schema.get("properties").and_then(|properties| properties.get(name));
            property.is_some_and(|property| property.get("default").is_some())
        };
        let mut required: Vec<&str> = Vec::new();
        for name in names {
            match name.as_str() {
                Some(name) if place.exact || !has_default(name) => required.push(name),
                Some(_) => {}
                None => Self::leave_out(place)?,
            }
        }
        required.sort_unstable();
        required.dedup();
        if !required.is_empty() {
            made.insert("required".to_owned(), json!(required));
        }
        Ok(())
    }

    /// `dependentRequired` and `dependentSchemas`, both of which were `dependencies` before 2019.
    fn dependencies(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<(), SchemaError> {
        let inner = Place { open: place.open || sources(schema) > 1, ..place };
        let mut required = Schema::new();
        let mut schemas = Schema::new();
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            let dependencies = match schema.get(keyword) {
                None => continue,
                Some(Value::Object(dependencies)) => dependencies,
                Some(_) => {
                    Self::leave_out(place)?;
                    continue;
                }
            };
            for (name, dependency) in dependencies {
                match dependency {
                    Value::Array(names) if names.iter().all(Value::is_string) => {
                        self.spend(names.len(), place)?;
                        required.insert(name.clone(), dependency.clone());
                    }
                    Value::Object(_) | Value::Bool(_) => {
                        schemas.insert(name.clone(), self.below(dependency, name, inner)?);
                    }
                    _ => Self::leave_out(place)?,
                }
            }
        }
        for (keyword, dependencies) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
            if !dependencies.is_empty() {
                made.insert(keyword.to_owned(), Value::Object(dependencies));
            }
        }
        Ok(())
    }
}

/// Allows properties that are required but not described: no author means to forbid them.
fn allow_required(schema: &Schema, made: &mut Schema) {
    let names = schema.get("required").and_then(Value::as_array);
    let described = made.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(described) = described {
        for name in names.into_iter().flatten().filter_map(Value::as_str) {
            described.entry(name).or_insert(Value::Bool(true));
        }
    }
}
