//! The columns of tables, queries and select lists.

use std::sync::Arc;

use sqlparser::ast::{
    Cte, Expr, Function, JoinConstraint, JoinOperator, ObjectName, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, TableWithJoins,
};

use super::grouped::{Groups, has_window};
use super::{Column, Names, Origin, Relation, Scope};
use crate::function::{self, arguments, name_of};
use crate::join::constraint;
use crate::name::last_name;
use crate::schema::Schema;
use crate::types;

/// Subqueries deeper than this have columns of unknown type: the search is quadratic in depth.
const MAX_TYPED_DEPTH: usize = 12;

impl Names<'_> {
    fn named(&mut self, name: &ObjectName) -> Option<Arc<Vec<Column>>> {
        let part = |i: usize| {
            name.0
                .get(i)
                .and_then(|p| p.as_ident())
                .map(|i| i.value.clone())
        };
        match name.0.len() {
            1 => {
                let table = part(0)?;
                if let Some(columns) = self.ctes.get(&table.to_lowercase()) {
                    return Some(columns.clone());
                }
                let database = self.database?.to_owned();
                self.table(&database, &table)
            }
            2 => self.table(&part(0)?, &part(1)?),
            _ => None,
        }
    }

    /// The tables of a SELECT's FROM.
    pub fn scope(&mut self, select: &Select) -> Scope {
        self.tables(&select.from)
    }

    /// The tables of a FROM clause.
    pub fn tables(&mut self, from: &[TableWithJoins]) -> Scope {
        let mut scope = Scope::default();
        for table in from {
            self.joined(table, &mut scope);
        }
        scope
    }

    fn joined(&mut self, table: &TableWithJoins, scope: &mut Scope) {
        let first = scope.relations.len();
        self.factor(&table.relation, scope);
        for join in &table.joins {
            let before = scope.relations.len();
            self.factor(&join.relation, scope);
            match &join.join_operator {
                JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => {
                    mark_nullable(&mut scope.relations[before..]);
                }
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) => {
                    mark_nullable(&mut scope.relations[first..before]);
                }
                _ => {}
            }
        }
    }

    fn factor(&mut self, factor: &TableFactor, scope: &mut Scope) {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let columns = self.named(name);
                let called = alias
                    .as_ref()
                    .map_or_else(|| last_name(name), |a| a.name.value.clone());
                let database = match (alias, name.0.as_slice()) {
                    (None, [database, _]) => database.as_ident().map(|i| i.value.clone()),
                    _ => self.database.map(str::to_owned),
                };
                let is_cte =
                    name.0.len() == 1 && self.ctes.contains_key(&last_name(name).to_lowercase());
                let columns = match columns {
                    Some(columns) if is_cte => Some(Arc::new(derived(&columns, &called))),
                    other => other,
                };
                scope.relations.push(Relation {
                    alias: called,
                    database,
                    columns,
                });
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let columns = self.table_columns(subquery, alias.as_ref());
                let called = alias.as_ref().map(|a| a.name.value.clone());
                let called = called.unwrap_or_default();
                scope.relations.push(Relation {
                    columns: columns.map(|c| Arc::new(derived(&c, &called))),
                    alias: called,
                    database: None,
                });
            }
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => self.joined(table_with_joins, scope),
            _ => scope.relations.push(Relation {
                alias: String::new(),
                database: None,
                columns: None,
            }),
        }
    }

    /// Adds the common table expressions of a query.
    pub fn with(&mut self, query: &Query) {
        let Some(with) = &query.with else { return };
        for Cte { alias, query, .. } in &with.cte_tables {
            let name = alias.name.value.to_lowercase();
            // A recursive one reads itself: at first only its names are known.
            let first = match query.body.as_ref() {
                SetExpr::SetOperation { left, .. } if with.recursive => self.body(left),
                _ => None,
            };
            if let Some(columns) = first {
                let columns = columns.into_iter().map(|mut column| {
                    let stored = column.wire.map(|t| types::of_union(t, t));
                    column.wire = stored.map(|t| types::nullable(t, true));
                    column.temporary = None;
                    column
                });
                let columns = renamed(columns.collect(), Some(alias));
                self.ctes.insert(name.clone(), Arc::new(columns));
                if names_itself(query, &alias.name.value) {
                    continue;
                }
            }
            if let Some(columns) = self.table_columns(query, Some(alias)) {
                self.ctes.insert(name, Arc::new(columns));
            }
        }
    }

    /// The columns of a derived table.
    fn table_columns(&mut self, query: &Query, alias: Option<&TableAlias>) -> Option<Vec<Column>> {
        let columns = renamed(self.columns(query)?, alias);
        Some(match is_merged(query, self.schema) {
            true => columns,
            false => columns.into_iter().map(Column::materialized).collect(),
        })
    }

    /// The columns of a query's result.
    pub fn columns(&mut self, query: &Query) -> Option<Vec<Column>> {
        if self.depth > MAX_TYPED_DEPTH {
            return None;
        }
        self.depth += 1;
        let ctes = query.with.as_ref().map(|_| self.ctes.clone());
        self.with(query);
        let mut columns = self.body(&query.body);
        self.ungrouped = None;
        if let (SetExpr::Select(select), Some(columns)) = (query.body.as_ref(), &mut columns) {
            let sorts = query.order_by.as_ref();
            let joins_tables = sorts.is_some() && self.reads_joined_view(select);
            let groups = Groups::of(select, sorts, joins_tables, columns);
            let before = (groups != Groups::None).then(|| columns.clone());
            groups.apply(self.schema, select, columns);
            self.ungrouped = before;
        }
        if let Some(ctes) = ctes {
            self.ctes = ctes;
        }
        self.depth -= 1;
        columns
    }

    /// Whether a SELECT reads a view of MySQL's over several tables.
    fn reads_joined_view(&mut self, select: &Select) -> bool {
        let factors = select.from.iter().flat_map(|table| {
            let joined = table.joins.iter().map(|join| &join.relation);
            std::iter::once(&table.relation).chain(joined)
        });
        let is_joined = |c: &Column| c.origin.as_ref().is_some_and(|o| o.sorted.is_some());
        factors.into_iter().any(|factor| match factor {
            TableFactor::Table { name, .. } => self
                .named(name)
                .is_some_and(|all| all.iter().any(is_joined)),
            _ => false,
        })
    }

    /// The columns of a query's body.
    pub fn body(&mut self, body: &SetExpr) -> Option<Vec<Column>> {
        match body {
            SetExpr::Select(select) => {
                let scope = self.scope(select);
                self.scopes.push(scope);
                let columns = self.projection(select);
                self.scopes.pop();
                columns
            }
            SetExpr::Query(query) => self.columns(query),
            SetExpr::SetOperation { left, right, .. } => {
                let mut columns = self.body(left)?;
                let others = self.body(right)?;
                for (column, other) in columns.iter_mut().zip(others) {
                    column.wire = match (column.wire, other.wire) {
                        (Some(a), Some(b)) => Some(types::of_union(a, b)),
                        _ => None,
                    };
                    column.def = self
                        .defines
                        .then(|| Arc::new(types::definition_from_wire(column.wire, &column.name)));
                    column.origin = Some(Arc::new(Origin {
                        org_name: column.name.clone(),
                        ..Origin::default()
                    }));
                    column.temporary = column.wire;
                    column.own_scale = false;
                    column.stored = false;
                    column.members = None;
                }
                Some(columns)
            }
            SetExpr::Values(values) => {
                let mut columns = Vec::new();
                for (i, expr) in values.rows.first()?.iter().enumerate() {
                    let name = format!("column_{i}");
                    let all = values.rows.iter().filter_map(|row| row.get(i));
                    let wire = types::common(all, self);
                    let def = self
                        .defines
                        .then(|| Arc::new(types::definition_of(expr, &name, self)));
                    columns.push(Column {
                        def,
                        temporary: wire.map(types::stored),
                        ..Column::of_type(name, wire)
                    });
                }
                Some(columns)
            }
            SetExpr::Table(table) => {
                let table = table.table_name.as_ref()?;
                let schema = self.database.map(str::to_owned);
                let database = schema?;
                let columns = self.table(&database, table)?;
                Some(columns.iter().cloned().collect())
            }
            _ => None,
        }
    }

    fn projection(&mut self, select: &Select) -> Option<Vec<Column>> {
        let mut columns = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::Wildcard(_) => {
                    let mut relations = self.scopes.last()?.relations.iter();
                    for table in &select.from {
                        columns.extend(joined_columns(table, &mut relations)?);
                    }
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let alias = last_name(name);
                    let relations = &self.scopes.last()?.relations;
                    let relation = relations
                        .iter()
                        .find(|r| r.alias.eq_ignore_ascii_case(&alias))?;
                    columns.extend(selected(relation)?);
                }
                SelectItem::UnnamedExpr(e) => {
                    let name = match e {
                        Expr::Identifier(i) => i.value.clone(),
                        Expr::CompoundIdentifier(parts) => {
                            parts.last().map(|p| p.value.clone()).unwrap_or_default()
                        }
                        other => other.to_string(),
                    };
                    columns.push(self.item(e, name));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    columns.push(self.item(expr, alias.value.clone()));
                }
                _ => return None,
            }
        }
        Some(columns)
    }

    /// An expression of a select list, as a column.
    fn item(&mut self, expr: &Expr, name: String) -> Column {
        let def = self
            .defines
            .then(|| Arc::new(types::definition_of(expr, &name, self)));
        if let Some((relation, column)) = self.relation_column(expr) {
            return Column {
                zoned: false,
                name,
                def,
                ..named(column, relation)
            };
        }
        let wire = types::of(expr, self).map(types::unmarked);
        Column {
            temporary: self.temporary_of(expr).or(wire.map(types::stored)),
            own_scale: chooses(expr),
            def,
            ..Column::of_type(name, wire)
        }
    }

    /// The type of MIN and MAX of a column in a temporary table.
    fn temporary_of(&self, expr: &Expr) -> Option<tare_mysql::wire::column::WireType> {
        let Expr::Function(f) = expr else { return None };
        let is_extreme = matches!(name_of(f).as_str(), "min" | "max") && f.over.is_none();
        let argument = arguments(f).first().copied().filter(|_| is_extreme)?;
        let wire = self.column_of(argument)?.wire?;
        Some(types::of_aggregate(wire))
    }
}

