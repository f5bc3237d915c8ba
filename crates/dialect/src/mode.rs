//! How a session's sql_mode has statements read.

use tare_mysql::date::argument::DateMode;
use tare_mysql::series::Series;

/// How a session's sql_mode has statements read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mode {
    /// ANSI_QUOTES: `"x"` is a name.
    pub ansi_quotes: bool,
    /// PIPES_AS_CONCAT: `||` joins texts.
    pub pipes_concat: bool,
    /// STRICT_TRANS_TABLES: a value that does not fit is an error.
    pub strict: bool,
    /// ONLY_FULL_GROUP_BY: a column outside of aggregates must be in GROUP BY.
    pub full_group_by: bool,
    /// CLIENT_FOUND_ROWS: an UPDATE counts the rows that it finds, not those that it changes.
    pub found_rows: bool,
    /// The time zone is another one than UTC, in which TIMESTAMPs are stored.
    pub zoned: bool,
    /// The dates that literals may have.
    pub dates: DateMode,
    /// Which `/*!NNNNN ... */` are read.
    pub series: Series,
}

impl Mode {
    /// Out of the text of @@sql_mode.
    pub fn of(sql_mode: &str) -> Self {
        let has = |name: &str| sql_mode.split(',').any(|m| m.eq_ignore_ascii_case(name));
        let ansi = has("ANSI");
        Self {
            ansi_quotes: ansi || has("ANSI_QUOTES"),
            pipes_concat: ansi || has("PIPES_AS_CONCAT"),
            strict: ["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL"]
                .into_iter()
                .any(has),
            full_group_by: ansi || has("ONLY_FULL_GROUP_BY"),
            found_rows: false,
            zoned: false,
            dates: DateMode::of(sql_mode),
            series: Series::default(),
        }
    }
}
