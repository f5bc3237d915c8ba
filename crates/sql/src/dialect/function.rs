//! MySQL's functions in SQLite's names, and the types of their results.

use mysql_common::constants::ColumnType;
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArguments, UnaryOperator, Value,
};

use super::rewrite::{interval, literal, raw};
use crate::server::error::{Result, SqlError};
use crate::storage::tables::last_name;
use crate::wire::column::WireType;

/// The function as SQLite knows it; `None` when it knows it as it is.
pub fn rewrite(f: &mut Function, _inserting: bool) -> Result<Option<Expr>> {
    let name = last_name(&f.name).to_ascii_lowercase();
    let args = match &f.args {
        FunctionArguments::None => return Ok(bare(&name)),
        FunctionArguments::Subquery(_) => return Ok(None),
        FunctionArguments::List(list) => list,
    };
    if f.over.is_some() {
        return Ok(None);
    }
    let texts: Vec<String> = args.args.iter().map(ToString::to_string).collect();
    let all = texts.join(", ");
    let call = |to: &str| Ok(Some(raw(format!("{to}({all})"))));
    match name.as_str() {
        "if" => call("iif"),
        "length" | "octet_length" => call("octet_length"),
        "char_length" | "character_length" => call("length"),
        "lcase" => call("lower"),
        "ucase" => call("upper"),
        "substr" | "substring" | "mid" => call("tare_substr"),
        "ltrim" | "rtrim" | "trim" if texts.len() == 1 => {
            Ok(Some(raw(format!("tare_{name}({all}, ' ')"))))
        }
        "greatest" => call("max"),
        "least" => call("min"),
        "ceiling" => call("ceil"),
        "power" => call("pow"),
        "schema" => call("database"),
        "session_user" | "system_user" => call("user"),
        "localtime" | "localtimestamp" | "current_timestamp" => call("now"),
        "curdate" => call("current_date_"),
        "current_date" => call("current_date_"),
        "curtime" | "current_time" => call("current_time_"),
        "day" => call("dayofmonth"),
        "date_add" | "adddate" | "date_sub" | "subdate" => {
            let sign = if name.ends_with("sub") || name.starts_with("sub") {
                "-"
            } else {
                ""
            };
            match args.args.as_slice() {
                [
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(date)),
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(by)),
                ] => {
                    let (n, unit) = interval(by).unwrap_or_else(|| (by.to_string(), "DAY".into()));
                    Ok(Some(raw(format!(
                        "tare_date_add({date}, {sign}({n}), '{unit}')"
                    ))))
                }
                _ => Err(SqlError::new(
                    1582,
                    format!("Incorrect parameter count in the call to native function '{name}'"),
                )),
            }
        }
        "timestampdiff" | "timestampadd" if texts.len() == 3 => Ok(Some(raw(format!(
            "{name}({}, {}, {})",
            literal(&texts[0].to_uppercase()),
            texts[1],
            texts[2]
        )))),
        "count" if args.duplicate_treatment.is_some() && texts.len() > 1 => {
            Err(SqlError::unsupported("COUNT(DISTINCT) of several columns"))
        }
        "group_concat" => Ok(Some(group_concat(args, &all))),
        "std" | "stddev" => call("stddev_pop"),
        "variance" => call("var_pop"),
        "json_length" => call("tare_json_length"),
        _ => Ok(None),
    }
}

/// Functions that are written without parentheses.
fn bare(name: &str) -> Option<Expr> {
    match name {
        "current_timestamp" | "localtime" | "localtimestamp" => Some(raw("now()")),
        "current_date" => Some(raw("current_date_()")),
        "current_time" => Some(raw("current_time_()")),
        "current_user" => Some(raw("current_user()")),
        _ => None,
    }
}

/// GROUP_CONCAT(DISTINCT a, b ORDER BY c SEPARATOR 'x').
fn group_concat(args: &sqlparser::ast::FunctionArgumentList, all: &str) -> Expr {
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
    let value = if args.args.len() == 1 {
        all.to_owned()
    } else {
        format!("concat_({all})")
    };
    if distinct && separator == "','" {
        // SQLite: DISTINCT aggregates take one argument; its separator is a comma then.
        raw(format!("group_concat(DISTINCT {value}{order})"))
    } else if distinct {
        raw(format!(
            "replace(group_concat(DISTINCT replace({value}, ',', char(31)){order}), ',', {separator})"
        ))
    } else {
        raw(format!("group_concat({value}, {separator}{order})"))
    }
}

