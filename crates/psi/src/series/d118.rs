//! MariaDB 11.8: one function more.

use engine::{ObjectType, TableLock};

use super::functions::{names, slots};
use super::{Fields, Function, Interface, PlainInfo, Share, mariadb};
use crate::hook::Entry;
use crate::{hook, host};

/// The series.
#[derive(Debug)]
pub struct D118;

/// MariaDB 11.8.
pub static SERIES: hook::ServerHooks = hook::ServerHooks {
    series: tare_image::Series::Mariadb118,
    entries: ENTRIES,
    signatures: &[],
    needs: &[],
    fields: &D118::FIELDS,
    start: |options| host::start::<D118>(&mariadb::BUILT_IN, options),
};

impl Interface for D118 {
    type Info = PlainInfo;

    const TELLS_ERRORS: bool = false;
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
        is_none: &[0x433],
    });
    const OWN: &'static [Function] = &mariadb::own::<Self>();

    fn table_lock(number: i32) -> Option<TableLock> {
        mariadb::table_lock(number)
    }

    fn program(number: u32) -> Option<ObjectType> {
        mariadb::program(number)
    }
}

/// All.
pub static ENTRIES: &[Entry] =
    &slots::<D118, 136>(&[(None, mariadb::functions! { get_thread_class_name })]);
