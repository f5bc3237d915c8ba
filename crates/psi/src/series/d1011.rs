//! MariaDB 10.11: 135 functions.

use engine::{ObjectType, TableLock};

use super::functions::{names, slots};
use super::{Fields, Function, Interface, PlainInfo, Share, mariadb};
use crate::hook::Entry;
use crate::{hook, host};

/// The series.
#[derive(Debug)]
pub struct D1011;

/// MariaDB 10.11.
pub static SERIES: hook::ServerHooks = hook::ServerHooks {
    series: tare_image::Series::Mariadb1011,
    entries: ENTRIES,
    signatures: &[],
    needs: &[],
    fields: &D1011::FIELDS,
    start: |options| host::start::<D1011>(&mariadb::BUILT_IN, options),
};

impl Interface for D1011 {
    type Info = PlainInfo;

    const TELLS_ERRORS: bool = false;
    const FIELDS: Fields = mariadb::fields(Share {
        keys: 0x1d8,
        key_bytes: 0xc0,
        key_name: 0x40,
        key_name_is_counted: true,
        schema: (0x260, 0x268),
        name: (0x270, 0x278),
        key_count: 0x360,
        // Views.
        is_none: &[0x3b3],
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
pub static ENTRIES: &[Entry] = &slots::<D1011, 135>(&[(None, mariadb::functions! {})]);
