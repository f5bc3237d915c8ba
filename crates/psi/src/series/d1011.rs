//! MariaDB 10.11: calls go to 135 functions that are not exported. They stand in one table, which is found
//! behind `PSI_server` of a server that runs; the gate keeps it by build.
//!
//! The table's order is that of mysql/psi/psi.h in libmariadbd-dev, counted by a program.

use std::ffi::{c_char, c_int, c_void};

use engine::{Kind, Namespace, TableLock};

use super::{Area, Digest, Fields, MetadataKey, PlainInfo, Series, Share};
use crate::door::*;
use crate::gate::{Entry, Place};
use crate::{gate, host};

/// The series.
#[derive(Debug)]
pub struct D1011;

/// MariaDB 10.11.
pub static SERIES: gate::Series = gate::Series {
    series: tare_image::Series::Mariadb1011,
    entries: ENTRIES,
    start: || host::start::<D1011>(&BUILT_IN),
};

/// What the server's own engine would register by itself.
static BUILT_IN: host::BuiltIn = host::BuiltIn {
    table_io: "wait/io/table/sql/handler",
    table_lock: "wait/lock/table/sql/handler",
    metadata: "wait/lock/metadata/sql/mdl",
    idle: "idle",
    transaction: "transaction",
    // InnoDB tries a latch before it calls, and says so.
    innodb_words: false,
};

/// What metadata locks are on, by number. What MariaDB calls the backup lock is MySQL's of the same
/// name, a package's body is shown as a procedure.
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

impl Series for D1011 {
    type Info = PlainInfo;

    const TELLS_ERRORS: bool = false;
    const FIELDS: Fields = Fields {
        share: Share {
            keys: 0x1d8,
            key_bytes: 0xc0,
            key_name: 0x40,
            key_name_is_counted: true,
            schema: (0x260, 0x268),
            name: (0x270, 0x278),
            key_count: 0x360,
            // Views.
            is_none: &[0x3b3],
        },
        area: Area {
            status: 0x234,
            message: 0x1a,
            message_bytes: 512,
            sqlstate: 0,
            number: 8,
            rows: 0x220,
            warnings: 0x230,
            // The odd ones are of statements that were executed in bulk.
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
    };

    fn table_lock(number: i32) -> Option<TableLock> {
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
}

/// Its own lacks the statement's text, which comes by `set_prepared_stmt_text`.
///
/// # Safety
/// The interface.
unsafe extern "C" fn create_prepared_stmt(
    identity: *mut c_void,
    id: u32,
    locker: *mut c_void,
    name: *const c_char,
    name_length: usize,
) -> *mut c_void {
    let no_text = std::ptr::null();
    // SAFETY: the interface.
    unsafe { prepared::create_prepared_stmt(identity, id, locker, name, name_length, no_text, 0) }
}

/// Its own has the transaction's number where MySQL's has its address.
///
/// # Safety
/// The interface.
unsafe extern "C" fn get_thread_transaction_locker(
    state: *mut c_void,
    xid: *const c_void,
    trx_id: u64,
    isolation: c_int,
    read_only: u8,
    autocommit: u8,
) -> *mut c_void {
    // SAFETY: the interface; the number is read before this returns.
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

/// From this kind of lock on, its numbers are MySQL's less one: it has no SHARED_WRITE_LOW_PRIO.
const SHARED_UPGRADABLE: c_int = 5;
/// The kinds of the backup lock have a list of their own. Those from here on are taken by statements
/// that change something, the others by a backup.
const BACKUP_BY_STATEMENTS: c_int = 5;
/// MySQL's numbers.
const INTENTION_EXCLUSIVE: c_int = 0;
const SHARED: c_int = 1;

/// # Safety
/// The interface.
unsafe extern "C" fn create_metadata_lock(
    identity: *mut c_void,
    key: *const c_void,
    kind: c_int,
    duration: c_int,
    status: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: the interface.
    let on = unsafe { key.cast::<u8>().as_ref() }.map(|_| unsafe { super::field::<u8>(key, 8) });
    let kind = match on {
        Some(0) if kind >= BACKUP_BY_STATEMENTS => INTENTION_EXCLUSIVE,
        Some(0) => SHARED,
        _ if kind >= SHARED_UPGRADABLE => kind + 1,
        _ => kind,
    };
    // SAFETY: the interface.
    unsafe {
        metadata::create_metadata_lock::<D1011>(identity, key, kind, duration, status, file, line)
    }
}

macro_rules! entries {
    ($($index:literal $name:literal => $function:expr;)*) => {
        /// All 135.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            place: Place::Learned { index: $index },
            function: $function as *const (),
        }),*];
    };
}

const fn row(kind: Kind) -> u8 {
    kind as u8
}