/// Whether an expression is IF, CASE or NULLIF, which return an argument as it is.
fn chooses(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => chooses(inner),
        Expr::Case { .. } => true,
        Expr::Function(f) => matches!(name_of(f).as_str(), "if" | "nullif"),
        _ => false,
    }
}

/// A column with the name that the statement uses for its table.
fn named(column: &Column, relation: &Relation) -> Column {
    let mut column = column.clone();
    if let Some(origin) = &column.origin
        && origin.table != relation.alias
    {
        column.origin = Some(Arc::new(Origin {
            table: relation.alias.clone(),
            ..origin.as_ref().clone()
        }));
    }
    column
}

/// A table's columns as `*` selects them: a TIMESTAMP is converted to the time zone.
fn selected(relation: &Relation) -> Option<Vec<Column>> {
    let columns = relation.columns.as_ref()?.iter();
    let column = |column| Column {
        zoned: false,
        ..named(column, relation)
    };
    Some(columns.map(column).collect())
}

/// The columns of joined tables as `*` selects them: those that USING or NATURAL shares once, and first.
fn joined_columns<'r>(
    table: &TableWithJoins,
    relations: &mut impl Iterator<Item = &'r Relation>,
) -> Option<Vec<Column>> {
    let mut columns = factor_columns(&table.relation, relations)?;
    for join in &table.joins {
        let mut right = factor_columns(&join.relation, relations)?;
        let is = |name: &str, column: &Column| column.name.eq_ignore_ascii_case(name);
        let shared: Vec<String> = match constraint(&join.join_operator) {
            Some(JoinConstraint::Using(names)) => names.iter().map(last_name).collect(),
            Some(JoinConstraint::Natural) => columns
                .iter()
                .map(|c| c.name.clone())
                .filter(|name| right.iter().any(|c| is(name, c)))
                .collect(),
            _ => Vec::new(),
        };
        let is_right = matches!(
            join.join_operator,
            JoinOperator::Right(_) | JoinOperator::RightOuter(_)
        );
        let mut all = Vec::new();
        for name in &shared {
            let (left_at, right_at) = (
                columns.iter().position(|c| is(name, c))?,
                right.iter().position(|c| is(name, c))?,
            );
            let (left, right) = (columns.remove(left_at), right.remove(right_at));
            all.push(if is_right { right } else { left });
        }
        all.append(&mut columns);
        all.append(&mut right);
        columns = all;
    }
    Some(columns)
}

