//! How an expression of exact numbers is rewritten, after its parts.

use sqlparser::ast::{DataType, Expr, FunctionArguments, Ident, ObjectName};

use crate::function::arguments;
use crate::node::{self, call, nested, number};
use crate::rewrite::like::Like;

/// The collation of exact numbers.
const COLLATION: &str = "tare_decimal";

/// How an expression is rewritten.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(super) call: Option<Call>,
    pub(super) wrap: Wrap,
}

/// The function of ours that replaces an operator or a function.
#[derive(Debug)]
pub(super) enum Call {
    /// A function of two operands.
    Two(&'static str),
    /// A function of two operands and a flag.
    Flagged(&'static str, bool),
    /// A division: whether a divisor of 0 is an error, and whether the result is unsigned.
    Divided(&'static str, bool, bool),
    /// A function of an operator and two operands.
    Bits(&'static str),
    /// The same, of bytes.
    ByteBits(&'static str),
    /// A function of one operand.
    One(&'static str),
    /// A function with the same arguments.
    Named(&'static str),
    /// A CAST: the arguments after the operand.
    Cast(&'static str, Vec<i64>),
    /// A literal.
    Literal(Box<Expr>),
    /// LIKE.
    Like(Like),
    /// COUNT(DISTINCT number).
    CountDistinct,
}

/// How the result is marked as exact.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrap {
    #[default]
    None,
    /// By the collation.
    Collate,
    /// As a text, with the collation: it may be an integer.
    Text,
    /// As a JSON document.
    Document,
    /// The result is a double, and may be a DECIMAL's text.
    Real,
    /// The result is a time, or a date and time, with so many digits behind the second.
    Fraction(u8),
}

/// A text with the collation of exact numbers.
pub(crate) fn exact_text(expr: Expr) -> Expr {
    nested(node::collate(node::cast(expr, DataType::Text), COLLATION))
}

/// A JSON document with the collation of documents.
pub(crate) fn document(expr: Expr) -> Expr {
    nested(node::collate(expr, "tare_json"))
}

/// The operands of an operator or the arguments of a function.
fn operands(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::BinaryOp { left, right, .. } => vec![*left, *right],
        Expr::UnaryOp { expr, .. } | Expr::Cast { expr, .. } | Expr::Convert { expr, .. } => {
            vec![*expr]
        }
        Expr::Function(f) => arguments(&f).into_iter().cloned().collect(),
        _ => Vec::new(),
    }
}

impl Plan {
    /// Replaces an expression by the planned call. False: no call is planned.
    pub(crate) fn call(&self, expr: &mut Expr) -> bool {
        let Some(target) = &self.call else {
            return false;
        };
        let flag = |yes: &bool| number((*yes).into());
        node::replace(expr, |expr| {
            let (name, rest) = match target {
                Call::Literal(literal) => return literal.as_ref().clone(),
                Call::Named(name) => return named(name, expr),
                Call::Like(like) => return like.written(expr),
                Call::CountDistinct => {
                    return node::aggregate("count", true, operands(expr), Vec::new());
                }
                Call::Bits(op) | Call::ByteBits(op) => {
                    let mut all = vec![node::text(op)];
                    all.extend(operands(expr));
                    all.resize(3, number(0));
                    let of_bytes = matches!(target, Call::ByteBits(_));
                    return call(
                        if of_bytes {
                            "tare_byte_bits"
                        } else {
                            "tare_bits"
                        },
                        all,
                    );
                }
                Call::Two(name) | Call::One(name) => (name, Vec::new()),
                Call::Flagged(name, yes) => (name, vec![flag(yes)]),
                Call::Divided(name, refuses, unsigned) => {
                    (name, vec![flag(refuses), flag(unsigned)])
                }
                Call::Cast(name, rest) => (name, rest.iter().map(|n| number(*n)).collect()),
            };
            let mut all = operands(expr);
            all.extend(rest);
            call(name, all)
        });
        true
    }

    /// Marks the result as exact.
    pub(crate) fn wrap(&self, expr: &mut Expr) {
        let wrap = self.wrap;
        if wrap == Wrap::None {
            return;
        }
        node::replace(expr, |expr| match wrap {
            Wrap::Collate | Wrap::None => nested(node::collate(expr, COLLATION)),
            Wrap::Text => exact_text(expr),
            Wrap::Document => document(expr),
            Wrap::Real => call("tare_real", vec![expr]),
            Wrap::Fraction(digits) => call("tare_fraction", vec![expr, number(digits.into())]),
        });
    }
}

/// A call of the same arguments, under another name.
fn named(name: &str, expr: Expr) -> Expr {
    match expr {
        Expr::Function(mut f) => {
            f.name = ObjectName::from(vec![Ident::new(name)]);
            if matches!(f.args, FunctionArguments::None) {
                return call(name, Vec::new());
            }
            Expr::Function(f)
        }
        other => other,
    }
}
