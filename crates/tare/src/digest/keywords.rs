//! Keywords, and their spelling in a digest.
//!
//! A digest consists of tokens, and synonyms share a token: `DATABASE` and `SCHEMA` give one digest.
//! Its text has the token's last name in MySQL's own table, for example `SHOW SCHEMAS`, `DISTINCTROW`
//! and `SQL_TSI_DAY`.

/// The expression may begin after this word, so a sign after it is unary and folds into the
/// literal.
pub(super) const STARTS_EXPRESSION: u8 = 1;
/// A `NULL` after this word is a value, not part of a clause such as `NOT NULL`.
pub(super) const TAKES_NULL: u8 = 1 << 1;
/// The word is a keyword only when `(` follows.
pub(super) const FUNCTION: u8 = 1 << 2;
/// An optimizer hint may follow at once.
pub(super) const TAKES_HINT: u8 = 1 << 3;
/// The word is `IN`.
pub(super) const IN: u8 = 1 << 4;
/// The word is `NULL`.
pub(super) const NULL: u8 = 1 << 5;
/// The word names an optimizer hint: a keyword inside `/*+ */`.
pub(super) const HINT: u8 = 1 << 6;
/// The word is a keyword outside `/*+ */`.
pub(super) const ORDINARY: u8 = 1 << 7;

