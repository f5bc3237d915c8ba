//! What system tables are described with.

use super::support::{Running, rows};

#[test]
fn system_tables_are_described_with_defaults_keys_and_collations() {
    let running = Running::start();
    let mut conn = running.root();
    let actors = rows(&mut conn, "DESCRIBE performance_schema.setup_actors");
    let host = ["HOST", "char(255)", "NO", "PRI", "%", ""];
    assert_eq!(actors[0], host);
    assert_eq!(actors[3][4], "YES");
    let summary = rows(&mut conn, "DESCRIBE sys.host_summary");
    assert!(
        summary
            .iter()
            .any(|row| row[0] == "unique_users" && row[4] == "0")
    );
    let shown = rows(&mut conn, "SHOW CREATE TABLE performance_schema.accounts");
    let text = &shown[0][1];
    assert!(
        text.contains("CHARACTER SET ascii COLLATE ascii_general_ci DEFAULT NULL"),
        "{text}"
    );
    assert!(
        text.contains("CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL"),
        "{text}"
    );
    let key = rows(
        &mut conn,
        "DESCRIBE performance_schema.events_errors_summary_global_by_error",
    );
    assert_eq!(key[0][3], "UNI");
}
