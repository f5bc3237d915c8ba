//! Every kind of statement, by six accounts, as text and prepared: the error numbers are those of MySQL 9.7.4,
//! and do not depend on what the account may not see. `rights.tsv` has MySQL's numbers of the text; this rewrites them:
//!
//!     TARE_REGENERATE=1 scripts/servers run 9.7 cargo test -p tare-server --test server rights_are_mysqls

use std::path::Path;

use mysql::Conn;
use mysql::prelude::Queryable;

use super::support::{Running, all_of, code, errno, exec, one, socket_options};

/// A statement in each line, and its error number for each account. The first line names the accounts.
const MYSQLS: &str = include_str!("rights.tsv");

/// What each account is granted: `system` may read the system schemas, `data` all databases.
const GRANTS: [(&str, &[&str]); 6] = [
    ("none", &[]),
    ("process", &["PROCESS ON *.*"]),
    ("system", &["SELECT ON performance_schema.*"]),
    (
        "settings",
        &[
            "SYSTEM_VARIABLES_ADMIN ON *.*",
            "UPDATE ON performance_schema.*",
        ],
    ),
    ("data", &["SELECT ON *.*"]),
    ("all", &["ALL ON *.*"]),
];

/// What the same accounts are granted in MySQL, too: here one privilege stands for a level.
const MORE_GRANTS: [(&str, &str); 5] = [
    ("system", "SELECT ON sys.*"),
    ("system", "SELECT ON mysql.*"),
    ("system", "EXECUTE ON sys.*"),
    ("settings", "INSERT, DELETE, DROP ON performance_schema.*"),
    ("all", "GRANT OPTION ON *.*"),
];

/// Where this server differs: a part of the statement, MySQL's error number, the one here, and why.
const DIFFERENT: &[(&str, u16, u16, &str)] = &[
    (
        "shop.missing",
        1146,
        1142,
        "existence is a secret here, too",
    ),
    (
        "FROM nowhere",
        1049,
        1044,
        "existence is a secret here, too",
    ),
    ("INTO mysql.", 0, 1142, "schema mysql is read-only"),
    ("CHECKSUM TABLE", 0, 1235, "not there"),
    ("CHECKSUM TABLE", 1142, 1235, "not there"),
    ("SHOW BINARY LOGS", 0, 1381, "there is no log"),
    ("SHOW BINARY LOGS", 1227, 1381, "there is no log"),
    ("SHOW REPLICA", 1227, 0, "there is none"),
    (
        "KILL",
        1094,
        1227,
        "no account but root may end another one's session",
    ),
    (
        "FROM sys.",
        1356,
        0,
        "who reads performance_schema may call the functions of sys",
    ),
    (
        "sys.innodb_lock_waits",
        1356,
        1227,
        "the table is denied, not the view",
    ),
    (
        "sys.",
        1370,
        0,
        "SELECT is enough, and functions that compute need nothing",
    ),
    (
        "sys.ps_setup_enable_consumer",
        1370,
        1142,
        "SELECT is enough to call it",
    ),
    (
        "sys.ps_thread_account",
        1370,
        1142,
        "the function's table is denied, not the function",
    ),
    ("SHOW CREATE VIEW", 1142, 0, "SELECT is enough"),
    (
        "SHOW EVENTS",
        1044,
        0,
        "SELECT is enough, and there are none",
    ),
    (
        "JOIN shop.u",
        1143,
        1142,
        "columns have no privileges of their own",
    ),
    (
        "WHERE",
        1143,
        1142,
        "columns have no privileges of their own",
    ),
    ("REVOKE", 1141, 1410, "the error of GRANT"),
    ("PREPARE p FROM 'CHECK", 1295, 0, "it can be prepared"),
    (
        "PREPARE p FROM 'CHECK",
        1295,
        1142,
        "rights are checked when it is prepared",
    ),
    (
        "PREPARE p FROM 'SHOW CREATE",
        0,
        1142,
        "rights are checked when it is prepared",
    ),
    (
        "PREPARE p FROM 'DROP",
        0,
        1142,
        "rights are checked when it is prepared",
    ),
];

