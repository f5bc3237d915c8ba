//! SHOW: what it asks for.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::words::{any, expr, identifier, name, need, take, text, word};
use super::{Filter, Scope, Show, What, split};
use crate::dialect::near;
use crate::dialect::plan::Action;
use crate::server::error::Result;

pub(super) fn show(parser: &mut Parser<'_>) -> Result<Action> {
    let mut full = false;
    let mut scope = Scope::Session;
    loop {
        match any(parser, &["FULL", "EXTENDED", "GLOBAL", "SESSION", "LOCAL"]) {
            Some("FULL") => full = true,
            Some("GLOBAL") => scope = Scope::Global,
            Some(_) => {}
            None => break,
        }
    }
    let first = word(parser);
    let last = parser.next_token().token;
    let what = match first.as_str() {
        "DATABASES" | "SCHEMAS" => What::Databases,
        "TABLES" => What::Tables(from(parser)?),
        "TABLE" => {
            need(parser, "STATUS")?;
            What::TableStatus(from(parser)?)
        }
        "COLUMNS" | "FIELDS" => {
            let (database, table) = from_table(parser)?;
            What::Columns(database, table)
        }
        "INDEX" | "INDEXES" | "KEYS" => {
            let (database, table) = from_table(parser)?;
            What::Index(database, table)
        }
        "CREATE" => match any(
            parser,
            &[
                "TABLE",
                "VIEW",
                "DATABASE",
                "SCHEMA",
                "PROCEDURE",
                "FUNCTION",
                "TRIGGER",
                "EVENT",
                "USER",
            ],
        ) {
            Some("TABLE") => {
                let (database, table) = split(&name(parser)?)?;
                What::CreateTable(database, table)
            }
            Some("VIEW") => {
                let (database, table) = split(&name(parser)?)?;
                What::CreateView(database, table)
            }
            Some("USER") => What::CreateUser(account(parser)?),
            Some(kind @ ("PROCEDURE" | "FUNCTION" | "TRIGGER" | "EVENT")) => {
                let (database, routine) = split(&name(parser)?)?;
                What::CreateProgram(kind.to_owned(), database, routine)
            }
            Some(_) => {
                if take(parser, "IF") {
                    need(parser, "NOT")?;
                    need(parser, "EXISTS")?;
                }
                What::CreateDatabase(identifier(parser)?.value)
            }
            None => return Err(near(parser.peek_token().token)),
        },
        "VARIABLES" => What::Variables(scope),
        "STATUS" => What::Status(scope),
        "PROCESSLIST" => What::ProcessList,
        "WARNINGS" | "ERRORS" => {
            let limit = limit(parser)?;
            What::Warnings {
                errors: first == "ERRORS",
                limit,
            }
        }
        "COUNT" => {
            parser.next_token();
            parser.next_token();
            parser.next_token();
            let what = any(parser, &["WARNINGS", "ERRORS"])
                .ok_or_else(|| near(parser.peek_token().token))?;
            What::WarningCount {
                errors: what == "ERRORS",
            }
        }
        "ENGINES" => What::Engines,
        "STORAGE" => {
            need(parser, "ENGINES")?;
            What::Engines
        }
        "COLLATION" => What::Collation,
        "CHARSET" => What::Charset,
        "CHARACTER" => {
            need(parser, "SET")?;
            What::Charset
        }
        "GRANTS" => {
            let of = if take(parser, "FOR") {
                account(parser)?
            } else {
                None
            };
            if take(parser, "USING") {
                while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                    parser.next_token();
                }
            }
            What::Grants(of)
        }
        "PRIVILEGES" => What::Privileges,
        "PLUGINS" => What::Plugins,
        "TRIGGERS" => made(TRIGGERS, "Table", from(parser)?, "TRIGGER_SCHEMA"),
        "EVENTS" => made(EVENTS, "Name", from(parser)?, "EVENT_SCHEMA"),
        "PROCEDURE" | "FUNCTION" => {
            if take(parser, "CODE") {
                name(parser)?;
                What::Refused(
                    1289,
                    format!(
                        "The 'SHOW {first} CODE' feature is disabled; you need MySQL built with '--with-debug' to have it working"
                    ),
                )
            } else {
                need(parser, "STATUS")?;
                What::Made {
                    query: format!("{ROUTINES} WHERE ROUTINE_TYPE = '{first}' ORDER BY 1, 2"),
                    like: "Name",
                }
            }
        }
        "OPEN" => {
            need(parser, "TABLES")?;
            What::OpenTables(from(parser)?)
        }
        "ENGINE" => {
            let engine = text(parser)?;
            let what = any(parser, &["STATUS", "MUTEX", "LOGS"])
                .ok_or_else(|| near(parser.peek_token().token))?;
            What::Engine(engine, what.to_owned())
        }
        "MASTER" | "BINARY" => {
            if take(parser, "LOG") {
                need(parser, "STATUS")?;
                What::Nothing(BINARY_LOG_STATUS)
            } else {
                match any(parser, &["STATUS", "LOGS"]) {
                    Some("STATUS") => What::Nothing(BINARY_LOG_STATUS),
                    Some(_) => What::Refused(1381, "You are not using binary logging".into()),
                    None => return Err(near(parser.peek_token().token)),
                }
            }
        }
        "BINLOG" | "RELAYLOG" => {
            need(parser, "EVENTS")?;
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                parser.next_token();
            }
            What::Nothing(&[
                "Log_name",
                "Pos",
                "Event_type",
                "Server_id",
                "End_log_pos",
                "Info",
            ])
        }
        "SLAVE" | "REPLICA" => match any(parser, &["STATUS", "HOSTS"]) {
            Some("STATUS") => {
                if take(parser, "FOR") {
                    need(parser, "CHANNEL")?;
                    text(parser)?;
                }
                What::Nothing(REPLICA_STATUS)
            }
            Some(_) => What::Nothing(REPLICAS),
            None => return Err(near(parser.peek_token().token)),
        },
        "REPLICAS" => What::Nothing(REPLICAS),
        "PROFILES" => What::Nothing(&["Query_ID", "Duration", "Query"]),
        "PROFILE" => {
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                parser.next_token();
            }
            What::Nothing(&["Status", "Duration"])
        }
        _ => return Err(near(last)),
    };
    let can_filter = !matches!(
        what,
        What::CreateTable(..)
            | What::CreateView(..)
            | What::CreateDatabase(_)
            | What::CreateUser(_)
            | What::CreateProgram(..)
            | What::Warnings { .. }
            | What::WarningCount { .. }
            | What::Grants(_)
            | What::Engine(..)
            | What::ProcessList
    );
    let filter = if !can_filter {
        Filter::None
    } else if take(parser, "LIKE") {
        Filter::Like(text(parser)?)
    } else if take(parser, "WHERE") {
        Filter::Where(Box::new(expr(parser)?))
    } else {
        Filter::None
    };
    Ok(Action::Show(Box::new(Show { what, filter, full })))
}