/// Words that are keywords everywhere (MySQL 8.0 manual, "Keywords and Reserved Words"; a digest does
/// not depend on whether they are reserved).
const WORDS: &str = "\
ACCESSIBLE ACCOUNT ACTION ACTIVE ADD ADMIN AFTER AGAINST AGGREGATE ALGORITHM ALL ALTER \
ALWAYS ANALYZE AND ANY ARRAY AS ASC ASCII ASENSITIVE AT ATTRIBUTE AUTHENTICATION \
AUTOEXTEND_SIZE AUTO_INCREMENT AVG AVG_ROW_LENGTH BACKUP BEFORE BEGIN BETWEEN BIGINT BINARY \
BINLOG BIT BLOB BLOCK BOOL BOOLEAN BOTH BTREE BUCKETS BULK BY BYTE CACHE CALL CASCADE \
CASCADED CASE CATALOG_NAME CHAIN CHALLENGE_RESPONSE CHANGE CHANGED CHANNEL CHAR CHARACTER \
CHARSET CHECK CHECKSUM CIPHER CLASS_ORIGIN CLIENT CLONE CLOSE COALESCE CODE COLLATE \
COLLATION COLUMN COLUMNS COLUMN_FORMAT COLUMN_NAME COMMENT COMMIT COMMITTED COMPACT \
COMPLETION COMPONENT COMPRESSED COMPRESSION CONCURRENT CONDITION CONNECTION CONSISTENT \
CONSTRAINT CONSTRAINT_CATALOG CONSTRAINT_NAME CONSTRAINT_SCHEMA CONTAINS CONTEXT CONTINUE \
CONVERT CPU CREATE CROSS CUBE CUME_DIST CURDATE CURRENT CURRENT_DATE CURRENT_TIME \
CURRENT_TIMESTAMP CURRENT_USER CURSOR CURSOR_NAME CURTIME DATA DATABASE DATABASES DATAFILE \
DATE DATETIME DAY DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEALLOCATE DEC DECIMAL \
DECLARE DEFAULT DEFAULT_AUTH DEFINER DEFINITION DELAYED DELAY_KEY_WRITE DELETE DENSE_RANK \
DESC DESCRIBE DESCRIPTION DETERMINISTIC DIAGNOSTICS DIRECTORY DISABLE DISCARD DISK DISTINCT \
DISTINCTROW DIV DO DOUBLE DROP DUAL DUMPFILE DUPLICATE DYNAMIC EACH ELSE ELSEIF EMPTY ENABLE \
ENCLOSED ENCRYPTION END ENDS ENFORCED ENGINE ENGINES ENGINE_ATTRIBUTE ENUM ERROR ERRORS \
ESCAPE ESCAPED EVENT EVENTS EVERY EXCEPT EXCHANGE EXCLUDE EXECUTE EXISTS EXIT EXPANSION \
EXPIRE EXPLAIN EXPORT EXTENDED EXTENT_SIZE FACTOR FAILED_LOGIN_ATTEMPTS FALSE FAST FAULTS \
FETCH FIELDS FILE FILE_BLOCK_SIZE FILTER FINISH FIRST FIRST_VALUE FIXED FLOAT FLOAT4 FLOAT8 \
FLUSH FOLLOWING FOLLOWS FOR FORCE FOREIGN FORMAT FOUND FROM FULL FULLTEXT FUNCTION GENERAL \
GENERATE GENERATED GEOMCOLLECTION GEOMETRY GEOMETRYCOLLECTION GET GET_FORMAT \
GET_MASTER_PUBLIC_KEY GET_SOURCE_PUBLIC_KEY GLOBAL GRANT GRANTS GROUP GROUPING GROUPS \
GROUP_REPLICATION GTID_ONLY HANDLER HASH HAVING HELP HIGH_PRIORITY HISTOGRAM HISTORY HOST \
HOSTS HOUR HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IDENTIFIED IF IGNORE IGNORE_SERVER_IDS \
IMPORT IN INACTIVE INDEX INDEXES INFILE INITIAL INITIAL_SIZE INITIATE INNER INOUT \
INSENSITIVE INSERT INSERT_METHOD INSTALL INSTANCE INT INT1 INT2 INT3 INT4 INT8 INTEGER \
INTERSECT INTERVAL INTO INVISIBLE INVOKER IO IO_AFTER_GTIDS IO_BEFORE_GTIDS IO_THREAD IPC IS \
ISOLATION ISSUER ITERATE JOIN JSON JSON_TABLE JSON_VALUE KEY KEYRING KEYS KEY_BLOCK_SIZE \
KILL LAG LANGUAGE LAST LAST_VALUE LATERAL LEAD LEADING LEAVE LEAVES LEFT LESS LEVEL LIKE \
LIMIT LINEAR LINES LINESTRING LIST LOAD LOCAL LOCALTIME LOCALTIMESTAMP LOCK LOCKED LOCKS \
LOGFILE LOGS LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY MASTER MASTER_AUTO_POSITION \
MASTER_BIND MASTER_COMPRESSION_ALGORITHMS MASTER_CONNECT_RETRY MASTER_DELAY \
MASTER_HEARTBEAT_PERIOD MASTER_HOST MASTER_LOG_FILE MASTER_LOG_POS MASTER_PASSWORD \
MASTER_PORT MASTER_PUBLIC_KEY_PATH MASTER_RETRY_COUNT MASTER_SSL MASTER_SSL_CA \
MASTER_SSL_CAPATH MASTER_SSL_CERT MASTER_SSL_CIPHER MASTER_SSL_CRL MASTER_SSL_CRLPATH \
MASTER_SSL_KEY MASTER_SSL_VERIFY_SERVER_CERT MASTER_TLS_CIPHERSUITES MASTER_TLS_VERSION \
MASTER_USER MASTER_ZSTD_COMPRESSION_LEVEL MATCH MAXVALUE MAX_CONNECTIONS_PER_HOUR \
MAX_QUERIES_PER_HOUR MAX_ROWS MAX_SIZE MAX_UPDATES_PER_HOUR MAX_USER_CONNECTIONS MEDIUM \
MEDIUMBLOB MEDIUMINT MEDIUMTEXT MEMBER MEMORY MERGE MESSAGE_TEXT MICROSECOND MIDDLEINT \
MIGRATE MINUTE MINUTE_MICROSECOND MINUTE_SECOND MIN_ROWS MOD MODE MODIFIES MODIFY MONTH \
MULTILINESTRING MULTIPOINT MULTIPOLYGON MUTEX MYSQL_ERRNO NAME NAMES NATIONAL NATURAL NCHAR \
NDB NDBCLUSTER NESTED NETWORK_NAMESPACE NEVER NEW NEXT NO NODEGROUP NONE NOT NOW NOWAIT \
NO_WAIT NO_WRITE_TO_BINLOG NTH_VALUE NTILE NULL NULLS NUMBER NUMERIC NVARCHAR OF OFF OFFSET \
OJ OLD ON ONE ONLY OPEN OPTIMIZE OPTIMIZER_COSTS OPTION OPTIONAL OPTIONALLY OPTIONS OR ORDER \
ORDINALITY ORGANIZATION OTHERS OUT OUTER OUTFILE OVER OWNER PACK_KEYS PAGE PARSER PARTIAL \
PARTITION PARTITIONING PARTITIONS PASSWORD PASSWORD_LOCK_TIME PATH PERCENT_RANK PERSIST \
PERSIST_ONLY PHASE PLUGIN PLUGINS PLUGIN_DIR POINT POLYGON PORT PRECEDES PRECEDING PRECISION \
PREPARE PRESERVE PREV PRIMARY PRIVILEGES PRIVILEGE_CHECKS_USER PROCEDURE PROCESS PROCESSLIST \
PROFILE PROFILES PROXY PURGE QUARTER QUERY QUICK RANDOM RANGE RANK READ READS READ_ONLY \
READ_WRITE REAL REBUILD RECOVER RECURSIVE REDO_BUFFER_SIZE REDUNDANT REFERENCE REFERENCES \
REGEXP REGISTRATION RELAY RELAYLOG RELAY_LOG_FILE RELAY_LOG_POS RELAY_THREAD RELEASE RELOAD \
REMOVE RENAME REORGANIZE REPAIR REPEAT REPEATABLE REPLACE REPLICA REPLICAS REPLICATE_DO_DB \
REPLICATE_DO_TABLE REPLICATE_IGNORE_DB REPLICATE_IGNORE_TABLE REPLICATE_REWRITE_DB \
REPLICATE_WILD_DO_TABLE REPLICATE_WILD_IGNORE_TABLE REPLICATION REQUIRE REQUIRE_ROW_FORMAT \
RESET RESIGNAL RESOURCE RESPECT RESTART RESTORE RESTRICT RESUME RETAIN RETURN \
RETURNED_SQLSTATE RETURNING RETURNS REUSE REVERSE REVOKE RIGHT RLIKE ROLE ROLLBACK ROLLUP \
ROTATE ROUTINE ROW ROWS ROW_COUNT ROW_FORMAT ROW_NUMBER RTREE SAVEPOINT SCHEDULE SCHEMA \
SCHEMAS SCHEMA_NAME SECOND SECONDARY SECONDARY_ENGINE SECONDARY_ENGINE_ATTRIBUTE \
SECONDARY_LOAD SECONDARY_UNLOAD SECOND_MICROSECOND SECURITY SELECT SENSITIVE SEPARATOR \
SERIAL SERIALIZABLE SERVER SESSION SET SHARE SHOW SHUTDOWN SIGNAL SIGNED SIMPLE SKIP SLAVE \
SLOW SMALLINT SNAPSHOT SOCKET SOME SONAME SOUNDS SOURCE SOURCE_AUTO_POSITION SOURCE_BIND \
SOURCE_COMPRESSION_ALGORITHMS SOURCE_CONNECT_RETRY SOURCE_DELAY SOURCE_HEARTBEAT_PERIOD \
SOURCE_HOST SOURCE_LOG_FILE SOURCE_LOG_POS SOURCE_PASSWORD SOURCE_PORT \
SOURCE_PUBLIC_KEY_PATH SOURCE_RETRY_COUNT SOURCE_SSL SOURCE_SSL_CA SOURCE_SSL_CAPATH \
SOURCE_SSL_CERT SOURCE_SSL_CIPHER SOURCE_SSL_CRL SOURCE_SSL_CRLPATH SOURCE_SSL_KEY \
SOURCE_SSL_VERIFY_SERVER_CERT SOURCE_TLS_CIPHERSUITES SOURCE_TLS_VERSION SOURCE_USER \
SOURCE_ZSTD_COMPRESSION_LEVEL SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING \
SQL_AFTER_GTIDS SQL_AFTER_MTS_GAPS SQL_BEFORE_GTIDS SQL_BIG_RESULT SQL_BUFFER_RESULT \
SQL_CALC_FOUND_ROWS SQL_NO_CACHE SQL_SMALL_RESULT SQL_THREAD SQL_TSI_DAY SQL_TSI_HOUR \
SQL_TSI_MINUTE SQL_TSI_MONTH SQL_TSI_QUARTER SQL_TSI_SECOND SQL_TSI_WEEK SQL_TSI_YEAR SRID \
SSL STACKED START STARTING STARTS STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES \
STATUS STOP STORAGE STORED STRAIGHT_JOIN STREAM STRING SUBCLASS_ORIGIN SUBJECT SUBPARTITION \
SUBPARTITIONS SUPER SUSPEND SWAPS SWITCHES SYSTEM SYSTEM_USER TABLE TABLES TABLESPACE \
TABLE_CHECKSUM TABLE_NAME TEMPORARY TEMPTABLE TERMINATED TEXT THAN THEN THREAD_PRIORITY TIES \
TIME TIMESTAMP TIMESTAMPADD TIMESTAMPDIFF TINYBLOB TINYINT TINYTEXT TLS TO TRAILING \
TRANSACTION TRIGGER TRIGGERS TRUE TRUNCATE TYPE TYPES UNBOUNDED UNCOMMITTED UNDEFINED UNDO \
UNDOFILE UNDO_BUFFER_SIZE UNICODE UNINSTALL UNION UNIQUE UNKNOWN UNLOCK UNREGISTER UNSIGNED \
UNTIL UPDATE UPGRADE URL USAGE USE USER USER_RESOURCES USE_FRM USING UTC_DATE UTC_TIME \
UTC_TIMESTAMP VALIDATION VALUE VALUES VARBINARY VARCHAR VARCHARACTER VARIABLES VARYING VCPU \
VIEW VIRTUAL VISIBLE WAIT WARNINGS WEEK WEIGHT_STRING WHEN WHERE WHILE WINDOW WITH WITHOUT \
WORK WRAPPER WRITE X509 XA XID XML XOR YEAR YEAR_MONTH ZEROFILL ZONE";

