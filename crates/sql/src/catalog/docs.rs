//! docs/tables.md, from the descriptions.

use std::fmt::Write;

use super::describe::Table;

fn heading(out: &mut String, schema: &str) {
    let about = match schema {
        "performance_schema" => {
            "What the server's threads wait for and run. Columns, order and types are those of \
             MySQL 8.0.15 (`setup_timers`: of 5.7). Times are in picoseconds; event timers count \
             from the start of the segment."
        }
        "tare" => "What MySQL does not have.",
        "information_schema" => "What clients ask for about databases, tables and columns.",
        "sys" => {
            "What people read: views over the tables above, with the columns of MySQL 8.0.15's. A view \
             `x$NAME` has raw numbers where `NAME` has texts like `1.50 ms` and `4.00 KiB`."
        }
        _ => "What clients ask for at connect.",
    };
    let _ = write!(out, "\n## {schema}\n\n{about}\n");
}

fn about(out: &mut String, table: &dyn Table) {
    let _ = write!(
        out,
        "\n### {}.{}\n\n{}\n",
        table.schema(),
        table.name(),
        table.doc()
    );
    if let Some(update) = table.update() {
        let _ = write!(
            out,
            "\nUPDATE may set {}, with effect at once.\n",
            update.columns.join(", ")
        );
    }
    if table.can_truncate() {
        out.push_str("\nTRUNCATE TABLE is allowed.");
        if table.columns().iter().any(|c| c.name == "END_EVENT_ID") {
            out.push_str(" It forgets the timed events that have ended.");
        } else if table.columns().iter().any(|c| c.name == "MAX_TIMER_WAIT") {
            out.push_str(" A minimum or maximum from before it is then within 25 %.");
        }
        out.push('\n');
    }
    out.push_str("\n| column | type | null | |\n|---|---|---|---|\n");
    for c in table.columns() {
        let null = if c.nullable { "yes" } else { "no" };
        let _ = writeln!(
            out,
            "| {} | {} | {null} | {} |",
            c.name, c.column_type, c.doc
        );
    }
}

/// The views of sys, a line each, and its functions.
fn views(out: &mut String) {
    out.push_str("\n| view | | columns |\n|---|---|---|\n");
    for view in crate::sys::views() {
        let columns: Vec<&str> = view.columns().iter().map(|c| c.name).collect();
        let raw = view.name().starts_with("x$") && crate::sys::view(&view.name()[2..]).is_some();
        let columns = match raw {
            true => format!("those of `{}`, raw", &view.name()[2..]),
            false => columns.join(", "),
        };
        let _ = writeln!(out, "| {} | {} | {columns} |", view.name(), view.doc());
    }
    out.push_str("\n| function | |\n|---|---|\n");
    for function in crate::sys::functions::public() {
        let names: Vec<&str> = function.parameters.iter().map(|p| p.0).collect();
        let _ = writeln!(
            out,
            "| {}({}) | {} |",
            function.name,
            names.join(", "),
            function.doc
        );
    }
    out.push_str("\n| procedure | |\n|---|---|\n");
    for procedure in crate::sys::procedures::PROCEDURES {
        let names: Vec<&str> = procedure.parameters.iter().map(|p| p.1).collect();
        let _ = writeln!(
            out,
            "| {}({}) | {} |",
            procedure.name,
            names.join(", "),
            procedure.doc
        );
    }
}

/// The whole page.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Tables\n\nGenerated from the descriptions in crates/sql/src/tables: do not edit.\n\
         `TARE_REGENERATE=1 cargo test -p tare-sql --test docs` writes it anew.\n",
    );
    for schema in [
        "performance_schema",
        "tare",
        "sys",
        "information_schema",
        "mysql",
    ] {
        heading(&mut out, schema);
        for table in super::tables().iter().filter(|t| t.schema() == schema) {
            about(&mut out, *table);
        }
        if schema == "sys" {
            views(&mut out);
        }
    }
    out
}
