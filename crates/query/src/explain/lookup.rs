//! EXPLAIN of a SELECT on one table of performance_schema: which key MySQL's optimizer takes for it.
//!
//! The keys of these tables are hashes: equality of a key's first columns is looked up, and anything else
//! reads the complete table. The shares of rows that conditions leave are the manual's for columns without
//! statistics.

use tare_dialect::lookup::{Comparison, Condition, Lookup};
use tare_mysql::error::Result;
use tare_mysql::types;
use tare_rows::describe::{Key, Meta, Table};

use super::steps::Step;

/// Expected rows of a lookup by a part of a key.
const ROWS_OF_KEY: u64 = 10;

/// Bytes of a column in a key.
fn key_bytes(meta: &Meta) -> u64 {
    let parts = types::parts(meta.column_type);
    let wide = if meta.is_ascii { 1 } else { 4 };
    let bytes = match parts.base.as_str() {
        "tinyint" | "enum" => 1,
        "smallint" => 2,
        "mediumint" => 3,
        "int" | "integer" | "float" => 4,
        "char" => parts.characters().unwrap_or(1) * wide,
        "varchar" => parts.characters().unwrap_or(1) * wide + 2,
        // A byte has two digits of the fraction.
        "timestamp" => 4 + parts.fraction().unwrap_or(0).div_ceil(2),
        _ => 8,
    };
    bytes + u64::from(meta.nullable)
}

/// A table's columns and conditions in a statement.
struct Plan<'a> {
    columns: Vec<Meta>,
    conditions: &'a [Condition],
}

impl Plan<'_> {
    fn on(&self, column: &str) -> impl Iterator<Item = (usize, Comparison)> + '_ {
        let column = column.to_owned();
        let conditions = self.conditions.iter().enumerate();
        conditions.filter_map(move |(at, condition)| {
            let (name, compares) = condition.column.as_ref()?;
            name.eq_ignore_ascii_case(&column)
                .then_some((at, *compares))
        })
    }

    /// The conditions that look up a key: one for each of its first columns that has an equality.
    fn equal(&self, key: &Key) -> Vec<usize> {
        let equalities = key.columns().iter().map_while(|column| {
            let mut on = self.on(column);
            on.find(|(_, compares)| matches!(compares, Comparison::Equal { .. }))
        });
        equalities.map(|(at, _)| at).collect()
    }

    fn meta(&self, column: &str) -> Option<&Meta> {
        let mut columns = self.columns.iter();
        columns.find(|meta| meta.name.eq_ignore_ascii_case(column))
    }

    /// Whether a lookup leaves a condition to be tested: a string that is compared with a large number or
    /// with an enum may be one that the key cannot have.
    fn remains(&self, at: usize) -> bool {
        let Some((column, Comparison::Equal { string })) = &self.conditions[at].column else {
            return true;
        };
        let base = self.meta(column).map(|meta| types::parts(meta.column_type));
        match base {
            Some(parts) if parts.base == "enum" => true,
            Some(parts) => *string && parts.base == "bigint",
            None => true,
        }
    }

    /// The share of rows that the conditions leave, without those that a key has looked up.
    fn filtered(&self, used: &[usize], rows: u64) -> f64 {
        let mut share = 100.0;
        for (at, condition) in self.conditions.iter().enumerate() {
            let Some((_, compares)) = &condition.column else {
                continue;
            };
            if !used.contains(&at) {
                share *= match compares {
                    Comparison::Equal { .. } => 0.1,
                    Comparison::Range => 0.3333,
                    Comparison::Within => 0.1111,
                    Comparison::Unequal => 0.9,
                };
            }
        }
        // MySQL does not reduce a single row.
        if rows <= 1 { 100.0 } else { share }
    }
}

/// The step of a lookup. `exists` returns whether the table has a row that fits conditions.
pub(super) fn step(
    table: &dyn Table,
    lookup: &Lookup,
    exists: &mut dyn FnMut(&str) -> Result<bool>,
) -> Result<Step> {
    let plan = Plan {
        columns: table.columns(),
        conditions: &lookup.conditions,
    };
    let begins = |key: &&Key| plan.on(key.columns()[0]).next().is_some();
    let possible: Vec<&Key> = table.keys().iter().filter(begins).collect();
    let mut step = Step {
        id: Some(1),
        select_type: "SIMPLE",
        table: Some(lookup.name.clone()),
        ..Step::default()
    };
    let is_complete = |key: &&&Key| key.unique() && plan.equal(key).len() == key.columns().len();
    if let Some(key) = possible.iter().find(is_complete) {
        let used = plan.equal(key);
        let texts: Vec<&str> = used
            .iter()
            .map(|at| lookup.conditions[*at].text.as_str())
            .collect();
        if !exists(&texts.join(" AND "))? {
            step.table = None;
            step.extra.push("no matching row in const table");
            return Ok(step);
        }
        step.kind = Some("const");
        step.rows = Some(1);
        describe(&mut step, &plan, &possible, key, used.len());
        if used.len() < lookup.conditions.len() {
            step.extra.push("Using where");
        }
        return Ok(step);
    }
    let mut best: Option<(&Key, Vec<usize>)> = None;
    for key in possible.iter().copied() {
        let used = plan.equal(key);
        if used.len() > best.as_ref().map_or(0, |(_, used)| used.len()) {
            best = Some((key, used));
        }
    }
    let rows = u64::from(table.expect());
    let (kind, expected, used) = match best {
        Some((key, used)) => {
            describe(&mut step, &plan, &possible, key, used.len());
            ("ref", ROWS_OF_KEY, used)
        }
        None => {
            step.possible = names(&possible);
            ("ALL", rows, Vec::new())
        }
    };
    step.kind = Some(kind);
    step.rows = Some(expected);
    step.filtered = plan.filtered(&used, rows);
    let rest = |at: &usize| !used.contains(at) || plan.remains(*at);
    if (0..lookup.conditions.len()).any(|at| rest(&at)) {
        step.extra.push("Using where");
    }
    Ok(step)
}

fn names(keys: &[&Key]) -> Option<String> {
    let names: Vec<&str> = keys.iter().map(|key| key.name()).collect();
    (!names.is_empty()).then(|| names.join(","))
}

/// The key that is used, and the number of its columns that are used.
fn describe(step: &mut Step, plan: &Plan<'_>, possible: &[&Key], key: &Key, parts: usize) {
    step.possible = names(possible);
    step.key = Some(key.name().to_owned());
    let columns = key.columns().iter().take(parts);
    step.key_bytes = Some(
        columns
            .filter_map(|column| plan.meta(column))
            .map(key_bytes)
            .sum(),
    );
    step.reference = Some(vec!["const"; parts].join(","));
}
