//! MySQL 5.6, as of 5.6.24: every call goes through the table behind `PSI_server`, which is the exported `PFS_v1`
//! with 97 slots; two of them have one function.
//!
//! The server would take another table from whoever sets `PSI_hook`, but it sets that itself unless it is
//! started with performance_schema=OFF. So the functions are replaced, as in the other series.

use std::ffi::c_void;

use engine::{Kind, TableLock};

use super::{Area, Digest, Fields, MetadataKey, PlainInfo, Series, Share};
use crate::door::rwlock::Word;
use crate::door::*;
use crate::gate::{Entry, Place};
use crate::{gate, host};

/// The series.
#[derive(Debug)]
pub struct M56;

/// MySQL 5.6.
pub static SERIES: gate::Series = gate::Series {
    series: tare_image::Series::Mysql56,
    entries: ENTRIES,
    start: || host::start::<M56>(&BUILT_IN),
};

/// What the server's own engine would register by itself: it tells neither of metadata locks nor of transactions.
static BUILT_IN: host::BuiltIn = host::BuiltIn {
    table_io: "wait/io/table/sql/handler",
    table_lock: "wait/lock/table/sql/handler",
    metadata: "",
    idle: "idle",
    transaction: "",
    innodb_words: true,
};

/// InnoDB's classes whose mutexes are the C library's.
const OF_THE_C_LIBRARY: [&str; 4] = [
    "wait/synch/mutex/innodb/commit_cond_mutex",
    "wait/synch/mutex/innodb/innobase_share_mutex",
    "wait/synch/mutex/innodb/os_mutex",
    "wait/synch/mutex/innodb/ut_list_mutex",
];

impl Series for M56 {
    type Info = PlainInfo;

    const TELLS_ERRORS: bool = false;
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
            is_none: &[0x2c2],
        },
        area: Area {
            status: 0x224,
            message: 2,
            message_bytes: 512,
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
        // It tells of none.
        key: MetadataKey {
            kind: 0,
            namespaces: &[],
        },
    };

    fn table_lock(number: i32) -> Option<TableLock> {
        Some(match number {
            7 => TableLock::WriteConcurrentInsert,
            // INSERT DELAYED, which has no line of its own in later series: it lets others go first, too.
            8 => TableLock::WriteLowPriority,
            number => return super::table_lock(number),
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

/// It does not say how many rows there were: one.
///
/// # Safety
/// The interface.
unsafe extern "C" fn end_table_io_wait(locker: *mut c_void) {
    // SAFETY: the interface.
    unsafe { table::end_table_io_wait(locker, 1) };
}

/// It does not say of which share it is.
///
/// # Safety
/// The interface.
unsafe extern "C" fn close_table(table: *mut c_void) {
    // SAFETY: the interface.
    unsafe { table::close_table(std::ptr::null_mut(), table) };
}

macro_rules! entries {
    ($($index:literal $name:literal => $function:expr;)*) => {
        /// All 97.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            place: Place::Slot { table: "PFS_v1", index: $index },
            function: $function as *const (),
        }),*];
    };
}

const fn row(kind: Kind) -> u8 {
    kind as u8
}

