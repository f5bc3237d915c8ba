//! sys_config, the one table of schema sys.

use crate::cell::Cell;
use crate::describe::{Change, Key, Spec, Table, Update, col, null};
use crate::options::Setting;
use crate::view::View;

fn who(view: &View) -> String {
    let (user, host) = view.source.account();
    format!("{user}@{host}")
}

fn value(changes: &[Change], column: &str) -> Option<String> {
    changes
        .iter()
        .find(|c| c.column == column)
        .and_then(|c| c.value.clone())
}

#[rustfmt::skip] // One column, one line.
static SYS_CONFIG: Spec<Setting> = Spec::new(
    "sys",
    "sys_config",
    "Options of schema sys. A session can override one with a user variable `@sys.NAME`.",
    &[&[
        col("variable", "varchar(128)", "The option's name.", |r: &Setting| r.variable.as_str().into()),
        null("value", "varchar(128)", "The option's value; can be updated.", |r| Cell::opt(r.value.as_deref())),
        null("set_time", "timestamp", "When the value was last set.", |r: &Setting| Cell::opt(r.set_time.as_deref())).mysql_only(),
        col("set_time", "timestamp", "When the value was last set.", |r: &Setting| Cell::opt(r.set_time.as_deref())).mariadb_only(),
        null("set_by", "varchar(128)", "The user who set it; NULL for a default.", |r| Cell::opt(r.set_by.as_deref())),
    ]],
    |view, _| {
        let rows = view
            .source
            .sys_config()
            .map(|c| c.rows())
            .unwrap_or_default();
        Ok(Box::new(rows.into_iter()))
    },
)
.keys(&[Key::Primary(&["variable"])])
.expect(6)
.update(
    |r| r.id,
    Update {
        columns: &["value"],
        apply: |view, rowid, changes| match view.source.sys_config() {
            Some(config) => config.update(rowid, value(changes, "value"), &who(view)),
            None => Ok(()),
        },
    },
)
.change(
    |view, row| match (view.source.sys_config(), value(row, "variable")) {
        (_, None) => Err(tare_mysql::error::SqlError::cannot_be_null("variable")),
        (Some(config), Some(variable)) => config.insert(&variable, value(row, "value"), &who(view)),
        (None, _) => Ok(()),
    },
    |view, rowid| match view.source.sys_config() {
        Some(config) => config.delete(rowid),
        None => Ok(()),
    },
);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&SYS_CONFIG];
