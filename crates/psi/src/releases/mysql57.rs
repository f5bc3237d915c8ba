//! MySQL 5.7, as of 5.7.22: 135 functions `pfs_*_v1`, exported and called directly, by InnoDB through
//! `PSI_server`'s table, which leads to the same.

use super::entry::{Entry, Location, ServerHooks};
use super::functions::entry;
use crate::interface::{Area, Digest, Fields, Interface, MetadataKey, PlainInfo, Share};
use crate::start;

/// The release's interface.
#[derive(Debug)]
pub struct Mysql57;

/// MySQL 5.7.
pub static HOOKS: ServerHooks = ServerHooks {
    release: tare_image::Release::Mysql57,
    entries: ENTRIES,
    signatures: &[],
    needs: &[],
    fields: &Mysql57::FIELDS,
    start: |options| start::start::<Mysql57>(&start::BuiltIn::MYSQL, options),
};

impl Interface for Mysql57 {
    type Info = PlainInfo;

    const REPORTS_ERRORS: bool = false;
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
            excluded_if: &[0x31d],
        },
        area: Area {
            status: 0x94,
            message: 0x98,
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
            // Up to the locking service.
            namespaces: crate::interface::NAMESPACES.split_at(11).0,
        },
    };
}

macro_rules! entries {
    ($($name:ident)*) => {
        /// All 135.
        pub static ENTRIES: &[Entry] = &[$(entry::<Mysql57>(
            stringify!($name),
            Location::Symbol(concat!("pfs_", stringify!($name), "_v1")),
        )),*];
    };
}

entries! {
    register_mutex register_rwlock register_cond register_thread register_file register_stage
    register_statement register_socket register_memory
    init_mutex destroy_mutex init_rwlock destroy_rwlock
    init_cond destroy_cond init_socket destroy_socket
    get_table_share release_table_share drop_table_share open_table unbind_table rebind_table close_table
    create_file spawn_thread new_thread set_thread_id set_thread_THD set_thread_os_id get_thread
    set_thread_user set_thread_account set_thread_db set_thread_command set_connection_type
    set_thread_start_time set_thread_state set_thread_info set_thread delete_current_thread delete_thread
    get_thread_file_name_locker get_thread_file_stream_locker get_thread_file_descriptor_locker
    unlock_mutex unlock_rwlock signal_cond broadcast_cond
    start_idle_wait end_idle_wait start_mutex_wait end_mutex_wait
    start_rwlock_wait start_rwlock_rdwait end_rwlock_rdwait start_rwlock_wrwait end_rwlock_wrwait
    start_cond_wait end_cond_wait start_table_io_wait end_table_io_wait start_table_lock_wait
    end_table_lock_wait unlock_table start_file_open_wait end_file_open_wait
    end_file_open_wait_and_bind_to_descriptor end_temp_file_open_wait_and_bind_to_descriptor start_file_wait
    end_file_wait start_file_close_wait end_file_close_wait end_file_rename_wait
    start_stage get_current_stage_progress end_stage get_thread_statement_locker refine_statement
    start_statement set_statement_text set_statement_lock_time set_statement_rows_sent
    set_statement_rows_examined inc_statement_created_tmp_disk_tables inc_statement_created_tmp_tables
    inc_statement_select_full_join inc_statement_select_full_range_join inc_statement_select_range
    inc_statement_select_range_check inc_statement_select_scan inc_statement_sort_merge_passes
    inc_statement_sort_range inc_statement_sort_rows inc_statement_sort_scan set_statement_no_index_used
    set_statement_no_good_index_used end_statement get_thread_transaction_locker start_transaction
    set_transaction_xid set_transaction_xa_state set_transaction_gtid set_transaction_trxid
    inc_transaction_savepoints inc_transaction_rollback_to_savepoint inc_transaction_release_savepoint
    end_transaction start_socket_wait end_socket_wait set_socket_state set_socket_info set_socket_thread_owner
    create_prepared_stmt destroy_prepared_stmt reprepare_prepared_stmt execute_prepared_stmt
    set_prepared_stmt_text digest_start digest_end set_thread_connect_attrs
    start_sp end_sp drop_sp get_sp_share release_sp_share
    memory_alloc memory_realloc memory_claim memory_free
    create_metadata_lock set_metadata_lock_status destroy_metadata_lock start_metadata_wait end_metadata_wait
}

#[cfg(test)]
mod tests {
    use engine::Kind;

    use super::*;
    use crate::interface::flag;

    /// As setup_instruments of the real server has them.
    #[test]
    fn instruments_have_the_servers_defaults() {
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
            assert_eq!(Mysql57::is_enabled(kind, name, flags), enabled, "{name}");
        }
    }
}
