//! Accounts, and what they may do.

use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::{MONITOR, ROOT};

use super::session::Session;
use crate::result::Rows;

/// Privilege, context and comment, as this server's accounts have them.
const PRIVILEGES: &[(&str, &str, &str)] = &[
    ("Alter", "Tables", "To alter the table"),
    (
        "Create",
        "Databases,Tables,Indexes",
        "To create new databases and tables",
    ),
    ("Create view", "Tables", "To create new views"),
    ("Delete", "Tables", "To delete existing rows"),
    (
        "Drop",
        "Databases,Tables",
        "To drop databases, tables, and views",
    ),
    ("Index", "Tables", "To create or drop indexes"),
    ("Insert", "Tables", "To insert data into tables"),
    (
        "Lock tables",
        "Databases",
        "To use LOCK TABLES (together with SELECT privilege)",
    ),
    (
        "Process",
        "Server Admin",
        "To view the plain text of currently executing queries",
    ),
    (
        "References",
        "Databases,Tables",
        "To have references on tables",
    ),
    (
        "Reload",
        "Server Admin",
        "To reload or refresh tables, logs and privileges",
    ),
    ("Select", "Tables", "To retrieve rows from table"),
    (
        "Show databases",
        "Server Admin",
        "To see all databases with SHOW DATABASES",
    ),
    ("Show view", "Tables", "To see views with SHOW CREATE VIEW"),
    ("Shutdown", "Server Admin", "To shut down the server"),
    (
        "Super",
        "Server Admin",
        "To use KILL thread, SET GLOBAL, CHANGE MASTER, etc.",
    ),
    ("Update", "Tables", "To update existing rows"),
    (
        "Usage",
        "Server Admin",
        "No privileges - allow connect only",
    ),
];

/// SHOW PRIVILEGES.
pub fn privileges() -> Rows {
    let mut rows = Rows::new(&["Privilege", "Context", "Comment"]);
    for (privilege, context, comment) in PRIVILEGES {
        rows.push([(*privilege).into(), (*context).into(), (*comment).into()]);
    }
    rows
}

/// User and host of an account; whether it may do everything.
fn account(session: &dyn Session, of: Option<&(String, String)>) -> Result<(String, String, bool)> {
    let own = session.account();
    let (user, host) = of.cloned().unwrap_or_else(|| own.clone());
    match user.as_str() {
        ROOT => Ok((user, host, true)),
        MONITOR => Ok((user, host, false)),
        _ if user == own.0 => Ok((user, host, session.is_root())),
        _ => Err(SqlError::new(
            1141,
            format!("There is no such grant defined for user '{user}' on host '{host}'"),
        )),
    }
}

/// SHOW GRANTS.
pub fn grants(session: &mut dyn Session, of: Option<&(String, String)>) -> Result<Rows> {
    let (user, host, all) = account(session, of)?;
    let mut rows = Rows::new(&[&format!("Grants for {user}@{host}")]);
    if all {
        rows.push([
            format!("GRANT ALL PRIVILEGES ON *.* TO `{user}`@`{host}` WITH GRANT OPTION").into(),
        ]);
    } else {
        rows.push([format!("GRANT PROCESS ON *.* TO `{user}`@`{host}`").into()]);
        for schema in tare_mysql::schema::SYSTEM_SCHEMAS {
            rows.push([format!("GRANT SELECT ON `{schema}`.* TO `{user}`@`{host}`").into()]);
        }
    }
    Ok(rows)
}

/// SHOW CREATE USER.
pub fn show_user(session: &mut dyn Session, of: Option<&(String, String)>) -> Result<Rows> {
    let (user, host, _) = account(session, of).map_err(|_| {
        let (user, host) = of.cloned().unwrap_or_default();
        SqlError::new(
            1396,
            format!("Operation SHOW CREATE USER failed for '{user}'@'{host}'"),
        )
    })?;
    let mut rows = Rows::new(&[&format!("CREATE USER for {user}@{host}")]);
    rows.push([format!(
        "CREATE USER '{user}'@'{host}' IDENTIFIED WITH 'mysql_native_password' REQUIRE NONE \
         PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT"
    )
    .into()]);
    Ok(rows)
}
