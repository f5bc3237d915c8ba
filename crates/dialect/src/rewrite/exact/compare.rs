//! Comparisons with exact numbers.

use sqlparser::ast::{Expr, Value};
use tare_mysql::decimal::Decimal;
use tare_mysql::number::Number;
use tare_mysql::wire::column::WireType;

use super::{Class, as_number};
use crate::node;
use crate::rewrite::argument::number_literally;
use crate::rewrite::operands::operands;
use crate::rewrite::rewriter::{Conversion, Rewriter};

fn as_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => Some(s),
            _ => None,
        },
        _ => None,
    }
}

impl Class {
    /// The class of an operand of arithmetic: a date or a time is the number of its digits.
    pub(super) fn of_number(t: Option<WireType>) -> Self {
        match (Self::of(t), t) {
            (Self::Moment, Some(t)) if t.decimals > 0 => Self::Decimal,
            (Self::Moment, _) => Self::Int,
            (class, _) => class,
        }
    }
}

impl Rewriter<'_> {
    /// Prepares the operands of a comparison with exact numbers. False: it is none.
    pub(in crate::rewrite) fn compare_exact(
        &mut self,
        expr: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) -> bool {
        let Some(mut operands) = operands(expr) else {
            return false;
        };
        let mut classes: Vec<Class> = operands.iter().map(|e| self.class(e)).collect();
        let has = |classes: &[Class], c: Class| classes.contains(&c);
        if !has(&classes, Class::Decimal) && !has(&classes, Class::Big)
            || has(&classes, Class::Moment)
        {
            return false;
        }
        let compares_decimals = has(&classes, Class::Decimal);
        for (i, (operand, class)) in operands.iter_mut().zip(&mut classes).enumerate() {
            if *class == Class::Text && number_literally(operand) {
                *class = self.class(operand);
            }
            // A literal text has the same digits as a number.
            if *class == Class::Text
                && let Some(text) = as_text(operand)
                && Number::of(text.as_bytes()).is_all()
            {
                **operand = node::digits(Decimal::prefix(text.as_bytes()).0.text());
                *class = self.class(operand);
            } else if *class == Class::Text && compares_decimals && as_text(operand).is_some() {
                later.push((i, Conversion::DecimalOfText));
                *class = Class::Decimal;
            }
        }
        let stored: Vec<bool> = operands
            .iter()
            .map(|e| self.names.column_of(e).is_some_and(|c| c.stored))
            .collect();
        let stored_decimal = |i: usize| stored[i] && classes[i] == Class::Decimal;
        if has(&classes, Class::Real) || has(&classes, Class::Text) {
            compare_as_doubles(&mut operands, &classes, later);
        } else if has(&classes, Class::Unknown) {
            let decimal = has(&classes, Class::Decimal);
            if decimal && !stored_decimal(0) && !(operands.len() == 2 && stored_decimal(1)) {
                compare_as_doubles(&mut operands, &classes, later);
            } else if !decimal {
                for (i, class) in classes.iter().enumerate() {
                    if *class == Class::Unknown {
                        later.push((i, Conversion::Read));
                    }
                }
            }
        } else if has(&classes, Class::Decimal) {
            // A stored DECIMAL has the collation, and its affinity makes literals texts.
            let brings = stored_decimal(0) || operands.len() == 2 && stored_decimal(1);
            for i in 0..operands.len() {
                let conversion = match (brings, i) {
                    // A column on the left has its own collation, even within a CAST.
                    (true, 0) if stored[0] && classes[0] != Class::Decimal => Conversion::Exact,
                    (true, _) if stored[i] && classes[i] != Class::Decimal => Conversion::Text,
                    (true, _) => continue,
                    (false, 0) => Conversion::Exact,
                    (false, _) => Conversion::Text,
                };
                later.push((i, conversion));
            }
        }
        true
    }
}

/// Converts operands, so that they compare as doubles.
fn compare_as_doubles(
    operands: &mut [&mut Expr],
    classes: &[Class],
    later: &mut Vec<(usize, Conversion)>,
) {
    for (i, (operand, class)) in operands.iter_mut().zip(classes).enumerate() {
        match class {
            Class::Decimal | Class::Big => match as_number(operand).map(|n| format!("{n}e0")) {
                Some(n) => **operand = node::digits(n),
                None => later.push((i, Conversion::Real)),
            },
            Class::Text => later.push((i, Conversion::Real)),
            Class::Unknown => later.push((i, Conversion::Number)),
            _ => {}
        }
    }
}
