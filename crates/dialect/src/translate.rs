//! From a statement's text to its plan.

use sqlparser::ast::{
    AlterTable, CreateIndex, CreateTable, CreateTableLikeKind, Expr, IndexColumn, IndexConstraint,
    KeyOrIndexDisplay, NullsDistinctOption, ObjectName, ObjectType, Statement, TableConstraint,
    TableObject, UniqueConstraint,
};
use sqlparser::tokenizer::Token;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::{MONITOR, ROOT};
use tare_mysql::table::TableDef;

use super::admin::{self, Filter, Format, Show, What};
use super::ddl::{Ddl, Maintenance, TableName};
use super::name::{last_name, resolve};
use super::names;
use super::plan::{Action, Change, Command, Plan, Sql};
use super::rewrite::{Rewriter, change_of, insert_table};
use super::schema::Schema;
use super::{Mode, Reading, end, located, near, parse_statement, read, split};
use crate::ddl::FromSql;

/// Reads a statement and rewrites it.
pub fn translate(
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    generation: u64,
    mode: Mode,
) -> Result<Plan> {
    plan(text, database, schema, generation, mode).map_err(|e| located(e, text))
}

fn plan(
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    generation: u64,
    mode: Mode,
) -> Result<Plan> {
    if split::is_blank(text) {
        return Err(SqlError::new(1065, "Query was empty"));
    }
    let opened = split::open_comments(text);
    let text = opened.as_deref().unwrap_or(text);
    let Reading {
        mut parser,
        params,
        into,
    } = read(text, mode)?;
    if into.file {
        return Err(SqlError::new(
            1290,
            "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement",
        ));
    }
    let plan = |action, command| Plan {
        action,
        params,
        command,
        generation,
    };
    if let Some(action) = admin::parse(&mut parser)? {
        let command = Command::of(&action);
        return Ok(plan(action, command));
    }
    let (action, command) = maintenance(&mut parser, database)?.map_or_else(
        || statement(parse_statement(&mut parser)?, text, database, schema, mode),
        Ok,
    )?;
    let action = match action {
        Action::Rows(sql) if into.nowhere => return Ok(plan(Action::Do(sql), Command::Do)),
        Action::Rows(sql) if !into.variables.is_empty() => Action::Into(sql, into.variables),
        other => other,
    };
    Ok(plan(action, command))
}

/// A qualified name.
fn table_name(name: &ObjectName, database: Option<&str>) -> Result<TableName> {
    let (database, table) = resolve(name, database)?;
    Ok(TableName { database, table })
}

