//! Statements about accounts.

use tare_dialect::admin::{AccountChange, AccountName, Grant, NewSecret, NewUser, UserOptions};
use tare_mysql::account::Rights;
use tare_mysql::error::{Result, SqlError};

use crate::accounts::secret::{NATIVE, SHA2, Secret};
use crate::accounts::{Account, OWN, storage};
use crate::session::Session;
use crate::transaction;

/// MySQL's limits on the length of names.
const MAX_USER_CHARS: usize = 32;
const MAX_HOST_CHARS: usize = 60;

type Pair = (String, String);

/// A statement about accounts that runs.
struct AccountStatement {
    /// The session's own account.
    own: Pair,
    /// The plugin of accounts that name none.
    plugin: String,
    /// Its notes, for SHOW WARNINGS.
    notes: Vec<(u16, String)>,
    /// The accounts that it could not change.
    failed: Vec<Pair>,
}

/// Runs a statement about accounts.
pub fn change(session: &mut Session, change: &AccountChange) -> Result<()> {
    check_rights(session, change)?;
    transaction::commit(session)?;
    let plugin = session.shared.globals.get("default_authentication_plugin");
    let mut run = AccountStatement {
        own: session.state.current_account(),
        plugin: plugin.unwrap_or_else(|| SHA2.to_owned()),
        notes: Vec::new(),
        failed: Vec::new(),
    };
    let shared = session.shared.clone();
    shared.accounts.update(|list| {
        let operation = run.change(list, change)?;
        check_no_failures(operation, &run.failed)
    })?;
    for (code, text) in run.notes {
        session.state.warnings.add("Note", code, text);
    }
    Ok(())
}

impl AccountStatement {
    fn name(&self, name: &AccountName) -> Pair {
        name.clone().unwrap_or_else(|| self.own.clone())
    }

