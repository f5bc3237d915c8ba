//! MySQL 5.6, as of 5.6.24: every call goes through the table behind `PSI_server`, which is the exported
//! `PFS_v1` with 97 slots; two of them have one function.
//!
//! The server would use another table if the library set `PSI_hook`, but it sets that itself unless it is
//! started with performance_schema=OFF. So the functions are replaced, as in the other releases.

use std::ffi::c_void;

use engine::{Kind, TableLock};

use super::entry::{Entry, ServerHooks};
use super::functions::{names, slots};
use crate::door::table;
use crate::interface::word::Word;
use crate::interface::{Area, Digest, Fields, Function, Interface, MetadataKey, PlainInfo, Share};
use crate::start;

/// The release's interface.
#[derive(Debug)]
pub struct Mysql56;

/// MySQL 5.6.
pub static HOOKS: ServerHooks = ServerHooks {
    release: tare_image::Release::Mysql56,
    entries: ENTRIES,
    signatures: &[],
    needs: &[],
    fields: &Mysql56::FIELDS,
    start: |options| start::start::<Mysql56>(&BUILT_IN, options),
};

/// The instruments of the server's own engine, which reports neither metadata locks nor transactions.
static BUILT_IN: start::BuiltIn = start::BuiltIn {
    metadata: "",
    transaction: "",
    ..start::BuiltIn::MYSQL
};

/// InnoDB's classes whose mutexes are the C library's.
const OF_THE_C_LIBRARY: [&str; 4] = [
    "wait/synch/mutex/innodb/commit_cond_mutex",
    "wait/synch/mutex/innodb/innobase_share_mutex",
    "wait/synch/mutex/innodb/os_mutex",
    "wait/synch/mutex/innodb/ut_list_mutex",
];

impl Interface for Mysql56 {
    type Info = PlainInfo;

    const REPORTS_ERRORS: bool = false;
    const FIELDS: Fields = Fields {
        share: Share {
            keys: 0x148,
            key_bytes: 0x70,
            key_name: 0x40,
            key_name_is_counted: false,
            schema: (0x1a8, 0x1b0),
            name: (0x1b8, 0x1c0),
            key_count: 0x268,
            // Views.
            excluded_if: &[0x2c2],
        },
        area: Area {
            status: 0x224,
            message: 2,
            sqlstate: 0x208,
            number: 0x204,
            rows: 0x210,
            warnings: 0x220,
            changed: &[1],
            gave: &[2],
            failed: 3,
        },
        digest: Digest {
            is_full: 0,
            bytes: 4,
            tokens: 0x20,
        },
        // The release reports no metadata locks.
        key: MetadataKey {
            kind: 0,
            namespaces: &[],
        },
    };
    const OWN: &'static [Function] = &[
        ("close_table", close_table as *const ()),
        ("end_table_io_wait", end_table_io_wait as *const ()),
    ];

    fn table_lock(number: i32) -> Option<TableLock> {
        Some(match number {
            7 => TableLock::WriteConcurrentInsert,
            // INSERT DELAYED, which has no row of its own in later releases; it also has a low priority.
            8 => TableLock::WriteLowPriority,
            number => return crate::interface::table_lock(number),
        })
    }

    fn word(kind: Kind, name: &str) -> Word {
        match kind {
            Kind::Mutex if OF_THE_C_LIBRARY.contains(&name) => Word::Mutex,
            Kind::Mutex if name.starts_with("wait/synch/mutex/innodb/") => Word::OldInnoDbMutex,
            kind => match Word::of(kind, name) {
                Word::InnoDb => Word::OldInnoDb,
                other => other,
            },
        }
    }
}

/// The release does not report the number of rows, so it is one.
unsafe extern "C" fn end_table_io_wait(locker: *mut c_void) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { table::end_table_io_wait(locker, 1) };
}

/// The release does not pass the table's share.
unsafe extern "C" fn close_table(table: *mut c_void) {
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { table::close_table(std::ptr::null_mut(), table) };
}

/// The release's entries.
pub static ENTRIES: &[Entry] = &slots::<Mysql56, 97>(&[(
    Some("PFS_v1"),
    names! {
        register_mutex register_rwlock register_cond register_thread register_file register_stage
        register_statement register_socket init_mutex destroy_mutex
        init_rwlock destroy_rwlock init_cond destroy_cond
        init_socket destroy_socket get_table_share release_table_share drop_table_share open_table unbind_table
        rebind_table close_table create_file spawn_thread new_thread set_thread_id get_thread set_thread_user
        set_thread_user_host set_thread_db set_thread_command set_thread_start_time set_thread_state
        set_thread_info set_thread delete_current_thread delete_thread
        get_thread_file_name_locker get_thread_file_stream_locker get_thread_file_descriptor_locker
        unlock_mutex unlock_rwlock signal_cond broadcast_cond
        start_idle_wait end_idle_wait start_mutex_wait end_mutex_wait
        start_rwlock_rdwait end_rwlock_rdwait start_rwlock_wrwait end_rwlock_wrwait
        start_cond_wait end_cond_wait start_table_io_wait end_table_io_wait start_table_lock_wait
        end_table_lock_wait start_file_open_wait end_file_open_wait end_file_open_wait_and_bind_to_descriptor
        start_file_wait end_file_wait start_file_close_wait end_file_close_wait
        start_stage end_stage get_thread_statement_locker refine_statement start_statement set_statement_text
        set_statement_lock_time set_statement_rows_sent set_statement_rows_examined
        inc_statement_created_tmp_disk_tables inc_statement_created_tmp_tables inc_statement_select_full_join
        inc_statement_select_full_range_join inc_statement_select_range inc_statement_select_range_check
        inc_statement_select_scan inc_statement_sort_merge_passes inc_statement_sort_range inc_statement_sort_rows
        inc_statement_sort_scan set_statement_no_index_used set_statement_no_good_index_used end_statement
        start_socket_wait end_socket_wait set_socket_state set_socket_info set_socket_thread_owner
        digest_start digest_end set_thread_connect_attrs
    },
)]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn innodbs_locks_have_their_words() {
        for (kind, name, word) in [
            (Kind::Mutex, "wait/synch/mutex/sql/LOCK_open", Word::Mutex),
            (Kind::Mutex, "wait/synch/mutex/innodb/os_mutex", Word::Mutex),
            (
                Kind::Mutex,
                "wait/synch/mutex/innodb/trx_mutex",
                Word::OldInnoDbMutex,
            ),
            (
                Kind::RwLock,
                "wait/synch/rwlock/innodb/index_tree_rw_lock",
                Word::OldInnoDb,
            ),
            (
                Kind::RwLock,
                "wait/synch/rwlock/sql/MDL_lock::rwlock",
                Word::PreferReader,
            ),
        ] {
            assert_eq!(Mysql56::word(kind, name), word, "{name}");
        }
    }
}
