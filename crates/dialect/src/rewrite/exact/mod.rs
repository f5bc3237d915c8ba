//! Exact numbers. SQLite has integers of 64 bits with a sign, and doubles. DECIMALs, and integers
//! beyond, are texts with the collation of exact numbers (docs/types.md): where the types say that
//! operands are exact, functions compute with them, and comparisons compare them as such texts.

pub(super) mod compare;
mod document;
pub(super) mod plan;

use mysql_common::constants::ColumnType;
use sqlparser::ast::{
    BinaryOperator, CastKind, CharacterLength, DataType, DuplicateTreatment, Expr, FunctionArg,
    FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};
use tare_mysql::decimal::Decimal;
use tare_mysql::wire::column::WireType;

use self::plan::{Call, Plan, Wrap};
use super::rewriter::Rewriter;
use crate::function::{arguments, name_of};
use crate::{node, types};

/// The class of a value in arithmetic and comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A signed integer of 64 bits.
    Int,
    /// BIGINT UNSIGNED.
    Big,
    Decimal,
    Real,
    Text,
    /// A date or a time.
    Moment,
    Null,
    Unknown,
}

impl Class {
    pub(super) fn of(t: Option<WireType>) -> Self {
        use ColumnType::*;
        let Some(t) = t else { return Self::Unknown };
        match t.code {
            MYSQL_TYPE_NULL => Self::Null,
            MYSQL_TYPE_NEWDECIMAL => Self::Decimal,
            MYSQL_TYPE_LONGLONG if t.is_unsigned() => Self::Big,
            _ if types::is_temporal(&t) => Self::Moment,
            MYSQL_TYPE_DOUBLE | MYSQL_TYPE_FLOAT => Self::Real,
            _ if types::is_number(&t) => Self::Int,
            _ => Self::Text,
        }
    }

    fn is_exact(self) -> bool {
        matches!(self, Self::Int | Self::Big | Self::Decimal | Self::Null)
    }
}

/// A DECIMAL, or an integer beyond 64 bits with a sign, as a literal of SQLite's.
pub(super) fn number_literal(n: &str) -> Option<Expr> {
    if n.parse::<i64>().is_ok() || n.contains(['e', 'E']) {
        return None;
    }
    Some(node::text(&Decimal::parse(n)?.text()))
}

/// The text of a literal number.
fn as_number(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) => Some(n),
            _ => None,
        },
        Expr::Nested(inner) => as_number(inner),
        _ => None,
    }
}

