//! The kind of a statement, by its first words: the last part of its instrument's name in MySQL.

use super::tokens::{Token, Tokens, is_one_of};

/// A statement whose first words are those of no kind.
pub const UNKNOWN: &str = "";

/// The words of a statement, in upper case. Other tokens are signs of their own.
struct Words<'t>(Tokens<'t>);

/// The longest word that is compared.
const MAX_WORD_BYTES: usize = 24;

/// A word in upper case; empty = there is none.
#[derive(Clone, Copy)]
struct Word {
    bytes: [u8; MAX_WORD_BYTES],
    length: usize,
}

impl Word {
    const NONE: Self = Self {
        bytes: [0; MAX_WORD_BYTES],
        length: 0,
    };

    fn new(text: &str) -> Self {
        let mut word = Self::NONE;
        if let Some(bytes) = word.bytes.get_mut(..text.len()) {
            bytes.copy_from_slice(text.as_bytes());
            bytes.make_ascii_uppercase();
            word.length = text.len();
        }
        word
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.as_str())
    }
}

impl<'t> Words<'t> {
    /// The next token, if it is a word.
    fn next(&mut self) -> Word {
        match self.0.next() {
            Some(Token::Word(word)) => Word::new(word),
            _ => Word::NONE,
        }
    }

    /// The word that would be next.
    fn peek(&self) -> Word {
        Self(self.0.clone()).next()
    }

    /// Whether this word is next. If so, it is read.
    fn skip(&mut self, words: &[&str]) -> bool {
        let is_next = self.peek().is(words);
        if is_next {
            self.0.next();
        }
        is_next
    }

    /// The first of these words that is not within parentheses.
    fn find(&self, words: &[&str]) -> Word {
        let mut outer = Self(self.0.clone());
        outer.advance_to(words)
    }

    /// Reads up to and including the first of these words that is not within parentheses.
    fn advance_to(&mut self, words: &[&str]) -> Word {
        let mut depth = 0u32;
        for token in self.0.by_ref() {
            match token {
                Token::Symbol(b'(') => depth += 1,
                Token::Symbol(b')') => depth = depth.saturating_sub(1),
                Token::Word(word) if depth == 0 && is_one_of(word, words) => {
                    return Word::new(word);
                }
                _ => {}
            }
        }
        Word::NONE
    }
}

/// Statements that EXPLAIN explains.
const EXPLAINED: [&str; 8] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "TABLE", "VALUES",
];

/// The kind of a statement, such as `select` or `create_table`.
pub fn kind_of(tokens: Tokens, is_mariadb: bool) -> &'static str {
    kind(Words(tokens), is_mariadb, 0)
}

/// How deep a statement may contain another one (EXPLAIN ANALYZE).
const MAX_DEPTH: u32 = 4;

fn kind(mut words: Words, is_mariadb: bool, depth: u32) -> &'static str {
    let inner = |words| match depth < MAX_DEPTH {
        true => kind(words, is_mariadb, depth + 1),
        false => UNKNOWN,
    };
    let first = loop {
        match words.0.next() {
            Some(Token::Symbol(b'(')) => {}
            Some(Token::Word(word)) => break Word::new(word),
            Some(_) => return UNKNOWN,
            None => return "empty_query",
        }
    };
    match first.as_str() {
        "SELECT" | "VALUES" | "TABLE" => "select",
        "INSERT" => match has_query(&words) {
            true => "insert_select",
            false => "insert",
        },
        "REPLACE" => match has_query(&words) {
            true => "replace_select",
            false => "replace",
        },
        "UPDATE" => update(words),
        "DELETE" => delete(words, is_mariadb),
        "WITH" => match words.advance_to(&["SELECT", "UPDATE", "DELETE", "TABLE", "VALUES"]) {
            verb if verb.is(&["UPDATE"]) => update(words),
            verb if verb.is(&["DELETE"]) => delete(words, is_mariadb),
            _ => "select",
        },
        "COMMIT" => "commit",
        "ROLLBACK" => {
            words.skip(&["WORK"]);
            match words.next().is(&["TO"]) {
                true => "rollback_to_savepoint",
                false => "rollback",
            }
        }
        "BEGIN" => match words.next().is(&["NOT"]) {
            true => "compound_sql",
            false => "begin",
        },
        "CASE" | "DECLARE" | "FOR" | "IF" | "LOOP" | "REPEAT" | "WHILE" => "compound_sql",
        "SET" => set(words, is_mariadb, inner),
        "SHOW" => show(words, is_mariadb),
        "USE" => "change_db",
        "CREATE" | "ALTER" | "DROP" => object(first.as_str(), words),
        "EXPLAIN" | "DESC" | "DESCRIBE" => explain(words, is_mariadb, inner),
        "ANALYZE" => {
            let is_of_table = ["TABLE", "TABLES", "LOCAL", "NO_WRITE_TO_BINLOG"];
            if words.peek().is(&is_of_table) {
                return "analyze";
            }
            explain(words, is_mariadb, inner)
        }
        _ => other(first.as_str(), words, is_mariadb),
    }
}

