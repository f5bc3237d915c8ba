//! Expressions: operators, literals, variables and casts as SQLite has them.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, DateTimeField, Expr, MemberOf, TrimWhereField,
    UnaryOperator, Value,
};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::is_system_schema;

use super::{Rewriter, literal, raw};
use crate::grammar::SOUNDS_LIKE;
use crate::name::last_name;
use crate::{function, near};

impl Rewriter<'_> {
    pub(super) fn expr(&mut self, expr: &mut Expr) -> Result<()> {
        match expr {
            Expr::Value(value) => {
                match &value.value {
                    Value::SingleQuotedString(s)
                    | Value::DoubleQuotedString(s)
                    | Value::NationalStringLiteral(s) => {
                        *expr = raw(literal(s));
                    }
                    Value::HexStringLiteral(hex) => {
                        let hex = if hex.len() % 2 == 1 {
                            format!("0{hex}")
                        } else {
                            hex.clone()
                        };
                        *expr = raw(format!("X'{hex}'"));
                    }
                    Value::SingleQuotedByteStringLiteral(bits) => {
                        let n = u64::from_str_radix(bits, 2).map_err(|_| near(bits))?;
                        *expr = raw(format!("({})", n as i64));
                    }
                    Value::Number(n, _) => {
                        // What fits no i64 but a u64 is kept as its bits.
                        if let Ok(n) = n.parse::<u64>()
                            && i64::try_from(n).is_err()
                        {
                            *expr = raw(format!("({})", n as i64));
                        }
                    }
                    _ => {}
                }
                Ok(())
            }
            Expr::Identifier(name) if name.quote_style.is_none() && name.value.starts_with('@') => {
                *expr = self.variable(&name.value, None)?;
                Ok(())
            }
            Expr::CompoundIdentifier(parts)
                if parts[0].quote_style.is_none() && parts[0].value.starts_with('@') =>
            {
                if !parts[0].value.starts_with("@@") {
                    // A user variable's name may have points: @sys.statement_truncate_len.
                    let name: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
                    *expr = self.variable(&name.join("."), None)?;
                    return Ok(());
                }
                let [scope, name] = parts.as_slice() else {
                    return Err(near(expr));
                };
                *expr = self.variable(&scope.value, Some(&name.value))?;
                Ok(())
            }
            Expr::CompoundIdentifier(parts)
                if parts.len() == 3 && is_system_schema(&parts[0].value) =>
            {
                // A view is a derived table, which is in no schema.
                if parts[0].value.eq_ignore_ascii_case("sys")
                    && self.names.schema.view(&parts[1].value).is_some()
                {
                    parts.remove(0);
                    return Ok(());
                }
                for part in parts {
                    part.value.make_ascii_lowercase();
                }
                Ok(())
            }
            Expr::BinaryOp { left, op, right } => {
                let of = |name: &str| raw(format!("{name}({left}, {right})"));
                let new = match op {
                    BinaryOperator::Divide => of("tare_div"),
                    BinaryOperator::MyIntegerDivide => of("tare_intdiv"),
                    BinaryOperator::Modulo => of("mod"),
                    BinaryOperator::Spaceship => raw(format!("({left} IS {right})")),
                    BinaryOperator::Custom(op) if op == SOUNDS_LIKE => {
                        raw(format!("(soundex({left}) = soundex({right}))"))
                    }
                    BinaryOperator::Xor => raw(format!(
                        "((tare_number({left}) <> 0) <> (tare_number({right}) <> 0))"
                    )),
                    BinaryOperator::BitwiseXor => of("tare_xor"),
                    BinaryOperator::PGBitwiseShiftLeft => raw(format!("({left} << {right})")),
                    BinaryOperator::PGBitwiseShiftRight => raw(format!("({left} >> {right})")),
                    BinaryOperator::StringConcat if self.mode.pipes_concat => of("concat"),
                    BinaryOperator::StringConcat => raw(format!("(({left}) OR ({right}))")),
                    BinaryOperator::Arrow => of("tare_json_extract"),
                    BinaryOperator::LongArrow => raw(format!(
                        "tare_json_unquote(tare_json_extract({left}, {right}))"
                    )),
                    BinaryOperator::Overlaps => raw(format!("(({left}) AND ({right}))")),
                    BinaryOperator::Regexp => of("tare_regexp"),
                    BinaryOperator::Assignment => {
                        let name = match left.as_ref() {
                            Expr::Value(_) => left.to_string(),
                            _ => return Err(near(":=")),
                        };
                        // `left` has been made tare_user_variable('x') already.
                        let name = name
                            .strip_prefix("tare_user_variable(")
                            .and_then(|n| n.strip_suffix(')'))
                            .ok_or_else(|| near(":="))?;
                        raw(format!("tare_set_variable({name}, {right})"))
                    }
                    BinaryOperator::Plus | BinaryOperator::Minus
                        if interval(left).is_some() || interval(right).is_some() =>
                    {
                        let minus = *op == BinaryOperator::Minus;
                        match (interval(left), interval(right)) {
                            (None, Some((n, unit))) => raw(format!(
                                "tare_date_add({left}, {}({n}), '{unit}')",
                                if minus { "-" } else { "" }
                            )),
                            (Some((n, unit)), None) if !minus => {
                                raw(format!("tare_date_add({right}, {n}, '{unit}')"))
                            }
                            _ => return Err(near("INTERVAL")),
                        }
                    }
                    BinaryOperator::Plus
                    | BinaryOperator::Minus
                    | BinaryOperator::Multiply
                    | BinaryOperator::Gt
                    | BinaryOperator::Lt
                    | BinaryOperator::GtEq
                    | BinaryOperator::LtEq
                    | BinaryOperator::Eq
                    | BinaryOperator::NotEq
                    | BinaryOperator::And
                    | BinaryOperator::Or
                    | BinaryOperator::BitwiseOr
                    | BinaryOperator::BitwiseAnd => return Ok(()),
                    other => return Err(near(other)),
                };
                *expr = new;
                Ok(())
            }
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr: inner,
            } => {
                let text = inner.to_string();
                if text == "(-9223372036854775808)" {
                    // The one number that has no positive.
                    *expr = raw(text);
                } else if !text.starts_with(|c: char| c.is_ascii_digit()) {
                    // `--` would begin a comment.
                    *expr = raw(format!("(-({text}))"));
                }
                Ok(())
            }
            Expr::UnaryOp {
                op: UnaryOperator::BangNot,
                expr: inner,
            } => {
                *expr = raw(format!("(NOT ({inner}))"));
                Ok(())
            }
            Expr::RLike {
                negated,
                expr: value,
                pattern,
                ..
            } => {
                let not = if *negated { "NOT " } else { "" };
                *expr = raw(format!("({not}tare_regexp({value}, {pattern}))"));
                Ok(())
            }
            Expr::Like {
                escape_char,
                pattern,
                expr: value,
                negated,
                ..
            } => {
                // MySQL's LIKE has `\` as its escape unless told otherwise.
                let escape = escape_char
                    .as_ref()
                    .map_or_else(|| "'\\'".to_owned(), ToString::to_string);
                let not = if *negated { "NOT " } else { "" };
                *expr = raw(format!("({value} {not}LIKE {pattern} ESCAPE {escape})"));
                Ok(())
            }
            Expr::IsTrue(e) => {
                *expr = raw(format!("(({e}) IS TRUE)"));
                Ok(())
            }
            Expr::IsUnknown(e) => {
                *expr = raw(format!("(({e}) IS NULL)"));
                Ok(())
            }
            Expr::IsNotUnknown(e) => {
                *expr = raw(format!("(({e}) IS NOT NULL)"));
                Ok(())
            }
            Expr::Cast {
                kind,
                expr: value,
                data_type,
                ..
            } => {
                if !matches!(kind, CastKind::Cast) {
                    return Err(near("::"));
                }
                *expr = cast(value, data_type);
                Ok(())
            }
            Expr::Convert {
                expr: value,
                data_type,
                charset,
                ..
            } => {
                *expr = match (data_type, charset) {
                    (Some(data_type), _) => cast(value, data_type),
                    (None, _) => raw(format!("CAST({value} AS TEXT)")),
                };
                Ok(())
            }
            Expr::Prefixed { prefix, value } => {
                let binary = prefix.value.eq_ignore_ascii_case("_binary");
                let value = value.to_string();
                *expr = raw(if binary && !value.starts_with("X'") {
                    format!("CAST({value} AS BLOB)")
                } else {
                    value
                });
                Ok(())
            }
            Expr::Collate {
                expr: value,
                collation,
            } => {
                let name = last_name(collation);
                let collation =
                    if name.ends_with("_bin") || name == "binary" || name.ends_with("_cs") {
                        "BINARY"
                    } else {
                        "NOCASE"
                    };
                *expr = raw(format!("({value} COLLATE {collation})"));
                Ok(())
            }
            Expr::Substring {
                expr: value,
                substring_from,
                substring_for,
                ..
            } => {
                if substring_from.is_none() && substring_for.is_none() {
                    return Err(near(")"));
                }
                let from = substring_from
                    .as_ref()
                    .map_or_else(|| "1".to_owned(), ToString::to_string);
                *expr = match substring_for {
                    Some(n) => raw(format!("tare_substr({value}, {from}, {n})")),
                    None => raw(format!("tare_substr({value}, {from})")),
                };
                Ok(())
            }
            Expr::Trim {
                trim_where,
                trim_what,
                expr: value,
                ..
            } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    _ => "trim",
                };
                let what = trim_what
                    .as_ref()
                    .map_or_else(|| "' '".to_owned(), ToString::to_string);
                *expr = raw(format!("tare_{name}({value}, {what})"));
                Ok(())
            }
            Expr::Position { expr: what, r#in } => {
                *expr = raw(format!("instr({in_}, {what})", in_ = r#in));
                Ok(())
            }
            Expr::Ceil { expr: e, .. } => {
                *expr = raw(format!("ceil({e})"));
                Ok(())
            }
            Expr::Floor { expr: e, .. } => {
                *expr = raw(format!("floor({e})"));
                Ok(())
            }
            Expr::Extract {
                field, expr: value, ..
            } => {
                *expr = raw(format!(
                    "tare_extract('{}', {value})",
                    field.to_string().to_uppercase()
                ));
                Ok(())
            }
            Expr::TypedString(typed) => {
                let text = typed.value.to_string();
                *expr = raw(text);
                Ok(())
            }
            Expr::AnyOp {
                left,
                compare_op,
                right,
                ..
            } => {
                *expr = some(left, compare_op, right, false)?;
                Ok(())
            }
            Expr::AllOp {
                left,
                compare_op,
                right,
            } => {
                *expr = some(left, compare_op, right, true)?;
                Ok(())
            }
            Expr::Function(f) => {
                if let Some(new) = self.routine(f)? {
                    *expr = new;
                    return Ok(());
                }
                let around = function::Around {
                    database: self.database,
                    exact: self.exact,
                    schema: &*self.names.schema,
                };
                let new = function::rewrite(f, around)?;
                if let Some(new) = new {
                    *expr = new;
                }
                Ok(())
            }
            Expr::MemberOf(MemberOf { value, array }) => {
                *expr = raw(format!("tare_member_of({value}, {array})"));
                Ok(())
            }
            Expr::MatchAgainst { .. } => Err(SqlError::unsupported("MATCH ... AGAINST")),
            _ => Ok(()),
        }
    }
}