impl Rewriter<'_> {
    pub(super) fn class(&mut self, expr: &Expr) -> Class {
        Class::of(types::of(expr, &mut self.names))
    }

    /// The most bits of an integer; 64 if nothing limits it.
    fn bits(&mut self, expr: &Expr) -> u32 {
        self.bits_within(expr, 64)
    }

    /// The same; 64 if more operators than these are nested, each of which adds a bit.
    fn bits_within(&mut self, expr: &Expr, operators: u32) -> u32 {
        use ColumnType::*;
        match expr {
            Expr::Nested(inner) => self.bits_within(inner, operators),
            Expr::Value(_) => match as_number(expr).map(str::parse::<u64>) {
                Some(Ok(n)) => 64 - n.leading_zeros(),
                _ => 1,
            },
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => self.bits_within(expr, operators),
            Expr::BinaryOp {
                op: BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply,
                ..
            } if operators == 0 => 64,
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Plus | BinaryOperator::Minus => {
                    let mut bits = |e| self.bits_within(e, operators - 1);
                    bits(left).max(bits(right)) + 1
                }
                BinaryOperator::Multiply => {
                    let mut bits = |e| self.bits_within(e, operators - 1);
                    bits(left) + bits(right)
                }
                BinaryOperator::Modulo | BinaryOperator::MyIntegerDivide => 64,
                _ => types::of(expr, &mut self.names).map_or(64, |t| match t.length {
                    1 => 1,
                    _ => 64,
                }),
            },
            _ => match types::of(expr, &mut self.names) {
                Some(t) => match t.code {
                    MYSQL_TYPE_TINY => 8,
                    MYSQL_TYPE_SHORT | MYSQL_TYPE_YEAR => 16,
                    MYSQL_TYPE_INT24 => 24,
                    MYSQL_TYPE_LONG => 32,
                    _ if t.length == 1 => 1,
                    _ => 64,
                },
                None => 64,
            },
        }
    }

    /// Plans how an expression is rewritten, before its parts are.
    pub(super) fn enter_exact(&mut self, expr: &mut Expr) {
        let mut plan = match expr {
            Expr::BinaryOp { left, right, .. }
                if types::is_interval(left) || types::is_interval(right) =>
            {
                self.of_moment(expr)
            }
            Expr::BinaryOp { left, op, right } => self.of_operator(left, op, right),
            Expr::UnaryOp { op, expr } => self.of_sign(*op, expr),
            Expr::Function(_) => self.of_function(expr),
            Expr::Cast {
                kind: CastKind::Cast,
                expr,
                data_type,
                ..
            } => self.of_cast(expr, data_type),
            Expr::Convert {
                expr,
                data_type: Some(data_type),
                ..
            } => self.of_cast(expr, data_type),
            Expr::Case { .. } => self.of_choice(expr),
            Expr::Like { expr, pattern, .. } => {
                called(Call::Like(self.like(expr, pattern)), Wrap::None)
            }
            Expr::Ceil { .. } | Expr::Floor { .. } => self.of_result(expr),
            Expr::Subquery(_) => match self.class(expr) {
                Class::Decimal => wrapped(Wrap::Text),
                Class::Big => wrapped(Wrap::Collate),
                _ => Plan::default(),
            },
            _ => Plan::default(),
        };
        if plan.wrap == Wrap::None && self.computes_document(expr) {
            plan.wrap = Wrap::Document;
        }
        self.exact_plans.push(plan);
    }

    fn of_operator(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Plan {
        use BinaryOperator::*;
        if *op == Assignment {
            let wire = types::of(right, &mut self.names);
            self.assigns_numbers
                .push(wire.is_some_and(|t| types::is_number(&t)));
        }
        let bits = match op {
            BitwiseAnd => "&",
            BitwiseOr => "|",
            BitwiseXor => "^",
            PGBitwiseShiftLeft => "<<",
            PGBitwiseShiftRight => ">>",
            Plus | Minus | Multiply | Divide | Modulo | MyIntegerDivide => "",
            _ => return Plan::default(),
        };
        if !bits.is_empty() {
            return match types::joins_bytes(op, left, right, &mut self.names) {
                true => called(Call::ByteBits(bits), Wrap::None),
                false => called(Call::Bits(bits), Wrap::Collate),
            };
        }
        let of = (
            types::of(left, &mut self.names),
            types::of(right, &mut self.names),
        );
        let classes = (Class::of_number(of.0), Class::of_number(of.1));
        if let Some(plan) = of_doubles(op, classes) {
            return plan;
        }
        // DIV computes with doubles as with DECIMALs.
        let counts = |c: Class| c.is_exact() || c == Class::Real && *op == MyIntegerDivide;
        if !counts(classes.0) || !counts(classes.1) {
            return Plan::default();
        }
        if *op == Divide {
            return called(
                Call::Flagged("tare_over", self.refuses_zero()),
                Wrap::Collate,
            );
        }
        let unsigned = [of.0, of.1].iter().flatten().any(WireType::is_unsigned);
        let wrap = if unsigned { Wrap::Collate } else { Wrap::None };
        if *op == MyIntegerDivide {
            let refuses = self.refuses_zero();
            return called(Call::Divided("tare_div_int", refuses, unsigned), wrap);
        }
        if classes.0 == Class::Decimal || classes.1 == Class::Decimal {
            let name = match op {
                Plus => "tare_add",
                Minus
                    if of.0.is_some_and(|t| t.is_unsigned())
                        && of.1.is_some_and(|t| t.is_unsigned()) =>
                {
                    "tare_sub_unsigned"
                }
                Minus => "tare_sub",
                Multiply => "tare_mul",
                _ => {
                    return called(
                        Call::Flagged("tare_rest", self.refuses_zero()),
                        Wrap::Collate,
                    );
                }
            };
            return called(Call::Two(name), Wrap::Collate);
        }
        if classes.0 == Class::Null || classes.1 == Class::Null {
            return Plan::default();
        }
        let (a, b) = (self.bits(left), self.bits(right));
        let never_negative = |e: &Expr, t: Option<WireType>| {
            as_number(e).is_some() || t.is_some_and(|t| t.is_unsigned())
        };
        let (a, b) = match unsigned && !(never_negative(left, of.0) && never_negative(right, of.1))
        {
            true => (64, 64),
            false => (a, b),
        };
        let (name, most) = match op {
            Plus => ("tare_add_int", a.max(b) + 1),
            // An unsigned result stays unsigned.
            Minus if unsigned => ("tare_sub_int", 64),
            Minus => ("tare_sub_int", a.max(b) + 1),
            Multiply => ("tare_mul_int", a + b),
            _ => ("tare_rest_int", a.max(b)),
        };
        match most {
            0..=62 if *op != Modulo || !self.refuses_zero() => Plan::default(),
            // The sign is the dividend's.
            _ if *op == Modulo => {
                let unsigned = of.0.is_some_and(|t| t.is_unsigned());
                called(Call::Divided(name, self.refuses_zero(), unsigned), wrap)
            }
            _ => called(Call::Flagged(name, unsigned), wrap),
        }
    }

    /// A cast to a type that is too small is an error in strict mode where rows are changed.
    fn refuses_misfit(&self) -> bool {
        self.mode.strict && self.sql.writes.is_some()
    }

    /// A division by zero is an error in strict mode where rows are changed.
    pub(super) fn refuses_zero(&self) -> bool {
        self.mode.strict && self.sql.writes.is_some()
    }

    fn of_sign(&mut self, op: UnaryOperator, operand: &Expr) -> Plan {
        match op {
            UnaryOperator::BitwiseNot => match types::is_byte_string(operand, &mut self.names) {
                true => called(Call::ByteBits("~"), Wrap::None),
                false => called(Call::Bits("~"), Wrap::Collate),
            },
            UnaryOperator::Minus => {
                if let Some(n) = as_number(operand)
                    && number_literal(n).is_some()
                {
                    let text = format!("-{n}");
                    let literal = match text.parse::<i64>() {
                        // Only i64::MIN comes here.
                        Ok(n) => node::bits(n as u64),
                        Err(_) => number_literal(&text).unwrap_or_else(node::null),
                    };
                    return called(Call::Literal(Box::new(literal)), Wrap::None);
                }
                match self.class(operand) {
                    Class::Decimal => called(Call::One("tare_neg"), Wrap::Collate),
                    Class::Real | Class::Text => called(Call::One("tare_neg_real"), Wrap::None),
                    Class::Big => called(Call::One("tare_neg_int"), Wrap::None),
                    Class::Int if self.bits(operand) > 62 => {
                        called(Call::One("tare_neg_int"), Wrap::None)
                    }
                    _ => Plan::default(),
                }
            }
            _ => Plan::default(),
        }
    }

    fn of_cast(&mut self, operand: &Expr, data_type: &DataType) -> Plan {
        use DataType::*;
        match data_type {
            Unsigned | UnsignedInteger | Signed | SignedInteger => {
                let unsigned = matches!(data_type, Unsigned | UnsignedInteger);
                let wrap = if unsigned { Wrap::Collate } else { Wrap::None };
                let of = types::of(operand, &mut self.names);
                // The scalar of a document may be a double.
                let class = match of.as_ref().is_some_and(types::is_json) {
                    true => Class::Real,
                    false => Class::of(of),
                };
                match class {
                    Class::Int | Class::Big | Class::Decimal | Class::Real => {
                        let bits = of.is_some_and(|t| t.is_unsigned());
                        let refuses = self.refuses_misfit();
                        let origin = match class {
                            Class::Decimal if !chooses(operand) => 3,
                            _ => origin_of(operand),
                        };
                        let rest = vec![unsigned.into(), bits.into(), refuses.into(), origin];
                        called(Call::Cast("tare_whole", rest), wrap)
                    }
                    _ if unsigned => called(Call::Cast("tare_uint", Vec::new()), wrap),
                    _ => Plan::default(),
                }
            }
            Decimal(_) | Numeric(_) | Dec(_) => {
                let t = types::of_cast(data_type);
                let digits = types::digits(&t).0;
                let rest = vec![
                    digits.into(),
                    t.decimals.into(),
                    self.refuses_misfit().into(),
                ];
                called(Call::Cast("tare_decimal", rest), Wrap::Collate)
            }
            JSON => match self.cast_part(operand) {
                Some(part) => {
                    let rest = part.to_numbers().into();
                    called(Call::Cast("tare_json_value", rest), Wrap::None)
                }
                None => Plan::default(),
            },
            Char(length) => match types::of(operand, &mut self.names) {
                Some(t) if Class::of(Some(t)) == Class::Real => {
                    let is_column = self.names.column_of(operand).is_some();
                    let single = is_column && t.code == ColumnType::MYSQL_TYPE_FLOAT;
                    let length = match length {
                        Some(CharacterLength::IntegerLength { length, .. }) => *length,
                        _ => 0,
                    };
                    let length = i64::try_from(length).unwrap_or(i64::MAX);
                    let rest = vec![single.into(), t.decimals.into(), length];
                    called(Call::Cast("tare_shown", rest), Wrap::None)
                }
                _ => Plan::default(),
            },
            _ => Plan::default(),
        }
    }

    /// A function or CASE that chooses one of its arguments.
    fn of_choice(&mut self, expr: &Expr) -> Plan {
        match self.class(expr) {
            Class::Decimal => wrapped(Wrap::Text),
            Class::Big => wrapped(Wrap::Collate),
            Class::Real => wrapped(Wrap::Real),
            _ => Plan::default(),
        }
    }

    /// The same, by a function of ours.
    fn chosen_by(&mut self, expr: &Expr, name: &'static str) -> Plan {
        let call = Some(Call::Named(name));
        Plan {
            call,
            ..self.of_choice(expr)
        }
    }

    /// A function whose result is exact.
    fn of_result(&mut self, expr: &Expr) -> Plan {
        match self.class(expr) {
            Class::Decimal | Class::Big => wrapped(Wrap::Collate),
            _ => Plan::default(),
        }
    }

    /// A time, or a date and time, that is computed: it has the digits of its type behind the second.
    fn of_moment(&mut self, expr: &Expr) -> Plan {
        match types::of(expr, &mut self.names) {
            Some(t) if types::is_temporal(&t) && t.decimals > 0 => {
                wrapped(Wrap::Fraction(t.decimals))
            }
            _ => Plan::default(),
        }
    }

    fn of_function(&mut self, expr: &mut Expr) -> Plan {
        let Expr::Function(f) = &*expr else {
            return Plan::default();
        };
        let name = name_of(f);
        let FunctionArguments::List(list) = &f.args else {
            return Plan::default();
        };
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let classes: Vec<Class> = arguments(f).iter().map(|e| self.class(e)).collect();
        let exact = !classes.is_empty()
            && classes.iter().all(|c| c.is_exact())
            && classes
                .iter()
                .any(|c| matches!(c, Class::Decimal | Class::Big));
        // A double among them makes them doubles.
        let numbers = classes.iter().all(|c| c.is_exact() || *c == Class::Real)
            && classes
                .iter()
                .any(|c| matches!(c, Class::Decimal | Class::Big));
        let texts = !classes.is_empty()
            && classes
                .iter()
                .all(|c| matches!(c, Class::Text | Class::Null))
            && classes.contains(&Class::Text);
        let compares_texts = classes.contains(&Class::Text)
            && classes
                .iter()
                .all(|c| !matches!(c, Class::Moment | Class::Unknown));
        let first = classes.first().copied().unwrap_or(Class::Unknown);
        if let Some(literal) = self.text_property(&name, expr) {
            return called(Call::Literal(Box::new(literal)), Wrap::None);
        }
        match name.as_str() {
            "abs" | "avg" | "round" | "sum" | "truncate" if first == Class::Text => {
                self.doubles(expr, |c| c == Class::Text);
                Plan::default()
            }
            "lag" | "lead" | "nth_value" | "ntile" => {
                self.count_of_rows(expr, usize::from(name != "ntile"));
                self.of_result(expr)
            }
            "sum" | "avg" => self.of_total(expr, &name),
            "count" if distinct && exact && classes.len() == 1 => {
                called(Call::CountDistinct, Wrap::None)
            }
            "abs" if exact => called(Call::Named("tare_abs"), Wrap::Collate),
            "mod" if exact && classes.contains(&Class::Decimal) => called(
                Call::Flagged("tare_rest", self.refuses_zero()),
                Wrap::Collate,
            ),
            "mod" if exact => called(
                Call::Divided("tare_rest_int", self.refuses_zero(), first == Class::Big),
                Wrap::Collate,
            ),
            "greatest" if numbers => self.chosen_by(expr, "tare_greatest"),
            "least" if numbers => self.chosen_by(expr, "tare_least"),
            "nullif" if numbers => self.chosen_by(expr, "tare_nullif"),
            "greatest" if compares_texts => called(Call::Named("tare_greatest_text"), Wrap::None),
            "least" if compares_texts => called(Call::Named("tare_least_text"), Wrap::None),
            "nullif" if texts => called(Call::Named("tare_nullif_text"), Wrap::None),
            "if" | "ifnull" | "coalesce" | "greatest" | "least" | "nullif"
                if classes
                    .iter()
                    .any(|c| matches!(c, Class::Decimal | Class::Big | Class::Real)) =>
            {
                self.of_choice(expr)
            }
            _ if name.starts_with("json_") => {
                self.refuse_documents(expr, &name);
                Plan::default()
            }
            // The type is the column's.
            "default" | "values" => Plan::default(),
            "adddate" | "addtime" | "convert_tz" | "date_add" | "date_sub" | "from_unixtime"
            | "maketime" | "sec_to_time" | "str_to_date" | "subdate" | "subtime" | "time"
            | "timediff" | "timestamp" | "timestampadd" => self.of_moment(expr),
            _ => self.of_result(expr),
        }
    }

    /// SUM and AVG.
    fn of_total(&mut self, expr: &Expr, name: &str) -> Plan {
        let Expr::Function(f) = expr else {
            return Plan::default();
        };
        if self.class(expr) != Class::Decimal {
            return Plan::default();
        }
        let small = match arguments(f).first() {
            Some(argument) => self.class(argument) == Class::Int && self.bits(argument) <= 32,
            None => false,
        };
        match name {
            // SQLite's own is exact up to 64 bits.
            "sum" if small => wrapped(Wrap::Text),
            "sum" => called(Call::Named("tare_sum"), Wrap::Text),
            _ => called(Call::Named("tare_avg"), Wrap::Text),
        }
    }

    /// Converts an argument that is a number of rows to an integer.
    fn count_of_rows(&mut self, call: &mut Expr, at: usize) {
        let Expr::Function(f) = call else { return };
        let FunctionArguments::List(list) = &mut f.args else {
            return;
        };
        if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(e))) = list.args.get_mut(at)
            && self.class(e) == Class::Text
        {
            node::replace(e, |e| node::cast(e, DataType::SignedInteger));
        }
    }

    /// Converts the arguments of some classes to doubles.
    fn doubles(&mut self, call: &mut Expr, which: fn(Class) -> bool) {
        let Expr::Function(f) = call else { return };
        let FunctionArguments::List(list) = &mut f.args else {
            return;
        };
        for argument in &mut list.args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument else {
                continue;
            };
            if which(self.class(e)) {
                node::replace(e, |e| node::cast(e, DataType::DoublePrecision));
            }
        }
    }
}