/// The kind of other statements that programs use.
fn other(first: &str, mut words: Words, is_mariadb: bool) -> &'static str {
    match first {
        "CALL" => "call_procedure",
        "DO" => "do",
        "PREPARE" => "prepare_sql",
        "EXECUTE" => match words.next().is(&["IMMEDIATE"]) {
            true => "execute_immediate",
            false => "execute_sql",
        },
        "DEALLOCATE" => "dealloc_sql",
        "SAVEPOINT" => "savepoint",
        "RELEASE" => "release_savepoint",
        "XA" => match words.next().as_str() {
            "START" | "BEGIN" => "xa_start",
            "END" => "xa_end",
            "PREPARE" => "xa_prepare",
            "COMMIT" => "xa_commit",
            "ROLLBACK" => "xa_rollback",
            "RECOVER" => "xa_recover",
            _ => UNKNOWN,
        },
        "TRUNCATE" => "truncate",
        "RENAME" => match words.next().is(&["USER"]) {
            true => "rename_user",
            false => "rename_table",
        },
        "LOAD" => match words.next().is(&["INDEX"]) {
            true => "preload_keys",
            false => "load",
        },
        "CACHE" => "assign_to_keycache",
        _ => administration(first, words, is_mariadb),
    }
}

/// The kind of statements that administer the server.
fn administration(first: &str, mut words: Words, is_mariadb: bool) -> &'static str {
    match first {
        "LOCK" => match words.next().is(&["INSTANCE"]) {
            true => "lock_instance",
            false => "lock_tables",
        },
        "UNLOCK" => match words.next().is(&["INSTANCE"]) {
            true => "unlock_instance",
            false => "unlock_tables",
        },
        "HANDLER" => match words.advance_to(&["OPEN", "READ", "CLOSE"]).as_str() {
            "OPEN" => "ha_open",
            "CLOSE" => "ha_close",
            _ => "ha_read",
        },
        "START" | "STOP" => start_or_stop(first == "START", words, is_mariadb),
        "CHANGE" => match words.next().as_str() {
            "REPLICATION" if words.next().is(&["FILTER"]) => "change_repl_filter",
            "REPLICATION" => "change_replication_source",
            _ => "change_master",
        },
        "PURGE" => match words.find(&["TO", "BEFORE"]).is(&["BEFORE"]) {
            true => "purge_before_date",
            false => "purge",
        },
        "GRANT" => match words.find(&["ON"]).length != 0 {
            true => "grant",
            false if is_mariadb => "grant_role",
            false => "grant_roles",
        },
        "REVOKE" => match words.find(&["ON"]).length != 0 {
            true => "revoke",
            false if words.peek().is(&["ALL"]) => "revoke_all",
            false if is_mariadb => "revoke_role",
            false => "revoke_roles",
        },
        "INSTALL" => match words.next().is(&["COMPONENT"]) {
            true => "install_component",
            false => "install_plugin",
        },
        "UNINSTALL" => match words.next().is(&["COMPONENT"]) {
            true => "uninstall_component",
            false => "uninstall_plugin",
        },
        "GET" => "get_diagnostics",
        "SIGNAL" => "signal",
        "RESIGNAL" => "resignal",
        "KILL" => "kill",
        "HELP" => "help",
        "FLUSH" => "flush",
        "RESET" => "reset",
        "OPTIMIZE" => "optimize",
        "REPAIR" => "repair",
        "CHECK" => "check",
        "CHECKSUM" => "checksum",
        "BINLOG" => "binlog",
        "SHUTDOWN" => "shutdown",
        "RESTART" => "restart",
        "IMPORT" => "import",
        "BACKUP" => match words.next().is(&["LOCK", "UNLOCK"]) {
            true => "backup_lock",
            false => "backup",
        },
        _ => UNKNOWN,
    }
}

