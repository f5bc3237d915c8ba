//! The GRANT that gives an account the right that a server's error says it lacks.

/// ER_TABLEACCESS_DENIED_ERROR
const TABLE_ACCESS_DENIED: u16 = 1142;
/// ER_DBACCESS_DENIED_ERROR
const DATABASE_ACCESS_DENIED: u16 = 1044;
/// ER_SPECIFIC_ACCESS_DENIED_ERROR
const PRIVILEGE_NEEDED: u16 = 1227;
/// ER_VIEW_NO_EXPLAIN
const VIEW_NOT_EXPLAINED: u16 = 1345;
/// ER_KILL_DENIED_ERROR
const KILL_DENIED: u16 = 1095;

/// The message of an error; if a right is missing, with the statement that grants it. MySQL's message does not name the
/// schema of a table: it is `schema`, or else performance_schema.
pub fn explain_refusal(errno: u16, message: &str, schema: Option<&str>) -> String {
    match missing_grant(errno, message, schema) {
        Some(grant) => format!("{message}: {grant} gives the right"),
        None => message.to_owned(),
    }
}

fn missing_grant(errno: u16, message: &str, schema: Option<&str>) -> Option<String> {
    let between = |start: &str, end: &str| {
        let (_, rest) = message.split_once(start)?;
        Some(rest.split_once(end).map_or(rest, |(text, _)| text))
    };
    let default = schema.unwrap_or("performance_schema");
    match errno {
        // SELECT command denied to user 'u'@'h' for table 'threads'; MariaDB names the database, too.
        TABLE_ACCESS_DENIED => {
            let right = message.split_once(" command denied")?.0.rsplit(": ").next()?;
            let account = between("to user ", " for table")?;
            let table = between("for table ", "\n")?.replace(['`', '\''], "");
            let database = table.split_once('.').map_or(default, |(name, _)| name);
            Some(format!("GRANT {right} ON {database}.* TO {account}"))
        }
        DATABASE_ACCESS_DENIED => {
            let account = between("for user ", " to database")?;
            let database = between("to database '", "'")?;
            Some(format!("GRANT SELECT ON {database}.* TO {account}"))
        }
        // You need (at least one of) the SUPER or CONNECTION_ADMIN privilege(s): the last has least power.
        PRIVILEGE_NEEDED => {
            let all = between("(at least one of) the ", " privilege(s)")?;
            let right = all.rsplit([',', '|']).next()?.rsplit(" or ").next()?.trim();
            Some(format!("GRANT {right} ON *.* to this account"))
        }
        KILL_DENIED => Some(
            "GRANT CONNECTION_ADMIN ON *.* to this account (MariaDB: CONNECTION ADMIN; before MySQL 8: SUPER)"
                .to_owned(),
        ),
        VIEW_NOT_EXPLAINED => Some(format!("GRANT SELECT, SHOW VIEW ON {default}.* to this account")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_right_names_the_grant() {
        for (errno, message, grant) in [
            (
                1142,
                "ERROR 1142 (42000): SELECT command denied to user 'u'@'localhost' for table 'threads'",
                "GRANT SELECT ON performance_schema.* TO 'u'@'localhost'",
            ),
            (
                1142,
                "ERROR 1142 (42000): UPDATE command denied to user 'u'@'%' for table `shop`.`t`",
                "GRANT UPDATE ON shop.* TO 'u'@'%'",
            ),
            (
                1044,
                "ERROR 1044 (42000): Access denied for user 'u'@'h' to database 'sys'",
                "GRANT SELECT ON sys.* TO 'u'@'h'",
            ),
            (
                1227,
                "ERROR 1227 (42000): Access denied; you need (at least one of) the PROCESS privilege(s) for this operation",
                "GRANT PROCESS ON *.* to this account",
            ),
            (
                1227,
                "Access denied; you need (at least one of) the SUPER or CONNECTION_ADMIN privilege(s) for this operation",
                "GRANT CONNECTION_ADMIN ON *.* to this account",
            ),
        ] {
            assert_eq!(missing_grant(errno, message, None).as_deref(), Some(grant));
            let explained = explain_refusal(errno, message, None);
            assert!(explained.starts_with(message) && explained.contains(grant));
        }
        let denied = "SELECT command denied to user 'u'@'h' for table 'orders'";
        let explained = explain_refusal(1142, denied, Some("shop"));
        assert!(explained.contains("GRANT SELECT ON shop.* TO 'u'@'h'"));
        for (errno, message) in [(1146, "no such table"), (1142, "denied")] {
            assert_eq!(explain_refusal(errno, message, None), message);
        }
    }
}
