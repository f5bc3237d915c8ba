//! Procedures that change, save and display the setup tables.

use tare_mysql::error::{Result, SqlError};

use super::caller::{Call, cell};
use tare_query::result::Rows;

/// A setup table: its key's columns, and those that can be set.
#[derive(Debug)]
struct Table {
    name: &'static str,
    key: &'static [&'static str],
    set: &'static [&'static str],
    /// Whether rows are added and removed.
    rows: bool,
}

static TABLES: [Table; 5] = [
    Table {
        name: "setup_consumers",
        key: &["NAME"],
        set: &["ENABLED"],
        rows: false,
    },
    Table {
        name: "setup_instruments",
        key: &["NAME"],
        set: &["ENABLED", "TIMED"],
        rows: false,
    },
    Table {
        name: "threads",
        key: &["THREAD_ID"],
        set: &["INSTRUMENTED", "HISTORY"],
        rows: false,
    },
    Table {
        name: "setup_actors",
        key: &["HOST", "USER", "ROLE"],
        set: &["ENABLED", "HISTORY"],
        rows: true,
    },
    Table {
        name: "setup_objects",
        key: &["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME"],
        set: &["ENABLED", "TIMED"],
        rows: true,
    },
];

/// The consumers that a server enables by default.
const CONSUMERS: &str = "'events_statements_current', 'events_statements_history', 'events_transactions_current', \
     'events_transactions_history', 'global_instrumentation', 'thread_instrumentation', 'statements_digest'";

