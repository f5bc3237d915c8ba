//! The types of a statement's parameters, as MySQL derives them from what surrounds each one.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, BinaryOperator, Expr, FromTable, Insert, LimitClause, ObjectName, OnInsert,
    Query, Select, SelectItem, SetExpr, Statement, TableObject, TableWithJoins, Update, Value,
    Visit, Visitor,
};
use tare_mysql::wire::column::WireType;

use crate::function::{arguments, name_of};
use crate::mode::Mode;
use crate::name::resolve;
use crate::read::{parse_statement, read};
use crate::schema::Schema;
use crate::scope::{Column, Names};
use crate::types::{self, Parameter};
use crate::{depth, split};

/// The types of the parameters of a statement, in the order of its text.
pub fn parameters(
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    mode: Mode,
    count: usize,
) -> Vec<WireType> {
    let mut types = vec![types::of_parameter(Parameter::Text); count];
    let opened = split::open_comments(text, mode.series);
    let Ok(reading) = read(opened.as_deref().unwrap_or(text), mode) else {
        return types;
    };
    depth::with_stack(reading.levels, || {
        let mut parser = reading.parser;
        if let Ok(statement) = parse_statement(&mut parser) {
            let mut finder = Finder {
                names: Names::new(database, schema),
                types: &mut types,
                aliases: Vec::new(),
            };
            finder.statement(&statement);
            let _ = statement.visit(&mut finder);
        }
    });
    types
}

/// Finds the parameters of a statement.
struct Finder<'a, 't> {
    names: Names<'a>,
    types: &'t mut Vec<WireType>,
    /// The aliases of the select lists of each query that is being visited, and what they stand for.
    aliases: Vec<Vec<(String, Expr)>>,
}

/// The number of the parameter that an expression is.
fn number(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Nested(inner) => number(inner),
        Expr::Value(v) => match &v.value {
            Value::Placeholder(name) => name
                .strip_prefix('?')?
                .parse::<usize>()
                .ok()?
                .checked_sub(1),
            _ => None,
        },
        _ => None,
    }
}

/// What an alias of a select list stands for, where it is no column.
fn aliased<'e>(aliases: &'e [Vec<(String, Expr)>], names: &Names<'_>, expr: &'e Expr) -> &'e Expr {
    let Expr::Identifier(name) = expr else {
        return expr;
    };
    if names.column_of(expr).is_some() {
        return expr;
    }
    let mut all = aliases.iter().rev().flatten();
    let named = all.find(|(alias, _)| alias.eq_ignore_ascii_case(&name.value));
    named.map_or(expr, |(_, value)| value)
}

impl Finder<'_, '_> {
    fn set(&mut self, expr: &Expr, wire: WireType) {
        if let Some(slot) = number(expr).and_then(|n| self.types.get_mut(n)) {
            *slot = wire;
        }
    }

    fn set_kind(&mut self, expr: &Expr, kind: Parameter) {
        self.set(expr, types::of_parameter(kind));
    }

    /// Gives parameters the type of the first of their siblings that is none.
    fn unify(&mut self, all: &[&Expr], of: fn(&WireType) -> Parameter) {
        let other = all.iter().find(|e| number(e).is_none());
        let Some(other) = other else { return };
        let value = aliased(&self.aliases, &self.names, other);
        let Some(wire) = types::of(value, &mut self.names) else {
            return;
        };
        let kind = match Parameter::compared(&wire) {
            Parameter::Text if self.is_of_information(other) => Parameter::SystemText(false),
            Parameter::ExactText if self.is_of_information(other) => Parameter::SystemText(true),
            _ => of(&wire),
        };
        for expr in all {
            self.set_kind(expr, kind);
        }
    }

    /// The same for the parts of rows: `(a, b) IN ((?, ?))`.
    fn unify_rows(&mut self, all: &[&Expr]) {
        fn parts(expr: &Expr) -> Option<&[Expr]> {
            match expr {
                Expr::Tuple(parts) => Some(parts),
                _ => None,
            }
        }
        match all.iter().copied().map(parts).collect::<Option<Vec<_>>>() {
            Some(rows) => {
                for i in 0..rows.iter().map(|row| row.len()).min().unwrap_or_default() {
                    let column: Vec<&Expr> = rows.iter().map(|row| &row[i]).collect();
                    self.unify(&column, Parameter::compared);
                }
            }
            None => self.unify(all, Parameter::compared),
        }
    }

    fn is_of_information(&self, expr: &Expr) -> bool {
        let origin = self.names.column_of(expr).and_then(|c| c.origin.as_deref());
        origin.is_some_and(|o| o.schema == "information_schema" || o.sorted.is_some())
    }

