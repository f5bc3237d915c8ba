//! MySQL 5.7, as of 5.7.22: 135 functions `pfs_*_v1`, exported and called directly, by InnoDB through
//! `PSI_server`'s table, which leads to the same.

use engine::{Kind, Namespace};

use super::{Area, Digest, Fields, MetadataKey, PlainInfo, Series, Share};
use crate::door::*;
use crate::gate::{Entry, Place};
use crate::{gate, host};

/// The series.
#[derive(Debug)]
pub struct M57;

/// MySQL 5.7.
pub static SERIES: gate::Series = gate::Series {
    series: tare_image::Series::Mysql57,
    entries: ENTRIES,
    start: || host::start::<M57>(&BUILT_IN),
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
const NAMESPACES: [Namespace; 11] = [
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
];

impl Series for M57 {
    type Info = PlainInfo;

    const TELLS_ERRORS: bool = false;
    const DAEMONIZES: bool = true;
    const FIELDS: Fields = Fields {
        share: Share {
            keys: 0x170,
            key_bytes: 0x80,
            key_name: 0x40,
            key_name_is_counted: false,
            schema: (0x1f0, 0x1f8),
            name: (0x200, 0x208),
            key_count: 0x2bc,
            // Views.
            is_none: &[0x31d],
        },
        area: Area {
            status: 0x94,
            message: 0x98,
            message_bytes: 512,
            sqlstate: 0x298,
            number: 0x2a0,
            rows: 0x2a8,
            warnings: 0x2b8,
            changed: &[1],
            gave: &[2],
            failed: 3,
        },
        digest: Digest {
            is_full: 0,
            bytes: 8,
            tokens: 0x28,
        },
        key: MetadataKey {
            kind: 4,
            namespaces: &NAMESPACES,
        },
    };
}

macro_rules! entries {
    ($($name:literal => $function:expr;)*) => {
        /// All 135.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            place: Place::Symbol(concat!("pfs_", $name, "_v1")),
            function: $function as *const (),
        }),*];
    };
}

const fn row(kind: Kind) -> u8 {
    kind as u8
}

