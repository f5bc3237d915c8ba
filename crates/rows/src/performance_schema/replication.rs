//! replication_*: there for who asks, and empty. The server does not replicate.

use tare_mysql::series::Series::V9_7;

use crate::describe::{BINARY, Key, Life, Meta, Table, U64};
use crate::empty::{Empty, always, maybe};

const UTF8MB3: &str = "utf8mb3_general_ci";
const UTF8MB3_BINARY: &str = "utf8mb3_bin";

const CHANNEL: Meta =
    always("CHANNEL_NAME", "char(64)", "The replication channel.").mariadbs("varchar(256)");

/// What a thread of the applier does.
#[rustfmt::skip] // One column, one line.
const THREAD: &[Meta] = &[
    maybe("THREAD_ID", U64, "The thread."),
    always("SERVICE_STATE", "enum('ON','OFF')", "Whether it runs."),
];

/// The last error that such a thread met.
#[rustfmt::skip] // One column, one line.
const LAST_ERROR: &[Meta] = &[
    always("LAST_ERROR_NUMBER", "int(11)", "Number of the last error; 0 is none."),
    always("LAST_ERROR_MESSAGE", "varchar(1024)", "Text of the last error."),
    always("LAST_ERROR_TIMESTAMP", "timestamp(6)", "When the last error was.").mariadbs("timestamp"),
];

const LAST_SEEN: Meta = always(
    "LAST_SEEN_TRANSACTION",
    "char(57)",
    "GTID of the last transaction that it met.",
)
.lives(Life::MARIADBS);
const RETRIES: Meta = always(
    "LAST_TRANS_RETRY_COUNT",
    "int(11)",
    "How often the last transaction was tried again.",
)
.lives(Life::MARIADBS);

#[rustfmt::skip] // One column, one line.
static REPLICATION_APPLIER_CONFIGURATION: Empty = Empty::new(
    "performance_schema",
    "replication_applier_configuration",
    "Configuration of the replica's applier. Always empty: the server does not replicate.",
    &[&[
        CHANNEL,
        always("DESIRED_DELAY", "int(11)", "Seconds that the replica stays behind on purpose."),
        maybe("PRIVILEGE_CHECKS_USER", "text", "The account whose privileges are checked.").since(V9_7).collate(UTF8MB3_BINARY),
        always("REQUIRE_ROW_FORMAT", "enum('YES','NO')", "Whether only row events are applied.").since(V9_7),
        always("REQUIRE_TABLE_PRIMARY_KEY_CHECK", "enum('STREAM','ON','OFF','GENERATE')", "Whether tables need a primary key.").since(V9_7),
        always("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE", "enum('OFF','LOCAL','UUID')", "Whether transactions without a GTID get one.").since(V9_7),
        maybe("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE", "text", "The UUID of those GTIDs.").since(V9_7).collate(UTF8MB3_BINARY),
    ]],
)
.keys(&[Key::Primary(&["CHANNEL_NAME"])]);

#[rustfmt::skip] // One column, one line.
static REPLICATION_APPLIER_FILTERS: Empty = Empty::new(
    "performance_schema",
    "replication_applier_filters",
    "Filters of a channel. Always empty: the server does not replicate.",
    &[&[
        CHANNEL,
        always("FILTER_NAME", "char(64)", "The kind of filter."),
        always("FILTER_RULE", "longtext", "What it lets through."),
        always("CONFIGURED_BY", "enum('STARTUP_OPTIONS','CHANGE_REPLICATION_FILTER','STARTUP_OPTIONS_FOR_CHANNEL','CHANGE_REPLICATION_FILTER_FOR_CHANNEL')", "Where it was set."),
        always("ACTIVE_SINCE", "timestamp(6)", "Since when it is active."),
        always("COUNTER", U64, "How often it was used.").or("0"),
    ]],
)
.lives(Life::MYSQLS);

