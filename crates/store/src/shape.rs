//! The sorts and temporary tables in SQLite's plan of a statement, in MySQL's terms: MySQL groups in a
//! temporary table where SQLite sorts, and sorts for ORDER BY only.

use super::error::Result;
use crate::stack;

/// The sorts and temporary tables of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// Sorts for ORDER BY, those of windows included.
    pub sorts: u64,
    /// Temporary tables: for groups, for DISTINCT, for derived tables.
    pub temporaries: u64,
    /// A table is joined without an index: SQLite builds one while the statement runs.
    pub full_join: bool,
    /// An index gives the rows in the order of ORDER BY.
    pub ordered_by_key: bool,
}

/// Whether a statement ends with an ORDER BY of its own.
fn is_ordered(sql: &str) -> bool {
    let (mut depth, mut quote) = (0i64, None);
    let bytes = sql.as_bytes();
    for (at, c) in bytes.iter().enumerate() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(c),
            (None, b'(') => depth += 1,
            (None, b')') => depth -= 1,
            (None, b'O') if depth == 0 && bytes[at..].starts_with(b"ORDER BY ") => return true,
            _ => {}
        }
    }
    false
}

/// Reads the shape of a statement from SQLite's plan.
pub fn analyze(db: &rusqlite::Connection, sql: &str) -> Result<Shape> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let mut statement = stack::with_stack(true, || db.prepare(&explain))?;
    // The plan does not depend on the parameters, which have no values now.
    let mut rows = statement.raw_query();
    let (mut orders, mut groups, mut others, mut merges) = (0, 0, 0, false);
    let mut shape = Shape::default();
    while let Some(row) = rows.next()? {
        let step: String = row.get(3)?;
        let tree = step.strip_prefix("USE TEMP B-TREE FOR ");
        match (tree, step.as_str()) {
            (Some(of), _) if of.ends_with("ORDER BY") => orders += 1,
            (Some("GROUP BY"), _) => groups += 1,
            (Some(of), _) if of.contains("DISTINCT") => others += 1,
            (None, "UNION USING TEMP B-TREE") => others += 1,
            (None, "MERGE (UNION)") => (others, merges) = (others + 1, true),
            (None, other) => {
                let aside = other
                    .strip_prefix("MATERIALIZE ")
                    .or(other.strip_prefix("CO-ROUTINE "));
                // A subquery without a name is a window's.
                others += u64::from(aside.is_some_and(|name| !name.starts_with('(')));
                shape.full_join |= other.contains(" AUTOMATIC ");
            }
            _ => {}
        }
    }
    let ordered = is_ordered(sql);
    shape.temporaries = groups + others;
    shape.sorts = match orders {
        _ if merges => 0,
        // The groups come sorted.
        0 => u64::from(ordered && groups > 0),
        n => n,
    };
    shape.ordered_by_key = ordered && orders == 0 && groups == 0;
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_temporary_tables_and_only_order_by_sorts() {
        let db = rusqlite::Connection::open_in_memory().expect("opens");
        db.execute_batch(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b INT); CREATE INDEX k ON t (a)",
        )
        .expect("a table");
        for (sql, sorts, temporaries) in [
            ("SELECT * FROM t", 0, 0),
            ("SELECT * FROM t ORDER BY id", 0, 0),
            ("SELECT * FROM t ORDER BY b", 1, 0),
            ("SELECT * FROM t ORDER BY b LIMIT 3", 1, 0),
            ("SELECT b, count(*) FROM t GROUP BY b", 0, 1),
            ("SELECT b, count(*) FROM t GROUP BY b ORDER BY b", 1, 1),
            ("SELECT a, count(*) FROM t GROUP BY a ORDER BY a", 0, 0),
            ("SELECT DISTINCT b FROM t", 0, 1),
            ("SELECT count(DISTINCT b) FROM t", 0, 1),
            ("SELECT b FROM t WHERE b IN (1, 2, 3)", 0, 0),
            ("SELECT a FROM t UNION SELECT b FROM t", 0, 1),
            ("SELECT a FROM t UNION ALL SELECT b FROM t", 0, 0),
            (
                "SELECT \"ORDER BY \", (SELECT 1 FROM t ORDER BY id) FROM (SELECT 1 AS \"ORDER BY \")",
                0,
                0,
            ),
        ] {
            let shape = analyze(&db, sql).expect(sql);
            assert_eq!(
                (shape.sorts, shape.temporaries),
                (sorts, temporaries),
                "{sql}"
            );
        }
        let keyed = analyze(&db, "SELECT * FROM t ORDER BY id LIMIT 1").expect("a plan");
        assert!(keyed.ordered_by_key);
        let joined = analyze(&db, "SELECT * FROM t JOIN t AS u ON u.b = t.b").expect("a plan");
        assert!(joined.full_join);
    }
}
