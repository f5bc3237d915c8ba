//! status_by_thread, status_by_account, status_by_user, status_by_host.

use tare_mysql::error::SqlError;

use crate::cell::Cell;
use crate::describe::{Column, Key, Rows, Spec, Table, U64, col, null};
use crate::filter::Filter;
use crate::server::{Owned, StatusBy};
use crate::source::Variable;
use crate::view::View;

/// A counter of a thread, an account, a user or a host.
pub struct Counter {
    thread_id: u64,
    user: Option<String>,
    host: Option<String>,
    name: String,
    value: String,
}

const THREAD: Column<Counter> = col("THREAD_ID", U64, "The thread.", |r| r.thread_id.into());
#[rustfmt::skip] // One column, one line.
const USER: Column<Counter> = null("USER", "char(32)", "The user.", |r: &Counter| Cell::opt(r.user.as_deref())).binary();
#[rustfmt::skip] // One column, one line.
const HOST: Column<Counter> =
    null("HOST", "char(60)", "The host.", |r: &Counter| Cell::opt(r.host.as_deref())).in_9_7("char(255)").binary();
#[rustfmt::skip] // One column, one line.
const NAME: Column<Counter> = col("VARIABLE_NAME", "varchar(64)", "The status variable.", |r| r.name.as_str().into());
#[rustfmt::skip] // One column, one line.
const VALUE: Column<Counter> =
    null("VARIABLE_VALUE", "varchar(1024)", "Its value.", |r: &Counter| r.value.as_str().into()).in_mariadb("varchar(4096)");

fn counters(view: &View, filter: &Filter, by: StatusBy) -> Result<Rows<Counter>, SqlError> {
    let (name, thread) = (filter.text("VARIABLE_NAME"), filter.number("THREAD_ID"));
    let mut rows = Vec::new();
    for owned in view.source.status_by(by) {
        let Owned {
            connection_id,
            user,
            host,
            values,
        } = owned;
        let thread_id = match by {
            StatusBy::Thread => match view.snapshot.thread_id(connection_id) {
                Some(id) if thread.admits(&id) => id,
                _ => continue,
            },
            _ => 0,
        };
        for Variable { name: of, value } in values {
            if name.admits_name(&of) {
                rows.push(Counter {
                    thread_id,
                    user: user.clone(),
                    host: host.clone(),
                    name: of,
                    value,
                });
            }
        }
    }
    Ok(Box::new(rows.into_iter()))
}

static BY_THREAD: Spec<Counter> = Spec::new(
    "performance_schema",
    "status_by_thread",
    "Status variables by session.",
    &[&[THREAD, NAME, VALUE]],
    |view, filter| counters(view, filter, StatusBy::Thread),
)
.keys(&[Key::Primary(&["THREAD_ID", "VARIABLE_NAME"])])
.filters(&["THREAD_ID", "VARIABLE_NAME"])
.truncate(|view| {
    view.source.truncate_status(StatusBy::Thread);
    Ok(())
});

static BY_ACCOUNT: Spec<Counter> = Spec::new(
    "performance_schema",
    "status_by_account",
    "Status variables by account, ended sessions included.",
    &[&[USER, HOST, NAME, VALUE]],
    |view, filter| counters(view, filter, StatusBy::Account),
)
.keys(&[Key::Unique("ACCOUNT", &["USER", "HOST", "VARIABLE_NAME"])])
.filters(&["VARIABLE_NAME"])
.truncate(|view| {
    view.source.truncate_status(StatusBy::Account);
    Ok(())
});

static BY_USER: Spec<Counter> = Spec::new(
    "performance_schema",
    "status_by_user",
    "Status variables by user, ended sessions included.",
    &[&[USER, NAME, VALUE]],
    |view, filter| counters(view, filter, StatusBy::User),
)
.keys(&[Key::Unique("USER", &["USER", "VARIABLE_NAME"])])
.filters(&["VARIABLE_NAME"])
.truncate(|view| {
    view.source.truncate_status(StatusBy::User);
    Ok(())
});

static BY_HOST: Spec<Counter> = Spec::new(
    "performance_schema",
    "status_by_host",
    "Status variables by host, ended sessions included.",
    &[&[HOST, NAME, VALUE]],
    |view, filter| counters(view, filter, StatusBy::Host),
)
.keys(&[Key::Unique("HOST", &["HOST", "VARIABLE_NAME"])])
.filters(&["VARIABLE_NAME"])
.truncate(|view| {
    view.source.truncate_status(StatusBy::Host);
    Ok(())
});

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&BY_THREAD, &BY_ACCOUNT, &BY_USER, &BY_HOST];