    /// Changes the accounts. Returns MySQL's name of the operation.
    fn change(&mut self, list: &mut Vec<Account>, change: &AccountChange) -> Result<&'static str> {
        match change {
            AccountChange::Create(users, options, conditional) => {
                self.create(list, users, *options, *conditional)?;
                return Ok("CREATE USER");
            }
            AccountChange::Alter(users, options, conditional) => {
                self.alter(list, users, *options, *conditional)?;
                return Ok("ALTER USER");
            }
            AccountChange::Drop(names, conditional) => {
                self.remove(list, names, *conditional)?;
                return Ok("DROP USER");
            }
            AccountChange::Rename(pairs) => {
                self.rename(list, pairs)?;
                return Ok("RENAME USER");
            }
            AccountChange::Password(of, password) => {
                let name = self.name(of);
                // MySQL's error for SET PASSWORD of an account that does not exist.
                let none = || SqlError::new(1133, "Can't find any matching row in the user table");
                let at = find(list, &name).ok_or_else(none)?;
                let user = NewUser {
                    name: Some(name),
                    plugin: None,
                    secret: Some(NewSecret::Password(password.clone())),
                };
                set_credentials(&mut list[at], &user, &self.plugin)?;
            }
            AccountChange::Grant(granted) => {
                let rights = self.rights(granted)?;
                self.change_each(list, &granted.accounts, |account| {
                    account.rights = account.rights.with(rights);
                    Ok(())
                })?;
            }
            AccountChange::Revoke(granted) => {
                let rights = self.rights(granted)?;
                self.change_each(list, &granted.accounts, |account| revoke(account, rights))?;
            }
            AccountChange::RevokeAll(names) => self.change_each(list, names, |account| {
                account.rights = Rights::NONE;
                Ok(())
            })?,
        }
        Ok("")
    }

    fn create(
        &mut self,
        list: &mut Vec<Account>,
        users: &[NewUser],
        options: UserOptions,
        conditional: bool,
    ) -> Result<()> {
        for user in users {
            let name = self.name(&user.name);
            check_names(&name)?;
            if find(list, &name).is_some() {
                self.note_or_fail(name, conditional.then_some((3163, "already exists")));
                continue;
            }
            let mut account = Account {
                user: name.0,
                host: name.1,
                plugin: self.plugin.clone(),
                secret: Secret::Empty,
                rights: Rights::NONE,
                ssl: false,
                locked: false,
            };
            set_credentials(&mut account, user, &self.plugin)?;
            set(&mut account, options);
            list.push(account);
        }
        Ok(())
    }

    fn alter(
        &mut self,
        list: &mut [Account],
        users: &[NewUser],
        options: UserOptions,
        conditional: bool,
    ) -> Result<()> {
        for user in users {
            let name = self.name(&user.name);
            let Some(at) = find(list, &name) else {
                self.note_or_fail(name, conditional.then_some((3162, "does not exist")));
                continue;
            };
            if at < OWN && options != UserOptions::default() {
                return Err(unchangeable(&list[at].user));
            }
            set_credentials(&mut list[at], user, &self.plugin)?;
            set(&mut list[at], options);
        }
        Ok(())
    }

    fn remove(
        &mut self,
        list: &mut Vec<Account>,
        names: &[AccountName],
        conditional: bool,
    ) -> Result<()> {
        for wanted in names {
            let name = self.name(wanted);
            match find(list, &name) {
                Some(at) if at < OWN => return Err(unchangeable(&name.0)),
                Some(at) => drop(list.remove(at)),
                None => self.note_or_fail(name, conditional.then_some((3162, "does not exist"))),
            }
        }
        Ok(())
    }

    fn rename(&mut self, list: &mut [Account], pairs: &[(AccountName, AccountName)]) -> Result<()> {
        for (old, new) in pairs {
            let (old, new) = (self.name(old), self.name(new));
            check_names(&new)?;
            match (find(list, &old), find(list, &new)) {
                (Some(at), _) if at < OWN => return Err(unchangeable(&old.0)),
                (Some(at), None) => (list[at].user, list[at].host) = new,
                _ => self.failed.push(old),
            }
        }
        Ok(())
    }

    /// An account that was not changed: a note with IF [NOT] EXISTS, otherwise an error.
    fn note_or_fail(&mut self, name: Pair, note: Option<(u16, &str)>) {
        match note {
            Some((code, what)) => self.notes.push((code, authorization(&name, what))),
            None => self.failed.push(name),
        }
    }

    fn change_each(
        &self,
        list: &mut [Account],
        names: &[AccountName],
        change: impl Fn(&mut Account) -> Result<()>,
    ) -> Result<()> {
        for wanted in names {
            let name = self.name(wanted);
            match find(list, &name) {
                Some(at) if at < OWN => return Err(unchangeable(&name.0)),
                Some(at) => change(&mut list[at])?,
                None => {
                    return Err(SqlError::new(
                        1410,
                        "You are not allowed to create a user with GRANT",
                    ));
                }
            }
        }
        Ok(())
    }

    /// The rights that the privileges of GRANT and REVOKE stand for. A privilege without meaning here is
    /// noted.
    fn rights(&mut self, granted: &Grant) -> Result<Rights> {
        let mut rights = Rights::NONE;
        for privilege in &granted.privileges {
            let (more, means) = Rights::of(privilege, granted.schema.as_deref())?;
            rights = rights.with(more);
            if !means {
                let note = format!("{privilege} means nothing on this server");
                self.notes.push((1105, note));
            }
        }
        Ok(rights)
    }
}

fn revoke(account: &mut Account, rights: Rights) -> Result<()> {
    if account.rights.all && !rights.all && rights != Rights::NONE {
        return Err(SqlError::new(
            1235,
            "This version of Tare doesn't yet support revoking a part of ALL PRIVILEGES: revoke ALL \
             PRIVILEGES ON *.*, and grant the others",
        ));
    }
    // REVOKE ALL on `*.*` leaves only rights on schemas.
    account.rights = match rights.all {
        true => Rights {
            read: account.rights.read,
            ..Rights::NONE
        },
        false => account.rights.without(rights),
    };
    Ok(())
}

