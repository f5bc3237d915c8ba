//! Splits `a IN (b, c)` and `CASE a WHEN b WHEN c` into `a = b` and `a = c`, and BETWEEN into two comparisons, if the
//! kinds are mixed.

use mysql_common::constants::ColumnType;
use sqlparser::ast::{BinaryOperator, Expr, Value};
use tare_mysql::date::argument::Parts;
use tare_mysql::date::read::date_parts;
use tare_mysql::wire::column::WireType;

use super::Rewriter;
use super::change::is_certain;
use super::compare::Side;
use super::moment::literal_of;
use super::operands::operands;
use crate::error::{Error, Result};
use crate::function::{arguments, name_of};
use crate::{node, types, walk};

fn is_time(t: &WireType) -> bool {
    t.code == ColumnType::MYSQL_TYPE_TIME
}

/// Nodes of an expression that may be written once for each pair.
const MAX_REPEATED_NODES: usize = 16;

impl Rewriter<'_> {
    /// Writes the pairs of a text with texts and numbers: MySQL compares each in its own way, and SQLite all
    /// alike.
    pub(super) fn pairs(&mut self, expr: &mut Expr) -> Result<()> {
        self.split_nullif(expr);
        if !matches!(
            expr,
            Expr::Case { .. } | Expr::InList { .. } | Expr::Between { .. }
        ) {
            return Ok(());
        }
        let is_between = matches!(expr, Expr::Between { .. });
        let Some(all) = operands(expr) else {
            return Ok(());
        };
        let [first, others @ ..] = &all[..] else {
            return Ok(());
        };
        let is_text_literal = |e: &Expr| literal_of(e).is_some();
        if is_text_literal(first) && others.iter().any(|e| self.side(e).is(types::is_temporal))
            || !self.has_mixed_kinds(first, others, is_between)
        {
            return Ok(());
        }
        if !self.may_repeat(first) {
            return Err(Error::unsupported(
                "to compare such an expression with texts and numbers",
            ));
        }
        write(expr);
        Ok(())
    }

    /// Whether the values that one is compared with are of kinds that need several ways to compare.
    fn has_mixed_kinds(&mut self, first: &Expr, others: &[&mut Expr], is_between: bool) -> bool {
        let first = self.side(first);
        let sides: Vec<Side> = others.iter().map(|e| self.side(e)).collect();
        let has = |kind: fn(&WireType) -> bool| sides.iter().any(|side| side.is(kind));
        let has_moment = first.is(types::is_temporal) || has(types::is_temporal);
        if has_moment {
            let is_number = |side: &Side| side.is(types::is_number);
            let has_number = is_number(&first) || sides.iter().any(is_number);
            // A text that is no date is an error in a comparison of two operands only.
            if is_between && has_number || !self.are_dates(others) {
                return false;
            }
            // A literal has the format of the other operand's type.
            let is_literal = |(e, side): (&&mut Expr, &Side)| {
                matches!(e, Expr::Value(_))
                    && (side.is(types::is_text) || side.is(types::is_number))
            };
            let are_alike = |side: &Side| side.is(is_time) == first.is(is_time);
            let is_other = |side: &Side| side.is(types::is_number) || side.is(types::is_text);
            let mut both = others.iter().zip(&sides);
            return match first.is(types::is_temporal) {
                true => both.any(|(e, side)| match side.is(types::is_temporal) {
                    true => !are_alike(side),
                    false => is_other(side) && !is_literal((e, side)),
                }),
                false => is_other(&first),
            };
        }
        if is_between {
            return false;
        }
        if first.is(types::is_text) {
            return has(types::is_number) && has(types::is_text);
        }
        // The digits of a text that is a number are those of the number.
        let is_no_number = |e: &&mut Expr| match e {
            Expr::Value(v) => match &v.value {
                Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => {
                    s.trim().parse::<f64>().is_err()
                }
                _ => false,
            },
            _ => false,
        };
        first.is(types::is_number) && others.len() > 1 && others.iter().any(is_no_number)
    }

    /// Whether all literal texts are dates that the mode allows.
    fn are_dates(&self, all: &[&mut Expr]) -> bool {
        all.iter().all(|e| {
            literal_of(e).is_none_or(|text| {
                let read = date_parts(&text).or_else(|| Parts::of_text(&text));
                read.is_some_and(|parts| self.mode.dates.allows(&parts))
            })
        })
    }

    /// Writes NULLIF of a number and a text, or of a document and anything else, as CASE: the values are converted to
    /// be compared, and the first is the result.
    fn split_nullif(&mut self, expr: &mut Expr) {
        let Expr::Function(f) = &*expr else { return };
        let [first, second] = arguments(f)[..] else {
            return;
        };
        if name_of(f) != "nullif" || !self.may_repeat(first) {
            return;
        }
        let (a, b) = (self.side(first), self.side(second));
        let is_mixed = |a: &Side, b: &Side| {
            a.is(types::is_number) && b.is(types::is_text)
                || a.is(types::is_temporal)
                    && b.wire().is_some_and(|t| {
                        a.wire()
                            .is_none_or(|a| (a.code, a.decimals) != (t.code, t.decimals))
                    })
        };
        if is_mixed(&a, &b) || is_mixed(&b, &a) || a.is(types::is_json) || b.is(types::is_json) {
            let equal = node::binary(
                operand(first.clone()),
                BinaryOperator::Eq,
                operand(second.clone()),
            );
            *expr = node::nested(node::case(vec![(equal, node::null())], first.clone()));
        }
    }

    /// Whether an expression may be written several times: its value is the same each time, and its SQLite text
    /// is longer than its own text by a constant factor at most.
    fn may_repeat(&self, expr: &Expr) -> bool {
        let (mut parts, mut grows) = (0, false);
        walk::expressions(expr, &mut |e| {
            parts += 1;
            grows |= matches!(e, Expr::Case { .. } | Expr::InList { .. });
        });
        parts <= MAX_REPEATED_NODES && !grows && is_certain(&*self.names.schema, expr)
    }
}

/// An operand of an operator. A literal and a name have no parentheses.
fn operand(expr: Expr) -> Expr {
    match expr {
        Expr::Value(_) | Expr::Identifier(_) | Expr::CompoundIdentifier(_) => expr,
        other => node::nested(other),
    }
}

/// Writes the pairs.
fn write(expr: &mut Expr) {
    let equal = |a: &Expr, b: &mut Expr| {
        let b = operand(node::take(b));
        node::binary(operand(a.clone()), BinaryOperator::Eq, b)
    };
    match expr {
        Expr::Case {
            operand,
            conditions,
            ..
        } => {
            if let Some(operand) = operand.take() {
                for when in conditions {
                    when.condition = equal(&operand, &mut when.condition);
                }
            }
        }
        Expr::InList {
            expr: first,
            list,
            negated,
        } => {
            let pairs = list.iter_mut().map(|e| equal(first, e));
            let any = pairs.reduce(|all, one| node::binary(all, BinaryOperator::Or, one));
            let negated = *negated;
            if let Some(any) = any {
                *expr = node::nested(node::negated(negated, node::nested(any)));
            }
        }
        Expr::Between {
            expr: first,
            negated,
            low,
            high,
        } => {
            let bound = |op, bound: &mut Expr| {
                let first = operand(first.as_ref().clone());
                node::binary(first, op, operand(node::take(bound)))
            };
            let low = bound(BinaryOperator::GtEq, low);
            let high = bound(BinaryOperator::LtEq, high);
            let both = node::binary(low, BinaryOperator::And, high);
            *expr = node::nested(node::negated(*negated, node::nested(both)));
        }
        _ => {}
    }
}
