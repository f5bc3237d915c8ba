//! EXPLAIN: SQLite's plan in MySQL's columns.

use rusqlite::types::Value;

use super::execute::prepare;
use super::session::Session;
use tare_dialect::admin::Format;
use tare_dialect::plan::Sql;
use tare_mysql::error::Result;
use tare_query::result::{Rows, Text};

/// A line of EXPLAIN QUERY PLAN.
struct Line {
    id: i64,
    parent: i64,
    text: String,
}

/// A row of EXPLAIN.
#[derive(Default)]
struct Step {
    id: Option<i64>,
    select_type: &'static str,
    table: Option<String>,
    kind: Option<&'static str>,
    key: Option<String>,
    reference: Option<String>,
    extra: Vec<&'static str>,
}

/// EXPLAIN of a statement.
pub fn explain(session: &mut Session, sql: &Sql, format: Format) -> Result<Rows> {
    prepare::ready(session, sql)?;
    let connection = session.connections.of(sql)?;
    let mut statement = connection
        .db()
        .prepare(&sql.text)
        .map_err(|error| prepare::refused(error.into(), sql))?;
    let mut lines = Vec::new();
    // Parameters of the explained statement stay NULL.
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(tare_store::Error::from)? {
        lines.push(Line {
            id: row.get(0).map_err(tare_store::Error::from)?,
            parent: row.get(1).map_err(tare_store::Error::from)?,
            text: row.get(3).map_err(tare_store::Error::from)?,
        });
    }
    Ok(match format {
        Format::Traditional => table(&steps(&lines)),
        Format::Json => {
            let mut rows = Rows::new(&["EXPLAIN"]);
            rows.push([json(&steps(&lines)).into()]);
            rows
        }
        Format::Tree => {
            let mut rows = Rows::new(&["EXPLAIN"]);
            rows.push([tree(&lines).into()]);
            rows
        }
    })
}

/// What `SEARCH t USING INDEX i (a=?)` says.
fn access(text: &str) -> Option<Step> {
    let (searches, rest) = match text.split_once(' ')? {
        ("SEARCH", rest) => (true, rest),
        ("SCAN", rest) => (false, rest),
        _ => return None,
    };
    if rest == "CONSTANT ROW" {
        return Some(Step {
            extra: vec!["No tables used"],
            ..Step::default()
        });
    }
    let (name, using) = rest.split_once(" USING ").unwrap_or((rest, ""));
    let table = name
        .split(" VIRTUAL TABLE")
        .next()
        .unwrap_or(name)
        .rsplit('.')
        .next()
        .unwrap_or(name);
    let bounds = using
        .split_once(" (")
        .map_or("", |(_, b)| b.trim_end_matches(')'));
    let equal = !bounds.is_empty() && !bounds.contains(['<', '>']);
    let covering = using.contains("COVERING INDEX");
    let key = if using.contains("INTEGER PRIMARY KEY") || using.starts_with("PRIMARY KEY") {
        Some("PRIMARY".to_owned())
    } else {
        using.split_once("INDEX ").map(|(_, rest)| {
            let index = rest.split(" (").next().unwrap_or(rest);
            let index = index.rsplit('.').next().unwrap_or(index);
            if index.starts_with("sqlite_autoindex") {
                "PRIMARY".to_owned()
            } else {
                index.to_owned()
            }
        })
    };
    let is_virtual = rest.contains("VIRTUAL TABLE");
    let kind = match (searches, key.as_deref()) {
        _ if is_virtual => "ALL",
        (true, Some("PRIMARY")) if equal => "const",
        (true, _) if equal => "ref",
        (true, _) => "range",
        (false, Some(_)) => "index",
        (false, None) => "ALL",
    };
    let mut extra = Vec::new();
    if covering {
        extra.push("Using index");
    }
    Some(Step {
        table: Some(table.to_owned()),
        kind: Some(kind),
        key: key.filter(|_| !is_virtual),
        reference: (equal && !is_virtual)
            .then(|| vec!["const"; bounds.matches("=?").count().max(1)].join(",")),
        extra,
        ..Step::default()
    })
}