/// Whether the session may run the statement. Every user may change the own password.
fn check_rights(session: &Session, change: &AccountChange) -> Result<()> {
    let own = session.state.current_account();
    let is_own = |name: &AccountName| name.as_ref().is_none_or(|name| *name == own);
    match change {
        AccountChange::Password(of, _) if is_own(of) => Ok(()),
        AccountChange::Alter(users, options, _)
            if *options == UserOptions::default()
                && users.iter().all(|user| is_own(&user.name)) =>
        {
            Ok(())
        }
        _ if session.is_root() => Ok(()),
        AccountChange::Grant(granted) | AccountChange::Revoke(granted) => {
            let (user, host) = session.state.account();
            Err(match &granted.schema {
                Some(schema) => SqlError::database_denied(&user, &host, schema),
                None => SqlError::new(
                    1045,
                    format!("Access denied for user '{user}'@'{host}' (using password: YES)"),
                ),
            })
        }
        AccountChange::Password(..) => Err(session.database_denied("mysql")),
        _ => session.rights.require_all("CREATE USER"),
    }
}

fn find(list: &[Account], (user, host): &Pair) -> Option<usize> {
    list.iter().enumerate().position(|(at, account)| {
        // root and monitor match with every host.
        account.user == *user && (at < OWN || account.host.eq_ignore_ascii_case(host))
    })
}

/// IDENTIFIED.
fn set_credentials(account: &mut Account, wanted: &NewUser, default: &str) -> Result<()> {
    let plugin = match &wanted.plugin {
        Some(plugin) if plugin == NATIVE || plugin == SHA2 => plugin.clone(),
        Some(other) => {
            return Err(SqlError::new(
                1524,
                format!("Plugin '{other}' is not loaded"),
            ));
        }
        None if account.plugin.is_empty() => default.to_owned(),
        None => account.plugin.clone(),
    };
    let plain = matches!(account.secret, Secret::Plain(_));
    let secret = match &wanted.secret {
        Some(NewSecret::Password(password)) if plain => {
            if password.trim() != password || password.is_empty() || password.contains('\n') {
                return Err(unstorable_password(&account.user));
            }
            Secret::Plain(password.clone())
        }
        _ if plain => return Err(unchangeable(&account.user)),
        Some(NewSecret::Password(password)) => Secret::of(&plugin, password),
        Some(NewSecret::Hash(hash)) if plugin == NATIVE => {
            let wrong =
                || SqlError::new(1827, "The password hash doesn't have the expected format.");
            storage::parse_native_hash(hash).ok_or_else(wrong)?
        }
        Some(NewSecret::Hash(_)) => {
            return Err(SqlError::new(
                1235,
                "This version of Tare doesn't yet support hashes of caching_sha2_password: give the \
                 password with IDENTIFIED BY",
            ));
        }
        // A password's hash is of no use to another plugin.
        None if wanted.plugin.is_some() && plugin != account.plugin => Secret::Empty,
        None => return Ok(()),
    };
    account.plugin = plugin;
    account.secret = secret;
    Ok(())
}

fn set(account: &mut Account, options: UserOptions) {
    account.ssl = options.ssl.unwrap_or(account.ssl);
    account.locked = options.locked.unwrap_or(account.locked);
}

fn check_names((user, host): &Pair) -> Result<()> {
    for (text, what, longest) in [
        (user, "user name", MAX_USER_CHARS),
        (host, "host name", MAX_HOST_CHARS),
    ] {
        if text.chars().count() > longest {
            let text = format!(
                "String '{text}' is too long for {what} (should be no longer than {longest})"
            );
            return Err(SqlError::new(1470, text));
        }
    }
    if user.is_empty() || host.contains('/') {
        return Err(SqlError::new(
            1235,
            "This version of Tare doesn't yet support users without names, and hosts by netmask: write \
             '10.1.%'",
        ));
    }
    Ok(())
}

fn authorization((user, host): &Pair, what: &str) -> String {
    format!("Authorization ID '{user}'@'{host}' {what}.")
}

fn check_no_failures(operation: &str, failed: &[Pair]) -> Result<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = failed
        .iter()
        .map(|(user, host)| format!("'{user}'@'{host}'"))
        .collect();
    Err(SqlError::new(
        1396,
        format!("Operation {operation} failed for {}", names.join(",")),
    ))
}

/// The error for a change of root or monitor.
fn unchangeable(user: &str) -> SqlError {
    SqlError::new(
        1235,
        format!(
            "This version of Tare doesn't yet support changes of '{user}' except of its password: create \
             another user"
        ),
    )
}

fn unstorable_password(user: &str) -> SqlError {
    let text = format!(
        "Your password does not satisfy the current policy requirements: that of '{user}' is one line of a file"
    );
    SqlError::new(1819, text)
}
