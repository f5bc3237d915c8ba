//! The tables that a statement reads and writes, and the index of each: read once, from the program that
//! SQLite compiles it to.

use std::collections::HashMap;

use super::authorizer::as_server;
use super::connection::quote;
use super::error::Result;
use crate::stack;

/// What a statement does to one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
    /// MySQL's name of the index that leads to the rows; `None` for a scan or an INSERT.
    pub index: Option<String>,
    /// Rows are changed.
    pub writes: bool,
    /// How its rows are found.
    pub reads: Reads,
    /// From the last to the first.
    pub backward: bool,
}

/// How rows of a table are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reads {
    /// No rows are read: an INSERT.
    #[default]
    None,
    /// By a key that has to be equal.
    Lookup,
    /// By the bounds of a key.
    Range,
    /// From end to end, of the table or of an index.
    Scan,
}

/// What a statement's program does.
#[derive(Debug)]
pub struct Program {
    /// Accesses to tables of attached databases, the outermost loop first.
    pub accesses: Vec<Access>,
    /// Counts the rows of its only loop, where it has one.
    pub single_loop: Option<Loop>,
}

/// Computes the rows that a single loop over a table has visited from the steps of SQLite's machine: an
/// aggregate returns one row for all that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// Steps for each row visited.
    body: u64,
    /// Steps for each row returned, in loops over sorted or materialized rows.
    rest: u64,
    /// Steps outside of loops.
    once: u64,
}

impl Loop {
    /// Rows visited in `steps` steps that returned `sent` rows. Exact where the loop has no branches; rows
    /// that a condition rejects early count for less.
    pub fn visited(&self, steps: u64, sent: u64) -> u64 {
        let steps = steps.saturating_sub(self.once + self.rest * sent);
        (steps + self.body / 2) / self.body
    }
}

/// One instruction of a program.
struct Op {
    name: String,
    p1: i64,
    p2: i64,
    p3: i64,
    p4: String,
    p5: i64,
}

/// The table that a cursor of a program is open on, and how the cursor moves.
#[derive(Default)]
struct CursorUse {
    database: i64,
    root: i64,
    writes: bool,
    seeks: bool,
    scans: bool,
    /// The loop visits all rows.
    full: bool,
    /// The loop seeks to one bound of a key and stops at another.
    range: bool,
    backward: bool,
}

impl CursorUse {
    fn reads(&self) -> Reads {
        if self.full {
            Reads::Scan
        } else if self.range || self.scans {
            Reads::Range
        } else {
            Reads::Lookup
        }
    }
}

/// OPFLAG_P2ISREG: the table's root page is not determined yet.
const ROOT_IN_REGISTER: i64 = 0x10;

fn program(db: &rusqlite::Connection, sql: &str) -> Result<Vec<Op>> {
    let explain = format!("EXPLAIN {sql}");
    let mut statement = stack::with_stack(true, || db.prepare(&explain))?;
    // The plan does not depend on the parameters, which have no values now.
    let mut rows = statement.raw_query();
    let mut ops = Vec::new();
    while let Some(row) = rows.next()? {
        ops.push(Op {
            name: row.get(1)?,
            p1: row.get(2)?,
            p2: row.get(3)?,
            p3: row.get(4)?,
            p4: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
            p5: row.get(6)?,
        });
    }
    Ok(ops)
}

/// Table, and index where it is one, by database number and root page.
type Roots = HashMap<(i64, i64), (String, String, Option<String>)>;

fn roots(db: &rusqlite::Connection) -> Result<Roots> {
    let mut roots = Roots::new();
    let mut names = db.prepare_cached("PRAGMA database_list")?;
    let names = names.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let names: Vec<(i64, String)> = names.collect::<rusqlite::Result<_>>()?;
    // 0 and 1 are the connection's main and temp.
    for (number, name) in names.into_iter().filter(|(number, _)| *number > 1) {
        let mut schema = db.prepare(&format!(
            "SELECT rootpage, tbl_name, name, type = 'index' FROM {}.sqlite_schema WHERE rootpage > 0",
            quote(&name)
        ))?;
        let mut rows = schema.query([])?;
        while let Some(row) = rows.next()? {
            let (table, own): (String, String) = (row.get(1)?, row.get(2)?);
            let index = row.get::<_, bool>(3)?.then(|| mysql_index(&table, &own));
            roots.insert((number, row.get(0)?), (name.clone(), table, index));
        }
    }
    Ok(roots)
}

/// An index's name in MySQL: SQLite's has the table's in front, and an index that SQLite creates by itself
/// is a primary key that is no rowid.
fn mysql_index(table: &str, name: &str) -> String {
    let own = name.strip_prefix(table).and_then(|n| n.strip_prefix('.'));
    own.unwrap_or("PRIMARY").to_owned()
}

