//! What a table is: its MySQL definition, the SQLite statements that make it, and back.
//!
//! The definition is kept as MySQL's CREATE TABLE text in the table `__tare_tables` of each
//! database; SQLite's own schema has no room for display widths, comments and the like.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rusqlite::OptionalExtension;
use sqlparser::ast::{
    ColumnOption, CreateTable, DataType, Expr, IndexColumn, ObjectName, Statement, TableConstraint,
    Value,
};

use super::connection::quote;
use crate::server::error::{Result, SqlError};

/// Where definitions are kept.
pub const META: &str = "__tare_tables";

/// A column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnDef {
    /// Its name.
    pub name: String,
    /// Its type as MySQL 8.0 writes it: `int unsigned`, `varchar(20)`.
    pub column_type: String,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Its default as an SQL expression.
    pub default: Option<String>,
    /// Whether it is AUTO_INCREMENT.
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// Its comment.
    pub comment: String,
    /// Whether its text compares byte by byte.
    pub binary: bool,
}

/// An index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexDef {
    /// Its name; PRIMARY for the primary key.
    pub name: String,
    /// Whether it is unique.
    pub unique: bool,
    /// Its columns.
    pub columns: Vec<String>,
}

/// A foreign key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignKeyDef {
    /// The constraint's name.
    pub name: String,
    /// The columns here.
    pub columns: Vec<String>,
    /// The table they refer to.
    pub table: String,
    /// The columns they refer to.
    pub referred: Vec<String>,
    /// ON DELETE, as written.
    pub on_delete: String,
    /// ON UPDATE, as written.
    pub on_update: String,
}

/// A table or view.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableDef {
    /// Its name.
    pub name: String,
    /// A view's SELECT.
    pub view: Option<String>,
    /// Its columns.
    pub columns: Vec<ColumnDef>,
    /// Its indexes, the primary key first.
    pub indexes: Vec<IndexDef>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// CHECK constraints, as SQL.
    pub checks: Vec<String>,
    /// Its comment.
    pub comment: String,
}

/// The last part of a name.
pub fn last_name(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|p| p.as_ident())
        .map(|i| i.value.clone())
        .unwrap_or_default()
}

fn index_column(column: &IndexColumn) -> String {
    match &column.column.expr {
        Expr::Identifier(ident) => ident.value.clone(),
        // A prefix: `name(10)`. SQLite indexes the whole value, which finds the same rows.
        Expr::Function(f) => last_name(&f.name),
        other => other.to_string(),
    }
}

/// A type as MySQL 8.0 writes it.
pub fn type_text(data_type: &DataType) -> String {
    use DataType::*;
    let (name, unsigned) = match data_type {
        Bool | Boolean => return "tinyint(1)".into(),
        TinyInt(Some(1)) => return "tinyint(1)".into(),
        TinyInt(_) => ("tinyint", false),
        TinyIntUnsigned(_) | UTinyInt => ("tinyint", true),
        SmallInt(_) | Int2(_) => ("smallint", false),
        SmallIntUnsigned(_) | USmallInt | Int2Unsigned(_) => ("smallint", true),
        MediumInt(_) => ("mediumint", false),
        MediumIntUnsigned(_) => ("mediumint", true),
        Int(_) | Integer(_) | Int4(_) | Signed | SignedInteger => ("int", false),
        IntUnsigned(_) | IntegerUnsigned(_) | Int4Unsigned(_) | Unsigned | UnsignedInteger => {
            ("int", true)
        }
        BigInt(_) | Int8(_) => ("bigint", false),
        BigIntUnsigned(_) | UBigInt | Int8Unsigned(_) => ("bigint", true),
        Character(None) | Char(None) => return "char(1)".into(),
        Real | DoublePrecision | Float8 => ("double", false),
        RealUnsigned | DoublePrecisionUnsigned => ("double", true),
        Binary(None) => return "binary(1)".into(),
        Bit(None) => return "bit(1)".into(),
        other => {
            let text = other.to_string().to_lowercase();
            let text = text.replace(", ", ",");
            for (from, to) in [
                ("character varying", "varchar"),
                ("char varying", "varchar"),
                ("nvarchar", "varchar"),
                ("character(", "char("),
                ("numeric", "decimal"),
                ("dec(", "decimal("),
                ("float4", "float"),
            ] {
                if let Some(rest) = text.strip_prefix(from) {
                    return format!("{to}{rest}");
                }
            }
            return match text.as_str() {
                "decimal" | "dec" => "decimal(10,0)".into(),
                "decimal unsigned" => "decimal(10,0) unsigned".into(),
                _ if text.starts_with("enum") || text.starts_with("set") => {
                    // Keep the case of the members.
                    let text = other.to_string().replace(", ", ",");
                    let (name, members) = text.split_at(text.find('(').unwrap_or(text.len()));
                    format!("{}{members}", name.to_lowercase())
                }
                _ => text,
            };
        }
    };
    if unsigned {
        format!("{name} unsigned")
    } else {
        name.into()
    }
}

