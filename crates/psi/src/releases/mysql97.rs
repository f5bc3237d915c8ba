//! MySQL 9.7, as of 9.7.4: 24 tables of functions, of which several are versions of one service. Mutexes,
//! rwlocks, conditions and sockets begin with a byte that the server reads before it calls
//! ([`crate::door::flagged`]), and the door reports memory with a limit per connection to the server
//! ([`crate::door::limited`]).

use engine::thread::Truncation;
use engine::{Kind, Namespace};

use super::entry::{Entry, Location, ServerHooks};
use super::functions::{entry, names, slots};
use super::mysql97_signatures::SIGNATURES;
use crate::door::{flagged, identity, limited, naming};
use crate::interface::word::Word;
use crate::interface::{
    Area, Digest, DocumentedInfo, Fields, Function, Interface, MetadataKey, Share, flag,
};
use crate::start;

/// The release's interface.
#[derive(Debug)]
pub struct Mysql97;

/// MySQL 9.7.
pub static HOOKS: ServerHooks = ServerHooks {
    release: tare_image::Release::Mysql97,
    entries: &ENTRIES,
    signatures: SIGNATURES,
    needs: &limited::NEEDED,
    fields: &Mysql97::FIELDS,
    start: |options| {
        limited::find_counter();
        start::start::<Mysql97>(&start::BuiltIn::MYSQL, options)
    },
};

/// The types of objects of metadata locks, by number.
const NAMESPACES: [Namespace; 20] = [
    Namespace::Global,
    Namespace::BackupLock,
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
    Namespace::ResourceGroups,
    Namespace::ForeignKey,
    Namespace::CheckConstraint,
    Namespace::Library,
    Namespace::BackupTables,
];

impl Interface for Mysql97 {
    type Info = DocumentedInfo;

