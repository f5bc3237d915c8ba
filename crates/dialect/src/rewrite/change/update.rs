//! UPDATE.

use std::collections::HashMap;

use crate::error::{Clause, Error, Result, near};
use sqlparser::ast::{AssignmentTarget, BinaryOperator, Expr, ObjectName, OrderByExpr, Update};
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types::{base_type, parts};

use super::differs;
use super::target::Target;
use crate::depth::check_column_count;
use crate::name::{full_name, last_name, quote};
use crate::plan::Sql;
use crate::rewrite::insert::now;
use crate::rewrite::{Rewriter, conversion_call};
use crate::schema::Schema;
use crate::scope::Names;
use crate::{function, node, walk};

impl Rewriter<'_> {
    /// UPDATE.
    pub fn update(mut self, mut update: Update) -> Result<Sql> {
        if update.or.is_some() {
            return Err(near("OR"));
        }
        if update.from.is_some() || update.returning.is_some() {
            return Err(near("FROM"));
        }
        let scope = self.names.tables(std::slice::from_ref(&update.table));
        self.names.scopes.push(scope);
        if !update.table.joins.is_empty() {
            return self.update_joined(update);
        }
        let target = self.target("UPDATE", &update.table.relation)?;
        self.sql.writes = Some(target.database.clone());
        self.sql.refuses_warnings = self.mode.strict;
        self.sql.target = Some(target.table.clone());
        let mut sql = format!("UPDATE {}", target.sql());
        let (mut sets, mut checks) = (Vec::new(), HashMap::new());
        let mut certain = true;
        check_column_count(update.assignments.len())?;
        for assignment in &mut update.assignments {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(near("("));
            };
            let column = last_name(name);
            if let Some(default) =
                self.default_value(&target.database, &target.table, &column, &assignment.value)?
            {
                assignment.value = default;
            }
            let once = is_certain(&*self.names.schema, &assignment.value);
            certain &= once;
            if !update.order_by.is_empty() {
                check_assigns_nothing(&assignment.value)?;
            }
            self.assigned.mark(&mut assignment.value)?;
            let value_kind = self.value_kind(&assignment.value);
            self.visit(&mut assignment.value)?;
            let def = self.names.definition(&target.database, &target.table);
            let value = node::take(&mut assignment.value);
            let raw = value.clone();
            let value = self.convert_value(def.as_deref(), &column, value_kind, value, false);
            self.assigned
                .add(&column, &as_stored(def.as_deref(), &column, &value), once);
            // The last value that is assigned to a column counts, but earlier ones must fit as well.
            let column_def = def.as_deref().and_then(|d| d.column(&column));
            let column_def = column_def.filter(|_| self.mode.strict);
            let before = checks.remove(&column.to_lowercase());
            let value = match (before, column_def) {
                (Some(before), Some(def)) => after(before, def, value),
                _ => value,
            };
            if let Some(def) = column_def {
                checks.insert(column.to_lowercase(), conversion_call(def, raw, true));
            }
            sets.retain(|(name, _): &(String, Expr)| !name.eq_ignore_ascii_case(&column));
            sets.push((column, value));
        }
        let differ = |(c, v): &(String, Expr)| differs(&quote(c), &v.to_string());
        let changed: Vec<String> = sets.iter().map(differ).collect();
        let def = self.names.definition(&target.database, &target.table);
        let moments = self.moments(def.as_deref(), |name| {
            sets.iter().any(|(c, _)| c.eq_ignore_ascii_case(name))
        })?;
        // A row that does not change keeps its timestamp, too.
        let changed_rows = changed.join(" OR ");
        let moment = |(c, v): (String, Expr)| {
            let c = quote(&c);
            format!("{c} = CASE WHEN {changed_rows} THEN {v} ELSE {c} END")
        };
        let all: Vec<String> = sets
            .iter()
            .map(|(c, v)| format!("{} = {v}", quote(c)))
            .chain(moments.into_iter().map(moment))
            .collect();
        sql.push_str(&format!(" SET {}", all.join(", ")));
        self.in_order(&target, &sets, &update.order_by)?;
        let is_repeatable = (update.selection.iter())
            .all(|condition| is_repeatable(&*self.names.schema, condition));
        let tail = self.some_rows(
            &target,
            update.selection.take(),
            update.order_by,
            update.limit,
        )?;
        sql.push_str(&tail);
        // MySQL neither writes nor counts a row that does not change.
        if certain {
            sql.push_str(&self.only_changed(&tail, &changed_rows, is_repeatable));
        }
        self.sql.text = sql;
        Ok(self.sql)
    }

    /// The end of an UPDATE with this WHERE clause that writes only rows that change.
    fn only_changed(&self, tail: &str, changed: &str, is_repeatable: bool) -> String {
        let changes = self.count_matched(changed);
        match tail.strip_prefix(" WHERE ").unwrap_or_default() {
            "" => format!(" WHERE {changes}"),
            // SQLite may evaluate this condition first. It must not count other rows, and a value that is
            // refused is an error.
            condition if condition.starts_with('(') && is_repeatable => {
                format!(" AND CASE WHEN {condition} THEN {changes} ELSE 0 END")
            }
            _ => format!(" AND {changes}"),
        }
    }

    /// A condition that counts the rows that it is evaluated for, and is true for those that are written.
    fn count_matched(&self, changed: &str) -> String {
        match self.mode.found_rows {
            true => format!("tare_matches({changed})"),
            false => format!("tare_changes({changed})"),
        }
    }

    /// The columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned, and their values.
    pub(in crate::rewrite) fn moments(
        &mut self,
        def: Option<&TableDef>,
        is_assigned: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, Expr)>> {
        let Some(def) = def.filter(|d| d.columns.iter().any(|c| c.on_update_now)) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for column in def.columns.iter().filter(|c| c.on_update_now) {
            if is_assigned(&column.name) {
                continue;
            }
            let mut value = now(column);
            let value_kind = self.value_kind(&value);
            self.visit(&mut value)?;
            let value = self.convert_value(Some(def), &column.name, value_kind, value, false);
            all.push((column.name.clone(), value));
        }
        Ok(all)
    }

    /// Error 1235 if the order of the changes matters: SQLite has an order of its own, which is visible if a
    /// key may exist twice for a while.
    fn in_order(
        &mut self,
        target: &Target,
        sets: &[(String, Expr)],
        order: &[OrderByExpr],
    ) -> Result<()> {
        let Some(def) = self.names.definition(&target.database, &target.table) else {
            return Ok(());
        };
        let unique = def.indexes.iter().filter(|i| i.unique);
        let keys: Vec<&String> = unique.flat_map(|i| &i.columns).collect();
        let is_key = |name: &String| keys.iter().any(|k| k.eq_ignore_ascii_case(name));
        if !order.is_empty() && sets.iter().any(|(name, _)| is_key(name)) {
            return Err(Error::unsupported(
                "UPDATE of a unique key's column with ORDER BY",
            ));
        }
        Ok(())
    }

    /// UPDATE of one of several tables that are joined.
    fn update_joined(mut self, mut update: Update) -> Result<Sql> {
        self.sql.joined = true;
        let mut called: Option<String> = None;
        let (mut columns, mut value_kinds) = (Vec::new(), Vec::new());
        for assignment in &mut update.assignments {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(near("("));
            };
            let of = owner(&self.names, name).ok_or_else(|| Error::UnknownColumn {
                name: full_name(name),
                clause: Clause::FieldList,
            })?;
            if called
                .as_ref()
                .is_some_and(|c| !c.eq_ignore_ascii_case(&of))
            {
                return Err(Error::unsupported("UPDATE of columns of several tables"));
            }
            called = Some(of);
            columns.push(last_name(name));
            value_kinds.push(self.value_kind(&assignment.value));
            self.visit(&mut assignment.value)?;
        }
        let called = called.ok_or_else(|| near("SET"))?;
        let target = self.named_target("UPDATE", std::slice::from_ref(&update.table), &called)?;
        let def = self.names.definition(&target.database, &target.table);
        self.sql.writes = Some(target.database.clone());
        self.sql.refuses_warnings = self.mode.strict;
        self.sql.target = Some(target.table.clone());
        let selection = match update.selection.take() {
            Some(mut selection) => {
                self.visit(&mut selection)?;
                format!(" WHERE {selection}")
            }
            None => String::new(),
        };
        self.visit(&mut update.table)?;
        let values: Vec<String> = update
            .assignments
            .iter()
            .enumerate()
            .map(|(i, a)| {
                let value = a.value.clone();
                let value =
                    self.convert_value(def.as_deref(), &columns[i], value_kinds[i], value, false);
                format!("{value} AS tare_v{i}")
            })
            .collect();
        let moments = self.moments(def.as_deref(), |name| {
            columns.iter().any(|c| c.eq_ignore_ascii_case(name))
        })?;
        let mut sets: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(i, c)| format!("{} = tare_q.tare_v{i}", quote(c)))
            .collect();
        let name = quote(target.called());
        let changed: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(i, c)| {
                differs(
                    &format!("{name}.{}", quote(c)),
                    &format!("tare_q.tare_v{i}"),
                )
            })
            .collect();
        let changed = changed.join(" OR ");
        sets.extend(moments.into_iter().map(|(c, v)| {
            let c = quote(&c);
            format!("{c} = CASE WHEN {changed} THEN {v} ELSE {name}.{c} END")
        }));
        // A row that is found several times is updated once.
        let mut sql = format!(
            "UPDATE {} SET {} FROM (SELECT {name}.rowid AS tare_r, {} FROM {}{selection} GROUP BY {name}.rowid) AS tare_q WHERE {name}.rowid = tare_q.tare_r",
            target.sql(),
            sets.join(", "),
            values.join(", "),
            update.table
        );
        sql.push_str(&format!(" AND {}", self.count_matched(&changed)));
        self.sql.text = sql;
        Ok(self.sql)
    }
}

