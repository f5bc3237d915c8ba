//! Tables that 9.7 has anew or no longer, and that have no rows here: there for who asks, with MySQL's
//! columns.

use tare_mysql::series::Series::{Mariadb, V8_0, V9_7};

use crate::describe::{Life, Meta, Table};
use crate::empty::{Empty, always, maybe};

const NEVER: &str = "Never shown: the table has no rows.";

const fn one(name: &'static str, column_type: &'static str) -> Meta {
    always(name, column_type, NEVER)
}

const fn may(name: &'static str, column_type: &'static str) -> Meta {
    maybe(name, column_type, NEVER)
}

#[rustfmt::skip] // One column, one line.
const ROLE_OF_USER: &[Meta] = &[
    may("USER", "varchar(97)"),
    may("HOST", "varchar(256)"),
    may("GRANTEE", "varchar(97)"),
    may("GRANTEE_HOST", "varchar(256)"),
    may("ROLE_NAME", "varchar(255)"),
    may("ROLE_HOST", "varchar(256)"),
    one("IS_GRANTABLE", "varchar(3)"),
    may("IS_DEFAULT", "varchar(3)"),
    one("IS_MANDATORY", "varchar(3)"),
];

#[rustfmt::skip] // One column, one line.
const GRANT_TO_ROLE: &[Meta] = &[
    may("GRANTOR", "varchar(97)"),
    may("GRANTOR_HOST", "varchar(256)"),
    one("GRANTEE", "char(32)"),
    one("GRANTEE_HOST", "char(255)"),
];