#[rustfmt::skip] // One column, one line.
static REPLICATION_APPLIER_GLOBAL_FILTERS: Empty = Empty::new(
    "performance_schema",
    "replication_applier_global_filters",
    "Filters of all channels. Always empty: the server does not replicate.",
    &[&[
        always("FILTER_NAME", "char(64)", "The kind of filter."),
        always("FILTER_RULE", "longtext", "What it lets through."),
        always("CONFIGURED_BY", "enum('STARTUP_OPTIONS','CHANGE_REPLICATION_FILTER')", "Where it was set."),
        always("ACTIVE_SINCE", "timestamp(6)", "Since when it is active."),
    ]],
)
.lives(Life::MYSQLS);

#[rustfmt::skip] // One column, one line.
static REPLICATION_APPLIER_STATUS: Empty = Empty::new(
    "performance_schema",
    "replication_applier_status",
    "Status of the applier. Always empty: the server does not replicate.",
    &[&[
        CHANNEL,
        always("SERVICE_STATE", "enum('ON','OFF')", "Whether it runs."),
        maybe("REMAINING_DELAY", "int(10) unsigned", "Seconds of the desired delay that are left."),
        always("COUNT_TRANSACTIONS_RETRIES", U64, "Transactions that were tried again."),
    ]],
)
.keys(&[Key::Primary(&["CHANNEL_NAME"])]);

#[rustfmt::skip] // One column, one line.
static REPLICATION_APPLIER_STATUS_BY_COORDINATOR: Empty = Empty::new(
    "performance_schema",
    "replication_applier_status_by_coordinator",
    "Status of the applier's coordinator. Always empty: the server does not replicate.",
    &[&[CHANNEL], THREAD, LAST_ERROR, &[
        LAST_SEEN,
        RETRIES,
        maybe("LAST_PROCESSED_TRANSACTION", "char(57)", "GTID of the last transaction that was scheduled.").later(V9_7, "char(90)").lives(Life::MYSQLS),
        always("LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", "timestamp(6)", "When the last transaction that was scheduled was committed at its origin.").lives(Life::MYSQLS),
        always("LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", "timestamp(6)", "When the last transaction that was scheduled was committed at the source.").lives(Life::MYSQLS),
        always("LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP", "timestamp(6)", "When the last transaction that was scheduled began to be buffered.").lives(Life::MYSQLS),
        always("LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP", "timestamp(6)", "When the last transaction that was scheduled was buffered.").lives(Life::MYSQLS),
        maybe("PROCESSING_TRANSACTION", "char(57)", "GTID of the transaction that is being scheduled.").later(V9_7, "char(90)").lives(Life::MYSQLS),
        always("PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", "timestamp(6)", "When the transaction that is being scheduled was committed at its origin.").lives(Life::MYSQLS),
        always("PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", "timestamp(6)", "When the transaction that is being scheduled was committed at the source.").lives(Life::MYSQLS),
        always("PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP", "timestamp(6)", "When the transaction that is being scheduled began to be buffered.").lives(Life::MYSQLS),
    ]],
)
.keys(&[
    Key::Primary(&["CHANNEL_NAME"]),
    Key::Plain("THREAD_ID", &["THREAD_ID"]),
]);

