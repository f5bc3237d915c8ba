//! Statements on tables with values at the bounds of their types.

use super::chance::Chance;
use super::kinds::{Family, Kind, value};
use super::left_out;
use tare_server::Series;

/// A table of a case.
pub struct Table {
    pub columns: Vec<(String, &'static Kind)>,
    pub create: String,
    /// The columns with a unique key.
    pub unique: Vec<String>,
    /// The columns with an index.
    pub indexed: Vec<String>,
}

/// The form of a statement, for the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The statement does not determine the order of its rows.
    Unordered,
    Ordered,
    Change,
}

pub struct Statement {
    pub sql: String,
    pub form: Form,
}

pub struct Generator<'a> {
    pub chance: Chance,
    /// The id of the last row. A refused INSERT uses up AUTO_INCREMENT values in InnoDB, but not here.
    pub id: u64,
    /// The statement changes rows.
    pub changes: bool,
    pub kinds: &'a [&'static Kind],
    /// What Tare serves as.
    pub series: Series,
}

impl Generator<'_> {
    /// A table `t` with an id and some columns, some of them indexed.
    pub fn table(&mut self) -> Table {
        let n = 2 + self.chance.below(4);
        let columns: Vec<(String, &'static Kind)> = (0..n)
            .map(|i| (format!("c{i}"), *self.chance.one(self.kinds)))
            .collect();
        let mut parts = vec!["id INT PRIMARY KEY".to_owned()];
        for (name, kind) in &columns {
            let null = if self.chance.once_in(6) && !kind.sql.ends_with("NULL") {
                " NOT NULL"
            } else {
                ""
            };
            parts.push(format!("{name} {}{null}", kind.sql));
        }
        let (mut indexed, mut unique) = (Vec::new(), Vec::new());
        for (name, _) in &columns {
            let before = parts.len();
            if self.chance.once_in(4) {
                parts.push(format!("KEY k_{name} ({name})"));
            } else if self.chance.once_in(9) {
                parts.push(format!("UNIQUE KEY u_{name} ({name})"));
                unique.push(name.clone());
            }
            if parts.len() > before {
                indexed.push(name.clone());
            }
        }
        let create = format!("CREATE TABLE t ({})", parts.join(", "));
        Table {
            columns,
            create,
            indexed,
            unique,
        }
    }

    pub fn statement(&mut self, table: &Table) -> Statement {
        let change = |sql| Statement {
            sql,
            form: Form::Change,
        };
        let n = self.chance.below(20);
        self.changes = n <= 9;
        match n {
            0..=6 => change(self.insert(table)),
            7..=8 => change(self.update(table)),
            9 => change(self.delete(table)),
            10..=12 => self.aggregate(table),
            _ => self.select(table),
        }
    }

    fn row(&mut self, table: &Table) -> String {
        let values: Vec<&str> = table
            .columns
            .iter()
            .map(|(_, kind)| value(kind, self.kinds, &mut self.chance))
            .collect();
        self.id += 1;
        format!("({}, {})", self.id, values.join(", "))
    }

    fn insert(&mut self, table: &Table) -> String {
        let names: Vec<&str> = table.columns.iter().map(|c| c.0.as_str()).collect();
        let rows = if self.chance.once_in(8) { 2 } else { 1 };
        let rows: Vec<String> = (0..rows).map(|_| self.row(table)).collect();
        format!(
            "INSERT INTO t (id, {}) VALUES {}",
            names.join(", "),
            rows.join(", ")
        )
    }

    fn update(&mut self, table: &Table) -> String {
        let n = 1 + self.chance.below(2);
        let mut sets = Vec::new();
        for _ in 0..n {
            let (name, kind) = self.chance.one(&table.columns).clone();
            let new = match self.chance.below(3) {
                0 if kind.family == Family::Number => {
                    let number = self.number(table, 1);
                    let from = table.columns.iter().find(|c| c.0 == number);
                    match from.is_some_and(|c| left_out::copies_bits(kind, c.1)) {
                        true => format!("{number} + 0"),
                        false => left_out::unsigned_zero(kind, number),
                    }
                }
                1 => self
                    .column_for(table, kind)
                    .unwrap_or_else(|| "NULL".into()),
                _ => value(kind, self.kinds, &mut self.chance).to_owned(),
            };
            sets.push(format!("{name} = {new}"));
        }
        let unique = |set: &String| {
            table
                .unique
                .iter()
                .any(|name| set.starts_with(name.as_str()))
        };
        if sets.iter().any(unique) {
            let id = 1 + self.chance.below(self.id.max(1) as usize);
            return format!("UPDATE t SET {} WHERE id = {id}", sets.join(", "));
        }
        format!(
            "UPDATE t SET {} WHERE {}",
            sets.join(", "),
            self.condition(table, 1)
        )
    }

    fn delete(&mut self, table: &Table) -> String {
        format!(
            "DELETE FROM t WHERE {} AND id % 3 = {}",
            self.condition(table, 1),
            self.chance.below(3)
        )
    }

    fn select(&mut self, table: &Table) -> Statement {
        let mut items = vec!["id".to_owned()];
        for _ in 0..=self.chance.below(2) {
            items.push(self.any(table));
        }
        let items = items.join(", ");
        let condition = if self.chance.once_in(4) {
            "1".into()
        } else {
            self.condition(table, 2)
        };
        if self.chance.once_in(2) {
            let (name, _) = self.chance.one(&table.columns).clone();
            let down = if self.chance.once_in(2) { " DESC" } else { "" };
            let sql = format!("SELECT {items} FROM t WHERE {condition} ORDER BY {name}{down}, id");
            return Statement {
                sql,
                form: Form::Ordered,
            };
        }
        let sql = format!("SELECT {items} FROM t WHERE {condition}");
        Statement {
            sql,
            form: Form::Unordered,
        }
    }

    fn aggregate(&mut self, table: &Table) -> Statement {
        let (name, kind) = self.chance.one(&table.columns).clone();
        let of = match kind.family {
            // MIN and MAX of a FLOAT are FLOATs in 9.7, which Tare follows.
            _ if kind.sql == "FLOAT" => vec!["COUNT", "COUNT(DISTINCT"],
            Family::Number => vec!["SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT(DISTINCT"],
            _ if left_out::has_two_orders(kind) => vec!["COUNT", "COUNT(DISTINCT"],
            _ => vec!["MIN", "MAX", "COUNT", "COUNT(DISTINCT"],
        };
        let function = match *self.chance.one(&of) {
            f if left_out::is_real(kind) && left_out::adds_doubles(table, f) => "MAX",
            f => f,
        };
        let call = |argument: &str| match function {
            "COUNT(DISTINCT" => format!("COUNT(DISTINCT {argument})"),
            f => format!("{f}({argument})"),
        };
        let sql = match self.chance.below(4) {
            0 if kind.family == Family::Number
                && !function.starts_with("COUNT")
                && !left_out::adds_doubles(table, function) =>
            {
                let argument = match self.number(table, 1) {
                    a if left_out::has_float(table, &a) => name.clone(),
                    a => a,
                };
                format!("SELECT {} FROM t", call(&argument))
            }
            1 => format!("SELECT COUNT(*), MIN(id) FROM t GROUP BY {name}"),
            2 => format!("SELECT COUNT(*) FROM (SELECT DISTINCT {name} FROM t) d"),
            _ if left_out::has_equals(kind) && function.starts_with('M') => format!(
                "SELECT {} = {} FROM t",
                call(&name),
                value(kind, self.kinds, &mut self.chance)
            ),
            _ => format!(
                "SELECT {} FROM t WHERE {}",
                call(&name),
                self.condition(table, 1)
            ),
        };
        Statement {
            sql,
            form: Form::Unordered,
        }
    }

    /// A column of a family; of any family if there is none.
    fn column_of(&mut self, table: &Table, family: Family) -> Option<String> {
        let of: Vec<&String> = table
            .columns
            .iter()
            .filter(|c| c.1.family == family)
            .map(|c| &c.0)
            .collect();
        (!of.is_empty()).then(|| (*self.chance.one(&of)).clone())
    }

    /// A column whose value can be assigned to another one.
    fn column_for(&mut self, table: &Table, kind: &Kind) -> Option<String> {
        let all = table.columns.iter();
        let of: Vec<&String> = all
            .filter(|c| c.1.family == kind.family)
            .filter(|c| !left_out::copies_bits(kind, c.1) && !left_out::copies_double(kind, c.1))
            .map(|c| &c.0)
            .collect();
        (!of.is_empty()).then(|| (*self.chance.one(&of)).clone())
    }

    fn any(&mut self, table: &Table) -> String {
        let (name, kind) = self.chance.one(&table.columns).clone();
        match kind.family {
            Family::Number if self.chance.once_in(2) => self.number(table, 2),
            Family::Member if self.chance.once_in(2) => format!("{name}+0"),
            Family::Year if self.chance.once_in(2) => format!("{name} + 1"),
            Family::Text if self.chance.once_in(3) => {
                let other = self
                    .column_of(table, Family::Text)
                    .unwrap_or_else(|| name.clone());
                match self.chance.below(4) {
                    0 => format!("NULLIF({name}, {other})"),
                    1 => format!("GREATEST({name}, {other})"),
                    2 => format!("LENGTH({name})"),
                    _ => format!("CONCAT({name}, '.')"),
                }
            }
            _ => name,
        }
    }

    /// A numeric expression.
    fn number(&mut self, table: &Table, depth: usize) -> String {
        let column = self
            .column_of(table, Family::Number)
            .unwrap_or_else(|| "id".into());
        if depth == 0 || self.chance.once_in(4) {
            return match self.chance.below(3) {
                0 => (*self
                    .chance
                    .one(&["1", "2", "0.1", "-1", "10", "0.5", "1.25", "3"]))
                .to_owned(),
                _ => column,
            };
        }
        let a = self.number(table, depth - 1);
        let b = self.number(table, 0);
        match self.chance.below(14) {
            0 | 1 => format!("({a} + {b})"),
            2 | 3 => format!("({a} - {})", left_out::subtracted(table, &b)),
            4 if left_out::multiplies(table, &a) => format!("({a} * {b})"),
            4 => format!("({a} + {b})"),
            5 => format!("({a} / {b})"),
            6 => format!("({a} DIV {b})"),
            7 => format!("({a} % {b})"),
            8 if left_out::is_constant(&a) => a,
            8 => format!("(- ({a} + 1))"),
            9 if left_out::is_wide(&a) || left_out::has_real(table, &a) => a,
            9 => format!("ROUND({a}, 0)"),
            10 => format!("ABS({a})"),
            11.. if left_out::has_float(table, &a) || left_out::has_float(table, &b) => a,
            11 => {
                let all = ["SIGNED", "UNSIGNED", "DECIMAL(20,3)", "DECIMAL(10,0)"];
                let from = 2 * usize::from(left_out::casts_computed_double(table, &a));
                format!("CAST({a} AS {})", self.chance.one(&all[from..]))
            }
            12 => format!("COALESCE({a}, {b})"),
            _ => format!("{}({a}, {b})", self.chance.one(&["GREATEST", "LEAST"])),
        }
    }

    fn condition(&mut self, table: &Table, depth: usize) -> String {
        // Not with AND: the optimiser chooses which side is evaluated, and thus which errors occur.
        if depth == 2 && self.chance.once_in(4) && self.column_of(table, Family::Number).is_some() {
            let op = *self.chance.one(&["=", "<>", "<", "<=", ">", ">=", "<=>"]);
            // Not an indexed column alone: see `left_out::rounds`.
            let plain = |side: String| match table.indexed.contains(&side) {
                true => format!("({side} + 0)"),
                false => side,
            };
            let first = left_out::unfixed(table, plain(self.number(table, 1)));
            let second = left_out::unfixed(table, plain(self.number(table, 0)));
            return format!("{first} {op} {second}");
        }
        if depth > 0 && self.chance.once_in(3) {
            let (a, b) = (
                self.condition(table, depth - 1),
                self.condition(table, depth - 1),
            );
            return match self.chance.below(3) {
                0 if left_out::propagates(table, &a, &b) || left_out::propagates_bits(&a, &b) => {
                    format!("({a} OR {b})")
                }
                0 => format!("({a} AND {b})"),
                1 => format!("({a} OR {b})"),
                _ => format!("NOT ({a})"),
            };
        }
        let (name, kind) = self.chance.one(&table.columns).clone();
        let op = *self.chance.one(&["=", "<>", "<", "<=", ">", ">=", "<=>"]);
        let mut v = value(kind, self.kinds, &mut self.chance);
        let indexed = table.indexed.contains(&name);
        let refuses = self.series == Series::V9_7;
        let left_out = |changes: bool, v: &str| {
            refuses && left_out::is_outside_of_calendar(kind, v)
                || changes
                    && indexed
                    && (left_out::is_no_date(kind, v) || left_out::is_no_decimal(kind, v))
                || indexed && left_out::has_more_digits(kind, v)
                || indexed && left_out::rounds(kind, v)
                || left_out::is_unordered(kind, v)
                || left_out::has_time(kind, v)
        };
        while left_out(self.changes, v) {
            v = value(kind, self.kinds, &mut self.chance);
        }
        match self.chance.below(10) {
            0 => format!("{name} IS NULL"),
            1 => {
                let w = value(kind, self.kinds, &mut self.chance);
                if left_out::mixes_members(kind, v, w)
                    || left_out::is_lost_time(kind, v, w)
                    || left_out::is_beyond(kind, v, w)
                    || left_out::mixes_dates(kind, v, w)
                    || left_out(self.changes, w)
                {
                    return format!("{name} IN ({v})");
                }
                format!("{name} IN ({v}, {w})")
            }
            2 => {
                let w = value(kind, self.kinds, &mut self.chance);
                if left_out::mixes_members(kind, v, w)
                    || left_out::mixes_numbers(kind, v, w)
                    || left_out::is_null_bound(v, w)
                    || left_out::is_beyond(kind, v, w)
                    || left_out::mixes_dates(kind, v, w)
                    || self.changes
                        && (left_out::is_no_date(kind, v) || left_out::is_no_date(kind, w))
                    || left_out(self.changes, w)
                {
                    return format!("{name} >= {v}");
                }
                format!("{name} BETWEEN {v} AND {w}")
            }
            5 if kind.family == Family::Text => format!("{name} LIKE {v}"),
            6 => {
                let other = self
                    .column_of(table, kind.family)
                    .unwrap_or_else(|| name.clone());
                let other = left_out::unfixed(table, other);
                format!("{} {op} {other}", left_out::unfixed(table, name))
            }
            _ => format!("{name} {op} {v}"),
        }
    }
}