/// How doubles are added and multiplied: SQLite's result may be infinite.
fn of_doubles(op: &BinaryOperator, classes: (Class, Class)) -> Option<Plan> {
    let is_real = |c: Class| matches!(c, Class::Real | Class::Text);
    let is_number = |c: Class| c.is_exact() || is_real(c);
    let are_numbers = is_number(classes.0) && is_number(classes.1);
    let name = match op {
        BinaryOperator::Plus => "tare_add_real",
        BinaryOperator::Minus => "tare_sub_real",
        BinaryOperator::Multiply => "tare_mul_real",
        _ => return None,
    };
    let computes_doubles = are_numbers && (is_real(classes.0) || is_real(classes.1));
    computes_doubles.then(|| called(Call::Two(name), Wrap::None))
}

/// The origin of a number that is cast: 1 a column, 2 a computed value, 3 a DECIMAL, 0 anything else. MySQL reports
/// a double that is out of range differently for each origin.
pub(super) fn origin_of(expr: &Expr) -> i64 {
    match expr {
        Expr::Nested(inner) => origin_of(inner),
        Expr::Identifier(name) => (!name.value.starts_with('@')).into(),
        Expr::CompoundIdentifier(parts) => (!parts[0].value.starts_with('@')).into(),
        Expr::BinaryOp { .. } | Expr::UnaryOp { .. } => 2,
        Expr::Function(f) => match name_of(f).as_str() {
            "abs" | "coalesce" | "greatest" | "ifnull" | "least" | "mod" | "round" | "truncate" => {
                2
            }
            _ => 0,
        },
        _ => 0,
    }
}

/// Whether an expression is IF or CASE: MySQL takes the number of the chosen argument, not the DECIMAL that
/// is the common type of all arguments.
fn chooses(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => chooses(inner),
        Expr::Case { .. } => true,
        Expr::Function(f) => name_of(f) == "if",
        _ => false,
    }
}

fn called(call: Call, wrap: Wrap) -> Plan {
    Plan {
        call: Some(call),
        wrap,
    }
}

fn wrapped(wrap: Wrap) -> Plan {
    Plan { call: None, wrap }
}
