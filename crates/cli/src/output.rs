//! Prints rows as a table for people, as TSV for scripts and as JSON for programs.

use std::fmt::Write as _;

use clap::ValueEnum;
use serde_json::{Map, Value as Json};

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns with borders; the default on a terminal
    Table,
    /// A line of names, then one line per row, separated by tabs; the default elsewhere
    Tsv,
    /// A line per column, as after \G in the mysql client
    Vertical,
    /// An array with one object per row; 64-bit numbers are exact
    Json,
}

impl Format {
    /// The format without --format.
    pub fn by_default() -> Self {
        use std::io::IsTerminal;
        if std::io::stdout().is_terminal() {
            Self::Table
        } else {
            Self::Tsv
        }
    }
}

/// One value of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// SQL's NULL.
    Null,
    /// A number that is not negative.
    Unsigned(u64),
    /// A number.
    Signed(i64),
    /// A number with a fraction.
    Real(f64),
    /// The digits of a number that no binary type holds exactly.
    Decimal(String),
    /// Text, with invalid UTF-8 replaced.
    Text(String),
}

impl Cell {
    fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Unsigned(_) | Self::Signed(_) | Self::Real(_) | Self::Decimal(_)
        )
    }

    fn text(&self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Unsigned(n) => n.to_string(),
            Self::Signed(n) => n.to_string(),
            Self::Real(x) => x.to_string(),
            Self::Decimal(text) | Self::Text(text) => text.clone(),
        }
    }

    fn json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Unsigned(n) => Json::from(*n),
            Self::Signed(n) => Json::from(*n),
            // JSON has no infinity; serde_json makes it null.
            Self::Real(x) => Json::from(*x),
            // An integer, such as a sum of counts, or else exact text.
            Self::Decimal(text) => match text.parse::<u64>() {
                Ok(n) => Json::from(n),
                Err(_) => Json::from(text.as_str()),
            },
            Self::Text(text) => Json::from(text.as_str()),
        }
    }
}

/// A result set.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The values, as many in each row as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

impl Rows {
    /// The result as text, which ends with a newline.
    pub fn to_text(&self, format: Format) -> String {
        match format {
            Format::Table => self.table(),
            Format::Tsv => self.tsv(),
            Format::Vertical => self.vertical(),
            Format::Json => self.json(),
        }
    }

    fn vertical(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|name| escape(name)).collect();
        let width = names
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0);
        let stars = "*".repeat(27);
        let mut out = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            out.push_str(&format!("{stars} {}. row {stars}\n", number + 1));
            for (name, cell) in names.iter().zip(row) {
                // A text keeps its lines: SHOW ENGINE INNODB STATUS has hundreds.
                let text = cell.text();
                let lines: Vec<String> = text.split('\n').map(printable).collect();
                out.push_str(&format!("{name:>width$}: {}\n", lines.join("\n")));
            }
        }
        out
    }

    fn table(&self) -> String {
        // Escaped as in TSV, so that no text breaks the frame.
        let texts: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| escape(&cell.text())).collect())
            .collect();
        let width = |column: usize| {
            texts
                .iter()
                .filter_map(|row| row.get(column))
                .chain(self.columns.get(column))
                .map(|text| text.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut rule = String::from("+");
        for width in &widths {
            rule.push_str(&"-".repeat(width + 2));
            rule.push('+');
        }
        rule.push('\n');

        let mut out = rule.clone();
        for (name, width) in self.columns.iter().zip(&widths) {
            let _ = write!(out, "| {name:width$} ");
        }
        out.push_str("|\n");
        out.push_str(&rule);
        for (row, texts) in self.rows.iter().zip(&texts) {
            for ((cell, text), width) in row.iter().zip(texts).zip(&widths) {
                let _ = if cell.is_number() {
                    write!(out, "| {text:>width$} ")
                } else {
                    write!(out, "| {text:width$} ")
                };
            }
            out.push_str("|\n");
        }
        if !self.rows.is_empty() {
            out.push_str(&rule);
        }
        let plural = if self.rows.len() == 1 { "" } else { "s" };
        let _ = writeln!(out, "{} row{plural}", self.rows.len());
        out
    }

    fn tsv(&self) -> String {
        let mut out = self
            .columns
            .iter()
            .map(|name| escape(name))
            .collect::<Vec<_>>()
            .join("\t");
        out.push('\n');
        for row in &self.rows {
            let line: Vec<String> = row.iter().map(|cell| escape(&cell.text())).collect();
            out.push_str(&line.join("\t"));
            out.push('\n');
        }
        out
    }

    fn json(&self) -> String {
        let names = unique_names(&self.columns);
        let objects = self
            .rows
            .iter()
            .map(|row| {
                let pairs = names.iter().cloned().zip(row.iter().map(Cell::json));
                Json::Object(pairs.collect::<Map<_, _>>())
            })
            .collect();
        let mut out = format!("{:#}", Json::Array(objects));
        out.push('\n');
        out
    }
}

