//! Accounts, and what they may do.

use tare_mysql::account::{Account, Rights};
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::{MONITOR, ROOT};

use crate::result::Rows;
use crate::runner::StatementRunner;

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

/// An account: the session's own, or another one.
fn account(runner: &dyn StatementRunner, of: Option<&(String, String)>) -> Option<Account> {
    let own = runner.context().current_account();
    let (user, host) = of.unwrap_or(&own);
    let is_own = (user, host) == (&own.0, &own.1);
    if is_own && runner.context().id() == 0 {
        // The reader of a segment, which has no accounts.
        return Some(Account {
            user: own.0,
            host: own.1,
            plugin: "mysql_native_password".into(),
            rights: runner.context().rights(),
            ssl: false,
            locked: false,
        });
    }
    let mut all = runner.context().accounts().into_iter();
    all.find(|account| {
        account.user == *user
            && (account.host.eq_ignore_ascii_case(host) || [ROOT, MONITOR].contains(&user.as_str()))
    })
}

/// The account of schema sys's views. Nobody can log in as it, so it is in no list of accounts.
const SYS: (&str, &str) = ("mysql.sys", "localhost");

/// What MySQL grants it.
const SYS_GRANTS: [&str; 4] = [
    "GRANT USAGE ON *.* TO `mysql.sys`@`localhost`",
    "GRANT AUDIT_ABORT_EXEMPT,FIREWALL_EXEMPT,SYSTEM_USER ON *.* TO `mysql.sys`@`localhost`",
    "GRANT TRIGGER ON `sys`.* TO `mysql.sys`@`localhost`",
    "GRANT SELECT ON `sys`.`sys_config` TO `mysql.sys`@`localhost`",
];

/// Whether the account of schema sys's views is meant.
fn is_sys(of: Option<&(String, String)>) -> bool {
    of.is_some_and(|(user, host)| user == SYS.0 && host.eq_ignore_ascii_case(SYS.1))
}

/// SHOW GRANTS.
pub fn grants(runner: &mut dyn StatementRunner, of: Option<&(String, String)>) -> Result<Rows> {
    let account = account(runner, of);
    if account.is_none() && is_sys(of) {
        let mut rows = Rows::new(&["Grants for mysql.sys@localhost"]);
        SYS_GRANTS
            .iter()
            .for_each(|line| rows.push([(*line).into()]));
        return Ok(rows);
    }
    let Some(account) = account else {
        let (user, host) = of
            .cloned()
            .unwrap_or_else(|| runner.context().current_account());
        return Err(SqlError::new(
            1141,
            format!("There is no such grant defined for user '{user}' on host '{host}'"),
        ));
    };
    let (user, host) = (&account.user, &account.host);
    let mut rows = Rows::new(&[&format!("Grants for {user}@{host}")]);
    for line in account.rights.grants(user, host) {
        rows.push([line.into()]);
    }
    Ok(rows)
}

/// SHOW CREATE USER.
pub fn show_user(runner: &mut dyn StatementRunner, of: Option<&(String, String)>) -> Result<Rows> {
    let account = account(runner, of).or_else(|| {
        is_sys(of).then(|| Account {
            user: SYS.0.into(),
            host: SYS.1.into(),
            plugin: "caching_sha2_password".into(),
            rights: Rights::NONE,
            ssl: false,
            locked: true,
        })
    });
    let Some(account) = account else {
        let (user, host) = of.cloned().unwrap_or_default();
        return Err(SqlError::new(
            1396,
            format!("Operation SHOW CREATE USER failed for '{user}'@'{host}'"),
        ));
    };
    let (user, host, plugin) = (&account.user, &account.host, &account.plugin);
    let require = if account.ssl { "SSL" } else { "NONE" };
    let lock = if account.locked { "LOCK" } else { "UNLOCK" };
    let mut rows = Rows::new(&[&format!("CREATE USER for {user}@{host}")]);
    // The stored hash of the password is not displayed.
    rows.push([format!(
        "CREATE USER `{user}`@`{host}` IDENTIFIED WITH '{plugin}' REQUIRE {require} PASSWORD EXPIRE DEFAULT \
         ACCOUNT {lock} PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"
    )
    .into()]);
    Ok(rows)
}
