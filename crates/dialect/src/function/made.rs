//! Calls that take more than another name.

use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArgumentClause, Value};
use tare_mysql::error::{Result, SqlError};

use super::Call;
use crate::near;
use crate::rewrite::{interval, literal, raw};

/// The call as SQLite knows it; `None` when it stays as it is.
type Made = Result<Option<Expr>>;

fn text(sql: impl AsRef<str>) -> Made {
    Ok(Some(raw(sql.as_ref())))
}

/// DEFAULT and VALUES: the rewriter of INSERT knows them.
pub fn kept(_: &Call<'_>) -> Made {
    Ok(None)
}

/// TRIM: the second argument is what is taken away.
pub fn trim(call: &Call<'_>) -> Made {
    match call.texts.len() {
        1 => text(format!("tare_trim({}, ' ')", call.all())),
        _ => Ok(None),
    }
}

/// ATAN and ATAN2 are the same.
pub fn atan(call: &Call<'_>) -> Made {
    let name = if call.texts.len() == 2 {
        "atan2"
    } else {
        "atan"
    };
    text(format!("{name}({})", call.all()))
}

/// COALESCE: SQLite's takes two arguments at least.
pub fn coalesce(call: &Call<'_>) -> Made {
    match call.texts.as_slice() {
        [only] => text(format!("({only})")),
        _ => Ok(None),
    }
}

/// The last argument.
pub fn last(call: &Call<'_>) -> Made {
    text(format!("({})", call.text(call.texts.len() - 1)))
}

/// INSTR is LOCATE the other way round.
pub fn instr(call: &Call<'_>) -> Made {
    text(format!("locate({}, {})", call.text(1), call.text(0)))
}

/// DATE_ADD, ADDDATE.
pub fn date_add(call: &Call<'_>) -> Made {
    moved(call, "")
}

/// DATE_SUB, SUBDATE.
pub fn date_sub(call: &Call<'_>) -> Made {
    moved(call, "-")
}

fn moved(call: &Call<'_>, sign: &str) -> Made {
    let [
        FunctionArg::Unnamed(FunctionArgExpr::Expr(date)),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(by)),
    ] = call.args.args.as_slice()
    else {
        return Ok(None);
    };
    let (n, unit) = interval(by).unwrap_or_else(|| (by.to_string(), "DAY".into()));
    text(format!("tare_date_add({date}, {sign}({n}), '{unit}')"))
}

/// COUNT: a text counts once whatever its case.
pub fn count(call: &Call<'_>) -> Made {
    match call.texts.as_slice() {
        [] => Err(near(")")),
        [value] if call.distinct() && !call.is_column() => {
            text(format!("count(DISTINCT {value} COLLATE NOCASE)"))
        }
        [_] => Ok(None),
        _ if call.distinct() => text(format!(
            "count(DISTINCT tare_tuple({}) COLLATE NOCASE)",
            call.all()
        )),
        [_, second, ..] => Err(near(format!(", {second}"))),
    }
}

/// SUM, exact where SQLite's would stop.
pub fn sum(call: &Call<'_>) -> Made {
    if !call.around.exact {
        return Ok(None);
    }
    let distinct = if call.distinct() { "DISTINCT " } else { "" };
    text(format!("tare_sum({distinct}{})", call.all()))
}

/// CHARSET.
pub fn charset(call: &Call<'_>) -> Made {
    text(if is_binary(call.text(0)) {
        "'binary'"
    } else {
        "'utf8mb4'"
    })
}

/// COLLATION.
pub fn collation(call: &Call<'_>) -> Made {
    text(if is_binary(call.text(0)) {
        "'binary'"
    } else {
        "'utf8mb4_general_ci'"
    })
}

/// COERCIBILITY: 2 of a column, 4 of a literal.
pub fn coercibility(call: &Call<'_>) -> Made {
    text(if call.is_column() { "2" } else { "4" })
}

/// BENCHMARK: always 0, once the expression has been evaluated.
pub fn benchmark(call: &Call<'_>) -> Made {
    text(format!("iif(({}) IS NULL, 0, 0)", call.text(1)))
}

/// GROUPING has a meaning under WITH ROLLUP only, whose rewriter knows it.
pub fn grouping(_: &Call<'_>) -> Made {
    Err(SqlError::new(1111, "Invalid use of group function"))
}

fn is_binary(text: &str) -> bool {
    text.starts_with("X'") || text.starts_with("CAST(") && text.ends_with("AS BLOB)")
}

/// GROUP_CONCAT(DISTINCT a, b ORDER BY c SEPARATOR 'x').
pub fn group_concat(call: &Call<'_>) -> Made {
    let (args, texts) = (call.args, call.texts.as_slice());
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
    let value = if texts.len() == 1 {
        texts[0].clone()
    } else {
        format!("concat_({})", texts.join(", "))
    };
    Ok(Some(if call.distinct() {
        // SQLite: DISTINCT aggregates take one argument; its separator is a comma then.
        let value = if call.is_column() && texts.len() == 1 {
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
    }))
}
