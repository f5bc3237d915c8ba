//! ON DUPLICATE KEY UPDATE.

use std::sync::Arc;

use crate::error::{Error, Result, near};
use sqlparser::ast::{Assignment, AssignmentTarget, Expr, Ident};

use super::Target;
use crate::function::{arguments, name_of};
use crate::name::{ident, last_name, quote};
use crate::rewrite::Rewriter;
use crate::rewrite::change::{differs, is_certain};
use crate::scope::{Column, Relation, Scope};
use crate::{node, walk};
use tare_mysql::series::Series;
use tare_mysql::table::IndexDef;

/// SQLite's name of the row that was refused.
const EXCLUDED: &str = "excluded";

impl Rewriter<'_> {
    /// The clause that updates the existing row. `alias` is the name of the refused row.
    pub(super) fn conflict(
        &mut self,
        target: &Target<'_>,
        assignments: Vec<Assignment>,
        alias: Option<&str>,
    ) -> Result<String> {
        self.sql.updates_duplicates = true;
        let scope = self.two_rows(target);
        self.names.scopes.push(scope);
        let mut sets = Vec::new();
        let (mut changed, mut given_names) = (Vec::new(), Vec::new());
        for mut assignment in assignments {
            let AssignmentTarget::ColumnName(name) = &assignment.target else {
                return Err(near("("));
            };
            let column = last_name(name);
            given_names.push(column.clone());
            if let Some(value) =
                self.default_value(&target.database, &target.table, &column, &assignment.value)?
            {
                assignment.value = value;
            }
            let once = is_certain(&*self.names.schema, &assignment.value);
            excluded(&mut assignment.value, alias);
            let value_kind = self.value_kind(&assignment.value);
            self.assigned.mark(&mut assignment.value)?;
            self.visit(&mut assignment.value)?;
            let value = self.convert_value(
                target.def,
                &column,
                value_kind,
                assignment.value,
                target.ignore,
            );
            self.assigned.add(&column, &value, once);
            let (name, value) = (quote(&column), value.to_string());
            changed.push(differs(&name, &value));
            sets.push((name, value));
        }
        let is_assigned = |name: &str| {
            given_names
                .iter()
                .any(|c: &String| c.eq_ignore_ascii_case(name))
        };
        let changed_rows = changed.join(" OR ");
        // The first assignment counts an updated row.
        if let Some((_, value)) = sets.first_mut() {
            let id = target
                .auto()
                .map_or_else(String::new, |c| format!(", {}", quote(c)));
            *value = format!("tare_updated({value}, {changed_rows}{id})");
        }
        for (name, value) in self.moments(target.def, is_assigned)? {
            let name = quote(&name);
            let value = format!("CASE WHEN {changed_rows} THEN {value} ELSE {name} END");
            sets.push((name, value));
        }
        let sets: Vec<String> = sets
            .iter()
            .map(|(n, value)| format!("{n} = {value}"))
            .collect();
        let mut sql = format!(" ON CONFLICT DO UPDATE SET {}", sets.join(", "));
        if !self.mode.found_rows {
            // A row that does not change is not counted.
            sql.push_str(&match target.auto() {
                Some(_) => format!(" WHERE tare_duplicate_changes({changed_rows})"),
                None => format!(" WHERE {changed_rows}"),
            });
        }
        Ok(sql)
    }

    /// The existing row and the refused one, whose columns have no affinity in SQLite.
    fn two_rows(&mut self, target: &Target<'_>) -> Scope {
        let columns = self.names.table(&target.database, &target.table);
        let refused = columns.as_ref().map(|columns| {
            let loose = columns.iter().cloned().map(|column| Column {
                stored: false,
                system: false,
                ..column
            });
            Arc::new(loose.collect())
        });
        let relation = |alias: &str, columns| Relation {
            alias: alias.to_owned(),
            database: None,
            columns,
        };
        Scope {
            relations: vec![
                relation(&target.table, columns),
                relation(EXCLUDED, refused),
            ],
        }
    }
}

/// The clauses of IGNORE: a row that conflicts with one that is there changes nothing, and is a warning.
pub(super) fn ignored(target: &Target<'_>, series: Series) -> String {
    let Some(def) = target.def.filter(|def| def.view.is_none()) else {
        return String::new();
    };
    let clause = |index: &IndexDef| {
        let key = match series {
            Series::V9_7 => format!("{}.{}", target.table, index.name),
            _ => index.name.clone(),
        };
        let columns: Vec<String> = index.columns.iter().map(|c| quote(c)).collect();
        let given: Vec<String> = columns.iter().map(|c| format!("{EXCLUDED}.{c}")).collect();
        let first = columns.first()?;
        Some(format!(
            " ON CONFLICT ({}) DO UPDATE SET {first} = {first} WHERE tare_ignored({}, {})",
            columns.join(", "),
            node::text(&key),
            given.join(", ")
        ))
    };
    let unique = def.indexes.iter().filter(|index| index.unique);
    unique.filter_map(clause).collect()
}

/// Error 1235 if a value names a column of the SELECT, which is not visible in the update clause of SQLite.
pub(super) fn check_no_source_names(
    target: &Target<'_>,
    selected: &Scope,
    value: &Expr,
) -> Result<()> {
    let mut named = None;
    walk::expressions(value, &mut |e| {
        let (table, column) = match e {
            Expr::Identifier(column) => (None, column),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., table, column] => (Some(table), column),
                _ => return,
            },
            _ => return,
        };
        let is_own = match table {
            Some(table) => table.value == target.table || table.value == EXCLUDED,
            None => target
                .def
                .is_some_and(|d| d.column(&column.value).is_some()),
        };
        let mut sources = selected.relations.iter();
        let is_source = sources.any(|relation| match table {
            Some(table) => relation.alias.eq_ignore_ascii_case(&table.value),
            None => relation.columns.as_ref().is_some_and(|all| {
                all.iter()
                    .any(|c| c.name.eq_ignore_ascii_case(&column.value))
            }),
        });
        if is_source && !is_own {
            named = Some(e.to_string());
        }
    });
    match named {
        Some(name) => Err(Error::unsupported(format!(
            "{name}, which is a column of the SELECT, in ON DUPLICATE KEY UPDATE; VALUES() has the row's"
        ))),
        None => Ok(()),
    }
}

/// Replaces VALUES(c) and the row's alias by the refused row.
fn excluded(expr: &mut Expr, alias: Option<&str>) {
    walk::change(expr, &mut |e| {
        let column = match e {
            Expr::Function(f) if name_of(f) == "values" => match arguments(f).as_slice() {
                [Expr::Identifier(column)] => Some(column.value.clone()),
                [Expr::CompoundIdentifier(parts)] => parts.last().map(|p| p.value.clone()),
                _ => None,
            },
            Expr::CompoundIdentifier(parts)
                if parts.len() == 2 && alias.is_some_and(|a| parts[0].value == a) =>
            {
                Some(parts[1].value.clone())
            }
            _ => None,
        };
        if let Some(column) = column {
            *e = Expr::CompoundIdentifier(vec![Ident::new(EXCLUDED), ident(&column)]);
        }
    });
}
