//! MySQL 8.0, as of 8.0.15: sixteen tables of functions are exported, one for each kind of event; most calls do
//! not go through them, but to the functions that they lead to.

use engine::{Kind, Namespace};

use super::{Area, Digest, DocumentedInfo, Fields, MetadataKey, Series, Share, flag};
use crate::door::*;
use crate::gate::{Entry, Place};
use crate::{gate, host};

/// The series.
#[derive(Debug)]
pub struct M80;

/// MySQL 8.0.
pub static SERIES: gate::Series = gate::Series {
    series: tare_image::Series::Mysql80,
    entries: ENTRIES,
    start: || host::start::<M80>(&BUILT_IN),
};

/// What the server's own engine would register by itself.
static BUILT_IN: host::BuiltIn = host::BuiltIn {
    table_io: "wait/io/table/sql/handler",
    table_lock: "wait/lock/table/sql/handler",
    metadata: "wait/lock/metadata/sql/mdl",
    idle: "idle",
    transaction: "transaction",
    innodb_words: true,
};

/// What metadata locks are on, by number.
const NAMESPACES: [Namespace; 17] = [
    Namespace::Global,
    Namespace::Tablespace,
    Namespace::Schema,
    Namespace::Table,
    Namespace::Function,
    Namespace::Procedure,
    Namespace::Trigger,
    Namespace::Event,
    Namespace::Commit,
    Namespace::UserLevelLock,
    Namespace::LockingService,
    Namespace::Srid,
    Namespace::AclCache,
    Namespace::ColumnStatistics,
    Namespace::BackupLock,
    Namespace::ResourceGroups,
    Namespace::ForeignKey,
];

impl Series for M80 {
    type Info = DocumentedInfo;

