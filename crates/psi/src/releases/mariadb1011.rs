//! MariaDB 10.11: 135 functions.

use engine::{ObjectType, TableLock};

use super::entry::{Entry, ServerHooks};
use super::functions::{names, slots};
use super::mariadb;
use crate::interface::{Fields, Function, Interface, PlainInfo, Share};
use crate::start;

/// The release's interface.
#[derive(Debug)]
pub struct Mariadb1011;

/// MariaDB 10.11.
pub static HOOKS: ServerHooks = ServerHooks {
    release: tare_image::Release::Mariadb1011,
    entries: ENTRIES,
    signatures: &[],
    needs: &[],
    fields: &Mariadb1011::FIELDS,
    start: |options| start::start::<Mariadb1011>(&mariadb::BUILT_IN, options),
};

impl Interface for Mariadb1011 {
    type Info = PlainInfo;

    const REPORTS_ERRORS: bool = false;
    const FIELDS: Fields = mariadb::fields(Share {
        keys: 0x1d8,
        key_bytes: 0xc0,
        key_name: 0x40,
        key_name_is_counted: true,
        schema: (0x260, 0x268),
        name: (0x270, 0x278),
        key_count: 0x360,
        // Views.
        excluded_if: &[0x3b3],
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
pub static ENTRIES: &[Entry] = &slots::<Mariadb1011, 135>(&[(None, mariadb::functions! {})]);
