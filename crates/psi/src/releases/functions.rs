//! Our functions by their names in the interface. Each release lists those that it calls, in its order, and
//! its own functions that replace some of these.

use engine::Kind;

use super::entry::{Entry, Location};
use crate::door::*;
use crate::interface::{Function, Interface};

/// The names of the interface's functions, and our functions for all releases without their own.
macro_rules! functions {
    ($($name:literal => $function:expr;)*) => {
        impl<S: Interface> Shared<S> {
            const ALL: &'static [Function] = &[$(($name, $function as *const ())),*];
        }
    };
}

/// In place of a function: the server's own is not replaced. It records what Tare does not (row locks,
/// meters, loggers, TLS channels), and uses none of our objects.
pub(super) const SERVERS_OWN: *const () = std::ptr::null();

/// The functions that releases share.
struct Shared<S>(std::marker::PhantomData<S>);

const fn row(kind: Kind) -> u8 {
    kind as u8
}

functions! {
    "register_mutex" => keys::register_row::<S, { row(Kind::Mutex) }>;
    "register_rwlock" => keys::register_row::<S, { row(Kind::RwLock) }>;
    "register_cond" => keys::register_row::<S, { row(Kind::Cond) }>;
    "register_thread" => keys::register_row::<S, { row(Kind::Thread) }>;
    "register_file" => keys::register_row::<S, { row(Kind::File) }>;
    "register_stage" => keys::register_stage::<S>;
    "register_statement" => keys::register_row::<S, { row(Kind::Statement) }>;
    "register_socket" => keys::register_row::<S, { row(Kind::Socket) }>;
    "register_memory" => keys::register_row::<S, { row(Kind::Memory) }>;

    "init_mutex" => mutex::init_mutex;
    "destroy_mutex" => mutex::destroy_mutex;
    "unlock_mutex" => mutex::unlock_mutex;
    "start_mutex_wait" => mutex::start_mutex_wait;
    "end_mutex_wait" => mutex::end_mutex_wait;

    "init_rwlock" => rwlock::init_rwlock;
    "destroy_rwlock" => rwlock::destroy_rwlock;
    "unlock_rwlock" => rwlock::unlock_rwlock;
    "start_rwlock_wait" => rwlock::start_rwlock_wait;
    "start_rwlock_rdwait" => rwlock::start_rwlock_wait;
    "end_rwlock_rdwait" => rwlock::end_rwlock_wait;
    "start_rwlock_wrwait" => rwlock::start_rwlock_wait;
    "end_rwlock_wrwait" => rwlock::end_rwlock_wait;

    "init_cond" => cond::init_cond;
    "destroy_cond" => cond::destroy_cond;
    "signal_cond" => other::ignore;
    "broadcast_cond" => other::ignore;
    "start_cond_wait" => cond::start_cond_wait;
    "end_cond_wait" => cond::end_cond_wait;

    "init_socket" => socket::init_socket;
    "destroy_socket" => socket::destroy_socket;
    "start_socket_wait" => socket::start_socket_wait;
    "end_socket_wait" => socket::end_socket_wait;
    "set_socket_state" => socket::set_socket_state;
    "set_socket_info" => socket::set_socket_info;
    "set_socket_thread_owner" => socket::set_socket_thread_owner;

    "get_table_share" => table::get_table_share::<S>;
    "release_table_share" => table::release_table_share;
    "drop_table_share" => table::drop_table_share;
    "open_table" => table::open_table;
    "unbind_table" => table::unbind_table;
    "rebind_table" => table::rebind_table;
    "close_table" => table::close_table;
    "start_table_io_wait" => table::start_table_io_wait;
    "end_table_io_wait" => table::end_table_io_wait;
    "start_table_lock_wait" => table::start_table_lock_wait::<S>;
    "end_table_lock_wait" => table::end_table_lock_wait;
    "unlock_table" => table::unlock_table;

    "create_file" => file::create_file;
    "get_thread_file_name_locker" => file::get_thread_file_name_locker;
    "get_thread_file_stream_locker" => file::get_thread_file_stream_locker;
    "get_thread_file_descriptor_locker" => file::get_thread_file_descriptor_locker;
    "start_file_open_wait" => file::start_file_open_wait;
    "end_file_open_wait" => file::end_file_open_wait;
    "end_file_open_wait_and_bind_to_descriptor" => file::end_file_open_wait_and_bind_to_descriptor;
    "end_temp_file_open_wait_and_bind_to_descriptor" => file::end_temp_file_open_wait_and_bind_to_descriptor;
    "start_file_wait" => file::start_file_wait;
    "end_file_wait" => file::end_file_wait;
    "start_file_close_wait" => file::start_file_close_wait;
    "end_file_close_wait" => file::end_file_close_wait;
    "end_file_rename_wait" => file::end_file_rename_wait;

    "spawn_thread" => thread::spawn_thread;
    "new_thread" => thread::new_thread;
    "set_thread_id" => thread::set_thread_id;
    "set_thread_THD" => other::ignore;
    "set_thread_os_id" => thread::set_thread_os_id;
    "get_thread" => thread::get_thread;
    "set_thread_user" => thread::set_thread_user;
    "set_thread_account" => thread::set_thread_account;
    "set_thread_db" => thread::set_thread_db;
    "set_thread_command" => thread::set_thread_command;
    "set_connection_type" => thread::set_connection_type;
    "set_thread_start_time" => other::ignore;
    "set_thread_state" => other::ignore;
    "set_thread_info" => thread::set_thread_info;
    "set_thread" => thread::set_thread;
    "delete_current_thread" => thread::delete_current_thread;
    "delete_thread" => thread::delete_thread;
    "get_thread_event_id" => thread::get_thread_event_id;
    "set_thread_user_host" => thread::set_thread_account;

    "start_idle_wait" => idle::start_idle_wait;
    "end_idle_wait" => idle::end_idle_wait;

    "start_stage" => stage::start_stage;
    "get_current_stage_progress" => stage::get_current_stage_progress;
    "end_stage" => stage::end_stage;

    "get_thread_statement_locker" => statement::get_thread_statement_locker;
    "refine_statement" => active::refine_statement;
    "start_statement" => statement::start_statement;
    "set_statement_text" => active::set_statement_text::<S>;
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
    "end_statement" => active::end_statement::<S>;
    "digest_start" => statement::digest_start;
    "digest_end" => statement::digest_end::<S>;

    "get_thread_transaction_locker" => transaction::get_thread_transaction_locker;
    "start_transaction" => transaction::start_transaction;
    "set_transaction_xid" => transaction::set_transaction_xid;
    "set_transaction_xa_state" => other::ignore;
    "set_transaction_gtid" => transaction::set_transaction_gtid;
    "set_transaction_trxid" => transaction::set_transaction_trxid;
    "inc_transaction_savepoints" => transaction::inc_transaction_savepoints;
    "inc_transaction_rollback_to_savepoint" => transaction::inc_transaction_rollback_to_savepoint;
    "inc_transaction_release_savepoint" => transaction::inc_transaction_release_savepoint;
    "end_transaction" => transaction::end_transaction;

    "create_prepared_stmt" => prepared::create_prepared_stmt::<S>;
    "destroy_prepared_stmt" => prepared::destroy_prepared_stmt;
    "reprepare_prepared_stmt" => prepared::reprepare_prepared_stmt;
    "execute_prepared_stmt" => prepared::execute_prepared_stmt;
    "set_prepared_stmt_text" => prepared::set_prepared_stmt_text;

    "set_thread_connect_attrs" => attributes::set_thread_connect_attrs::<S>;

    "start_sp" => program::start_sp;
    "end_sp" => program::end_sp;
    "drop_sp" => program::drop_sp::<S>;
    "get_sp_share" => program::get_sp_share::<S>;
    "release_sp_share" => other::ignore;

    "memory_alloc" => memory::memory_alloc;
    "memory_realloc" => memory::memory_realloc;
    "memory_claim" => memory::memory_claim;
    "memory_free" => memory::memory_free;

    "create_metadata_lock" => metadata::create_metadata_lock::<S>;
    "set_metadata_lock_status" => metadata::set_metadata_lock_status;
    "destroy_metadata_lock" => metadata::destroy_metadata_lock;
    "start_metadata_wait" => metadata::start_metadata_wait;
    "end_metadata_wait" => metadata::end_metadata_wait;

    "log_error" => error::log_error;

    "register_data_lock" => SERVERS_OWN;
    "unregister_data_lock" => SERVERS_OWN;
    "set_statement_query_id" => other::ignore;
    "unload_plugin" => other::ignore;
    "set_thread_resource_group" => other::done;
    "set_thread_resource_group_by_id" => other::done;
    "get_thread_system_attrs" => other::none;
    "get_thread_system_attrs_by_id" => other::none;
    "register_notification" => other::done;
    "unregister_notification" => other::none;
    "notify_session_connect" => other::ignore;
    "notify_session_disconnect" => other::ignore;
    "notify_session_change_user" => other::ignore;
    "set_thread_peer_port" => other::ignore;
    "get_thread_class_name" => thread::get_thread_class_name;

    "register_thread_v1" => keys::register_row::<S, { row(Kind::Thread) }>;
    "spawn_thread_v4" => thread::spawn_thread;
    "new_thread_v4" => thread::new_thread;
    "get_current_thread_internal_id" => identity::get_current_thread_internal_id;
    "get_thread_internal_id" => identity::get_thread_internal_id;
    "get_thread_by_id" => identity::get_thread_by_id;
    "get_current_thread_event_id" => thread::get_thread_event_id;
    "get_current_thread_event_id_v1" => thread::get_thread_event_id;
    "aggregate_thread_status" => other::ignore;
    "set_mem_cnt_THD" => limited::set_mem_cnt_thd;
    "start_file_rename_wait" => file::start_file_rename_wait;
    "set_metadata_lock_duration" => metadata::set_metadata_lock_duration;
    "set_metadata_lock_type" => metadata::set_metadata_lock_type;
    "digest_set" => statement::digest_set::<S>;
    "set_thread_secondary_engine" => other::ignore;
    "set_statement_secondary_engine" => other::ignore;
    "set_prepared_stmt_secondary_engine" => other::ignore;
    "notify_statement_query_attributes" => other::ignore;
    "statement_abort_telemetry" => other::ignore;
    "detect_telemetry" => other::ignore;
    "abort_telemetry" => other::ignore;

    "register_logger_client" => SERVERS_OWN;
    "unregister_logger_client" => SERVERS_OWN;
    "check_enabled" => SERVERS_OWN;
    "log_emit" => SERVERS_OWN;
    "register_logger" => SERVERS_OWN;
    "unregister_logger" => SERVERS_OWN;
    "notify_logger" => SERVERS_OWN;
    "register_meters" => SERVERS_OWN;
    "unregister_meters" => SERVERS_OWN;
    "register_change_notification" => SERVERS_OWN;
    "unregister_change_notification" => SERVERS_OWN;
    "send_change_notification" => SERVERS_OWN;
    "register_tls_channel" => SERVERS_OWN;
    "unregister_tls_channel" => SERVERS_OWN;
}

