//! Statements on rows: their tree is changed in place until its text is SQLite's.

use std::collections::HashSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, BinaryOperator, CastKind, DataType, Delete, Distinct, Expr, FromTable,
    Function, FunctionArguments, GroupByExpr, Ident, Insert, JoinOperator, LimitClause, LockType,
    ObjectName, ObjectNamePart, OnInsert, OrderByExpr, Query, Select, SelectItem, SetExpr,
    Statement, TableFactor, TableObject, TableWithJoins, TrimWhereField, UnaryOperator, Update,
    Value, Values, VisitMut, VisitorMut,
};

use super::function;
use super::names;
use super::plan::{Change, Sql};
use crate::server::error::{Result, SqlError};
use crate::storage::Connection;
use crate::storage::connection::quote;
use crate::storage::databases::is_system_schema;
use crate::storage::tables::last_name;
use crate::wire::column::WireType;

/// A piece of SQLite's SQL as an expression: sqlparser prints a number as it stands.
pub fn raw(text: impl Into<String>) -> Expr {
    Expr::value(Value::Number(text.into(), false))
}

/// A text as SQLite's literal.
pub fn literal(text: &str) -> String {
    if text.contains('\0') {
        // SQL text ends at a zero byte.
        let hex: String = text.bytes().map(|b| format!("{b:02x}")).collect();
        return format!("CAST(X'{hex}' AS TEXT)");
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// A name that needs no care.
fn ident(name: &str) -> Ident {
    Ident::with_quote('"', name.replace('"', "\"\""))
}

/// MySQL cuts a column's name after 256 bytes.
fn short(name: &str) -> &str {
    let mut end = name.len().min(256);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// What a rewrite knows and gathers.
pub struct Rewriter<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    ctes: HashSet<String>,
    sql: Sql,
    inserting: bool,
}

impl<'a> Rewriter<'a> {
    /// For a session's default database.
    pub fn new(database: Option<&'a str>) -> Self {
        Self {
            database,
            ctes: HashSet::new(),
            sql: Sql::default(),
            inserting: false,
        }
    }

    /// Database and table of a name.
    pub fn resolve(&self, name: &ObjectName) -> Result<(String, String)> {
        let part = |p: &ObjectNamePart| p.as_ident().map(|i| i.value.clone());
        match name.0.as_slice() {
            [table] => {
                let database = self.database.ok_or_else(SqlError::no_database)?.to_owned();
                Ok((database, part(table).unwrap_or_default()))
            }
            [database, table] => Ok((
                part(database).unwrap_or_default(),
                part(table).unwrap_or_default(),
            )),
            _ => Err(super::near(name)),
        }
    }

    /// SELECT.
    pub fn query(mut self, mut query: Query, text: &str) -> Result<Sql> {
        self.name_columns(&mut query, text);
        self.hints(&query);
        let lock = query.locks.iter().any(|l| l.lock_type == LockType::Update);
        self.visit(&mut query)?;
        self.sql.text = query.to_string();
        if lock {
            self.sql.writes = self.sql.databases.first().cloned();
        }
        Ok(self.sql)
    }

    fn visit<T: VisitMut>(&mut self, node: &mut T) -> Result<()> {
        match node.visit(self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    fn name_columns(&self, query: &mut Query, text: &str) {
        let mut body = &mut query.body;
        let select = loop {
            match body.as_mut() {
                SetExpr::Select(select) => break select,
                SetExpr::SetOperation { left, .. } => body = left,
                _ => return,
            }
        };
        let plain = |item: &SelectItem| !matches!(item, SelectItem::UnnamedExpr(e) if !matches!(e, Expr::Identifier(i) if !i.value.starts_with('@')));
        if select.projection.iter().all(plain) {
            return;
        }
        let texts = names::projection(text);
        let known = texts.len() == select.projection.len();
        for (i, item) in select.projection.iter_mut().enumerate() {
            if plain(item) {
                continue;
            }
            if let SelectItem::UnnamedExpr(expr) = item {
                let name = match &*expr {
                    Expr::CompoundIdentifier(parts) if !parts[0].value.starts_with("@@") => {
                        parts.last().map(|p| p.value.clone()).unwrap_or_default()
                    }
                    Expr::Value(v) => match &v.value {
                        Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => s.clone(),
                        _ if known => texts[i].clone(),
                        other => other.to_string(),
                    },
                    _ if known => texts[i].clone(),
                    other => other.to_string(),
                };
                *item = SelectItem::ExprWithAlias {
                    expr: expr.clone(),
                    alias: ident(short(&name)),
                };
            }
        }
    }

    fn hints(&mut self, query: &Query) {
        let SetExpr::Select(select) = query.body.as_ref() else {
            return;
        };
        let hint = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
                function::type_of(e)
            }
            _ => None,
        };
        let star = |i: &SelectItem| {
            matches!(
                i,
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
            )
        };
        let list = &select.projection;
        self.sql.hints.0 = list.iter().take_while(|i| !star(i)).map(hint).collect();
        if self.sql.hints.0.len() < list.len() {
            self.sql.hints.1 = list
                .iter()
                .rev()
                .take_while(|i| !star(i))
                .map(hint)
                .collect();
        }
    }

    /// INSERT and REPLACE. `auto` is the table's AUTO_INCREMENT column and `columns` are all of
    /// its columns, where that is known.
    pub fn insert(
        mut self,
        mut insert: Insert,
        auto: Option<&str>,
        columns: &[String],
    ) -> Result<Sql> {
        let change = if insert.replace_into {
            "REPLACE"
        } else {
            "INSERT"
        };
        let TableObject::TableName(name) = &insert.table else {
            return Err(super::near("FUNCTION"));
        };
        if insert.partitioned.is_some() || insert.returning.is_some() || insert.overwrite {
            return Err(SqlError::unsupported("PARTITION and RETURNING in INSERT"));
        }
        let (database, table) = self.resolve(name)?;
        self.note(&database, &table);
        self.sql.writes = Some(database.clone());
        self.sql.makes_ids = auto.is_some();
        let mut names: Vec<String> = insert.columns.iter().map(last_name).collect();
        if !insert.assignments.is_empty() {
            // INSERT ... SET a = 1
            let mut row = Vec::new();
            for assignment in std::mem::take(&mut insert.assignments) {
                let AssignmentTarget::ColumnName(name) = &assignment.target else {
                    return Err(super::near("("));
                };
                names.push(last_name(name));
                row.push(assignment.value);
            }
            insert.source = Some(values_query(vec![row])?);
        }
        let Some(mut source) = insert.source.take() else {
            return Err(super::near("DEFAULT"));
        };
        let all: &[String] = if names.is_empty() { columns } else { &names };
        let auto_at = auto.and_then(|a| all.iter().position(|c| c.eq_ignore_ascii_case(a)));
        self.inserting = true;
        let mut text = String::new();
        let mut is_values = false;
        if let SetExpr::Values(Values { rows, .. }) = source.body.as_mut()
            && source.with.is_none()
            && source.order_by.is_none()
            && source.limit_clause.is_none()
        {
            is_values = true;
            let mut out = Vec::with_capacity(rows.len());
            for row in rows.iter_mut() {
                let cells: &mut Vec<Expr> = &mut *row;
                if cells.len() != all.len()
                    && !all.is_empty()
                    && !(cells.is_empty() && names.is_empty())
                {
                    return Err(SqlError::new(
                        1136,
                        format!(
                            "Column count doesn't match value count at row {}",
                            out.len() + 1
                        ),
                    ));
                }
                let mut row = Vec::with_capacity(cells.len());
                for (i, cell) in cells.iter_mut().enumerate() {
                    if matches!(cell, Expr::Identifier(d) if d.quote_style.is_none() && d.value.eq_ignore_ascii_case("DEFAULT"))
                    {
                        row.push(self.default_of(
                            &database,
                            &table,
                            all.get(i).map(String::as_str),
                        ));
                        continue;
                    }
                    self.visit(cell)?;
                    if auto_at == Some(i) && may_be_zero(cell) {
                        row.push(format!("nullif({cell}, 0)"));
                    } else {
                        row.push(cell.to_string());
                    }
                }
                out.push(row);
            }
            if out.iter().all(Vec::is_empty) {
                if out.len() != 1 {
                    return Err(SqlError::unsupported("several rows of defaults"));
                }
                text.push_str("DEFAULT VALUES");
            } else {
                text.push_str("VALUES ");
                for (i, row) in out.iter().enumerate() {
                    text.push_str(if i == 0 { "(" } else { ", (" });
                    text.push_str(&row.join(", "));
                    text.push(')');
                }
            }
        } else {
            self.visit(source.as_mut())?;
            text = source.to_string();
        }
        let or = if insert.ignore { " OR IGNORE" } else { "" };
        let list = if names.is_empty() {
            String::new()
        } else {
            format!(
                " ({})",
                names
                    .iter()
                    .map(|n| quote(n))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        };
        let mut alias = String::new();
        if let Some(a) = &insert.insert_alias {
            alias = last_name(&a.row_alias);
        }
        let mut sql = format!(
            "{change}{or} INTO {}.{}{list} {text}",
            quote(&database),
            quote(&table)
        );
        match insert.on.take() {
            None => {}
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => {
                if !is_values {
                    // Otherwise SQLite takes ON for a join's.
                    sql = format!(
                        "{change}{or} INTO {}.{}{list} SELECT * FROM ({text}) WHERE true",
                        quote(&database),
                        quote(&table)
                    );
                }
                sql.push_str(" ON CONFLICT DO UPDATE SET ");
                for (i, mut assignment) in assignments.into_iter().enumerate() {
                    let AssignmentTarget::ColumnName(name) = &assignment.target else {
                        return Err(super::near("("));
                    };
                    let column = last_name(name);
                    excluded(&mut assignment.value, &alias);
                    self.visit(&mut assignment.value)?;
                    let comma = if i == 0 { "" } else { ", " };
                    sql.push_str(&format!("{comma}{} = {}", quote(&column), assignment.value));
                }
            }
            Some(OnInsert::OnConflict(_)) => return Err(super::near("ON CONFLICT")),
            Some(other) => return Err(super::near(other)),
        }
        self.sql.text = sql;
        Ok(self.sql)
    }

    /// DEFAULT as a value. SQLite has no such word in VALUES.
    fn default_of(&self, database: &str, table: &str, column: Option<&str>) -> String {
        let text = |t: &str| literal(t);
        format!(
            "tare_default({}, {}, {})",
            text(database),
            text(table),
            text(column.unwrap_or(""))
        )
    }

    /// UPDATE of one table.
    pub fn update(mut self, mut update: Update) -> Result<Sql> {
        if !update.table.joins.is_empty() || update.from.is_some() || update.returning.is_some() {
            return Err(SqlError::unsupported("UPDATE of several tables"));
        }
        let (database, table, alias) = self.target(&update.table)?;
        self.sql.writes = Some(database.clone());
        let or = match update.or {
            Some(_) => " OR IGNORE",
            None => "",
        };
        let mut sql = format!(
            "UPDATE{or} {}.{}{}",
            quote(&database),
            quote(&table),
            as_alias(alias.as_deref())
        );
        for (i, assignment) in update.assignments.iter_mut().enumerate() {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(super::near("("));
            };
            let column = last_name(name);
            self.visit(&mut assignment.value)?;
            let word = if i == 0 { " SET" } else { "," };
            sql.push_str(&format!("{word} {} = {}", quote(&column), assignment.value));
        }
        let tail = self.some_rows(
            &database,
            &table,
            alias.as_deref(),
            update.selection.take(),
            update.order_by,
            update.limit,
        )?;
        self.sql.text = sql + &tail;
        Ok(self.sql)
    }

    /// DELETE from one table.
    pub fn delete(mut self, mut delete: Delete) -> Result<Sql> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let [one] = from.as_slice() else {
            return Err(SqlError::unsupported("DELETE from several tables"));
        };
        if !one.joins.is_empty()
            || !delete.tables.is_empty()
            || delete.using.is_some()
            || delete.returning.is_some()
        {
            return Err(SqlError::unsupported("DELETE from several tables"));
        }
        let (database, table, alias) = self.target(one)?;
        self.sql.writes = Some(database.clone());
        let tail = self.some_rows(
            &database,
            &table,
            alias.as_deref(),
            delete.selection.take(),
            delete.order_by,
            delete.limit,
        )?;
        self.sql.text = format!(
            "DELETE FROM {}.{}{}{tail}",
            quote(&database),
            quote(&table),
            as_alias(alias.as_deref())
        );
        Ok(self.sql)
    }

    fn target(&mut self, table: &TableWithJoins) -> Result<(String, String, Option<String>)> {
        let TableFactor::Table { name, alias, .. } = &table.relation else {
            return Err(SqlError::new(
                1288,
                "The target table of the UPDATE or DELETE is not updatable",
            ));
        };
        let (database, table) = self.resolve(name)?;
        self.note(&database, &table);
        let (database, table) = canonical(database, table);
        Ok((
            database,
            table,
            alias.as_ref().map(|a| a.name.value.clone()),
        ))
    }

    /// WHERE, ORDER BY and LIMIT of an UPDATE or DELETE: SQLite has no LIMIT there, but rowids.
    fn some_rows(
        &mut self,
        database: &str,
        table: &str,
        alias: Option<&str>,
        selection: Option<Expr>,
        order: Vec<OrderByExpr>,
        limit: Option<Expr>,
    ) -> Result<String> {
        let mut tail = String::new();
        if let Some(mut selection) = selection {
            self.visit(&mut selection)?;
            tail = format!(" WHERE {selection}");
        }
        let Some(mut limit) = limit else {
            return Ok(tail);
        };
        self.visit(&mut limit)?;
        let mut by = Vec::new();
        for mut item in order {
            self.visit(&mut item.expr)?;
            by.push(item.to_string());
        }
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" ORDER BY {}", by.join(", "))
        };
        Ok(format!(
            " WHERE rowid IN (SELECT rowid FROM {}.{}{}{tail}{by} LIMIT {limit})",
            quote(database),
            quote(table),
            as_alias(alias)
        ))
    }

    fn note(&mut self, database: &str, table: &str) {
        if is_system_schema(database) {
            self.sql
                .catalog
                .push((database.to_ascii_lowercase(), table.to_ascii_lowercase()));
        } else if !self.sql.databases.iter().any(|d| d == database) {
            self.sql.databases.push(database.to_owned());
        }
    }

    fn select(&mut self, select: &mut Select) -> Result<()> {
        if select.into.is_some() {
            return Err(SqlError::unsupported("SELECT ... INTO"));
        }
        select.select_modifiers = None;
        select.optimizer_hints.clear();
        if matches!(select.distinct, Some(Distinct::All)) {
            select.distinct = None;
        }
        // FROM DUAL is no table.
        if let [one] = select.from.as_slice()
            && one.joins.is_empty()
            && matches!(&one.relation, TableFactor::Table { name, .. }
                if matches!(name.0.as_slice(), [ObjectNamePart::Identifier(i)] if i.value.eq_ignore_ascii_case("dual")))
        {
            select.from.clear();
        }
        if let GroupByExpr::Expressions(_, modifiers) = &select.group_by
            && !modifiers.is_empty()
        {
            return Err(SqlError::unsupported("WITH ROLLUP"));
        }
        for table in &mut select.from {
            for join in &mut table.joins {
                if let JoinOperator::StraightJoin(on) = &join.join_operator {
                    // SQLite keeps the order of a CROSS JOIN.
                    join.join_operator = JoinOperator::CrossJoin(on.clone());
                }
            }
        }
        Ok(())
    }

    fn expr(&mut self, expr: &mut Expr) -> Result<()> {
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
                        let n = u64::from_str_radix(bits, 2).map_err(|_| super::near(bits))?;
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
                *expr = variable(&name.value, None)?;
                Ok(())
            }
            Expr::CompoundIdentifier(parts)
                if parts[0].quote_style.is_none() && parts[0].value.starts_with("@@") =>
            {
                let [scope, name] = parts.as_slice() else {
                    return Err(super::near(expr));
                };
                *expr = variable(&scope.value, Some(&name.value))?;
                Ok(())
            }
            Expr::CompoundIdentifier(parts)
                if parts.len() == 3 && is_system_schema(&parts[0].value) =>
            {
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
                    BinaryOperator::Xor => raw(format!("(({left}) <> 0) <> (({right}) <> 0)")),
                    BinaryOperator::BitwiseXor => of("tare_xor"),
                    BinaryOperator::PGBitwiseShiftLeft => raw(format!("({left} << {right})")),
                    BinaryOperator::PGBitwiseShiftRight => raw(format!("({left} >> {right})")),
                    BinaryOperator::StringConcat => raw(format!("(({left}) OR ({right}))")),
                    BinaryOperator::Overlaps => raw(format!("(({left}) AND ({right}))")),
                    BinaryOperator::Regexp => of("tare_regexp"),
                    BinaryOperator::Assignment => {
                        let name = match left.as_ref() {
                            Expr::Value(_) => left.to_string(),
                            _ => return Err(super::near(":=")),
                        };
                        // `left` has been made tare_user_variable('x') already.
                        let name = name
                            .strip_prefix("tare_user_variable(")
                            .and_then(|n| n.strip_suffix(')'))
                            .ok_or_else(|| super::near(":="))?;
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
                            _ => return Err(super::near("INTERVAL")),
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
                    | BinaryOperator::BitwiseAnd
                    | BinaryOperator::Arrow
                    | BinaryOperator::LongArrow => return Ok(()),
                    other => return Err(super::near(other)),
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
                    return Err(super::near("::"));
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
            Expr::Function(f) => function::rewrite(f, self.inserting).map(|new| {
                if let Some(new) = new {
                    *expr = new
                }
            }),
            Expr::MatchAgainst { .. } => Err(SqlError::unsupported("MATCH ... AGAINST")),
            _ => Ok(()),
        }
    }
}

