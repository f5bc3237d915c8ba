//! What a column is, and which series have it.

use tare_mysql::series::Series;

use crate::cell::Cell;

/// The collation of text that is compared byte by byte.
pub const BINARY: &str = "utf8mb4_bin";

/// One column of a table whose rows are `R`.
pub struct Column<R: 'static> {
    /// Its description.
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
    pub series: SeriesSet,
    /// Its type in MySQL 9.7, if it differs.
    pub type_9_7: Option<&'static str>,
    /// Its type in MariaDB, if it differs.
    pub type_mariadb: Option<&'static str>,
    /// Whether its characters are ASCII, as those of host names are since MySQL 8.0.17.
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
            series: SeriesSet::ALL,
            type_9_7: None,
            type_mariadb: None,
            is_ascii: false,
            default: None,
        }
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

/// The series that have a table or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesSet([bool; Series::ALL.len()]);

impl SeriesSet {
    /// All series.
    pub const ALL: Self = Self([true; Series::ALL.len()]);
    /// The series of MySQL.
    pub const MYSQL: Self = Self::of(&[Series::V8_0, Series::V9_7]);
    /// Only MariaDB.
    pub const MARIADB: Self = Self::of(&[Series::Mariadb]);

    /// The set of some series.
    pub const fn of(series: &[Series]) -> Self {
        let mut set = [false; Series::ALL.len()];
        let mut i = 0;
        while i < series.len() {
            set[series[i] as usize] = true;
            i += 1;
        }
        Self(set)
    }

    /// What a series of MySQL was the first to have. MariaDB has it if MySQL always had.
    pub const fn since(series: Series) -> Self {
        match series {
            Series::V8_0 => Self::ALL,
            Series::V9_7 => Self::of(&[Series::V9_7]),
            Series::Mariadb => Self::MARIADB,
        }
    }

    /// Whether a series is in it.
    pub const fn contains(&self, series: Series) -> bool {
        self.0[series as usize]
    }

    /// The series in it.
    pub fn iter(self) -> impl Iterator<Item = Series> {
        let all = Series::ALL.into_iter();
        all.filter(move |series| self.contains(*series))
    }
}

impl<R> Column<R> {
    /// The same column, which only MySQL has.
    pub const fn mysql_only(mut self) -> Self {
        self.meta.series = SeriesSet::MYSQL;
        self
    }

    /// The same column, which only MariaDB has.
    pub const fn mariadb_only(mut self) -> Self {
        self.meta.series = SeriesSet::MARIADB;
        self
    }

    /// The same column, which a series of MySQL was the first to have.
    pub const fn since(mut self, series: Series) -> Self {
        self.meta.series = SeriesSet::since(series);
        self
    }

    /// The same column, which has another type in MySQL 9.7.
    pub const fn in_9_7(mut self, column_type: &'static str) -> Self {
        self.meta.type_9_7 = Some(column_type);
        self
    }

    /// The same column, which has another type in MariaDB.
    pub const fn in_mariadb(mut self, column_type: &'static str) -> Self {
        self.meta.type_mariadb = Some(column_type);
        self
    }

    /// The same column with a default.
    pub const fn default(mut self, default: &'static str) -> Self {
        self.meta.default = Some(default);
        self
    }

    /// The same column, whose text has another collation than its table.
    pub const fn collate(mut self, collation: &'static str) -> Self {
        self.meta.collation = Some(collation);
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
