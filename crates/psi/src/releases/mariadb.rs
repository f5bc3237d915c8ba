//! The common part of MariaDB's releases. Their functions are not exported. They are in one table, to which
//! `PSI_server` points once the server has read performance_schema=ON; crates/image finds it in the program's
//! file.
//!
//! It would not be enough to replace `PSI_server`: the compiler has replaced most calls through it with
//! direct calls (1,559 of them in 11.4.5).
//!
//! The table's order is that of mysql/psi/psi.h in libmariadbd-dev 10.11, counted by a program, and that of
//! `PSI_v1` in the DWARF of 11.4.5. `scripts/offsets` derives each release's offsets from the server's
//! machine code.

use std::ffi::{c_char, c_int, c_void};

use engine::{Namespace, ObjectType, TableLock};

use crate::door::{metadata, prepared, thread, transaction};
use crate::interface::{Area, Digest, Fields, Function, Interface, MetadataKey, Share};
use crate::start;

/// The instruments of the server's own engine.
pub(super) static BUILT_IN: start::BuiltIn = start::BuiltIn {
    // InnoDB tries a latch before it reports a wait.
    innodb_words: false,
    ..start::BuiltIn::MYSQL
};

/// The types of objects of metadata locks, by number. A package's body is displayed as a procedure.
const NAMESPACES: [Namespace; 9] = [
    Namespace::BackupLock,
    Namespace::Schema,
    Namespace::Table,
    Namespace::Function,
    Namespace::Procedure,
    Namespace::Procedure,
    Namespace::Trigger,
    Namespace::Event,
    Namespace::UserLevelLock,
];

/// The offsets of a release, whose tables differ.
pub(super) const fn fields(share: Share) -> Fields {
    Fields {
        share,
        area: Area {
            status: 0x234,
            message: 0x1a,
            sqlstate: 0,
            number: 8,
            rows: 0x220,
            warnings: 0x230,
            // The second status of each is that of a statement executed in bulk.
            changed: &[1, 3],
            gave: &[2, 4],
            failed: 5,
        },
        digest: Digest {
            is_full: 0,
            bytes: 4,
            tokens: 0x20,
        },
        key: MetadataKey {
            // A hash comes before it.
            kind: 8,
            namespaces: &NAMESPACES,
        },
    }
}

/// Functions whose arguments differ from MySQL's.
pub(super) const fn own<S: Interface>() -> [Function; 4] {
    [
        (
            "create_metadata_lock",
            create_metadata_lock::<S> as *const (),
        ),
        (
            "create_prepared_stmt",
            create_prepared_stmt::<S> as *const (),
        ),
        (
            "get_thread_transaction_locker",
            get_thread_transaction_locker as *const (),
        ),
        ("set_thread", thread::switch_thread as *const ()),
    ]
}

/// The lock of a table by the server's number.
pub(super) fn table_lock(number: i32) -> Option<TableLock> {
    // As MySQL's, with two ways more to skip locked rows.
    Some(match number {
        2 | 6 => TableLock::Read,
        3 => TableLock::ReadWithSharedLocks,
        4 => TableLock::ReadHighPriority,
        5 => TableLock::ReadNoInsert,
        7 => TableLock::WriteAllowWrite,
        8 => TableLock::WriteConcurrentInsert,
        11 => TableLock::WriteLowPriority,
        12 | 13 => TableLock::Write,
        _ => return None,
    })
}

/// The type of a stored program by the server's number.
pub(super) fn program(number: u32) -> Option<ObjectType> {
    match number {
        1 => Some(ObjectType::Function),
        2 => Some(ObjectType::Procedure),
        // Packages and their bodies have the numbers between, and are not counted.
        5 => Some(ObjectType::Trigger),
        6 => Some(ObjectType::Event),
        _ => None,
    }
}

/// MariaDB passes the statement's text later, by `set_prepared_stmt_text`.
unsafe extern "C" fn create_prepared_stmt<S: Interface>(
    identity: *mut c_void,
    id: u32,
    locker: *mut c_void,
    name: *const c_char,
    name_length: usize,
) -> *mut c_void {
    let no_text = std::ptr::null();
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe {
        prepared::create_prepared_stmt::<S>(identity, id, locker, name, name_length, no_text, 0)
    }
}

/// MariaDB passes the transaction's number where MySQL passes its address.
unsafe extern "C" fn get_thread_transaction_locker(
    state: *mut c_void,
    xid: *const c_void,
    trx_id: u64,
    isolation: c_int,
    read_only: u8,
    autocommit: u8,
) -> *mut c_void {
    // SAFETY: rule 8 (the arguments are passed on; the number is read before this returns).
    unsafe {
        transaction::get_thread_transaction_locker(
            state,
            xid,
            &raw const trx_id,
            isolation,
            read_only,
            autocommit,
        )
    }
}

/// From this kind of lock on, MariaDB's numbers are MySQL's less one, because it has no
/// SHARED_WRITE_LOW_PRIO.
const SHARED_UPGRADABLE: c_int = 5;
/// The backup lock has kinds of its own. Statements that change data take those from here on, a backup the
/// others.
const BACKUP_BY_STATEMENTS: c_int = 5;
/// MySQL's numbers.
const INTENTION_EXCLUSIVE: c_int = 0;
const SHARED: c_int = 1;