fn as_alias(alias: Option<&str>) -> String {
    alias.map_or_else(String::new, |a| format!(" AS {}", quote(a)))
}

/// System schemas and their tables compare without case.
pub fn canonical(database: String, table: String) -> (String, String) {
    if is_system_schema(&database) {
        (database.to_ascii_lowercase(), table.to_ascii_lowercase())
    } else {
        (database, table)
    }
}

fn may_be_zero(cell: &Expr) -> bool {
    match cell {
        Expr::Value(v) => match &v.value {
            Value::Number(n, _) => n.parse::<i64>().map_or(true, |n| n == 0),
            _ => true,
        },
        _ => true,
    }
}

/// Number and unit of an INTERVAL.
pub fn interval(expr: &Expr) -> Option<(String, String)> {
    let Expr::Interval(i) = expr else { return None };
    let unit = i.leading_field.as_ref()?.to_string().to_uppercase();
    Some((i.value.to_string(), unit))
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
            format!("round(tare_real({value}), {scale})")
        }
        Double(_) | DoublePrecision | Float(_) | Real => format!("tare_real({value})"),
        Date => format!("date({value})"),
        Datetime(_) | Timestamp(..) => format!("tare_datetime({value})"),
        Time(..) => format!("time({value})"),
        Binary(_) | Varbinary(_) => format!("CAST({value} AS BLOB)"),
        Char(Some(sqlparser::ast::CharacterLength::IntegerLength { length, .. })) => {
            format!("tare_substr(CAST({value} AS TEXT), 1, {length})")
        }
        JSON => format!("json({value})"),
        _ => format!("CAST({value} AS TEXT)"),
    };
    raw(text)
}