entries! {
    0 "register_mutex" => keys::register_row::<M56, { row(Kind::Mutex) }>;
    1 "register_rwlock" => keys::register_row::<M56, { row(Kind::RwLock) }>;
    2 "register_cond" => keys::register_row::<M56, { row(Kind::Cond) }>;
    3 "register_thread" => keys::register_row::<M56, { row(Kind::Thread) }>;
    4 "register_file" => keys::register_row::<M56, { row(Kind::File) }>;
    5 "register_stage" => keys::register_stage::<M56>;
    6 "register_statement" => keys::register_row::<M56, { row(Kind::Statement) }>;
    7 "register_socket" => keys::register_row::<M56, { row(Kind::Socket) }>;
    8 "init_mutex" => mutex::init_mutex;
    9 "destroy_mutex" => mutex::destroy_mutex;
    10 "init_rwlock" => rwlock::init_rwlock;
    11 "destroy_rwlock" => rwlock::destroy_rwlock;
    12 "init_cond" => cond::init_cond;
    13 "destroy_cond" => cond::destroy_cond;
    14 "init_socket" => socket::init_socket;
    15 "destroy_socket" => socket::destroy_socket;
    16 "get_table_share" => table::get_table_share::<M56>;
    17 "release_table_share" => table::release_table_share;
    18 "drop_table_share" => table::drop_table_share;
    19 "open_table" => table::open_table;
    20 "unbind_table" => table::unbind_table;
    21 "rebind_table" => table::rebind_table;
    22 "close_table" => close_table;
    23 "create_file" => file::create_file;
    24 "spawn_thread" => thread::spawn_thread;
    25 "new_thread" => thread::new_thread;
    26 "set_thread_id" => thread::set_thread_id;
    27 "get_thread" => thread::get_thread;
    28 "set_thread_user" => thread::set_thread_user;
    29 "set_thread_user_host" => thread::set_thread_account;
    30 "set_thread_db" => thread::set_thread_db;
    31 "set_thread_command" => thread::set_thread_command;
    32 "set_thread_start_time" => thread::set_thread_start_time;
    33 "set_thread_state" => thread::set_thread_state;
    34 "set_thread_info" => thread::set_thread_info;
    35 "set_thread" => thread::set_thread;
    36 "delete_current_thread" => thread::delete_current_thread;
    37 "delete_thread" => thread::delete_thread;
    38 "get_thread_file_name_locker" => file::get_thread_file_name_locker;
    39 "get_thread_file_stream_locker" => file::get_thread_file_stream_locker;
    40 "get_thread_file_descriptor_locker" => file::get_thread_file_descriptor_locker;
    41 "unlock_mutex" => mutex::unlock_mutex;
    42 "unlock_rwlock" => rwlock::unlock_rwlock;
    43 "signal_cond" => cond::signal_cond;
    44 "broadcast_cond" => cond::signal_cond;
    45 "start_idle_wait" => idle::start_idle_wait;
    46 "end_idle_wait" => idle::end_idle_wait;
    47 "start_mutex_wait" => mutex::start_mutex_wait;
    48 "end_mutex_wait" => mutex::end_mutex_wait;
    49 "start_rwlock_rdwait" => rwlock::start_rwlock_wait;
    50 "end_rwlock_rdwait" => rwlock::end_rwlock_wait;
    51 "start_rwlock_wrwait" => rwlock::start_rwlock_wait;
    52 "end_rwlock_wrwait" => rwlock::end_rwlock_wait;
    53 "start_cond_wait" => cond::start_cond_wait;
    54 "end_cond_wait" => cond::end_cond_wait;
    55 "start_table_io_wait" => table::start_table_io_wait;
    56 "end_table_io_wait" => end_table_io_wait;
    57 "start_table_lock_wait" => table::start_table_lock_wait::<M56>;
    58 "end_table_lock_wait" => table::end_table_lock_wait;
    59 "start_file_open_wait" => file::start_file_open_wait;
    60 "end_file_open_wait" => file::end_file_open_wait;
    61 "end_file_open_wait_and_bind_to_descriptor" => file::end_file_open_wait_and_bind_to_descriptor;
    62 "start_file_wait" => file::start_file_wait;
    63 "end_file_wait" => file::end_file_wait;
    64 "start_file_close_wait" => file::start_file_close_wait;
    65 "end_file_close_wait" => file::end_file_close_wait;
    66 "start_stage" => stage::start_stage;
    67 "end_stage" => stage::end_stage;
    68 "get_thread_statement_locker" => statement::get_thread_statement_locker;
    69 "refine_statement" => statement::refine_statement;
    70 "start_statement" => statement::start_statement;
    71 "set_statement_text" => statement::set_statement_text::<M56>;
    72 "set_statement_lock_time" => statement::set_statement_lock_time;
    73 "set_statement_rows_sent" => statement::set_statement_rows_sent;
    74 "set_statement_rows_examined" => statement::set_statement_rows_examined;
    75 "inc_statement_created_tmp_disk_tables" => statement::inc_statement_created_tmp_disk_tables;
    76 "inc_statement_created_tmp_tables" => statement::inc_statement_created_tmp_tables;
    77 "inc_statement_select_full_join" => statement::inc_statement_select_full_join;
    78 "inc_statement_select_full_range_join" => statement::inc_statement_select_full_range_join;
    79 "inc_statement_select_range" => statement::inc_statement_select_range;
    80 "inc_statement_select_range_check" => statement::inc_statement_select_range_check;
    81 "inc_statement_select_scan" => statement::inc_statement_select_scan;
    82 "inc_statement_sort_merge_passes" => statement::inc_statement_sort_merge_passes;
    83 "inc_statement_sort_range" => statement::inc_statement_sort_range;
    84 "inc_statement_sort_rows" => statement::inc_statement_sort_rows;
    85 "inc_statement_sort_scan" => statement::inc_statement_sort_scan;
    86 "set_statement_no_index_used" => statement::set_statement_no_index_used;
    87 "set_statement_no_good_index_used" => statement::set_statement_no_good_index_used;
    88 "end_statement" => statement::end_statement::<M56>;
    89 "start_socket_wait" => socket::start_socket_wait;
    90 "end_socket_wait" => socket::end_socket_wait;
    91 "set_socket_state" => socket::set_socket_state;
    92 "set_socket_info" => socket::set_socket_info;
    93 "set_socket_thread_owner" => socket::set_socket_thread_owner;
    94 "digest_start" => statement::digest_start;
    95 "digest_end" => statement::digest_end::<M56>;
    96 "set_thread_connect_attrs" => attributes::set_thread_connect_attrs;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_its_function() {
        let table = "PFS_v1";
        let places = ENTRIES.iter().map(|entry| entry.place);
        assert!(places.eq((0..97).map(|index| Place::Slot { table, index })));
    }

    #[test]
    fn innodbs_locks_are_told_apart() {
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
            assert_eq!(M56::word(kind, name), word, "{name}");
        }
    }
}
