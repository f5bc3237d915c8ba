//! Why a statement has no plan.

mod place;

pub use self::place::Place;

use std::fmt::Display;

use sqlparser::parser::ParserError;
use sqlparser::tokenizer::TokenWithSpan;
use tare_mysql::error::SqlError;

use crate::depth;
use crate::tokenize::TokenizeError;

/// The result of reading or rewriting a statement.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a statement is refused. The text is MySQL's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text has only space and comments.
    #[error("Query was empty")]
    Empty,
    /// The text is not SQL, or not SQL that this server can parse.
    #[error("You have an error in your SQL syntax; {0}")]
    Syntax(Place),
    /// The server understands the statement, but does not support it.
    #[error("This version of Tare doesn't yet support '{0}'")]
    Unsupported(String),
    /// A table has no database, and the session has none.
    #[error("No database selected")]
    NoDatabase,
    /// There is no such table.
    #[error("{}", SqlError::no_such_table(database, table).message)]
    NoSuchTable {
        /// Its database.
        database: String,
        /// The table.
        table: String,
    },
    /// There is no such system variable.
    #[error("Unknown system variable '{0}'")]
    UnknownVariable(String),
    /// There is no such character set here.
    #[error("Unknown character set: '{0}'")]
    UnknownCharset(String),
    /// There is no such column.
    #[error("Unknown column '{name}' in '{clause}'")]
    UnknownColumn {
        /// As it is written.
        name: String,
        /// Where it is written.
        clause: Clause,
    },
    /// Several tables have the column.
    #[error("Column '{name}' in {clause} is ambiguous")]
    AmbiguousColumn {
        /// As it is written.
        name: String,
        /// Where it is written.
        clause: Clause,
    },
    /// A table has two columns of the name.
    #[error("Duplicate column name '{0}'")]
    DuplicateColumn(String),
    /// Two tables of a FROM clause are called so.
    #[error("Not unique table/alias: '{0}'")]
    DuplicateTable(String),
    /// An INSERT names a column twice.
    #[error("Column '{0}' specified twice")]
    AssignedTwice(String),
    /// A row of an INSERT is too long or too short; counted from 1.
    #[error("Column count doesn't match value count at row {0}")]
    ValueCount(usize),
    /// NULL for a column that cannot be NULL.
    #[error("Column '{0}' cannot be null")]
    NotNull(String),
    /// ORDER BY of a compound names a table.
    #[error("Table '{0}' from one of the SELECTs cannot be used in global ORDER clause")]
    TableOfCompound(String),
    /// A column is left out that has no default.
    #[error("Field '{0}' doesn't have a default value")]
    NoDefault(String),
    /// ONLY_FULL_GROUP_BY without GROUP BY.
    #[error(
        "In aggregated query without GROUP BY, expression #{place} of SELECT list contains \
         nonaggregated column '{column}'; this is incompatible with sql_mode=only_full_group_by"
    )]
    NotAggregated {
        /// Of the expression, from 1.
        place: usize,
        /// With its database and table.
        column: String,
    },
    /// ONLY_FULL_GROUP_BY with GROUP BY.
    #[error(
        "Expression #{place} of SELECT list is not in GROUP BY clause and contains nonaggregated \
         column '{column}' which is not functionally dependent on columns in GROUP BY clause; this \
         is incompatible with sql_mode=only_full_group_by"
    )]
    NotGrouped {
        /// Of the expression, from 1.
        place: usize,
        /// With its database and table.
        column: String,
    },
    /// ORDER BY what DISTINCT has not selected.
    #[error(
        "Expression #{place} of ORDER BY clause is not in SELECT list, references column '{column}' \
         which is not in SELECT list; this is incompatible with DISTINCT"
    )]
    NotSelected {
        /// Of the expression, from 1.
        place: usize,
        /// As it is written.
        column: String,
    },
    /// An aggregate function where there are no groups.
    #[error("Invalid use of group function")]
    NoGroups,
    /// A derived table without a name.
    #[error("Every derived table must have its own alias")]
    NoAlias,
    /// `*` without a FROM clause.
    #[error("No tables used")]
    NoTables,
    /// What an UPDATE of several tables names is no table.
    #[error("The target table {0} of the UPDATE is not updatable")]
    NotUpdatable(String),
    /// What UPDATE or DELETE changes is no table.
    #[error("The target table of the UPDATE or DELETE is not updatable")]
    NoTarget,
    /// DELETE names a table that its FROM clause has not.
    #[error("Unknown table '{0}' in MULTI DELETE")]
    UnknownTarget(String),
    /// There is no such function or procedure.
    #[error("{kind} {name} does not exist")]
    NoSuchRoutine {
        /// FUNCTION or PROCEDURE.
        kind: &'static str,
        /// With its schema.
        name: String,
    },
    /// A function of MySQL's is called with too few or too many arguments.
    #[error("Incorrect parameter count in the call to native function '{0}'")]
    ParameterCount(String),
    /// A function or procedure of schema sys is called with too few or too many arguments.
    #[error("Incorrect number of arguments for {kind} sys.{name}; expected {expected}, got {got}")]
    ArgumentCount {
        /// FUNCTION or PROCEDURE.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many it is given.
        got: usize,
    },
    /// An OUT parameter of a procedure needs a variable.
    #[error("OUT or INOUT argument {parameter} for routine sys.{procedure} is not a variable")]
    NoVariable {
        /// The parameter.
        parameter: &'static str,
        /// The procedure.
        procedure: &'static str,
    },
    /// INTO OUTFILE and DUMPFILE.
    #[error(
        "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement"
    )]
    NoFiles,
    /// A table has two primary keys.
    #[error("Multiple primary key defined")]
    TwoPrimaryKeys,
    /// A table has no columns.
    #[error("A table must have at least 1 column")]
    NoColumns,
    /// The statement nests too deep for the code that recurses over it.
    #[error(
        "Thread stack overrun: the statement nests too deep. At most {} operators in a chain and {} \
         parentheses in one another are supported",
        depth::MAX_LEVELS,
        depth::MAX_PARENTHESES
    )]
    TooDeep,
    /// A SELECT joins too many tables.
    #[error(
        "Too many tables; MySQL can only use {} tables in a join",
        depth::MAX_JOINED_TABLES
    )]
    TooManyTables,
    /// An error of the [`Schema`](crate::schema::Schema).
    #[error("{}", .0.message)]
    Schema(SqlError),
}

