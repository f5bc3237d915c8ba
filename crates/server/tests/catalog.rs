//! The catalog in SQLite without a segment: every table answers, and information_schema has the server's
//! own facts.

use std::sync::Arc;

use rusqlite::Connection;
use tare_mysql::account::{Account, Rights};
use tare_mysql::series::Series;
use tare_mysql::session::SessionFacts;
use tare_mysql::table::{ColumnDef, ForeignKeyDef, IndexDef, TableDef};
use tare_mysql::variable::Scope;
use tare_query::catalog::{self, Catalog, Command};
use tare_rows::registry;
use tare_rows::source::{Source, Variable};

struct Server(Series);

impl SessionFacts for Server {
    fn series(&self) -> Series {
        self.0
    }
    fn databases(&self) -> Vec<String> {
        vec!["shop".into()]
    }
    fn tables(&self, database: &str) -> Vec<Arc<TableDef>> {
        assert_eq!(database, "shop");
        let column = |name: &str, kind: &str, nullable| ColumnDef {
            name: name.into(),
            column_type: kind.into(),
            nullable,
            ..ColumnDef::default()
        };
        let orders = TableDef {
            name: "orders".into(),
            columns: vec![
                column("id", "int(11)", false),
                column("note", "varchar(20)", true),
            ],
            indexes: vec![
                IndexDef {
                    name: "PRIMARY".into(),
                    unique: true,
                    columns: vec!["id".into()],
                    implied: false,
                },
                IndexDef {
                    name: "n".into(),
                    unique: false,
                    columns: vec!["note".into()],
                    implied: false,
                },
            ],
            foreign_keys: vec![ForeignKeyDef {
                name: "orders_fk".into(),
                columns: vec!["id".into()],
                table: "customers".into(),
                referred: vec!["cid".into()],
                on_update: "NO ACTION".into(),
                on_delete: "CASCADE".into(),
            }],
            ..TableDef::default()
        };
        let view = TableDef {
            name: "recent".into(),
            view: Some("select 1".into()),
            columns: vec![column("x", "bigint(20) unsigned", true)],
            ..TableDef::default()
        };
        vec![Arc::new(orders), Arc::new(view)]
    }
    fn accounts(&self) -> Vec<Account> {
        let account = |user: &str, rights| Account {
            user: user.into(),
            host: "localhost".into(),
            plugin: "caching_sha2_password".into(),
            rights,
            ssl: false,
            locked: false,
        };
        vec![
            account("root", Rights::ALL),
            account("reader", Rights::MONITOR),
        ]
    }
}

impl Source for Server {
    fn variables(&self, scope: Scope) -> Vec<Variable> {
        vec![
            Variable::new("version", self.0.version()),
            Variable::new("scope", format!("{scope:?}")),
        ]
    }
}

fn open() -> (Connection, Catalog) {
    of(Series::default())
}

fn of(series: Series) -> (Connection, Catalog) {
    let conn = Connection::open_in_memory().unwrap();
    let catalog = catalog::install(&conn, Arc::new(Server(series))).unwrap();
    (conn, catalog)
}

fn rows(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let cell = |i| match row.get::<_, rusqlite::types::Value>(i).unwrap() {
            rusqlite::types::Value::Null => "NULL".into(),
            rusqlite::types::Value::Integer(v) => v.to_string(),
            rusqlite::types::Value::Real(v) => v.to_string(),
            rusqlite::types::Value::Text(s) => s,
            rusqlite::types::Value::Blob(_) => "BLOB".into(),
        };
        Ok((0..columns).map(cell).collect::<Vec<String>>().join(" "))
    };
    statement
        .query_map([], row)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn every_table_answers_without_a_segment() {
    for series in Series::ALL {
        every_table_answers(series);
    }
}

fn every_table_answers(series: Series) {
    let (conn, _catalog) = of(series);
    for table in registry::all(series) {
        let name = format!("{}.\"{}\"", table.schema(), table.name());
        let all = rows(&conn, &format!("SELECT * FROM {name}"));
        let count = rows(&conn, &format!("SELECT COUNT(*) FROM {name}"));
        assert_eq!(count, [all.len().to_string()], "{name}");
        let statement = conn.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let described: Vec<&str> = table.columns().iter().map(|c| c.name).collect();
        assert_eq!(
            statement.column_names().collect::<Vec<_>>(),
            described,
            "{name}"
        );
        assert!(
            tare_rows::show::create_table(*table).contains(&format!("TABLE `{}` (", table.name()))
        );
    }
}

#[test]
fn information_schema_lists_the_catalog_and_the_users_databases() {
    for series in Series::ALL {
        describes_the_catalog(series);
    }
}

fn describes_the_catalog(series: Series) {
    let (conn, _catalog) = of(series);
    let schemata = rows(
        &conn,
        "SELECT schema_name FROM information_schema.schemata ORDER BY 1",
    );
    assert_eq!(
        schemata,
        [
            "information_schema",
            "mysql",
            "performance_schema",
            "shop",
            "sys",
            "tare"
        ]
    );

    let tables = "SELECT table_name, table_type, engine, table_rows FROM information_schema.tables \
                  WHERE table_schema = 'SHOP' ORDER BY 1";
    assert_eq!(
        rows(&conn, tables),
        ["orders BASE TABLE SQLite NULL", "recent VIEW NULL NULL"]
    );

    let columns = "SELECT column_name, column_type, data_type, column_key, character_maximum_length, \
                   numeric_precision FROM information_schema.columns WHERE table_schema = 'shop'";
    let expected = [
        "id int(11) int PRI NULL 10",
        "note varchar(20) varchar MUL 20 NULL",
        "x bigint(20) unsigned bigint  NULL 20",
    ];
    assert_eq!(rows(&conn, columns), expected);

    // information_schema describes the catalog as the table definitions do.
    for table in registry::all(series) {
        let sql = format!(
            "SELECT column_name, column_type, is_nullable FROM information_schema.columns \
             WHERE table_schema = '{}' AND table_name = '{}' ORDER BY ordinal_position",
            table.schema(),
            table.name()
        );
        let line = |c: &tare_rows::describe::Meta| {
            format!(
                "{} {} {}",
                c.name,
                c.column_type,
                if c.nullable { "YES" } else { "NO" }
            )
        };
        let described: Vec<String> = table.columns().iter().map(line).collect();
        assert_eq!(rows(&conn, &sql), described, "{}", table.name());
    }
}