#[rustfmt::skip] // One column, one line.
static REPLICATION_APPLIER_STATUS_BY_WORKER: Empty = Empty::new(
    "performance_schema",
    "replication_applier_status_by_worker",
    "Status of the applier's workers. Always empty: the server does not replicate.",
    &[&[CHANNEL, always("WORKER_ID", U64, "The worker.").lives(Life::MYSQLS)], THREAD, &[LAST_SEEN], LAST_ERROR, &[
        always("WORKER_IDLE_TIME", U64, "How long it had nothing to do.").lives(Life::MARIADBS),
        RETRIES,
        maybe("LAST_APPLIED_TRANSACTION", "char(57)", "GTID of the last transaction that was applied.").later(V9_7, "char(90)").lives(Life::MYSQLS),
        always("LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", "timestamp(6)", "When the last transaction that was applied was committed at its origin.").lives(Life::MYSQLS),
        always("LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", "timestamp(6)", "When the last transaction that was applied was committed at the source.").lives(Life::MYSQLS),
        always("LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP", "timestamp(6)", "When the last transaction that was applied began to be applied.").lives(Life::MYSQLS),
        always("LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP", "timestamp(6)", "When the last transaction that was applied was applied.").lives(Life::MYSQLS),
        maybe("APPLYING_TRANSACTION", "char(57)", "GTID of the transaction that is being applied.").later(V9_7, "char(90)").lives(Life::MYSQLS),
        always("APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", "timestamp(6)", "When the transaction that is being applied was committed at its origin.").lives(Life::MYSQLS),
        always("APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", "timestamp(6)", "When the transaction that is being applied was committed at the source.").lives(Life::MYSQLS),
        always("APPLYING_TRANSACTION_START_APPLY_TIMESTAMP", "timestamp(6)", "When the transaction that is being applied began to be applied.").lives(Life::MYSQLS),
        always("LAST_APPLIED_TRANSACTION_RETRIES_COUNT", U64, "How often the last transaction that was applied was tried again.").lives(Life::MYSQLS),
        always("LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER", "int(11)", "Number of the last error that had the last transaction that was applied tried again.").lives(Life::MYSQLS),
        maybe("LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE", "varchar(1024)", "Text of the last error that had the last transaction that was applied tried again.").lives(Life::MYSQLS),
        always("LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP", "timestamp(6)", "When the last error was that had the last transaction that was applied tried again.").lives(Life::MYSQLS),
        always("APPLYING_TRANSACTION_RETRIES_COUNT", U64, "How often the transaction that is being applied was tried again.").lives(Life::MYSQLS),
        always("APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER", "int(11)", "Number of the last error that had the transaction that is being applied tried again.").lives(Life::MYSQLS),
        maybe("APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE", "varchar(1024)", "Text of the last error that had the transaction that is being applied tried again.").lives(Life::MYSQLS),
        always("APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP", "timestamp(6)", "When the last error was that had the transaction that is being applied tried again.").lives(Life::MYSQLS),
    ]],
)
.keys(&[
    Key::Primary(&["CHANNEL_NAME", "WORKER_ID"]),
    Key::Plain("THREAD_ID", &["THREAD_ID"]),
]);