/// ANALYZE, OPTIMIZE, CHECK and REPAIR TABLE, with a list of tables.
fn maintenance(
    parser: &mut sqlparser::parser::Parser<'_>,
    database: Option<&str>,
) -> Result<Option<(Action, Command)>> {
    let Token::Word(first) = parser.peek_token().token else {
        return Ok(None);
    };
    let operation = match first.value.to_ascii_uppercase().as_str() {
        "ANALYZE" => Maintenance::Analyze,
        "OPTIMIZE" => Maintenance::Optimize,
        "CHECK" => Maintenance::Check,
        _ => return Ok(None),
    };
    parser.next_token();
    let is = |p: &sqlparser::parser::Parser<'_>, what: &str| matches!(p.peek_token().token, Token::Word(w) if w.value.eq_ignore_ascii_case(what));
    while is(parser, "local") || is(parser, "no_write_to_binlog") {
        parser.next_token();
    }
    if !is(parser, "table") && !is(parser, "tables") {
        return Err(near(parser.peek_token().token));
    }
    parser.next_token();
    let mut tables = Vec::new();
    loop {
        let name = parser.parse_object_name(false).map_err(SqlError::syntax)?;
        tables.push(table_name(&name, database)?);
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    while ["quick", "fast", "medium", "extended", "changed"]
        .iter()
        .any(|w| is(parser, w))
    {
        parser.next_token();
    }
    end(parser)?;
    let action = Action::Ddl(Box::new(Ddl::Maintain(tables, operation)));
    let command = Command::of(&action);
    Ok(Some((action, command)))
}

fn statement(
    statement: Statement,
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    mode: Mode,
) -> Result<(Action, Command)> {
    let ddl = |ddl: Ddl| Action::Ddl(Box::new(ddl));
    let action = match statement {
        Statement::Query(query) => {
            Action::Rows(Rewriter::new(database, schema, mode).query(*query, text)?)
        }
        Statement::Insert(insert) => {
            let change = change_of(&insert);
            let TableObject::TableName(name) = &insert.table else {
                return Err(near("FUNCTION"));
            };
            let name = table_name(name, database)?;
            let def = insert_table(schema, &name.database, &name.table)?;
            Action::Write(
                Rewriter::new(database, schema, mode).insert(insert, def.as_deref())?,
                change,
            )
        }
        Statement::Update(update) => Action::Write(
            Rewriter::new(database, schema, mode).update(update)?,
            Change::Update,
        ),
        Statement::Delete(delete) => Action::Write(
            Rewriter::new(database, schema, mode).delete(delete)?,
            Change::Delete,
        ),
        Statement::CreateDatabase {
            db_name,
            if_not_exists,
            ..
        } => ddl(Ddl::CreateDatabase {
            name: last_name(&db_name),
            if_not_exists,
        }),
        Statement::CreateSchema {
            schema_name,
            if_not_exists,
            ..
        } => {
            let name = schema_name.to_string().trim_matches('`').to_owned();
            ddl(Ddl::CreateDatabase {
                name,
                if_not_exists,
            })
        }
        Statement::CreateTable(create) => ddl(create_table(create, text, database, schema, mode)?),
        Statement::CreateView(view) => {
            if view.materialized || !view.columns.is_empty() {
                return Err(SqlError::unsupported("a view's column list"));
            }
            let text = names::after_as(text).unwrap_or(text).to_owned();
            let query = Rewriter::new(database, schema, mode).query(*view.query, &text)?;
            ddl(Ddl::CreateView {
                name: table_name(&view.name, database)?,
                query,
                text,
                or_replace: view.or_replace,
            })
        }
        Statement::Drop {
            object_type,
            if_exists,
            names,
            table,
            ..
        } => ddl(dropped(
            object_type,
            if_exists,
            &names,
            table.as_ref(),
            database,
        )?),
        Statement::AlterTable(AlterTable {
            name, operations, ..
        }) => ddl(Ddl::Alter {
            name: table_name(&name, database)?,
            operations,
        }),
        Statement::CreateIndex(create) => ddl(create_index(create, database)?),
        Statement::Truncate(truncate) => {
            let [table] = truncate.table_names.as_slice() else {
                return Err(near(","));
            };
            ddl(Ddl::Truncate(table_name(&table.name, database)?))
        }
        Statement::RenameTable(renames) => {
            let pairs = renames
                .iter()
                .map(|r| {
                    Ok((
                        table_name(&r.old_name, database)?,
                        table_name(&r.new_name, database)?,
                    ))
                })
                .collect::<Result<_>>()?;
            ddl(Ddl::Rename(pairs))
        }
        Statement::Explain {
            statement: inner,
            analyze,
            format,
            ..
        } => {
            let format = match format.map(|f| f.to_string().to_uppercase()) {
                Some(f) if f.ends_with("JSON") => Format::Json,
                Some(f) if f.ends_with("TREE") => Format::Tree,
                _ if analyze => Format::Tree,
                _ => Format::Traditional,
            };
            let (action, _) = self::statement(*inner, text, database, schema, mode)?;
            let (Action::Rows(mut sql) | Action::Write(mut sql, _)) = action else {
                return Err(near("EXPLAIN"));
            };
            sql.text = format!("EXPLAIN QUERY PLAN {}", sql.text);
            Action::Show(Box::new(Show {
                what: What::Explain(sql, format),
                filter: Filter::None,
                full: false,
            }))
        }
        Statement::Call(call) => Action::Call(Box::new(super::call::procedure(
            call, text, database, schema,
        )?)),
        Statement::Grant(grant)
            if !grant.grantees.iter().any(|g| {
                let name = g.to_string();
                let name = name.split('@').next().unwrap_or_default();
                [ROOT, MONITOR].contains(&name.trim_matches(['\'', '`', '"']))
            }) =>
        {
            return Err(SqlError::new(
                1410,
                "You are not allowed to create a user with GRANT",
            ));
        }
        Statement::CreateUser(_)
        | Statement::AlterUser(_)
        | Statement::Grant(_)
        | Statement::Revoke(_) => {
            return Err(SqlError::unsupported(
                "accounts other than root and monitor",
            ));
        }
        Statement::CreateFunction(_)
        | Statement::CreateProcedure { .. }
        | Statement::CreateTrigger(_) => {
            return Err(SqlError::unsupported("stored programs"));
        }
        other => {
            let text = other.to_string();
            return Err(near(text.chars().take(60).collect::<String>()));
        }
    };
    let command = Command::of(&action);
    Ok((action, command))
}

/// CREATE TABLE: its columns, another table's, or a query's.
fn create_table(
    create: CreateTable,
    text: &str,
    database: Option<&str>,
    schema: &mut dyn Schema,
    mode: Mode,
) -> Result<Ddl> {
    let name = table_name(&create.name, database)?;
    let if_not_exists = create.if_not_exists;
    if create.temporary {
        return Err(SqlError::unsupported("TEMPORARY tables"));
    }
    Ok(
        if let Some(CreateTableLikeKind::Plain(like) | CreateTableLikeKind::Parenthesized(like)) =
            &create.like
        {
            Ddl::CreateLike {
                name,
                like: table_name(&like.name, database)?,
                if_not_exists,
            }
        } else if let Some(query) = create.query {
            if !create.columns.is_empty() {
                return Err(SqlError::unsupported(
                    "CREATE TABLE with columns and SELECT",
                ));
            }
            let text = names::after_as(text).unwrap_or(text);
            Ddl::CreateAs {
                name,
                query: Rewriter::new(database, schema, mode).query(*query, text)?,
                if_not_exists,
            }
        } else {
            Ddl::CreateTable {
                name,
                def: TableDef::from_create(&create)?,
                if_not_exists,
            }
        },
    )
}

/// DROP: of tables and views, a database or an index.
fn dropped(
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
                .map(|n| table_name(n, database))
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
                name: table_name(table, database)?,
                index: last_name(index),
            }
        }
        other => return Err(SqlError::unsupported(format!("DROP {other}"))),
    })
}

/// CREATE INDEX, as the constraint that ALTER TABLE would add.
fn create_index(create: CreateIndex, database: Option<&str>) -> Result<Ddl> {
    let name = table_name(&create.table_name, database)?;
    let index = create
        .name
        .as_ref()
        .map(|n| sqlparser::ast::Ident::new(last_name(n)));
    let columns: Vec<IndexColumn> = create.columns;
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

/// An expression by itself, as SET and KILL have them.
pub fn expression(expr: Expr, database: Option<&str>, schema: &mut dyn Schema) -> Result<Sql> {
    let text = format!("SELECT {expr}");
    match super::parse_one("SELECT 1")? {
        Statement::Query(mut query) => {
            if let sqlparser::ast::SetExpr::Select(select) = query.body.as_mut() {
                select.projection = vec![sqlparser::ast::SelectItem::UnnamedExpr(expr)];
            }
            Rewriter::new(database, schema, Mode::default()).query(*query, &text)
        }
        other => Err(near(other)),
    }
}
