//! ENUM and SET: texts, and numbers in arithmetic, comparisons with numbers, and sorts.

use sqlparser::ast::{
    BinaryOperator, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    UnaryOperator, Value,
};

use super::exact::Class;
use super::rewriter::Rewriter;
use crate::function::{Parameter, name_of, parameter};
use crate::node::{self, MEMBER_MARK};
use crate::types;

impl Rewriter<'_> {
    /// Marks the columns whose numbers an expression uses, before its parts are rewritten.
    pub(super) fn number_members(&mut self, expr: &mut Expr) {
        use BinaryOperator::*;
        match expr {
            Expr::BinaryOp {
                left,
                op:
                    Plus | Minus | Multiply | Divide | Modulo | MyIntegerDivide | BitwiseAnd | BitwiseOr
                    | BitwiseXor | PGBitwiseShiftLeft | PGBitwiseShiftRight | And | Or | Xor,
                right,
            } => {
                self.number_of(left);
                self.number_of(right);
            }
            Expr::UnaryOp {
                op:
                    UnaryOperator::Minus
                    | UnaryOperator::BitwiseNot
                    | UnaryOperator::Not
                    | UnaryOperator::BangNot,
                expr,
            }
            | Expr::IsTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsNotFalse(expr) => self.number_of(expr),
            Expr::BinaryOp {
                left,
                op: Eq | NotEq | Lt | LtEq | Gt | GtEq | Spaceship,
                right,
            } => {
                if self.is_numeric(right) {
                    self.number_of(left);
                } else if self.is_numeric(left) {
                    self.number_of(right);
                }
            }
            Expr::Between {
                expr, low, high, ..
            } if self.is_numeric(low) && self.is_numeric(high) => self.number_of(expr),
            Expr::InList { expr, list, .. } => {
                let null = |e: &Expr| matches!(e, Expr::Value(v) if v.value == Value::Null);
                let mut values = list.iter().filter(|e| !null(e)).peekable();
                if values.peek().is_some() && values.all(|e| self.is_numeric(e)) {
                    self.number_of(expr);
                }
            }
            Expr::Cast {
                expr,
                data_type:
                    DataType::Signed
                    | DataType::SignedInteger
                    | DataType::Unsigned
                    | DataType::UnsignedInteger
                    | DataType::Decimal(_),
                ..
            } => self.number_of(expr),
            Expr::Function(f) => {
                let name = name_of(f);
                let FunctionArguments::List(list) = &mut f.args else {
                    return;
                };
                for (n, argument) in list.args.iter_mut().enumerate() {
                    let reads_number = matches!(
                        parameter(&name, n),
                        Parameter::Number | Parameter::Integer | Parameter::Bits
                    );
                    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument
                        && reads_number
                    {
                        self.number_of(e);
                    }
                }
            }
            _ => {}
        }
    }

    fn is_numeric(&mut self, expr: &Expr) -> bool {
        matches!(
            Class::of(types::of(expr, &mut self.names)),
            Class::Int | Class::Big | Class::Decimal | Class::Real
        )
    }

    /// Marks a column of an ENUM or a SET whose number is used.
    pub(super) fn number_of(&self, expr: &mut Expr) {
        if self
            .names
            .column_of(expr)
            .is_some_and(|c| c.members.is_some())
        {
            node::replace(expr, |column| Expr::Prefixed {
                prefix: Ident::new(MEMBER_MARK),
                value: Box::new(column),
            });
        }
    }

    /// The number of a column that has been marked.
    pub(super) fn member(&self, column: Expr) -> Expr {
        let Some(members) = self
            .names
            .column_of(&column)
            .and_then(|c| c.members.clone())
        else {
            return column;
        };
        let name = if members.is_set {
            "tare_members"
        } else {
            "tare_member"
        };
        let mut all = vec![column];
        all.extend(members.names.iter().map(|m| node::text(m)));
        node::call(name, all)
    }
}