#[rustfmt::skip] // One column, one line.
static REPLICATION_CONNECTION_CONFIGURATION: Empty = Empty::new(
    "performance_schema",
    "replication_connection_configuration",
    "Configuration of the connection to the source. Always empty: the server does not replicate.",
    &[&[
        CHANNEL,
        always("HOST", "char(60)", "Host of the source.").later(V9_7, "char(255)"),
        always("PORT", "int(11)", "Port of the source."),
        always("USER", "char(32)", "User at the source.").collate(BINARY),
        always("NETWORK_INTERFACE", "char(60)", "The interface that it is reached by.").collate(BINARY).lives(Life::MYSQLS),
        always("AUTO_POSITION", "enum('1','0')", "Whether positions are found by GTID.").lives(Life::MYSQLS),
        always("USING_GTID", "enum('NO','CURRENT_POS','SLAVE_POS')", "Which GTIDs it begins behind.").lives(Life::MARIADBS),
        always("SSL_ALLOWED", "enum('YES','NO','IGNORED')", "Whether TLS is used."),
        always("SSL_CA_FILE", "varchar(512)", "File of the certificate authorities."),
        always("SSL_CA_PATH", "varchar(512)", "Directory of certificate authorities."),
        always("SSL_CERTIFICATE", "varchar(512)", "File of the certificate."),
        always("SSL_CIPHER", "varchar(512)", "The ciphers that may be used."),
        always("SSL_KEY", "varchar(512)", "File of the key."),
        always("SSL_VERIFY_SERVER_CERTIFICATE", "enum('YES','NO')", "Whether the source's certificate is verified."),
        always("SSL_CRL_FILE", "varchar(255)", "File of revoked certificates."),
        always("SSL_CRL_PATH", "varchar(255)", "Directory of revoked certificates."),
        always("CONNECTION_RETRY_INTERVAL", "int(11)", "Seconds between two attempts to connect."),
        always("CONNECTION_RETRY_COUNT", U64, "How many attempts there are."),
        always("HEARTBEAT_INTERVAL", "double(10,3) unsigned", "Seconds between two heartbeats.").later(V9_7, "double(10,3)"),
        always("IGNORE_SERVER_IDS", "longtext", "Servers whose events are left out.").lives(Life::MARIADBS),
        always("REPL_DO_DOMAIN_IDS", "longtext", "The domains whose events are applied.").lives(Life::MARIADBS),
        always("REPL_IGNORE_DOMAIN_IDS", "longtext", "The domains whose events are left out.").lives(Life::MARIADBS),
        always("TLS_VERSION", "varchar(255)", "The versions of TLS that may be used.").lives(Life::MYSQLS),
        always("PUBLIC_KEY_PATH", "varchar(512)", "File of the source's public key.").lives(Life::MYSQLS),
        always("GET_PUBLIC_KEY", "enum('YES','NO')", "Whether the source is asked for its public key.").lives(Life::MYSQLS),
        always("NETWORK_NAMESPACE", "varchar(64)", "The network namespace that it is reached from.").since(V9_7),
        always("COMPRESSION_ALGORITHM", "char(64)", "The algorithms that packets may be compressed with.").since(V9_7).collate(BINARY),
        always("ZSTD_COMPRESSION_LEVEL", "int", "The level of zstd.").since(V9_7),
        maybe("TLS_CIPHERSUITES", "text", "The cipher suites of TLS 1.3.").since(V9_7).collate(UTF8MB3_BINARY),
        always("SOURCE_CONNECTION_AUTO_FAILOVER", "enum('1','0')", "Whether another source is looked for when this one fails.").since(V9_7),
        always("GTID_ONLY", "enum('1','0')", "Whether positions are kept as GTIDs alone.").since(V9_7),
    ]],
)
.keys(&[Key::Primary(&["CHANNEL_NAME"])]);

#[rustfmt::skip] // One column, one line.
static REPLICATION_CONNECTION_STATUS: Empty = Empty::new(
    "performance_schema",
    "replication_connection_status",
    "Status of the connection to the source. Always empty: the server does not replicate.",
    &[&[
        CHANNEL,
        always("GROUP_NAME", "char(36)", "The replication group.").collate(BINARY),
        always("SOURCE_UUID", "char(36)", "server_uuid of the source.").collate(BINARY),
        maybe("THREAD_ID", U64, "The thread."),
        always("SERVICE_STATE", "enum('ON','OFF','CONNECTING')", "Whether it runs."),
        always("COUNT_RECEIVED_HEARTBEATS", U64, "Heartbeats received.").or("0"),
        always("LAST_HEARTBEAT_TIMESTAMP", "timestamp(6)", "When the last heartbeat came."),
        always("RECEIVED_TRANSACTION_SET", "longtext", "GTIDs of all received transactions."),
        always("LAST_ERROR_NUMBER", "int(11)", "Number of the last error; 0 is none."),
        always("LAST_ERROR_MESSAGE", "varchar(1024)", "Text of the last error."),
        always("LAST_ERROR_TIMESTAMP", "timestamp(6)", "When the last error was."),
        maybe("LAST_QUEUED_TRANSACTION", "char(57)", "GTID of the last transaction that was queued.").later(V9_7, "char(90)"),
        always("LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", "timestamp(6)", "When the last transaction that was queued was committed at its origin."),
        always("LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", "timestamp(6)", "When the last transaction that was queued was committed at the source."),
        always("LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP", "timestamp(6)", "When the last transaction that was queued began to be queued."),
        always("LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP", "timestamp(6)", "When the last transaction that was queued was queued."),
        maybe("QUEUEING_TRANSACTION", "char(57)", "GTID of the transaction that is being queued.").later(V9_7, "char(90)"),
        always("QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", "timestamp(6)", "When the transaction that is being queued was committed at its origin."),
        always("QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", "timestamp(6)", "When the transaction that is being queued was committed at the source."),
        always("QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP", "timestamp(6)", "When the transaction that is being queued began to be queued."),
    ]],
)
.keys(&[
    Key::Primary(&["CHANNEL_NAME"]),
    Key::Plain("THREAD_ID", &["THREAD_ID"]),
])
.lives(Life::MYSQLS);

