//! The instruments of the server, with MySQL's names where MySQL has the same.

use tare::Class;

use tare_dialect::plan::Command;

tare::classes! {
    /// Accepts connections.
    pub static THREAD_MAIN: Thread = "thread/sql/main", singleton;
    /// Serves one client.
    pub static THREAD_ONE_CONNECTION: Thread = "thread/sql/one_connection", user;
    /// Runs statements of all clients, in pool-of-threads.
    pub static THREAD_POOL_WORKER: Thread = "thread/tare/pool_worker";
    /// Waits for clients to send something, in pool-of-threads.
    pub static THREAD_POOL_POLLER: Thread = "thread/tare/pool_poller", singleton;
    /// Ends statements whose time is over, or whose client has gone.
    pub static THREAD_KEEPER: Thread = "thread/tare/statement_keeper", singleton;
    /// Samples active sessions.
    pub static THREAD_ACTIVITY_LOG: Thread = "thread/tare/activity_log", singleton;

    /// A session waits for its client.
    pub static IDLE: Idle = "idle", enabled, user;
    /// A client's connection.
    pub static CLIENT_CONNECTION: Socket = "wait/io/socket/sql/client_connection", user;
    /// A table's rows.
    pub static TABLE_IO: TableIo = "wait/io/table/sql/handler";
    /// A table's locks.
    pub static TABLE_LOCK: TableLock = "wait/lock/table/sql/handler";
    /// The right to write to a database, and to change its tables' definitions.
    pub static MDL: MetadataLock = "wait/lock/metadata/sql/mdl";
    /// The socket that listens on TCP.
    pub static SERVER_TCPIP: Socket = "wait/io/socket/sql/server_tcpip_socket", singleton;
    /// The Unix socket that listens.
    pub static SERVER_UNIX: Socket = "wait/io/socket/sql/server_unix_socket", singleton;
    /// A transaction.
    pub static TRANSACTION: Transaction = "transaction", enabled;

    /// The command has been read.
    pub static STARTING: Stage = "stage/sql/starting";
    /// Databases are attached and tables' definitions are looked up.
    pub static OPENING_TABLES: Stage = "stage/sql/Opening tables";
    /// SQLite reads or changes rows, and rows are sent to the client. (MySQL has had no separate stage
    /// `Sending data` since 8.0.17.)
    pub static EXECUTING: Stage = "stage/sql/executing";
    /// The session waits until another one's transaction ends.
    pub static WAITING_FOR_COMMIT: Stage = "stage/sql/Waiting for table level lock";
    /// SLEEP.
    pub static USER_SLEEP: Stage = "stage/sql/User sleep";
    /// GET_LOCK waits for a lock.
    pub static USER_LOCK: Stage = "stage/sql/User lock";
    /// A client's password is checked.
    pub static LOGIN: Stage = "stage/sql/login";

    /// A packet that has not been read.
    pub static NEW_PACKET: Statement = "statement/abstract/new_packet", mutable;
    /// SQL that has not been parsed.
    pub static QUERY: Statement = "statement/abstract/Query", mutable;

    /// The list of connections.
    pub static LOCK_REGISTRY: Mutex = "wait/synch/mutex/tare/LOCK_registry";
    /// The state of a session that SQL functions read.
    pub static LOCK_SESSION: Mutex = "wait/synch/mutex/tare/LOCK_session";
    /// The locks of GET_LOCK.
    pub static LOCK_USER_LOCKS: Mutex = "wait/synch/mutex/tare/LOCK_user_locks";
    /// A lock of GET_LOCK was released.
    pub static COND_USER_LOCKS: Cond = "wait/synch/cond/tare/COND_user_locks";
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
}

