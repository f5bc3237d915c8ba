//! CREATE TABLE and CREATE VIEW: the definition that their text gives.

use crate::error::{Error, Result, near};
use sqlparser::ast::{
    CheckConstraint, ColumnOption, ColumnOptionDef, CreateTable, CreateTableOptions, DataType,
    Expr, Ident, IndexColumn, IndexOption, SetExpr, SqlOption, Statement, TableConstraint, Value,
};
use tare_mysql::charset;
use tare_mysql::error::SqlError;
use tare_mysql::table::{CheckDef, ColumnDef, ForeignKeyDef, IMPLIED, IndexDef, TableDef, literal};
use tare_mysql::types::{base_type, is_text};

use super::options;
use super::print::{print, print_inside};
use super::types::type_text;
use crate::depth;
use crate::function::name_of;
use crate::join::shares_columns;
use crate::mode::Mode;
use crate::name::last_name;
use crate::names::after_as;
use crate::node;
use crate::read::{parse_one, parse_statement, read};
use crate::schema::Schema;
use crate::scope::{Column, Names};

/// Types of MySQL that the parser reads as custom names.
const TYPES_BY_NAME: &[&str] = &[
    "FIXED",
    "GEOMCOLLECTION",
    "GEOMETRY",
    "GEOMETRYCOLLECTION",
    "LINESTRING",
    "LONG",
    "MIDDLEINT",
    "MULTILINESTRING",
    "MULTIPOINT",
    "MULTIPOLYGON",
    "NATIONAL",
    "NCHAR",
    "POINT",
    "POLYGON",
    "SERIAL",
    "YEAR",
];

fn index_column(column: &IndexColumn) -> Result<String> {
    match &column.column.expr {
        Expr::Identifier(ident) => Ok(ident.value.clone()),
        // This is a prefix: `name(10)`. SQLite indexes the complete value, which finds the same rows.
        Expr::Function(f) => Ok(last_name(&f.name)),
        _ => Err(Error::unsupported("functional key parts")),
    }
}

/// A definition as the parser reads it.
pub trait FromSql: Sized {
    /// The definition of a CREATE TABLE.
    fn from_create(create: &CreateTable) -> Result<Self>;

    /// The definition before the SELECT of CREATE TABLE ... SELECT: it may have no columns, and indexes of
    /// the SELECT's columns.
    fn from_create_as(create: &CreateTable) -> Result<Self>;

    /// Adds a column as it is written.
    fn add_column(&mut self, column: &sqlparser::ast::ColumnDef) -> Result<()>;

    /// Adds an index, a foreign key or a CHECK constraint.
    fn add_constraint(&mut self, constraint: &TableConstraint) -> Result<()>;

    /// Applies options of the table.
    fn apply_options(&mut self, options: &[SqlOption]) -> Result<()>;
}

impl FromSql for TableDef {
    fn from_create(create: &CreateTable) -> Result<Self> {
        if create.columns.is_empty() && create.constraints.is_empty() {
            return Err(near(")"));
        }
        let mut def = Self::from_create_as(create)?;
        def.settle();
        if def.columns.is_empty() {
            return Err(Error::NoColumns);
        }
        def.check_indexes()?;
        Ok(def)
    }

    fn from_create_as(create: &CreateTable) -> Result<Self> {
        let mut def = Self {
            name: last_name(&create.name),
            ..Self::default()
        };
        def.apply_options(table_options(create))?;
        for column in &create.columns {
            def.add_column(column)?;
        }
        for constraint in &create.constraints {
            def.add_constraint(constraint)?;
        }
        for (i, column) in def.columns.iter().enumerate() {
            if def.columns[..i]
                .iter()
                .any(|c| c.name.eq_ignore_ascii_case(&column.name))
            {
                return Err(Error::DuplicateColumn(column.name.clone()));
            }
        }
        Ok(def)
    }