/// `@x`, `@@x`, `@@session.x`.
fn variable(first: &str, second: Option<&str>) -> Result<Expr> {
    if let Some(system) = first.strip_prefix("@@") {
        let (scope, name) = match second {
            Some(name) => (system.to_ascii_lowercase(), name),
            None => (String::new(), system),
        };
        if !matches!(scope.as_str(), "" | "global" | "session" | "local") {
            return Err(super::near(first));
        }
        let name = name.to_ascii_lowercase();
        if !crate::server::variables::is_known(&name) {
            return Err(SqlError::new(
                1193,
                format!("Unknown system variable '{name}'"),
            ));
        }
        return Ok(raw(format!(
            "tare_variable({}, {})",
            literal(&scope),
            literal(&name)
        )));
    }
    if second.is_some() {
        return Err(super::near(first));
    }
    let name = first.trim_start_matches('@').to_lowercase();
    Ok(raw(format!("tare_user_variable({})", literal(&name))))
}

/// In ON DUPLICATE KEY UPDATE, VALUES(c) and the row's alias are the row that was refused.
fn excluded(expr: &mut Expr, alias: &str) {
    let _ = sqlparser::ast::visit_expressions_mut(expr, |e| {
        match e {
            Expr::Function(Function {
                name,
                args: FunctionArguments::List(list),
                ..
            }) if last_name(name).eq_ignore_ascii_case("VALUES") && list.args.len() == 1 => {
                let column = list.args[0].to_string();
                *e = raw(format!("excluded.{}", quote(column.trim_matches('`'))));
            }
            Expr::CompoundIdentifier(parts)
                if parts.len() == 2 && !alias.is_empty() && parts[0].value == alias =>
            {
                *e = raw(format!("excluded.{}", quote(&parts[1].value)));
            }
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
}

fn values_query(rows: Vec<Vec<Expr>>) -> Result<Box<Query>> {
    let mut query = match super::parse_one("VALUES (1)")? {
        Statement::Query(query) => query,
        other => return Err(super::near(other)),
    };
    if let SetExpr::Values(values) = query.body.as_mut() {
        let first = values
            .rows
            .first()
            .cloned()
            .ok_or_else(|| super::near("VALUES"))?;
        values.rows = rows
            .into_iter()
            .map(|row| {
                let mut parens = first.clone();
                *parens = row;
                parens
            })
            .collect();
    }
    Ok(query)
}

impl VisitorMut for Rewriter<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        if let Some(with) = &query.with {
            self.ctes.extend(
                with.cte_tables
                    .iter()
                    .map(|c| c.alias.name.value.to_lowercase()),
            );
        }
        query.locks.clear();
        if let Some(LimitClause::OffsetCommaLimit { offset, limit }) = &query.limit_clause {
            query.limit_clause = Some(LimitClause::LimitOffset {
                limit: Some(limit.clone()),
                offset: Some(sqlparser::ast::Offset {
                    value: offset.clone(),
                    rows: sqlparser::ast::OffsetRows::None,
                }),
                limit_by: Vec::new(),
            });
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        match self.select(select) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        let TableFactor::Table {
            name,
            alias,
            index_hints,
            partitions,
            ..
        } = factor
        else {
            return ControlFlow::Continue(());
        };
        index_hints.clear();
        partitions.clear();
        if let [ObjectNamePart::Identifier(i)] = name.0.as_slice()
            && self.ctes.contains(&i.value.to_lowercase())
        {
            return ControlFlow::Continue(());
        }
        match self.resolve(name) {
            Ok((database, table)) => {
                self.note(&database, &table);
                let (database, table) = canonical(database, table);
                // SQLite names a column of the result after the table; clients expect the name
                // as they wrote it.
                if alias.is_none() && is_system_schema(&database) {
                    let written = name
                        .0
                        .last()
                        .and_then(|p| p.as_ident())
                        .map(|i| i.value.clone());
                    debug_assert!(written.is_some());
                }
                *name = ObjectName::from(vec![ident(&database), ident(&table)]);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        match self.expr(expr) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// What kind of change an INSERT is.
pub fn change_of(insert: &Insert) -> Change {
    if insert.replace_into {
        Change::Replace
    } else {
        Change::Insert
    }
}

/// The AUTO_INCREMENT column of an INSERT's table, and all of its columns.
pub fn insert_columns(
    connection: &mut Connection,
    database: &str,
    table: &str,
) -> Result<(Option<String>, Vec<String>)> {
    if is_system_schema(database) {
        return Ok((None, Vec::new()));
    }
    match connection.table(database, table)? {
        None => Err(SqlError::no_such_table(database, table)),
        Some(def) => Ok((
            def.auto_increment().map(|c| c.name.clone()),
            def.columns.iter().map(|c| c.name.clone()).collect(),
        )),
    }
}

/// Types that an expression tells by itself.
pub type Hint = Option<WireType>;