fn factor_columns<'r>(
    factor: &TableFactor,
    relations: &mut impl Iterator<Item = &'r Relation>,
) -> Option<Vec<Column>> {
    match factor {
        TableFactor::NestedJoin {
            table_with_joins, ..
        } => joined_columns(table_with_joins, relations),
        _ => selected(relations.next()?),
    }
}

/// The columns of a derived table or a common table expression.
fn derived(columns: &[Column], alias: &str) -> Vec<Column> {
    columns.iter().cloned().map(|c| c.derived(alias)).collect()
}

/// Whether a query's tables become tables of the statement around it: nothing is computed in between.
pub(super) fn is_merged(query: &Query, schema: &dyn Schema) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    let groups = match &select.group_by {
        sqlparser::ast::GroupByExpr::Expressions(by, _) => !by.is_empty(),
        sqlparser::ast::GroupByExpr::All(_) => true,
    };
    let computes = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
            has_aggregate(e, schema) || has_window(e)
        }
        _ => false,
    };
    query.limit_clause.is_none()
        && !groups
        && select.distinct.is_none()
        && select.having.is_none()
        && !select.from.is_empty()
        && !select.projection.iter().any(computes)
}

/// Whether an expression calls an aggregate function.
pub(super) fn has_aggregate(expr: &Expr, schema: &dyn Schema) -> bool {
    let mut result = false;
    let is = |f: &Function| f.over.is_none() && function::is_aggregate(schema, &name_of(f));
    crate::walk::expressions(expr, &mut |e| {
        result |= matches!(e, Expr::Function(f) if is(f));
    });
    result
}

/// Whether a recursive common table expression reads itself.
fn names_itself(query: &Query, name: &str) -> bool {
    let mut reads = false;
    let _ = sqlparser::ast::visit_relations(query, |relation| {
        reads |= last_name(relation).eq_ignore_ascii_case(name);
        std::ops::ControlFlow::<()>::Continue(())
    });
    reads
}

/// Marks the columns of the inner side of an outer join as nullable.
fn mark_nullable(relations: &mut [Relation]) {
    for columns in relations.iter_mut().filter_map(|r| r.columns.as_mut()) {
        let mut all = columns.as_ref().clone();
        for column in &mut all {
            let null = |t| types::nullable(t, true);
            column.wire = column.wire.map(null);
            column.temporary = column.temporary.map(null);
            if let Some(def) = &mut column.def {
                let def = Arc::make_mut(def);
                def.nullable = true;
                def.auto_increment = false;
            }
        }
        *columns = Arc::new(all);
    }
}

fn renamed(mut columns: Vec<Column>, alias: Option<&TableAlias>) -> Vec<Column> {
    if let Some(alias) = alias {
        for (column, name) in columns.iter_mut().zip(&alias.columns) {
            column.name.clone_from(&name.name.value);
        }
    }
    columns
}