#[test]
fn indexes_and_constraints_are_listed() {
    let (conn, _catalog) = open();
    let statistics = "SELECT index_name, seq_in_index, column_name, non_unique, nullable \
                      FROM information_schema.statistics WHERE table_schema = 'shop'";
    assert_eq!(
        rows(&conn, statistics),
        ["PRIMARY 1 id 0 ", "n 1 note 1 YES"]
    );
    let key = "SELECT index_name, column_name FROM information_schema.statistics \
               WHERE table_schema = 'performance_schema' AND table_name = 'accounts'";
    assert_eq!(rows(&conn, key), ["ACCOUNT USER", "ACCOUNT HOST"]);
    let usage = "SELECT constraint_name, column_name, referenced_table_name, referenced_column_name \
                 FROM information_schema.key_column_usage WHERE table_name = 'orders'";
    assert_eq!(
        rows(&conn, usage),
        ["PRIMARY id NULL NULL", "orders_fk id customers cid"]
    );
    let constraints = "SELECT constraint_name, constraint_type FROM \
                       information_schema.table_constraints WHERE table_schema = 'shop'";
    assert_eq!(
        rows(&conn, constraints),
        ["PRIMARY PRIMARY KEY", "orders_fk FOREIGN KEY"]
    );
    let rules = "SELECT delete_rule FROM information_schema.referential_constraints";
    assert_eq!(rows(&conn, rules), ["CASCADE"]);
}

#[test]
fn accounts_and_variables_come_from_the_server() {
    let (conn, catalog) = open();
    let users = "SELECT User, Insert_priv FROM mysql.user ORDER BY 1";
    assert_eq!(rows(&conn, users), ["reader N", "root Y"]);
    assert_eq!(rows(&conn, "SELECT COUNT(*) FROM mysql.db"), ["1"]);
    let version = "SELECT variable_value FROM performance_schema.global_variables \
                   WHERE variable_name = 'VERSION'";
    assert_eq!(rows(&conn, version), [Series::default().version()]);
    let scope = "SELECT variable_value FROM performance_schema.session_variables \
                 WHERE variable_name LIKE 'sc%'";
    assert_eq!(rows(&conn, scope), ["Session"]);
    assert!(
        catalog
            .variables(Scope::Global)
            .iter()
            .any(|v| v.name == "scope")
    );
}

#[test]
fn names_compare_without_case_and_users_with() {
    let (conn, _catalog) = open();
    let count = |sql: &str| rows(&conn, sql)[0].clone();
    assert_eq!(
        count("SELECT COUNT(*) FROM mysql.user WHERE Host = 'LOCALHOST'"),
        "2"
    );
    assert_eq!(
        count("SELECT COUNT(*) FROM mysql.user WHERE User = 'ROOT'"),
        "0"
    );
}

#[test]
fn forbidden_changes_are_refused_as_in_mysql() {
    let (conn, catalog) = open();
    let denied = |command, schema, name| match catalog.check(command, schema, name) {
        Some(Err(error)) => format!("{error}"),
        other => panic!("{other:?}"),
    };
    let expected = |command: &str, table: &str| {
        format!(
            "ERROR 1142 (42000): {command} command denied to user 'root'@'localhost' for table '{table}'"
        )
    };
    let ps = "performance_schema";
    assert_eq!(
        denied(Command::Insert, ps, "setup_instruments"),
        expected("INSERT", "setup_instruments")
    );
    assert_eq!(
        denied(Command::Update, ps, "mutex_instances"),
        expected("UPDATE", "mutex_instances")
    );
    assert_eq!(
        denied(Command::Truncate, ps, "threads"),
        expected("DROP", "threads")
    );
    assert_eq!(
        denied(Command::Create, ps, "mine"),
        expected("CREATE", "mine")
    );
    assert_eq!(
        denied(Command::Drop, "tare", "segments"),
        expected("DROP", "segments")
    );
    assert_eq!(
        denied(Command::Update, ps, "nothing"),
        "ERROR 1146 (42S02): Table 'performance_schema.nothing' doesn't exist"
    );
    assert_eq!(
        catalog.check(Command::Update, ps, "setup_consumers"),
        Some(Ok(()))
    );
    assert_eq!(catalog.check(Command::Drop, "shop", "orders"), None);
    assert_eq!(catalog.truncate("shop", "orders"), None);

    // Without a check of its own, the tables themselves refuse.
    let insert = conn.execute(
        "INSERT INTO performance_schema.setup_consumers VALUES ('x', 'YES')",
        [],
    );
    let error = tare_mysql::SqlError::from(tare_store::Error::from(insert.unwrap_err()));
    assert_eq!(error.code, 1142);
    assert!(
        conn.execute(
            "UPDATE performance_schema.mutex_instances SET NAME = 'x'",
            []
        )
        .is_err()
    );
}