fn cursors(ops: &[Op]) -> Vec<(i64, CursorUse)> {
    let mut cursors: Vec<(i64, CursorUse)> = Vec::new();
    for op in ops {
        match op.name.as_str() {
            "OpenRead" | "OpenWrite" | "ReopenIdx"
                if op.name != "OpenWrite" || op.p5 & ROOT_IN_REGISTER == 0 =>
            {
                let is_open = cursors.iter().any(|(cursor, _)| *cursor == op.p1);
                if !is_open {
                    let moved = CursorUse {
                        database: op.p3,
                        root: op.p2,
                        writes: op.name == "OpenWrite",
                        ..CursorUse::default()
                    };
                    cursors.push((op.p1, moved));
                }
            }
            _ => {}
        }
    }
    for (at, op) in ops.iter().enumerate() {
        let Some((_, moved)) = cursors.iter_mut().find(|(cursor, _)| *cursor == op.p1) else {
            continue;
        };
        match op.name.as_str() {
            "SeekRowid" | "NotExists" => moved.seeks = true,
            "SeekGE" | "SeekGT" | "SeekLE" | "SeekLT" => {
                moved.seeks = true;
                moved.range |= !ends_with_key(ops, at);
            }
            "Rewind" | "Last" => moved.scans = true,
            "Count" => (moved.scans, moved.full) = (true, true),
            "Next" | "Prev" => {
                moved.full |= op.p5 & FULL_SCAN != 0;
                moved.backward |= op.name == "Prev";
            }
            _ => {}
        }
    }
    cursors
}

/// SQLITE_STMTSTATUS_FULLSCAN_STEP, in the step of a loop over all rows.
const FULL_SCAN: i64 = 1;

/// Whether a loop over an index ends where the key that it sought ends: the test of the end follows the seek
/// and compares the same registers.
fn ends_with_key(ops: &[Op], seek: usize) -> bool {
    let (seek, Some(end)) = (&ops[seek], ops.get(seek + 1)) else {
        return false;
    };
    matches!(end.name.as_str(), "IdxGT" | "IdxLT")
        && (end.p1, end.p3, &end.p4) == (seek.p1, seek.p3, &seek.p4)
}

/// Reads what a statement does to the tables of attached databases.
pub fn analyze(db: &rusqlite::Connection, sql: &str, inserts: bool) -> Result<Program> {
    let ops = program(db, sql)?;
    let cursors = cursors(&ops);
    let roots = as_server(|| roots(db))?;
    let of_table = |moved: &CursorUse| roots.get(&(moved.database, moved.root));
    let mut accesses: Vec<Access> = Vec::new();
    for (_, moved) in &cursors {
        let Some((database, table, _)) = of_table(moved) else {
            continue;
        };
        let same = |a: &&mut Access| a.database == *database && a.table == *table;
        match accesses.iter_mut().find(same) {
            Some(access) => access.writes |= moved.writes,
            None => accesses.push(Access {
                database: database.clone(),
                table: table.clone(),
                index: None,
                writes: moved.writes,
                reads: Reads::None,
                backward: false,
            }),
        }
    }
    for (_, moved) in &cursors {
        let Some((database, table, index)) = of_table(moved) else {
            continue;
        };
        let same = |a: &&mut Access| a.database == *database && a.table == *table;
        let Some(access) = accesses.iter_mut().find(same) else {
            continue;
        };
        // An INSERT checks whether its key exists: that is no read of the statement.
        let leads = (moved.seeks || moved.scans) && !(inserts && access.writes);
        if !leads {
            continue;
        }
        // The index counts, not the table that it leads to.
        match index {
            Some(index) => access.index = Some(index.clone()),
            None if access.index.is_some() => continue,
            None if moved.seeks => access.index = Some("PRIMARY".into()),
            None => {}
        }
        (access.reads, access.backward) = (moved.reads(), moved.backward);
    }
    Ok(Program {
        accesses,
        single_loop: single_loop(&ops, &cursors),
    })
}