/// A value as its column will have it, for later readers of the column: a DECIMAL becomes a double only when
/// it is stored, and is rounded differently.
fn as_stored(def: Option<&TableDef>, column: &str, value: &Expr) -> Expr {
    let is_real = |c: &ColumnDef| matches!(base_type(&c.column_type), "float" | "double");
    match def.and_then(|d| d.column(column)).is_some_and(is_real) {
        true => node::call("tare_real", vec![value.clone()]),
        false => value.clone(),
    }
}

/// A column's value after an earlier one, which is checked.
fn after(before: Expr, def: &ColumnDef, value: Expr) -> Expr {
    let kind = parts(&def.column_type);
    let most = match kind.base.as_str() {
        "varchar" | "varbinary" | "binary" => kind.characters().map_or(-1, |n| n as i64),
        _ => -1,
    };
    let all = vec![
        before,
        value,
        node::text(&def.name),
        node::number((!def.nullable).into()),
        node::number(most),
    ];
    node::call("tare_then", all)
}

/// The name or alias of the table that has an assigned column.
fn owner(names: &Names<'_>, column: &ObjectName) -> Option<String> {
    let scope = names.scopes.last()?;
    let name = last_name(column);
    let table = column
        .0
        .len()
        .checked_sub(2)
        .and_then(|i| column.0[i].as_ident())
        .map(|i| i.value.clone());
    scope
        .relations
        .iter()
        .find(|r| match &table {
            Some(table) => r.alias.eq_ignore_ascii_case(table),
            None => r
                .columns
                .as_ref()
                .is_some_and(|c| c.iter().any(|c| c.name.eq_ignore_ascii_case(&name))),
        })
        .map(|r| r.alias.clone())
}

