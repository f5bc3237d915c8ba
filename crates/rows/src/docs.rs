//! docs/tables.md, from the descriptions.

use std::fmt::Write;

use tare_mysql::series::Series;

use crate::describe::{SeriesSet, Table};
use crate::extension::{Extension, RoutineKind};
use crate::registry;

fn heading(out: &mut String, schema: &str) {
    let about = match schema {
        "performance_schema" => {
            "What the server's threads wait for and run. Times are in picoseconds; timers of events count from\nthe \
             start of the segment."
        }
        "tare" => {
            "Tables that MySQL does not have: lock contention, histograms of all event types, the cost of each \
             instrument, active sessions, sampling, and the attached segments; and setup_timers, which MySQL has up to 5.7."
        }
        "information_schema" => "Metadata of databases, tables, columns and routines.",
        "sys" => {
            "Views, functions and procedures over these tables. The views have the columns of MySQL's. A view \
             `x$NAME` has raw numbers where `NAME` has text such as `1.50 ms` or `4.00 KiB`."
        }
        _ => "Accounts and their privileges.",
    };
    let _ = write!(out, "\n## {schema}\n\n{about}\n");
}

/// Which series have it, if not all of them.
fn series_text(series: SeriesSet) -> Option<String> {
    const NEWEST: SeriesSet = SeriesSet::since(Series::V9_7);
    match series {
        SeriesSet::ALL => None,
        SeriesSet::MYSQL => Some("Not in MariaDB".to_owned()),
        SeriesSet::MARIADB => Some("Of MariaDB".to_owned()),
        NEWEST => Some("Since 9.7".to_owned()),
        _ => {
            let of: Vec<_> = series.iter().map(Series::name).collect();
            Some(format!("Only {}", of.join(", ")))
        }
    }
}

/// How a description differs between series.
const SERIES: &str = "
## Series

`tare serve --as 9.7|8.0|mariadb` selects the *series*: the server whose tables, version and executable
comments (`/*!90704 ... */`) clients find. It is MySQL 9.7.4, the default, MySQL 8.0.15 or MariaDB 10.11. On
a segment or a history, `tare sql`, `tare top` and `tare explain` have the tables of 9.7.

With `--as mariadb`, performance_schema and the columns of sys are MariaDB's; information_schema and mysql
are those of 8.0.

Each table is described once, with the columns of all series in their order. If not all series have a table
or a column, the description names those that do. If a column has another type in a series, the column of
types has both. Integers have no display width in 9.7. In the text of a view of schema sys, what only a
later series has is in `/*!90704 ... */`. A test compares each series with information_schema.columns of a
live server.
";

fn about(out: &mut String, table: &dyn Table) {
    let _ = write!(
        out,
        "\n### {}.{}\n\n{}\n",
        table.schema(),
        table.name(),
        table.doc()
    );
    if let Some(text) = series_text(table.series()) {
        let _ = write!(out, "\n{text}.\n");
    }
    if let Some(update) = table.update() {
        let _ = write!(
            out,
            "\nUPDATE may change {}. The change takes effect at once.\n",
            update.columns.join(", ")
        );
    }
    if table.can_truncate() {
        out.push_str("\nTRUNCATE TABLE is allowed.");
        if table.columns().iter().any(|c| c.name == "END_EVENT_ID") {
            out.push_str(" It removes timed events that have ended.");
        } else if table.columns().iter().any(|c| c.name == "MAX_TIMER_WAIT") {
            out.push_str(" Minima and maxima after it are accurate to 25 %.");
        }
        out.push('\n');
    }
    out.push_str("\n| column | type | null | |\n|---|---|---|---|\n");
    for c in table.columns() {
        let null = if c.nullable { "yes" } else { "no" };
        let since = series_text(c.series).map_or_else(String::new, |text| format!("{text}. "));
        let mut kind = c.column_type.to_owned();
        for (series, other) in [
            (Series::V9_7, c.type_9_7),
            (Series::Mariadb, c.type_mariadb),
        ] {
            if let Some(other) = other {
                let _ = write!(kind, "; {series}: {other}");
            }
        }
        let _ = writeln!(out, "| {} | {kind} | {null} | {since}{} |", c.name, c.doc);
    }
}

/// The views of sys, a line each, and its functions.
fn views(out: &mut String, extension: &dyn Extension) {
    out.push_str("\n| view | | columns |\n|---|---|---|\n");
    let views = extension.tables();
    for view in &views {
        let columns: Vec<&str> = view.columns().iter().map(|c| c.name).collect();
        let raw = view.name().strip_prefix("x$");
        let columns = match raw.filter(|name| views.iter().any(|v| v.name() == *name)) {
            Some(name) => format!("as `{name}`, with raw numbers"),
            None => columns.join(", "),
        };
        let _ = writeln!(out, "| {} | {} | {columns} |", view.name(), view.doc());
    }
    for (kind, title) in [
        (RoutineKind::Function, "function"),
        (RoutineKind::Procedure, "procedure"),
    ] {
        let _ = write!(out, "\n| {title} | |\n|---|---|\n");
        for routine in extension.routines().iter().filter(|r| r.kind == kind) {
            let names: Vec<&str> = routine.parameters.iter().map(|p| p.name).collect();
            let _ = writeln!(
                out,
                "| {}({}) | {} |",
                routine.name,
                names.join(", "),
                routine.doc
            );
        }
    }
}

/// The tables and views that never have rows, with the reason.
fn empty(out: &mut String, extension: &dyn Extension) {
    out.push_str(
        "\n## Tables that are always empty\n\nThey exist for clients that query them, and have MySQL's \
         columns and keys.\n\n| table | contents, and why it is empty |\n|---|---|\n",
    );
    let tables = registry::described().iter().filter(|t| t.is_always_empty());
    let views = extension.tables();
    let views = views
        .iter()
        .filter(|v| v.doc().contains("Always empty") && !v.name().starts_with("x$"));
    for table in tables.copied().chain(views.copied()) {
        let _ = writeln!(
            out,
            "| {}.{} | {} |",
            table.schema(),
            table.name(),
            match series_text(table.series()) {
                Some(text) => format!("{text}. {}", table.doc()),
                None => table.doc().to_owned(),
            }
        );
    }
}

/// The complete page, with the views and routines of schema sys.
pub fn markdown(extension: &dyn Extension) -> String {
    let mut out = String::from(
        "# Tables\n\nThe tables that `tare sql` has of a program with Tare's engine, and `tare serve` of itself or of such\n\
         a program. [history.md](history.md#columns) has the tables of a history.\n\n\
         - [Series](#series)\n\
         - [performance_schema](#performance_schema), [tare](#tare), [sys](#sys),\n  \
         [information_schema](#information_schema), [mysql](#mysql)\n\
         - [Tables that are always empty](#tables-that-are-always-empty)\n\n\
         This page is generated from the descriptions in crates/rows and crates/sys. Do not edit it; regenerate\nit \
         with `TARE_REGENERATE=1 cargo test -p tare-server --test docs`.\n",
    );
    out.push_str(
        "\nIf Tare has no value for a column of MySQL, the column exists, and its description says \"Always\".\n",
    );
    out.push_str(SERIES);
    for schema in [
        "performance_schema",
        "tare",
        "sys",
        "information_schema",
        "mysql",
    ] {
        heading(&mut out, schema);
        let tables = registry::described()
            .iter()
            .filter(|t| t.schema() == schema);
        for table in tables.filter(|t| !t.is_always_empty()) {
            about(&mut out, *table);
        }
        if schema == "sys" {
            views(&mut out, extension);
        }
    }
    empty(&mut out, extension);
    out
}
