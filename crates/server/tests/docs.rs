//! docs/tables.md is what the descriptions say.

use std::path::Path;

#[test]
fn tables_md_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let fresh = tare_rows::docs::markdown(&tare_sys::Sys);
    if std::env::var_os("TARE_REGENERATE").is_some() {
        std::fs::write(&path, &fresh).expect("docs/tables.md can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == fresh,
        "docs/tables.md is stale; write it anew: TARE_REGENERATE=1 cargo test -p tare-server --test docs"
    );
}

/// clients.md has one row for each variable that may be set and does nothing.
#[test]
fn clients_md_lists_what_is_accepted_and_without_effect() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let text = std::fs::read_to_string(&path).expect("docs/clients.md");
    let (_, section) = text
        .split_once("## Accepted and without effect")
        .expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let rows: Vec<&str> = section.lines().filter(|l| l.starts_with("| `")).collect();
    let expected: Vec<String> = tare_server::variables::ACCEPTED
        .iter()
        .map(|(name, who)| format!("| `{name}` | {who} |"))
        .collect();
    assert_eq!(rows, expected);
}
