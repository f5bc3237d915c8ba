//! MySQL 8.0, as of 8.0.15: sixteen tables of functions are exported, one for each kind of event; most calls
//! do not go through them, but to the functions that they lead to.

use engine::Kind;
use engine::thread::Truncation;

use super::entry::{Entry, ServerHooks};
use super::functions::{names, slots};
use crate::interface::{Area, Digest, DocumentedInfo, Fields, Interface, MetadataKey, Share, flag};
use crate::start;

/// The release's interface.
#[derive(Debug)]
pub struct Mysql80;

/// MySQL 8.0.
pub static HOOKS: ServerHooks = ServerHooks {
    release: tare_image::Release::Mysql80,
    entries: ENTRIES,
    signatures: &[],
    needs: &[],
    fields: &Mysql80::FIELDS,
    start: |options| start::start::<Mysql80>(&start::BuiltIn::MYSQL, options),
};

impl Interface for Mysql80 {
    type Info = DocumentedInfo;

    const REPORTS_ERRORS: bool = true;
    const TRUNCATION: Truncation = Truncation::Marked;
    const PREPARE_IS_UTF8: bool = true;
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
            // Views, and shares that are no base tables.
            excluded_if: &[0x29b, 0x340],
        },
        area: Area {
            status: 0x8c,
            message: 0x90,
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
            namespaces: &crate::interface::NAMESPACES,
        },
    };

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
    ($($table:literal { $($name:ident)* })*) => {
        /// All slots of the sixteen tables.
        pub static ENTRIES: &[Entry] =
            &slots::<Mysql80, 149>(&[$((Some($table), names! { $($name)* })),*]);
    };
}

entries! {
    "pfs_cond_service_v1" {
        register_cond init_cond destroy_cond signal_cond broadcast_cond start_cond_wait end_cond_wait
    }
    "pfs_data_lock_service_v1" {
        register_data_lock unregister_data_lock
    }
    "pfs_error_service_v1" {
        log_error
    }
    "pfs_file_service_v1" {
        register_file create_file get_thread_file_name_locker get_thread_file_stream_locker
        get_thread_file_descriptor_locker start_file_open_wait end_file_open_wait
        end_file_open_wait_and_bind_to_descriptor end_temp_file_open_wait_and_bind_to_descriptor
        start_file_wait end_file_wait start_file_close_wait end_file_close_wait end_file_rename_wait
    }
    "pfs_idle_service_v1" {
        start_idle_wait end_idle_wait
    }
    "pfs_mdl_service_v1" {
        create_metadata_lock set_metadata_lock_status destroy_metadata_lock start_metadata_wait
        end_metadata_wait
    }
    "pfs_memory_service_v1" {
        register_memory memory_alloc memory_realloc memory_claim memory_free
    }
    "pfs_mutex_service_v1" {
        register_mutex init_mutex destroy_mutex start_mutex_wait end_mutex_wait unlock_mutex
    }
    "pfs_rwlock_service_v1" {
        register_rwlock init_rwlock destroy_rwlock start_rwlock_rdwait end_rwlock_rdwait start_rwlock_wrwait
        end_rwlock_wrwait unlock_rwlock
    }
    "pfs_socket_service_v1" {
        register_socket init_socket destroy_socket start_socket_wait end_socket_wait set_socket_state
        set_socket_info set_socket_thread_owner
    }
    "pfs_stage_service_v1" {
        register_stage start_stage get_current_stage_progress end_stage
    }
    "pfs_statement_service_v2" {
        register_statement get_thread_statement_locker refine_statement start_statement set_statement_text
        set_statement_query_id set_statement_lock_time set_statement_rows_sent set_statement_rows_examined
        inc_statement_created_tmp_disk_tables inc_statement_created_tmp_tables inc_statement_select_full_join
        inc_statement_select_full_range_join inc_statement_select_range inc_statement_select_range_check
        inc_statement_select_scan inc_statement_sort_merge_passes inc_statement_sort_range
        inc_statement_sort_rows inc_statement_sort_scan set_statement_no_index_used
        set_statement_no_good_index_used end_statement create_prepared_stmt destroy_prepared_stmt
        reprepare_prepared_stmt execute_prepared_stmt set_prepared_stmt_text
        digest_start digest_end get_sp_share release_sp_share start_sp end_sp drop_sp
    }
    "pfs_system_service_v1" {
        unload_plugin
    }
    "pfs_table_service_v1" {
        get_table_share release_table_share drop_table_share open_table unbind_table rebind_table close_table
        start_table_io_wait end_table_io_wait start_table_lock_wait end_table_lock_wait unlock_table
    }
    "pfs_thread_service_v1" {
        register_thread spawn_thread new_thread set_thread_id set_thread_THD set_thread_os_id get_thread
        set_thread_user set_thread_account set_thread_db set_thread_command set_connection_type
        set_thread_start_time set_thread_state set_thread_info
        set_thread_resource_group set_thread_resource_group_by_id
        set_thread delete_current_thread delete_thread set_thread_connect_attrs
        get_thread_event_id get_thread_system_attrs get_thread_system_attrs_by_id register_notification
        unregister_notification notify_session_connect notify_session_disconnect notify_session_change_user
    }
    "pfs_transaction_service_v1" {
        get_thread_transaction_locker start_transaction set_transaction_xid set_transaction_xa_state
        set_transaction_gtid set_transaction_trxid inc_transaction_savepoints
        inc_transaction_rollback_to_savepoint inc_transaction_release_savepoint end_transaction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As setup_instruments of the real server has them.
    #[test]
    fn instruments_have_the_servers_defaults() {
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
            assert_eq!(Mysql80::is_enabled(kind, name, flags), enabled, "{name}");
        }
    }
}