fn from(parser: &mut Parser<'_>) -> Result<Option<String>> {
    match any(parser, &["FROM", "IN"]) {
        Some(_) => Ok(Some(identifier(parser)?.value)),
        None => Ok(None),
    }
}

fn from_table(parser: &mut Parser<'_>) -> Result<(Option<String>, String)> {
    any(parser, &["FROM", "IN"]).ok_or_else(|| near(parser.peek_token().token))?;
    let (mut database, table) = split(&name(parser)?)?;
    if let Some(other) = from(parser)? {
        database = Some(other);
    }
    Ok((database, table))
}

/// `LIMIT n`, `LIMIT offset, n`: how many to leave out and to show.
fn limit(parser: &mut Parser<'_>) -> Result<(usize, usize)> {
    if !take(parser, "LIMIT") {
        return Ok((0, usize::MAX));
    }
    let number = |parser: &mut Parser<'_>| match parser.next_token().token {
        Token::Number(n, _) => n.parse::<usize>().map_err(|_| near(n)),
        other => Err(near(other)),
    };
    let first = number(parser)?;
    if parser.consume_token(&Token::Comma) {
        return Ok((first, number(parser)?));
    }
    if take(parser, "OFFSET") {
        return Ok((number(parser)?, first));
    }
    Ok((0, first))
}

/// `'user'@'host'`, `CURRENT_USER()`; `None` is the session's own.
fn account(parser: &mut Parser<'_>) -> Result<Option<(String, String)>> {
    if word(parser) == "CURRENT_USER" {
        parser.next_token();
        if parser.consume_token(&Token::LParen) {
            parser
                .expect_token(&Token::RParen)
                .map_err(crate::server::error::SqlError::syntax)?;
        }
        return Ok(None);
    }
    let user = text(parser)?;
    // `root@localhost` is one word, `'root'@'localhost'` three.
    if let Some((user, host)) = user.split_once('@') {
        let host = if host.is_empty() {
            text(parser)?
        } else {
            host.to_owned()
        };
        return Ok(Some((user.to_owned(), host)));
    }
    let host = match &parser.peek_token().token {
        Token::AtSign => {
            parser.next_token();
            text(parser)?
        }
        Token::Word(w) if w.quote_style.is_none() && w.value.starts_with('@') => {
            let host = w.value[1..].to_owned();
            parser.next_token();
            if host.is_empty() { text(parser)? } else { host }
        }
        _ => "%".to_owned(),
    };
    Ok(Some((user, host)))
}

