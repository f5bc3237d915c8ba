//! docs/tables.md is what the descriptions say.

use std::path::Path;

#[test]
fn tables_md_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let fresh = tare_rows::docs::markdown(&tare_sql::sys::Sys);
    if std::env::var_os("TARE_REGENERATE").is_some() {
        std::fs::write(&path, &fresh).expect("docs/tables.md can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == fresh,
        "docs/tables.md is stale; write it anew: TARE_REGENERATE=1 cargo test -p tare-sql --test docs"
    );
}
