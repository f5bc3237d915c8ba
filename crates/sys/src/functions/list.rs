//! Which functions schema sys has.

use tare_dialect::function::Evaluation::{Immutable, Stable};

use super::{Body, Function, function};
use crate::{arguments, native};

const YES_NO: &str = "enum('YES','NO')";
const ID: &str = "bigint(20) unsigned";

/// Every function, by name.
pub static FUNCTIONS: [Function; 27] = [
    function(
        "extract_schema_from_file_name",
        "The database that a file's path belongs to.",
        &[("path", "varchar(512)")],
        "varchar(64)",
        Body::Native(Immutable, native::extract_schema_from_file_name),
    ),
    function(
        "extract_table_from_file_name",
        "The table that a file's path belongs to, where a table has a file of its own.",
        &[("path", "varchar(512)")],
        "varchar(64)",
        Body::Native(Immutable, native::extract_table_from_file_name),
    ),
    function(
        "format_bytes",
        "Formats a number of bytes, as 4.00 KiB.",
        &[("bytes", "text")],
        "text",
        Body::Native(Immutable, native::format_bytes),
    ),
    function(
        "format_path",
        "Shortens a path: a leading directory that is the value of a system variable, such as \
         @@datadir, becomes that variable's name.",
        &[("in_path", "varchar(512)")],
        "varchar(512)",
        Body::Native(Stable, native::format_path),
    ),
    function(
        "format_statement",
        "Shortens a statement to @sys.statement_truncate_len characters by cutting out the middle.",
        &[("statement", "longtext")],
        "longtext",
        Body::Native(Stable, native::format_statement),
    ),
    function(
        "format_time",
        "Formats a time in picoseconds, as 1.50 ms.",
        &[("picoseconds", "text")],
        "text",
        Body::Native(Immutable, native::format_time),
    ),
    function(
        "list_add",
        "Adds a value to a comma-separated list such as sql_mode.",
        &[("in_list", "text"), ("in_add_value", "text")],
        "text",
        Body::Native(Immutable, native::list_add),
    ),
    function(
        "list_drop",
        "Removes a value from a comma-separated list.",
        &[("in_list", "text"), ("in_drop_value", "text")],
        "text",
        Body::Native(Immutable, native::list_drop),
    ),
    function(
        "ps_is_account_enabled",
        "Whether setup_actors enables instrumentation for an account.",
        &[("in_host", "varchar(60)"), ("in_user", "varchar(32)")],
        YES_NO,
        Body::Select(include_str!("ps_is_account_enabled.sql")),
    ),
    function(
        "ps_is_consumer_enabled",
        "Whether a consumer and all consumers above it are enabled.",
        &[("in_consumer", "varchar(64)")],
        YES_NO,
        Body::Select(include_str!("ps_is_consumer_enabled.sql")),
    ),
    function(
        "ps_is_instrument_default_enabled",
        "Whether an instrument is enabled by default.",
        &[("in_instrument", "varchar(128)")],
        YES_NO,
        Body::Native(Immutable, native::ps_is_instrument_default_enabled),
    ),
    function(
        "ps_is_instrument_default_timed",
        "Whether an instrument is timed by default.",
        &[("in_instrument", "varchar(128)")],
        YES_NO,
        Body::Native(Immutable, native::ps_is_instrument_default_timed),
    ),
    function(
        "ps_is_thread_instrumented",
        "Whether a connection's thread is instrumented; UNKNOWN if there is no such connection.",
        &[("in_connection_id", ID)],
        "enum('YES','NO','UNKNOWN')",
        Body::Select(include_str!("ps_is_thread_instrumented.sql")),
    ),
    function(
        "ps_thread_account",
        "The account of a thread.",
        &[("in_thread_id", ID)],
        "text",
        Body::Select(include_str!("ps_thread_account.sql")),
    ),
    function(
        "ps_thread_id",
        "The THREAD_ID of a connection; for NULL, of the current connection.",
        &[("in_connection_id", ID)],
        ID,
        Body::Select(include_str!("ps_thread_id.sql")),
    ),
    function(
        "ps_thread_stack",
        "A thread's recorded statements, stages and waits, as JSON.",
        &[("thd_id", ID), ("debug", "tinyint(1)")],
        "longtext",
        Body::Select(include_str!("ps_thread_stack.sql")),
    ),
    function(
        "ps_thread_trx_info",
        "A thread's recorded transactions and their statements, as JSON.",
        &[("in_thread_id", ID)],
        "longtext",
        Body::Select(include_str!("ps_thread_trx_info.sql")),
    ),
    function(
        "quote_identifier",
        "Quotes an identifier with backticks.",
        &[("in_identifier", "text")],
        "text",
        Body::Native(Immutable, native::quote_identifier),
    ),
    function(
        "sys_get_config",
        "The value of an option in sys_config, or the given default.",
        &[
            ("in_variable_name", "varchar(128)"),
            ("in_default_value", "varchar(128)"),
        ],
        "varchar(128)",
        Body::Native(Stable, native::sys_get_config),
    ),
    function(
        "version_major",
        "The server's major version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native(Immutable, native::version_major),
    ),
    function(
        "version_minor",
        "The server's minor version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native(Immutable, native::version_minor),
    ),
    function(
        "version_patch",
        "The server's patch version.",
        &[],
        "tinyint(3) unsigned",
        Body::Native(Immutable, native::version_patch),
    ),
    // Functions that MySQL does not have. The SELECTs above need them.
    function(
        "tare_fits",
        "Refuses a text that is longer than its parameter.",
        &[
            ("value", "text"),
            ("parameter", "text"),
            ("characters", "bigint(20)"),
        ],
        "text",
        Body::Native(Immutable, arguments::tare_fits),
    ),
    function(
        "tare_unsigned",
        "Refuses a number below 0.",
        &[("value", "bigint(20)"), ("parameter", "text")],
        ID,
        Body::Native(Immutable, arguments::tare_unsigned),
    ),
    function(
        "tare_thread_id",
        "PS_THREAD_ID, which takes any number.",
        &[("connection_id", "bigint(20)")],
        ID,
        Body::Select(include_str!("ps_thread_id.sql")),
    ),
    function(
        "tare_no_consumer",
        "Refuses what is no consumer.",
        &[("in_consumer", "text")],
        "text",
        Body::Native(Immutable, native::tare_no_consumer),
    ),
    function(
        "tare_trx_limit",
        "The length at which ps_thread_trx_info stops.",
        &[],
        "bigint(20)",
        Body::Native(Stable, native::tare_trx_limit),
    ),
];
