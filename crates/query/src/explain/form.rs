//! The formats of EXPLAIN.

use rusqlite::types::Value;
use tare_mysql::wire::column::WireType;

use super::Line;
use super::steps::Step;
use crate::result::{RowValue, Rows};

/// FORMAT=TRADITIONAL.
pub(super) fn table(steps: &[Step]) -> Rows {
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
            _ => step.rows.map(|rows| rows as i64),
        };
        rows.push([
            step.id.into(),
            step.select_type.into(),
            step.table.as_deref().into(),
            None::<String>.into(),
            step.kind.into(),
            step.possible.as_deref().into(),
            step.key.as_deref().into(),
            step.key_bytes.map(|bytes| bytes.to_string()).into(),
            step.reference.as_deref().into(),
            count.into(),
            RowValue(
                step.table
                    .as_ref()
                    .map_or(Value::Null, |_| Value::Real(step.filtered)),
            ),
            Some(step.extra.join("; ")).filter(|e| !e.is_empty()).into(),
        ]);
    }
    rows.wire = vec![None; 12];
    rows.wire[0] = Some(WireType::bigint_unsigned());
    rows.wire[9] = Some(WireType::bigint_unsigned());
    rows.wire[10] = Some(WireType {
        decimals: 2,
        ..WireType::double()
    });
    rows
}

/// FORMAT=JSON.
pub(super) fn json(steps: &[Step]) -> String {
    use serde_json::json;
    let one = |step: &Step| match &step.table {
        None => json!({"message": step.extra.first().copied().unwrap_or("No tables used")}),
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

/// FORMAT=TREE: SQLite's own plan.
pub(super) fn tree(lines: &[Line]) -> String {
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
