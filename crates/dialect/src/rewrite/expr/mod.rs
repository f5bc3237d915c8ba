//! Expressions: operators, literals, variables and casts as SQLite has them.

mod cast;
mod operator;
mod subquery;
mod variable;

use crate::error::{Error, Result, near};
use sqlparser::ast::{
    DateTimeField, Expr, Interval, MemberOf, TrimWhereField, UnaryOperator, Value, ValueWithSpan,
};
use tare_mysql::charset;
use tare_mysql::schema::is_system_schema;

use self::cast::{cast, converted_charset};
use self::operator::minus;
use super::assign::assigned_values::ASSIGNED_MARK;
use super::exact::number_literal;
use super::zoned::RAW_MARK;
use super::{Rewriter, moment};
use crate::function;
use crate::name::last_name;
use crate::node::{self, call, nested};

impl Rewriter<'_> {
    /// An expression whose parts have been rewritten, as SQLite has it.
    pub(super) fn expr(&mut self, expr: Expr) -> Result<Expr> {
        if self.raw == 0 && self.is_zoned(&expr) {
            let column = match expr {
                Expr::CompoundIdentifier(parts) => self.compound(parts)?,
                other => other,
            };
            return Ok(call("tare_local", vec![column]));
        }
        Ok(match expr {
            Expr::Value(value) => literal(value)?,
            Expr::Identifier(name) if name.quote_style.is_none() && name.value.starts_with('@') => {
                self.variable(&name.value, None)?
            }
            Expr::CompoundIdentifier(parts) => self.compound(parts)?,
            Expr::BinaryOp { left, op, right } => self.operation(*left, op, *right)?,
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => minus(*expr),
            Expr::UnaryOp {
                op: UnaryOperator::BangNot,
                expr,
            } => nested(node::not(nested(*expr))),
            Expr::RLike {
                negated,
                expr,
                pattern,
                ..
            } => nested(node::negated(
                negated,
                call("tare_regexp", vec![*expr, *pattern]),
            )),
            Expr::IsTrue(expr) => nested(Expr::IsTrue(Box::new(nested(*expr)))),
            Expr::IsUnknown(expr) => nested(Expr::IsNull(Box::new(nested(*expr)))),
            Expr::IsNotUnknown(expr) => nested(Expr::IsNotNull(Box::new(nested(*expr)))),
            Expr::AnyOp {
                left,
                compare_op,
                right,
                ..
            } => subquery::any(*left, compare_op, *right)?,
            Expr::AllOp {
                left,
                compare_op,
                right,
            } => subquery::all(*left, compare_op, *right)?,
            Expr::MemberOf(MemberOf { value, array }) => {
                call("tare_member_of", vec![*value, *array])
            }
            Expr::MatchAgainst { .. } => return Err(Error::unsupported("MATCH ... AGAINST")),
            Expr::Function(mut call) => match self.routine(&mut call)? {
                Some(routine) => routine,
                None => function::rewrite(
                    call,
                    function::CallContext {
                        database: self.database,
                        exact: self.exact,
                        schema: &*self.names.schema,
                        series: self.mode.series,
                    },
                )?,
            },
            Expr::Prefixed { prefix, value } if prefix.value == node::MEMBER_MARK => {
                self.member(*value)
            }
            Expr::Prefixed { prefix, value } if prefix.value == RAW_MARK => *value,
            Expr::Prefixed { prefix, value } if prefix.value == ASSIGNED_MARK => {
                let zoned = self.is_zoned(&value);
                let column = match value.as_ref() {
                    Expr::CompoundIdentifier(parts) => parts.last(),
                    Expr::Identifier(name) => Some(name),
                    _ => None,
                };
                let given = column.and_then(|name| self.assigned.value(&name.value));
                let given = nested(given.ok_or_else(|| near(ASSIGNED_MARK))?.clone());
                match zoned {
                    true => call("tare_local", vec![given]),
                    false => given,
                }
            }
            Expr::TypedString(typed) => moment::typed_literal(&typed, self.mode.dates)?,
            other => conversion(other)?,
        })
    }

    /// A name of several parts.
    fn compound(&self, mut parts: Vec<sqlparser::ast::Ident>) -> Result<Expr> {
        if parts[0].quote_style.is_none() && parts[0].value.starts_with('@') {
            if !parts[0].value.starts_with("@@") {
                // A user variable's name may have points: @sys.statement_truncate_len.
                let name: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
                return self.variable(&name.join("."), None);
            }
            return match parts.as_slice() {
                [scope, name] => self.variable(&scope.value, Some(&name.value)),
                _ => Err(near(Expr::CompoundIdentifier(parts))),
            };
        }
        if parts.len() == 3 && is_system_schema(&parts[0].value) {
            // A view is a derived table, which is in no schema.
            if parts[0].value.eq_ignore_ascii_case("sys")
                && self.names.schema.view(&parts[1].value).is_some()
            {
                parts.remove(0);
            } else {
                for part in &mut parts {
                    part.value.make_ascii_lowercase();
                }
            }
        }
        Ok(Expr::CompoundIdentifier(parts))
    }
}

