//! CREATE and DROP.

use crate::error::{Error, Result, near};
use sqlparser::ast::{
    CreateIndex, CreateTable, CreateTableLikeKind, CreateView, Ident, IndexConstraint,
    KeyOrIndexDisplay, NullsDistinctOption, ObjectName, ObjectType, Statement, TableConstraint,
    UniqueConstraint,
};
use tare_mysql::charset;
use tare_mysql::table::TableDef;

use super::statement::{Translation, check_functions};
use crate::ddl::{Ddl, FromSql, TableName};
use crate::name::last_name;
use crate::names;

impl Translation<'_> {
    /// Translates CREATE and DROP; a syntax error for any other statement.
    pub(super) fn definition(&mut self, statement: Statement) -> Result<Ddl> {
        Ok(match statement {
            Statement::CreateDatabase {
                db_name,
                if_not_exists,
                default_charset: charset,
                default_collation: collation,
                ..
            } => {
                charset.as_deref().map_or(Ok(()), charset::check_name)?;
                if let Some(collation) = collation {
                    charset::check_collation(&collation, charset.as_deref())?;
                }
                Ddl::CreateDatabase {
                    name: last_name(&db_name),
                    if_not_exists,
                }
            }
            Statement::CreateTable(create) => create_table(self, create)?,
            Statement::CreateView(view) => create_view(self, view)?,
            Statement::CreateIndex(create) => create_index(create, self.database)?,
            Statement::Drop {
                object_type,
                if_exists,
                names,
                table,
                ..
            } => drop_objects(
                object_type,
                if_exists,
                &names,
                table.as_ref(),
                self.database,
            )?,
            other => {
                let text = other.to_string();
                return Err(near(text.chars().take(60).collect::<String>()));
            }
        })
    }
}

fn create_view(translation: &mut Translation<'_>, view: CreateView) -> Result<Ddl> {
    if view.materialized || !view.columns.is_empty() {
        return Err(Error::unsupported("a view's column list"));
    }
    let text = names::after_as(translation.text)
        .unwrap_or(translation.text)
        .to_owned();
    // A reader may have another time zone.
    translation.mode.zoned = true;
    Ok(Ddl::CreateView {
        query: translation.rewriter().query(*view.query, &text)?,
        name: translation.name(&view.name)?,
        text,
        or_replace: view.or_replace,
    })
}

/// CREATE TABLE: with columns, LIKE another table, or AS a query.
fn create_table(translation: &mut Translation<'_>, mut create: CreateTable) -> Result<Ddl> {
    let name = translation.name(&create.name)?;
    let if_not_exists = create.if_not_exists;
    if create.temporary {
        return Err(Error::unsupported("TEMPORARY tables"));
    }
    Ok(
        if let Some(CreateTableLikeKind::Plain(like) | CreateTableLikeKind::Parenthesized(like)) =
            &create.like
        {
            Ddl::CreateLike {
                name,
                like: translation.name(&like.name)?,
                if_not_exists,
            }
        } else if let Some(query) = create.query.take() {
            let text = names::after_as(translation.text).unwrap_or(translation.text);
            let def = TableDef::from_create_as(&create)?;
            let doubles = translation.doubles;
            let rewriter = translation.rewriter();
            let (rows, def) = rewriter.create_as_select(&name, *query, text, def, doubles)?;
            Ddl::CreateAs {
                name,
                def,
                rows,
                if_not_exists,
            }
        } else {
            check_functions(&create.columns, translation.schema)?;
            check_functions(&create.constraints, translation.schema)?;
            Ddl::CreateTable {
                name,
                def: TableDef::from_create(&create)?,
                if_not_exists,
            }
        },
    )
}

/// DROP: of tables and views, a database or an index.
fn drop_objects(
    object_type: ObjectType,
    if_exists: bool,
    names: &[ObjectName],
    table: Option<&ObjectName>,
    database: Option<&str>,
) -> Result<Ddl> {
    Ok(match object_type {
        ObjectType::Table | ObjectType::View => {
            let names = names
                .iter()
                .map(|n| TableName::of(n, database))
                .collect::<Result<_>>()?;
            Ddl::Drop {
                names,
                if_exists,
                view: object_type == ObjectType::View,
            }
        }
        ObjectType::Database | ObjectType::Schema => {
            let [name] = names else {
                return Err(near(","));
            };
            Ddl::DropDatabase {
                name: last_name(name),
                if_exists,
            }
        }
        ObjectType::Index => {
            let ([index], Some(table)) = (names, table) else {
                return Err(near("INDEX"));
            };
            Ddl::DropIndex {
                name: TableName::of(table, database)?,
                index: last_name(index),
            }
        }
        other => return Err(Error::unsupported(format!("DROP {other}"))),
    })
}

/// CREATE INDEX, as the constraint that ALTER TABLE would add.
fn create_index(create: CreateIndex, database: Option<&str>) -> Result<Ddl> {
    let name = TableName::of(&create.table_name, database)?;
    let index = create.name.as_ref().map(|n| Ident::new(last_name(n)));
    let columns = create.columns;
    let constraint = if create.unique {
        TableConstraint::Unique(UniqueConstraint {
            name: index,
            index_name: None,
            index_type_display: KeyOrIndexDisplay::None,
            index_type: None,
            columns,
            include: Vec::new(),
            index_options: Vec::new(),
            characteristics: None,
            nulls_distinct: NullsDistinctOption::None,
        })
    } else {
        TableConstraint::Index(IndexConstraint {
            display_as_key: true,
            name: index,
            index_type: None,
            columns,
            index_options: Vec::new(),
        })
    };
    Ok(Ddl::CreateIndex {
        name,
        constraint: Box::new(constraint),
    })
}
