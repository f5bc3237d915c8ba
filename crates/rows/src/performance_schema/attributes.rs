//! session_connect_attrs, session_account_connect_attrs: attributes that clients sent.

use std::sync::Arc;

use crate::cell::Cell;
use crate::describe::{BINARY, Key, Spec, Table, U64, col, null};

/// One attribute of a connection.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are MySQL's column names")]
pub struct Attribute {
    pub processlist_id: u64,
    pub name: Arc<str>,
    pub value: Option<Arc<str>>,
    pub ordinal_position: i64,
}

#[rustfmt::skip] // One column, one line.
macro_rules! columns {
    () => {
        &[&[
            col("PROCESSLIST_ID", U64, "The connection's number.", |r: &Attribute| r.processlist_id.into()).in_mariadb("int(11)"),
            col("ATTR_NAME", "varchar(32)", "The attribute's name.", |r: &Attribute| (&*r.name).into()).binary(),
            null("ATTR_VALUE", "varchar(1024)", "Its value.", |r: &Attribute| Cell::opt(r.value.as_deref())).binary(),
            null("ORDINAL_POSITION", "int(11)", "The attribute's position, from 0.", |r| r.ordinal_position.into()),
        ]]
    };
}
const KEYS: &[Key] = &[Key::Primary(&["PROCESSLIST_ID", "ATTR_NAME"])];

static ALL: Spec<Attribute> = Spec::new(
    "performance_schema",
    "session_connect_attrs",
    "Connection attributes that clients sent.",
    columns!(),
    |view, filter| view.snapshot.attributes(filter, None),
)
.keys(KEYS)
.collate(BINARY)
.filters(&["PROCESSLIST_ID"]);

static ACCOUNT: Spec<Attribute> = Spec::new(
    "performance_schema",
    "session_account_connect_attrs",
    "Connection attributes that clients of the current account sent.",
    columns!(),
    |view, filter| {
        view.snapshot
            .attributes(filter, Some(view.source.account()))
    },
)
.keys(KEYS)
.collate(BINARY)
.filters(&["PROCESSLIST_ID"]);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&ALL, &ACCOUNT];
