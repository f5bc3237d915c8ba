//! The description of a page. Its columns define the query, the comparison of two answers, the sorting
//! and the heads.

use crate::observe::table::Side;
use crate::observe::{About, Product, sql_literal};

/// The kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A text of the row's identity.
    Key,
    /// A number of the row's identity.
    KeyNumber,
    /// A text.
    Text,
    /// A number with a fraction, as it is now.
    Real,
    /// A counter: how much came in the interval, for each second.
    Count,
    /// A counter of bytes, for each second.
    Bytes,
    /// A counter of picoseconds: how much came in the interval.
    Time,
    /// The row's share of that of all rows.
    Share,
    /// Time by count.
    Average,
    /// Half the 95 % interval of the count, in percent of the count, if the count is an estimate.
    Error,
    /// A number as it is now.
    Gauge,
    /// Bytes as they are now.
    GaugeBytes,
    /// Picoseconds as they are now.
    GaugeTime,
    /// Seconds as they are now.
    GaugeSeconds,
    /// The session that blocks this one.
    BlockedBy,
    /// How many sessions wait for this one.
    Blocks,
    /// For how many seconds the session's transaction is open.
    TransactionAge,
    /// What the session's open transaction does.
    TransactionState,
}

impl Measure {
    /// Whether it is computed from other columns.
    pub fn is_derived(self) -> bool {
        matches!(
            self,
            Self::Share
                | Self::Average
                | Self::Error
                | Self::BlockedBy
                | Self::Blocks
                | Self::TransactionAge
                | Self::TransactionState
        )
    }

    /// Part of the row's identity.
    pub fn is_key(self) -> bool {
        matches!(self, Self::Key | Self::KeyNumber)
    }

    /// Only grows, unless it is reset.
    pub fn is_counter(self) -> bool {
        matches!(self, Self::Count | Self::Bytes | Self::Time)
    }