/// An entry of a release.
pub(super) const fn entry<S: Interface>(name: &'static str, location: Location) -> Entry {
    let function = match (find(S::OWN, name), find(Shared::<S>::ALL, name)) {
        (Some(function), _) | (None, Some(function)) => function,
        // Fails the build with a name that is in neither list.
        (None, None) => panic!("{}", name),
    };
    Entry {
        name,
        location,
        function,
    }
}

/// The entries in the slots of tables. Each table has its symbol (except the one behind `PSI_server`), and
/// the names of its functions in the order of its slots.
pub(super) const fn slots<S: Interface, const N: usize>(
    tables: &[(Option<&'static str>, &[&'static str])],
) -> [Entry; N] {
    let mut entries = [Entry {
        name: "",
        location: Location::Behind { index: 0 },
        function: std::ptr::null(),
    }; N];
    let (mut count, mut i) = (0, 0);
    while i < tables.len() {
        let (table, names) = tables[i];
        let mut index = 0;
        while index < names.len() {
            let location = match table {
                Some(table) => Location::Slot { table, index },
                None => Location::Behind { index },
            };
            entries[count] = entry::<S>(names[index], location);
            (count, index) = (count + 1, index + 1);
        }
        i += 1;
    }
    assert!(count == N, "as many as there are slots");
    entries
}