    fn add_column(&mut self, column: &sqlparser::ast::ColumnDef) -> Result<()> {
        // A name that is no type.
        if let DataType::Custom(name, _) = &column.data_type
            && !TYPES_BY_NAME
                .iter()
                .any(|k| last_name(name).eq_ignore_ascii_case(k))
        {
            return Err(near(name));
        }
        let mut c = ColumnDef {
            name: column.name.value.clone(),
            column_type: type_text(&column.data_type),
            nullable: true,
            ..ColumnDef::default()
        };
        if c.column_type == "serial" {
            c.column_type = "bigint unsigned".into();
            c.nullable = false;
            c.auto_increment = true;
        }
        c.binary = base_type(&c.column_type).ends_with("binary")
            || base_type(&c.column_type).ends_with("blob")
            || self.binary && is_text(&c.column_type);
        let index = |name: &str, unique| IndexDef {
            name: name.into(),
            unique,
            columns: vec![column.name.value.clone()],
            implied: false,
        };
        for option in &column.options {
            match &option.option {
                ColumnOption::Null => c.nullable = true,
                ColumnOption::NotNull => c.nullable = false,
                ColumnOption::Default(Expr::Value(v)) if v.value == Value::Null => c.default = None,
                ColumnOption::Default(expr) => c.default = Some(default_text(expr, &c.column_type)),
                ColumnOption::PrimaryKey(_) => {
                    if self.primary().is_some() {
                        return Err(Error::TwoPrimaryKeys);
                    }
                    self.indexes.insert(0, index("PRIMARY", true));
                }
                ColumnOption::Unique(_) => {
                    self.add_index(None, true, vec![column.name.value.clone()]);
                }
                ColumnOption::Comment(text) => c.comment = text.clone(),
                ColumnOption::OnUpdate(_) => c.on_update_now = true,
                ColumnOption::Collation(name) => {
                    let name = last_name(name);
                    charset::check_collation(&name, None)?;
                    c.binary = charset::compares_bytes(&name);
                }
                ColumnOption::DialectSpecific(tokens) => {
                    let text: Vec<String> = tokens
                        .iter()
                        .map(|t| t.to_string().to_uppercase())
                        .collect();
                    match text.join(" ").as_str() {
                        "AUTO_INCREMENT" => c.auto_increment = true,
                        "KEY" => self.indexes.insert(0, index("PRIMARY", true)),
                        other => return Err(Error::unsupported(other)),
                    }
                }
                ColumnOption::ForeignKey(f) => {
                    let mut f = f.clone();
                    f.columns = vec![column.name.clone()];
                    self.add_constraint(&TableConstraint::ForeignKey(f))?;
                }
                ColumnOption::Check(check) => {
                    let name = option.name.as_ref().or(check.name.as_ref());
                    self.checks.push(check_def(check, name));
                }
                ColumnOption::CharacterSet(name) => {
                    charset::check_name(&last_name(name))?;
                    c.binary &= !is_text(&c.column_type);
                }
                ColumnOption::Invisible => {}
                other => return Err(Error::unsupported(other)),
            }
        }
        if matches!(&column.data_type, DataType::Custom(name, _) if last_name(name).eq_ignore_ascii_case("SERIAL"))
            && !self
                .indexes
                .iter()
                .any(|i| i.unique && i.name != "PRIMARY" && i.columns == [c.name.as_str()])
        {
            self.add_index(None, true, vec![c.name.clone()]);
        }
        let is_null = |option: &ColumnOptionDef| matches!(&option.option, ColumnOption::Default(Expr::Value(v)) if v.value == Value::Null);
        if !c.nullable && column.options.iter().any(is_null) {
            let message = format!("Invalid default value for '{}'", c.name);
            return Err(SqlError::new(1067, message).into());
        }
        self.columns.push(c);
        Ok(())
    }

    fn add_constraint(&mut self, constraint: &TableConstraint) -> Result<()> {
        let columns =
            |list: &[IndexColumn]| list.iter().map(index_column).collect::<Result<Vec<_>>>();
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                if self.indexes.iter().any(|i| i.name == "PRIMARY") {
                    return Err(Error::TwoPrimaryKeys);
                }
                let index = IndexDef {
                    name: "PRIMARY".into(),
                    unique: true,
                    columns: columns(&key.columns)?,
                    implied: false,
                };
                self.indexes.insert(0, index);
            }
            TableConstraint::Unique(key) => {
                let name = key.index_name.as_ref().or(key.name.as_ref());
                self.add_index(name.map(|n| n.value.clone()), true, columns(&key.columns)?);
            }
            TableConstraint::Index(key) => {
                self.add_index(
                    key.name.as_ref().map(|n| n.value.clone()),
                    false,
                    columns(&key.columns)?,
                );
                let is_mark = |option: &IndexOption| matches!(option, IndexOption::Comment(text) if text == IMPLIED);
                if let Some(index) = self.indexes.last_mut() {
                    index.implied = key.index_options.iter().any(is_mark);
                }
            }
            TableConstraint::ForeignKey(key) => {
                let n = self.foreign_keys.len() + 1;
                let list = |l: &[sqlparser::ast::Ident]| {
                    l.iter().map(|i| i.value.clone()).collect::<Vec<_>>()
                };
                self.foreign_keys.push(ForeignKeyDef {
                    name: key
                        .name
                        .as_ref()
                        .map_or_else(|| format!("{}_ibfk_{n}", self.name), |i| i.value.clone()),
                    columns: list(&key.columns),
                    table: last_name(&key.foreign_table),
                    referred: list(&key.referred_columns),
                    on_delete: key
                        .on_delete
                        .as_ref()
                        .map_or_else(|| "NO ACTION".into(), ToString::to_string),
                    on_update: key
                        .on_update
                        .as_ref()
                        .map_or_else(|| "NO ACTION".into(), ToString::to_string),
                });
            }
            TableConstraint::Check(check) => {
                self.checks.push(check_def(check, check.name.as_ref()))
            }
            TableConstraint::FulltextOrSpatial(_) => {
                return Err(Error::unsupported("FULLTEXT and SPATIAL indexes"));
            }
            other => return Err(Error::unsupported(other)),
        }
        Ok(())
    }

    fn apply_options(&mut self, options: &[SqlOption]) -> Result<()> {
        options::apply(self, options)
    }
}

