//! How clients get the columns of SHOW and EXPLAIN in MySQL 9.7.

use std::collections::HashMap;
use std::sync::OnceLock;

use tare_dialect::admin::{Absent, EngineReport, Format, Program, Routine, Show, What};
use tare_mysql::variable::Scope;
use tare_mysql::wire::column::Definition;
use tare_mysql::wire::definitions::parse;

/// One line for each statement. crates/server/tests/metadata writes the file.
const STATEMENTS: &str = include_str!("definitions-9.7.tsv");

/// The definitions of a statement's columns; none if MySQL has no such statement. `explain_format` is that of
/// an EXPLAIN that names none.
pub fn of_statement(show: &Show, explain_format: Format) -> &'static [Definition] {
    match &show.what {
        What::Explain(_, format, _) => of(match format.unwrap_or(explain_format) {
            Format::Traditional => "EXPLAIN",
            Format::Json => "EXPLAIN FORMAT=JSON",
            Format::Tree => "EXPLAIN FORMAT=TREE",
        }),
        _ => of(name_of(show)),
    }
}

/// The definitions of CHECK TABLE and its kin.
pub fn of_maintenance() -> &'static [Definition] {
    of("CHECK TABLE")
}

fn of(name: &str) -> &'static [Definition] {
    static ALL: OnceLock<HashMap<String, Vec<Definition>>> = OnceLock::new();
    let all = ALL.get_or_init(|| parse(STATEMENTS));
    all.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
}

/// The name of a statement in the file.
fn name_of(show: &Show) -> &'static str {
    match &show.what {
        What::Databases => "SHOW DATABASES",
        What::Tables(_) => "SHOW FULL TABLES",
        What::TableStatus(_) => "SHOW TABLE STATUS",
        What::Columns(..) if show.full => "SHOW FULL COLUMNS",
        What::Columns(..) => "SHOW COLUMNS",
        What::Index(..) => "SHOW INDEX",
        What::CreateTable(..) => "SHOW CREATE TABLE",
        What::CreateDatabase(_) => "SHOW CREATE DATABASE",
        What::Variables(Scope::Global) => "SHOW GLOBAL VARIABLES",
        What::Variables(_) => "SHOW VARIABLES",
        What::Status(Scope::Global) => "SHOW GLOBAL STATUS",
        What::Status(_) => "SHOW STATUS",
        What::ProcessList if show.full => "SHOW FULL PROCESSLIST",
        What::ProcessList => "SHOW PROCESSLIST",
        What::Warnings { .. } => "SHOW WARNINGS",
        What::WarningCount { .. } => "SHOW COUNT(*) WARNINGS",
        What::Engines => "SHOW ENGINES",
        What::Collation => "SHOW COLLATION",
        What::Charset => "SHOW CHARACTER SET",
        What::Grants(_) => "SHOW GRANTS",
        What::CreateUser(_) => "SHOW CREATE USER",
        What::CreateView(..) => "SHOW CREATE VIEW",
        What::CreateProgram(Program::Routine(Routine::Procedure), ..) => "SHOW CREATE PROCEDURE",
        What::CreateProgram(..) => "SHOW CREATE FUNCTION",
        What::Engine(_, EngineReport::Status) => "SHOW ENGINE INNODB STATUS",
        What::Engine(..) => "SHOW ENGINE INNODB MUTEX",
        What::OpenTables(_) => "SHOW OPEN TABLES",
        What::Triggers(_) => "SHOW TRIGGERS",
        What::Events(_) => "SHOW EVENTS",
        What::Routines(_) => "SHOW PROCEDURE STATUS",
        What::Privileges => "SHOW PRIVILEGES",
        What::Plugins => "SHOW PLUGINS",
        What::Absent(Absent::BinaryLogStatus) => "SHOW BINARY LOG STATUS",
        What::Absent(Absent::Replicas) => "SHOW REPLICAS",
        What::Absent(Absent::ReplicaStatus) => "SHOW REPLICA STATUS",
        What::Absent(Absent::Profiles) => "SHOW PROFILES",
        What::Absent(Absent::Profile) => "SHOW PROFILE",
        What::Explain(..) | What::Absent(_) | What::RoutineCode(_) | What::BinaryLogs => "",
    }
}
