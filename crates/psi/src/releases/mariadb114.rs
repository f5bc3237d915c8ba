//! MariaDB 11.4: 10.11's functions.

use crate::interface::Share;

super::mariadb::release! {
    Mariadb114, 135 slots {},
    Share {
        keys: 0x1d8,
        key_bytes: 0xb8,
        key_name: 0x48,
        key_name_is_counted: true,
        schema: (0x260, 0x268),
        name: (0x270, 0x278),
        key_count: 0x3c8,
        // Views.
        excluded_if: &[0x417],
    }
}
