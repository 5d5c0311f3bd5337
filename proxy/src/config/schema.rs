//! The JSON Schema of the configuration, generated from the types that it is read into.

use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

use super::raw::RawConfig;

pub use self::markdown::markdown;

mod markdown;

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft07().with_transform(Toml);
    settings.into_generator().into_root_schema_for::<RawConfig>().to_value()
});

/// Returns the JSON Schema (draft 7) of the configuration, for editors and other tools.
pub fn json() -> String {
    // A `Value` always serialises: its keys are strings.
    let mut text = serde_json::to_string_pretty(&*SCHEMA).unwrap_or_default();
    text.push('\n');
    text
}

/// Brings a schema generated for JSON into the terms of TOML.
#[derive(Clone, Debug)]
struct Toml;

impl Transform for Toml {
    fn transform(&mut self, schema: &mut Schema) {
        without_null(schema);
        one_line_description(schema);
        // It names a Rust type; the bounds beside it say the same to other languages.
        schema.remove("format");
        transform_subschemas(self, schema);
    }
}

/// An optional key is left out: TOML has no null.
fn without_null(schema: &mut Schema) {
    if let Some(types) = schema.get_mut("type")
        && let Some([Value::String(first), Value::String(last)]) =
            types.as_array().map(Vec::as_slice)
        && last == "null"
    {
        *types = Value::String(first.clone());
    }
    let Some(branches) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else { return };
    branches.retain(|branch| branch.get("type").and_then(Value::as_str) != Some("null"));
    if let [only] = branches.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        // Draft 7 ignores what stands beside a `$ref`, so that the reference is wrapped.
        schema.insert("allOf".to_owned(), Value::Array(vec![only]));
    }
}

/// A doc comment is broken into lines for the source only.
fn one_line_description(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs: Vec<_> = text.split("\n\n").map(|text| text.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}