/// The first word of a type.
pub fn base_type(column_type: &str) -> &str {
    let end = column_type.find(['(', ' ']).unwrap_or(column_type.len());
    &column_type[..end]
}

fn is_integer(column_type: &str) -> bool {
    matches!(
        base_type(column_type),
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" | "bit"
    )
}

fn is_text(column_type: &str) -> bool {
    let base = base_type(column_type);
    base.ends_with("char") || base.ends_with("text") || base == "enum" || base == "set"
}

impl TableDef {
    /// What CREATE TABLE says.
    pub fn from_create(create: &CreateTable) -> Result<Self> {
        let mut def = Self {
            name: last_name(&create.name),
            ..Self::default()
        };
        for column in &create.columns {
            def.add_column(column)?;
        }
        for constraint in &create.constraints {
            def.add_constraint(constraint)?;
        }
        def.settle();
        if def.columns.is_empty() {
            return Err(SqlError::new(1113, "A table must have at least 1 column"));
        }
        for (i, column) in def.columns.iter().enumerate() {
            if def.columns[..i]
                .iter()
                .any(|c| c.name.eq_ignore_ascii_case(&column.name))
            {
                return Err(SqlError::new(
                    1060,
                    format!("Duplicate column name '{}'", column.name),
                ));
            }
        }
        def.comment = table_comment(create);
        def.check_indexes()?;
        Ok(def)
    }

    /// Adds a column as it is written.
    pub fn add_column(&mut self, column: &sqlparser::ast::ColumnDef) -> Result<()> {
        let mut c = ColumnDef {
            name: column.name.value.clone(),
            column_type: type_text(&column.data_type),
            nullable: true,
            ..ColumnDef::default()
        };
        c.binary = base_type(&c.column_type).ends_with("binary")
            || base_type(&c.column_type).ends_with("blob");
        let index = |name: &str, unique| IndexDef {
            name: name.into(),
            unique,
            columns: vec![column.name.value.clone()],
        };
        for option in &column.options {
            match &option.option {
                ColumnOption::Null => c.nullable = true,
                ColumnOption::NotNull => c.nullable = false,
                ColumnOption::Default(Expr::Value(v)) if v.value == Value::Null => c.default = None,
                ColumnOption::Default(expr) => c.default = Some(default_text(expr, &c.column_type)),
                ColumnOption::PrimaryKey(_) => self.indexes.insert(0, index("PRIMARY", true)),
                ColumnOption::Unique(_) => self.indexes.push(index(&column.name.value, true)),
                ColumnOption::Comment(text) => c.comment = text.clone(),
                ColumnOption::OnUpdate(_) => c.on_update_now = true,
                ColumnOption::Collation(name) => {
                    let name = last_name(name);
                    c.binary = name.ends_with("_bin") || name == "binary" || name.ends_with("_cs");
                }
                ColumnOption::DialectSpecific(tokens) => {
                    let text: Vec<String> = tokens
                        .iter()
                        .map(|t| t.to_string().to_uppercase())
                        .collect();
                    match text.join(" ").as_str() {
                        "AUTO_INCREMENT" => c.auto_increment = true,
                        "KEY" => self.indexes.insert(0, index("PRIMARY", true)),
                        other => return Err(SqlError::unsupported(other)),
                    }
                }
                ColumnOption::ForeignKey(f) => {
                    let mut f = f.clone();
                    f.columns = vec![column.name.clone()];
                    self.add_constraint(&TableConstraint::ForeignKey(f))?;
                }
                ColumnOption::Check(check) => self.checks.push(check.expr.to_string()),
                ColumnOption::CharacterSet(_) | ColumnOption::Invisible => {}
                other => return Err(SqlError::unsupported(other)),
            }
        }
        self.columns.push(c);
        Ok(())
    }

