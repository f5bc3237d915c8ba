//! A page: each column described once, and from that the question to the server, the arithmetic
//! between two answers, the sorting and the heads.

use crate::observe::table::Side;
use crate::observe::{About, Product, sql_literal};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A text of the row's identity.
    Key,
    /// A number of the row's identity.
    KeyNumber,
    /// A text.
    Text,
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
    /// Half the 95 % interval of the count, in percent of it, where it is an estimate.
    Error,
    /// A number as it is now.
    Gauge,
    /// Bytes as they are now.
    GaugeBytes,
    /// Picoseconds as they are now.
    GaugeTime,
    /// Seconds as they are now.
    GaugeSeconds,
    /// Who holds what a session waits for.
    BlockedBy,
    /// How many sessions wait for this one.
    Blocks,
}

impl Measure {
    /// Computed from other columns rather than asked for.
    pub fn is_derived(self) -> bool {
        matches!(
            self,
            Self::Share | Self::Average | Self::Error | Self::BlockedBy | Self::Blocks
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

    /// Where it stands in its column.
    pub fn side(self) -> Side {
        match self {
            Self::Key | Self::Text => Side::Left,
            _ => Side::Right,
        }
    }
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// What is asked of the server; empty when derived.
    pub sql: &'static str,
    /// What it holds.
    pub kind: Measure,
    /// Characters on the screen; 0 is what is left, as a text that may be long has it.
    pub width: u16,
    /// Not shown: only part of the identity.
    pub hidden: bool,
}

/// Where Enter leads.
#[derive(Debug)]
pub enum Drill {
    /// Nowhere.
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

/// A page, or what one drills down to.
#[derive(Debug)]
pub struct Sheet {
    /// Its name: the tab, `--page`.
    pub name: &'static str,
    /// What the row that one came from is; for the headline of a drill-down.
    pub of: &'static str,
    /// Everything after SELECT's list; `{0}` compares with the first key of the row one came from.
    pub from: &'static str,
    /// Its columns, in the order of the screen.
    pub columns: &'static [Column],
    /// Rows in which nothing happened are shown, too: they say how things stand.
    pub shows_all: bool,
    /// A condition that leaves out the rows that have not changed in the last `{}` seconds.
    pub recent: Option<&'static str>,
    /// Since when there is such a table.
    pub since: Since,
    /// Which servers' tables these are like; said when nothing comes.
    pub hint: &'static str,
    /// Where Enter leads.
    pub drill: Drill,
    /// The instruments without which nothing is counted here, as LIKE takes them.
    pub instruments: &'static str,
    /// The consumer without which nothing is.
    pub consumer: &'static str,
    /// Head of the column whose waiting rows stand before all others, in whichever order.
    pub first: &'static str,
    /// The event type that sampling makes estimates of these counters by; empty: they are exact.
    pub estimated: &'static str,
    /// What tells how far the counts are off: the keys in their order, and the standard error; empty: nobody knows.
    pub errors: &'static str,
    /// Rows whose texts are equal are added up, after their growth is known.
    pub merges: bool,
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

/// One that is only part of the identity.
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

/// One with what most have.
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
        shows_all: false,
        recent: None,
        since: ALWAYS,
        hint: "",
        drill: Drill::None,
        instruments: "",
        consumer: "",
        first: "",
        estimated: "",
        errors: "",
        merges: false,
    }
}

impl Sheet {
    /// What is asked, of the row with these keys.
    pub fn question(&self, keys: &[Option<String>], recent_s: Option<u64>) -> String {
        let asked = self
            .columns
            .iter()
            .filter(|column| !column.kind.is_derived());
        let list: Vec<&str> = asked.map(|column| column.sql).collect();
        let mut from = self.from.to_owned();
        for (number, key) in keys.iter().enumerate() {
            let comparison = match key {
                None => "IS NULL".to_owned(),
                // Numbers of threads; whatever else looks like one compares equal as well.
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

    /// Where a column of this kind is.
    pub fn find(&self, is: impl Fn(Measure) -> bool) -> Option<usize> {
        self.columns.iter().position(|column| is(column.kind))
    }

    /// The column that says how long, or how much.
    pub fn by_time(&self) -> usize {
        self.find(|kind| {
            matches!(
                kind,
                Measure::Time | Measure::GaugeTime | Measure::GaugeBytes
            )
        })
        .unwrap_or(0)
    }

    /// The column that says how often.
    pub fn by_count(&self) -> usize {
        let counts = self.find(|kind| kind == Measure::Count);
        counts
            .or_else(|| self.find(|kind| kind == Measure::Gauge))
            .unwrap_or(0)
    }

    /// The column that says who waits.
    pub fn waiting(&self) -> Option<usize> {
        let column = |column: &Column| !self.first.is_empty() && column.head == self.first;
        self.columns.iter().position(column)
    }

    /// The columns on the screen, with their numbers; that of errors where there are estimates, and those of blocked
    /// sessions where there are any.
    pub fn shown(
        &self,
        has_errors: bool,
        has_blocked: bool,
    ) -> impl Iterator<Item = (usize, &'static Column)> {
        let is_shown = move |column: &Column| match column.kind {
            Measure::Error => has_errors,
            Measure::BlockedBy | Measure::Blocks => has_blocked,
            _ => !column.hidden,
        };
        let columns = self.columns.iter().enumerate();
        columns.filter(move |(_, column)| is_shown(column))
    }

    /// Why this server has no such page.
    pub fn missing(&self, about: &About) -> Option<String> {
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
