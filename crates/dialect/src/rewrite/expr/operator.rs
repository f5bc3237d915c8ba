//! Operators.

use crate::error::{Result, near};
use sqlparser::ast::{BinaryOperator, Expr, Value};

use super::{interval, negative_number};
use crate::grammar::SOUNDS_LIKE;
use crate::node::{self, binary, call, nested};
use crate::rewrite::Rewriter;

impl Rewriter<'_> {
    /// `left op right`.
    pub(super) fn operation(
        &mut self,
        left: Expr,
        op: BinaryOperator,
        right: Expr,
    ) -> Result<Expr> {
        let of = |name: &str, left, right| call(name, vec![left, right]);
        Ok(match op {
            BinaryOperator::Divide => call("tare_div", vec![left, right, self.zero()]),
            BinaryOperator::MyIntegerDivide => call("tare_intdiv", vec![left, right, self.zero()]),
            BinaryOperator::Modulo => call("tare_mod", vec![left, right, self.zero()]),
            BinaryOperator::BitwiseXor => of("tare_xor", left, right),
            BinaryOperator::StringConcat if self.mode.pipes_concat => of("concat", left, right),
            BinaryOperator::Arrow => of("tare_json_extract", left, right),
            BinaryOperator::LongArrow => call(
                "tare_json_unquote",
                vec![of("tare_json_extract", left, right)],
            ),
            BinaryOperator::Regexp => of("tare_regexp", left, right),
            BinaryOperator::Spaceship => nested(node::is(left, number_of_truth(right))),
            BinaryOperator::Custom(op) if op == SOUNDS_LIKE => {
                let code = |e| call("soundex", vec![e]);
                nested(binary(code(left), BinaryOperator::Eq, code(right)))
            }
            BinaryOperator::Xor => nested(binary(truth(left), BinaryOperator::NotEq, truth(right))),
            BinaryOperator::StringConcat => {
                nested(binary(nested(left), BinaryOperator::Or, nested(right)))
            }
            BinaryOperator::Overlaps => {
                nested(binary(nested(left), BinaryOperator::And, nested(right)))
            }
            op @ (BinaryOperator::PGBitwiseShiftLeft | BinaryOperator::PGBitwiseShiftRight) => {
                nested(binary(left, op, right))
            }
            BinaryOperator::Assignment => match node::user_variable_name(&left) {
                Some(name) => {
                    self.variables_set += 1;
                    let is_number = self.assigns_numbers.pop().unwrap_or_default();
                    let is_number = node::number(is_number.into());
                    call("tare_set_variable", vec![name.clone(), right, is_number])
                }
                None => return Err(near(":=")),
            },
            op @ (BinaryOperator::Plus | BinaryOperator::Minus)
                if matches!(left, Expr::Interval(_)) || matches!(right, Expr::Interval(_)) =>
            {
                moved(left, op == BinaryOperator::Minus, right)?
            }
            op @ (BinaryOperator::Plus
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
            | BinaryOperator::BitwiseAnd) => binary(left, op, right),
            other => return Err(near(other)),
        })
    }
}

impl Rewriter<'_> {
    /// Whether a division by zero is an error, as an argument.
    fn zero(&self) -> Expr {
        node::number(self.refuses_zero().into())
    }
}

/// TRUE and FALSE as numbers: `x IS TRUE` is another operator.
fn number_of_truth(expr: Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => nested(number_of_truth(*inner)),
        Expr::Value(v) => match v.value {
            Value::Boolean(yes) => node::number(yes.into()),
            value => Expr::value(value),
        },
        other => other,
    }
}

/// Whether a value is true, as 0 or 1.
fn truth(expr: Expr) -> Expr {
    let number = call("tare_number", vec![expr]);
    nested(binary(number, BinaryOperator::NotEq, node::number(0)))
}

/// A date plus an INTERVAL, or a date minus one.
fn moved(left: Expr, minus: bool, right: Expr) -> Result<Expr> {
    let (date, by) = match (left, right) {
        (Expr::Interval(_), Expr::Interval(_)) => return Err(near("INTERVAL")),
        (date, Expr::Interval(by)) => (date, by),
        (Expr::Interval(by), date) if !minus => (date, by),
        _ => return Err(near("INTERVAL")),
    };
    let (number, unit) = interval(by).ok_or_else(|| near("INTERVAL"))?;
    let number = if minus {
        negative_number(number)
    } else {
        nested(number)
    };
    Ok(call("tare_date_add", vec![date, number, node::text(&unit)]))
}

/// `-expr`. `--` begins a comment, so only a plain number has no parentheses.
pub(super) fn minus(expr: Expr) -> Expr {
    if expr == node::bits(1 << 63) {
        // The only number without a positive counterpart.
        return expr;
    }
    let plain = matches!(&expr, Expr::Value(v)
        if matches!(&v.value, Value::Number(n, _) if n.starts_with(|c: char| c.is_ascii_digit())));
    if plain {
        node::negative(expr)
    } else {
        nested(node::negative(nested(expr)))
    }
}