/// Functions that have a grammar of their own, and casts.
fn conversion(expr: Expr) -> Result<Expr> {
    Ok(match expr {
        Expr::Cast {
            kind,
            expr,
            data_type,
            ..
        } => {
            if kind != sqlparser::ast::CastKind::Cast {
                return Err(near("::"));
            }
            cast(*expr, &data_type)
        }
        Expr::Convert {
            expr,
            data_type,
            charset,
            ..
        } => match (data_type, charset) {
            (None, Some(charset)) => converted_charset(*expr, &charset)?,
            (data_type, _) => cast(*expr, &data_type.unwrap_or(sqlparser::ast::DataType::Text)),
        },
        Expr::Prefixed { prefix, value } => {
            let binary = prefix.value.eq_ignore_ascii_case("_binary");
            if binary && !node::is_bytes(&value) {
                node::cast(*value, sqlparser::ast::DataType::Blob(None))
            } else {
                *value
            }
        }
        Expr::Collate { expr, collation } => {
            let name = match charset::compares_bytes(&last_name(&collation)) {
                true => "BINARY",
                false => "NOCASE",
            };
            nested(node::collate(*expr, name))
        }
        Expr::Substring {
            expr,
            substring_from,
            substring_for,
            ..
        } => {
            if substring_from.is_none() && substring_for.is_none() {
                return Err(near(")"));
            }
            let from = substring_from.map_or_else(|| node::number(1), |from| *from);
            let mut arguments = vec![*expr, from];
            arguments.extend(substring_for.map(|n| *n));
            call("tare_substr", arguments)
        }
        Expr::Trim {
            trim_where,
            trim_what,
            expr,
            ..
        } => {
            let name = match trim_where {
                Some(TrimWhereField::Leading) => "tare_ltrim",
                Some(TrimWhereField::Trailing) => "tare_rtrim",
                _ => "tare_trim",
            };
            let what = trim_what.map_or_else(|| node::text(" "), |what| *what);
            call(name, vec![*expr, what])
        }
        Expr::Position { expr, r#in } => call("instr", vec![*r#in, *expr]),
        Expr::Ceil { expr, .. } => call("ceil", vec![*expr]),
        Expr::Floor { expr, .. } => call("floor", vec![*expr]),
        Expr::Extract { field, expr, .. } => {
            let field = field.to_string().to_uppercase();
            call("tare_extract", vec![node::text(&field), *expr])
        }
        other => other,
    })
}

fn literal(value: ValueWithSpan) -> Result<Expr> {
    Ok(match &value.value {
        Value::SingleQuotedString(s)
        | Value::DoubleQuotedString(s)
        | Value::NationalStringLiteral(s) => node::text(s),
        Value::HexStringLiteral(hex) if hex.len() % 2 == 1 => node::bytes(format!("0{hex}")),
        Value::Number(n, _) => number_literal(n).unwrap_or(Expr::Value(value)),
        _ => Expr::Value(value),
    })
}

/// The number of an INTERVAL that is subtracted.
pub fn negative_number(number: Expr) -> Expr {
    node::negative(call("tare_real", vec![number]))
}

/// Number and unit of an INTERVAL.
pub fn interval(interval: Interval) -> Option<(Expr, String)> {
    Some(match interval.leading_field? {
        // A composite unit's text is read, as months or as microseconds.
        DateTimeField::Custom(unit) => {
            let simple = match unit.value.as_str() {
                "YEAR_MONTH" => "MONTH",
                _ => "MICROSECOND",
            };
            let number = call(
                "tare_interval",
                vec![node::text(&unit.value), *interval.value],
            );
            (number, simple.into())
        }
        simple => (*interval.value, simple.to_string().to_uppercase()),
    })
}
