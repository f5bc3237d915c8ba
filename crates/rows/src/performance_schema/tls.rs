//! tls_channel_status: what connections are encrypted with.

use tare_mysql::series::Series;
use tare_mysql::variable::Scope;

use crate::describe::{Column, Spec, Table, col};
use crate::source::Variable;
use crate::view::View;

fn properties(view: &View) -> Vec<Variable> {
    let variables = view.source.variables(Scope::Global);
    let value = |name: &str| variables.iter().find(|v| v.name == name).map(|v| &v.value);
    let enabled = value("ssl_cert").is_some_and(|path| !path.is_empty());
    let mut all = vec![Variable::new("Enabled", if enabled { "Yes" } else { "No" })];
    let is_tls = |v: &Variable| v.name.starts_with("Ssl_") || v.name.starts_with("Current_tls_");
    all.extend(view.source.status(Scope::Global).into_iter().filter(is_tls));
    all
}

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Variable>] = &[
    col("CHANNEL", "varchar(128)", "Always mysql_main: all connections come by one port.", |_| "mysql_main".into()),
    col("PROPERTY", "varchar(128)", "A status variable, or a setting of new connections.", |r| r.name.as_str().into()),
    col("VALUE", "varchar(2048)", "Its value.", |r| r.value.as_str().into()),
];

static TLS_CHANNEL_STATUS: Spec<Variable> = Spec::new(
    "performance_schema",
    "tls_channel_status",
    "What connections are encrypted with.",
    &[COLUMNS],
    |view, _| Ok(Box::new(properties(view).into_iter())),
)
.expect(30)
.since(Series::V9_7);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&TLS_CHANNEL_STATUS];
