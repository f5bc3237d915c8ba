//! MySQL's functions: which there are, what they return, and how SQLite is told.

mod result;
mod signature;

use sqlparser::ast::{DuplicateTreatment, Expr, Function, FunctionArgumentList, FunctionArguments};
use tare_mysql::error::{Result, SqlError};

pub use self::result::{Out, result};
pub use self::signature::{ANY, Evaluation, Form, Signature};
use super::near;
use super::rewrite::raw;
use super::schema::Schema;
use crate::name::last_name;

/// A call, once its arguments have been rewritten.
#[derive(Debug)]
pub struct SqlCall<'a> {
    /// The arguments as they were parsed.
    pub args: &'a FunctionArgumentList,
    /// And as SQLite reads them.
    pub texts: Vec<String>,
    /// Sums are exact beyond 64 bits.
    pub exact: bool,
}

impl SqlCall<'_> {
    /// All arguments, separated by commas.
    pub fn all(&self) -> String {
        self.texts.join(", ")
    }

    /// An argument; nothing where there is none.
    pub fn text(&self, i: usize) -> &str {
        self.texts.get(i).map_or("", String::as_str)
    }

    /// Whether DISTINCT is said.
    pub fn distinct(&self) -> bool {
        self.args.duplicate_treatment == Some(DuplicateTreatment::Distinct)
    }

    /// Whether the first argument is a column.
    pub fn is_column(&self) -> bool {
        matches!(
            self.args.args.first().and_then(super::types::plain),
            Some(Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        )
    }
}

/// A function's name in lower case.
pub fn name_of(f: &Function) -> String {
    last_name(&f.name).to_ascii_lowercase()
}

/// A call's arguments; `*` is none.
pub fn arguments(list: &FunctionArgumentList) -> Vec<&Expr> {
    list.args.iter().filter_map(super::types::plain).collect()
}

/// How a statement is rewritten: what a function has to know of it.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    /// Sums are exact beyond 64 bits.
    pub exact: bool,
    /// Which functions there are.
    pub schema: &'a dyn Schema,
}

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Around").finish_non_exhaustive()
    }
}

/// Whether a function is one of a group of rows.
pub fn is_aggregate(schema: &dyn Schema, name: &str) -> bool {
    schema
        .function(name)
        .is_some_and(|f| f.evaluation == Evaluation::Aggregate)
}

/// Whether a call with the same arguments gives the same again while a statement runs.
pub fn is_certain(schema: &dyn Schema, name: &str) -> bool {
    schema
        .function(name)
        .is_none_or(|f| f.evaluation != Evaluation::Volatile)
}

/// The function as SQLite knows it; `None` when it knows it as it is.
pub fn rewrite(f: &mut Function, around: Around<'_>) -> Result<Option<Expr>> {
    let written = last_name(&f.name);
    let name = name_of(f);
    if f.name.0.len() > 1 {
        let whole = f.name.to_string().replace(['`', '"'], "");
        return Err(unknown(&whole, None));
    }
    let empty = FunctionArgumentList {
        duplicate_treatment: None,
        args: Vec::new(),
        clauses: Vec::new(),
    };
    let args = match &f.args {
        FunctionArguments::None => &empty,
        FunctionArguments::Subquery(_) => return Err(near(&written)),
        FunctionArguments::List(list) => list,
    };
    let Some(function) = around.schema.function(&name) else {
        // What schema sys is written in may use SQLite's own.
        let sqlites = ["json", "json_group_array", "json_group_object"];
        if around.database == Some("sys") && sqlites.contains(&name.as_str()) {
            return Ok(None);
        }
        return Err(unknown(&written, around.database));
    };
    let n = args.args.len();
    if n < function.fewest.into() || function.most != ANY && n > function.most.into() {
        return Err(SqlError::new(
            1582,
            format!("Incorrect parameter count in the call to native function '{written}'"),
        ));
    }
    if f.over.is_some() {
        return Ok(None);
    }
    let call = SqlCall {
        args,
        texts: args.args.iter().map(ToString::to_string).collect(),
        exact: around.exact,
    };
    match function.form {
        // In quotes, or without parentheses, SQLite does not know it.
        Form::Itself
            if f.name.0[0]
                .as_ident()
                .is_some_and(|i| i.quote_style.is_some())
                || matches!(f.args, FunctionArguments::None) =>
        {
            Ok(Some(raw(format!("{name}({})", call.all()))))
        }
        Form::Itself => Ok(None),
        Form::Renamed(to) => Ok(Some(raw(format!("{to}({})", call.all())))),
        Form::Template(text) => Ok(Some(raw(text.replacen('?', &call.all(), 1)))),
        Form::Code(write) => write(&call),
    }
}

fn unknown(name: &str, database: Option<&str>) -> SqlError {
    let database = database.map_or(String::new(), |database| format!("{database}."));
    SqlError::new(1305, format!("FUNCTION {database}{name} does not exist"))
}