/// `left op ANY (query)`, `left op ALL (query)`: the least or greatest of the query's rows decides.
fn some(left: &Expr, op: &BinaryOperator, query: &Expr, all: bool) -> Result<Expr> {
    let query = query.to_string();
    let query = query
        .strip_prefix('(')
        .and_then(|q| q.strip_suffix(')'))
        .unwrap_or(&query);
    let rows = format!("(SELECT NULL AS tare_c WHERE 0 UNION ALL SELECT * FROM ({query}))");
    let bound = match (op, all) {
        (BinaryOperator::Eq, false) => return Ok(raw(format!("({left} IN ({query}))"))),
        (BinaryOperator::NotEq, true) => return Ok(raw(format!("({left} NOT IN ({query}))"))),
        (BinaryOperator::Eq, true) => {
            return Ok(raw(format!(
                "(NOT EXISTS (SELECT 1 FROM {rows} WHERE tare_c IS NOT {left}))"
            )));
        }
        (BinaryOperator::NotEq, false) => {
            return Ok(raw(format!(
                "EXISTS (SELECT 1 FROM {rows} WHERE tare_c <> {left})"
            )));
        }
        (BinaryOperator::Gt | BinaryOperator::GtEq, false)
        | (BinaryOperator::Lt | BinaryOperator::LtEq, true) => "min",
        (BinaryOperator::Lt | BinaryOperator::LtEq, false)
        | (BinaryOperator::Gt | BinaryOperator::GtEq, true) => "max",
        (other, _) => return Err(near(other)),
    };
    let holds = format!("{left} {op} (SELECT {bound}(tare_c) FROM {rows})");
    let nulls = format!("(SELECT count(*) > count(tare_c) FROM {rows})");
    Ok(raw(if all {
        format!(
            "(CASE WHEN NOT EXISTS ({query}) THEN 1 WHEN NOT ({holds}) THEN 0 WHEN {nulls} THEN NULL ELSE {holds} END)"
        )
    } else {
        format!(
            "(CASE WHEN NOT EXISTS ({query}) THEN 0 WHEN {holds} THEN 1 WHEN {nulls} THEN NULL ELSE {holds} END)"
        )
    }))
}

