//! The configuration reference, written from the schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::SCHEMA;
use crate::config::shape;

/// Returns the reference of the configuration as Markdown.
pub fn markdown() -> String {
    let mut page = Page { root: &SCHEMA, text: INTRODUCTION.to_owned() };
    let root: &Value = &SCHEMA;
    page.text.push_str("\n## Top level\n\n");
    for (key, schema) in properties(root) {
        if page.table_of(schema).is_none() {
            page.key(key, schema, root);
        }
    }
    for (key, schema) in properties(root) {
        if let Some((heading, table)) = page.table_of(schema) {
            let heading = heading.replace("KEY", key);
            _ = write!(page.text, "\n## `{heading}`\n\n{}\n\n", description(schema));
            page.table(table, "");
        }
    }
    page.text
}

const INTRODUCTION: &str = "\
# Configuration

One TOML file, `fingerpost.toml` unless `--config` names another. `fingerpost check FILE` reports
everything that is wrong with it, each with line and column. A key that is not listed here is an error.

This page is generated from the types that the file is read into; `docs/config.schema.json` is the same
for editors.

* A *duration* is one or more whole numbers with a unit each, largest first: `500ms`, `5s`, `1m30s`,
  `2h`, `1d`.
* A *host* is bare: no scheme, port, path or trailing dot. Letters outside ASCII are taken as written.
* A *host pattern* is a host, `*.host` (exactly one label before it), `**.host` (one or more) or `*`.
* A *prefix* is the first segment of a path, without slashes: 1 to 255 bytes, no control or space
  characters, none of `/ \\ ? # % ;`, not `.` or `..`.
* A *network* is an address or a range in CIDR notation: `10.0.0.0/8`, `fd00::/8`.
";

struct Page<'s> {
    root: &'s Value,
    text: String,
}

impl<'s> Page<'s> {
    /// Lists the keys of a table, and the tables in it, whose names begin with `within`.
    fn table(&mut self, schema: &'s Value, within: &str) {
        let described = |key: &str| {
            // The options of a host stand on sites and routes: they are described once.
            let title = schema.get("title").and_then(Value::as_str);
            let site = self.root.pointer("/definitions/Site/properties");
            title == Some("Route")
                && key != "hosts"
                && site.is_some_and(|site| site.get(key).is_some())
        };
        let keys: Vec<_> = properties(schema).filter(|(key, _)| !described(key)).collect();
        let left_out = properties(schema).count() - keys.len();
        for (key, property) in &keys {
            self.key(key, property, schema);
        }
        if left_out > 0 {
            self.text.push_str("* and every option of a host: see `[[site]]`.\n");
        }
        for (key, property) in keys {
            let nested =
                self.branches(property).into_iter().find(|it| it.get("properties").is_some());
            if let Some(table) = nested {
                let name = format!("{within}{key}");
                _ = write!(self.text, "\n### `{name}`\n\n");
                self.table(table, &format!("{name}."));
            }
        }
    }

    fn key(&mut self, key: &str, property: &'s Value, table: &'s Value) {
        let required = table.get("required").and_then(Value::as_array);
        let is_required = required.is_some_and(|all| all.iter().any(|name| name == key));
        let kind = self.kind(property);
        let default = property.get("default").map(|value| format!(", default `{value}`"));
        let rest = match (is_required, default) {
            (true, _) => ", required".to_owned(),
            (false, default) => default.unwrap_or_default(),
        };
        let text = description(property);
        _ = writeln!(self.text, "* `{key}` ({kind}{rest}): {text}");
        for (word, text) in self.words(property) {
            _ = writeln!(self.text, "  * `\"{word}\"`: {text}");
        }
    }

    /// How a value is called: its type, in the words of the introduction where it has a name.
    fn kind(&self, property: &'s Value) -> String {
        let named = property.get("x-type").and_then(Value::as_str);
        let branches = self.branches(property);
        let mut kinds: Vec<String> = Vec::new();
        for branch in branches {
            let kind = match branch.get("type").and_then(Value::as_str) {
                Some("array") => match branch.get("items").map(|items| self.resolve(items)) {
                    Some(items) if items.get("properties").is_some() => {
                        "array of tables".to_owned()
                    }
                    _ => format!("array of {}", plural(named.unwrap_or("string"))),
                },
                Some("boolean") => "true or false".to_owned(),
                Some("object") => named.unwrap_or("table").to_owned(),
                Some("integer") => integer(branch),
                _ if shape::choices(branch).is_some() => "one of".to_owned(),
                _ => named.unwrap_or("string").to_owned(),
            };
            kinds.push(kind);
        }
        kinds.join(" or ")
    }

    /// The words of an enumeration with what each means.
    fn words(&self, property: &'s Value) -> Vec<(&'s str, &'s str)> {
        let branches = self.branches(property);
        let all = branches.iter().filter_map(|branch| branch.get("oneOf")?.as_array()).flatten();
        all.filter_map(|word| Some((word.get("const")?.as_str()?, description(word)))).collect()
    }

    fn branches(&self, property: &'s Value) -> Vec<&'s Value> {
        let schema = self.resolve(property);
        match schema.get("anyOf").and_then(Value::as_array) {
            Some(all) => all.iter().map(|branch| self.resolve(branch)).collect(),
            None => vec![schema],
        }
    }

    /// A key of the top level that holds tables, with its heading.
    fn table_of(&self, property: &'s Value) -> Option<(&'static str, &'s Value)> {
        let schema = self.resolve(property);
        if schema.get("properties").is_some() {
            return Some(("[KEY]", schema));
        }
        if let Some(items) = schema.get("items") {
            return Some(("[[KEY]]", self.resolve(items)));
        }
        let others = schema.get("additionalProperties").filter(|others| others.is_object())?;
        Some(("[KEY.NAME]", self.resolve(others)))
    }

    fn resolve(&self, schema: &'s Value) -> &'s Value {
        shape::resolve(self.root, schema)
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::iter).map(|(key, value)| (key.as_str(), value))
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn plural(noun: &str) -> String {
    if noun.ends_with(['s', 'x']) { format!("{noun}es") } else { format!("{noun}s") }
}

fn integer(schema: &Value) -> String {
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!("integer, {least} to {most}"),
        _ => "integer".to_owned(),
    }
}
