//! MySQL's functions: their names, their types, and their calls in SQLite.

mod call;
mod document_part;
mod parameter;
mod signature;

use crate::error::{Error, Place, Result};
use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

pub use self::call::{SqlCall, argument_mut, arguments, name_of};
pub use self::document_part::DocumentPart;
pub use self::parameter::{Parameter, parameter};
pub use self::signature::{ANY, Evaluation, Form, ReturnType, Signature};
use super::schema::Schema;
use crate::error::near;
use crate::name::{full_name, last_name};
use tare_mysql::series::Series;

/// The statement that a call is part of.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    /// Sums are exact beyond 64 bits.
    pub exact: bool,
    /// Which functions there are.
    pub schema: &'a dyn Schema,
    /// The server that is presented.
    pub series: Series,
}

impl std::fmt::Debug for CallContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Around").finish_non_exhaustive()
    }
}

/// Whether a function is an aggregate.
pub fn is_aggregate(schema: &dyn Schema, name: &str) -> bool {
    schema
        .function(name)
        .is_some_and(|f| f.evaluation == Evaluation::Aggregate)
}

/// Whether a call with the same arguments has the same value as long as a statement runs.
pub fn is_certain(schema: &dyn Schema, name: &str) -> bool {
    schema
        .function(name)
        .is_none_or(|f| f.evaluation != Evaluation::Volatile)
}

/// Rewrites a call for SQLite.
pub fn rewrite(call: Function, context: CallContext<'_>) -> Result<Expr> {
    let written = last_name(&call.name);
    let name = name_of(&call);
    if call.name.0.len() > 1 {
        return Err(unknown(&full_name(&call.name), None));
    }
    if matches!(call.args, FunctionArguments::Subquery(_)) {
        return Err(near(&written));
    }
    let removed = context.series == Series::V9_7 && REMOVED.contains(&name.as_str());
    let Some(function) = context.schema.function(&name).filter(|_| !removed) else {
        // The views of schema sys may call functions of SQLite.
        let sqlites = ["json", "json_group_array", "json_group_object"];
        if context.database == Some("sys") && sqlites.contains(&name.as_str()) {
            return Ok(Expr::Function(call));
        }
        if MISSING.iter().any(|prefix| name.starts_with(prefix)) {
            return Err(Error::unsupported(format!("{}()", name.to_uppercase())));
        }
        return Err(not_called(&call).unwrap_or_else(|| unknown(&written, context.database)));
    };
    check_plain_arguments(&name, &call)?;
    let windowed = call.over.is_some();
    let call = SqlCall::new(call, context.exact);
    let n = call.len();
    if n < function.fewest.into() || function.most != ANY && n > function.most.into() {
        return Err(Error::ParameterCount(written));
    }
    if windowed {
        return Ok(call.unchanged());
    }
    match function.form {
        Form::Itself if call.is_odd() => call.renamed(&name),
        Form::Itself => Ok(call.unchanged()),
        Form::Renamed(to) => call.renamed(to),
        Form::Code(write) => write(call),
    }
}

/// The functions that MySQL 9.7 no longer has.
const REMOVED: &[&str] = &["md5", "sha", "sha1"];

/// The functions of MySQL that this server has not, by the beginnings of their names.
const MISSING: &[&str] = &[
    "aes_",
    "asymmetric_",
    "can_access_",
    "create_asymmetric_",
    "create_dh_",
    "create_digest",
    "extractvalue",
    "geomcollection",
    "geometrycollection",
    "get_dd_",
    "gtid_su",
    "internal_",
    "json_array_insert",
    "json_overlaps",
    "json_schema_",
    "json_storage_free",
    "json_value",
    "linestring",
    "mbr",
    "multilinestring",
    "multipoint",
    "multipolygon",
    "point",
    "polygon",
    "roles_graphml",
    "source_pos_wait",
    "st_",
    "updatexml",
    "validate_password_strength",
    "wait_for_executed_gtid_set",
];

/// Checks that only COUNT has `*`, and that no argument has a name.
fn check_plain_arguments(name: &str, call: &Function) -> Result<()> {
    let FunctionArguments::List(args) = &call.args else {
        return Ok(());
    };
    let counts = name == "count" && args.args.len() == 1 && args.duplicate_treatment.is_none();
    for arg in &args.args {
        match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(_)) => {}
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) if counts => {}
            FunctionArg::Unnamed(_) => return Err(near("*")),
            FunctionArg::Named { .. } | FunctionArg::ExprNamed { .. } => return Err(near(arg)),
        }
    }
    Ok(())
}

/// MySQL's keywords that may be names, but not of functions: a call without quotes is a syntax error.
const KEYWORDS: &str = include_str!("keywords.txt");

/// 1064 at the parentheses of a call of a keyword.
fn not_called(call: &Function) -> Option<Error> {
    let name = call.name.0.first()?.as_ident()?;
    let is_name = |word: &str| word.eq_ignore_ascii_case(&name.value);
    let is_keyword = name.quote_style.is_none() && KEYWORDS.split_whitespace().any(is_name);
    is_keyword.then_some(Error::Syntax(Place::At(name.span.end)))
}

fn unknown(name: &str, database: Option<&str>) -> Error {
    let database = database.map_or(String::new(), |database| format!("{database}."));
    Error::NoSuchRoutine {
        kind: "FUNCTION",
        name: format!("{database}{name}"),
    }
}
