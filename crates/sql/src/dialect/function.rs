//! MySQL's functions in SQLite's names.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Value,
};

use super::rewrite::{interval, literal, raw};
use super::tokens::OWN;
use super::{near, signature};
use crate::server::error::{Result, SqlError};
use crate::storage::tables::last_name;

/// A function's name in lower case, without the mark of those that [`super::tokens`] writes.
pub fn name_of(f: &Function) -> String {
    last_name(&f.name)
        .trim_start_matches(OWN)
        .to_ascii_lowercase()
}

/// A call's arguments; `*` is none.
pub fn arguments(list: &FunctionArgumentList) -> Vec<&Expr> {
    list.args.iter().filter_map(super::types::plain).collect()
}

/// How a statement is rewritten: what a function has to know of it.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    /// Sums are exact beyond 64 bits.
    pub exact: bool,
}

/// The function as SQLite knows it; `None` when it knows it as it is.
pub fn rewrite(f: &mut Function, around: Around<'_>) -> Result<Option<Expr>> {
    let written = last_name(&f.name);
    let name = name_of(f);
    let own = written.starts_with(OWN);
    if f.name.0.len() > 1 {
        return Err(SqlError::new(
            1305,
            format!(
                "FUNCTION {} does not exist",
                f.name.to_string().replace(['`', '"'], "")
            ),
        ));
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
    let texts: Vec<String> = args.args.iter().map(ToString::to_string).collect();
    if own && let Some(expr) = ours(&name, &texts)? {
        return Ok(Some(expr));
    }
    // What schema sys is written in may use SQLite's own.
    if around.database == Some("sys")
        && matches!(
            name.as_str(),
            "json" | "json_group_array" | "json_group_object"
        )
    {
        return Ok(None);
    }
    signature::check(&name, &written, texts.len(), around.database)?;
    if f.over.is_some() {
        return Ok(None);
    }
    let all = texts.join(", ");
    let call = |to: &str| Ok(Some(raw(format!("{to}({all})"))));
    let first = || texts.first().cloned().unwrap_or_default();
    let distinct = args.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    match name.as_str() {
        "if" => call("iif"),
        "length" => call("octet_length"),
        "char_length" | "character_length" => call("length"),
        "bit_length" => Ok(Some(raw(format!("(octet_length({all}) * 8)")))),
        "lcase" | "lower" => call("tare_lower"),
        "ucase" | "upper" => call("tare_upper"),
        "substr" | "substring" | "mid" => call("tare_substr"),
        "ltrim" | "rtrim" | "trim" if texts.len() == 1 => {
            Ok(Some(raw(format!("tare_{name}({all}, ' ')"))))
        }
        "isnull" => Ok(Some(raw(format!("(({all}) IS NULL)")))),
        "greatest" => call("max"),
        "least" => call("min"),
        "ceiling" => call("ceil"),
        "power" => call("pow"),
        "round" => call("tare_round"),
        "sign" => call("tare_sign"),
        "atan" if texts.len() == 2 => call("atan2"),
        "atan2" if texts.len() == 1 => call("atan"),
        "any_value" | "name_const" => Ok(Some(raw(format!(
            "({})",
            texts.last().cloned().unwrap_or_default()
        )))),
        "schema" => call("database"),
        "session_user" | "system_user" => call("user"),
        "localtime" | "localtimestamp" | "current_timestamp" => call("now"),
        "curdate" | "current_date" => call("current_date_"),
        "curtime" | "current_time" => call("current_time_"),
        "day" => call("dayofmonth"),
        "sha" => call("sha1"),
        "unhex" => call("tare_unhex"),
        "replace" => call("tare_replace"),
        "instr" => match texts.as_slice() {
            [s, what] => Ok(Some(raw(format!("locate({what}, {s})")))),
            _ => Ok(None),
        },
        "date_add" | "adddate" | "date_sub" | "subdate" => {
            let minus = name.ends_with("sub") || name.starts_with("sub");
            match args.args.as_slice() {
                [
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(date)),
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(by)),
                ] => {
                    let (n, unit) = interval(by).unwrap_or_else(|| (by.to_string(), "DAY".into()));
                    let sign = if minus { "-" } else { "" };
                    Ok(Some(raw(format!(
                        "tare_date_add({date}, {sign}({n}), '{unit}')"
                    ))))
                }
                _ => Ok(None),
            }
        }
        "count" if distinct && texts.len() > 1 => Ok(Some(raw(format!(
            "count(DISTINCT tare_tuple({all}) COLLATE NOCASE)"
        )))),
        "count" if texts.len() > 1 => Err(near(format!(", {}", texts[1]))),
        "count" if texts.is_empty() => Err(near(")")),
        "count" if distinct && !is_column(args) => Ok(Some(raw(format!(
            "count(DISTINCT {} COLLATE NOCASE)",
            first()
        )))),
        "sum" if around.exact => Ok(Some(raw(format!(
            "tare_sum({}{all})",
            if distinct { "DISTINCT " } else { "" }
        )))),
        "group_concat" => Ok(Some(group_concat(args, &texts))),
        "std" | "stddev" | "stddev_pop" => call("tare_stddev"),
        "stddev_samp" => call("tare_stddev_samp"),
        "variance" | "var_pop" => call("tare_variance"),
        "var_samp" => call("tare_var_samp"),
        "bit_and" | "bit_or" | "bit_xor" => call(&format!("tare_{name}")),
        "charset" | "collation" => {
            let binary = args.args.first().is_some_and(|a| is_binary(&a.to_string()));
            Ok(Some(raw(match (name.as_str(), binary) {
                (_, true) => "'binary'",
                ("charset", _) => "'utf8mb4'",
                _ => "'utf8mb4_general_ci'",
            })))
        }
        "coercibility" => Ok(Some(raw(if is_column(args) { "2" } else { "4" }))),
        "benchmark" => Ok(Some(raw(format!(
            "iif(({}) IS NULL, 0, 0)",
            texts.get(1).cloned().unwrap_or_default()
        )))),
        "uuid_short" => call("tare_uuid_short"),
        "load_file" => Ok(Some(raw("NULL"))),
        "regexp_like" => call("tare_regexp"),
        "weight_string" => Ok(Some(raw(format!("CAST(upper({all}) AS BLOB)")))),
        "grouping" => Err(SqlError::new(1111, "Invalid use of group function")),
        "default" | "values" => Ok(None),
        _ if name.starts_with("json_") => Ok(Some(raw(format!("tare_{name}({all})")))),
        _ if own => call(&name),
        _ if matches!(f.args, FunctionArguments::None) => call(&name),
        _ => Ok(None),
    }
}