#[rustfmt::skip] // One column, one line.
static ADMINISTRABLE_ROLE_AUTHORIZATIONS: Empty = Empty::new(
    "information_schema",
    "ADMINISTRABLE_ROLE_AUTHORIZATIONS",
    "Roles that the user may grant. Always empty: there are no roles.",
    &[ROLE_OF_USER],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static APPLICABLE_ROLES: Empty = Empty::new(
    "information_schema",
    "APPLICABLE_ROLES",
    "Roles that the user may use. Always empty: there are no roles.",
    &[ROLE_OF_USER],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static ENABLED_ROLES: Empty = Empty::new(
    "information_schema",
    "ENABLED_ROLES",
    "Roles that the session uses. Always empty: there are no roles.",
    &[&[
        may("ROLE_NAME", "varchar(255)"),
        may("ROLE_HOST", "varchar(255)"),
        may("IS_DEFAULT", "varchar(3)"),
        one("IS_MANDATORY", "varchar(3)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static JSON_DUALITY_VIEWS: Empty = Empty::new(
    "information_schema",
    "JSON_DUALITY_VIEWS",
    "JSON duality views. Always empty: they are not supported.",
    &[&[
        one("TABLE_CATALOG", "varchar(64)"),
        one("TABLE_SCHEMA", "varchar(64)"),
        one("TABLE_NAME", "varchar(64)"),
        may("DEFINER", "varchar(288)"),
        may("SECURITY_TYPE", "varchar(7)"),
        one("JSON_COLUMN_NAME", "varchar(64)"),
        may("ROOT_TABLE_CATALOG", "varchar(64)"),
        may("ROOT_TABLE_SCHEMA", "varchar(64)"),
        may("ROOT_TABLE_NAME", "varchar(64)"),
        may("ALLOW_INSERT", "varchar(4)"),
        may("ALLOW_UPDATE", "varchar(4)"),
        may("ALLOW_DELETE", "varchar(4)"),
        may("READ_ONLY", "varchar(4)"),
        one("STATUS", "varchar(7)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static JSON_DUALITY_VIEW_COLUMNS: Empty = Empty::new(
    "information_schema",
    "JSON_DUALITY_VIEW_COLUMNS",
    "Columns of JSON duality views. Always empty: they are not supported.",
    &[&[
        one("TABLE_CATALOG", "varchar(64)"),
        one("TABLE_SCHEMA", "varchar(64)"),
        one("TABLE_NAME", "varchar(64)"),
        may("REFERENCED_TABLE_CATALOG", "varchar(64)"),
        may("REFERENCED_TABLE_SCHEMA", "varchar(64)"),
        may("REFERENCED_TABLE_NAME", "varchar(64)"),
        may("IS_ROOT_TABLE", "tinyint"),
        may("REFERENCED_TABLE_ID", "int"),
        may("REFERENCED_COLUMN_NAME", "varchar(64)"),
        may("JSON_KEY_NAME", "varchar(64)"),
        may("ALLOW_INSERT", "tinyint"),
        may("ALLOW_UPDATE", "tinyint"),
        may("ALLOW_DELETE", "tinyint"),
        may("READ_ONLY", "tinyint"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static JSON_DUALITY_VIEW_LINKS: Empty = Empty::new(
    "information_schema",
    "JSON_DUALITY_VIEW_LINKS",
    "Joins of JSON duality views. Always empty: they are not supported.",
    &[&[
        one("TABLE_CATALOG", "varchar(64)"),
        one("TABLE_SCHEMA", "varchar(64)"),
        one("TABLE_NAME", "varchar(64)"),
        may("PARENT_TABLE_CATALOG", "varchar(64)"),
        may("PARENT_TABLE_SCHEMA", "varchar(64)"),
        may("PARENT_TABLE_NAME", "varchar(64)"),
        may("CHILD_TABLE_CATALOG", "varchar(64)"),
        may("CHILD_TABLE_SCHEMA", "varchar(64)"),
        may("CHILD_TABLE_NAME", "varchar(64)"),
        may("PARENT_COLUMN_NAME", "varchar(64)"),
        may("CHILD_COLUMN_NAME", "varchar(64)"),
        may("JOIN_TYPE", "varchar(64)"),
        may("JSON_KEY_NAME", "varchar(64)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static JSON_DUALITY_VIEW_TABLES: Empty = Empty::new(
    "information_schema",
    "JSON_DUALITY_VIEW_TABLES",
    "Tables of JSON duality views. Always empty: they are not supported.",
    &[&[
        one("TABLE_CATALOG", "varchar(64)"),
        one("TABLE_SCHEMA", "varchar(64)"),
        one("TABLE_NAME", "varchar(64)"),
        may("REFERENCED_TABLE_CATALOG", "varchar(64)"),
        may("REFERENCED_TABLE_SCHEMA", "varchar(64)"),
        may("REFERENCED_TABLE_NAME", "varchar(64)"),
        may("WHERE_CLAUSE", "varchar(64)"),
        may("ALLOW_INSERT", "tinyint"),
        may("ALLOW_UPDATE", "tinyint"),
        may("ALLOW_DELETE", "tinyint"),
        may("READ_ONLY", "tinyint"),
        may("IS_ROOT_TABLE", "tinyint"),
        may("REFERENCED_TABLE_ID", "int"),
        may("REFERENCED_TABLE_PARENT_ID", "int"),
        may("REFERENCED_TABLE_PARENT_RELATIONSHIP", "varchar(64)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static LIBRARIES: Empty = Empty::new(
    "information_schema",
    "LIBRARIES",
    "Libraries of stored code. Always empty: they are not supported.",
    &[&[
        one("LIBRARY_CATALOG", "varchar(64)"),
        one("LIBRARY_SCHEMA", "varchar(64)"),
        one("LIBRARY_NAME", "varchar(64)"),
        may("LIBRARY_DEFINITION", "longtext"),
        one("LANGUAGE", "varchar(64)"),
        one("CREATED", "timestamp"),
        one("LAST_ALTERED", "timestamp"),
        one("SQL_MODE", "set('REAL_AS_FLOAT','PIPES_AS_CONCAT','ANSI_QUOTES','IGNORE_SPACE','NOT_USED','ONLY_FULL_GROUP_BY','NO_UNSIGNED_SUBTRACTION','NO_DIR_IN_CREATE','NOT_USED_9','NOT_USED_10','NOT_USED_11','NOT_USED_12','NOT_USED_13','NOT_USED_14','NOT_USED_15','NOT_USED_16','NOT_USED_17','NOT_USED_18','ANSI','NO_AUTO_VALUE_ON_ZERO','NO_BACKSLASH_ESCAPES','STRICT_TRANS_TABLES','STRICT_ALL_TABLES','NO_ZERO_IN_DATE','NO_ZERO_DATE','ALLOW_INVALID_DATES','ERROR_FOR_DIVISION_BY_ZERO','TRADITIONAL','NOT_USED_29','HIGH_NOT_PRECEDENCE','NO_ENGINE_SUBSTITUTION','PAD_CHAR_TO_FULL_LENGTH','TIME_TRUNCATE_FRACTIONAL','INTERPRET_UTF8_AS_UTF8MB4')"),
        one("LIBRARY_COMMENT", "text"),
        one("CREATOR", "varchar(288)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static ROLE_COLUMN_GRANTS: Empty = Empty::new(
    "information_schema",
    "ROLE_COLUMN_GRANTS",
    "Column privileges of the session's roles. Always empty: there are no roles.",
    &[GRANT_TO_ROLE, &[
        one("TABLE_CATALOG", "varchar(3)"),
        one("TABLE_SCHEMA", "char(64)"),
        one("TABLE_NAME", "char(64)"),
        one("COLUMN_NAME", "char(64)"),
        one("PRIVILEGE_TYPE", "set('Select','Insert','Update','References')"),
        one("IS_GRANTABLE", "varchar(3)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static ROLE_ROUTINE_GRANTS: Empty = Empty::new(
    "information_schema",
    "ROLE_ROUTINE_GRANTS",
    "Routine privileges of the session's roles. Always empty: there are no roles.",
    &[GRANT_TO_ROLE, &[
        one("SPECIFIC_CATALOG", "varchar(3)"),
        one("SPECIFIC_SCHEMA", "char(64)"),
        one("SPECIFIC_NAME", "char(64)"),
        one("ROUTINE_CATALOG", "varchar(3)"),
        one("ROUTINE_SCHEMA", "char(64)"),
        one("ROUTINE_NAME", "char(64)"),
        one("PRIVILEGE_TYPE", "set('Execute','Alter Routine','Grant')"),
        one("IS_GRANTABLE", "varchar(3)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static ROLE_TABLE_GRANTS: Empty = Empty::new(
    "information_schema",
    "ROLE_TABLE_GRANTS",
    "Table privileges of the session's roles. Always empty: there are no roles.",
    &[GRANT_TO_ROLE, &[
        one("TABLE_CATALOG", "varchar(3)"),
        one("TABLE_SCHEMA", "char(64)"),
        one("TABLE_NAME", "char(64)"),
        one("PRIVILEGE_TYPE", "set('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View','Show view','Trigger')"),
        one("IS_GRANTABLE", "varchar(3)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static ROUTINE_LIBRARIES: Empty = Empty::new(
    "information_schema",
    "ROUTINE_LIBRARIES",
    "Libraries that routines import. Always empty: they are not supported.",
    &[&[
        one("ROUTINE_CATALOG", "varchar(64)"),
        one("ROUTINE_SCHEMA", "varchar(64)"),
        one("ROUTINE_NAME", "varchar(64)"),
        one("ROUTINE_TYPE", "enum('FUNCTION','PROCEDURE','LIBRARY')"),
        may("LIBRARY_CATALOG", "varchar(64)"),
        may("LIBRARY_SCHEMA", "varchar(100)"),
        may("LIBRARY_NAME", "varchar(100)"),
        may("LIBRARY_VERSION", "varchar(100)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static ST_UNITS_OF_MEASURE: Empty = Empty::new(
    "information_schema",
    "ST_UNITS_OF_MEASURE",
    "Units of length. Always empty: spatial types are not supported.",
    &[&[
        may("UNIT_NAME", "varchar(255)"),
        may("UNIT_TYPE", "varchar(7)"),
        may("CONVERSION_FACTOR", "double"),
        may("DESCRIPTION", "varchar(255)"),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static TABLESPACES: Empty = Empty::new(
    "information_schema",
    "TABLESPACES",
    "Tablespaces. Always empty, as in MySQL.",
    &[&[
        may("TABLESPACE_NAME", "varchar(64)"),
        may("ENGINE", "varchar(64)"),
        may("TABLESPACE_TYPE", "varchar(64)"),
        may("LOGFILE_GROUP_NAME", "varchar(64)"),
        may("EXTENT_SIZE", "bigint(21) unsigned"),
        may("AUTOEXTEND_SIZE", "bigint(21) unsigned"),
        may("MAXIMUM_SIZE", "bigint(21) unsigned"),
        may("NODEGROUP_ID", "bigint(21) unsigned"),
        may("TABLESPACE_COMMENT", "varchar(2048)"),
    ]],
)
.lives(Life::only(&[V8_0, Mariadb]));

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &ADMINISTRABLE_ROLE_AUTHORIZATIONS,
    &APPLICABLE_ROLES,
    &ENABLED_ROLES,
    &JSON_DUALITY_VIEWS,
    &JSON_DUALITY_VIEW_COLUMNS,
    &JSON_DUALITY_VIEW_LINKS,
    &JSON_DUALITY_VIEW_TABLES,
    &LIBRARIES,
    &ROLE_COLUMN_GRANTS,
    &ROLE_ROUTINE_GRANTS,
    &ROLE_TABLE_GRANTS,
    &ROUTINE_LIBRARIES,
    &ST_UNITS_OF_MEASURE,
    &TABLESPACES,
];