/// Names that are keywords only when an opening parenthesis follows.
const FUNCTIONS: &str = "\
ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT DATE_ADD DATE_SUB EXTRACT GROUP_CONCAT \
JSON_ARRAYAGG JSON_OBJECTAGG MAX MID MIN POSITION SESSION_USER STD STDDEV STDDEV_POP \
STDDEV_SAMP ST_COLLECT SUBDATE SUBSTR SUBSTRING SUM SYSDATE TRIM VARIANCE VAR_POP VAR_SAMP";

/// Names of optimizer hints that are no keywords elsewhere.
const HINTS: &str = "\
BKA BNL DERIVED_CONDITION_PUSHDOWN DUPSWEEDOUT FIRSTMATCH GROUP_INDEX HASH_JOIN INDEX_MERGE \
INTOEXISTS JOIN_FIXED_ORDER JOIN_INDEX JOIN_ORDER JOIN_PREFIX JOIN_SUFFIX \
LOOSESCAN MATERIALIZATION MAX_EXECUTION_TIME MRR NO_BKA NO_BNL \
NO_DERIVED_CONDITION_PUSHDOWN NO_GROUP_INDEX NO_HASH_JOIN NO_ICP NO_INDEX NO_INDEX_MERGE \
NO_JOIN_INDEX NO_MERGE NO_MRR NO_ORDER_INDEX NO_RANGE_OPTIMIZATION NO_SEMIJOIN NO_SKIP_SCAN \
ORDER_INDEX QB_NAME RESOURCE_GROUP SEMIJOIN SET_VAR SKIP_SCAN SUBQUERY";