macro_rules! commands {
    ($($command:ident $class:ident $text:literal)*) => {
        tare::classes! { $(#[doc = $text] pub static $class: Statement = $text;)* }

        /// A command's instrument.
        pub fn statement(command: Command) -> &'static Class {
            match command {
                $(Command::$command => &$class,)*
            }
        }
    };
}

commands! {
    AlterTable SQL_ALTER_TABLE "statement/sql/alter_table"
    AlterUser SQL_ALTER_USER "statement/sql/alter_user"
    Analyze SQL_ANALYZE "statement/sql/analyze"
    Begin SQL_BEGIN "statement/sql/begin"
    CallProcedure SQL_CALL_PROCEDURE "statement/sql/call_procedure"
    ChangeDb SQL_CHANGE_DB "statement/sql/change_db"
    Check SQL_CHECK "statement/sql/check"
    Checksum SQL_CHECKSUM "statement/sql/checksum"
    Commit SQL_COMMIT "statement/sql/commit"
    CreateDb SQL_CREATE_DB "statement/sql/create_db"
    CreateIndex SQL_CREATE_INDEX "statement/sql/create_index"
    CreateTable SQL_CREATE_TABLE "statement/sql/create_table"
    CreateUser SQL_CREATE_USER "statement/sql/create_user"
    CreateView SQL_CREATE_VIEW "statement/sql/create_view"
    DeallocSql SQL_DEALLOC_SQL "statement/sql/dealloc_sql"
    Delete SQL_DELETE "statement/sql/delete"
    DeleteMulti SQL_DELETE_MULTI "statement/sql/delete_multi"
    Do SQL_DO "statement/sql/do"
    DropDb SQL_DROP_DB "statement/sql/drop_db"
    DropEvent SQL_DROP_EVENT "statement/sql/drop_event"
    DropFunction SQL_DROP_FUNCTION "statement/sql/drop_function"
    DropIndex SQL_DROP_INDEX "statement/sql/drop_index"
    DropProcedure SQL_DROP_PROCEDURE "statement/sql/drop_procedure"
    DropTable SQL_DROP_TABLE "statement/sql/drop_table"
    DropUser SQL_DROP_USER "statement/sql/drop_user"
    DropTrigger SQL_DROP_TRIGGER "statement/sql/drop_trigger"
    DropView SQL_DROP_VIEW "statement/sql/drop_view"
    EmptyQuery SQL_EMPTY_QUERY "statement/sql/empty_query"
    ExecuteSql SQL_EXECUTE_SQL "statement/sql/execute_sql"
    Flush SQL_FLUSH "statement/sql/flush"
    Grant SQL_GRANT "statement/sql/grant"
    Help SQL_HELP "statement/sql/help"
    Insert SQL_INSERT "statement/sql/insert"
    InsertSelect SQL_INSERT_SELECT "statement/sql/insert_select"
    Kill SQL_KILL "statement/sql/kill"
    LockTables SQL_LOCK_TABLES "statement/sql/lock_tables"
    Optimize SQL_OPTIMIZE "statement/sql/optimize"
    PrepareSql SQL_PREPARE_SQL "statement/sql/prepare_sql"
    ReleaseSavepoint SQL_RELEASE_SAVEPOINT "statement/sql/release_savepoint"
    RenameTable SQL_RENAME_TABLE "statement/sql/rename_table"
    RenameUser SQL_RENAME_USER "statement/sql/rename_user"
    Replace SQL_REPLACE "statement/sql/replace"
    ReplaceSelect SQL_REPLACE_SELECT "statement/sql/replace_select"
    Revoke SQL_REVOKE "statement/sql/revoke"
    RevokeAll SQL_REVOKE_ALL "statement/sql/revoke_all"
    Rollback SQL_ROLLBACK "statement/sql/rollback"
    RollbackToSavepoint SQL_ROLLBACK_TO_SAVEPOINT "statement/sql/rollback_to_savepoint"
    Savepoint SQL_SAVEPOINT "statement/sql/savepoint"
    Select SQL_SELECT "statement/sql/select"
    SetOption SQL_SET_OPTION "statement/sql/set_option"
    SetPassword SQL_SET_PASSWORD "statement/sql/set_password"
    ShowCharsets SQL_SHOW_CHARSETS "statement/sql/show_charsets"
    ShowCollations SQL_SHOW_COLLATIONS "statement/sql/show_collations"
    ShowCreateDb SQL_SHOW_CREATE_DB "statement/sql/show_create_db"
    ShowCreateTable SQL_SHOW_CREATE_TABLE "statement/sql/show_create_table"
    ShowDatabases SQL_SHOW_DATABASES "statement/sql/show_databases"
    ShowFields SQL_SHOW_FIELDS "statement/sql/show_fields"
    ShowFunctionCode SQL_SHOW_FUNCTION_CODE "statement/sql/show_function_code"
    ShowFunctionStatus SQL_SHOW_FUNCTION_STATUS "statement/sql/show_function_status"
    ShowGrants SQL_SHOW_GRANTS "statement/sql/show_grants"
    ShowKeys SQL_SHOW_KEYS "statement/sql/show_keys"
    ShowPlugins SQL_SHOW_PLUGINS "statement/sql/show_plugins"
    ShowPrivileges SQL_SHOW_PRIVILEGES "statement/sql/show_privileges"
    ShowBinlogEvents SQL_SHOW_BINLOG_EVENTS "statement/sql/show_binlog_events"
    ShowBinlogs SQL_SHOW_BINLOGS "statement/sql/show_binlogs"
    ShowCreateEvent SQL_SHOW_CREATE_EVENT "statement/sql/show_create_event"
    ShowCreateFunc SQL_SHOW_CREATE_FUNC "statement/sql/show_create_func"
    ShowCreateProc SQL_SHOW_CREATE_PROC "statement/sql/show_create_proc"
    ShowCreateTrigger SQL_SHOW_CREATE_TRIGGER "statement/sql/show_create_trigger"
    ShowCreateUser SQL_SHOW_CREATE_USER "statement/sql/show_create_user"
    ShowEngineLogs SQL_SHOW_ENGINE_LOGS "statement/sql/show_engine_logs"
    ShowEngineMutex SQL_SHOW_ENGINE_MUTEX "statement/sql/show_engine_mutex"
    ShowEngineStatus SQL_SHOW_ENGINE_STATUS "statement/sql/show_engine_status"
    ShowErrors SQL_SHOW_ERRORS "statement/sql/show_errors"
    ShowEvents SQL_SHOW_EVENTS "statement/sql/show_events"
    ShowMasterStatus SQL_SHOW_MASTER_STATUS "statement/sql/show_master_status"
    ShowOpenTables SQL_SHOW_OPEN_TABLES "statement/sql/show_open_tables"
    ShowProcedureCode SQL_SHOW_PROCEDURE_CODE "statement/sql/show_procedure_code"
    ShowProcedureStatus SQL_SHOW_PROCEDURE_STATUS "statement/sql/show_procedure_status"
    ShowProfile SQL_SHOW_PROFILE "statement/sql/show_profile"
    ShowProfiles SQL_SHOW_PROFILES "statement/sql/show_profiles"
    ShowSlaveHosts SQL_SHOW_SLAVE_HOSTS "statement/sql/show_slave_hosts"
    ShowSlaveStatus SQL_SHOW_SLAVE_STATUS "statement/sql/show_slave_status"
    ExplainOther SQL_EXPLAIN_OTHER "statement/sql/explain_other"
    ShowProcesslist SQL_SHOW_PROCESSLIST "statement/sql/show_processlist"
    ShowStatus SQL_SHOW_STATUS "statement/sql/show_status"
    ShowStorageEngines SQL_SHOW_STORAGE_ENGINES "statement/sql/show_storage_engines"
    ShowTableStatus SQL_SHOW_TABLE_STATUS "statement/sql/show_table_status"
    ShowTables SQL_SHOW_TABLES "statement/sql/show_tables"
    ShowTriggers SQL_SHOW_TRIGGERS "statement/sql/show_triggers"
    ShowVariables SQL_SHOW_VARIABLES "statement/sql/show_variables"
    ShowWarnings SQL_SHOW_WARNINGS "statement/sql/show_warnings"
    Shutdown SQL_SHUTDOWN "statement/sql/shutdown"
    Truncate SQL_TRUNCATE "statement/sql/truncate"
    UnlockTables SQL_UNLOCK_TABLES "statement/sql/unlock_tables"
    Update SQL_UPDATE "statement/sql/update"
    UpdateMulti SQL_UPDATE_MULTI "statement/sql/update_multi"
}

tare::classes! {
    /// statement/sql/error
    pub static SQL_ERROR: Statement = "statement/sql/error";
    /// statement/com/Execute
    pub static COM_EXECUTE: Statement = "statement/com/Execute";
    /// statement/com/Prepare
    pub static COM_PREPARE: Statement = "statement/com/Prepare";
    /// statement/com/Close stmt
    pub static COM_CLOSE_STMT: Statement = "statement/com/Close stmt";
    /// statement/com/Reset stmt
    pub static COM_RESET_STMT: Statement = "statement/com/Reset stmt";
    /// statement/com/Long Data
    pub static COM_LONG_DATA: Statement = "statement/com/Long Data";
    /// statement/com/Ping
    pub static COM_PING: Statement = "statement/com/Ping";
    /// statement/com/Quit
    pub static COM_QUIT: Statement = "statement/com/Quit";
    /// statement/com/Init DB
    pub static COM_INIT_DB: Statement = "statement/com/Init DB";
    /// statement/com/Field List
    pub static COM_FIELD_LIST: Statement = "statement/com/Field List";
    /// statement/com/Statistics
    pub static COM_STATISTICS: Statement = "statement/com/Statistics";
    /// statement/com/Processlist
    pub static COM_PROCESSLIST: Statement = "statement/com/Processlist";
    /// statement/com/Kill
    pub static COM_KILL: Statement = "statement/com/Kill";
    /// statement/com/Change user
    pub static COM_CHANGE_USER: Statement = "statement/com/Change user";
    /// statement/com/Reset Connection
    pub static COM_RESET_CONNECTION: Statement = "statement/com/Reset Connection";
    /// statement/com/Set option
    pub static COM_SET_OPTION: Statement = "statement/com/Set option";
    /// statement/com/Debug
    pub static COM_DEBUG: Statement = "statement/com/Debug";
    /// statement/com/Error
    pub static COM_ERROR: Statement = "statement/com/Error";
}
