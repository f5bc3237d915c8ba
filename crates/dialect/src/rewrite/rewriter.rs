//! The state of a rewrite.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::error::Result;
use crate::function::DocumentPart;
use sqlparser::ast::{Expr, ObjectName, Select};
use tare_mysql::schema::is_system_schema;

use super::assign::assigned_values::AssignedValues;
use super::exact::plan::Plan;
use crate::mode::Mode;
use crate::name;
use crate::plan::Sql;
use crate::schema::Schema;
use crate::scope::{Column, Names};

/// The subqueries that are being visited.
#[derive(Debug, Default)]
pub(super) struct Subqueries {
    /// Operands of ANY and ALL, which may have many rows.
    pub(super) many: Vec<*const Expr>,
    /// Subqueries in the place of a value, which may return several rows.
    pub(super) one: Vec<*const Expr>,
}

/// The columns of a part of a UNION that are converted, each by its number.
pub(super) type PartConversions = Vec<(usize, Conversion)>;

/// The conversion of an operand after it is rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// A number of its text.
    Number,
    /// A number of the digits of a date or a time.
    Digits,
    /// A double.
    Real,
    /// The same as `Number`, `Real` and `Integer`, without a warning of a text that is none.
    QuietNumber,
    QuietReal,
    QuietInteger,
    /// The integer of its text, if the text is one.
    Read,
    /// A text, to be compared with exact numbers.
    Text,
    /// The exact number of a text that is not entirely one.
    DecimalOfText,
    /// A number of the digits of a date or a time with a fraction, which is exact.
    ExactDigits,
    /// A date and time with six digits behind the second.
    Moment,
    /// A time of the current day as a date and time, with so many digits behind the second.
    Today(u8),
    /// A text as a date and time with six digits behind the second, the zero date if it is none; whether it is compared
    /// with a DATE.
    TextMoment(bool),
    /// A date or a time in the format of a type with so many digits behind the second.
    Fraction(u8),
    /// A DECIMAL with so many digits behind the point.
    Scaled(u8),
    /// A text that compares without case.
    IgnoreCase,
    /// A text that compares by its bytes.
    CompareBytes,
    /// The first day of a YEAR.
    YearStart,
    /// A text that is read as a date whose month and day may be zero.
    DateText,
    /// A part of a JSON document.
    DocumentPart(DocumentPart),
    /// The number or the text of a JSON document, of which another conversion makes a number.
    JsonScalar,
    /// A JSON document, to be compared with documents.
    Document,
    /// A part of a document that is bytes, which are greater than all documents.
    DocumentBytes,
    /// A date or a time, which is greater than all documents, too.
    DocumentMoment,
    /// Whether a JSON document is true.
    JsonTruth,
    /// A text with the collation of exact numbers.
    Exact,
    /// Bytes.
    Bytes,
    /// The integer of a text's digits.
    Integer,
    /// A double rounded to an integer; with its origin, as for a CAST.
    Rounded(i64),
    /// An unsigned integer's bits.
    Bits,
    /// The text of a double: of a FLOAT, and with so many digits behind the point.
    Printed(bool, u8),
    /// The bytes of a BIT.
    BitBytes(u8),
}

/// The conversions of the operands of the expressions that are being visited, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Conversions(pub(super) Vec<Vec<(usize, Conversion)>>);

/// Visible common table expressions: the columns of those whose columns are known, and all names.
pub(super) type Ctes = (HashMap<String, Arc<Vec<Column>>>, HashSet<String>);

/// Rewrites one statement.
pub struct Rewriter<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    pub(super) names: Names<'a>,
    /// The common table expressions that were visible before each query, to be restored.
    pub(super) outer: Vec<Option<Ctes>>,
    /// The names of those that are visible.
    pub(super) ctes: HashSet<String>,
    pub(super) sql: Sql,
    pub(super) exact: bool,
    pub(super) mode: Mode,
    pub(super) subqueries: Subqueries,
    pub(super) conversions: Conversions,
    /// The parts of UNIONs that are visited later, and how their columns are converted.
    pub(super) parts_of_union: HashMap<*const Select, PartConversions>,
    /// The plans of the expressions that are being visited, the innermost last.
    pub(super) exact_plans: Vec<Plan>,
    /// The values that this UPDATE has assigned.
    pub(super) assigned: AssignedValues,
    /// Whether the values of the `@x := value` that are being visited are numbers, the innermost last.
    pub(super) assigns_numbers: Vec<bool>,
    /// How many `@x := value` there have been.
    pub(super) variables_set: usize,
    /// How many columns are being visited that are read as they are stored.
    pub(super) raw: usize,
    /// The same as `variables_set`, as it was before each derived table that is being visited, the innermost last.
    pub(super) set_before: Vec<usize>,
}

impl<'a> Rewriter<'a> {
    /// For a session's default database.
    pub fn new(database: Option<&'a str>, schema: &'a mut dyn Schema, mode: Mode) -> Self {
        let mut names = Names::new(database, schema);
        names.zoned = mode.zoned;
        Self {
            database,
            names,
            outer: Vec::new(),
            ctes: HashSet::new(),
            sql: Sql::default(),
            exact: false,
            mode,
            subqueries: Subqueries::default(),
            conversions: Conversions::default(),
            parts_of_union: HashMap::new(),
            exact_plans: Vec::new(),
            assigned: AssignedValues::default(),
            assigns_numbers: Vec::new(),
            variables_set: 0,
            raw: 0,
            set_before: Vec::new(),
        }
    }

    /// Database and table of a name.
    pub fn resolve(&self, name: &ObjectName) -> Result<(String, String)> {
        name::resolve(name, self.database)
    }

    /// Adds a table that the statement reads or changes, which needs a privilege.
    pub(super) fn require_table(
        &mut self,
        privilege: &str,
        database: &str,
        table: &str,
    ) -> Result<()> {
        let schema = &mut self.names.schema;
        schema.require_table(privilege, database, table)?;
        self.add_table(database, table);
        Ok(())
    }

    pub(super) fn add_table(&mut self, database: &str, table: &str) {
        if is_system_schema(database) {
            self.sql
                .catalog
                .push((database.to_ascii_lowercase(), table.to_ascii_lowercase()));
        } else if !self.sql.databases.iter().any(|d| d == database) {
            self.sql.databases.push(database.to_owned());
        }
    }
}

/// System schemas and their tables compare without case.
pub fn canonical(database: String, table: String) -> (String, String) {
    if is_system_schema(&database) {
        (database.to_ascii_lowercase(), table.to_ascii_lowercase())
    } else {
        (database, table)
    }
}
