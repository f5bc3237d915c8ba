//! A column of a table, and its default.

use super::literal;
use crate::types::parts;

/// A column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnDef {
    /// Its name.
    pub name: String,
    /// Its type as MySQL 8.0 writes it: `int unsigned`, `varchar(20)`.
    pub column_type: String,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Its default as an SQL expression.
    pub default: Option<String>,
    /// Whether it is AUTO_INCREMENT.
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// Its comment.
    pub comment: String,
    /// Whether its text compares byte by byte.
    pub binary: bool,
}

impl ColumnDef {
    /// The column for values that are read from this one: it generates no numbers.
    pub fn as_value(&self) -> Self {
        let mut value = self.clone();
        if std::mem::take(&mut value.auto_increment) {
            value.default = Some(literal("0"));
        }
        value
    }

    /// Whether its default is the current time.
    pub fn is_now(&self) -> bool {
        let default = self.default.as_deref();
        default.is_some_and(|d| d.starts_with("CURRENT_TIMESTAMP"))
    }

    /// CURRENT_TIMESTAMP with as many digits as the column has.
    pub(super) fn now_text(&self) -> String {
        match parts(&self.column_type).fraction() {
            Some(digits) if digits > 0 => format!("CURRENT_TIMESTAMP({digits})"),
            _ => "CURRENT_TIMESTAMP".into(),
        }
    }

    /// Extra in SHOW COLUMNS and information_schema.columns.
    pub fn extra(&self) -> String {
        let is_generated = self
            .default
            .as_deref()
            .is_some_and(|d| d == "CURRENT_TIMESTAMP" || d.starts_with('('));
        match (self.auto_increment, is_generated, self.on_update_now) {
            (true, ..) => "auto_increment".into(),
            (_, true, true) => format!("DEFAULT_GENERATED on update {}", self.now_text()),
            (_, true, false) => "DEFAULT_GENERATED".into(),
            (_, false, true) => format!("on update {}", self.now_text()),
            _ => String::new(),
        }
    }

    /// The number of a default of bits: `b'101'`.
    pub fn bits_default(&self) -> Option<u64> {
        let bits = self.default.as_deref()?.strip_prefix("b'")?;
        u64::from_str_radix(bits.strip_suffix('\'')?, 2).ok()
    }

    /// The default without the quotes of a literal: Default in SHOW COLUMNS and
    /// information_schema.columns.
    pub fn plain_default(&self) -> Option<String> {
        let default = self.default.as_deref()?;
        let inside = default
            .strip_prefix('\'')
            .and_then(|d| d.strip_suffix('\''));
        Some(match inside {
            _ if self.is_now() => self.now_text(),
            Some(inside) => inside.replace("''", "'").replace("\\\\", "\\"),
            // An expression is in parentheses.
            None => match default.strip_prefix('(').and_then(|d| d.strip_suffix(')')) {
                Some(inside) => inside.to_owned(),
                None => default.to_owned(),
            },
        })
    }
}
