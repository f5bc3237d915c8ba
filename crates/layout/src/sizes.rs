//! MySQL's sizes of buffers, `performance_schema_...`, by number, as requested at start.
//!
//! Tare has one size for some tables that MySQL sizes separately, and minimum sizes. A size of 0 works
//! nevertheless: nothing of its kind is stored
//! ([`Control::nothing_of`](crate::control::Control::nothing_of)).

use crate::class::{EventType, Kind};
use crate::slot::{STATEMENT_DEPTH, ring};

macro_rules! sizes {
    ($($number:ident $name:literal;)*) => {
        /// Their names without `performance_schema_`.
        pub const NAMES: &[&str] = &[$($name),*];

        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Numbers { $($number),* }

        $(
            #[doc = concat!("`performance_schema_", $name, "`")]
            pub const $number: usize = Numbers::$number as usize;
        )*
    };
}

sizes! {
    ACCOUNTS "accounts_size";
    DIGESTS "digests_size";
    ERRORS "error_size";
    STAGES_LONG "events_stages_history_long_size";
    STAGES_HISTORY "events_stages_history_size";
    STATEMENTS_LONG "events_statements_history_long_size";
    STATEMENTS_HISTORY "events_statements_history_size";
    TRANSACTIONS_LONG "events_transactions_history_long_size";
    TRANSACTIONS_HISTORY "events_transactions_history_size";
    WAITS_LONG "events_waits_history_long_size";
    WAITS_HISTORY "events_waits_history_size";
    HOSTS "hosts_size";
    COND_CLASSES "max_cond_classes";
    CONDS "max_cond_instances";
    DIGEST_LENGTH "max_digest_length";
    DIGEST_SAMPLE_AGE "max_digest_sample_age";
    FILE_CLASSES "max_file_classes";
    FILE_HANDLES "max_file_handles";
    FILES "max_file_instances";
    INDEXES "max_index_stat";
    MEMORY_CLASSES "max_memory_classes";
    METADATA_LOCKS "max_metadata_locks";
    MUTEX_CLASSES "max_mutex_classes";
    MUTEXES "max_mutex_instances";
    PREPARED "max_prepared_statements_instances";
    PROGRAMS "max_program_instances";
    RWLOCK_CLASSES "max_rwlock_classes";
    RWLOCKS "max_rwlock_instances";
    SOCKET_CLASSES "max_socket_classes";
    SOCKETS "max_socket_instances";
    SQL_TEXT_LENGTH "max_sql_text_length";
    STAGE_CLASSES "max_stage_classes";
    STATEMENT_CLASSES "max_statement_classes";
    STATEMENT_STACK "max_statement_stack";
    TABLE_HANDLES "max_table_handles";
    TABLES "max_table_instances";
    TABLE_LOCKS "max_table_lock_stat";
    THREAD_CLASSES "max_thread_classes";
    THREADS "max_thread_instances";
    CONNECT_ATTRS "session_connect_attrs_size";
    ACTORS "setup_actors_size";
    OBJECTS "setup_objects_size";
    USERS "users_size";
}

const _: () = assert!(NAMES.len() <= u64::BITS as usize);

/// The bit of a size in a set of them.
pub const fn bit(number: usize) -> u64 {
    1 << number
}

/// The size of this name, without `performance_schema_`.
pub fn number(name: &str) -> Option<usize> {
    NAMES.iter().position(|listed| *listed == name)
}

/// Whether a size is that of a buffer, rather than a length, an age or a number of classes.
pub const fn is_a_buffer(size: usize) -> bool {
    !matches!(
        size,
        ERRORS
            | COND_CLASSES
            | DIGEST_LENGTH
            | DIGEST_SAMPLE_AGE
            | FILE_CLASSES
            | MEMORY_CLASSES
            | MUTEX_CLASSES
            | RWLOCK_CLASSES
            | SOCKET_CLASSES
            | SQL_TEXT_LENGTH
            | STAGE_CLASSES
            | STATEMENT_CLASSES
            | STATEMENT_STACK
            | THREAD_CLASSES
            | CONNECT_ATTRS
    )
}

/// Whether a size of 0 means that nothing is stored. Each thread has a class, and without classes there
/// are no threads.
pub const fn is_none_at_0(size: usize) -> bool {
    is_a_buffer(size)
        || matches!(
            size,
            CONNECT_ATTRS | DIGEST_LENGTH | SQL_TEXT_LENGTH | THREAD_CLASSES
        )
}

/// Sizes that, when 0, leave no events of a kind to count.
pub(crate) const fn of_events(kind: Kind) -> u64 {
    let own = match kind {
        Kind::Mutex => bit(MUTEXES),
        Kind::RwLock | Kind::SxLock => bit(RWLOCKS),
        Kind::Cond => bit(CONDS),
        Kind::File => bit(FILES) | bit(FILE_HANDLES),
        Kind::Socket => bit(SOCKETS),
        Kind::TableIo | Kind::TableLock => bit(TABLES),
        _ => 0,
    };
    own | bit(THREADS) | bit(THREAD_CLASSES)
}

/// How many statements can be nested, if this was requested: at least the outermost one.
pub fn statement_stack(requested: Option<u64>) -> usize {
    requested.map_or(STATEMENT_DEPTH, |requested| {
        requested.clamp(1, STATEMENT_DEPTH as u64) as usize
    })
}

/// The size of the instances of a kind of lock, if it is one.
pub const fn of_instances(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Mutex => Some(MUTEXES),
        Kind::RwLock | Kind::SxLock => Some(RWLOCKS),
        Kind::Cond => Some(CONDS),
        _ => None,
    }
}

/// The sizes of the history and history_long of a ring of [`ring`].
pub const fn of_ring(ring: usize) -> (usize, usize) {
    of_history(match ring {
        ring::STAGES => EventType::Stage,
        ring::STATEMENTS => EventType::Statement,
        ring::TRANSACTIONS => EventType::Transaction,
        _ => EventType::Wait,
    })
}

/// The sizes of a type's history and history_long.
pub const fn of_history(event_type: EventType) -> (usize, usize) {
    match event_type {
        EventType::Stage => (STAGES_HISTORY, STAGES_LONG),
        EventType::Statement => (STATEMENTS_HISTORY, STATEMENTS_LONG),
        EventType::Transaction => (TRANSACTIONS_HISTORY, TRANSACTIONS_LONG),
        EventType::Wait | EventType::Idle => (WAITS_HISTORY, WAITS_LONG),
    }
}