/// Whether the rows of an INSERT or REPLACE come from a query.
fn has_query(words: &Words) -> bool {
    let mut tokens = words.0.clone();
    let mut depth = 0u32;
    while let Some(token) = tokens.next() {
        match token {
            Token::Symbol(b'(') => depth += 1,
            Token::Symbol(b')') => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 && is_one_of(word, &["VALUES", "SET"]) => return false,
            Token::Word(word) if is_one_of(word, &["SELECT"]) => return true,
            Token::Word(word) if depth == 0 && is_one_of(word, &["WITH", "TABLE"]) => return true,
            Token::Word(word)
                if depth == 0
                    && is_one_of(word, &["VALUE"])
                    && tokens.clone().next() == Some(Token::Symbol(b'(')) =>
            {
                return false;
            }
            _ => {}
        }
    }
    false
}

fn update(words: Words) -> &'static str {
    let mut depth = 0u32;
    for token in words.0 {
        match token {
            Token::Symbol(b'(') => depth += 1,
            Token::Symbol(b')') => depth = depth.saturating_sub(1),
            Token::Symbol(b',') if depth == 0 => return "update_multi",
            Token::Word(word) if is_one_of(word, &["JOIN", "STRAIGHT_JOIN"]) => {
                return "update_multi";
            }
            Token::Word(word) if depth == 0 && is_one_of(word, &["SET"]) => return "update",
            _ => {}
        }
    }
    "update"
}

fn delete(mut words: Words, is_mariadb: bool) -> &'static str {
    while words.skip(&["LOW_PRIORITY", "QUICK", "IGNORE"]) {}
    if is_mariadb && words.peek().is(&["HISTORY"]) {
        return "delete";
    }
    let ends = ["USING", "WHERE", "ORDER", "LIMIT", "RETURNING"];
    match words.next().is(&["FROM"]) && !words.find(&ends).is(&["USING"]) {
        true => "delete",
        false => "delete_multi",
    }
}

fn set<'t>(
    mut words: Words<'t>,
    is_mariadb: bool,
    inner: impl Fn(Words<'t>) -> &'static str,
) -> &'static str {
    match words.next().as_str() {
        "STATEMENT" if is_mariadb => {
            words.advance_to(&["FOR"]);
            inner(words)
        }
        _ if is_mariadb => "set_option",
        "PASSWORD" => "set_password",
        "ROLE" => "set_role",
        "DEFAULT" if words.peek().is(&["ROLE"]) => "alter_user_default_role",
        "RESOURCE" if words.peek().is(&["GROUP"]) => "set_resource_group",
        _ => "set_option",
    }
}

fn explain<'t>(
    mut words: Words<'t>,
    is_mariadb: bool,
    inner: impl Fn(Words<'t>) -> &'static str,
) -> &'static str {
    loop {
        match words.peek().as_str() {
            "EXTENDED" | "PARTITIONS" | "ANALYZE" => drop(words.next()),
            "FORMAT" => {
                words.0.by_ref().take(3).for_each(drop);
            }
            // INTO @variable
            "INTO" => {
                words.0.by_ref().take(3).for_each(drop);
            }
            "FOR" => {
                words.next();
                match words.next().is(&["CONNECTION"]) {
                    true if is_mariadb => return "show_explain",
                    true => return "explain_other",
                    // FOR SCHEMA name
                    false => drop(words.0.next()),
                }
            }
            _ => break,
        }
    }
    let is_explained = match words.0.clone().next() {
        Some(Token::Symbol(b'(')) => true,
        _ => words.peek().is(&EXPLAINED),
    };
    match is_explained {
        true => inner(words),
        false => "show_fields",
    }
}

