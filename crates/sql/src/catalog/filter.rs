//! What a statement's WHERE lets a scan skip.

use rusqlite::types::Value;

/// The equalities that SQLite handed to a scan. SQLite checks every row again, so a table may
/// ignore a filter, but may never drop a row that it accepts.
#[derive(Debug, Default, Clone)]
pub struct Filter {
    equal: Vec<(&'static str, Value)>,
}

/// What a filter on a column admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admit<T> {
    /// Every value.
    All,
    /// One value.
    One(T),
    /// None: a comparison with NULL, or with what the column cannot hold.
    Nothing,
}

impl<T: PartialEq> Admit<T> {
    /// Whether a value passes.
    pub fn admits(&self, value: &T) -> bool {
        match self {
            Admit::All => true,
            Admit::One(one) => one == value,
            Admit::Nothing => false,
        }
    }
}

impl Admit<&str> {
    /// Whether a string passes, without case as MySQL compares names.
    pub fn admits_name(&self, name: &str) -> bool {
        match self {
            Admit::All => true,
            Admit::One(one) => one.eq_ignore_ascii_case(name),
            Admit::Nothing => false,
        }
    }
}

impl Filter {
    /// No filter at all.
    pub fn all() -> Self {
        Self::default()
    }

    /// Adds `column = value`.
    pub fn push(&mut self, column: &'static str, value: Value) {
        self.equal.push((column, value));
    }

    fn find(&self, column: &str) -> Option<&Value> {
        self.equal
            .iter()
            .find(|(name, _)| *name == column)
            .map(|(_, value)| value)
    }

    /// The filter on a column of unsigned integers.
    pub fn number(&self, column: &str) -> Admit<u64> {
        match self.find(column) {
            Some(Value::Null) => Admit::Nothing,
            Some(Value::Integer(v)) => Admit::One(*v as u64),
            Some(Value::Text(s)) => s.trim().parse().map_or(Admit::All, Admit::One),
            _ => Admit::All,
        }
    }

    /// The filter on a column of strings.
    pub fn text(&self, column: &str) -> Admit<&str> {
        match self.find(column) {
            Some(Value::Null) => Admit::Nothing,
            Some(Value::Text(s)) => Admit::One(s),
            _ => Admit::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_admits_nothing_and_odd_values_admit_all() {
        let mut filter = Filter::all();
        assert_eq!(filter.number("THREAD_ID"), Admit::All);
        filter.push("THREAD_ID", Value::Null);
        filter.push("EVENT_ID", Value::Real(1.5));
        filter.push("NAME", Value::Text("Idle".into()));
        assert_eq!(filter.number("THREAD_ID"), Admit::Nothing);
        assert_eq!(filter.number("EVENT_ID"), Admit::All);
        assert!(filter.text("NAME").admits_name("idle"));
        assert!(!filter.text("NAME").admits_name("idles"));
    }
}
