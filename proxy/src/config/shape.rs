//! Compares a TOML tree with the schema of the configuration.
//!
//! What doesn't fit is reported and taken out, or replaced by an empty value where its position
//! counts, so that the rest can be read with serde and checked further.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::later;
use super::place::Place;
use super::report::Report;
use super::suggest::did_you_mean;

/// Checks the tree against the schema and prunes it. Runs in linear time.
pub(super) fn check(tree: &mut DeTable<'_>, schema: &Value, report: &mut Report<'_>) {
    Shape { root: schema, report }.table(&Place::root(), tree, schema);
}

struct Shape<'s, 'r, 't> {
    root: &'s Value,
    report: &'r mut Report<'t>,
}

impl<'s> Shape<'s, '_, '_> {
    /// Checks the keys of a table, and the value of each.
    fn table(&mut self, place: &Place, table: &mut DeTable<'_>, schema: &'s Value) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        for (key, mut value) in std::mem::replace(table, DeTable::new()) {
            let name = key.get_ref().as_ref();
            let Some(schema) = properties.and_then(|known| known.get(name)).or(others) else {
                let message = unknown_key(name, schema, properties);
                self.report.error_at(key.span().start, &place.key(name), message);
                self.report.mark_broken(place.key(name));
                continue;
            };
            if self.value(&|| place.key(name), &mut value, schema) {
                table.insert(key, value);
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            // A value that was there and did not fit has been reported already.
            if !table.contains_key(name) && !self.report.is_broken(&place.key(name)) {
                self.report.error(place, format_args!("the key {name:?} is missing"));
                self.report.mark_broken(place.key(name));
            }
        }
    }

    /// Checks a value; false when it has to be taken out.
    fn value(
        &mut self,
        place: &dyn Fn() -> Place,
        value: &mut Spanned<DeValue<'_>>,
        schema: &'s Value,
    ) -> bool {
        let schema = self.resolve(schema);
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            let mut branches = branches.iter().map(|branch| self.resolve(branch));
            let Some(branch) = branches.find(|branch| accepts(branch, value.get_ref())) else {
                return self.mismatch(place, value, schema);
            };
            return self.value(place, value, branch);
        }
        if !accepts(schema, value.get_ref()) {
            return self.mismatch(place, value, schema);
        }
        let problem = match value.get_mut() {
            DeValue::Table(table) => {
                self.table(&place(), table, schema);
                None
            }
            DeValue::Array(array) => {
                if let Some(items) = schema.get("items") {
                    for (index, item) in array.iter_mut().enumerate() {
                        if !self.value(&|| place().index(index), item, items) {
                            *item.get_mut() = blank(self.resolve(items));
                        }
                    }
                }
                None
            }
            DeValue::String(text) => not_one_of(text, schema),
            DeValue::Integer(integer) => out_of_range(integer, schema),
            _ => None,
        };
        let Some(problem) = problem else { return true };
        self.report.error_at(value.span().start, &place(), problem);
        self.report.mark_broken(place());
        false
    }

    fn mismatch(
        &mut self,
        place: &dyn Fn() -> Place,
        value: &Spanned<DeValue<'_>>,
        schema: &Value,
    ) -> bool {
        let message =
            format!("expected {}, found {}", self.expected(schema), found(value.get_ref()));
        self.report.error_at(value.span().start, &place(), message);
        self.report.mark_broken(place());
        false
    }

    fn resolve(&self, schema: &'s Value) -> &'s Value {
        resolve(self.root, schema)
    }

    fn expected(&self, schema: &'s Value) -> String {
        let schema = self.resolve(schema);
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            let names: Vec<_> = branches.iter().map(|branch| self.expected(branch)).collect();
            return names.join(" or ");
        }
        if let Some(words) = choices(schema) {
            return format!("one of {}", quoted(words));
        }
        match type_of(schema) {
            "array" => match schema.get("items").map(|items| self.resolve(items)) {
                Some(items) if type_of(items) == "object" => "an array of tables".to_owned(),
                Some(items) => format!("an array of {}s", type_of(items)),
                None => "an array".to_owned(),
            },
            "boolean" => "true or false".to_owned(),
            "integer" => "an integer".to_owned(),
            "object" => "a table".to_owned(),
            _ => "a string".to_owned(),
        }
    }
}

/// Follows references to definitions.
pub(super) fn resolve<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    // The generator's definitions never refer to themselves without a table between, but a bound
    // keeps that from being a condition of termination.
    for _ in 0..8 {
        let all_of = schema.get("allOf").and_then(|all| all.get(0));
        let reference = all_of.unwrap_or(schema).get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        let Some(target) = pointer.and_then(|pointer| root.pointer(pointer)) else { break };
        schema = target;
    }
    schema
}

/// The JSON type that a schema asks for; an enumeration is one of strings.
fn type_of(schema: &Value) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or("string")
}

fn accepts(schema: &Value, value: &DeValue<'_>) -> bool {
    match value {
        DeValue::String(_) => type_of(schema) == "string",
        DeValue::Integer(_) => type_of(schema) == "integer",
        DeValue::Boolean(_) => type_of(schema) == "boolean",
        DeValue::Array(_) => type_of(schema) == "array",
        DeValue::Table(_) => type_of(schema) == "object",
        DeValue::Float(_) | DeValue::Datetime(_) => false,
    }
}

/// An empty value in the place of an array element that doesn't fit.
fn blank(schema: &Value) -> DeValue<'static> {
    match type_of(schema) {
        "object" => DeValue::Table(DeTable::new()),
        "boolean" => DeValue::Boolean(false),
        "integer" => DeValue::Integer(toml::de::DeInteger::default()),
        _ => DeValue::String("".into()),
    }
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
        DeValue::String(_) => "a string".to_owned(),
        DeValue::Integer(integer) => format!("the integer {integer}"),
        DeValue::Float(float) => format!("the number {float}"),
        DeValue::Boolean(boolean) => format!("{boolean}"),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn unknown_key(name: &str, schema: &Value, properties: Option<&Map<String, Value>>) -> String {
    let table = schema.get("title").and_then(Value::as_str).unwrap_or_default();
    if let Some(message) = later::message(table, name) {
        return message.to_owned();
    }
    let keys = || properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let near = did_you_mean(name, keys());
    if near.is_empty() {
        format!("unknown key; known here: {}", keys().collect::<Vec<_>>().join(", "))
    } else {
        format!("unknown key{near}")
    }
}

fn not_one_of(text: &str, schema: &Value) -> Option<String> {
    let choices: Vec<&str> = choices(schema)?.collect();
    if choices.contains(&text) {
        return None;
    }
    let listed = quoted(choices.iter().copied());
    let near = did_you_mean(text, choices);
    Some(format!("{text:?} is not one of {listed}{near}"))
}

fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}

/// The words of an enumeration, each with its own description in a `oneOf`.
pub(super) fn choices(schema: &Value) -> Option<impl Iterator<Item = &str>> {
    let branches = schema.get("oneOf")?.as_array()?;
    Some(branches.iter().filter_map(|branch| branch.get("const")?.as_str()))
}

fn out_of_range(integer: &toml::de::DeInteger<'_>, schema: &Value) -> Option<String> {
    let bound = |name| schema.get(name).and_then(Value::as_i64);
    let (least, most) = (bound("minimum")?, bound("maximum")?);
    let value = i64::from_str_radix(integer.as_str(), integer.radix());
    match value {
        Ok(value) if (least..=most).contains(&value) => None,
        _ => Some(format!("{integer} is out of range: {least} to {most}")),
    }
}
