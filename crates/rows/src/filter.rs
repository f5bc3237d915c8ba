//! The conditions of a WHERE clause by which a scan skips rows.

/// A value that a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// NULL: equal to nothing.
    Null,
    /// An integer; of an unsigned column the bits of a `u64`.
    Integer(i64),
    /// A string.
    Text(String),
    /// A real number or bytes, by which no column here is filtered.
    Other,
}

/// A column's values are at least, or at most, a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `>=` and `>`.
    From,
    /// `<=` and `<`.
    To,
}

/// Equalities and bounds on columns. The caller of a scan checks every row again, so that a table may ignore
/// a filter, but may never drop a row that it accepts.
#[derive(Debug, Default, Clone)]
pub struct Filter {
    equal: Vec<(&'static str, Operand)>,
    bounds: Vec<(&'static str, Bound, Operand)>,
    /// Bits of the columns that the statement does not read.
    unused: u64,
}

/// What a filter on a column admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admit<T> {
    /// Every value.
    All,
    /// One value.
    One(T),
    /// None: a comparison with NULL, or with what the column cannot hold.
    None,
}

impl<T: PartialEq> Admit<T> {
    /// Whether a value passes.
    pub fn admits(&self, value: &T) -> bool {
        match self {
            Admit::All => true,
            Admit::One(one) => one == value,
            Admit::None => false,
        }
    }
}

impl Admit<&str> {
    /// Whether a string passes, without case as MySQL compares names.
    pub fn admits_name(&self, name: &str) -> bool {
        match self {
            Admit::All => true,
            Admit::One(one) => one.eq_ignore_ascii_case(name),
            Admit::None => false,
        }
    }
}

impl Filter {
    /// No filter at all.
    pub fn all() -> Self {
        Self::default()
    }

    /// Adds `column = value`.
    pub fn push(&mut self, column: &'static str, value: Operand) {
        self.equal.push((column, value));
    }

    /// Adds `column >= value` or `column <= value`.
    pub fn bound(&mut self, column: &'static str, bound: Bound, value: Operand) {
        self.bounds.push((column, bound, value));
    }

    /// The bounds on a column.
    pub fn bounds(&self, column: &str) -> impl Iterator<Item = (Bound, &Operand)> {
        let of = self.bounds.iter().filter(move |(name, ..)| *name == column);
        of.map(|(_, bound, value)| (*bound, value))
    }

    /// Sets which columns are read: a bit for each, the last one for all beyond.
    pub fn use_columns(&mut self, bits: u64) {
        self.unused = !bits;
    }

    /// Whether a column is read.
    pub fn uses(&self, column: usize) -> bool {
        self.unused & (1 << column.min(63)) == 0
    }

    fn find(&self, column: &str) -> Option<&Operand> {
        self.equal
            .iter()
            .find(|(name, _)| *name == column)
            .map(|(_, value)| value)
    }

    /// The filter on a column of unsigned integers.
    pub fn number(&self, column: &str) -> Admit<u64> {
        match self.find(column) {
            Some(Operand::Null) => Admit::None,
            Some(Operand::Integer(v)) => Admit::One(*v as u64),
            Some(Operand::Text(s)) => s.trim().parse().map_or(Admit::All, Admit::One),
            _ => Admit::All,
        }
    }

    /// The filter on a column of strings.
    pub fn text(&self, column: &str) -> Admit<&str> {
        match self.find(column) {
            Some(Operand::Null) => Admit::None,
            Some(Operand::Text(s)) => Admit::One(s),
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
        filter.push("THREAD_ID", Operand::Null);
        filter.push("EVENT_ID", Operand::Other);
        filter.push("NAME", Operand::Text("Idle".into()));
        assert_eq!(filter.number("THREAD_ID"), Admit::None);
        assert_eq!(filter.number("EVENT_ID"), Admit::All);
        assert!(filter.text("NAME").admits_name("idle"));
        assert!(!filter.text("NAME").admits_name("idles"));
    }

    #[test]
    fn bounds_belong_to_one_column_and_by_default_all_columns_are_read() {
        let mut filter = Filter::all();
        assert!(filter.uses(0) && filter.uses(80));
        filter.bound("at", Bound::From, Operand::Text("2026".into()));
        assert_eq!(filter.bounds("host").count(), 0);
        let from = Operand::Text("2026".into());
        assert_eq!(filter.bounds("at").next(), Some((Bound::From, &from)));
        filter.use_columns(1 << 63 | 2);
        assert!(!filter.uses(0) && filter.uses(1) && filter.uses(80));
    }
}
