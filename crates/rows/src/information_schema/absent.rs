//! Tables of MySQL's that this server has nothing for: they are there, with MySQL's columns, and have
//! no rows.

use crate::describe::Table;
use crate::empty::{Empty, maybe};

macro_rules! never {
    ($($static:ident $name:literal $doc:literal: $($column:literal $type:literal,)*;)*) => {
        $(static $static: Empty = Empty::new(
            "information_schema",
            $name,
            $doc,
            &[&[$(maybe($column, $type, "Never shown: the table has no rows.")),*]],
        );)*
        /// The tables of this file.
        pub static TABLES: &[&dyn Table] = &[$(&$static),*];
    };
}

never! {
    COLUMN_STATISTICS "COLUMN_STATISTICS" "Histograms of columns. Always empty: none are kept.":
        "SCHEMA_NAME" "varchar(64)", "TABLE_NAME" "varchar(64)", "COLUMN_NAME" "varchar(64)",
        "HISTOGRAM" "json",;
    FILES "FILES" "Files of tablespaces. Always empty: INNODB_DATAFILES lists the databases' files.":
        "FILE_ID" "bigint(21)", "FILE_NAME" "text", "FILE_TYPE" "varchar(256)",
        "TABLESPACE_NAME" "varchar(268)", "TABLE_CATALOG" "char(0)", "TABLE_SCHEMA" "binary(0)",
        "TABLE_NAME" "binary(0)", "LOGFILE_GROUP_NAME" "varchar(256)",
        "LOGFILE_GROUP_NUMBER" "bigint(21)", "ENGINE" "varchar(64)", "FULLTEXT_KEYS" "binary(0)",
        "DELETED_ROWS" "binary(0)", "UPDATE_COUNT" "binary(0)", "FREE_EXTENTS" "bigint(21)",
        "TOTAL_EXTENTS" "bigint(21)", "EXTENT_SIZE" "bigint(21)", "INITIAL_SIZE" "bigint(21)",
        "MAXIMUM_SIZE" "bigint(21)", "AUTOEXTEND_SIZE" "bigint(21)", "CREATION_TIME" "binary(0)",
        "LAST_UPDATE_TIME" "binary(0)", "LAST_ACCESS_TIME" "binary(0)", "RECOVER_TIME" "binary(0)",
        "TRANSACTION_COUNTER" "binary(0)", "VERSION" "bigint(21)", "ROW_FORMAT" "varchar(256)",
        "TABLE_ROWS" "binary(0)", "AVG_ROW_LENGTH" "binary(0)", "DATA_LENGTH" "binary(0)",
        "MAX_DATA_LENGTH" "binary(0)", "INDEX_LENGTH" "binary(0)", "DATA_FREE" "bigint(21)",
        "CREATE_TIME" "binary(0)", "UPDATE_TIME" "binary(0)", "CHECK_TIME" "binary(0)",
        "CHECKSUM" "binary(0)", "STATUS" "varchar(256)", "EXTRA" "varchar(256)",;
    INNODB_BUFFER_PAGE "INNODB_BUFFER_PAGE" "Pages of the buffer pool. Always empty: SQLite has a page cache for each connection instead.":
        "POOL_ID" "bigint(21) unsigned", "BLOCK_ID" "bigint(21) unsigned", "SPACE" "bigint(21) unsigned",
        "PAGE_NUMBER" "bigint(21) unsigned", "PAGE_TYPE" "varchar(64)", "FLUSH_TYPE" "bigint(21) unsigned",
        "FIX_COUNT" "bigint(21) unsigned", "IS_HASHED" "varchar(3)",
        "NEWEST_MODIFICATION" "bigint(21) unsigned", "OLDEST_MODIFICATION" "bigint(21) unsigned",
        "ACCESS_TIME" "bigint(21) unsigned", "TABLE_NAME" "varchar(1024)", "INDEX_NAME" "varchar(1024)",
        "NUMBER_RECORDS" "bigint(21) unsigned", "DATA_SIZE" "bigint(21) unsigned",
        "COMPRESSED_SIZE" "bigint(21) unsigned", "PAGE_STATE" "varchar(64)", "IO_FIX" "varchar(64)",
        "IS_OLD" "varchar(3)", "FREE_PAGE_CLOCK" "bigint(21) unsigned",;
    INNODB_BUFFER_PAGE_LRU "INNODB_BUFFER_PAGE_LRU" "Pages of the buffer pool in LRU order. Always empty: there is no buffer pool.":
        "POOL_ID" "bigint(21) unsigned", "LRU_POSITION" "bigint(21) unsigned", "SPACE" "bigint(21) unsigned",
        "PAGE_NUMBER" "bigint(21) unsigned", "PAGE_TYPE" "varchar(64)", "FLUSH_TYPE" "bigint(21) unsigned",
        "FIX_COUNT" "bigint(21) unsigned", "IS_HASHED" "varchar(3)",
        "NEWEST_MODIFICATION" "bigint(21) unsigned", "OLDEST_MODIFICATION" "bigint(21) unsigned",
        "ACCESS_TIME" "bigint(21) unsigned", "TABLE_NAME" "varchar(1024)", "INDEX_NAME" "varchar(1024)",
        "NUMBER_RECORDS" "bigint(21) unsigned", "DATA_SIZE" "bigint(21) unsigned",
        "COMPRESSED_SIZE" "bigint(21) unsigned", "COMPRESSED" "varchar(3)", "IO_FIX" "varchar(64)",
        "IS_OLD" "varchar(3)", "FREE_PAGE_CLOCK" "bigint(21) unsigned",;
    INNODB_BUFFER_POOL_STATS "INNODB_BUFFER_POOL_STATS" "Statistics of buffer pools. Always empty: there is no buffer pool; see INNODB_METRICS.":
        "POOL_ID" "bigint(21) unsigned", "POOL_SIZE" "bigint(21) unsigned", "FREE_BUFFERS" "bigint(21) unsigned",
        "DATABASE_PAGES" "bigint(21) unsigned", "OLD_DATABASE_PAGES" "bigint(21) unsigned",
        "MODIFIED_DATABASE_PAGES" "bigint(21) unsigned", "PENDING_DECOMPRESS" "bigint(21) unsigned",
        "PENDING_READS" "bigint(21) unsigned", "PENDING_FLUSH_LRU" "bigint(21) unsigned",
        "PENDING_FLUSH_LIST" "bigint(21) unsigned", "PAGES_MADE_YOUNG" "bigint(21) unsigned",
        "PAGES_NOT_MADE_YOUNG" "bigint(21) unsigned", "PAGES_MADE_YOUNG_RATE" "double",
        "PAGES_MADE_NOT_YOUNG_RATE" "double", "NUMBER_PAGES_READ" "bigint(21) unsigned",
        "NUMBER_PAGES_CREATED" "bigint(21) unsigned", "NUMBER_PAGES_WRITTEN" "bigint(21) unsigned",
        "PAGES_READ_RATE" "double", "PAGES_CREATE_RATE" "double", "PAGES_WRITTEN_RATE" "double",
        "NUMBER_PAGES_GET" "bigint(21) unsigned", "HIT_RATE" "bigint(21) unsigned",
        "YOUNG_MAKE_PER_THOUSAND_GETS" "bigint(21) unsigned",
        "NOT_YOUNG_MAKE_PER_THOUSAND_GETS" "bigint(21) unsigned",
        "NUMBER_PAGES_READ_AHEAD" "bigint(21) unsigned", "NUMBER_READ_AHEAD_EVICTED" "bigint(21) unsigned",
        "READ_AHEAD_RATE" "double", "READ_AHEAD_EVICTED_RATE" "double", "LRU_IO_TOTAL" "bigint(21) unsigned",
        "LRU_IO_CURRENT" "bigint(21) unsigned", "UNCOMPRESS_TOTAL" "bigint(21) unsigned",
        "UNCOMPRESS_CURRENT" "bigint(21) unsigned",;
    INNODB_CACHED_INDEXES "INNODB_CACHED_INDEXES" "Cached pages by index. Always empty: not counted.":
        "SPACE_ID" "int(11) unsigned", "INDEX_ID" "bigint(21) unsigned", "N_CACHED_PAGES" "bigint(21) unsigned",;
    INNODB_CMP "INNODB_CMP" "Operations on compressed pages. Always empty: pages are not compressed.":
        "page_size" "int(5)", "compress_ops" "int(11)", "compress_ops_ok" "int(11)", "compress_time" "int(11)",
        "uncompress_ops" "int(11)", "uncompress_time" "int(11)",;
    INNODB_CMP_RESET "INNODB_CMP_RESET" "As INNODB_CMP, and resets. Always empty: pages are not compressed.":
        "page_size" "int(5)", "compress_ops" "int(11)", "compress_ops_ok" "int(11)", "compress_time" "int(11)",
        "uncompress_ops" "int(11)", "uncompress_time" "int(11)",;
    INNODB_CMPMEM "INNODB_CMPMEM" "Compressed pages in the buffer pool. Always empty: pages are not compressed.":
        "page_size" "int(5)", "buffer_pool_instance" "int(11)", "pages_used" "int(11)", "pages_free" "int(11)",
        "relocation_ops" "bigint(21)", "relocation_time" "int(11)",;
    INNODB_CMPMEM_RESET "INNODB_CMPMEM_RESET" "As INNODB_CMPMEM, and resets. Always empty: pages are not compressed.":
        "page_size" "int(5)", "buffer_pool_instance" "int(11)", "pages_used" "int(11)", "pages_free" "int(11)",
        "relocation_ops" "bigint(21)", "relocation_time" "int(11)",;
    INNODB_CMP_PER_INDEX "INNODB_CMP_PER_INDEX" "Compression by index. Always empty: pages are not compressed.":
        "database_name" "varchar(192)", "table_name" "varchar(192)", "index_name" "varchar(192)",
        "compress_ops" "int(11)", "compress_ops_ok" "int(11)", "compress_time" "int(11)",
        "uncompress_ops" "int(11)", "uncompress_time" "int(11)",;
    INNODB_CMP_PER_INDEX_RESET "INNODB_CMP_PER_INDEX_RESET" "As INNODB_CMP_PER_INDEX, and resets. Always empty: pages are not compressed.":
        "database_name" "varchar(192)", "table_name" "varchar(192)", "index_name" "varchar(192)",
        "compress_ops" "int(11)", "compress_ops_ok" "int(11)", "compress_time" "int(11)",
        "uncompress_ops" "int(11)", "uncompress_time" "int(11)",;
    INNODB_FOREIGN "INNODB_FOREIGN" "Foreign keys of the engine. Always empty: REFERENTIAL_CONSTRAINTS lists them.":
        "ID" "varchar(193)", "FOR_NAME" "varchar(193)", "REF_NAME" "varchar(193)", "N_COLS" "bigint(21)",
        "TYPE" "bigint(21) unsigned",;
    INNODB_FOREIGN_COLS "INNODB_FOREIGN_COLS" "Columns of the engine's foreign keys. Always empty: KEY_COLUMN_USAGE lists them.":
        "ID" "varchar(193)", "FOR_COL_NAME" "varchar(193)", "REF_COL_NAME" "varchar(193)",
        "POS" "int(11) unsigned",;
    INNODB_FT_CONFIG "INNODB_FT_CONFIG" "Settings of full-text indexes. Always empty: there are no full-text indexes.":
        "KEY" "varchar(193)", "VALUE" "varchar(193)",;
    INNODB_FT_DEFAULT_STOPWORD "INNODB_FT_DEFAULT_STOPWORD" "Full-text stop words. Always empty: there are no full-text indexes.":
        "value" "varchar(18)",;
    INNODB_FT_DELETED "INNODB_FT_DELETED" "Rows deleted from full-text indexes. Always empty: there are no full-text indexes.":
        "DOC_ID" "bigint(21) unsigned",;
    INNODB_FT_BEING_DELETED "INNODB_FT_BEING_DELETED" "Rows being deleted from full-text indexes. Always empty: there are no full-text indexes.":
        "DOC_ID" "bigint(21) unsigned",;
    INNODB_FT_INDEX_CACHE "INNODB_FT_INDEX_CACHE" "Full-text tokens not yet written. Always empty: there are no full-text indexes.":
        "WORD" "varchar(337)", "FIRST_DOC_ID" "bigint(21) unsigned", "LAST_DOC_ID" "bigint(21) unsigned",
        "DOC_COUNT" "bigint(21) unsigned", "DOC_ID" "bigint(21) unsigned", "POSITION" "bigint(21) unsigned",;
    INNODB_FT_INDEX_TABLE "INNODB_FT_INDEX_TABLE" "Full-text tokens. Always empty: there are no full-text indexes.":
        "WORD" "varchar(337)", "FIRST_DOC_ID" "bigint(21) unsigned", "LAST_DOC_ID" "bigint(21) unsigned",
        "DOC_COUNT" "bigint(21) unsigned", "DOC_ID" "bigint(21) unsigned", "POSITION" "bigint(21) unsigned",;
    INNODB_LOCKS "INNODB_LOCKS" "Row locks, as in MySQL 5.7. Always empty: SQLite has no row locks.":
        "lock_id" "varchar(81)", "lock_trx_id" "varchar(18)", "lock_mode" "varchar(32)",
        "lock_type" "varchar(32)", "lock_table" "varchar(1024)", "lock_index" "varchar(1024)",
        "lock_space" "bigint(21) unsigned", "lock_page" "bigint(21) unsigned", "lock_rec" "bigint(21) unsigned",
        "lock_data" "varchar(8192)",;
    INNODB_LOCK_WAITS "INNODB_LOCK_WAITS" "Waits for row locks, as in MySQL 5.7. Always empty: SQLite has no row locks.":
        "requesting_trx_id" "varchar(18)", "requested_lock_id" "varchar(81)", "blocking_trx_id" "varchar(18)",
        "blocking_lock_id" "varchar(81)",;
    INNODB_SESSION_TEMP_TABLESPACES "INNODB_SESSION_TEMP_TABLESPACES" "Temporary tablespaces of sessions. Always empty: there are none.":
        "ID" "int(11) unsigned", "SPACE" "int(11) unsigned", "PATH" "varchar(4001)",
        "SIZE" "bigint(21) unsigned", "STATE" "varchar(192)", "PURPOSE" "varchar(192)",;
    INNODB_TABLESPACES_BRIEF "INNODB_TABLESPACES_BRIEF" "Tablespaces in brief. Always empty: INNODB_TABLESPACES lists them.":
        "SPACE" "varbinary(256)", "NAME" "varchar(268)", "PATH" "varchar(512)", "FLAG" "varbinary(256)",
        "SPACE_TYPE" "varchar(7)",;
    INNODB_TEMP_TABLE_INFO "INNODB_TEMP_TABLE_INFO" "Temporary tables of all sessions. Always empty: a session's temporary tables are not visible to others.":
        "TABLE_ID" "bigint(21) unsigned", "NAME" "varchar(64)", "N_COLS" "int(11) unsigned",
        "SPACE" "int(11) unsigned",;
    INNODB_VIRTUAL "INNODB_VIRTUAL" "Virtual generated columns. Always empty: INNODB_COLUMNS lists all columns.":
        "TABLE_ID" "bigint(21) unsigned", "POS" "int(11) unsigned", "BASE_POS" "int(11) unsigned",;
    OPTIMIZER_TRACE "OPTIMIZER_TRACE" "Optimizer traces. Always empty: the optimizer is not traced.":
        "QUERY" "varchar(65535)", "TRACE" "varchar(65535)", "MISSING_BYTES_BEYOND_MAX_MEM_SIZE" "int(20)",
        "INSUFFICIENT_PRIVILEGES" "tinyint(1)",;
    PROFILING "PROFILING" "Statement profiles. Always empty: use events_stages_history_long.":
        "QUERY_ID" "int(20)", "SEQ" "int(20)", "STATE" "varchar(30)", "DURATION" "decimal(9,6)",
        "CPU_USER" "decimal(9,6)", "CPU_SYSTEM" "decimal(9,6)", "CONTEXT_VOLUNTARY" "int(20)",
        "CONTEXT_INVOLUNTARY" "int(20)", "BLOCK_OPS_IN" "int(20)", "BLOCK_OPS_OUT" "int(20)",
        "MESSAGES_SENT" "int(20)", "MESSAGES_RECEIVED" "int(20)", "PAGE_FAULTS_MAJOR" "int(20)",
        "PAGE_FAULTS_MINOR" "int(20)", "SWAPS" "int(20)", "SOURCE_FUNCTION" "varchar(30)",
        "SOURCE_FILE" "varchar(20)", "SOURCE_LINE" "int(20)",;
    RESOURCE_GROUPS "RESOURCE_GROUPS" "Resource groups. Always empty: they are not supported.":
        "RESOURCE_GROUP_NAME" "varchar(64)", "RESOURCE_GROUP_TYPE" "enum('SYSTEM','USER')",
        "RESOURCE_GROUP_ENABLED" "tinyint(1)", "VCPU_IDS" "blob", "THREAD_PRIORITY" "int(11)",;
    ST_GEOMETRY_COLUMNS "ST_GEOMETRY_COLUMNS" "Spatial columns. Always empty: spatial types are not supported.":
        "TABLE_CATALOG" "varchar(64)", "TABLE_SCHEMA" "varchar(64)", "TABLE_NAME" "varchar(64)",
        "COLUMN_NAME" "varchar(64)", "SRS_NAME" "varchar(80)", "SRS_ID" "int(10) unsigned",
        "GEOMETRY_TYPE_NAME" "longtext",;
    ST_SPATIAL_REFERENCE_SYSTEMS "ST_SPATIAL_REFERENCE_SYSTEMS" "Spatial reference systems. Always empty: spatial types are not supported.":
        "SRS_NAME" "varchar(80)", "SRS_ID" "int(10) unsigned", "ORGANIZATION" "varchar(256)",
        "ORGANIZATION_COORDSYS_ID" "int(10) unsigned", "DEFINITION" "varchar(4096)",
        "DESCRIPTION" "varchar(2048)",;
    VIEW_ROUTINE_USAGE "VIEW_ROUTINE_USAGE" "Stored functions that views call. Always empty: not recorded.":
        "TABLE_CATALOG" "varchar(64)", "TABLE_SCHEMA" "varchar(64)", "TABLE_NAME" "varchar(64)",
        "SPECIFIC_CATALOG" "varchar(64)", "SPECIFIC_SCHEMA" "varchar(64)", "SPECIFIC_NAME" "varchar(64)",;
    VIEW_TABLE_USAGE "VIEW_TABLE_USAGE" "Tables that views use. Always empty: not recorded.":
        "VIEW_CATALOG" "varchar(64)", "VIEW_SCHEMA" "varchar(64)", "VIEW_NAME" "varchar(64)",
        "TABLE_CATALOG" "varchar(64)", "TABLE_SCHEMA" "varchar(64)", "TABLE_NAME" "varchar(64)",;
    TRIGGERS "TRIGGERS" "Triggers. Always empty: triggers are not supported.":
        "TRIGGER_CATALOG" "varchar(64)", "TRIGGER_SCHEMA" "varchar(64)", "TRIGGER_NAME" "varchar(64)",
        "EVENT_MANIPULATION" "enum('INSERT','UPDATE','DELETE')", "EVENT_OBJECT_CATALOG" "varchar(64)",
        "EVENT_OBJECT_SCHEMA" "varchar(64)", "EVENT_OBJECT_TABLE" "varchar(64)",
        "ACTION_ORDER" "int(10) unsigned", "ACTION_CONDITION" "binary(0)", "ACTION_STATEMENT" "longtext",
        "ACTION_ORIENTATION" "varchar(3)", "ACTION_TIMING" "enum('BEFORE','AFTER')",
        "ACTION_REFERENCE_OLD_TABLE" "binary(0)", "ACTION_REFERENCE_NEW_TABLE" "binary(0)",
        "ACTION_REFERENCE_OLD_ROW" "varchar(3)", "ACTION_REFERENCE_NEW_ROW" "varchar(3)",
        "CREATED" "timestamp(2)", "SQL_MODE" "text", "DEFINER" "varchar(93)",
        "CHARACTER_SET_CLIENT" "varchar(64)", "COLLATION_CONNECTION" "varchar(64)",
        "DATABASE_COLLATION" "varchar(64)",;
    EVENTS "EVENTS" "Scheduled events. Always empty: events are not supported.":
        "EVENT_CATALOG" "varchar(64)", "EVENT_SCHEMA" "varchar(64)", "EVENT_NAME" "varchar(64)",
        "DEFINER" "varchar(93)", "TIME_ZONE" "varchar(64)", "EVENT_BODY" "varchar(3)",
        "EVENT_DEFINITION" "longtext", "EVENT_TYPE" "varchar(9)", "EXECUTE_AT" "datetime",
        "INTERVAL_VALUE" "varchar(256)", "INTERVAL_FIELD" "varchar(18)", "SQL_MODE" "text",
        "STARTS" "datetime", "ENDS" "datetime", "STATUS" "varchar(18)", "ON_COMPLETION" "varchar(12)",
        "CREATED" "timestamp", "LAST_ALTERED" "timestamp", "LAST_EXECUTED" "datetime",
        "EVENT_COMMENT" "varchar(2048)", "ORIGINATOR" "int(10) unsigned",
        "CHARACTER_SET_CLIENT" "varchar(64)", "COLLATION_CONNECTION" "varchar(64)",
        "DATABASE_COLLATION" "varchar(64)",;
    PARTITIONS "PARTITIONS" "Partitions. Always empty: partitioning is not supported.":
        "TABLE_CATALOG" "varchar(64)", "TABLE_SCHEMA" "varchar(64)", "TABLE_NAME" "varchar(64)",
        "PARTITION_NAME" "varchar(64)", "SUBPARTITION_NAME" "varchar(64)",
        "PARTITION_ORDINAL_POSITION" "int(10) unsigned", "SUBPARTITION_ORDINAL_POSITION" "int(10) unsigned",
        "PARTITION_METHOD" "varchar(13)", "SUBPARTITION_METHOD" "varchar(13)",
        "PARTITION_EXPRESSION" "varchar(2048)", "SUBPARTITION_EXPRESSION" "varchar(2048)",
        "PARTITION_DESCRIPTION" "text", "TABLE_ROWS" "bigint(21) unsigned",
        "AVG_ROW_LENGTH" "bigint(21) unsigned", "DATA_LENGTH" "bigint(21) unsigned",
        "MAX_DATA_LENGTH" "bigint(21) unsigned", "INDEX_LENGTH" "bigint(21) unsigned",
        "DATA_FREE" "bigint(21) unsigned", "CREATE_TIME" "timestamp", "UPDATE_TIME" "datetime",
        "CHECK_TIME" "datetime", "CHECKSUM" "bigint(21)", "PARTITION_COMMENT" "text",
        "NODEGROUP" "varchar(256)", "TABLESPACE_NAME" "varchar(259)",;
    SCHEMA_PRIVILEGES "SCHEMA_PRIVILEGES" "Schema privileges. Always empty: privileges are global; see USER_PRIVILEGES.":
        "GRANTEE" "varchar(292)", "TABLE_CATALOG" "varchar(512)", "TABLE_SCHEMA" "varchar(64)",
        "PRIVILEGE_TYPE" "varchar(64)", "IS_GRANTABLE" "varchar(3)",;
    TABLE_PRIVILEGES "TABLE_PRIVILEGES" "Table privileges. Always empty: privileges are global; see USER_PRIVILEGES.":
        "GRANTEE" "varchar(292)", "TABLE_CATALOG" "varchar(512)", "TABLE_SCHEMA" "varchar(64)",
        "TABLE_NAME" "varchar(64)", "PRIVILEGE_TYPE" "varchar(64)", "IS_GRANTABLE" "varchar(3)",;
    COLUMN_PRIVILEGES "COLUMN_PRIVILEGES" "Column privileges. Always empty: privileges are global; see USER_PRIVILEGES.":
        "GRANTEE" "varchar(292)", "TABLE_CATALOG" "varchar(512)", "TABLE_SCHEMA" "varchar(64)",
        "TABLE_NAME" "varchar(64)", "COLUMN_NAME" "varchar(64)", "PRIVILEGE_TYPE" "varchar(64)",
        "IS_GRANTABLE" "varchar(3)",;
}