/// Keywords that name an optimizer hint too.
const SHARED_HINTS: &str = "INDEX MERGE";

/// Synonyms, each with its name in a digest.
const SYNONYMS: &[(&str, &str)] = &[
    ("ANY", "SOME"),
    ("BIGINT", "INT8"),
    ("CHAR", "CHARACTER"),
    ("COLUMNS", "FIELDS"),
    ("CURRENT_DATE", "CURDATE"),
    ("CURRENT_TIME", "CURTIME"),
    ("CURRENT_TIMESTAMP", "NOW"),
    ("DATABASE", "SCHEMA"),
    ("DATABASES", "SCHEMAS"),
    ("DAY", "SQL_TSI_DAY"),
    ("DEC", "DECIMAL"),
    ("DESCRIBE", "EXPLAIN"),
    ("DISTINCT", "DISTINCTROW"),
    ("DOUBLE", "FLOAT8"),
    ("FLOAT", "FLOAT4"),
    ("GEOMCOLLECTION", "GEOMETRYCOLLECTION"),
    ("HOUR", "SQL_TSI_HOUR"),
    ("INDEXES", "KEYS"),
    ("INT", "INTEGER"),
    ("INT1", "TINYINT"),
    ("INT2", "SMALLINT"),
    ("INT3", "MIDDLEINT"),
    ("INT4", "INTEGER"),
    ("IO_THREAD", "RELAY_THREAD"),
    ("LOCALTIME", "NOW"),
    ("LOCALTIMESTAMP", "NOW"),
    ("MEDIUMINT", "MIDDLEINT"),
    ("MID", "SUBSTRING"),
    ("MINUTE", "SQL_TSI_MINUTE"),
    ("MONTH", "SQL_TSI_MONTH"),
    ("NDB", "NDBCLUSTER"),
    ("QUARTER", "SQL_TSI_QUARTER"),
    ("REGEXP", "RLIKE"),
    ("SECOND", "SQL_TSI_SECOND"),
    ("SESSION_USER", "SYSTEM_USER"),
    ("SQL_TSI_WEEK", "WEEK"),
    ("SQL_TSI_YEAR", "YEAR"),
    ("STD", "STDDEV_POP"),
    ("STDDEV", "STDDEV_POP"),
    ("SUBSTR", "SUBSTRING"),
    ("USER", "SYSTEM_USER"),
    ("VARCHAR", "VARCHARACTER"),
    ("VARIANCE", "VAR_POP"),
];