/// Unique keys for an object: the second NAME of a join becomes NAME_2.
fn unique_names(columns: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut name = column.clone();
        let mut number = 2;
        while names.contains(&name) {
            name = format!("{column}_{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// Escapes a value as the mysql client's batch mode does, so that it stays in its line and column.
/// A text without control characters, which must not reach the terminal.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => out.push(character),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            // Control characters of the observed program must not reach the terminal.
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Rows {
        Rows {
            columns: vec!["NAME".into(), "COUNT".into()],
            rows: vec![
                vec![Cell::Text("a\tb\x1b[2J".into()), Cell::Unsigned(u64::MAX)],
                vec![Cell::Null, Cell::Signed(-1)],
            ],
        }
    }

    #[test]
    fn a_vertical_row_has_a_line_for_each_column() {
        let rows = Rows {
            columns: vec!["a".into(), "long".into()],
            rows: vec![vec![Cell::Unsigned(1), Cell::Text("x\n\u{1b}[2Jy".into())]],
        };
        let text = rows.to_text(Format::Vertical);
        let stars = "*".repeat(27);
        assert_eq!(
            text,
            format!("{stars} 1. row {stars}\n   a: 1\nlong: x\n\\u{{1b}}[2Jy\n")
        );
    }

    #[test]
    fn a_table_aligns_numbers_to_the_right() {
        let expected = "\
+---------------+----------------------+
| NAME          | COUNT                |
+---------------+----------------------+
| a\\tb\\u{1b}[2J | 18446744073709551615 |
| NULL          |                   -1 |
+---------------+----------------------+
2 rows
";
        assert_eq!(sample().to_text(Format::Table), expected);
    }

    #[test]
    fn tsv_prints_a_row_on_one_line() {
        let expected = "NAME\tCOUNT\na\\tb\\u{1b}[2J\t18446744073709551615\nNULL\t-1\n";
        assert_eq!(sample().to_text(Format::Tsv), expected);
    }

    #[test]
    fn json_has_exact_64_bit_numbers_and_the_order_of_columns() {
        let text = sample().to_text(Format::Json);
        let parsed: Json = serde_json::from_str(&text).expect("is JSON");
        assert_eq!(parsed[0]["COUNT"].as_u64(), Some(u64::MAX));
        assert_eq!(parsed[0]["NAME"].as_str(), Some("a\tb\x1b[2J"));
        assert!(parsed[1]["NAME"].is_null());
        assert!(text.find("NAME") < text.find("COUNT"), "{text}");
    }

    #[test]
    fn columns_of_one_name_both_reach_json() {
        let rows = Rows {
            columns: vec!["N".into(), "N".into()],
            rows: vec![vec![
                Cell::Decimal("12".into()),
                Cell::Decimal("0.5".into()),
            ]],
        };
        let parsed: Json = serde_json::from_str(&rows.to_text(Format::Json)).expect("is JSON");
        assert_eq!(parsed, serde_json::json!([{"N": 12, "N_2": "0.5"}]));
    }

    #[test]
    fn an_empty_result_still_names_its_columns() {
        let rows = Rows {
            columns: vec!["A".into()],
            rows: vec![],
        };
        assert_eq!(rows.to_text(Format::Tsv), "A\n");
        assert_eq!(rows.to_text(Format::Json), "[]\n");
        assert_eq!(rows.to_text(Format::Table), "+---+\n| A |\n+---+\n0 rows\n");
    }
}