    /// Adds an index or a foreign key.
    pub fn add_constraint(&mut self, constraint: &TableConstraint) -> Result<()> {
        let columns = |list: &[IndexColumn]| list.iter().map(index_column).collect::<Vec<_>>();
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                if self.indexes.iter().any(|i| i.name == "PRIMARY") {
                    return Err(SqlError::new(1068, "Multiple primary key defined"));
                }
                let index = IndexDef {
                    name: "PRIMARY".into(),
                    unique: true,
                    columns: columns(&key.columns),
                };
                self.indexes.insert(0, index);
            }
            TableConstraint::Unique(key) => {
                let name = key.index_name.as_ref().or(key.name.as_ref());
                self.add_index(name.map(|n| n.value.clone()), true, columns(&key.columns));
            }
            TableConstraint::Index(key) => {
                self.add_index(
                    key.name.as_ref().map(|n| n.value.clone()),
                    false,
                    columns(&key.columns),
                );
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
            TableConstraint::Check(check) => self.checks.push(check.expr.to_string()),
            TableConstraint::FulltextOrSpatial(_) => {
                return Err(SqlError::unsupported("FULLTEXT and SPATIAL indexes"));
            }
            other => return Err(SqlError::unsupported(other)),
        }
        Ok(())
    }

    /// Adds an index; without a name it gets its first column's, numbered when that is taken.
    pub fn add_index(&mut self, name: Option<String>, unique: bool, columns: Vec<String>) {
        let name = name.unwrap_or_else(|| {
            let base = columns.first().cloned().unwrap_or_default();
            let taken = |n: &str| self.indexes.iter().any(|i| i.name.eq_ignore_ascii_case(n));
            (1..)
                .map(|n| {
                    if n == 1 {
                        base.clone()
                    } else {
                        format!("{base}_{n}")
                    }
                })
                .find(|n| !taken(n))
                .unwrap_or(base.clone())
        });
        self.indexes.push(IndexDef {
            name,
            unique,
            columns,
        });
    }

    /// What follows from the rest: a primary key's columns are NOT NULL.
    pub fn settle(&mut self) {
        if let Some(primary) = self.primary().map(|p| p.columns.clone()) {
            for column in &mut self.columns {
                if primary.iter().any(|p| p.eq_ignore_ascii_case(&column.name)) {
                    column.nullable = false;
                }
            }
        }
    }

    /// Every index has columns that exist, and a name of its own.
    pub fn check_indexes(&self) -> Result<()> {
        for (i, index) in self.indexes.iter().enumerate() {
            if self.indexes[..i]
                .iter()
                .any(|o| o.name.eq_ignore_ascii_case(&index.name))
            {
                return Err(SqlError::new(
                    1061,
                    format!("Duplicate key name '{}'", index.name),
                ));
            }
            for column in &index.columns {
                if self.column(column).is_none() {
                    let text = format!("Key column '{column}' doesn't exist in table");
                    return Err(SqlError::new(1072, text));
                }
            }
        }
        Ok(())
    }

    /// The primary key.
    pub fn primary(&self) -> Option<&IndexDef> {
        self.indexes.iter().find(|i| i.name == "PRIMARY")
    }

    /// A column by its name; case does not count.
    pub fn column(&self, name: &str) -> Option<&ColumnDef> {
        self.columns
            .iter()
            .find(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// The AUTO_INCREMENT column.
    pub fn auto_increment(&self) -> Option<&ColumnDef> {
        self.columns.iter().find(|c| c.auto_increment)
    }

    /// The integer column that is SQLite's rowid: a primary key of its own, or AUTO_INCREMENT.
    pub fn rowid(&self) -> Option<&ColumnDef> {
        if let Some(column) = self.auto_increment() {
            return Some(column);
        }
        match self.primary()?.columns.as_slice() {
            [one] => self
                .column(one)
                .filter(|c| is_integer(&c.column_type) && !c.column_type.starts_with("bit")),
            _ => None,
        }
    }

    /// The SQLite statements that make the table in a database, under a name.
    pub fn to_sqlite(&self, database: &str, name: &str) -> Vec<String> {
        let rowid = self.rowid().map(|c| c.name.clone());
        let mut sql = format!("CREATE TABLE {}.{} (", quote(database), quote(name));
        for (i, column) in self.columns.iter().enumerate() {
            let is_rowid = rowid.as_deref() == Some(&column.name);
            let _ = write!(
                sql,
                "{}{} ",
                if i == 0 { "" } else { ", " },
                quote(&column.name)
            );
            if is_rowid {
                sql.push_str("INTEGER PRIMARY KEY");
                if column.auto_increment {
                    sql.push_str(" AUTOINCREMENT");
                }
            } else {
                sql.push_str(&sqlite_type(&column.column_type));
            }
            if !column.nullable {
                sql.push_str(" NOT NULL");
            }
            if let Some(default) = &column.default {
                let _ = write!(sql, " DEFAULT ({})", sqlite_default(default));
            }
            if is_text(&column.column_type) && !column.binary {
                sql.push_str(" COLLATE NOCASE");
            }
            if column.column_type.starts_with("enum(") {
                let members = &column.column_type["enum".len()..];
                let _ = write!(sql, " CHECK ({} IN {members})", quote(&column.name));
            }
        }
        let list = |columns: &[String]| {
            columns
                .iter()
                .map(|c| quote(c))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if let Some(primary) = self.primary() {
            let is_rowid = matches!((primary.columns.as_slice(), &rowid), ([one], Some(r)) if one.eq_ignore_ascii_case(r));
            if !is_rowid {
                let word = if rowid.is_some() {
                    "UNIQUE"
                } else {
                    "PRIMARY KEY"
                };
                let _ = write!(sql, ", {word} ({})", list(&primary.columns));
            }
        }
        for check in &self.checks {
            let _ = write!(sql, ", CHECK ({check})");
        }
        for key in &self.foreign_keys {
            let _ = write!(
                sql,
                ", FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}",
                list(&key.columns),
                quote(&key.table),
                list(&key.referred),
                key.on_delete,
                key.on_update
            );
        }
        sql.push(')');
        let mut all = vec![sql];
        for index in self.indexes.iter().filter(|i| i.name != "PRIMARY") {
            all.push(index.to_sqlite(database, &self.name, name));
        }
        all
    }

    /// SHOW CREATE TABLE.
    pub fn to_mysql(&self) -> String {
        let q = |name: &str| format!("`{}`", name.replace('`', "``"));
        let list = |columns: &[String]| columns.iter().map(|c| q(c)).collect::<Vec<_>>().join(",");
        if let Some(select) = &self.view {
            return format!("CREATE VIEW {} AS {select}", q(&self.name));
        }
        let mut lines = Vec::new();
        for column in &self.columns {
            let mut line = format!("  {} {}", q(&column.name), column.column_type);
            if column.binary && is_text(&column.column_type) {
                line.push_str(" COLLATE utf8mb4_bin");
            }
            if !column.nullable {
                line.push_str(" NOT NULL");
            }
            match &column.default {
                Some(default) => {
                    let _ = write!(line, " DEFAULT {default}");
                }
                None if column.nullable
                    && !column.column_type.ends_with("text")
                    && !column.column_type.ends_with("blob") =>
                {
                    line.push_str(" DEFAULT NULL")
                }
                None => {}
            }
            if column.on_update_now {
                line.push_str(" ON UPDATE CURRENT_TIMESTAMP");
            }
            if column.auto_increment {
                line.push_str(" AUTO_INCREMENT");
            }
            if !column.comment.is_empty() {
                let _ = write!(line, " COMMENT {}", string(&column.comment));
            }
            lines.push(line);
        }
        for index in &self.indexes {
            lines.push(match (index.name.as_str(), index.unique) {
                ("PRIMARY", _) => format!("  PRIMARY KEY ({})", list(&index.columns)),
                (name, true) => format!("  UNIQUE KEY {} ({})", q(name), list(&index.columns)),
                (name, false) => format!("  KEY {} ({})", q(name), list(&index.columns)),
            });
        }
        for key in &self.foreign_keys {
            let mut line = format!(
                "  CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
                q(&key.name),
                list(&key.columns),
                q(&key.table),
                list(&key.referred)
            );
            for (word, action) in [("DELETE", &key.on_delete), ("UPDATE", &key.on_update)] {
                if action != "NO ACTION" {
                    let _ = write!(line, " ON {word} {action}");
                }
            }
            lines.push(line);
        }
        for check in &self.checks {
            lines.push(format!("  CHECK ({check})"));
        }
        let mut sql = format!(
            "CREATE TABLE {} (\n{}\n) ENGINE=SQLite DEFAULT CHARSET=utf8mb4",
            q(&self.name),
            lines.join(",\n")
        );
        if !self.comment.is_empty() {
            let _ = write!(sql, " COMMENT={}", string(&self.comment));
        }
        sql
    }
}

impl IndexDef {
    /// CREATE INDEX. SQLite's index names are per database, MySQL's per table: the table's name
    /// goes in front.
    pub fn to_sqlite(&self, database: &str, owner: &str, table: &str) -> String {
        let columns: Vec<String> = self.columns.iter().map(|c| quote(c)).collect();
        format!(
            "CREATE {}INDEX {}.{} ON {} ({})",
            if self.unique { "UNIQUE " } else { "" },
            quote(database),
            quote(&format!("{owner}.{}", self.name)),
            quote(table),
            columns.join(", ")
        )
    }
}

/// A text as an SQL literal.
pub fn string(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A type whose affinity in SQLite is the right one. SQLite's grammar wants all words before the
/// parentheses: `decimal unsigned(10,2)`.
fn sqlite_type(column_type: &str) -> String {
    let base = base_type(column_type);
    let arguments = column_type
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or_else(String::new, |(inside, _)| format!("({inside})"));
    let unsigned = if column_type.contains("unsigned") {
        " unsigned"
    } else {
        ""
    };
    match base {
        "binary" | "varbinary" => format!("{base} blob{arguments}"),
        "enum" | "set" => "text".into(),
        "json" => "json text".into(),
        "bit" => format!("bit int{arguments}"),
        "year" => "year int".into(),
        _ => format!("{base}{unsigned}{arguments}"),
    }
}

fn default_text(expr: &Expr, column_type: &str) -> String {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => string(s),
            Value::Number(n, _) => string(n),
            Value::Boolean(b) => string(if *b { "1" } else { "0" }),
            other => other.to_string(),
        },
        Expr::UnaryOp {
            expr,
            op: sqlparser::ast::UnaryOperator::Minus,
        } => string(&format!("-{expr}")),
        other => {
            let text = other.to_string().to_uppercase();
            if text.starts_with("CURRENT_TIMESTAMP")
                || text.starts_with("NOW(")
                || text.starts_with("LOCALTIME")
            {
                let _ = column_type;
                "CURRENT_TIMESTAMP".into()
            } else {
                format!("({other})")
            }
        }
    }
}

/// A default as SQLite computes it: its own CURRENT_TIMESTAMP is UTC, MySQL's is local time.
fn sqlite_default(default: &str) -> String {
    if default == "CURRENT_TIMESTAMP" {
        "datetime('now', 'localtime')".into()
    } else {
        default.replace("\\\\", "\\")
    }
}

fn table_comment(create: &CreateTable) -> String {
    use sqlparser::ast::{CommentDef, CreateTableOptions, SqlOption};
    let options = match &create.table_options {
        CreateTableOptions::Plain(o)
        | CreateTableOptions::With(o)
        | CreateTableOptions::Options(o) => o.as_slice(),
        _ => &[],
    };
    for option in options {
        if let SqlOption::Comment(CommentDef::WithEq(text) | CommentDef::WithoutEq(text)) = option {
            return text.clone();
        }
    }
    String::new()
}

/// Reads all definitions of an attached database.
pub fn load(db: &rusqlite::Connection, database: &str) -> Result<HashMap<String, Arc<TableDef>>> {
    let quoted = quote(database);
    let kept: HashMap<String, String> = match db
        .query_row(
            &format!("SELECT 1 FROM {quoted}.sqlite_schema WHERE name = ?1"),
            [META],
            |_| Ok(()),
        )
        .optional()?
    {
        Some(()) => {
            let mut all = db.prepare(&format!("SELECT name, definition FROM {quoted}.{META}"))?;
            all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?
        }
        None => HashMap::new(),
    };
    let mut names = db.prepare(&format!(
        "SELECT name, type FROM {quoted}.sqlite_schema WHERE type IN ('table', 'view') \
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> ?1"
    ))?;
    let names: Vec<(String, String)> = names
        .query_map([META], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut tables = HashMap::new();
    for (name, kind) in names {
        let def = match kept.get(&name).map(|text| parse(text)) {
            Some(Ok(mut def)) => {
                def.name.clone_from(&name);
                if kind == "view" {
                    def.columns = observe(db, database, &name)?.columns;
                }
                def
            }
            _ => observe(db, database, &name)?,
        };
        tables.insert(name, Arc::new(def));
    }
    Ok(tables)
}

fn parse(text: &str) -> Result<TableDef> {
    match crate::dialect::parse_one(text)? {
        Statement::CreateTable(create) => TableDef::from_create(&create),
        Statement::CreateView(view) => Ok(TableDef {
            name: last_name(&view.name),
            view: Some(view.query.to_string()),
            ..TableDef::default()
        }),
        other => Err(SqlError::syntax(format!("'{other}' defines no table"))),
    }
}

/// A table that another program made: what SQLite knows of it.
fn observe(db: &rusqlite::Connection, database: &str, name: &str) -> Result<TableDef> {
    let mut def = TableDef {
        name: name.to_owned(),
        ..TableDef::default()
    };
    let mut info = db.prepare("SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info(?1, ?2) ORDER BY cid")?;
    let mut rows = info.query([name, database])?;
    let mut primary: Vec<(i64, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        let column: String = row.get(0)?;
        let declared: String = row
            .get::<_, Option<String>>(1)?
            .unwrap_or_default()
            .to_lowercase();
        let pk: i64 = row.get(4)?;
        if pk > 0 {
            primary.push((pk, column.clone()));
        }
        let column_type = match declared.as_str() {
            "" => "longblob".into(),
            "integer" => "bigint".into(),
            "real" => "double".into(),
            "text" => "longtext".into(),
            "blob" => "longblob".into(),
            _ => declared,
        };
        def.columns.push(ColumnDef {
            name: column,
            column_type,
            nullable: row.get::<_, i64>(2)? == 0 && pk == 0,
            default: row.get(3)?,
            ..ColumnDef::default()
        });
    }
    primary.sort();
    if !primary.is_empty() {
        def.indexes.push(IndexDef {
            name: "PRIMARY".into(),
            unique: true,
            columns: primary.into_iter().map(|p| p.1).collect(),
        });
    }
    let mut list =
        db.prepare("SELECT name, \"unique\" FROM pragma_index_list(?1, ?2) WHERE origin <> 'pk'")?;
    let indexes: Vec<(String, bool)> = list
        .query_map([name, database], |r| Ok((r.get(0)?, r.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (index, unique) in indexes {
        let mut columns = db.prepare("SELECT name FROM pragma_index_info(?1, ?2)")?;
        let columns = columns
            .query_map([&index, database], |r| r.get::<_, Option<String>>(0))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let short = index
            .strip_prefix(&format!("{name}."))
            .unwrap_or(&index)
            .to_owned();
        def.indexes.push(IndexDef {
            name: short,
            unique,
            columns: columns.into_iter().flatten().collect(),
        });
    }
    Ok(def)
}
