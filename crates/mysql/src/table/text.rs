//! The MySQL text of a table.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{ForeignKeyDef, IndexDef, TableDef};
use crate::series::Series;
use crate::types::{base_type, is_text};

/// The comment of an index that a foreign key got for itself, where a database stores it.
pub const IMPLIED: &str = "tare: of a foreign key";

impl TableDef {
    /// The statement that creates it, as a database stores it.
    pub fn to_mysql(&self) -> String {
        self.format(None)
    }

    /// SHOW CREATE TABLE of a series.
    pub fn to_mysql_of(&self, series: Series) -> String {
        self.format(Some(series))
    }

    fn format(&self, series: Option<Series>) -> String {
        let is_mysql = series.is_some_and(|series| !series.is_mariadb());
        let kind = |column_type| match series {
            Some(series) => series.with_width(column_type),
            None => Cow::Borrowed(column_type),
        };
        let q = identifier;
        if let Some(select) = &self.view {
            // SHOW CREATE names the rights that it is read with.
            let rights = match series {
                Some(_) => "ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER ",
                None => "",
            };
            return format!("CREATE {rights}VIEW {} AS {select}", q(&self.name));
        }
        let mut lines = Vec::new();
        for column in &self.columns {
            let mut line = format!("  {} {}", q(&column.name), kind(&column.column_type));
            match (column.binary, self.binary) {
                _ if !is_text(&column.column_type) => {}
                (true, _) if is_mysql => {
                    line.push_str(" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
                }
                (true, _) => line.push_str(" COLLATE utf8mb4_bin"),
                (false, true) => line.push_str(" CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
                (false, false) => {}
            }
            if !column.nullable {
                line.push_str(" NOT NULL");
            } else if base_type(&column.column_type) == "timestamp" {
                // Without the word it would be NOT NULL, where explicit_defaults_for_timestamp is off.
                line.push_str(" NULL");
            }
            match &column.default {
                Some(_) if column.is_now() => {
                    let _ = write!(line, " DEFAULT {}", column.now_text());
                }
                Some(default) => {
                    let _ = write!(line, " DEFAULT {default}");
                }
                None if column.nullable
                    && !column.column_type.ends_with("text")
                    && !column.column_type.ends_with("blob") =>
                {
                    line.push_str(" DEFAULT NULL")
                }
                None => {}
            }
            if column.on_update_now {
                let _ = write!(line, " ON UPDATE {}", column.now_text());
            }
            if column.auto_increment {
                line.push_str(" AUTO_INCREMENT");
            }
            if !column.comment.is_empty() {
                let _ = write!(line, " COMMENT {}", literal(&column.comment));
            }
            lines.push(line);
        }
        for index in &self.indexes {
            lines.push(format!("  {}", index.to_mysql(series.is_none())));
        }
        for key in &self.foreign_keys {
            lines.push(format!("  {}", key.to_mysql()));
        }
        for check in &self.checks {
            let condition = match is_mysql {
                true => format!("({})", check.condition),
                false => check.condition.clone(),
            };
            let mut line = format!("  CONSTRAINT {} CHECK ({condition})", q(&check.name));
            if check.is_ignored {
                line.push_str(" /*!80016 NOT ENFORCED */");
            }
            lines.push(line);
        }
        let collation = match (self.binary, is_mysql) {
            (true, _) => " COLLATE=utf8mb4_bin",
            (false, true) => " COLLATE=utf8mb4_0900_ai_ci",
            (false, false) => "",
        };
        let next_id = self
            .next_id
            .filter(|next| *next > 1 && series.is_some() && self.auto_increment().is_some())
            .map_or_else(String::new, |next| format!(" AUTO_INCREMENT={next}"));
        let mut sql = format!(
            "CREATE TABLE {} (\n{}\n) ENGINE=SQLite{next_id} DEFAULT CHARSET=utf8mb4{collation}",
            q(&self.name),
            lines.join(",\n")
        );
        if !self.comment.is_empty() {
            let _ = write!(sql, " COMMENT={}", literal(&self.comment));
        }
        sql
    }
}

fn list(columns: &[String]) -> String {
    let columns: Vec<String> = columns.iter().map(|c| identifier(c)).collect();
    columns.join(",")
}

impl IndexDef {
    /// The index in its table's text, with its mark where that is stored.
    fn to_mysql(&self, is_stored: bool) -> String {
        let columns = list(&self.columns);
        let mut text = match (self.name.as_str(), self.unique) {
            ("PRIMARY", _) => format!("PRIMARY KEY ({columns})"),
            (name, true) => format!("UNIQUE KEY {} ({columns})", identifier(name)),
            (name, false) => format!("KEY {} ({columns})", identifier(name)),
        };
        if self.implied && is_stored {
            let _ = write!(text, " COMMENT {}", literal(IMPLIED));
        }
        text
    }
}

impl ForeignKeyDef {
    /// The constraint as SHOW CREATE TABLE and errors have it.
    pub fn to_mysql(&self) -> String {
        let mut text = format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
            identifier(&self.name),
            list(&self.columns),
            identifier(&self.table),
            list(&self.referred)
        );
        for (word, action) in [("DELETE", &self.on_delete), ("UPDATE", &self.on_update)] {
            if action != "NO ACTION" {
                let _ = write!(text, " ON {word} {action}");
            }
        }
        text
    }
}

/// A name in backticks.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text as an SQL literal.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