/// Number and unit of an INTERVAL.
pub fn interval(expr: &Expr) -> Option<(String, String)> {
    let Expr::Interval(i) = expr else { return None };
    let value = &i.value;
    Some(match i.leading_field.as_ref()? {
        // A composite unit's text is read, as months or as microseconds.
        DateTimeField::Custom(unit) => {
            let simple = if unit.value == "YEAR_MONTH" {
                "MONTH"
            } else {
                "MICROSECOND"
            };
            let read = format!("tare_interval('{}', {value})", unit.value);
            (read, simple.into())
        }
        simple => (value.to_string(), simple.to_string().to_uppercase()),
    })
}

fn cast(value: &Expr, data_type: &DataType) -> Expr {
    use DataType::*;
    let text = match data_type {
        Signed | SignedInteger | Int(_) | Integer(_) | BigInt(_) | Unsigned | UnsignedInteger => {
            format!("tare_int({value})")
        }
        Decimal(info) | Numeric(info) | Dec(info) => {
            let scale = match info {
                sqlparser::ast::ExactNumberInfo::PrecisionAndScale(_, s) => *s,
                _ => 0,
            };
            format!("tare_round(tare_number({value}), {scale})")
        }
        Double(_) | DoublePrecision | Float(_) | Real => format!("tare_real({value})"),
        Date => format!("date({value})"),
        Datetime(digits) | Timestamp(digits, _) => {
            format!("tare_datetime({value}, {})", digits.unwrap_or(0))
        }
        Time(digits, _) => format!("tare_time({value}, {})", digits.unwrap_or(0)),
        Binary(_) | Varbinary(_) => format!("CAST({value} AS BLOB)"),
        Char(Some(sqlparser::ast::CharacterLength::IntegerLength { length, .. })) => {
            format!("tare_substr(CAST({value} AS TEXT), 1, {length})")
        }
        JSON => format!("tare_json({value})"),
        _ => format!("CAST({value} AS TEXT)"),
    };
    raw(text)
}

impl Rewriter<'_> {
    /// `@x`, `@@x`, `@@session.x`.
    fn variable(&self, first: &str, second: Option<&str>) -> Result<Expr> {
        if let Some(system) = first.strip_prefix("@@") {
            let (scope, name) = match second {
                Some(name) => (system.to_ascii_lowercase(), name),
                None => (String::new(), system),
            };
            if !matches!(scope.as_str(), "" | "global" | "session" | "local") {
                return Err(near(first));
            }
            let name = name.to_ascii_lowercase();
            if self.names.schema.variable(&name).is_none() {
                return Err(SqlError::unknown_variable(&name));
            }
            return Ok(raw(format!(
                "tare_variable({}, {})",
                literal(&scope),
                literal(&name)
            )));
        }
        if second.is_some() {
            return Err(near(first));
        }
        let name = first.trim_start_matches('@').to_lowercase();
        Ok(raw(format!("tare_user_variable({})", literal(&name))))
    }
}
