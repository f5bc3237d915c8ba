//! Where the server is instrumented: MySQL's names where MySQL has one.

use tare::Class;

tare::classes! {
    /// Accepts connections.
    pub static THREAD_MAIN: Thread = "thread/sql/main", singleton;
    /// Serves one client.
    pub static THREAD_ONE_CONNECTION: Thread = "thread/sql/one_connection", user;
    /// Runs statements of any client's, in pool-of-threads.
    pub static THREAD_POOL_WORKER: Thread = "thread/tare/pool_worker";
    /// Waits for clients to send something, in pool-of-threads.
    pub static THREAD_POOL_POLLER: Thread = "thread/tare/pool_poller", singleton;

    /// A session waits for its client.
    pub static IDLE: Idle = "idle", enabled;
    /// A client's connection.
    pub static CLIENT_CONNECTION: Socket = "wait/io/socket/sql/client_connection";
    /// A table's rows.
    pub static TABLE_IO: TableIo = "wait/io/table/sql/handler";
    /// A table's locks.
    pub static TABLE_LOCK: TableLock = "wait/lock/table/sql/handler";
    /// The right to write to a database, and to change its tables' definitions.
    pub static MDL: MetadataLock = "wait/lock/metadata/sql/mdl";
    /// Where clients come to by TCP.
    pub static SERVER_TCPIP: Socket = "wait/io/socket/sql/server_tcpip_socket";
    /// Where clients come to on this machine.
    pub static SERVER_UNIX: Socket = "wait/io/socket/sql/server_unix_socket";
    /// A transaction.
    pub static TRANSACTION: Transaction = "transaction", enabled;

    /// The command has been read.
    pub static STARTING: Stage = "stage/sql/starting";
    /// Databases are attached and tables' definitions are looked up.
    pub static OPENING_TABLES: Stage = "stage/sql/Opening tables";
    /// SQLite reads or changes rows, and rows are written to the client. (MySQL, too, has had no
    /// `Sending data` beside it since 8.0.17.)
    pub static EXECUTING: Stage = "stage/sql/executing";
    /// The session waits until another one's transaction ends.
    pub static WAITING_FOR_COMMIT: Stage = "stage/sql/Waiting for table level lock";
    /// A client's password is checked.
    pub static LOGIN: Stage = "stage/sql/login";

    /// A packet that has not been looked at.
    pub static NEW_PACKET: Statement = "statement/abstract/new_packet", mutable;
    /// SQL that has not been parsed.
    pub static QUERY: Statement = "statement/abstract/Query", mutable;

    /// The list of connections.
    pub static LOCK_REGISTRY: Mutex = "wait/synch/mutex/tare/LOCK_registry";
    /// What a session's SQL functions see.
    pub static LOCK_SESSION: Mutex = "wait/synch/mutex/tare/LOCK_session";
    /// The tables' definitions.
    pub static LOCK_DEFINITIONS: Mutex = "wait/synch/mutex/tare/LOCK_definitions";
    /// Who may write to a database.
    pub static LOCK_GATE: Mutex = "wait/synch/mutex/tare/LOCK_gate";
    /// A writer has left a database.
    pub static COND_GATE: Cond = "wait/synch/cond/tare/COND_gate";
    /// The queue of pool-of-threads.
    pub static LOCK_QUEUE: Mutex = "wait/synch/mutex/tare/LOCK_queue";
    /// There is work in the queue.
    pub static COND_QUEUE: Cond = "wait/synch/cond/tare/COND_queue";
    /// The idle sessions of pool-of-threads.
    pub static LOCK_IDLE: Mutex = "wait/synch/mutex/tare/LOCK_idle";
    /// The end of the server.
    pub static LOCK_ENDED: Mutex = "wait/synch/mutex/tare/LOCK_ended";
    /// The server has ended.
    pub static COND_ENDED: Cond = "wait/synch/cond/tare/COND_ended";
    /// The server's variables.
    pub static LOCK_GLOBALS: RwLock = "wait/synch/rwlock/tare/LOCK_globals";
    /// The databases' gates.
    pub static LOCK_GATES: RwLock = "wait/synch/rwlock/tare/LOCK_gates";

    /// A database.
    pub static SQLITE_DB: File = "wait/io/file/tare/sqlite_db", enabled;
    /// A database's write-ahead log.
    pub static SQLITE_WAL: File = "wait/io/file/tare/sqlite_wal", enabled;
    /// The index of a write-ahead log: locks that readers and writers take.
    pub static SQLITE_SHM: File = "wait/io/file/tare/sqlite_shm", enabled;
    /// A rollback journal.
    pub static SQLITE_JOURNAL: File = "wait/io/file/tare/sqlite_journal", enabled;
    /// A sort or a temporary table that did not fit in memory.
    pub static SQLITE_TEMP: File = "wait/io/file/tare/sqlite_temp", enabled;
    /// All that SQLite has allocated.
    pub static SQLITE_HEAP: Memory = "memory/sqlite/heap", enabled;
}