    const TELLS_ERRORS: bool = true;
    const DAEMONIZES: bool = true;
    const FIELDS: Fields = Fields {
        share: Share {
            keys: 0xe8,
            key_bytes: 0x98,
            key_name: 0x58,
            key_name_is_counted: false,
            schema: (0x178, 0x180),
            name: (0x188, 0x190),
            key_count: 0x244,
            // Views, and what is no table of its own.
            is_none: &[0x29b, 0x340],
        },
        area: Area {
            status: 0x8c,
            message: 0x90,
            message_bytes: 512,
            sqlstate: 0x290,
            number: 0x298,
            rows: 0x2a0,
            warnings: 0x2b0,
            changed: &[1],
            gave: &[2],
            failed: 3,
        },
        digest: Digest {
            is_full: 0,
            bytes: 8,
            tokens: 0x38,
        },
        key: MetadataKey {
            // The length of the name as it was written comes before it.
            kind: 6,
            namespaces: &NAMESPACES,
        },
    };
    const ERROR_NAMES: Option<(&'static std::ffi::CStr, usize)> =
        Some((c"error_names_array", 4777));

    fn flags(_kind: Kind, flags: u32) -> u32 {
        flags
    }

    fn is_enabled(kind: Kind, _name: &str, flags: u32) -> bool {
        match kind {
            Kind::Stage => flags & flag::PROGRESS != 0,
            kind => kind.enabled_by_default(),
        }
    }
}

macro_rules! entries {
    ($($table:literal { $($index:literal $name:literal => $function:expr;)* })*) => {
        /// All 149 slots of the sixteen tables.
        pub static ENTRIES: &[Entry] = &[$($(Entry {
            name: $name,
            place: Place::Slot { table: $table, index: $index },
            function: $function as *const (),
        },)*)*];
    };
}

const fn row(kind: Kind) -> u8 {
    kind as u8
}

entries! {
    "pfs_cond_service_v1" {
        0 "register_cond" => keys::register_row::<M80, { row(Kind::Cond) }>;
        1 "init_cond" => cond::init_cond;
        2 "destroy_cond" => cond::destroy_cond;
        3 "signal_cond" => cond::signal_cond;
        4 "broadcast_cond" => cond::signal_cond;
        5 "start_cond_wait" => cond::start_cond_wait;
        6 "end_cond_wait" => cond::end_cond_wait;
    }
    "pfs_data_lock_service_v1" {
        0 "register_data_lock" => other::ignore;
        1 "unregister_data_lock" => other::ignore;
    }
    "pfs_error_service_v1" {
        0 "log_error" => error::log_error::<M80>;
    }
    "pfs_file_service_v1" {
        0 "register_file" => keys::register_row::<M80, { row(Kind::File) }>;
        1 "create_file" => file::create_file;
        2 "get_thread_file_name_locker" => file::get_thread_file_name_locker;
        3 "get_thread_file_stream_locker" => file::get_thread_file_stream_locker;
        4 "get_thread_file_descriptor_locker" => file::get_thread_file_descriptor_locker;
        5 "start_file_open_wait" => file::start_file_open_wait;
        6 "end_file_open_wait" => file::end_file_open_wait;
        7 "end_file_open_wait_and_bind_to_descriptor" => file::end_file_open_wait_and_bind_to_descriptor;
        8 "end_temp_file_open_wait_and_bind_to_descriptor" => file::end_temp_file_open_wait_and_bind_to_descriptor;
        9 "start_file_wait" => file::start_file_wait;
        10 "end_file_wait" => file::end_file_wait;
        11 "start_file_close_wait" => file::start_file_close_wait;
        12 "end_file_close_wait" => file::end_file_close_wait;
        13 "end_file_rename_wait" => file::end_file_rename_wait;
    }
    "pfs_idle_service_v1" {
        0 "start_idle_wait" => idle::start_idle_wait;
        1 "end_idle_wait" => idle::end_idle_wait;
    }
    "pfs_mdl_service_v1" {
        0 "create_metadata_lock" => metadata::create_metadata_lock::<M80>;
        1 "set_metadata_lock_status" => metadata::set_metadata_lock_status;
        2 "destroy_metadata_lock" => metadata::destroy_metadata_lock;
        3 "start_metadata_wait" => metadata::start_metadata_wait;
        4 "end_metadata_wait" => metadata::end_metadata_wait;
    }
    "pfs_memory_service_v1" {
        0 "register_memory" => keys::register_row::<M80, { row(Kind::Memory) }>;
        1 "memory_alloc" => memory::memory_alloc;
        2 "memory_realloc" => memory::memory_realloc;
        3 "memory_claim" => memory::memory_claim;
        4 "memory_free" => memory::memory_free;
    }
    "pfs_mutex_service_v1" {
        0 "register_mutex" => keys::register_row::<M80, { row(Kind::Mutex) }>;
        1 "init_mutex" => mutex::init_mutex;
        2 "destroy_mutex" => mutex::destroy_mutex;
        3 "start_mutex_wait" => mutex::start_mutex_wait;
        4 "end_mutex_wait" => mutex::end_mutex_wait;
        5 "unlock_mutex" => mutex::unlock_mutex;
    }
    "pfs_rwlock_service_v1" {
        0 "register_rwlock" => keys::register_row::<M80, { row(Kind::RwLock) }>;
        1 "init_rwlock" => rwlock::init_rwlock;
        2 "destroy_rwlock" => rwlock::destroy_rwlock;
        3 "start_rwlock_rdwait" => rwlock::start_rwlock_wait;
        4 "end_rwlock_rdwait" => rwlock::end_rwlock_wait;
        5 "start_rwlock_wrwait" => rwlock::start_rwlock_wait;
        6 "end_rwlock_wrwait" => rwlock::end_rwlock_wait;
        7 "unlock_rwlock" => rwlock::unlock_rwlock;
    }
    "pfs_socket_service_v1" {
        0 "register_socket" => keys::register_row::<M80, { row(Kind::Socket) }>;
        1 "init_socket" => socket::init_socket;
        2 "destroy_socket" => socket::destroy_socket;
        3 "start_socket_wait" => socket::start_socket_wait;
        4 "end_socket_wait" => socket::end_socket_wait;
        5 "set_socket_state" => socket::set_socket_state;
        6 "set_socket_info" => socket::set_socket_info;
        7 "set_socket_thread_owner" => socket::set_socket_thread_owner;
    }
    "pfs_stage_service_v1" {
        0 "register_stage" => keys::register_stage::<M80>;
        1 "start_stage" => stage::start_stage;
        2 "get_current_stage_progress" => stage::get_current_stage_progress;
        3 "end_stage" => stage::end_stage;
    }
    "pfs_statement_service_v2" {
        0 "register_statement" => keys::register_row::<M80, { row(Kind::Statement) }>;
        1 "get_thread_statement_locker" => statement::get_thread_statement_locker;
        2 "refine_statement" => statement::refine_statement;
        3 "start_statement" => statement::start_statement;
        4 "set_statement_text" => statement::set_statement_text::<M80>;
        5 "set_statement_query_id" => other::ignore;
        6 "set_statement_lock_time" => statement::set_statement_lock_time;
        7 "set_statement_rows_sent" => statement::set_statement_rows_sent;
        8 "set_statement_rows_examined" => statement::set_statement_rows_examined;
        9 "inc_statement_created_tmp_disk_tables" => statement::inc_statement_created_tmp_disk_tables;
        10 "inc_statement_created_tmp_tables" => statement::inc_statement_created_tmp_tables;
        11 "inc_statement_select_full_join" => statement::inc_statement_select_full_join;
        12 "inc_statement_select_full_range_join" => statement::inc_statement_select_full_range_join;
        13 "inc_statement_select_range" => statement::inc_statement_select_range;
        14 "inc_statement_select_range_check" => statement::inc_statement_select_range_check;
        15 "inc_statement_select_scan" => statement::inc_statement_select_scan;
        16 "inc_statement_sort_merge_passes" => statement::inc_statement_sort_merge_passes;
        17 "inc_statement_sort_range" => statement::inc_statement_sort_range;
        18 "inc_statement_sort_rows" => statement::inc_statement_sort_rows;
        19 "inc_statement_sort_scan" => statement::inc_statement_sort_scan;
        20 "set_statement_no_index_used" => statement::set_statement_no_index_used;
        21 "set_statement_no_good_index_used" => statement::set_statement_no_good_index_used;
        22 "end_statement" => statement::end_statement::<M80>;
        23 "create_prepared_stmt" => prepared::create_prepared_stmt;
        24 "destroy_prepared_stmt" => prepared::destroy_prepared_stmt;
        25 "reprepare_prepared_stmt" => prepared::reprepare_prepared_stmt;
        26 "execute_prepared_stmt" => prepared::execute_prepared_stmt;
        27 "set_prepared_stmt_text" => prepared::set_prepared_stmt_text;
        28 "digest_start" => statement::digest_start;
        29 "digest_end" => statement::digest_end::<M80>;
        30 "get_sp_share" => program::get_sp_share;
        31 "release_sp_share" => program::release_sp_share;
        32 "start_sp" => program::start_sp;
        33 "end_sp" => program::end_sp;
        34 "drop_sp" => program::drop_sp;
    }
    "pfs_system_service_v1" {
        0 "unload_plugin" => other::ignore;
    }
    "pfs_table_service_v1" {
        0 "get_table_share" => table::get_table_share::<M80>;
        1 "release_table_share" => table::release_table_share;
        2 "drop_table_share" => table::drop_table_share;
        3 "open_table" => table::open_table;
        4 "unbind_table" => table::unbind_table;
        5 "rebind_table" => table::rebind_table;
        6 "close_table" => table::close_table;
        7 "start_table_io_wait" => table::start_table_io_wait;
        8 "end_table_io_wait" => table::end_table_io_wait;
        9 "start_table_lock_wait" => table::start_table_lock_wait::<M80>;
        10 "end_table_lock_wait" => table::end_table_lock_wait;
        11 "unlock_table" => table::unlock_table;
    }
    "pfs_thread_service_v1" {
        0 "register_thread" => keys::register_row::<M80, { row(Kind::Thread) }>;
        1 "spawn_thread" => thread::spawn_thread;
        2 "new_thread" => thread::new_thread;
        3 "set_thread_id" => thread::set_thread_id;
        4 "set_thread_THD" => thread::set_thread_thd;
        5 "set_thread_os_id" => thread::set_thread_os_id;
        6 "get_thread" => thread::get_thread;
        7 "set_thread_user" => thread::set_thread_user;
        8 "set_thread_account" => thread::set_thread_account;
        9 "set_thread_db" => thread::set_thread_db;
        10 "set_thread_command" => thread::set_thread_command;
        11 "set_connection_type" => thread::set_connection_type;
        12 "set_thread_start_time" => thread::set_thread_start_time;
        13 "set_thread_state" => thread::set_thread_state;
        14 "set_thread_info" => thread::set_thread_info;
        15 "set_thread_resource_group" => other::done;
        16 "set_thread_resource_group_by_id" => other::done;
        17 "set_thread" => thread::set_thread;
        18 "delete_current_thread" => thread::delete_current_thread;
        19 "delete_thread" => thread::delete_thread;
        20 "set_thread_connect_attrs" => attributes::set_thread_connect_attrs;
        21 "get_thread_event_id" => thread::get_thread_event_id;
        22 "get_thread_system_attrs" => other::none;
        23 "get_thread_system_attrs_by_id" => other::none;
        24 "register_notification" => other::done;
        25 "unregister_notification" => other::none;
        26 "notify_session_connect" => other::ignore;
        27 "notify_session_disconnect" => other::ignore;
        28 "notify_session_change_user" => other::ignore;
    }
    "pfs_transaction_service_v1" {
        0 "get_thread_transaction_locker" => transaction::get_thread_transaction_locker;
        1 "start_transaction" => transaction::start_transaction;
        2 "set_transaction_xid" => transaction::set_transaction_xid;
        3 "set_transaction_xa_state" => transaction::set_transaction_xa_state;
        4 "set_transaction_gtid" => transaction::set_transaction_gtid;
        5 "set_transaction_trxid" => transaction::set_transaction_trxid;
        6 "inc_transaction_savepoints" => transaction::inc_transaction_savepoints;
        7 "inc_transaction_rollback_to_savepoint" => transaction::inc_transaction_rollback_to_savepoint;
        8 "inc_transaction_release_savepoint" => transaction::inc_transaction_release_savepoint;
        9 "end_transaction" => transaction::end_transaction;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// As setup_instruments of the real server has them.
    #[test]
    fn instruments_begin_as_the_servers_own() {
        for (kind, name, flags, enabled) in [
            (Kind::Mutex, "wait/synch/mutex/sql/LOCK_open", 0, false),
            (Kind::File, "wait/io/file/sql/FRM", 0, true),
            (Kind::Stage, "stage/sql/Sending data", 0, false),
            (
                Kind::Stage,
                "stage/sql/copy to tmp table",
                flag::PROGRESS,
                true,
            ),
            (Kind::Transaction, "transaction", 0, true),
            (Kind::MetadataLock, "wait/lock/metadata/sql/mdl", 0, true),
            (Kind::Memory, "memory/sql/THD::main_mem_root", 0, true),
        ] {
            assert_eq!(M80::is_enabled(kind, name, flags), enabled, "{name}");
        }
    }

    #[test]
    fn entries_are_told_apart() {
        let names: BTreeSet<_> = ENTRIES.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ENTRIES.len());
        assert_eq!(ENTRIES.len(), 149);
    }
}