entries! {
    0 "register_mutex" => keys::register_row::<D1011, { row(Kind::Mutex) }>;
    1 "register_rwlock" => keys::register_row::<D1011, { row(Kind::RwLock) }>;
    2 "register_cond" => keys::register_row::<D1011, { row(Kind::Cond) }>;
    3 "register_thread" => keys::register_row::<D1011, { row(Kind::Thread) }>;
    4 "register_file" => keys::register_row::<D1011, { row(Kind::File) }>;
    5 "register_stage" => keys::register_stage::<D1011>;
    6 "register_statement" => keys::register_row::<D1011, { row(Kind::Statement) }>;
    7 "register_socket" => keys::register_row::<D1011, { row(Kind::Socket) }>;
    8 "init_mutex" => mutex::init_mutex;
    9 "destroy_mutex" => mutex::destroy_mutex;
    10 "init_rwlock" => rwlock::init_rwlock;
    11 "destroy_rwlock" => rwlock::destroy_rwlock;
    12 "init_cond" => cond::init_cond;
    13 "destroy_cond" => cond::destroy_cond;
    14 "init_socket" => socket::init_socket;
    15 "destroy_socket" => socket::destroy_socket;
    16 "get_table_share" => table::get_table_share::<D1011>;
    17 "release_table_share" => table::release_table_share;
    18 "drop_table_share" => table::drop_table_share;
    19 "open_table" => table::open_table;
    20 "unbind_table" => table::unbind_table;
    21 "rebind_table" => table::rebind_table;
    22 "close_table" => table::close_table;
    23 "create_file" => file::create_file;
    24 "spawn_thread" => thread::spawn_thread;
    25 "new_thread" => thread::new_thread;
    26 "set_thread_id" => thread::set_thread_id;
    27 "set_thread_THD" => thread::set_thread_thd;
    28 "set_thread_os_id" => thread::set_thread_os_id;
    29 "get_thread" => thread::get_thread;
    30 "set_thread_user" => thread::set_thread_user;
    31 "set_thread_account" => thread::set_thread_account;
    32 "set_thread_db" => thread::set_thread_db;
    33 "set_thread_command" => thread::set_thread_command;
    34 "set_connection_type" => thread::set_connection_type;
    35 "set_thread_start_time" => thread::set_thread_start_time;
    36 "set_thread_state" => thread::set_thread_state;
    37 "set_thread_info" => thread::set_thread_info;
    38 "set_thread" => thread::switch_thread;
    39 "delete_current_thread" => thread::delete_current_thread;
    40 "delete_thread" => thread::delete_thread;
    41 "get_thread_file_name_locker" => file::get_thread_file_name_locker;
    42 "get_thread_file_stream_locker" => file::get_thread_file_stream_locker;
    43 "get_thread_file_descriptor_locker" => file::get_thread_file_descriptor_locker;
    44 "unlock_mutex" => mutex::unlock_mutex;
    45 "unlock_rwlock" => rwlock::unlock_rwlock;
    46 "signal_cond" => cond::signal_cond;
    47 "broadcast_cond" => cond::signal_cond;
    48 "start_idle_wait" => idle::start_idle_wait;
    49 "end_idle_wait" => idle::end_idle_wait;
    50 "start_mutex_wait" => mutex::start_mutex_wait;
    51 "end_mutex_wait" => mutex::end_mutex_wait;
    52 "start_rwlock_rdwait" => rwlock::start_rwlock_wait;
    53 "end_rwlock_rdwait" => rwlock::end_rwlock_wait;
    54 "start_rwlock_wrwait" => rwlock::start_rwlock_wait;
    55 "end_rwlock_wrwait" => rwlock::end_rwlock_wait;
    56 "start_cond_wait" => cond::start_cond_wait;
    57 "end_cond_wait" => cond::end_cond_wait;
    58 "start_table_io_wait" => table::start_table_io_wait;
    59 "end_table_io_wait" => table::end_table_io_wait;
    60 "start_table_lock_wait" => table::start_table_lock_wait::<D1011>;
    61 "end_table_lock_wait" => table::end_table_lock_wait;
    62 "start_file_open_wait" => file::start_file_open_wait;
    63 "end_file_open_wait" => file::end_file_open_wait;
    64 "end_file_open_wait_and_bind_to_descriptor" => file::end_file_open_wait_and_bind_to_descriptor;
    65 "end_temp_file_open_wait_and_bind_to_descriptor" => file::end_temp_file_open_wait_and_bind_to_descriptor;
    66 "start_file_wait" => file::start_file_wait;
    67 "end_file_wait" => file::end_file_wait;
    68 "start_file_close_wait" => file::start_file_close_wait;
    69 "end_file_close_wait" => file::end_file_close_wait;
    70 "end_file_rename_wait" => file::end_file_rename_wait;
    71 "start_stage" => stage::start_stage;
    72 "get_current_stage_progress" => stage::get_current_stage_progress;
    73 "end_stage" => stage::end_stage;
    74 "get_thread_statement_locker" => statement::get_thread_statement_locker;
    75 "refine_statement" => statement::refine_statement;
    76 "start_statement" => statement::start_statement;
    77 "set_statement_text" => statement::set_statement_text::<D1011>;
    78 "set_statement_lock_time" => statement::set_statement_lock_time;
    79 "set_statement_rows_sent" => statement::set_statement_rows_sent;
    80 "set_statement_rows_examined" => statement::set_statement_rows_examined;
    81 "inc_statement_created_tmp_disk_tables" => statement::inc_statement_created_tmp_disk_tables;
    82 "inc_statement_created_tmp_tables" => statement::inc_statement_created_tmp_tables;
    83 "inc_statement_select_full_join" => statement::inc_statement_select_full_join;
    84 "inc_statement_select_full_range_join" => statement::inc_statement_select_full_range_join;
    85 "inc_statement_select_range" => statement::inc_statement_select_range;
    86 "inc_statement_select_range_check" => statement::inc_statement_select_range_check;
    87 "inc_statement_select_scan" => statement::inc_statement_select_scan;
    88 "inc_statement_sort_merge_passes" => statement::inc_statement_sort_merge_passes;
    89 "inc_statement_sort_range" => statement::inc_statement_sort_range;
    90 "inc_statement_sort_rows" => statement::inc_statement_sort_rows;
    91 "inc_statement_sort_scan" => statement::inc_statement_sort_scan;
    92 "set_statement_no_index_used" => statement::set_statement_no_index_used;
    93 "set_statement_no_good_index_used" => statement::set_statement_no_good_index_used;
    94 "end_statement" => statement::end_statement::<D1011>;
    95 "get_thread_transaction_locker" => get_thread_transaction_locker;
    96 "start_transaction" => transaction::start_transaction;
    97 "set_transaction_xid" => transaction::set_transaction_xid;
    98 "set_transaction_xa_state" => transaction::set_transaction_xa_state;
    99 "set_transaction_gtid" => transaction::set_transaction_gtid;
    100 "set_transaction_trxid" => transaction::set_transaction_trxid;
    101 "inc_transaction_savepoints" => transaction::inc_transaction_savepoints;
    102 "inc_transaction_rollback_to_savepoint" => transaction::inc_transaction_rollback_to_savepoint;
    103 "inc_transaction_release_savepoint" => transaction::inc_transaction_release_savepoint;
    104 "end_transaction" => transaction::end_transaction;
    105 "start_socket_wait" => socket::start_socket_wait;
    106 "end_socket_wait" => socket::end_socket_wait;
    107 "set_socket_state" => socket::set_socket_state;
    108 "set_socket_info" => socket::set_socket_info;
    109 "set_socket_thread_owner" => socket::set_socket_thread_owner;
    110 "create_prepared_stmt" => create_prepared_stmt;
    111 "destroy_prepared_stmt" => prepared::destroy_prepared_stmt;
    112 "reprepare_prepared_stmt" => prepared::reprepare_prepared_stmt;
    113 "execute_prepared_stmt" => prepared::execute_prepared_stmt;
    114 "set_prepared_stmt_text" => prepared::set_prepared_stmt_text;
    115 "digest_start" => statement::digest_start;
    116 "digest_end" => statement::digest_end::<D1011>;
    117 "set_thread_connect_attrs" => attributes::set_thread_connect_attrs;
    118 "start_sp" => program::start_sp;
    119 "end_sp" => program::end_sp;
    120 "drop_sp" => program::drop_sp_of_mariadb;
    121 "get_sp_share" => program::get_sp_share_of_mariadb;
    122 "release_sp_share" => program::release_sp_share;
    123 "register_memory" => keys::register_row::<D1011, { row(Kind::Memory) }>;
    124 "memory_alloc" => memory::memory_alloc;
    125 "memory_realloc" => memory::memory_realloc;
    126 "memory_claim" => memory::memory_claim;
    127 "memory_free" => memory::memory_free;
    128 "unlock_table" => table::unlock_table;
    129 "create_metadata_lock" => create_metadata_lock;
    130 "set_metadata_lock_status" => metadata::set_metadata_lock_status;
    131 "destroy_metadata_lock" => metadata::destroy_metadata_lock;
    132 "start_metadata_wait" => metadata::start_metadata_wait;
    133 "end_metadata_wait" => metadata::end_metadata_wait;
    134 "set_thread_peer_port" => other::ignore;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_its_function() {
        let places = ENTRIES.iter().map(|entry| entry.place);
        assert!(places.eq((0..135).map(|index| Place::Learned { index })));
    }
}
