//! MariaDB 10.11: 135 functions.

use crate::interface::Share;

super::mariadb::release! {
    Mariadb1011, 135 slots {},
    Share {
        keys: 0x1d8,
        key_bytes: 0xc0,
        key_name: 0x40,
        key_name_is_counted: true,
        schema: (0x260, 0x268),
        name: (0x270, 0x278),
        key_count: 0x360,
        // Views.
        excluded_if: &[0x3b3],
    }
}