    /// Parameters that become values of columns.
    fn assign(&mut self, column: Option<&Column>, value: &Expr) {
        if let Some(wire) = column.and_then(|c| c.wire) {
            self.set_kind(value, Parameter::compared(&wire));
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) =
                    &delete.from;
                self.open(from);
                if let Some(limit) = &delete.limit {
                    self.set_kind(limit, Parameter::Count);
                }
            }
            _ => {}
        }
    }

    /// Makes tables visible to the whole statement.
    fn open(&mut self, from: &[TableWithJoins]) {
        let scope = self.names.tables(from);
        self.names.scopes.push(scope);
    }

    fn table_columns(&mut self, name: &ObjectName) -> Option<Vec<Column>> {
        let (database, table) = resolve(name, self.names.database).ok()?;
        let columns = self.names.table(&database, &table)?;
        Some(columns.as_ref().clone())
    }

    fn insert(&mut self, insert: &Insert) {
        let TableObject::TableName(name) = &insert.table else {
            return;
        };
        let Some(all) = self.table_columns(name) else {
            return;
        };
        let find = |name: &str| all.iter().find(|c| c.name.eq_ignore_ascii_case(name));
        let targets: Vec<Option<&Column>> = match insert.columns.as_slice() {
            [] => all.iter().map(Some).collect(),
            named => {
                let name = |n: &ObjectName| find(&crate::name::last_name(n));
                named.iter().map(name).collect()
            }
        };
        match insert.source.as_deref().map(|query| query.body.as_ref()) {
            Some(SetExpr::Values(values)) => {
                for row in &values.rows {
                    for (column, value) in targets.iter().zip(row.iter()) {
                        self.assign(*column, value);
                    }
                }
            }
            Some(SetExpr::Select(select)) => {
                for (column, item) in targets.iter().zip(&select.projection) {
                    if let SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } =
                        item
                    {
                        self.assign(*column, e);
                    }
                }
            }
            _ => {}
        }
        let changes = match &insert.on {
            Some(OnInsert::DuplicateKeyUpdate(changes)) => changes.as_slice(),
            _ => &[],
        };
        for change in insert.assignments.iter().chain(changes) {
            if let AssignmentTarget::ColumnName(name) = &change.target {
                self.assign(find(&crate::name::last_name(name)), &change.value);
            }
        }
    }

    fn update(&mut self, update: &Update) {
        self.open(std::slice::from_ref(&update.table));
        for change in &update.assignments {
            if let AssignmentTarget::ColumnName(name) = &change.target {
                let parts = name.0.iter().filter_map(|p| p.as_ident().cloned());
                let column = Expr::CompoundIdentifier(parts.collect());
                let column = match name.0.as_slice() {
                    [one] => one.as_ident().cloned().map_or(column, Expr::Identifier),
                    _ => column,
                };
                let column = self.names.column_of(&column).cloned();
                self.assign(column.as_ref(), &change.value);
            }
        }
        if let Some(limit) = &update.limit {
            self.set_kind(limit, Parameter::Count);
        }
    }

    fn binary(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) {
        use BinaryOperator::*;
        for (date, by) in [(left, right), (right, left)] {
            if let Expr::Interval(_) = by {
                self.set_kind(date, Parameter::date_before(by));
                return;
            }
        }
        match op {
            Plus | Minus | Multiply | Divide | Modulo => {
                self.unify(&[left, right], Parameter::computed);
            }
            Eq | NotEq | Lt | LtEq | Gt | GtEq | Spaceship => {
                self.unify_rows(&[left, right]);
            }
            And | Or | Xor | BitwiseAnd | BitwiseOr | BitwiseXor | MyIntegerDivide => {
                self.set_kind(left, Parameter::Integer);
                self.set_kind(right, Parameter::Integer);
            }
            _ => {}
        }
    }

    fn call(&mut self, name: &str, all: &[&Expr]) {
        match (name, all) {
            ("if", [condition, rest @ ..]) => {
                self.set_kind(condition, Parameter::Integer);
                self.unify(rest, Parameter::compared);
            }
            ("coalesce" | "ifnull" | "nullif" | "greatest" | "least", all) => {
                self.unify(all, Parameter::compared);
            }
            ("date_format", [date, ..]) => self.set_kind(date, Parameter::Moment),
            ("date_add" | "date_sub" | "adddate" | "subdate", [date, by @ Expr::Interval(_)]) => {
                self.set_kind(date, Parameter::date_before(by));
            }
            (
                "abs" | "acos" | "asin" | "atan" | "avg" | "ceil" | "ceiling" | "cos" | "cot"
                | "degrees" | "exp" | "floor" | "ln" | "log" | "log10" | "log2" | "mod" | "pow"
                | "power" | "radians" | "round" | "sign" | "sin" | "sqrt" | "std" | "stddev"
                | "sum" | "tan" | "truncate" | "variance",
                all,
            ) => {
                for expr in all {
                    self.set_kind(expr, Parameter::Real);
                }
            }
            _ => {}
        }
    }
}

impl Visitor for Finder<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.aliases.push(Vec::new());
        self.names.with(query);
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                let offset = offset.as_ref().map(|o| &o.value);
                for expr in limit.iter().chain(offset) {
                    self.set_kind(expr, Parameter::Count);
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                self.set_kind(offset, Parameter::Count);
                self.set_kind(limit, Parameter::Count);
            }
            None => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.aliases.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.names.types.forget();
        let scope = self.names.scope(select);
        self.names.scopes.push(scope);
        if let Some(aliases) = self.aliases.last_mut() {
            let with_alias = |item: &SelectItem| match item {
                SelectItem::ExprWithAlias { expr, alias } => {
                    Some((alias.value.clone(), expr.clone()))
                }
                _ => None,
            };
            aliases.extend(select.projection.iter().filter_map(with_alias));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _select: &Select) -> ControlFlow<()> {
        self.names.types.forget();
        self.names.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::UnaryOp { expr, .. } => self.set_kind(expr, Parameter::Integer),
            Expr::Between {
                expr, low, high, ..
            } => self.unify(&[expr, low, high], Parameter::compared),
            Expr::InList { expr, list, .. } => {
                let all: Vec<&Expr> = std::iter::once(expr.as_ref()).chain(list).collect();
                self.unify_rows(&all);
            }
            Expr::Like { expr, pattern, .. } => {
                self.unify(&[expr, pattern], Parameter::matched);
            }
            Expr::Interval(interval) => self.set_kind(&interval.value, Parameter::Integer),
            Expr::Cast {
                expr, data_type, ..
            } => {
                let to = types::of_cast(data_type);
                self.set_kind(expr, Parameter::compared(&to));
            }
            Expr::Function(f) => self.call(&name_of(f), &arguments(f)),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
