//! The probes' files: statements, with marks that say what is compared and which server differs why.
//!
//! ```sql
//! -- a comment
//! -- compare: columns                 names and types of columns, no rows
//! -- compare: rows                    columns and the number of rows
//! -- compare: errno                   an error's number, not its SQL state
//! -- mariadb: why it differs          from MySQL 8.0
//! -- tare: why it differs             from MySQL 8.0, on purpose
//! -- mariadb!: why                    as above, but it may agree by chance
//! -- not on mariadb: why              the statement is not run on MariaDB
//! SELECT 1;
//! ```
//!
//! A statement ends with a semicolon at the end of a line. The test fails if a marked answer agrees, so
//! that outdated marks are removed.

use std::collections::BTreeMap;
use std::path::Path;

/// How much of two answers is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Everything.
    Values,
    /// Columns and the number of rows.
    Rows,
    /// Columns.
    Columns,
    /// Whether there is an error, and its number.
    Errno,
}

/// Why a server differs.
#[derive(Debug, Clone)]
pub struct Mark {
    pub server: String,
    pub reason: String,
    /// It may agree by chance.
    pub firm: bool,
}

#[derive(Debug, Clone)]
pub struct Probe {
    pub file: String,
    pub sql: String,
    nth: usize,
    compare: Compare,
    marks: Vec<Mark>,
    not_on: Vec<String>,
}

impl Probe {
    /// File, statement, and its number among equal ones. Line numbers would change.
    pub fn key(&self) -> String {
        let sql = self.sql.replace('\n', " ");
        match self.nth {
            1 => format!("{}: {sql}", self.file),
            n => format!("{} ({n}): {sql}", self.file),
        }
    }

    pub fn compares(&self) -> Compare {
        self.compare
    }

    pub fn mark(&self, server: &str) -> Option<&Mark> {
        self.marks.iter().find(|m| m.server == server)
    }

    pub fn skips(&self, server: &str) -> bool {
        self.not_on.iter().any(|s| s == server)
    }
}

/// All probes, by file.
pub fn probes(directory: &Path) -> BTreeMap<String, Vec<Probe>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(directory).expect("the probes' directory") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "sql") {
            continue;
        }
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).expect("a probe file");
        all.insert(name.clone(), parse(&name, &text));
    }
    assert!(!all.is_empty(), "no probes in {}", directory.display());
    all
}

fn parse(file: &str, text: &str) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    let mut sql = String::new();
    let (mut compare, mut marks, mut not_on) = (Compare::Values, Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        if sql.is_empty() && line.trim().is_empty() {
            continue;
        }
        if let Some(note) = line.strip_prefix("-- ").filter(|_| sql.is_empty()) {
            let (word, rest) = note.split_once(": ").unwrap_or((note, ""));
            match word {
                "compare" => {
                    compare = match rest {
                        "columns" => Compare::Columns,
                        "rows" => Compare::Rows,
                        "errno" => Compare::Errno,
                        other => panic!("{file}:{}: compare what? {other}", number + 1),
                    }
                }
                "tare" | "mariadb" | "tare!" | "mariadb!" => marks.push(Mark {
                    server: word.trim_end_matches('!').into(),
                    reason: rest.into(),
                    firm: word.ends_with('!'),
                }),
                "not on mariadb" => {
                    not_on.push("mariadb".to_owned());
                    marks.push(Mark {
                        server: "mariadb".into(),
                        reason: rest.into(),
                        firm: true,
                    });
                }
                _ => {}
            }
            continue;
        }
        if !sql.is_empty() {
            sql.push('\n');
        }
        sql.push_str(line);
        if line.ends_with(';') {
            sql.pop();
            let nth = 1 + probes.iter().filter(|p| p.sql == sql).count();
            probes.push(Probe {
                file: file.into(),
                sql: std::mem::take(&mut sql),
                nth,
                compare: std::mem::replace(&mut compare, Compare::Values),
                marks: std::mem::take(&mut marks),
                not_on: std::mem::take(&mut not_on),
            });
        }
    }
    assert!(
        sql.is_empty(),
        "{file}: the last statement has no end: {sql}"
    );
    probes
}