impl Error {
    /// 1235: the server does not support something.
    pub fn unsupported(what: impl Display) -> Self {
        Self::Unsupported(what.to_string())
    }

    /// MySQL's number.
    pub fn code(&self) -> u16 {
        match self {
            Self::Empty => 1065,
            Self::Syntax(_) => 1064,
            Self::Unsupported(_) => 1235,
            Self::NoDatabase => 1046,
            Self::NoSuchTable { database, table } => SqlError::no_such_table(database, table).code,
            Self::UnknownVariable(_) => 1193,
            Self::UnknownCharset(_) => 1115,
            Self::UnknownColumn { .. } => 1054,
            Self::AmbiguousColumn { .. } => 1052,
            Self::DuplicateColumn(_) => 1060,
            Self::DuplicateTable(_) => 1066,
            Self::AssignedTwice(_) => 1110,
            Self::ValueCount(_) => 1136,
            Self::NotNull(_) => 1048,
            Self::NoDefault(_) => 1364,
            Self::TableOfCompound(_) => 1250,
            Self::NotAggregated { .. } => 1140,
            Self::NotGrouped { .. } => 1055,
            Self::NotSelected { .. } => 3065,
            Self::NoGroups => 1111,
            Self::NoAlias => 1248,
            Self::NoTables => 1096,
            Self::NotUpdatable(_) | Self::NoTarget => 1288,
            Self::UnknownTarget(_) => 1109,
            Self::NoSuchRoutine { .. } => 1305,
            Self::ParameterCount(_) => 1582,
            Self::ArgumentCount { .. } => 1318,
            Self::NoVariable { .. } => 1414,
            Self::NoFiles => 1290,
            Self::TwoPrimaryKeys => 1068,
            Self::NoColumns => 1113,
            Self::TooDeep => 1436,
            Self::TooManyTables => 1116,
            Self::Schema(error) => error.code,
        }
    }

    /// Adds to a syntax error what MySQL prints: the text from the error's place on.
    pub fn located_in(self, sql: &str) -> Self {
        match self {
            Self::Syntax(place) => Self::Syntax(place.located_in(sql)),
            other => other,
        }
    }
}

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        match error {
            Error::Schema(error) => error,
            other => Self::new(other.code(), other.to_string()),
        }
    }
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        Self::Schema(error)
    }
}

impl From<ParserError> for Error {
    fn from(error: ParserError) -> Self {
        match error {
            ParserError::RecursionLimitExceeded => Self::TooDeep,
            other => Self::Syntax(Place::of_parser(&other)),
        }
    }
}

impl From<TokenizeError> for Error {
    fn from(error: TokenizeError) -> Self {
        match error {
            TokenizeError::Text(error) => Self::Syntax(Place::At(error.location)),
            TokenizeError::Ended(error) => error,
        }
    }
}

/// 1064 at a word.
pub fn near(word: impl Display) -> Error {
    Error::Syntax(Place::Near(word.to_string()))
}

/// 1064 at a token.
pub fn at(token: &TokenWithSpan) -> Error {
    Error::Syntax(Place::At(token.span.start))
}

/// A part of a statement, as MySQL calls it in its errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clause {
    /// The select list, or the columns that are written.
    FieldList,
    /// FROM, with USING.
    From,
    /// ON.
    On,
    /// WHERE.
    Where,
    /// GROUP BY.
    Group,
    /// HAVING.
    Having,
    /// ORDER BY.
    Order,
}

impl Display for Clause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::FieldList => "field list",
            Self::From => "from clause",
            Self::On => "on clause",
            Self::Where => "where clause",
            Self::Group => "group statement",
            Self::Having => "having clause",
            Self::Order => "order clause",
        })
    }
}