const DATABASE: &[&str] = &[
    "DROP DATABASE IF EXISTS shop",
    "DROP DATABASE IF EXISTS other",
    "DELETE FROM performance_schema.setup_actors WHERE HOST = 'x'",
    "DROP USER IF EXISTS x, y, target",
    "CREATE USER target IDENTIFIED BY 'p'",
    "CREATE DATABASE shop",
    "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT)",
    "CREATE TABLE shop.u (a INT PRIMARY KEY, b INT)",
    "CREATE TABLE shop.e (a INT)",
    "INSERT INTO shop.t VALUES (1, 1)",
    "CREATE VIEW shop.v AS SELECT a FROM shop.t",
];

fn connect(socket: &Path, user: &str) -> Conn {
    let options = socket_options(socket);
    Conn::new(options.user(Some(user)).pass(Some("p"))).expect(user)
}

fn create_account(root: &mut Conn, account: &str, grants: &[&str]) {
    exec(root, &format!("CREATE USER '{account}' IDENTIFIED BY 'p'"));
    for grant in grants {
        exec(root, &format!("GRANT {grant} TO '{account}'"));
    }
}

/// Runs the statements on the MySQL server at a socket, and writes its error numbers.
fn record(socket: &Path) {
    let mut root = Conn::new(socket_options(socket).user(Some("root"))).expect("root");
    let mut lines: Vec<String> = MYSQLS.lines().map(str::to_owned).collect();
    for line in &mut lines[1..] {
        line.truncate(line.find('\t').expect("a tab"));
    }
    for (account, grants) in GRANTS {
        DATABASE.iter().for_each(|sql| exec(&mut root, sql));
        let more = MORE_GRANTS.iter().filter(|(of, _)| *of == account);
        let grants: Vec<&str> = grants
            .iter()
            .copied()
            .chain(more.map(|more| more.1))
            .collect();
        create_account(&mut root, account, &grants);
        let mut conn = connect(socket, account);
        for line in &mut lines[1..] {
            let sql = line.split('\t').next().unwrap_or_default();
            let number = errno(&mut conn, sql);
            let _ = errno(&mut conn, "UNLOCK TABLES");
            if conn.ping().is_err() {
                conn = connect(socket, account);
            }
            line.push_str(&format!("\t{number}"));
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/rights.tsv");
    std::fs::write(path, lines.join("\n") + "\n").expect("written");
}

/// Runs a statement by COM_STMT_PREPARE and COM_STMT_EXECUTE.
fn prepared_errno(conn: &mut Conn, sql: &str) -> u16 {
    let statement = match conn.prep(sql) {
        Ok(statement) => statement,
        Err(error) => return code::<()>(Err(error)),
    };
    let parameters = vec![mysql::Value::Int(1); usize::from(statement.num_params())];
    let result = conn.exec_drop(&statement, parameters);
    conn.close(statement).expect("closed");
    code(result)
}

/// Runs a statement by PREPARE and EXECUTE.
fn named_errno(conn: &mut Conn, sql: &str) -> u16 {
    match errno(
        conn,
        &format!("PREPARE named FROM '{}'", sql.replace('\'', "''")),
    ) {
        0 => errno(conn, "EXECUTE named"),
        code => code,
    }
}

/// Runs a statement, and returns its error number or 0.
type Run = fn(&mut Conn, &str) -> u16;

/// COM_STMT_PREPARE of a statement that cannot be prepared.
const NOT_PREPARABLE: u16 = 1295;

#[test]
fn rights_are_mysqls_for_every_kind_of_statement() {
    if std::env::var_os("TARE_REGENERATE").is_some() {
        let socket = std::env::var_os("TARE_TEST_MYSQL").expect("the socket of a MySQL 9.7");
        return record(Path::new(&socket));
    }
    let running = Running::start();
    let mut root = running.root();
    let mut lines = MYSQLS.lines();
    let accounts: Vec<&str> = lines
        .next()
        .expect("a heading")
        .split('\t')
        .skip(1)
        .collect();
    assert_eq!(accounts, GRANTS.map(|(name, _)| name));
    let statements: Vec<(&str, Vec<u16>)> = lines
        .map(|line| {
            let (sql, numbers) = line.split_once('\t').expect("a tab");
            (
                sql,
                numbers
                    .split('\t')
                    .map(|n| n.parse().expect("a number"))
                    .collect(),
            )
        })
        .collect();
    assert!(statements.len() > 150);
    let mut wrong = Vec::new();
    for (at, (account, grants)) in GRANTS.iter().enumerate() {
        create_account(&mut root, account, grants);
        let ways: [(&str, Run); 3] = [
            ("text", errno),
            ("prepared", prepared_errno),
            ("named", named_errno),
        ];
        for (way, run) in ways {
            DATABASE.iter().for_each(|sql| exec(&mut root, sql));
            let mut conn = connect(&running.socket(), account);
            for (sql, numbers) in &statements {
                let actual = run(&mut conn, sql);
                let is_other = |(part, of, here, _): &&(&str, u16, u16, &str)| {
                    sql.contains(part) && *of == numbers[at] && *here == actual
                };
                let accepted = actual == numbers[at]
                    || way != "text" && actual == NOT_PREPARABLE
                    || DIFFERENT.iter().any(|one| is_other(&one));
                if !accepted {
                    wrong.push(format!(
                        "{account} {way}: {sql}: {actual}, MySQL {}",
                        numbers[at]
                    ));
                }
                if *sql == "USE shop" && actual == 0 {
                    conn = connect(&running.socket(), account);
                }
                let _ = errno(&mut conn, "UNLOCK TABLES");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_refusal_does_not_reveal_whether_a_table_exists() {
    let running = Running::start();
    let mut root = running.client();
    exec(&mut root, "CREATE TABLE t (a INT)");
    exec(&mut root, "CREATE USER u IDENTIFIED BY 'p'");
    let mut conn = connect(&running.socket(), "u");
    for shape in [
        "SELECT a FROM {}",
        "SELECT missing FROM {}",
        "SELECT a, b FROM {} GROUP BY c ORDER BY 7",
        "INSERT INTO {} (a, a) VALUES (1)",
        "INSERT INTO {} (a) VALUES (1, 2)",
        "UPDATE {} SET a = missing",
        "DELETE FROM {} WHERE missing",
        "SHOW COLUMNS FROM {}",
        "SHOW CREATE TABLE {}",
        "CHECK TABLE {}",
        "DROP TABLE {}",
        "SET @a = (SELECT a FROM {})",
        "SELECT 1 FROM (WITH t AS (SELECT 1) SELECT * FROM t) AS d, {} AS t",
    ] {
        let mut answers = Vec::new();
        for table in ["test.t", "test.missing", "nowhere.t"] {
            let sql = shape.replace("{}", table);
            let text = conn.query_drop(&sql).expect_err(&sql).to_string();
            let name = table.split_once('.').expect("two parts").1;
            let text = text.replace(&format!("'{name}'"), "'?'");
            assert!(text.contains("denied"), "{sql}: {text}");
            if let Err(error) = conn.prep(&sql) {
                let prepared = error.to_string().replace(&format!("'{name}'"), "'?'");
                assert_eq!(prepared, text, "{sql}");
            }
            answers.push(text);
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{shape}: {answers:?}");
    }
    // The name of a common table expression ends with its query.
    let outside = "SELECT * FROM (WITH t AS (SELECT 1) SELECT * FROM t) AS d, t";
    assert_eq!(errno(&mut conn, outside), 1046);
    assert_eq!(errno(&mut conn, "USE test"), 1044);
    assert_eq!(errno(&mut conn, "USE nowhere"), 1044);
}

#[test]
fn sessions_of_others_are_visible_only_with_process() {
    let running = Running::start();
    let mut root = running.root();
    let lists = [
        "SELECT USER FROM information_schema.PROCESSLIST",
        "SELECT USER FROM performance_schema.processlist",
        "SHOW PROCESSLIST",
        "SHOW FULL PROCESSLIST",
    ];
    for (account, grants) in GRANTS {
        exec(
            &mut root,
            &format!("CREATE USER {account} IDENTIFIED BY 'p'"),
        );
        for grant in grants {
            exec(&mut root, &format!("GRANT {grant} TO {account}"));
        }
        let mut conn = connect(&running.socket(), account);
        let sees_all = ["process", "all"].contains(&account);
        for list in lists {
            let rows = all_of(&mut conn, list);
            let of_others = rows
                .iter()
                .filter(|row| !row.split('|').any(|cell| cell == account));
            assert_eq!(
                of_others.count() > 0,
                sees_all,
                "{account}: {list}: {rows:?}"
            );
            assert!(!rows.is_empty(), "{account}: {list}");
        }
    }
    let counted = one(
        &mut root,
        "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST",
    );
    assert_eq!(counted, "1");
}
