//! MariaDB 11.8: one function more.

use engine::{ObjectType, TableLock};

use super::entry::{Entry, ServerHooks};
use super::functions::{names, slots};
use super::mariadb;
use crate::interface::{Fields, Function, Interface, PlainInfo, Share};
use crate::start;

/// The release's interface.
#[derive(Debug)]
pub struct Mariadb118;

/// MariaDB 11.8.
pub static HOOKS: ServerHooks = ServerHooks {
    release: tare_image::Release::Mariadb118,
    entries: ENTRIES,
    signatures: &[],
    needs: &[],
    fields: &Mariadb118::FIELDS,
    start: |options| start::start::<Mariadb118>(&mariadb::BUILT_IN, options),
};

impl Interface for Mariadb118 {
    type Info = PlainInfo;

    const REPORTS_ERRORS: bool = false;
    const FIELDS: Fields = mariadb::fields(Share {
        keys: 0x1e8,
        key_bytes: 0xc8,
        key_name: 0x48,
        key_name_is_counted: true,
        schema: (0x278, 0x280),
        name: (0x288, 0x290),
        // Without those of vectors, which are in `total_keys` only.
        key_count: 0x3e0,
        // Views.
        excluded_if: &[0x433],
    });
    const OWN: &'static [Function] = &mariadb::own::<Self>();

    fn table_lock(number: i32) -> Option<TableLock> {
        mariadb::table_lock(number)
    }

    fn program(number: u32) -> Option<ObjectType> {
        mariadb::program(number)
    }
}

/// The release's entries.
pub static ENTRIES: &[Entry] =
    &slots::<Mariadb118, 136>(&[(None, mariadb::functions! { get_thread_class_name })]);
