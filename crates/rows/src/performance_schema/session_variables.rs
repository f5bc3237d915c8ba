//! variables_by_thread, user_variables_by_thread, variables_info.

use tare_mysql::error::SqlError;

use crate::cell::Cell;
use crate::describe::{Column, Key, Rows, Spec, Table, U64, col, null};
use crate::server::VariableInfo;
use crate::time::timestamp_of;
use crate::view::View;

/// A variable of a thread.
pub struct OfThread<V> {
    thread_id: u64,
    name: String,
    value: Option<V>,
}

#[rustfmt::skip] // One column, one line.
const fn thread<V>() -> Column<OfThread<V>> {
    col("THREAD_ID", U64, "The session's thread.", |r| r.thread_id.into())
}

fn of_threads<V: 'static>(
    view: &View,
    all: impl Iterator<Item = (Option<u64>, Vec<(String, Option<V>)>)>,
) -> Result<Rows<OfThread<V>>, SqlError> {
    let mut rows = Vec::new();
    for (connection, values) in all {
        let Some(thread_id) = view.snapshot.thread_id(connection) else {
            continue;
        };
        rows.extend(values.into_iter().map(|(name, value)| OfThread {
            thread_id,
            name,
            value,
        }));
    }
    Ok(Box::new(rows.into_iter()))
}

#[rustfmt::skip] // One column, one line.
static VARIABLES_BY_THREAD: Spec<OfThread<String>> = Spec::new(
    "performance_schema",
    "variables_by_thread",
    "Session system variables of each session.",
    &[&[
        thread(),
        col("VARIABLE_NAME", "varchar(64)", "The variable's name.", |r| r.name.as_str().into()),
        null("VARIABLE_VALUE", "varchar(1024)", "The variable's value.", |r| Cell::opt(r.value.as_deref())),
    ]],
    |view, _| {
        let all = view.source.variables_by_session().into_iter();
        of_threads(
            view,
            all.map(|o| {
                let values = o.values.into_iter().map(|v| (v.name, Some(v.value)));
                (o.connection_id, values.collect())
            }),
        )
    },
)
.keys(&[Key::Primary(&["THREAD_ID", "VARIABLE_NAME"])])
.mysql_only();

#[rustfmt::skip] // One column, one line.
static USER_VARIABLES: Spec<OfThread<Vec<u8>>> = Spec::new(
    "performance_schema",
    "user_variables_by_thread",
    "User-defined variables (@name) of each session.",
    &[&[
        thread(),
        col("VARIABLE_NAME", "varchar(64)", "The variable's name, without the @.", |r| r.name.as_str().into()),
        null("VARIABLE_VALUE", "longblob", "The variable's value.", |r| Cell::opt(r.value.as_deref())),
    ]],
    |view, _| {
        let all = view.source.user_variables().into_iter();
        of_threads(
            view,
            all.map(|o| {
                let values = o.values.into_iter().map(|v| (v.name, v.value));
                (o.connection_id, values.collect())
            }),
        )
    },
)
.keys(&[Key::Primary(&["THREAD_ID", "VARIABLE_NAME"])])
.expect(50);

/// MySQL's type of VARIABLE_SOURCE.
const SOURCE: &str = "enum('COMPILED','GLOBAL','SERVER','EXPLICIT','EXTRA','USER','LOGIN','COMMAND_LINE','PERSISTED',\
                      'DYNAMIC')";

impl VariableInfo {
    fn set_time(&self) -> Cell<'_> {
        Cell::opt(self.set.as_ref().map(|set| timestamp_of(set.0)))
    }

    fn set_user(&self) -> Cell<'_> {
        Cell::opt(self.set.as_ref().map(|set| set.1.as_str()))
    }

    fn set_host(&self) -> Cell<'_> {
        Cell::opt(self.set.as_ref().map(|set| set.2.as_str()))
    }
}

#[rustfmt::skip] // One column, one line.
static VARIABLES_INFO: Spec<VariableInfo> = Spec::new(
    "performance_schema",
    "variables_info",
    "Where the value of each system variable comes from.",
    &[&[
        col("VARIABLE_NAME", "varchar(64)", "The variable's name.", |r: &VariableInfo| r.name.as_str().into()),
        null("VARIABLE_SOURCE", SOURCE, "COMPILED for the default, DYNAMIC if it was set at run time.", |r: &VariableInfo| r.source.into())
            .default("COMPILED"),
        null("VARIABLE_PATH", "varchar(1024)", "The option file that it was read from.", |r| r.path.as_str().into()),
        null("MIN_VALUE", "varchar(64)", "The smallest value.", |r| r.min.into()),
        null("MAX_VALUE", "varchar(64)", "The largest value.", |r| r.max.into()),
        null("SET_TIME", "timestamp(6)", "When it was set.", VariableInfo::set_time),
        null("SET_USER", "char(32)", "The user who set it.", VariableInfo::set_user).binary(),
        null("SET_HOST", "char(60)", "The host of that user.", VariableInfo::set_host).in_9_7("char(255)").binary(),
    ]],
    |view, _| Ok(Box::new(crate::merged::variables_info(view).into_iter())),
)
.expect(600)
.mysql_only();

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&VARIABLES_BY_THREAD, &USER_VARIABLES, &VARIABLES_INFO];