#[rustfmt::skip] // One column, one line.
static REPLICATION_GROUP_MEMBER_STATS: Empty = Empty::new(
    "performance_schema",
    "replication_group_member_stats",
    "Statistics of the members of the replication group. Always empty: the server does not replicate.",
    &[&[
        CHANNEL,
        always("VIEW_ID", "char(60)", "The group's view.").collate(BINARY),
        always("MEMBER_ID", "char(36)", "server_uuid of the member.").collate(BINARY),
        always("COUNT_TRANSACTIONS_IN_QUEUE", U64, "Transactions that wait for the check of conflicts."),
        always("COUNT_TRANSACTIONS_CHECKED", U64, "Transactions that were checked."),
        always("COUNT_CONFLICTS_DETECTED", U64, "Transactions with conflicts."),
        always("COUNT_TRANSACTIONS_ROWS_VALIDATING", U64, "Rows that conflicts are looked for in."),
        always("TRANSACTIONS_COMMITTED_ALL_MEMBERS", "longtext", "GTIDs that all members have committed."),
        always("LAST_CONFLICT_FREE_TRANSACTION", "text", "GTID of the last transaction without a conflict."),
        always("COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE", U64, "Other members' transactions that wait to be applied."),
        always("COUNT_TRANSACTIONS_REMOTE_APPLIED", U64, "Other members' transactions that were applied."),
        always("COUNT_TRANSACTIONS_LOCAL_PROPOSED", U64, "Transactions that this member proposed."),
        always("COUNT_TRANSACTIONS_LOCAL_ROLLBACK", U64, "Proposed transactions that were rolled back."),
    ]],
)
.lives(Life::MYSQLS);

#[rustfmt::skip] // One column, one line.
static REPLICATION_GROUP_MEMBERS: Empty = Empty::new(
    "performance_schema",
    "replication_group_members",
    "Members of the replication group. Always empty: the server does not replicate.",
    &[&[
        CHANNEL,
        always("MEMBER_ID", "char(36)", "server_uuid of the member.").collate(BINARY),
        always("MEMBER_HOST", "char(60)", "Its host.").later(V9_7, "char(255)"),
        maybe("MEMBER_PORT", "int(11)", "Its port."),
        always("MEMBER_STATE", "char(64)", "ONLINE, RECOVERING, OFFLINE, ERROR or UNREACHABLE.").collate(BINARY),
        always("MEMBER_ROLE", "char(64)", "PRIMARY or SECONDARY.").collate(BINARY),
        always("MEMBER_VERSION", "char(64)", "Its version.").collate(BINARY),
        always("MEMBER_COMMUNICATION_STACK", "char(64)", "XCOM or MYSQL.").since(V9_7).collate(BINARY),
    ]],
)
.lives(Life::MYSQLS);