    const REPORTS_ERRORS: bool = true;
    const TRUNCATION: Truncation = Truncation::Marked;
    const PREPARE_IS_UTF8: bool = true;
    const DAEMONIZES: bool = true;
    const DIGESTS_HAVE_POSITIONS: bool = true;
    const PROGRAMS_ARE_CASE_SENSITIVE: bool = true;
    const FIELDS: Fields = Fields {
        share: Share {
            keys: 0xe8,
            key_bytes: 0xb8,
            key_name: 0x58,
            key_name_is_counted: false,
            schema: (0x178, 0x180),
            name: (0x188, 0x190),
            key_count: 0x270,
            // Views, and shares that are no base tables.
            excluded_if: &[0x2eb, 0x3a0],
        },
        area: Area {
            status: 0x8c,
            message: 0x90,
            sqlstate: 0x294,
            number: 0x29c,
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
    const OWN: &'static [Function] = &[
        ("init_mutex", flagged::init_mutex as *const ()),
        ("destroy_mutex", flagged::destroy_mutex as *const ()),
        ("start_mutex_wait", flagged::start_mutex_wait as *const ()),
        ("unlock_mutex", flagged::unlock_mutex as *const ()),
        ("init_rwlock", flagged::init_rwlock as *const ()),
        ("destroy_rwlock", flagged::destroy_rwlock as *const ()),
        (
            "start_rwlock_rdwait",
            flagged::start_rwlock_wait as *const (),
        ),
        (
            "start_rwlock_wrwait",
            flagged::start_rwlock_wait as *const (),
        ),
        ("unlock_rwlock", flagged::unlock_rwlock as *const ()),
        ("init_cond", flagged::init_cond as *const ()),
        ("destroy_cond", flagged::destroy_cond as *const ()),
        ("start_cond_wait", flagged::start_cond_wait as *const ()),
        ("set_thread_THD", limited::set_thread_thd as *const ()),
        ("memory_alloc", limited::memory_alloc as *const ()),
        ("memory_realloc", limited::memory_realloc as *const ()),
        ("memory_claim", limited::memory_claim as *const ()),
        ("memory_free", limited::memory_free as *const ()),
        (
            "register_thread",
            naming::register_thread::<Mysql97> as *const (),
        ),
        ("spawn_thread", naming::spawn_thread as *const ()),
        ("new_thread", naming::new_thread as *const ()),
        ("set_thread", naming::set_thread as *const ()),
        (
            "get_thread_event_id",
            identity::get_thread_event_id as *const (),
        ),
    ];

    /// The server's bits differ from 8.0.15's from the third on.
    fn flags(_kind: Kind, flags: u32) -> u32 {
        const BITS: [(u32, u32); 8] = [
            (1, flag::SINGLETON),
            (1 << 1, flag::MUTABLE),
            (1 << 3, flag::PROGRESS),
            (1 << 4, flag::SX),
            (1 << 6, flag::USER),
            (1 << 7, flag::GLOBAL_STATISTICS),
            (1 << 8, flag::READERS_FIRST),
            (1 << 12, flag::LIMITED),
        ];
        let set = BITS.iter().filter(|(theirs, _)| flags & theirs != 0);
        set.fold(0, |all, (_, ours)| all | ours)
    }

    fn is_enabled(kind: Kind, name: &str, flags: u32) -> bool {
        match kind {
            Kind::Stage => flags & flag::PROGRESS != 0,
            // Of the steps of stored programs, only their statements are on.
            Kind::Statement if name.starts_with("statement/sp/") => name == "statement/sp/stmt",
            kind => kind.enabled_by_default(),
        }
    }

    fn word(kind: Kind, name: &str) -> Word {
        match kind {
            // InnoDB's own mutexes have the owner in eight bytes; in a free mutex of the C library these are
            // 0, too.
            Kind::Mutex if name.starts_with("wait/synch/mutex/innodb/") => Word::Owner,
            // This lock is a bit of the log's sequence number, reported with a pointer's address: no latch is
            // there.
            Kind::SxLock if name == "wait/synch/sxlock/innodb/log_sn_lock" => Word::Unknown,
            _ => Word::of(kind, name),
        }
    }
}

/// Exported functions that are in no table.
const IN_NO_TABLE: [(&str, &str); 5] = [
    (
        "get_current_thread_event_id_v1",
        "_Z26pfs_get_thread_event_id_v1PyS_",
    ),
    ("set_thread_state", "_Z23pfs_set_thread_state_v1PKc"),
    (
        "register_logger",
        "_Z22pfs_register_logger_v1PFvPKc12OTELLogLevelS0_lPK15log_attribute_tmE",
    ),
    (
        "unregister_logger",
        "_Z24pfs_unregister_logger_v1PFvPKc12OTELLogLevelS0_lPK15log_attribute_tmE",
    ),
    (
        "notify_logger",
        "_Z20pfs_notify_logger_v1P10PSI_logger12OTELLogLevelPKclPK15log_attribute_tm",
    ),
];

/// Slots of the tables.
const SLOTS: usize = 293;

/// The entries of all slots, and of the functions in no table.
pub static ENTRIES: [Entry; SLOTS + IN_NO_TABLE.len()] = {
    let slots: [Entry; SLOTS] = slots::<Mysql97, SLOTS>(TABLES);
    let mut all = [slots[0]; SLOTS + IN_NO_TABLE.len()];
    let mut i = 0;
    while i < SLOTS {
        all[i] = slots[i];
        i += 1;
    }
    while i < all.len() {
        let (name, symbol) = IN_NO_TABLE[i - SLOTS];
        all[i] = entry::<Mysql97>(name, Location::Symbol(symbol));
        i += 1;
    }
    all
};

macro_rules! tables {
    ($($table:literal { $($name:ident)* })*) => {
        /// The functions of each table, in order. Equal names are one function.
        const TABLES: &[(Option<&str>, &[&str])] = &[$((Some($table), names! { $($name)* })),*];
    };
}

tables! {
    "pfs_cond_service_v1" {
        register_cond init_cond destroy_cond signal_cond broadcast_cond start_cond_wait end_cond_wait
    }
    "pfs_data_lock_service_v1" {
        register_data_lock unregister_data_lock
    }
    "pfs_error_service_v1" {
        log_error
    }
    "pfs_file_service_v2" {
        register_file create_file get_thread_file_name_locker get_thread_file_stream_locker
        get_thread_file_descriptor_locker start_file_open_wait end_file_open_wait
        end_file_open_wait_and_bind_to_descriptor end_temp_file_open_wait_and_bind_to_descriptor start_file_wait
        end_file_wait start_file_close_wait end_file_close_wait start_file_rename_wait end_file_rename_wait
    }
    "pfs_idle_service_v1" {
        start_idle_wait end_idle_wait
    }
    "pfs_logs_client_service_v1" {
        register_logger_client unregister_logger_client check_enabled log_emit
    }
    "pfs_mdl_service_v1" {
        create_metadata_lock set_metadata_lock_status destroy_metadata_lock start_metadata_wait end_metadata_wait
    }
    "pfs_mdl_service_v2" {
        create_metadata_lock set_metadata_lock_status set_metadata_lock_duration destroy_metadata_lock
        start_metadata_wait end_metadata_wait
    }
    "pfs_mdl_service_v3" {
        create_metadata_lock set_metadata_lock_status set_metadata_lock_duration set_metadata_lock_type
        destroy_metadata_lock start_metadata_wait end_metadata_wait
    }
    "pfs_memory_service_v2" {
        register_memory memory_alloc memory_realloc memory_claim memory_free
    }
    "pfs_metric_service_v1" {
        register_meters unregister_meters register_change_notification unregister_change_notification
        send_change_notification
    }
    "pfs_mutex_service_v1" {
        register_mutex init_mutex destroy_mutex start_mutex_wait end_mutex_wait unlock_mutex
    }
    "pfs_rwlock_service_v2" {
        register_rwlock init_rwlock destroy_rwlock start_rwlock_rdwait end_rwlock_rdwait start_rwlock_wrwait
        end_rwlock_wrwait unlock_rwlock
    }
    "pfs_socket_service_v1" {
        register_socket init_socket destroy_socket start_socket_wait end_socket_wait set_socket_state set_socket_info
        set_socket_thread_owner
    }
    "pfs_stage_service_v1" {
        register_stage start_stage get_current_stage_progress end_stage
    }
    "pfs_statement_service_v6" {
        register_statement get_thread_statement_locker refine_statement start_statement set_statement_text
        set_statement_query_id set_statement_lock_time set_statement_rows_sent set_statement_rows_examined
        inc_statement_created_tmp_disk_tables inc_statement_created_tmp_tables inc_statement_select_full_join
        inc_statement_select_full_range_join inc_statement_select_range inc_statement_select_range_check
        inc_statement_select_scan inc_statement_sort_merge_passes inc_statement_sort_range inc_statement_sort_rows
        inc_statement_sort_scan set_statement_no_index_used set_statement_no_good_index_used
        set_statement_secondary_engine end_statement create_prepared_stmt destroy_prepared_stmt reprepare_prepared_stmt
        execute_prepared_stmt set_prepared_stmt_text set_prepared_stmt_secondary_engine digest_start digest_end
        get_sp_share release_sp_share start_sp end_sp drop_sp notify_statement_query_attributes
        statement_abort_telemetry digest_set
    }
    "pfs_system_service_v1" {
        unload_plugin
    }
    "pfs_table_service_v1" {
        get_table_share release_table_share drop_table_share open_table unbind_table rebind_table close_table
        start_table_io_wait end_table_io_wait start_table_lock_wait end_table_lock_wait unlock_table
    }
    "pfs_thread_service_v4" {
        register_thread_v1 spawn_thread_v4 new_thread_v4 set_thread_id get_current_thread_internal_id
        get_thread_internal_id get_thread_by_id set_thread_THD set_thread_os_id get_thread set_thread_user
        set_thread_account set_thread_db set_thread_command set_connection_type set_thread_start_time set_thread_info
        set_thread_resource_group set_thread_resource_group_by_id set_thread set_thread_peer_port
        aggregate_thread_status delete_current_thread delete_thread set_thread_connect_attrs get_current_thread_event_id
        get_thread_event_id get_thread_system_attrs get_thread_system_attrs_by_id register_notification
        unregister_notification notify_session_connect notify_session_disconnect notify_session_change_user
    }
    "pfs_thread_service_v5" {
        register_thread spawn_thread new_thread set_thread_id get_current_thread_internal_id get_thread_internal_id
        get_thread_by_id set_thread_THD set_thread_os_id get_thread set_thread_user set_thread_account set_thread_db
        set_thread_command set_connection_type set_thread_start_time set_thread_info set_thread_resource_group
        set_thread_resource_group_by_id set_thread set_thread_peer_port aggregate_thread_status delete_current_thread
        delete_thread set_thread_connect_attrs get_current_thread_event_id get_thread_event_id get_thread_system_attrs
        get_thread_system_attrs_by_id register_notification unregister_notification notify_session_connect
        notify_session_disconnect notify_session_change_user set_mem_cnt_THD
    }
    "pfs_thread_service_v6" {
        register_thread spawn_thread new_thread set_thread_id get_current_thread_internal_id get_thread_internal_id
        get_thread_by_id set_thread_THD set_thread_os_id get_thread set_thread_user set_thread_account set_thread_db
        set_thread_command set_connection_type set_thread_start_time set_thread_info set_thread_secondary_engine
        set_thread_resource_group set_thread_resource_group_by_id set_thread set_thread_peer_port
        aggregate_thread_status delete_current_thread delete_thread set_thread_connect_attrs get_current_thread_event_id
        get_thread_event_id get_thread_system_attrs get_thread_system_attrs_by_id register_notification
        unregister_notification notify_session_connect notify_session_disconnect notify_session_change_user
        set_mem_cnt_THD
    }
    "pfs_thread_service_v7" {
        register_thread spawn_thread new_thread set_thread_id get_current_thread_internal_id get_thread_internal_id
        get_thread_by_id set_thread_THD set_thread_os_id get_thread set_thread_user set_thread_account set_thread_db
        set_thread_command set_connection_type set_thread_start_time set_thread_info set_thread_secondary_engine
        set_thread_resource_group set_thread_resource_group_by_id set_thread set_thread_peer_port
        aggregate_thread_status delete_current_thread delete_thread set_thread_connect_attrs get_current_thread_event_id
        get_thread_event_id get_thread_system_attrs get_thread_system_attrs_by_id register_notification
        unregister_notification notify_session_connect notify_session_disconnect notify_session_change_user
        set_mem_cnt_THD detect_telemetry abort_telemetry
    }
    "pfs_tls_channel_service_v1" {
        register_tls_channel unregister_tls_channel
    }
    "pfs_transaction_service_v1" {
        get_thread_transaction_locker start_transaction set_transaction_xid set_transaction_xa_state
        set_transaction_gtid set_transaction_trxid inc_transaction_savepoints inc_transaction_rollback_to_savepoint
        inc_transaction_release_savepoint end_transaction
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
            (Kind::Stage, "stage/sql/executing", 0, false),
            (Kind::Stage, "stage/sql/copy to tmp table", 8, true),
            (Kind::Transaction, "transaction", 0, true),
            (Kind::Memory, "memory/sql/THD::main_mem_root", 1 << 12, true),
        ] {
            let flags = Mysql97::flags(kind, flags);
            assert_eq!(Mysql97::is_enabled(kind, name, flags), enabled, "{name}");
        }
    }
}
