//! What must hold of any text that a client sends; for the tests here and for
//! `fuzz/fuzz_targets/dialect.rs`.

use std::sync::Arc;

use tare_dialect::ddl::definition;
use tare_dialect::function::Signature;
use tare_dialect::schema::{Procedure, Routine, Schema, SystemColumn, View};
use tare_dialect::{Mode, split, translate::translate};
use tare_functions::find;
use tare_mysql::Result;
use tare_mysql::table::TableDef;
use tare_mysql::wire::column::{Definition, WireType};

/// One database, `test`, with the tables `t` and `u`; one system table.
#[derive(Debug)]
pub struct Tables {
    tables: [Arc<TableDef>; 2],
}

impl Default for Tables {
    fn default() -> Self {
        let table = |text| Arc::new(definition(text).expect("a definition"));
        Self {
            tables: [
                table(
                    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT NOT NULL DEFAULT 1, v VARCHAR(10))",
                ),
                table(
                    "CREATE TABLE u (id BIGINT UNSIGNED, d DATETIME(3), ts TIMESTAMP NULL, e ENUM('a', 'b'), j JSON, KEY (id))",
                ),
            ],
        }
    }
}

impl Schema for Tables {
    fn user_table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableDef>>> {
        let at = match table {
            "t" => 0,
            "u" => 1,
            _ => return Ok(None),
        };
        Ok((database == "test").then(|| self.tables[at].clone()))
    }

    fn system_table(&self, schema: &str, table: &str) -> Option<Vec<SystemColumn>> {
        (schema == "performance_schema" && table.eq_ignore_ascii_case("threads")).then(|| {
            vec![SystemColumn {
                name: "THREAD_ID",
                column_type: "bigint unsigned",
                nullable: false,
                definition: Definition {
                    wire: WireType::bigint_unsigned(),
                    schema: "performance_schema",
                    table: "threads",
                    org_table: "threads",
                    org_name: None,
                },
                sorted: None,
            }]
        })
    }

    fn view(&self, _: &str) -> Option<&'static dyn View> {
        None
    }

    fn routine(&self, _: &str) -> Option<&'static dyn Routine> {
        None
    }

    fn procedure(&self, _: &str) -> Option<&'static Procedure> {
        None
    }

    fn function(&self, name: &str) -> Option<&'static Signature> {
        find(name)
    }

    fn variable(&self, name: &str) -> Option<WireType> {
        (name == "max_connections").then(WireType::bigint_unsigned)
    }
}

/// Splits a text as COM_QUERY does, and translates each of its statements. The result is a plan, or an error
/// that can be sent to a client.
pub fn translate_all(bytes: &[u8], tables: &mut Tables, mode: Mode) {
    let Some(text) = split::text(bytes) else {
        return;
    };
    let mut rest = text.as_ref();
    loop {
        let (end, next) = split::first(rest);
        assert!(end <= next && next <= rest.len(), "{rest:?}");
        let statement = &rest[..end];
        match translate(statement, Some("test"), tables, 1, mode) {
            Ok(plan) => assert_eq!(plan.generation, 1),
            Err(error) => assert!(
                error.code() >= 1000 && !error.to_string().is_empty(),
                "{statement:?}: {error:?}"
            ),
        }
        if next == rest.len() {
            return;
        }
        // It always gets on.
        assert!(next > 0, "{rest:?}");
        rest = &rest[next..];
    }
}

/// Statements of every kind, whose words are mixed.
pub const CORPUS: [&str; 22] = [
    "SELECT id, COUNT(*) c FROM t WHERE v LIKE 'a%' ESCAPE '|' GROUP BY id WITH ROLLUP HAVING c > 1 ORDER BY 1 LIMIT 1, 2",
    "SELECT DATE_ADD( NOW(), INTERVAL '1:2' MINUTE_SECOND ), EXTRACT( YEAR_MONTH FROM d ), INTERVAL( 1, 2, 3 ) FROM u",
    "( SELECT 1 UNION ALL SELECT 2 ORDER BY 1 LIMIT 1 ) UNION ( SELECT id FROM t )",
    "WITH RECURSIVE q ( n ) AS ( SELECT 1 UNION ALL SELECT n + 1 FROM q WHERE n < 3 ) SELECT * FROM q JOIN t ON t.id = q.n",
    "SELECT GROUP_CONCAT( DISTINCT v ORDER BY v DESC SEPARATOR ';' ), CAST( n AS DECIMAL( 10,2 ) ), CONVERT( v, CHAR( 2 ) ) FROM t",
    "UPDATE t, t AS u SET t.n = u.n + 1, t.v = DEFAULT WHERE t.id = u.id ORDER BY 1 LIMIT 1",
    "INSERT INTO t ( id, n ) VALUES ( 1, DEFAULT( n ) ) ON DUPLICATE KEY UPDATE n = VALUES( n ), v = DEFAULT",
    "INSERT IGNORE INTO t SET n = ? , v = _utf8mb4 'x' ; REPLACE INTO u SELECT * FROM u",
    "DELETE t FROM t JOIN t AS u USING ( id ) WHERE u.v <=> NULL",
    "SELECT ! BINARY 'a' SOUNDS LIKE - ( 1 ), x'41', b'01', @a := 1, @@session.sql_mode, 'x' COLLATE utf8mb4_bin",
    "SHOW FULL COLUMNS FROM t FROM test WHERE Field = 'id'",
    "SHOW GLOBAL STATUS LIKE 'Com%' ; SHOW CREATE TABLE t ; SHOW ENGINE performance_schema STATUS",
    "SET @@session.sql_mode = 'ANSI', @a = ( SELECT MAX( id ) FROM t ), NAMES utf8mb4 COLLATE utf8mb4_bin",
    "EXPLAIN FORMAT=JSON SELECT JSON_SET( j, '$.a[0]**.b', 1 ) -> '$.a' FROM u",
    "CREATE TABLE IF NOT EXISTS x ( id INT UNSIGNED NOT NULL PRIMARY KEY, v VARCHAR( 20 ) CHARACTER SET latin1, KEY k ( v ( 5 ) DESC ) ) ENGINE=InnoDB COMMENT='x'",
    "ALTER TABLE t ADD COLUMN c DATETIME( 3 ) DEFAULT CURRENT_TIMESTAMP( 3 ) AFTER id, DROP INDEX k, RENAME TO s",
    "CREATE OR REPLACE VIEW w AS SELECT id FROM t WHERE n IN ( 1, 2, NULL ) ; DROP TABLE IF EXISTS t, u",
    "LOCK TABLES t READ, u AS x WRITE ; UNLOCK TABLES ; START TRANSACTION READ ONLY ; COMMIT AND CHAIN",
    "PREPARE s FROM 'SELECT ?' ; EXECUTE s USING @a, @b ; DEALLOCATE PREPARE s ; CALL sys.ps_setup_save( 10 )",
    "SELECT CASE n WHEN 1 THEN 'a' ELSE NULL END, IF( n, 1, 2 ), n DIV 2, n MOD 3, n << 1 ^ ~ 2 FROM t FOR UPDATE",
    "SELECT THREAD_ID, @@max_connections FROM performance_schema.threads /*!40101 LIMIT 1 */ -- end",
    "ANALYZE TABLE t ; KILL QUERY 5 ; TRUNCATE performance_schema.threads ; SELECT 1 INTO @a ; USE test",
];