/// The type of an expression that is no column, where its text tells.
pub fn type_of(expr: &Expr) -> Option<WireType> {
    match expr {
        Expr::Nested(inner) => type_of(inner),
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) if n.parse::<i64>().is_ok() => Some(WireType::bigint()),
            Value::Number(n, _) if n.parse::<u64>().is_ok() => Some(WireType::bigint_unsigned()),
            Value::Number(n, _) if !n.contains(['e', 'E']) => {
                let decimals = n.split_once('.').map_or(0, |(_, d)| d.len());
                Some(WireType::decimal(n.len() as u32, decimals as u8))
            }
            Value::Number(..) => Some(WireType::double()),
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => {
                Some(WireType::text(s.chars().count() as u32))
            }
            _ => None,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr,
        } => type_of(expr).map(|wire| match wire.code {
            ColumnType::MYSQL_TYPE_LONGLONG => WireType::bigint(),
            _ => wire,
        }),
        Expr::BinaryOp { op, left, right } => match op {
            BinaryOperator::Gt
            | BinaryOperator::Lt
            | BinaryOperator::GtEq
            | BinaryOperator::LtEq
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Xor
            | BinaryOperator::Spaceship => Some(WireType::bigint()),
            BinaryOperator::Divide => Some(WireType::decimal(21, 4)),
            BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply => {
                match (type_of(left)?, type_of(right)?) {
                    (a, b) if a.code == b.code && a.code == ColumnType::MYSQL_TYPE_LONGLONG => {
                        Some(a)
                    }
                    _ => None,
                }
            }
            _ => None,
        },
        Expr::Exists { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::Between { .. }
        | Expr::InList { .. } => Some(WireType::bigint()),
        Expr::Function(f) => of_function(&last_name(&f.name).to_ascii_lowercase()),
        _ => None,
    }
}

fn of_function(name: &str) -> Option<WireType> {
    Some(match name {
        "count" | "length" | "char_length" | "octet_length" | "character_length" | "row_count"
        | "found_rows" | "year" | "month" | "day" | "hour" | "minute" | "second" | "datediff"
        | "locate" | "instr" | "sleep" | "ascii" | "dayofweek" | "dayofyear" | "weekday"
        | "quarter" | "week" | "timestampdiff" | "isnull" | "strcmp" | "find_in_set" | "field"
        | "crc32" => WireType::bigint(),
        "connection_id" | "ps_current_thread_id" | "last_insert_id" | "uuid_short" => {
            WireType::bigint_unsigned()
        }
        "avg" => WireType::decimal(15, 4),
        "now" | "sysdate" | "current_timestamp" | "localtime" | "localtimestamp"
        | "from_unixtime" | "utc_timestamp" => {
            WireType::number(ColumnType::MYSQL_TYPE_DATETIME, 19)
        }
        "curdate" | "current_date" | "date" | "last_day" | "utc_date" => {
            WireType::number(ColumnType::MYSQL_TYPE_DATE, 10)
        }
        "curtime" | "current_time" | "timediff" | "sec_to_time" => {
            WireType::number(ColumnType::MYSQL_TYPE_TIME, 10)
        }
        "rand" | "pi" | "sqrt" | "exp" | "ln" | "log" | "sin" | "cos" | "tan" | "pow" | "power" => {
            WireType::double()
        }
        "concat" | "upper" | "lower" | "left" | "right" | "database" | "schema" | "user"
        | "current_user" | "version" | "replace" | "substring" | "substr" | "trim"
        | "date_format" | "hex" | "format" | "uuid" | "group_concat" | "concat_ws" | "md5"
        | "sha1" | "sha2" | "lpad" | "rpad" | "repeat" | "reverse" => WireType::text(255),
        _ => return None,
    })
}
