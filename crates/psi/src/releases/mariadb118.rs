//! MariaDB 11.8: one function more.

use crate::interface::Share;

super::mariadb::release! {
    Mariadb118, 136 slots { get_thread_class_name },
    Share {
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
    }
}