fn single_loop(ops: &[Op], cursors: &[(i64, CursorUse)]) -> Option<Loop> {
    let mut over_tables = None;
    let mut others = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        if !matches!(op.name.as_str(), "Next" | "Prev" | "SorterNext") {
            continue;
        }
        let range = (usize::try_from(op.p2).ok()?, at);
        if range.0 > range.1 {
            return None;
        }
        let of_table = op.name != "SorterNext" && cursors.iter().any(|(c, _)| *c == op.p1);
        if !of_table {
            others.push(range);
        } else if over_tables.replace(range).is_some() {
            return None;
        }
    }
    let main = over_tables?;
    let apart = |range: &(usize, usize)| range.1 < main.0 || range.0 > main.1;
    if !others.iter().all(apart) {
        return None;
    }
    let length = |(from, to): (usize, usize)| (to - from + 1) as u64;
    let rest: u64 = others.iter().map(|range| length(*range)).sum();
    Some(Loop {
        body: length(main),
        rest,
        once: (ops.len() as u64).saturating_sub(length(main) + rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> rusqlite::Connection {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch(
            "ATTACH ':memory:' AS shop;
             CREATE TABLE shop.t (id INTEGER PRIMARY KEY, k INT NOT NULL, c TEXT);
             CREATE INDEX shop.\"t.k_1\" ON t (k);
             CREATE TABLE shop.u (a TEXT, b TEXT, PRIMARY KEY (a));",
        )
        .unwrap();
        for i in 0..1000 {
            db.execute("INSERT INTO shop.t VALUES (?1, ?1 % 10, 'x')", [i])
                .unwrap();
        }
        db
    }

    fn accesses(sql: &str, inserts: bool) -> Vec<(String, Option<String>, bool)> {
        let accesses = analyze(&connection(), sql, inserts).unwrap().accesses;
        accesses
            .into_iter()
            .map(|a| (a.table, a.index, a.writes))
            .collect()
    }

    fn one(table: &str, index: Option<&str>, writes: bool) -> Vec<(String, Option<String>, bool)> {
        vec![(table.into(), index.map(Into::into), writes)]
    }

    #[test]
    fn tables_and_indexes_are_those_of_the_plan() {
        let read = |sql| accesses(sql, false);
        assert_eq!(
            read("SELECT c FROM shop.t WHERE id = ?"),
            one("t", Some("PRIMARY"), false)
        );
        assert_eq!(
            read("SELECT c FROM shop.t WHERE k = 5"),
            one("t", Some("k_1"), false)
        );
        assert_eq!(read("SELECT c FROM shop.t"), one("t", None, false));
        assert_eq!(
            read("SELECT b FROM shop.u WHERE a = 'x'"),
            one("u", Some("PRIMARY"), false)
        );
        assert_eq!(
            read("UPDATE shop.t SET k = k + 1 WHERE id = 3"),
            one("t", Some("PRIMARY"), true)
        );
        assert_eq!(
            read("DELETE FROM shop.t WHERE k = 3"),
            one("t", Some("k_1"), true)
        );
        assert_eq!(
            accesses("INSERT INTO shop.t VALUES (1, 2, 'x')", true),
            one("t", None, true)
        );
        assert_eq!(
            read("SELECT b FROM shop.t JOIN shop.u ON a = c WHERE id = 1"),
            [
                one("t", Some("PRIMARY"), false),
                one("u", Some("PRIMARY"), false)
            ]
            .concat()
        );
        assert!(read("SELECT 1").is_empty());
    }

    #[test]
    fn lookups_ranges_and_scans_are_distinguished() {
        let read = |sql| {
            let accesses = analyze(&connection(), sql, false).unwrap().accesses;
            let all = accesses
                .iter()
                .map(|a| (a.reads, a.index.clone(), a.backward));
            all.collect::<Vec<_>>()
        };
        let index = |name: &str| Some(name.to_owned());
        let (id, k) = (index("PRIMARY"), index("k_1"));
        let one = |reads, index: &Option<String>| vec![(reads, index.clone(), false)];
        assert_eq!(
            read("SELECT c FROM shop.t WHERE id = 5"),
            one(Reads::Lookup, &id)
        );
        assert_eq!(
            read("SELECT c FROM shop.t WHERE k = 5"),
            one(Reads::Lookup, &k)
        );
        assert_eq!(
            read("SELECT c FROM shop.t WHERE k > 5 AND k < 7"),
            one(Reads::Range, &k)
        );
        assert_eq!(
            read("SELECT c FROM shop.t WHERE id BETWEEN 5 AND 7"),
            one(Reads::Range, &id)
        );
        assert_eq!(read("SELECT k FROM shop.t"), one(Reads::Scan, &k));
        assert_eq!(read("SELECT c FROM shop.t"), one(Reads::Scan, &None));
        assert_eq!(
            read("SELECT c FROM shop.t WHERE k > 5 ORDER BY k DESC"),
            [(Reads::Range, k, true)]
        );
        assert_eq!(
            read("SELECT t.c, u.b FROM shop.t, shop.u WHERE u.a = t.c"),
            [(Reads::Scan, None, false), (Reads::Lookup, id, false)]
        );
    }

    #[test]
    fn visited_rows_are_computed_from_steps() {
        let db = connection();
        let visited = |sql: &str, sent: u64| {
            let steps = analyze(&db, sql, false).unwrap().single_loop;
            let mut statement = db.prepare(sql).unwrap();
            let mut rows = statement.query([]).unwrap();
            while rows.next().unwrap().is_some() {}
            drop(rows);
            let took = statement.get_status(rusqlite::StatementStatus::VmStep);
            steps.unwrap().visited(took as u64, sent)
        };
        assert_eq!(
            visited("SELECT SUM(k) FROM shop.t WHERE id BETWEEN 100 AND 199", 1),
            100
        );
        assert_eq!(
            visited("SELECT c FROM shop.t WHERE id BETWEEN 100 AND 199", 100),
            100
        );
        let sorted = "SELECT c FROM shop.t WHERE id BETWEEN 100 AND 199 ORDER BY c";
        assert_eq!(visited(sorted, 100), 100);
    }
}