entries! {
    "register_mutex" => keys::register_row::<M57, { row(Kind::Mutex) }>;
    "register_rwlock" => keys::register_row::<M57, { row(Kind::RwLock) }>;
    "register_cond" => keys::register_row::<M57, { row(Kind::Cond) }>;
    "register_thread" => keys::register_row::<M57, { row(Kind::Thread) }>;
    "register_file" => keys::register_row::<M57, { row(Kind::File) }>;
    "register_stage" => keys::register_stage::<M57>;
    "register_statement" => keys::register_row::<M57, { row(Kind::Statement) }>;
    "register_socket" => keys::register_row::<M57, { row(Kind::Socket) }>;
    "register_memory" => keys::register_row::<M57, { row(Kind::Memory) }>;
    "init_mutex" => mutex::init_mutex;
    "destroy_mutex" => mutex::destroy_mutex;
    "init_rwlock" => rwlock::init_rwlock;
    "destroy_rwlock" => rwlock::destroy_rwlock;
    "init_cond" => cond::init_cond;
    "destroy_cond" => cond::destroy_cond;
    "init_socket" => socket::init_socket;
    "destroy_socket" => socket::destroy_socket;
    "get_table_share" => table::get_table_share::<M57>;
    "release_table_share" => table::release_table_share;
    "drop_table_share" => table::drop_table_share;
    "open_table" => table::open_table;
    "unbind_table" => table::unbind_table;
    "rebind_table" => table::rebind_table;
    "close_table" => table::close_table;
    "create_file" => file::create_file;
    "spawn_thread" => thread::spawn_thread;
    "new_thread" => thread::new_thread;
    "set_thread_id" => thread::set_thread_id;
    "set_thread_THD" => thread::set_thread_thd;
    "set_thread_os_id" => thread::set_thread_os_id;
    "get_thread" => thread::get_thread;
    "set_thread_user" => thread::set_thread_user;
    "set_thread_account" => thread::set_thread_account;
    "set_thread_db" => thread::set_thread_db;
    "set_thread_command" => thread::set_thread_command;
    "set_connection_type" => thread::set_connection_type;
    "set_thread_start_time" => thread::set_thread_start_time;
    "set_thread_state" => thread::set_thread_state;
    "set_thread_info" => thread::set_thread_info;
    "set_thread" => thread::set_thread;
    "delete_current_thread" => thread::delete_current_thread;
    "delete_thread" => thread::delete_thread;
    "get_thread_file_name_locker" => file::get_thread_file_name_locker;
    "get_thread_file_stream_locker" => file::get_thread_file_stream_locker;
    "get_thread_file_descriptor_locker" => file::get_thread_file_descriptor_locker;
    "unlock_mutex" => mutex::unlock_mutex;
    "unlock_rwlock" => rwlock::unlock_rwlock;
    "signal_cond" => cond::signal_cond;
    "broadcast_cond" => cond::signal_cond;
    "start_idle_wait" => idle::start_idle_wait;
    "end_idle_wait" => idle::end_idle_wait;
    "start_mutex_wait" => mutex::start_mutex_wait;
    "end_mutex_wait" => mutex::end_mutex_wait;
    "start_rwlock_wait" => rwlock::start_rwlock_wait;
    "start_rwlock_rdwait" => rwlock::start_rwlock_wait;
    "end_rwlock_rdwait" => rwlock::end_rwlock_wait;
    "start_rwlock_wrwait" => rwlock::start_rwlock_wait;
    "end_rwlock_wrwait" => rwlock::end_rwlock_wait;
    "start_cond_wait" => cond::start_cond_wait;
    "end_cond_wait" => cond::end_cond_wait;
    "start_table_io_wait" => table::start_table_io_wait;
    "end_table_io_wait" => table::end_table_io_wait;
    "start_table_lock_wait" => table::start_table_lock_wait::<M57>;
    "end_table_lock_wait" => table::end_table_lock_wait;
    "unlock_table" => table::unlock_table;
    "start_file_open_wait" => file::start_file_open_wait;
    "end_file_open_wait" => file::end_file_open_wait;
    "end_file_open_wait_and_bind_to_descriptor" => file::end_file_open_wait_and_bind_to_descriptor;
    "end_temp_file_open_wait_and_bind_to_descriptor" =>
        file::end_temp_file_open_wait_and_bind_to_descriptor;
    "start_file_wait" => file::start_file_wait;
    "end_file_wait" => file::end_file_wait;
    "start_file_close_wait" => file::start_file_close_wait;
    "end_file_close_wait" => file::end_file_close_wait;
    "end_file_rename_wait" => file::end_file_rename_wait;
    "start_stage" => stage::start_stage;
    "get_current_stage_progress" => stage::get_current_stage_progress;
    "end_stage" => stage::end_stage;
    "get_thread_statement_locker" => statement::get_thread_statement_locker;
    "refine_statement" => statement::refine_statement;
    "start_statement" => statement::start_statement;
    "set_statement_text" => statement::set_statement_text::<M57>;
    "set_statement_lock_time" => statement::set_statement_lock_time;
    "set_statement_rows_sent" => statement::set_statement_rows_sent;
    "set_statement_rows_examined" => statement::set_statement_rows_examined;
    "inc_statement_created_tmp_disk_tables" => statement::inc_statement_created_tmp_disk_tables;
    "inc_statement_created_tmp_tables" => statement::inc_statement_created_tmp_tables;
    "inc_statement_select_full_join" => statement::inc_statement_select_full_join;
    "inc_statement_select_full_range_join" => statement::inc_statement_select_full_range_join;
    "inc_statement_select_range" => statement::inc_statement_select_range;
    "inc_statement_select_range_check" => statement::inc_statement_select_range_check;
    "inc_statement_select_scan" => statement::inc_statement_select_scan;
    "inc_statement_sort_merge_passes" => statement::inc_statement_sort_merge_passes;
    "inc_statement_sort_range" => statement::inc_statement_sort_range;
    "inc_statement_sort_rows" => statement::inc_statement_sort_rows;
    "inc_statement_sort_scan" => statement::inc_statement_sort_scan;
    "set_statement_no_index_used" => statement::set_statement_no_index_used;
    "set_statement_no_good_index_used" => statement::set_statement_no_good_index_used;
    "end_statement" => statement::end_statement::<M57>;
    "get_thread_transaction_locker" => transaction::get_thread_transaction_locker;
    "start_transaction" => transaction::start_transaction;
    "set_transaction_xid" => transaction::set_transaction_xid;
    "set_transaction_xa_state" => transaction::set_transaction_xa_state;
    "set_transaction_gtid" => transaction::set_transaction_gtid;
    "set_transaction_trxid" => transaction::set_transaction_trxid;
    "inc_transaction_savepoints" => transaction::inc_transaction_savepoints;
    "inc_transaction_rollback_to_savepoint" => transaction::inc_transaction_rollback_to_savepoint;
    "inc_transaction_release_savepoint" => transaction::inc_transaction_release_savepoint;
    "end_transaction" => transaction::end_transaction;
    "start_socket_wait" => socket::start_socket_wait;
    "end_socket_wait" => socket::end_socket_wait;
    "set_socket_state" => socket::set_socket_state;
    "set_socket_info" => socket::set_socket_info;
    "set_socket_thread_owner" => socket::set_socket_thread_owner;
    "create_prepared_stmt" => prepared::create_prepared_stmt;
    "destroy_prepared_stmt" => prepared::destroy_prepared_stmt;
    "reprepare_prepared_stmt" => prepared::reprepare_prepared_stmt;
    "execute_prepared_stmt" => prepared::execute_prepared_stmt;
    "set_prepared_stmt_text" => prepared::set_prepared_stmt_text;
    "digest_start" => statement::digest_start;
    "digest_end" => statement::digest_end::<M57>;
    "set_thread_connect_attrs" => attributes::set_thread_connect_attrs;
    "start_sp" => program::start_sp;
    "end_sp" => program::end_sp;
    "drop_sp" => program::drop_sp;
    "get_sp_share" => program::get_sp_share;
    "release_sp_share" => program::release_sp_share;
    "memory_alloc" => memory::memory_alloc;
    "memory_realloc" => memory::memory_realloc;
    "memory_claim" => memory::memory_claim;
    "memory_free" => memory::memory_free;
    "create_metadata_lock" => metadata::create_metadata_lock::<M57>;
    "set_metadata_lock_status" => metadata::set_metadata_lock_status;
    "destroy_metadata_lock" => metadata::destroy_metadata_lock;
    "start_metadata_wait" => metadata::start_metadata_wait;
    "end_metadata_wait" => metadata::end_metadata_wait;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::flag;
    use super::*;

    /// As setup_instruments of the real server has them.
    #[test]
    fn instruments_begin_as_the_servers_own() {
        for (kind, name, flags, enabled) in [
            (Kind::Mutex, "wait/synch/mutex/sql/LOCK_open", 0, false),
            (Kind::File, "wait/io/file/sql/FRM", 0, true),
            (
                Kind::Socket,
                "wait/io/socket/sql/client_connection",
                0,
                false,
            ),
            (Kind::Stage, "stage/sql/Sending data", 0, false),
            (
                Kind::Stage,
                "stage/sql/copy to tmp table",
                flag::PROGRESS,
                true,
            ),
            (Kind::Statement, "statement/sql/select", 0, true),
            (Kind::Transaction, "transaction", 0, false),
            (Kind::MetadataLock, "wait/lock/metadata/sql/mdl", 0, false),
            (Kind::Memory, "memory/sql/THD::main_mem_root", 0, false),
        ] {
            assert_eq!(M57::is_enabled(kind, name, flags), enabled, "{name}");
        }
    }

    #[test]
    fn entries_are_told_apart() {
        let names: BTreeSet<_> = ENTRIES.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ENTRIES.len());
        // As many symbols pfs_*_v1 as there are.
        assert_eq!(ENTRIES.len(), 135);
    }
}