unsafe extern "C" fn create_metadata_lock<S: Interface>(
    identity: *mut c_void,
    key: *const c_void,
    kind: c_int,
    duration: c_int,
    status: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    let on = (!key.is_null()).then(|| {
        // SAFETY: rule 5 (laid out as the release declares).
        unsafe { crate::interface::text::field::<u8>(key, S::FIELDS.key.kind) }
    });
    let kind = match on {
        Some(0) if kind >= BACKUP_BY_STATEMENTS => INTENTION_EXCLUSIVE,
        Some(0) => SHARED,
        _ if kind >= SHARED_UPGRADABLE => kind + 1,
        _ => kind,
    };
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe {
        metadata::create_metadata_lock::<S>(identity, key, kind, duration, status, file, line)
    }
}

/// The names of the table's functions, with a release's own ones after `get_thread`.
macro_rules! functions {
    ($($behind_get_thread:ident)*) => {
        $crate::releases::functions::names! {
        register_mutex register_rwlock register_cond register_thread register_file register_stage
        register_statement register_socket init_mutex destroy_mutex
        init_rwlock destroy_rwlock init_cond destroy_cond
        init_socket destroy_socket get_table_share release_table_share drop_table_share open_table unbind_table
        rebind_table close_table create_file spawn_thread new_thread set_thread_id set_thread_THD set_thread_os_id
        get_thread $($behind_get_thread)* set_thread_user set_thread_account set_thread_db set_thread_command set_connection_type
        set_thread_start_time set_thread_state set_thread_info set_thread delete_current_thread delete_thread
        get_thread_file_name_locker get_thread_file_stream_locker get_thread_file_descriptor_locker
        unlock_mutex unlock_rwlock signal_cond broadcast_cond
        start_idle_wait end_idle_wait start_mutex_wait end_mutex_wait
        start_rwlock_rdwait end_rwlock_rdwait start_rwlock_wrwait end_rwlock_wrwait
        start_cond_wait end_cond_wait start_table_io_wait end_table_io_wait start_table_lock_wait
        end_table_lock_wait start_file_open_wait end_file_open_wait end_file_open_wait_and_bind_to_descriptor
        end_temp_file_open_wait_and_bind_to_descriptor start_file_wait end_file_wait start_file_close_wait
        end_file_close_wait end_file_rename_wait start_stage get_current_stage_progress end_stage
        get_thread_statement_locker refine_statement start_statement set_statement_text set_statement_lock_time
        set_statement_rows_sent set_statement_rows_examined inc_statement_created_tmp_disk_tables
        inc_statement_created_tmp_tables inc_statement_select_full_join inc_statement_select_full_range_join
        inc_statement_select_range inc_statement_select_range_check inc_statement_select_scan
        inc_statement_sort_merge_passes inc_statement_sort_range inc_statement_sort_rows inc_statement_sort_scan
        set_statement_no_index_used set_statement_no_good_index_used end_statement
        get_thread_transaction_locker start_transaction set_transaction_xid set_transaction_xa_state
        set_transaction_gtid set_transaction_trxid inc_transaction_savepoints
        inc_transaction_rollback_to_savepoint inc_transaction_release_savepoint end_transaction
        start_socket_wait end_socket_wait set_socket_state set_socket_info set_socket_thread_owner
        create_prepared_stmt destroy_prepared_stmt reprepare_prepared_stmt execute_prepared_stmt
        set_prepared_stmt_text digest_start digest_end set_thread_connect_attrs
        start_sp end_sp drop_sp get_sp_share release_sp_share
        register_memory memory_alloc memory_realloc memory_claim memory_free
        unlock_table create_metadata_lock set_metadata_lock_status destroy_metadata_lock start_metadata_wait
        end_metadata_wait set_thread_peer_port
        }
    };
}
pub(super) use functions;

/// A release: its name, the number of slots of its table with its own functions after `get_thread`, and the
/// offsets of a table's share.
macro_rules! release {
    ($release:ident, $count:literal slots { $($behind_get_thread:ident)* }, $share:expr) => {
        use $crate::interface::{Fields, Function, Interface, PlainInfo};
        use $crate::releases::entry::{Entry, ServerHooks};
        use $crate::releases::{functions, mariadb};

        /// The release's interface.
        #[derive(Debug)]
        pub struct $release;

        /// The facts about the release.
        pub static HOOKS: ServerHooks = ServerHooks {
            release: tare_image::Release::$release,
            entries: ENTRIES,
            signatures: &[],
            needs: &[],
            fields: &$release::FIELDS,
            start: |options| $crate::start::start::<$release>(&mariadb::BUILT_IN, options),
        };

        impl Interface for $release {
            type Info = PlainInfo;

            const REPORTS_ERRORS: bool = false;
            const FIELDS: Fields = mariadb::fields($share);
            const OWN: &'static [Function] = &mariadb::own::<Self>();

            fn table_lock(number: i32) -> Option<engine::TableLock> {
                mariadb::table_lock(number)
            }

            fn program(number: u32) -> Option<engine::ObjectType> {
                mariadb::program(number)
            }
        }

        /// The release's entries.
        pub static ENTRIES: &[Entry] = &functions::slots::<$release, $count>(&[(
            None,
            mariadb::functions! { $($behind_get_thread)* },
        )]);
    };
}
pub(super) use release;
