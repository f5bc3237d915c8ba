//! What every family of functions needs.

pub(crate) use rusqlite::types::{Value, ValueRef};
pub(crate) use tare_dialect::function::ReturnType::*;
pub(crate) use tare_dialect::function::{ANY, SqlCall};
pub(crate) use tare_dialect::node;
pub(crate) use tare_mysql::date::argument::MAX_TIME_MICROS;
pub(crate) use tare_mysql::date::{self as time, DateTime};
pub(crate) use tare_mysql::error::SqlError;

pub(crate) use crate::arguments::*;
pub(crate) use crate::call::*;
pub(crate) use crate::record::*;