fn check_def(check: &CheckConstraint, name: Option<&Ident>) -> CheckDef {
    CheckDef {
        name: name.map_or_else(String::new, |name| name.value.clone()),
        condition: print_inside(&check.expr),
        is_ignored: check.enforced == Some(false),
    }
}

/// The definition that the text of a CREATE TABLE or CREATE VIEW gives.
pub fn definition(text: &str) -> tare_mysql::Result<TableDef> {
    Ok(parse_definition(text)?)
}

fn parse_definition(text: &str) -> Result<TableDef> {
    match parse_one(text)? {
        Statement::CreateTable(create) => TableDef::from_create(&create),
        Statement::CreateView(view) => Ok(TableDef {
            name: last_name(&view.name),
            view: Some(after_as(text).unwrap_or_default().to_owned()),
            ..TableDef::default()
        }),
        other => Err(near(other)),
    }
}

/// The columns of a view, from the text of its query; `None` if they cannot be determined.
pub fn view_columns(text: &str, database: &str, schema: &mut dyn Schema) -> Option<Vec<ColumnDef>> {
    let reading = read(text, Mode::default()).ok()?;
    let levels = reading.levels;
    depth::with_stack(levels, || {
        let mut parser = reading.parser;
        let Statement::Query(query) = parse_statement(&mut parser).ok()? else {
            return None;
        };
        if matches!(query.body.as_ref(), SetExpr::Select(s) if shares_columns(&s.from)) {
            return None;
        }
        let mut names = Names::new(Some(database), schema);
        names.defines = true;
        let columns = names.columns(&query)?;
        let def = |column: Column| {
            Some(ColumnDef {
                on_update_now: false,
                ..column.def?.as_value()
            })
        };
        columns.into_iter().map(def).collect()
    })
}

/// A column's default as it is stored.
pub fn default_text(expr: &Expr, column_type: &str) -> String {
    let is_bit = base_type(column_type) == "bit";
    let number = |text: &str| match text.parse::<u64>() {
        Ok(n) if is_bit => format!("b'{n:b}'"),
        _ => literal(text),
    };
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => literal(s),
            Value::Number(n, _) => number(n),
            Value::Boolean(b) => number(if *b { "1" } else { "0" }),
            // A bit literal is read as hexadecimal digits.
            Value::HexStringLiteral(hex) => bytes_text(hex, column_type),
            other => other.to_string(),
        },
        Expr::UnaryOp {
            expr,
            op: sqlparser::ast::UnaryOperator::Minus,
        } => literal(&format!("-{expr}")),
        Expr::Function(f) if NOW_FUNCTIONS.contains(&name_of(f).as_str()) => {
            "CURRENT_TIMESTAMP".into()
        }
        other => format!("({})", print(other)),
    }
}

/// A default of bytes: a number for numbers, and characters for texts.
fn bytes_text(hex: &str, column_type: &str) -> String {
    let bytes = node::bytes_of(hex);
    let number = || u64::from_str_radix(hex, 16).ok();
    let text = match base_type(column_type) {
        "bit" => number().map(|n| format!("b'{n:b}'")),
        "date" | "datetime" | "json" | "time" | "timestamp" => None,
        kind if kind.ends_with("binary") || kind.ends_with("blob") => None,
        _ if is_text(column_type) => String::from_utf8(bytes).ok().map(|text| literal(&text)),
        _ => number().map(|n| literal(&n.to_string())),
    };
    text.unwrap_or_else(|| format!("X'{hex}'"))
}

/// The functions that return the current time.
const NOW_FUNCTIONS: [&str; 4] = ["current_timestamp", "now", "localtime", "localtimestamp"];

fn table_options(create: &CreateTable) -> &[SqlOption] {
    match &create.table_options {
        CreateTableOptions::Plain(o)
        | CreateTableOptions::With(o)
        | CreateTableOptions::Options(o) => o.as_slice(),
        _ => &[],
    }
}
