//! Schema sys: its views where they are named, its functions where they are called, and which columns
//! of a result are a view's.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query, Select, SelectItem,
    SetExpr, TableAlias, TableFactor,
};
use tare_mysql::error::{Result, SqlError};

use super::Rewriter;
use crate::name::{ident, last_name};
use crate::near;
use crate::plan::ViewColumn;
use crate::schema::SystemColumn;

/// What one column of a FROM clause is: its name, and where it comes from if that is a view.
#[derive(Debug, Clone)]
struct Known {
    table: String,
    name: String,
    view: Option<ViewColumn>,
    /// A column of a table, which has a type of its own in SQLite, or of a view, which has been given one.
    typed: bool,
}

type Columns = (Vec<Option<ViewColumn>>, Vec<Option<ViewColumn>>);

impl Rewriter<'_> {
    /// Puts a view's query in the place of its name. After its parts have been rewritten: the query
    /// has been, too.
    pub(super) fn expand(&mut self, factor: &mut TableFactor) -> Result<()> {
        let TableFactor::Table { name, alias, .. } = factor else {
            return Ok(());
        };
        if name.0.len() == 1 && self.ctes.contains(&last_name(name).to_lowercase()) {
            return Ok(());
        }
        let (database, table) = self.resolve(name)?;
        if !database.eq_ignore_ascii_case("sys") {
            return Ok(());
        }
        let Some(view) = self.names.schema.view(&table) else {
            return Ok(());
        };
        let found = view.query(self.names.schema)?;
        self.sql.catalog.extend(found.catalog.iter().cloned());
        let called = alias.take().unwrap_or_else(|| TableAlias {
            explicit: true,
            name: ident(&table),
            columns: Vec::new(),
            at: None,
        });
        *factor = TableFactor::Derived {
            lateral: false,
            subquery: Box::new(found.query.clone()),
            alias: Some(called),
            sample: None,
        };
        Ok(())
    }

    /// A call of one of sys's functions; `None` when it is another one.
    pub(super) fn routine(&mut self, call: &mut Function) -> Result<Option<Expr>> {
        let name = last_name(&call.name);
        let unknown =
            |schema: &str| SqlError::new(1305, format!("FUNCTION {schema}.{name} does not exist"));
        let found = match call.name.0.as_slice() {
            [_] => match self.database {
                Some(database) if database.eq_ignore_ascii_case("sys") => {
                    self.names.schema.routine(&name)
                }
                _ => None,
            },
            [schema, _] => {
                let schema = schema
                    .as_ident()
                    .map(|i| i.value.clone())
                    .unwrap_or_default();
                if !schema.eq_ignore_ascii_case("sys") {
                    return Err(unknown(&schema));
                }
                Some(
                    self.names
                        .schema
                        .routine(&name)
                        .ok_or_else(|| unknown("sys"))?,
                )
            }
            _ => None,
        };
        let Some(function) = found else {
            return Ok(None);
        };
        let arguments = match &mut call.args {
            FunctionArguments::List(list) => std::mem::take(&mut list.args),
            _ => Vec::new(),
        };
        let arguments = arguments.into_iter().map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Ok(e),
            other => Err(near(other)),
        });
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        let (expr, catalog) = function.call(arguments, self.names.schema)?;
        self.sql.catalog.extend(catalog.iter().cloned());
        Ok(Some(expr))
    }

    /// The columns of a view's SELECT, by number, that have no type in SQLite: there, a text would compare
    /// with their numbers as a text.
    pub fn untyped(&self, query: &Query, columns: usize) -> Vec<usize> {
        let known: Option<Vec<Known>> = match query.body.as_ref() {
            SetExpr::Select(select) => {
                let from = self.from(select);
                let items = select.projection.iter().map(|item| self.item(item, &from));
                items.collect::<Option<Vec<_>>>().map(|all| all.concat())
            }
            _ => None,
        };
        let typed = |i: &usize| {
            known
                .as_ref()
                .and_then(|k| k.get(*i))
                .is_some_and(|k| k.typed)
        };
        (0..columns).filter(|i| !typed(i)).collect()
    }

    /// Which columns of a result are a view's.
    pub(super) fn view_columns(&self, query: &Query) -> Columns {
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

    /// The columns that an item of a select list gives; `None` when they cannot be told.
    fn item(&self, item: &SelectItem, from: &(bool, Vec<Known>)) -> Option<Vec<Known>> {
        let one = |known: Known| Some(vec![known]);
        let other = |name: String| Known {
            table: String::new(),
            name,
            view: None,
            typed: false,
        };
        match item {
            SelectItem::Wildcard(_) => from.0.then(|| from.1.clone()),
            SelectItem::QualifiedWildcard(kind, _) => {
                let table = kind.to_string();
                let table = table.trim_end_matches(".*").rsplit('.').next()?;
                let table = table.trim_matches(['`', '"']);
                let columns: Vec<Known> = from
                    .1
                    .iter()
                    .filter(|k| k.table.eq_ignore_ascii_case(table))
                    .cloned()
                    .collect();
                (!columns.is_empty()).then_some(columns)
            }
            SelectItem::UnnamedExpr(e) => {
                let known = column(e, &from.1);
                one(known.unwrap_or_else(|| other(e.to_string())))
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                let known = column(expr, &from.1).map(|k| Known {
                    name: alias.value.clone(),
                    ..k
                });
                one(known.unwrap_or_else(|| other(alias.value.clone())))
            }
            _ => None,
        }
    }

    /// The columns of a FROM clause as far as they are known, and whether they all are.
    fn from(&self, select: &Select) -> (bool, Vec<Known>) {
        let mut all = true;
        let mut columns = Vec::new();
        for table in &select.from {
            let joins = table.joins.iter();
            all &= joins.clone().all(|j| !shares_columns(&j.join_operator));
            for factor in std::iter::once(&table.relation).chain(joins.map(|j| &j.relation)) {
                match self.factor(factor) {
                    Some(more) => columns.extend(more),
                    None => all = false,
                }
            }
        }
        (all, columns)
    }

    fn factor(&self, factor: &TableFactor) -> Option<Vec<Known>> {
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
                let known = |column: SystemColumn| Known {
                    table: called.clone(),
                    name: column.name.to_owned(),
                    view: view.map(|view| ViewColumn {
                        table: called.clone(),
                        view: view.name(),
                        column,
                    }),
                    typed: true,
                };
                Some(columns.into_iter().map(known).collect())
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
                    for known in self.item(item, &from)? {
                        columns.push(Known {
                            table: called.clone(),
                            ..known
                        });
                    }
                }
                Some(columns)
            }
            _ => None,
        }
    }
}

/// A join whose columns are fewer than its tables'.
fn shares_columns(operator: &sqlparser::ast::JoinOperator) -> bool {
    let text = format!("{operator:?}");
    text.contains("Using(") || text.contains("Natural")
}

/// The column that an expression names.
fn column(expr: &Expr, from: &[Known]) -> Option<Known> {
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