fn start_or_stop(is_start: bool, mut words: Words, is_mariadb: bool) -> &'static str {
    let of = |start, stop| match is_start {
        true => start,
        false => stop,
    };
    match words.next().as_str() {
        "TRANSACTION" if is_start => "begin",
        "ALL" => of("start_all_slaves", "stop_all_slaves"),
        "SLAVE" | "REPLICA" if is_mariadb => of("start_slave", "stop_slave"),
        "SLAVE" => of("slave_start", "slave_stop"),
        "REPLICA" => of("replica_start", "replica_stop"),
        "GROUP_REPLICATION" => of("group_replication_start", "group_replication_stop"),
        _ => UNKNOWN,
    }
}

fn show(mut words: Words, is_mariadb: bool) -> &'static str {
    while words.skip(&["FULL", "GLOBAL", "SESSION", "LOCAL", "EXTENDED", "ALL"]) {}
    let first = words.next();
    let mut second = || words.next();
    match first.as_str() {
        "DATABASES" | "SCHEMAS" => "show_databases",
        "TABLES" => "show_tables",
        "TABLE" => "show_table_status",
        "OPEN" => "show_open_tables",
        "COLUMNS" | "FIELDS" => "show_fields",
        "INDEX" | "INDEXES" | "KEYS" => "show_keys",
        "TRIGGERS" => "show_triggers",
        "EVENTS" => "show_events",
        "STATUS" => "show_status",
        "VARIABLES" => "show_variables",
        "PROCESSLIST" => "show_processlist",
        "PLUGINS" => "show_plugins",
        "PRIVILEGES" => "show_privileges",
        "ENGINES" | "STORAGE" => "show_storage_engines",
        "ENGINE" => match words.find(&["STATUS", "MUTEX", "LOGS"]).as_str() {
            "MUTEX" => "show_engine_mutex",
            "LOGS" => "show_engine_logs",
            _ => "show_engine_status",
        },
        "CHARACTER" | "CHARSET" | "CHAR" => "show_charsets",
        "COLLATION" => "show_collations",
        "WARNINGS" => "show_warnings",
        "ERRORS" => "show_errors",
        // COUNT(*) WARNINGS
        "COUNT" => "select",
        "GRANTS" => "show_grants",
        "PROFILE" => "show_profile",
        "PROFILES" => "show_profiles",
        "RELAYLOG" => "show_relaylog_events",
        "BINARY" => match second().is(&["LOG"]) {
            true => "show_binary_log_status",
            false => "show_binlogs",
        },
        "MASTER" => match second().as_str() {
            "LOGS" => "show_binlogs",
            _ if is_mariadb => "show_binlog_status",
            _ => "show_master_status",
        },
        "BINLOG" => match second().is(&["STATUS"]) {
            true => "show_binlog_status",
            false => "show_binlog_events",
        },
        "SLAVE" => match second().is(&["HOSTS"]) {
            true => "show_slave_hosts",
            false => "show_slave_status",
        },
        "REPLICA" if is_mariadb => match second().is(&["HOSTS"]) {
            true => "show_slave_hosts",
            false => "show_slave_status",
        },
        "REPLICA" => "show_replica_status",
        "SLAVES" => "show_slave_status",
        "REPLICAS" if is_mariadb => "show_slave_status",
        "REPLICAS" => "show_replicas",
        "PROCEDURE" => match second().is(&["CODE"]) {
            true => "show_procedure_code",
            false => "show_procedure_status",
        },
        "FUNCTION" => match second().is(&["CODE"]) {
            true => "show_function_code",
            false => "show_function_status",
        },
        "PACKAGE" => match second().is(&["BODY"]) {
            true => "show_package_body_status",
            false => "show_package_status",
        },
        "LIBRARY" => "show_library_status",
        "CREATE" => match second().as_str() {
            "DATABASE" | "SCHEMA" => "show_create_db",
            "EVENT" => "show_create_event",
            "FUNCTION" => "show_create_func",
            "PROCEDURE" => "show_create_proc",
            "TRIGGER" => "show_create_trigger",
            "USER" => "show_create_user",
            "LIBRARY" => "show_create_library",
            "PACKAGE" => match words.next().is(&["BODY"]) {
                true => "show_create_package_body",
                false => "show_create_package",
            },
            _ => "show_create_table",
        },
        "EXPLAIN" => "show_explain",
        "ANALYZE" => "show_analyze",
        "AUTHORS" => "show_authors",
        "CONTRIBUTORS" => "show_contributors",
        "PARSE_TREE" => "show_parse_tree",
        _ if is_mariadb => "show_generic",
        _ => UNKNOWN,
    }
}