fn plural(n: u64, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

impl Call<'_> {
    pub(super) fn setup(&mut self, procedure: &str) -> Result<()> {
        let switch = procedure.strip_prefix("ps_setup_").unwrap_or(procedure);
        match switch {
            "save" => return self.save(),
            "reload_saved" => return self.reload(),
            "reset_to_default" => return self.reset_to_default(),
            "ps_truncate_all_tables" => return self.truncate_all(),
            _ => {}
        }
        if let Some(subject) = switch.strip_prefix("show_") {
            return self.show_setup(subject);
        }
        let (on, what) = match switch.split_once('_') {
            Some(("enable", what)) => (true, what),
            Some(("disable", what)) => (false, what),
            _ => {
                return Err(SqlError::new(
                    1305,
                    format!("PROCEDURE sys.{procedure} does not exist"),
                ));
            }
        };
        let (to, done) = if on {
            ("YES", "Enabled")
        } else {
            ("NO", "Disabled")
        };
        let text = self.text(0).unwrap_or_default();
        let like = format!("%{text}%");
        let (changed, what) = match what {
            "instrument" => {
                let sql = "UPDATE performance_schema.setup_instruments SET ENABLED = ?, TIMED = ? \
                           WHERE NAME LIKE ? AND (ENABLED <> ? OR IFNULL(TIMED, ?) <> ?)";
                (
                    self.change(sql, &[to, to, &like, to, to, to])?,
                    "instrument",
                )
            }
            "consumer" => {
                let sql = "UPDATE performance_schema.setup_consumers SET ENABLED = ? WHERE NAME LIKE ? AND ENABLED <> ?";
                (self.change(sql, &[to, &like, to])?, "consumer")
            }
            "thread" => {
                let sql = "UPDATE performance_schema.threads SET INSTRUMENTED = ? WHERE PROCESSLIST_ID = ? + 0";
                (self.change(sql, &[to, &text])?, "thread")
            }
            _ => {
                let sql = "UPDATE performance_schema.threads SET INSTRUMENTED = ? WHERE TYPE = 'BACKGROUND'";
                (self.change(sql, &[to])?, "background thread")
            }
        };
        self.send_text("summary", format!("{done} {}", plural(changed, what)))
    }

    fn save(&mut self) -> Result<()> {
        self.require_settings("SUPER")?;
        let mut tables = Vec::new();
        for table in &TABLES {
            let columns = [table.key, table.set].concat().join(", ");
            let rows = self.select(
                &format!("SELECT {columns} FROM performance_schema.{}", table.name),
                &[],
            )?;
            tables.push(rows);
        }
        self.caller.state().saved = Some(tables);
        Ok(())
    }

    fn reload(&mut self) -> Result<()> {
        self.require_settings("SUPER")?;
        let Some(saved) = self.caller.state().saved.take() else {
            return Err(SqlError::signal(
                "45000",
                1644,
                "Nothing has been saved in this session: call sys.ps_setup_save first",
            ));
        };
        for (table, rows) in TABLES.iter().zip(&saved) {
            self.restore(table, rows)?;
        }
        Ok(())
    }

    fn restore(&mut self, table: &Table, rows: &Rows) -> Result<()> {
        let name = table.name;
        if table.rows {
            self.change(&format!("DELETE FROM performance_schema.{name}"), &[])?;
        }
        let columns = [table.key, table.set].concat();
        let sql = if table.rows {
            let holes = vec!["?"; columns.len()].join(", ");
            format!(
                "INSERT INTO performance_schema.{name} ({}) VALUES ({holes})",
                columns.join(", ")
            )
        } else {
            let set: Vec<String> = table.set.iter().map(|c| format!("{c} = ?")).collect();
            format!(
                "UPDATE performance_schema.{name} SET {} WHERE {} = ?",
                set.join(", "),
                table.key[0]
            )
        };
        for row in &rows.rows {
            let texts: Vec<String> = (0..row.len()).map(|i| cell(row, i)).collect();
            let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            if !table.rows {
                // The key comes last in an UPDATE. A thread that has ended changes no row.
                texts.rotate_left(1);
            }
            // Memory and errors are not timed, and stay NULL.
            if row
                .iter()
                .any(|v| matches!(v, rusqlite::types::Value::Null))
            {
                let sql = format!(
                    "UPDATE performance_schema.{name} SET {} = ? WHERE {} = ?",
                    table.set[0], table.key[0]
                );
                self.change(&sql, &[texts[0], texts[texts.len() - 1]])?;
                continue;
            }
            self.change(&sql, &texts)?;
        }
        Ok(())
    }

    fn reset_to_default(&mut self) -> Result<()> {
        let verbose = self.flag(0);
        let steps: [(&str, Vec<String>); 5] = [
            (
                "Resetting: setup_actors",
                vec![
                    "DELETE FROM performance_schema.setup_actors".into(),
                    "INSERT INTO performance_schema.setup_actors (HOST, USER, ROLE, ENABLED, HISTORY) \
                     VALUES ('%', '%', '%', 'YES', 'YES')"
                        .into(),
                ],
            ),
            (
                "Resetting: setup_instruments",
                vec![
                    "UPDATE performance_schema.setup_instruments \
                     SET ENABLED = sys.ps_is_instrument_default_enabled(NAME)"
                        .into(),
                    "UPDATE performance_schema.setup_instruments \
                     SET TIMED = sys.ps_is_instrument_default_timed(NAME) WHERE TIMED IS NOT NULL"
                        .into(),
                ],
            ),
            (
                "Resetting: setup_consumers",
                vec![format!(
                    "UPDATE performance_schema.setup_consumers SET ENABLED = IF(NAME IN ({CONSUMERS}), 'YES', 'NO')"
                )],
            ),
            ("Resetting: setup_objects", default_objects()),
            (
                "Resetting: threads",
                vec!["UPDATE performance_schema.threads SET INSTRUMENTED = 'YES', HISTORY = 'YES'".into()],
            ),
        ];
        for (step, statements) in steps {
            if verbose {
                self.send_text("status", step)?;
            }
            for statement in statements {
                self.change(&statement, &[])?;
            }
        }
        Ok(())
    }

    fn truncate_all(&mut self) -> Result<()> {
        self.require_settings("DROP")?;
        let verbose = self.flag(0);
        let mut emptied = 0;
        for table in tare_rows::registry::tables_in(self.context().series(), "performance_schema") {
            let name = table.name();
            if !table.can_truncate() || !(name.contains("summary") || name.contains("_history")) {
                continue;
            }
            if verbose {
                self.send_text(
                    "status",
                    format!("Running: TRUNCATE TABLE performance_schema.{name}"),
                )?;
            }
            self.truncate(name)?;
            emptied += 1;
        }
        self.send_text("summary", format!("Truncated {}", plural(emptied, "table")))
    }

    fn show_setup(&mut self, what: &str) -> Result<()> {
        let (state, rest) = what.split_once('_').unwrap_or((what, ""));
        let yes = if state == "enabled" { "YES" } else { "NO" };
        let consumers = format!(
            "SELECT NAME AS {state}_consumers FROM performance_schema.setup_consumers WHERE ENABLED = '{yes}' ORDER BY NAME"
        );
        let instruments = format!(
            "SELECT NAME AS {state}_instruments, TIMED AS timed FROM performance_schema.setup_instruments \
             WHERE ENABLED = '{yes}' ORDER BY NAME"
        );
        match rest {
            "consumers" => return self.send_select(&consumers),
            "instruments" => return self.send_select(&instruments),
            _ => {}
        }
        self.send_select("SELECT @@performance_schema AS performance_schema_enabled")?;
        self.send_select(&format!(
            "SELECT CONCAT('''', USER, '''@''', HOST, '''') AS {state}_users \
             FROM performance_schema.setup_actors WHERE ENABLED = '{yes}' ORDER BY USER, HOST"
        ))?;
        self.send_select(&format!(
            "SELECT OBJECT_TYPE AS object_type, CONCAT(OBJECT_SCHEMA, '.', OBJECT_NAME) AS objects, \
             ENABLED AS enabled, TIMED AS timed FROM performance_schema.setup_objects \
             WHERE ENABLED = '{yes}' ORDER BY OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME"
        ))?;
        self.send_select(&consumers)?;
        if self.flag(1) {
            self.send_select(&format!(
                "SELECT IF(TYPE = 'FOREGROUND', CONCAT(PROCESSLIST_USER, '@', PROCESSLIST_HOST), \
                 REPLACE(NAME, 'thread/', '')) AS {state}_threads, TYPE AS thread_type \
                 FROM performance_schema.threads WHERE INSTRUMENTED = '{yes}' ORDER BY TYPE, THREAD_ID"
            ))?;
        }
        if self.flag(0) {
            self.send_select(&instruments)?;
        }
        Ok(())
    }
}

/// The INSERTs of setup_objects' default rows: everything but the system schemas.
fn default_objects() -> Vec<String> {
    let mut rows = Vec::new();
    for kind in ["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"] {
        for (schema, on) in [
            ("mysql", "NO"),
            ("performance_schema", "NO"),
            ("information_schema", "NO"),
            ("%", "YES"),
        ] {
            rows.push(format!(
                "INSERT INTO performance_schema.setup_objects (OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, ENABLED, TIMED) \
                 VALUES ('{kind}', '{schema}', '%', '{on}', '{on}')"
            ));
        }
    }
    rows.insert(0, "DELETE FROM performance_schema.setup_objects".into());
    rows
}