/// Error 1235 if an expression assigns a variable: SQLite evaluates values before it sorts.
fn check_assigns_nothing(expr: &Expr) -> Result<()> {
    let mut assigns = false;
    walk::expressions(expr, &mut |e| {
        assigns |= matches!(e, Expr::BinaryOp { op, .. } if *op == BinaryOperator::Assignment);
    });
    match assigns {
        true => Err(Error::unsupported(
            "UPDATE with ORDER BY that assigns a variable",
        )),
        false => Ok(()),
    }
}

/// Whether a condition has the same value if it is evaluated again.
fn is_repeatable(schema: &dyn Schema, expr: &Expr) -> bool {
    let mut repeatable = true;
    walk::expressions(expr, &mut |e| {
        repeatable &= match e {
            Expr::BinaryOp { op, .. } => *op != BinaryOperator::Assignment,
            Expr::Function(f) => function::is_certain(schema, &function::name_of(f)),
            _ => true,
        };
    });
    repeatable
}

/// Whether an expression has the same value when it is evaluated twice.
pub(in crate::rewrite) fn is_certain(schema: &dyn Schema, expr: &Expr) -> bool {
    let mut certain = true;
    walk::expressions(expr, &mut |e| {
        certain &= match e {
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => false,
            Expr::BinaryOp { op, .. } => *op != BinaryOperator::Assignment,
            Expr::Function(f) => function::is_certain(schema, &function::name_of(f)),
            _ => true,
        };
    });
    certain
}