/// Words between CREATE and the kind of the object.
const MAX_OBJECT_WORDS: usize = 32;

/// CREATE, ALTER or DROP of an object.
fn object(verb: &str, mut words: Words) -> &'static str {
    let of = |create, alter, drop| match verb {
        "CREATE" => create,
        "ALTER" => alter,
        _ => drop,
    };
    let mut previous = Word::NONE;
    for _ in 0..MAX_OBJECT_WORDS {
        let word = match words.0.next() {
            Some(Token::Word(word)) => Word::new(word),
            Some(_) => continue,
            None => break,
        };
        match word.as_str() {
            "TABLE" | "TABLES" => return of("create_table", "alter_table", "drop_table"),
            "INDEX" => return of("create_index", UNKNOWN, "drop_index"),
            "VIEW" => return of("create_view", UNKNOWN, "drop_view"),
            "DATABASE" | "SCHEMA" => {
                if verb == "ALTER" && words.find(&["UPGRADE"]).length != 0 {
                    return "alter_db_upgrade";
                }
                return of("create_db", "alter_db", "drop_db");
            }
            "PROCEDURE" => {
                return of("create_procedure", "alter_procedure", "drop_procedure");
            }
            "FUNCTION" => {
                if verb == "CREATE" && words.find(&["SONAME", "BEGIN", "RETURN"]).is(&["SONAME"]) {
                    return "create_udf";
                }
                return of("create_function", "alter_function", "drop_function");
            }
            "TRIGGER" => return of("create_trigger", UNKNOWN, "drop_trigger"),
            "EVENT" => return of("create_event", "alter_event", "drop_event"),
            "USER" => {
                if verb == "ALTER" && words.find(&["ROLE"]).length != 0 {
                    return "alter_user_default_role";
                }
                return of("create_user", "alter_user", "drop_user");
            }
            "ROLE" => return of("create_role", UNKNOWN, "drop_role"),
            "SERVER" => return of("create_server", "alter_server", "drop_server"),
            "TABLESPACE" | "LOGFILE" => return "alter_tablespace",
            "INSTANCE" => return "alter_instance",
            "GROUP" if previous.is(&["RESOURCE"]) => {
                return of(
                    "create_resource_group",
                    "alter_resource_group",
                    "drop_resource_group",
                );
            }
            "REFERENCE" if previous.is(&["SPATIAL"]) => {
                return of(
                    "create_spatial_reference_system",
                    UNKNOWN,
                    "drop_spatial_reference_system",
                );
            }
            "SEQUENCE" => return of("create_sequence", "alter_sequence", "drop_sequence"),
            "PACKAGE" => {
                return match words.next().is(&["BODY"]) {
                    true => of("create_package_body", UNKNOWN, "drop_package_body"),
                    false => of("create_package", UNKNOWN, "drop_package"),
                };
            }
            "LIBRARY" => return of("create_library", "alter_library", "drop_library"),
            "POLICY" if previous.is(&["MASKING"]) => {
                return of("create_masking_policy", UNKNOWN, "drop_masking_policy");
            }
            "PREPARE" if verb == "DROP" => return "dealloc_sql",
            _ => previous = word,
        }
    }
    UNKNOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_the_kinds_that_the_servers_give_them() {
        let kind = |text, is_mariadb| kind_of(Tokens::new(text, true), is_mariadb);
        for line in include_str!("kinds.tsv").lines() {
            let (expected, text) = line.split_once('\t').expect("two columns");
            let (expected, is_mariadb) = match expected.strip_suffix("@mariadb") {
                Some(expected) => (expected, true),
                None => (expected, false),
            };
            assert_eq!(kind(text, is_mariadb), expected, "{text}");
        }
    }
}
