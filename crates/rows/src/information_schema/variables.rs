//! GLOBAL_STATUS, GLOBAL_VARIABLES, SESSION_STATUS, SESSION_VARIABLES: MariaDB has here what MySQL has in
//! performance_schema, with names in capitals.

use crate::describe::{Column, Rows, Spec, Table, col};
use crate::filter::Filter;
use crate::merged;
use crate::source::Variable;
use tare_mysql::error::SqlError;
use tare_mysql::variable::Scope;

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Variable>] = &[
    col("VARIABLE_NAME", "varchar(64)", "The variable's name.", |r| r.name.as_str().into()),
    col("VARIABLE_VALUE", "varchar(2048)", "The variable's value.", |r| r.value.as_str().into()),
];

fn listed(mut all: Vec<Variable>, filter: &Filter) -> Result<Rows<Variable>, SqlError> {
    let admit = filter.text("VARIABLE_NAME");
    all.retain(|variable| admit.admits_name(&variable.name));
    for variable in &mut all {
        variable.name.make_ascii_uppercase();
    }
    Ok(Box::new(all.into_iter()))
}

macro_rules! table {
    ($table:ident $name:literal $doc:literal $rows:path, $scope:ident) => {
        static $table: Spec<Variable> = Spec::new(
            "information_schema",
            $name,
            $doc,
            &[COLUMNS],
            |view, filter| listed($rows(view, Scope::$scope), filter),
        )
        .filters(&["VARIABLE_NAME"])
        .expect(500)
        .mariadb_only();
    };
}

table!(GLOBAL_STATUS "GLOBAL_STATUS" "The server's status variables." merged::status, Global);
table!(GLOBAL_VARIABLES "GLOBAL_VARIABLES" "The server's system variables." merged::variables, Global);
table!(SESSION_STATUS "SESSION_STATUS" "The session's status variables." merged::status, Session);
table!(SESSION_VARIABLES "SESSION_VARIABLES" "The session's system variables." merged::variables, Session);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &GLOBAL_STATUS,
    &GLOBAL_VARIABLES,
    &SESSION_STATUS,
    &SESSION_VARIABLES,
];
