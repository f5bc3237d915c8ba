//! Compares the answers of Tare, of a MariaDB that this test starts, and of MySQL 8.0.15 and 9.7.4, whose
//! answers are stored in `mysql-*.answers`. Names and types of columns, rows, values, the order of NULLs,
//! error numbers and SQL states must be the same. Tare answers as the series that it is compared with.
//!
//! `TARE_TEST_MYSQL=SOCKET` queries a running MySQL 8.0 or 9.7 as root instead of the stored answers, as
//! `scripts/test-long` does. `TARE_REGENERATE=1` with it stores the answers.

mod answer;
mod file;
mod mariadb;
#[path = "../server/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../server/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use answer::{Answer, query};
use file::probes;
use mysql::Conn;
use tare_server::Series;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probes")
}

fn answers_path(series: Series) -> PathBuf {
    directory().join(match series {
        Series::V8_0 => "mysql-8.0.15.answers",
        Series::V9_7 => "mysql-9.7.4.answers",
        Series::Mariadb => panic!("MariaDB is started and queried each time"),
    })
}

/// The name of a series in reports.
fn name_of(series: Series) -> &'static str {
    match series {
        Series::V8_0 => "MySQL",
        Series::V9_7 => "MySQL 9.7",
        Series::Mariadb => "MariaDB",
    }
}

fn by_socket(socket: &Path) -> Conn {
    Conn::new(support::socket_options(socket))
        .unwrap_or_else(|e| panic!("{}: {e}", socket.display()))
}

/// The answers of a server to all probes. Each file has a database and a session.
fn answers_of(server: &str, connect: &dyn Fn() -> Conn) -> BTreeMap<String, Answer> {
    let mut answers = BTreeMap::new();
    for (name, probes) in probes(&directory()) {
        let mut conn = connect();
        support::exec(&mut conn, &format!("DROP DATABASE IF EXISTS probe_{name}"));
        support::exec(&mut conn, &format!("CREATE DATABASE probe_{name}"));
        support::exec(&mut conn, &format!("USE probe_{name}"));
        for probe in probes {
            let mut answer = if probe.skips(server) {
                Answer::default()
            } else {
                query(&mut conn, &probe.sql)
            };
            if probe.compares() == file::Compare::Columns {
                answer.rows.clear();
            }
            assert!(
                answers.insert(probe.key(), answer).is_none(),
                "{} stands twice",
                probe.key()
            );
        }
        let mut conn = connect();
        support::exec(&mut conn, &format!("DROP DATABASE probe_{name}"));
    }
    answers
}

/// Tare's answers. Servers run one at a time, because they share numbers of connections.
fn tare_answers(series: Series) -> BTreeMap<String, Answer> {
    static ONE_SERVER: Mutex<()> = Mutex::new(());
    let _turn = ONE_SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let running = support::Running::with(|config| config.series = series);
    answers_of("tare", &|| running.root())
}

/// Probes that Tare does not answer like MySQL yet. The list only gets shorter: a listed probe that agrees
/// fails.
fn open_probes(series: Series) -> Vec<String> {
    let file = match series {
        Series::V8_0 => "open.txt",
        Series::V9_7 => "open-9.7.txt",
        Series::Mariadb => panic!("Tare follows MySQL where MariaDB differs"),
    };
    let text = std::fs::read_to_string(directory().join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Describes the answers of `who` that differ without a mark, and marked ones that agree.
fn compare(
    expected: &BTreeMap<String, Answer>,
    got: &BTreeMap<String, Answer>,
    (who, reference): (&str, &str),
) -> Vec<String> {
    let newer = reference == name_of(Series::V9_7);
    let open_probes = open_probes(if newer { Series::V9_7 } else { Series::V8_0 });
    let mut differences = Vec::new();
    // The list is of differences between Tare and MySQL.
    let is_listed = |key: &String| who == "tare" && open_probes.contains(key);
    for key in open_probes.iter().filter(|key| !got.contains_key(*key)) {
        differences.push(format!("{key}: in open.txt, and no probe"));
    }
    for probe in probes(&directory()).into_values().flatten() {
        let key = probe.key();
        let Some(wanted) = expected.get(&key) else {
            differences.push(format!("{key}: the answer of MySQL is missing"));
            continue;
        };
        let difference = wanted.difference(&got[&key], probe.compares());
        match (difference, probe.mark(who)) {
            (None, None) if is_listed(&key) && reference != "MariaDB" => {
                differences.push(format!(
                    "{key}: in the list of what is open, and the answers agree"
                ));
            }
            (None, None) | (Some(_), Some(_)) => {}
            // Marks are about 8.0: 9.7 may have changed to Tare's behaviour.
            (None, Some(mark)) if mark.firm || newer => {}
            (None, Some(mark)) => differences.push(format!(
                "{key}: marked for {who} ({}), and the answers agree",
                mark.reason
            )),
            (Some(_), None) if is_listed(&key) => {}
            (Some(difference), None) => differences.push(format!("{key}: {difference}")),
        }
    }
    differences
}

fn report(who: &str, reference: &str, differences: &[String]) {
    let mut text = String::new();
    for difference in differences {
        let _ = writeln!(text, "{difference}\n");
    }
    assert!(
        differences.is_empty(),
        "{text}{who} answers {} probes otherwise than {reference}",
        differences.len()
    );
}

/// The socket of a running MySQL to query, if it is of this series.
fn running_mysql(series: Series) -> Option<PathBuf> {
    let socket = PathBuf::from(std::env::var_os("TARE_TEST_MYSQL")?);
    let (major, minor, _) = by_socket(&socket).server_version();
    (format!("{major}.{minor}") == series.name()).then_some(socket)
}

fn as_mysql(series: Series) {
    let theirs = match running_mysql(series) {
        Some(socket) => {
            let theirs = answers_of("mysql", &|| by_socket(&socket));
            if std::env::var_os("TARE_REGENERATE").is_some() {
                answer::write_answers(&answers_path(series), &theirs);
            }
            theirs
        }
        None => answer::read_answers(&answers_path(series)),
    };
    let reference = name_of(series);
    let differences = compare(&theirs, &tare_answers(series), ("tare", reference));
    report("Tare", reference, &differences);
}

#[test]
fn tare_answers_as_mysql() {
    as_mysql(Series::V8_0);
}

#[test]
fn tare_answers_as_mysql_9_7() {
    as_mysql(Series::V9_7);
}

#[test]
fn tare_answers_as_mariadb() {
    let server = mariadb::start();
    let mut theirs = answers_of("mariadb", &|| server.connect());
    let mysql = answer::read_answers(&answers_path(Series::V8_0));
    report(
        "MariaDB",
        "MySQL",
        &compare(&mysql, &theirs, ("mariadb", "MySQL")),
    );
    // Where they differ, Tare follows MySQL.
    for probe in probes(&directory()).into_values().flatten() {
        if probe.mark("mariadb").is_some() {
            theirs.insert(probe.key(), mysql[&probe.key()].clone());
        }
    }
    report(
        "Tare",
        "MariaDB",
        &compare(&theirs, &tare_answers(Series::V8_0), ("tare", "MariaDB")),
    );
}
