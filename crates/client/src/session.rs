//! The settings of a session. A session inherits the server's globals, and what a tool reads must not depend
//! on them.

use mysql::Conn;
use mysql::prelude::Queryable;

/// Who writes the statements of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// Tare: no global of the server changes or ends what it reads.
    Tool,
    /// The user, whose statements mean what the server's globals say. Only what cuts or ends answers is set.
    User,
}

/// A setting, and the mark of the comment whose content only servers that have the variable execute.
struct Setting(&'static str, &'static str);

/// What would cut an answer, end a statement or the session, or damage texts.
const COMPLETE_ANSWERS: &[Setting] = &[
    Setting("NAMES utf8mb4 COLLATE utf8mb4_general_ci", ""),
    Setting("sql_select_limit = 18446744073709551615", ""),
    Setting("max_join_size = 18446744073709551615", ""),
    // A limit of joins switches it off.
    Setting("sql_big_selects = 1", ""),
    Setting("wait_timeout = 31536000", ""),
    Setting("net_read_timeout = 600", ""),
    Setting("net_write_timeout = 600", ""),
    Setting("max_execution_time = 0", "!50708"),
    Setting("max_statement_time = 0", "M!100101"),
];

/// What would change the meaning of a statement.
const FIXED_MEANING: &[Setting] = &[
    // Before autocommit, which commits and so may end the connection.
    Setting("completion_type = 'NO_CHAIN'", ""),
    Setting("autocommit = 1", ""),
    Setting("sql_mode = ''", ""),
    Setting("sql_safe_updates = 0", ""),
    Setting("sql_auto_is_null = 0", ""),
    Setting("lock_wait_timeout = 60", ""),
    Setting("innodb_lock_wait_timeout = 50", ""),
    Setting("time_zone = '+00:00'", ""),
    Setting("lc_time_names = 'en_US'", ""),
    Setting("default_week_format = 0", ""),
    Setting("div_precision_increment = 4", ""),
    Setting("group_concat_max_len = 1048576", ""),
];

/// The transactions of a tool. The variables have other names in other versions.
const TRANSACTIONS: &str = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE";

fn settings(kind: SessionKind) -> impl Iterator<Item = &'static Setting> {
    let tool = FIXED_MEANING
        .iter()
        .filter(move |_| kind == SessionKind::Tool);
    // Those in comments are last, because a comment has the comma before it.
    let (all, of_one_product) = COMPLETE_ANSWERS
        .iter()
        .partition::<Vec<_>, _>(|setting| setting.1.is_empty());
    all.into_iter().chain(tool).chain(of_one_product)
}

/// The statements that a session begins with.
pub fn opening_statements(kind: SessionKind) -> Vec<String> {
    let mut set = String::from("SET ");
    for (number, Setting(text, mark)) in settings(kind).enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        match mark.is_empty() {
            true => set.extend([comma, text]),
            false => set.extend([" /*", mark, " ", comma, text, " */"]),
        }
    }
    match kind {
        SessionKind::User => vec![set],
        SessionKind::Tool => vec![set, TRANSACTIONS.to_owned()],
    }
}

/// Applies the settings. One that a server refuses, because it is of another kind or version, is left out.
pub(crate) fn apply_settings(conn: &mut Conn, kind: SessionKind) -> Result<(), mysql::Error> {
    for statement in opening_statements(kind) {
        if try_set(conn, &statement)? || statement == TRANSACTIONS {
            continue;
        }
        for Setting(text, _) in settings(kind) {
            try_set(conn, &format!("SET {text}"))?;
        }
    }
    Ok(())
}

/// Executes a SET; false if the server refuses it.
fn try_set(conn: &mut Conn, statement: &str) -> Result<bool, mysql::Error> {
    match conn.query_drop(statement) {
        Ok(()) => Ok(true),
        Err(mysql::Error::MySqlError(_)) => Ok(false),
        Err(lost) => Err(lost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_one_product_are_in_comments_of_their_own() {
        let user = opening_statements(SessionKind::User);
        let end = " /*!50708 , max_execution_time = 0 */ /*M!100101 , max_statement_time = 0 */";
        assert!(user.len() == 1 && user[0].ends_with(end), "{user:?}");
        let tool = opening_statements(SessionKind::Tool);
        assert!(tool[0].ends_with(end), "{tool:?}");
        // The smallest max_allowed_packet, which an administrator may set.
        assert!(tool[0].len() < 1024);
    }
}