/// Names as texts.
macro_rules! names {
    ($($name:ident)*) => {
        &[$(stringify!($name)),*]
    };
}
pub(super) use names;

const fn find(functions: &[Function], name: &str) -> Option<*const ()> {
    let mut i = 0;
    while i < functions.len() {
        if is_same(functions[i].0.as_bytes(), name.as_bytes()) {
            return Some(functions[i].1);
        }
        i += 1;
    }
    None
}

/// `a == b` in a constant.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{entry::ServerHooks, hooks, mariadb1011, mysql56, mysql57::Mysql57};
    use super::*;

    fn all() -> impl Iterator<Item = &'static ServerHooks> {
        tare_image::Release::ALL
            .iter()
            .map(|&release| hooks(release))
    }

    #[test]
    fn entries_are_distinct_and_as_many_as_the_servers() {
        let counts = all().map(|release| {
            let entries = release.entries.iter();
            let functions: BTreeMap<_, _> = entries.map(|entry| (entry.name, entry)).collect();
            let mut locations = Vec::new();
            for entry in release.entries {
                // Versions of one service share functions.
                assert_eq!(functions[entry.name].function, entry.function, "{entry:?}");
                assert!(!locations.contains(&entry.location), "{entry:?}");
                locations.push(entry.location);
            }
            (functions.len(), locations.len())
        });
        let expected = [(97, 97), (135, 135), (149, 149), (185, 298)];
        let mariadb = [(135, 135), (135, 135), (136, 136)];
        assert_eq!(
            counts.collect::<Vec<_>>(),
            [&expected[..], &mariadb].concat()
        );
    }

    #[test]
    fn every_function_is_used_by_a_release() {
        for (name, _) in Shared::<Mysql57>::ALL {
            let mut entries = all().flat_map(|release| release.entries);
            assert!(entries.any(|entry| entry.name == *name), "{name}");
        }
    }

    #[test]
    fn a_releases_own_functions_replace_shared_ones() {
        for (release, own) in [
            (&mysql56::HOOKS, mysql56::Mysql56::OWN),
            (&mariadb1011::HOOKS, mariadb1011::Mariadb1011::OWN),
        ] {
            for (name, function) in own {
                let mut entries = release.entries.iter();
                let entry = entries.find(|entry| entry.name == *name).expect(name);
                assert_eq!(entry.function, *function, "{name}");
            }
        }
    }

    #[test]
    fn slots_are_numbered_in_each_table() {
        let [a, b, c] = slots::<Mysql57, 3>(&[
            (Some("one"), names! { init_mutex destroy_mutex }),
            (None, names! { init_cond }),
        ]);
        let table = "one";
        assert_eq!(
            (a.name, a.location),
            ("init_mutex", Location::Slot { table, index: 0 })
        );
        assert_eq!(
            (b.name, b.location),
            ("destroy_mutex", Location::Slot { table, index: 1 })
        );
        assert_eq!(
            (c.name, c.location),
            ("init_cond", Location::Behind { index: 0 })
        );
    }
}