#[rustfmt::skip] // One column, one line.
static REPLICATION_ASYNCHRONOUS_CONNECTION_FAILOVER: Empty = Empty::new(
    "performance_schema",
    "replication_asynchronous_connection_failover",
    "The sources that a channel may take. Always empty: the server does not replicate.",
    &[&[
        CHANNEL.collate(UTF8MB3),
        always("HOST", "char(255)", "Host of the source."),
        always("PORT", "int", "Port of the source."),
        maybe("NETWORK_NAMESPACE", "char(64)", "The network namespace that it is reached from."),
        always("WEIGHT", "int unsigned", "The heaviest is tried first."),
        always("MANAGED_NAME", "char(64)", "The group that it belongs to.").collate(UTF8MB3).or(""),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static REPLICATION_ASYNCHRONOUS_CONNECTION_FAILOVER_MANAGED: Empty = Empty::new(
    "performance_schema",
    "replication_asynchronous_connection_failover_managed",
    "The groups whose members a channel may take. Always empty: the server does not replicate.",
    &[&[
        CHANNEL.collate(UTF8MB3),
        always("MANAGED_NAME", "char(64)", "The group.").collate(UTF8MB3).or(""),
        always("MANAGED_TYPE", "char(64)", "What kind of group it is.").collate(UTF8MB3).or(""),
        maybe("CONFIGURATION", "json", "Its settings."),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static BINARY_LOG_TRANSACTION_COMPRESSION_STATS: Empty = Empty::new(
    "performance_schema",
    "binary_log_transaction_compression_stats",
    "How well transactions in binary and relay logs were compressed. Always empty: there are no such logs.",
    &[&[
        always("LOG_TYPE", "enum('BINARY','RELAY')", "The log."),
        always("COMPRESSION_TYPE", "varchar(64)", "The algorithm."),
        always("TRANSACTION_COUNTER", U64, "Transactions written."),
        always("COMPRESSED_BYTES_COUNTER", U64, "Their bytes."),
        always("UNCOMPRESSED_BYTES_COUNTER", U64, "Their bytes before they were compressed."),
        always("COMPRESSION_PERCENTAGE", "smallint", "What was saved, in percent."),
        maybe("FIRST_TRANSACTION_ID", "text", "The first transaction."),
        always("FIRST_TRANSACTION_COMPRESSED_BYTES", U64, "Its bytes."),
        always("FIRST_TRANSACTION_UNCOMPRESSED_BYTES", U64, "Its bytes before it was compressed."),
        maybe("FIRST_TRANSACTION_TIMESTAMP", "timestamp(6)", "When it was written."),
        maybe("LAST_TRANSACTION_ID", "text", "The last transaction."),
        always("LAST_TRANSACTION_COMPRESSED_BYTES", U64, "Its bytes."),
        always("LAST_TRANSACTION_UNCOMPRESSED_BYTES", U64, "Its bytes before it was compressed."),
        maybe("LAST_TRANSACTION_TIMESTAMP", "timestamp(6)", "When it was written."),
    ]],
)
.truncate()
.since(V9_7);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &REPLICATION_APPLIER_CONFIGURATION,
    &REPLICATION_APPLIER_FILTERS,
    &REPLICATION_APPLIER_GLOBAL_FILTERS,
    &REPLICATION_APPLIER_STATUS,
    &REPLICATION_APPLIER_STATUS_BY_COORDINATOR,
    &REPLICATION_APPLIER_STATUS_BY_WORKER,
    &REPLICATION_CONNECTION_CONFIGURATION,
    &REPLICATION_CONNECTION_STATUS,
    &REPLICATION_GROUP_MEMBER_STATS,
    &REPLICATION_GROUP_MEMBERS,
    &REPLICATION_ASYNCHRONOUS_CONNECTION_FAILOVER,
    &REPLICATION_ASYNCHRONOUS_CONNECTION_FAILOVER_MANAGED,
    &BINARY_LOG_TRANSACTION_COMPRESSION_STATS,
];
