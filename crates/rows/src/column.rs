//! What a column is, and which series have it.

use tare_mysql::series::Series;

use crate::cell::Cell;

/// The collation of text that is compared byte by byte.
pub const BINARY: &str = "utf8mb4_bin";

/// One column of a table whose rows are `R`.
pub struct Column<R: 'static> {
    /// What is known of it without a row.
    pub meta: Meta,
    /// The value in a row.
    pub get: fn(&R) -> Cell<'_>,
}

/// A column's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Its name, as MySQL writes it.
    pub name: &'static str,
    /// Its type, as MySQL's information_schema.columns.COLUMN_TYPE writes it.
    pub column_type: &'static str,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// The collation that MySQL declares for it; `None` for the table's.
    pub collation: Option<&'static str>,
    /// One sentence.
    pub doc: &'static str,
    /// The series that have it.
    pub life: Life,
    /// The type that a later series of MySQL has, where that is another one.
    pub later: Option<(Series, &'static str)>,
    /// The type that MariaDB has, where that is another one.
    pub mariadbs: Option<&'static str>,
    /// Whether its characters are ASCII: MySQL keeps the names of hosts so since 8.0.17, when they became
    /// longer.
    pub is_ascii: bool,
    /// Its default, without quotes.
    pub default: Option<&'static str>,
}

impl Meta {
    /// A column that is never NULL.
    pub const fn new(name: &'static str, column_type: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            column_type,
            nullable: false,
            collation: None,
            doc,
            life: Life::ALWAYS,
            later: None,
            mariadbs: None,
            is_ascii: false,
            default: None,
        }
    }

    /// The same column, which only these series have.
    pub const fn lives(mut self, life: Life) -> Self {
        self.life = life;
        self
    }

    /// The same column, which a series of MySQL was the first to have.
    pub const fn since(self, series: Series) -> Self {
        self.lives(Life::since(series))
    }

    /// The same column, which has another type in a later series of MySQL.
    pub const fn later(mut self, series: Series, column_type: &'static str) -> Self {
        self.later = Some((series, column_type));
        self
    }

    /// The same column, which has another type in MariaDB.
    pub const fn mariadbs(mut self, column_type: &'static str) -> Self {
        self.mariadbs = Some(column_type);
        self
    }

    /// The same column with a default.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// The same column, whose text has another collation than its table.
    pub const fn collate(mut self, collation: &'static str) -> Self {
        self.collation = Some(collation);
        self
    }

    /// Whether strings compare byte by byte. Most of MySQL's compare without case.
    pub fn is_binary(&self) -> bool {
        self.collation.is_some_and(|name| name.ends_with("_bin"))
    }

    /// Its own collation.
    pub fn own_collation(&self) -> Option<&'static str> {
        match self.is_ascii {
            true => Some("ascii_general_ci"),
            false => self.collation,
        }
    }
}

/// Which series have a table or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life([bool; Series::ALL.len()]);

impl Life {
    /// All series have it.
    pub const ALWAYS: Self = Self([true; Series::ALL.len()]);

    /// Only these have it.
    pub const fn only(series: &[Series]) -> Self {
        let mut life = [false; Series::ALL.len()];
        let mut i = 0;
        while i < series.len() {
            life[series[i] as usize] = true;
            i += 1;
        }
        Self(life)
    }

    /// A series of MySQL was the first to have it. MariaDB has it if MySQL always had.
    pub const fn since(series: Series) -> Self {
        match series {
            Series::V8_0 => Self::ALWAYS,
            of_one => Self::only(&[of_one]),
        }
    }

    /// Only MySQL has it.
    pub const MYSQLS: Self = Self::only(&[Series::V8_0, Series::V9_7]);
    /// Only MariaDB has it.
    pub const MARIADBS: Self = Self::only(&[Series::Mariadb]);

    /// Whether a series has it.
    pub const fn covers(&self, series: Series) -> bool {
        self.0[series as usize]
    }

    /// Which series they are.
    pub fn series(self) -> impl Iterator<Item = Series> {
        Series::ALL
            .into_iter()
            .filter(move |series| self.covers(*series))
    }
}

impl<R> Column<R> {
    /// The same column, which only these series have.
    pub const fn lives(mut self, life: Life) -> Self {
        self.meta = self.meta.lives(life);
        self
    }

    /// The same column, which a series of MySQL was the first to have.
    pub const fn since(self, series: Series) -> Self {
        self.lives(Life::since(series))
    }

    /// The same column, which has another type in a later series of MySQL.
    pub const fn later(mut self, series: Series, column_type: &'static str) -> Self {
        self.meta = self.meta.later(series, column_type);
        self
    }

    /// The same column, which has another type in MariaDB.
    pub const fn mariadbs(mut self, column_type: &'static str) -> Self {
        self.meta = self.meta.mariadbs(column_type);
        self
    }

    /// The same column with a default.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.meta = self.meta.or(default);
        self
    }

    /// The same column, whose text has another collation than its table.
    pub const fn collate(mut self, collation: &'static str) -> Self {
        self.meta = self.meta.collate(collation);
        self
    }

    /// The same column, whose strings compare byte by byte.
    pub const fn binary(self) -> Self {
        self.collate(BINARY)
    }
}

/// A column that is never NULL.
pub const fn col<R>(
    name: &'static str,
    column_type: &'static str,
    doc: &'static str,
    get: fn(&R) -> Cell<'_>,
) -> Column<R> {
    let meta = Meta::new(name, column_type, doc);
    Column { meta, get }
}

/// A column that can be NULL.
pub const fn null<R>(
    name: &'static str,
    column_type: &'static str,
    doc: &'static str,
    get: fn(&R) -> Cell<'_>,
) -> Column<R> {
    let mut column = col(name, column_type, doc, get);
    column.meta.nullable = true;
    column
}