    /// Its alignment.
    pub fn side(self) -> Side {
        match self {
            Self::Key | Self::Text | Self::TransactionState => Side::Left,
            _ => Side::Right,
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// The expression to select; empty if derived.
    pub sql: &'static str,
    /// The kind of its values.
    pub kind: Measure,
    /// Characters on the screen; 0 takes the rest of the line.
    pub width: u16,
    /// Not visible, only part of the identity.
    pub hidden: bool,
}

/// The drill-down of Enter.
#[derive(Debug)]
pub enum Drill {
    /// There is no drill-down.
    None,
    /// To the stages and waits of a statement's last executions.
    Executions,
    /// To rows of another table that belong to this one.
    To(&'static Sheet),
}

/// The first version of MySQL and of MariaDB that has a page's tables.
#[derive(Debug)]
pub struct Since {
    pub mysql: (u32, u32),
    pub mariadb: (u32, u32),
}

/// A page or a drill-down.
#[derive(Debug)]
pub struct Sheet {
    /// Its name: the tab, `--page`.
    pub name: &'static str,
    /// The kind of row that it drills down from, for its headline.
    pub of: &'static str,
    /// Everything after SELECT's list; `{0}` compares with the first key of the row that was drilled
    /// down from.
    pub from: &'static str,
    /// Its columns, in the order of the screen.
    pub columns: &'static [Column],
    /// Whether rows without growth are displayed, too.
    pub has_idle_rows: bool,
    /// A condition that selects rows that have changed in the last `{}` seconds.
    pub recent: Option<&'static str>,
    /// The versions that have the table.
    pub since: Since,
    /// A remark for an empty page.
    pub hint: &'static str,
    /// Whether the rows are those of a table of the server's status, whose columns are selected.
    pub is_status: bool,
    /// The drill-down of Enter.
    pub drill: Drill,
    /// A LIKE pattern of the instruments that the page needs.
    pub instruments: &'static str,
    /// The consumer that the page needs.
    pub consumer: &'static str,
    /// Head of the column whose waiting rows come first in any order.
    pub first: &'static str,
    /// Heads of columns that make room for the text that takes the rest of the line: dropped in this order.
    pub optional: &'static [&'static str],
    /// Whether a text of the chosen row that does not fit is displayed below the rows.
    pub completes_chosen: bool,
    /// The event type whose sampling makes the counters estimates; empty if they are exact.
    pub estimated: &'static str,
    /// A query of the keys and the standard errors of the counts; empty if these are not known.
    pub errors: &'static str,
    /// Whether the growth of rows with equal texts is added up.
    pub merges: bool,
    /// What is queried instead of a running program with Tare's engine, for the same columns.
    pub with_states: Option<&'static Sheet>,
}

/// A column.
pub(super) const fn col(
    head: &'static str,
    sql: &'static str,
    kind: Measure,
    width: u16,
) -> Column {
    Column {
        head,
        sql,
        kind,
        width,
        hidden: false,
    }
}

/// A column that is only part of the identity.
pub(super) const fn hidden(sql: &'static str, kind: Measure) -> Column {
    Column {
        head: "",
        sql,
        kind,
        width: 0,
        hidden: true,
    }
}

const ALWAYS: Since = Since {
    mysql: (5, 6),
    mariadb: (10, 0),
};

/// A page with defaults.
pub(super) const fn sheet(
    name: &'static str,
    from: &'static str,
    columns: &'static [Column],
) -> Sheet {
    Sheet {
        name,
        of: "",
        from,
        columns,
        has_idle_rows: false,
        recent: None,
        since: ALWAYS,
        hint: "",
        is_status: false,
        drill: Drill::None,
        instruments: "",
        consumer: "",
        first: "",
        optional: &[],
        completes_chosen: false,
        estimated: "",
        errors: "",
        merges: false,
        with_states: None,
    }
}

impl Sheet {
    /// The query, for the row with these keys.
    pub fn query(&self, keys: &[Option<String>], recent_s: Option<u64>) -> String {
        let selected = self
            .columns
            .iter()
            .filter(|column| !column.kind.is_derived());
        let list: Vec<&str> = selected.map(|column| column.sql).collect();
        let mut from = self.from.to_owned();
        for (number, key) in keys.iter().enumerate() {
            let comparison = match key {
                None => "IS NULL".to_owned(),
                // Thread ids are numbers.
                Some(key) if self.of == "thread" && key.parse::<u64>().is_ok() => {
                    format!("= {key}")
                }
                Some(key) => format!("= {}", sql_literal(key)),
            };
            from = from.replace(&format!("{{{number}}}"), &comparison);
        }
        if let (Some(recent), Some(seconds)) = (self.recent, recent_s) {
            from.push_str(" AND ");
            from.push_str(&recent.replace("{}", &seconds.to_string()));
        }
        format!("SELECT {} {from}", list.join(", "))
    }

    /// The index of a column of this kind.
    pub fn find(&self, is: impl Fn(Measure) -> bool) -> Option<usize> {
        self.columns.iter().position(|column| is(column.kind))
    }

    /// The index of the column with this head.
    pub fn column(&self, head: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.head == head)
    }

    /// The column of times or bytes; the first one if there is none.
    pub fn by_time(&self) -> usize {
        self.find(|kind| {
            matches!(
                kind,
                Measure::Time | Measure::GaugeTime | Measure::GaugeBytes
            )
        })
        .or_else(|| self.find(|kind| kind == Measure::GaugeSeconds))
        .unwrap_or(0)
    }

    /// The column of counts.
    pub fn by_count(&self) -> usize {
        let counts = self.find(|kind| kind == Measure::Count);
        counts
            .or_else(|| self.find(|kind| matches!(kind, Measure::Gauge | Measure::Real)))
            .unwrap_or(0)
    }

    /// The column of waiting sessions.
    pub fn waiting(&self) -> Option<usize> {
        self.column(self.first).filter(|_| !self.first.is_empty())
    }

    /// The columns on the screen with their indexes. Errors are visible for estimates, and blockers if
    /// there are any.
    pub fn visible_columns(
        &self,
        has_errors: bool,
        has_blocked: bool,
    ) -> impl Iterator<Item = (usize, &'static Column)> {
        let is_visible = move |column: &Column| match column.kind {
            Measure::Error => has_errors,
            Measure::BlockedBy | Measure::Blocks => has_blocked,
            _ => !column.hidden,
        };
        let columns = self.columns.iter().enumerate();
        columns.filter(move |(_, column)| is_visible(column))
    }

    /// Why this server does not have the page.
    pub fn missing_reason(&self, about: &About) -> Option<String> {
        let (needed, name) = match about.product {
            Product::Tare => return None,
            Product::MySql => (self.since.mysql, "MySQL"),
            Product::MariaDb => (self.since.mariadb, "MariaDB"),
        };
        (about.series < needed).then(|| {
            let (major, minor) = needed;
            format!(
                "{} has no such tables; {name} has them from {major}.{minor} on",
                about.server()
            )
        })
    }
}