/// What [`super::tokens`] writes.
fn ours(name: &str, texts: &[String]) -> Result<Option<Expr>> {
    let all = texts.join(", ");
    Ok(Some(raw(match name {
        "interval" | "extract" | "char" | "char_text" => format!("tare_{name}({all})"),
        "not" => format!("(NOT ({all}))"),
        "binary" => format!("({all} COLLATE BINARY)"),
        "interval_of" if texts.len() > 1 => format!("tare_interval_of({all})"),
        "insert" if texts.len() == 4 => format!("tare_insert({all})"),
        "sounds" | "member_of" => format!("tare_{name}({all})"),
        // For what the rewriter writes itself.
        "number" => format!("tare_number({all})"),
        _ => return Ok(None),
    })))
}

fn is_column(args: &FunctionArgumentList) -> bool {
    matches!(
        args.args.first().and_then(super::types::plain),
        Some(Expr::Identifier(_) | Expr::CompoundIdentifier(_))
    )
}

fn is_binary(text: &str) -> bool {
    text.starts_with("X'") || text.starts_with("CAST(") && text.ends_with("AS BLOB)")
}

/// GROUP_CONCAT(DISTINCT a, b ORDER BY c SEPARATOR 'x').
fn group_concat(args: &FunctionArgumentList, texts: &[String]) -> Expr {
    let mut separator = "','".to_owned();
    let mut order = String::new();
    for clause in &args.clauses {
        match clause {
            FunctionArgumentClause::Separator(value) => {
                separator = match &value.value {
                    Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => literal(s),
                    other => other.to_string(),
                };
            }
            FunctionArgumentClause::OrderBy(by) => {
                let by: Vec<String> = by.iter().map(ToString::to_string).collect();
                order = format!(" ORDER BY {}", by.join(", "));
            }
            _ => {}
        }
    }
    let distinct = args.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    let value = if texts.len() == 1 {
        texts[0].clone()
    } else {
        format!("concat_({})", texts.join(", "))
    };
    if distinct {
        // SQLite: DISTINCT aggregates take one argument; its separator is a comma then.
        let value = if is_column(args) && texts.len() == 1 {
            value
        } else {
            format!("({value} COLLATE NOCASE)")
        };
        if separator == "','" {
            raw(format!("group_concat(DISTINCT {value}{order})"))
        } else {
            raw(format!(
                "replace(group_concat(DISTINCT replace({value}, ',', char(31)) COLLATE NOCASE{order}), ',', {separator})"
            ))
        }
    } else {
        raw(format!("group_concat({value}, {separator}{order})"))
    }
}
