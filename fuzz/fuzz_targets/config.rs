//! Configurations: no text panics, what is refused says where, and what is accepted builds a router.

#![no_main]

use fingerpost::apply;
use fingerpost::config::Config;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Config::parse("fuzz.toml", text) {
        Ok(config) => {
            apply::router(&config, &apply::rows(&config), 1)
                .expect("an accepted configuration has no conflicts");
            assert!(!config.warnings.has_errors());
        }
        Err(diagnostics) => {
            assert!(diagnostics.has_errors());
            let lines: Vec<&str> = text.split('\n').collect();
            for diagnostic in diagnostics.iter() {
                let line = lines.get(diagnostic.line().saturating_sub(1));
                let line =
                    line.unwrap_or_else(|| panic!("line {} of {}", diagnostic.line(), lines.len()));
                assert!(diagnostic.column() <= line.chars().count() + 1, "{diagnostic:?}");
            }
        }
    }
});