macro_rules! commands {
    ($($name:ident $class:ident $text:literal)*) => {
        tare::classes! { $(#[doc = $text] pub static $class: Statement = $text;)* }

        /// The class of a statement by its command's name, the last part of the class's.
        pub fn statement(command: &str) -> &'static Class {
            match command {
                $(stringify!($name) => &$class,)*
                _ => &SQL_ERROR,
            }
        }
    };
}

commands! {
    alter_table SQL_ALTER_TABLE "statement/sql/alter_table"
    analyze SQL_ANALYZE "statement/sql/analyze"
    begin SQL_BEGIN "statement/sql/begin"
    call_procedure SQL_CALL_PROCEDURE "statement/sql/call_procedure"
    change_db SQL_CHANGE_DB "statement/sql/change_db"
    check SQL_CHECK "statement/sql/check"
    commit SQL_COMMIT "statement/sql/commit"
    create_db SQL_CREATE_DB "statement/sql/create_db"
    create_index SQL_CREATE_INDEX "statement/sql/create_index"
    create_table SQL_CREATE_TABLE "statement/sql/create_table"
    create_view SQL_CREATE_VIEW "statement/sql/create_view"
    dealloc_sql SQL_DEALLOC_SQL "statement/sql/dealloc_sql"
    delete SQL_DELETE "statement/sql/delete"
    do SQL_DO "statement/sql/do"
    drop_db SQL_DROP_DB "statement/sql/drop_db"
    drop_index SQL_DROP_INDEX "statement/sql/drop_index"
    drop_table SQL_DROP_TABLE "statement/sql/drop_table"
    drop_view SQL_DROP_VIEW "statement/sql/drop_view"
    error SQL_ERROR "statement/sql/error"
    execute_sql SQL_EXECUTE_SQL "statement/sql/execute_sql"
    flush SQL_FLUSH "statement/sql/flush"
    insert SQL_INSERT "statement/sql/insert"
    kill SQL_KILL "statement/sql/kill"
    lock_tables SQL_LOCK_TABLES "statement/sql/lock_tables"
    optimize SQL_OPTIMIZE "statement/sql/optimize"
    prepare_sql SQL_PREPARE_SQL "statement/sql/prepare_sql"
    release_savepoint SQL_RELEASE_SAVEPOINT "statement/sql/release_savepoint"
    rename_table SQL_RENAME_TABLE "statement/sql/rename_table"
    replace SQL_REPLACE "statement/sql/replace"
    rollback SQL_ROLLBACK "statement/sql/rollback"
    rollback_to_savepoint SQL_ROLLBACK_TO_SAVEPOINT "statement/sql/rollback_to_savepoint"
    savepoint SQL_SAVEPOINT "statement/sql/savepoint"
    select SQL_SELECT "statement/sql/select"
    set_option SQL_SET_OPTION "statement/sql/set_option"
    show_charsets SQL_SHOW_CHARSETS "statement/sql/show_charsets"
    show_collations SQL_SHOW_COLLATIONS "statement/sql/show_collations"
    show_create_db SQL_SHOW_CREATE_DB "statement/sql/show_create_db"
    show_create_table SQL_SHOW_CREATE_TABLE "statement/sql/show_create_table"
    show_databases SQL_SHOW_DATABASES "statement/sql/show_databases"
    show_fields SQL_SHOW_FIELDS "statement/sql/show_fields"
    show_grants SQL_SHOW_GRANTS "statement/sql/show_grants"
    show_keys SQL_SHOW_KEYS "statement/sql/show_keys"
    show_plugins SQL_SHOW_PLUGINS "statement/sql/show_plugins"
    show_privileges SQL_SHOW_PRIVILEGES "statement/sql/show_privileges"
    show_binlog_events SQL_SHOW_BINLOG_EVENTS "statement/sql/show_binlog_events"
    show_binlogs SQL_SHOW_BINLOGS "statement/sql/show_binlogs"
    show_create_event SQL_SHOW_CREATE_EVENT "statement/sql/show_create_event"
    show_create_func SQL_SHOW_CREATE_FUNC "statement/sql/show_create_func"
    show_create_proc SQL_SHOW_CREATE_PROC "statement/sql/show_create_proc"
    show_create_trigger SQL_SHOW_CREATE_TRIGGER "statement/sql/show_create_trigger"
    show_create_user SQL_SHOW_CREATE_USER "statement/sql/show_create_user"
    show_engine_logs SQL_SHOW_ENGINE_LOGS "statement/sql/show_engine_logs"
    show_engine_mutex SQL_SHOW_ENGINE_MUTEX "statement/sql/show_engine_mutex"
    show_engine_status SQL_SHOW_ENGINE_STATUS "statement/sql/show_engine_status"
    show_errors SQL_SHOW_ERRORS "statement/sql/show_errors"
    show_events SQL_SHOW_EVENTS "statement/sql/show_events"
    show_master_status SQL_SHOW_MASTER_STATUS "statement/sql/show_master_status"
    show_open_tables SQL_SHOW_OPEN_TABLES "statement/sql/show_open_tables"
    show_procedure_code SQL_SHOW_PROCEDURE_CODE "statement/sql/show_procedure_code"
    show_procedure_status SQL_SHOW_PROCEDURE_STATUS "statement/sql/show_procedure_status"
    show_profile SQL_SHOW_PROFILE "statement/sql/show_profile"
    show_profiles SQL_SHOW_PROFILES "statement/sql/show_profiles"
    show_slave_hosts SQL_SHOW_SLAVE_HOSTS "statement/sql/show_slave_hosts"
    show_slave_status SQL_SHOW_SLAVE_STATUS "statement/sql/show_slave_status"
    explain_other SQL_EXPLAIN_OTHER "statement/sql/explain_other"
    show_processlist SQL_SHOW_PROCESSLIST "statement/sql/show_processlist"
    show_status SQL_SHOW_STATUS "statement/sql/show_status"
    show_storage_engines SQL_SHOW_STORAGE_ENGINES "statement/sql/show_storage_engines"
    show_table_status SQL_SHOW_TABLE_STATUS "statement/sql/show_table_status"
    show_tables SQL_SHOW_TABLES "statement/sql/show_tables"
    show_triggers SQL_SHOW_TRIGGERS "statement/sql/show_triggers"
    show_variables SQL_SHOW_VARIABLES "statement/sql/show_variables"
    show_warnings SQL_SHOW_WARNINGS "statement/sql/show_warnings"
    shutdown SQL_SHUTDOWN "statement/sql/shutdown"
    truncate SQL_TRUNCATE "statement/sql/truncate"
    unlock_tables SQL_UNLOCK_TABLES "statement/sql/unlock_tables"
    update SQL_UPDATE "statement/sql/update"
    update_ COM_EXECUTE "statement/com/Execute"
    prepare_ COM_PREPARE "statement/com/Prepare"
    close_ COM_CLOSE_STMT "statement/com/Close stmt"
    reset_ COM_RESET_STMT "statement/com/Reset stmt"
    long_ COM_LONG_DATA "statement/com/Long Data"
    ping_ COM_PING "statement/com/Ping"
    quit_ COM_QUIT "statement/com/Quit"
    init_ COM_INIT_DB "statement/com/Init DB"
    fields_ COM_FIELD_LIST "statement/com/Field List"
    statistics_ COM_STATISTICS "statement/com/Statistics"
    processlist_ COM_PROCESSLIST "statement/com/Processlist"
    kill_ COM_KILL "statement/com/Kill"
    user_ COM_CHANGE_USER "statement/com/Change user"
    connection_ COM_RESET_CONNECTION "statement/com/Reset Connection"
    option_ COM_SET_OPTION "statement/com/Set option"
    debug_ COM_DEBUG "statement/com/Debug"
    error_ COM_ERROR "statement/com/Error"
}