/// After these words a sign is part of the number behind it, as in MySQL 9.7 (8.0 lacks `THEN` and
/// `ELSE`). `WHERE`, `ON` and `BY` are not among them: MySQL writes `ORDER BY -1` as `ORDER BY - ?`,
/// and so do we.
const EXPRESSION_STARTERS: &str = "\
AND AT BETWEEN CASE DEFAULT DIV ELSE ELSEIF ENDS EVERY IF INTERVAL LIKE MOD NOT OR REGEXP RETURN \
RLIKE SELECT STARTS THEN UNTIL WHEN WHILE XOR";

/// After these words a `NULL` is a value.
const NULL_TAKERS: &str = "\
ALL AND BETWEEN BY CASE DEFAULT DISTINCT DISTINCTROW DIV ELSE ELSEIF ESCAPE HAVING IF INTERVAL \
LIKE LIMIT MOD OFFSET ON OR REGEXP RETURN RLIKE SELECT THEN UNTIL USING VALUE WHEN WHERE WHILE XOR";

const HINT_TAKERS: &str = "DELETE INSERT REPLACE SELECT UPDATE";

/// Longest keyword; a longer word need not be looked up.
pub(super) const LONGEST: usize = 32;

/// A keyword: its spelling in a digest, and its effect on its neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyword {
    pub(super) text: &'static str,
    pub(super) flags: u8,
}

const LISTS: [&str; 3] = [WORDS, FUNCTIONS, HINTS];
/// In the order of the lists: where functions start, where hints start, where they end.
const FUNCTIONS_AT: usize = count(WORDS);
const HINTS_AT: usize = FUNCTIONS_AT + count(FUNCTIONS);
const COUNT: usize = HINTS_AT + count(HINTS);
/// Twice the words and more, so that a probe is short; a power of two, so that it is masked.
const SLOTS: usize = 2048;
const _: () = assert!(COUNT * 2 <= SLOTS);

static NAMES: [&str; COUNT] = names();
static TABLE: [u16; SLOTS] = index();
static KEYWORDS: [Keyword; COUNT] = build();