/// Rows of information_schema under SHOW's names, of one database where it is said.
fn made(query: &str, like: &'static str, database: Option<String>, schema: &str) -> What {
    let of = database.map_or_else(
        || format!("{schema} = DATABASE()"),
        |d| format!("{schema} = '{}'", d.replace('\'', "''")),
    );
    What::Made {
        query: format!("{query} WHERE {of} ORDER BY 1, 2"),
        like,
    }
}

const TRIGGERS: &str = "SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS `Event`, \
    EVENT_OBJECT_TABLE AS `Table`, ACTION_STATEMENT AS `Statement`, ACTION_TIMING AS Timing, \
    CREATED AS Created, SQL_MODE AS sql_mode, DEFINER AS `Definer`, \
    CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
    DATABASE_COLLATION AS `Database Collation` FROM information_schema.TRIGGERS";

const EVENTS: &str = "SELECT EVENT_SCHEMA AS Db, EVENT_NAME AS Name, DEFINER AS `Definer`, \
    TIME_ZONE AS `Time zone`, EVENT_TYPE AS Type, EXECUTE_AT AS `Execute at`, \
    INTERVAL_VALUE AS `Interval value`, INTERVAL_FIELD AS `Interval field`, STARTS AS Starts, \
    ENDS AS Ends, STATUS AS Status, ORIGINATOR AS Originator, \
    CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
    DATABASE_COLLATION AS `Database Collation` FROM information_schema.EVENTS";

const ROUTINES: &str = "SELECT ROUTINE_SCHEMA AS Db, ROUTINE_NAME AS Name, ROUTINE_TYPE AS Type, \
    DEFINER AS `Definer`, LAST_ALTERED AS Modified, CREATED AS Created, \
    SECURITY_TYPE AS Security_type, ROUTINE_COMMENT AS Comment, \
    CHARACTER_SET_CLIENT AS character_set_client, COLLATION_CONNECTION AS collation_connection, \
    DATABASE_COLLATION AS `Database Collation` FROM information_schema.ROUTINES";

const BINARY_LOG_STATUS: &[&str] = &[
    "File",
    "Position",
    "Binlog_Do_DB",
    "Binlog_Ignore_DB",
    "Executed_Gtid_Set",
];

const REPLICAS: &[&str] = &["Server_id", "Host", "Port", "Master_id", "Slave_UUID"];

const REPLICA_STATUS: &[&str] = &[
    "Slave_IO_State",
    "Master_Host",
    "Master_User",
    "Master_Port",
    "Connect_Retry",
    "Master_Log_File",
    "Read_Master_Log_Pos",
    "Relay_Log_File",
    "Relay_Log_Pos",
    "Relay_Master_Log_File",
    "Slave_IO_Running",
    "Slave_SQL_Running",
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Last_Errno",
    "Last_Error",
    "Skip_Counter",
    "Exec_Master_Log_Pos",
    "Relay_Log_Space",
    "Until_Condition",
    "Until_Log_File",
    "Until_Log_Pos",
    "Master_SSL_Allowed",
    "Master_SSL_CA_File",
    "Master_SSL_CA_Path",
    "Master_SSL_Cert",
    "Master_SSL_Cipher",
    "Master_SSL_Key",
    "Seconds_Behind_Master",
    "Master_SSL_Verify_Server_Cert",
    "Last_IO_Errno",
    "Last_IO_Error",
    "Last_SQL_Errno",
    "Last_SQL_Error",
    "Replicate_Ignore_Server_Ids",
    "Master_Server_Id",
    "Master_UUID",
    "Master_Info_File",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Slave_SQL_Running_State",
    "Master_Retry_Count",
    "Master_Bind",
    "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp",
    "Master_SSL_Crl",
    "Master_SSL_Crlpath",
    "Retrieved_Gtid_Set",
    "Executed_Gtid_Set",
    "Auto_Position",
    "Replicate_Rewrite_DB",
    "Channel_Name",
    "Master_TLS_Version",
    "Master_public_key_path",
    "Get_master_public_key",
];
