//! Which columns of a result are from a view of schema sys, and which have no type in SQLite.

use sqlparser::ast::{
    Expr, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor,
};

use crate::join::shares_columns;
use crate::name::last_name;
use crate::plan::ViewColumn;
use crate::rewrite::Rewriter;
use crate::schema::SystemColumn;

/// A column of a FROM clause: its name, and the view that it is from.
#[derive(Debug, Clone)]
struct Origin {
    table: String,
    name: String,
    view: Option<ViewColumn>,
    /// A column of a table, which has a type of its own in SQLite, or of a view, which has been given one.
    typed: bool,
}

type Columns = (Vec<Option<ViewColumn>>, Vec<Option<ViewColumn>>);

impl Rewriter<'_> {
    /// The positions of the columns of a view's SELECT that have no type in SQLite: their numbers would compare
    /// with a text as texts.
    pub fn untyped(&self, query: &Query, columns: usize) -> Vec<usize> {
        let origin: Option<Vec<Origin>> = match query.body.as_ref() {
            SetExpr::Select(select) => {
                let from = self.from(select);
                let items = select.projection.iter().map(|item| self.item(item, &from));
                items.collect::<Option<Vec<_>>>().map(|all| all.concat())
            }
            _ => None,
        };
        let typed = |i: &usize| {
            origin
                .as_ref()
                .and_then(|k| k.get(*i))
                .is_some_and(|k| k.typed)
        };
        (0..columns).filter(|i| !typed(i)).collect()
    }

    /// Which columns of a result are from a view.
    pub(in crate::rewrite) fn view_columns(&self, query: &Query) -> Columns {
        let SetExpr::Select(select) = query.body.as_ref() else {
            return Columns::default();
        };
        let from = self.from(select);
        if !from.1.iter().any(|k| k.view.is_some()) {
            return Columns::default();
        }
        let mut front = Vec::new();
        let mut stopped = None;
        for (i, item) in select.projection.iter().enumerate() {
            match self.item(item, &from) {
                Some(columns) => front.extend(columns.into_iter().map(|k| k.view)),
                None => {
                    stopped = Some(i);
                    break;
                }
            }
        }
        let mut back = Vec::new();
        if let Some(stopped) = stopped {
            for item in select.projection[stopped..].iter().rev() {
                match self.item(item, &from) {
                    Some(columns) => back.extend(columns.into_iter().rev().map(|k| k.view)),
                    None => break,
                }
            }
        }
        (front, back)
    }

    /// The columns of an item of a select list; `None` if they cannot be determined.
    fn item(&self, item: &SelectItem, from: &(bool, Vec<Origin>)) -> Option<Vec<Origin>> {
        let one = |origin: Origin| Some(vec![origin]);
        let other = |name: String| Origin {
            table: String::new(),
            name,
            view: None,
            typed: false,
        };
        match item {
            SelectItem::Wildcard(_) => from.0.then(|| from.1.clone()),
            SelectItem::QualifiedWildcard(kind, _) => {
                let SelectItemQualifiedWildcardKind::ObjectName(name) = kind else {
                    return None;
                };
                let table = last_name(name);
                let columns: Vec<Origin> = from
                    .1
                    .iter()
                    .filter(|k| k.table.eq_ignore_ascii_case(&table))
                    .cloned()
                    .collect();
                (!columns.is_empty()).then_some(columns)
            }
            SelectItem::UnnamedExpr(e) => {
                let origin = column(e, &from.1);
                one(origin.unwrap_or_else(|| other(e.to_string())))
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                let origin = column(expr, &from.1).map(|k| Origin {
                    name: alias.value.clone(),
                    ..k
                });
                one(origin.unwrap_or_else(|| other(alias.value.clone())))
            }
            _ => None,
        }
    }

    /// The known columns of a FROM clause, and whether all are known.
    fn from(&self, select: &Select) -> (bool, Vec<Origin>) {
        let mut all = !shares_columns(&select.from);
        let mut columns = Vec::new();
        for table in &select.from {
            let joined = table.joins.iter().map(|j| &j.relation);
            for factor in std::iter::once(&table.relation).chain(joined) {
                match self.factor(factor) {
                    Some(more) => columns.extend(more),
                    None => all = false,
                }
            }
        }
        (all, columns)
    }

    fn factor(&self, factor: &TableFactor) -> Option<Vec<Origin>> {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let single = name.0.len() == 1;
                if single && self.ctes.contains(&last_name(name).to_lowercase()) {
                    return None;
                }
                let (database, table) = self.resolve(name).ok()?;
                let called = alias
                    .as_ref()
                    .map_or_else(|| table.clone(), |a| a.name.value.clone());
                let columns = self.names.schema.system_table(&database, &table)?;
                let sys = database.eq_ignore_ascii_case("sys");
                let view = self.names.schema.view(&table).filter(|_| sys);
                let origin = |column: SystemColumn| Origin {
                    table: called.clone(),
                    name: column.name.to_owned(),
                    view: view.map(|view| ViewColumn {
                        table: called.clone(),
                        view: view.name(),
                        column,
                    }),
                    typed: true,
                };
                Some(columns.into_iter().map(origin).collect())
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let SetExpr::Select(select) = subquery.body.as_ref() else {
                    return None;
                };
                let from = self.from(select);
                let called = alias
                    .as_ref()
                    .map(|a| a.name.value.clone())
                    .unwrap_or_default();
                let mut columns = Vec::new();
                for item in &select.projection {
                    for origin in self.item(item, &from)? {
                        columns.push(Origin {
                            table: called.clone(),
                            ..origin
                        });
                    }
                }
                Some(columns)
            }
            _ => None,
        }
    }
}

/// The column that an expression names.
fn column(expr: &Expr, from: &[Origin]) -> Option<Origin> {
    let (table, name) = match expr {
        Expr::Identifier(name) => (None, name),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [.., table, name] => (Some(&table.value), name),
            _ => return None,
        },
        Expr::Nested(inner) => return column(inner, from),
        _ => return None,
    };
    from.iter()
        .find(|k| {
            k.name.eq_ignore_ascii_case(&name.value)
                && table.is_none_or(|t| k.table.eq_ignore_ascii_case(t))
        })
        .cloned()
}