/// Finds `word`, in any letter case.
pub(super) fn find(word: &[u8]) -> Option<Keyword> {
    if word.len() > LONGEST {
        return None;
    }
    let mut slot = hash(word);
    loop {
        let at = (TABLE[slot] as usize).checked_sub(1)?;
        if NAMES[at].as_bytes().eq_ignore_ascii_case(word) {
            return Some(KEYWORDS[at]);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The same for upper and lower case: the bit that distinguishes them is dropped.
const fn hash(word: &[u8]) -> usize {
    let mut hash = word.len() as u32;
    let mut at = 0;
    while at < word.len() {
        hash = hash.wrapping_mul(31) ^ (word[at] & 0xdf) as u32;
        at += 1;
    }
    (hash.wrapping_mul(0x9e37_79b1) >> 16) as usize % SLOTS
}

const fn names() -> [&'static str; COUNT] {
    let mut names = [""; COUNT];
    let mut filled = 0;
    let mut list = 0;
    while list < LISTS.len() {
        let mut at = 0;
        while at < LISTS[list].len() {
            let end = word_end(LISTS[list], at);
            assert!(end - at <= LONGEST);
            names[filled] = part(LISTS[list], at, end);
            filled += 1;
            at = end + 1;
        }
        list += 1;
    }
    names
}

const fn index() -> [u16; SLOTS] {
    let names = names();
    let mut table = [0; SLOTS];
    let mut at = 0;
    while at < COUNT {
        let mut slot = hash(names[at].as_bytes());
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = at as u16 + 1;
        at += 1;
    }
    table
}

const fn build() -> [Keyword; COUNT] {
    let (names, table) = (names(), index());
    let mut keywords = [Keyword { text: "", flags: 0 }; COUNT];
    let mut at = 0;
    while at < COUNT {
        let flags = if at < FUNCTIONS_AT {
            ORDINARY
        } else if at < HINTS_AT {
            ORDINARY | FUNCTION
        } else {
            HINT
        };
        keywords[at] = Keyword {
            text: names[at],
            flags,
        };
        at += 1;
    }
    let marks = [
        (EXPRESSION_STARTERS, STARTS_EXPRESSION),
        (NULL_TAKERS, TAKES_NULL),
        (HINT_TAKERS, TAKES_HINT),
        (SHARED_HINTS, HINT),
        ("IN", IN),
        ("NULL", NULL),
    ];
    let mut mark = 0;
    while mark < marks.len() {
        let (list, flag) = marks[mark];
        let mut at = 0;
        while at < list.len() {
            let end = word_end(list, at);
            keywords[position(&names, &table, part(list, at, end))].flags |= flag;
            at = end + 1;
        }
        mark += 1;
    }
    let mut at = 0;
    while at < SYNONYMS.len() {
        let (name, text) = SYNONYMS[at];
        keywords[position(&names, &table, name)].text = text;
        at += 1;
    }
    keywords
}

/// Index of `name`, which is checked to be a keyword at compile time.
const fn position(names: &[&'static str; COUNT], table: &[u16; SLOTS], name: &str) -> usize {
    let mut slot = hash(name.as_bytes());
    loop {
        assert!(table[slot] != 0, "not a keyword");
        let at = table[slot] as usize - 1;
        if same(names[at], name) {
            return at;
        }
        slot = (slot + 1) % SLOTS;
    }
}

const fn count(list: &str) -> usize {
    let mut words = 0;
    let mut at = 0;
    while at < list.len() {
        words += 1;
        at = word_end(list, at) + 1;
    }
    words
}

const fn word_end(list: &str, from: usize) -> usize {
    let mut at = from;
    while at < list.len() && list.as_bytes()[at] != b' ' {
        at += 1;
    }
    at
}

const fn part(list: &'static str, from: usize, to: usize) -> &'static str {
    list.split_at(to).0.split_at(from).1
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Character sets that may stand before a literal, as in `_utf8mb4'text'`.
const CHARACTER_SETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850",
    "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8",
    "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7",
    "macce", "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32",
    "utf8", "utf8mb3", "utf8mb4",
];

/// Is `word` (with its underscore) a character set introducer?
pub(super) fn is_introducer(word: &[u8]) -> bool {
    matches!(word, [b'_', name @ ..]
        if CHARACTER_SETS.iter().any(|set| set.as_bytes().eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_in_any_case() {
        for word in ["select", "SELECT", "SeLeCt"] {
            assert_eq!(
                find(word.as_bytes()).map(|keyword| keyword.text),
                Some("SELECT")
            );
        }
        assert!(find(b"sbtest1").is_none());
        assert!(find(b"").is_none());
        assert!(find(&[b'A'; 1000]).is_none());
        assert!(find(b"\xd3\xc5LECT").is_none());
    }

    #[test]
    fn every_word_has_a_unique_name() {
        let mut texts = std::collections::BTreeMap::new();
        for (name, keyword) in NAMES.iter().zip(&KEYWORDS) {
            let first = *texts.entry(*name).or_insert(keyword.text);
            assert_eq!(
                find(name.as_bytes()).map(|keyword| keyword.text),
                Some(first),
                "{name}"
            );
        }
        assert!(texts.len() > 780);
    }

    /// A text that is normalised twice must not change.
    #[test]
    fn canonical_names_are_their_own() {
        for (name, canonical) in SYNONYMS {
            assert!(find(name.as_bytes()).is_some(), "{name} is no keyword");
            let keyword = find(canonical.as_bytes()).unwrap_or_else(|| panic!("{canonical}"));
            assert_eq!(keyword.text, *canonical);
            let from = find(name.as_bytes()).map(|keyword| keyword.flags & FUNCTION);
            assert!(
                from != Some(0) || keyword.flags & FUNCTION == 0,
                "{name} -> {canonical}"
            );
        }
    }
}
