//! The generated documentation says what the types say.

use std::path::Path;

use fingerpost::config::schema;

#[test]
fn the_documentation_is_what_the_types_generate() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let pages = [
        ("config.schema.json", schema::json(), "fingerpost schema"),
        ("CONFIG.md", schema::markdown(), "fingerpost schema --markdown"),
    ];
    for (name, want, command) in pages {
        let found = std::fs::read_to_string(docs.join(name)).unwrap_or_default();
        assert!(found == want, "docs/{name} is stale; write it anew: {command} > docs/{name}");
    }
}