fn steps(lines: &[Line]) -> Vec<Step> {
    // Each subquery, union part or derived table is a SELECT with a number of its own.
    let mut selects: Vec<(i64, i64, &'static str)> = vec![(0, 1, "SIMPLE")];
    let mut steps: Vec<Step> = Vec::new();
    let mut next = 2;
    for line in lines {
        let parent = selects
            .iter()
            .rev()
            .find(|(id, ..)| *id == line.parent)
            .copied()
            .unwrap_or(selects[0]);
        let text = line.text.as_str();
        let select = if text.starts_with("CO-ROUTINE") || text.starts_with("MATERIALIZE") {
            Some("DERIVED")
        } else if text.starts_with("CORRELATED") {
            Some("DEPENDENT SUBQUERY")
        } else if text.contains("SUBQUERY") {
            Some("SUBQUERY")
        } else if text.starts_with("UNION")
            || text.starts_with("EXCEPT")
            || text.starts_with("INTERSECT")
        {
            Some("UNION")
        } else {
            None
        };
        if let Some(select) = select {
            selects.push((line.id, next, select));
            next += 1;
            continue;
        }
        if text.starts_with("COMPOUND")
            || text == "LEFT-MOST SUBQUERY"
            || text.starts_with("MULTI-INDEX")
            || text.starts_with("INDEX ")
            || text == "SETUP"
            || text.starts_with("RECURSIVE")
        {
            selects.push((line.id, parent.1, parent.2));
            continue;
        }
        if let Some(mut step) = access(text) {
            step.id = Some(parent.1);
            step.select_type = parent.2;
            steps.push(step);
            continue;
        }
        let extra: &[&'static str] = if text.contains("FOR ORDER BY") {
            &["Using filesort"]
        } else if text.contains("FOR GROUP BY")
            || text.contains("FOR DISTINCT")
            || text.contains("count(DISTINCT)")
        {
            &["Using temporary"]
        } else {
            &[]
        };
        if let Some(step) = steps.iter_mut().find(|s| s.id == Some(parent.1)) {
            step.extra.extend(extra);
        }
    }
    if next > 2 {
        for step in &mut steps {
            if step.select_type == "SIMPLE" {
                step.select_type = "PRIMARY";
            }
        }
    }
    // A table that a row of another one looks up by a whole key.
    let mut seen: Vec<i64> = Vec::new();
    for step in &mut steps {
        let id = step.id.unwrap_or(1);
        if seen.contains(&id) && step.kind == Some("const") {
            step.kind = Some("eq_ref");
            step.reference = Some("func".into());
        }
        seen.push(id);
    }
    if steps.is_empty() {
        steps.push(Step {
            id: Some(1),
            select_type: "SIMPLE",
            extra: vec!["No tables used"],
            ..Step::default()
        });
    }
    steps
}

fn table(steps: &[Step]) -> Rows {
    let mut rows = Rows::new(&[
        "id",
        "select_type",
        "table",
        "partitions",
        "type",
        "possible_keys",
        "key",
        "key_len",
        "ref",
        "rows",
        "filtered",
        "Extra",
    ]);
    for step in steps {
        let count = match step.kind {
            Some("const" | "eq_ref") => Some(1i64),
            _ => None,
        };
        rows.push([
            step.id.into(),
            step.select_type.into(),
            step.table.as_deref().into(),
            None::<String>.into(),
            step.kind.into(),
            step.key.as_deref().into(),
            step.key.as_deref().into(),
            None::<String>.into(),
            step.reference.as_deref().into(),
            count.into(),
            Text(
                step.table
                    .as_ref()
                    .map_or(Value::Null, |_| Value::Real(100.0)),
            ),
            Some(step.extra.join("; ")).filter(|e| !e.is_empty()).into(),
        ]);
    }
    rows.wire = vec![None; 12];
    rows.wire[0] = Some(tare_mysql::wire::column::WireType::bigint_unsigned());
    rows.wire[9] = Some(tare_mysql::wire::column::WireType::bigint_unsigned());
    rows.wire[10] = Some(tare_mysql::wire::column::WireType {
        decimals: 2,
        ..tare_mysql::wire::column::WireType::double()
    });
    rows
}

fn json(steps: &[Step]) -> String {
    use serde_json::json;
    let one = |step: &Step| match &step.table {
        None => json!({"message": "No tables used"}),
        Some(table) => {
            let mut of = serde_json::Map::new();
            of.insert("table_name".into(), table.as_str().into());
            of.insert("access_type".into(), step.kind.unwrap_or("ALL").into());
            if let Some(key) = &step.key {
                of.insert("key".into(), key.as_str().into());
            }
            if let Some(reference) = &step.reference {
                of.insert(
                    "ref".into(),
                    reference.split(',').collect::<Vec<_>>().into(),
                );
            }
            if step.extra.contains(&"Using index") {
                of.insert("using_index".into(), true.into());
            }
            of.into()
        }
    };
    let mut block = serde_json::Map::new();
    block.insert("select_id".into(), 1.into());
    match steps {
        [step] => {
            block.insert("table".into(), one(step));
        }
        many => {
            let all: Vec<_> = many.iter().map(|s| json!({"table": one(s)})).collect();
            block.insert("nested_loop".into(), all.into());
        }
    }
    serde_json::to_string_pretty(&json!({"query_block": block})).unwrap_or_default()
}

fn tree(lines: &[Line]) -> String {
    let mut depth: Vec<(i64, usize)> = vec![(0, 0)];
    let mut out = String::new();
    for line in lines {
        let level = depth
            .iter()
            .rev()
            .find(|(id, _)| *id == line.parent)
            .map_or(0, |(_, d)| *d);
        depth.push((line.id, level + 1));
        out.push_str(&format!("{}-> {}\n", "    ".repeat(level), line.text));
    }
    out
}
