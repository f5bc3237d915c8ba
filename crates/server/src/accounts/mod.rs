//! The accounts: who may connect, with which password and which rights.
//!
//! root and monitor always exist, with passwords in files of the data directory. CREATE USER creates
//! the others; the file `accounts` stores them.

pub mod secret;
pub mod storage;

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tare::sync::PlainMutex;
use tare_mysql::account::Rights;
use tare_mysql::schema::{LOCALHOST, MONITOR, ROOT};

use self::secret::{CachedDigest, NATIVE, SHA2, Secret};
use super::config::Config;
use super::random::random;
use crate::certificate::write_atomically;

/// An account.
#[derive(Clone)]
pub struct Account {
    /// The user.
    pub user: String,
    /// The hosts it may connect from: `localhost`, an address, or a pattern with `%` and `_`.
    pub host: String,
    /// The authentication plugin.
    pub plugin: String,
    /// The stored form of its password.
    pub secret: Secret,
    /// Its rights.
    pub rights: Rights,
    /// Whether it has to encrypt.
    pub ssl: bool,
    /// Whether it is locked.
    pub locked: bool,
}

/// The accounts.
pub struct Accounts {
    /// root and monitor first, then the others.
    list: PlainMutex<Vec<Account>>,
    /// The accounts whose password a client has proved since the server started: MySQL's cache of
    /// caching_sha2_password.
    password_cache: PlainMutex<HashMap<(String, String), CachedDigest>>,
    /// Decides which plugin an unknown user seems to have.
    seed: RandomState,
    file: PathBuf,
    /// Files of root's and monitor's passwords, unless these were given.
    files: [Option<PathBuf>; 2],
    /// The user id that the server runs as.
    pub uid: u32,
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No passwords in logs.
        f.debug_struct("Accounts")
            .field("uid", &self.uid)
            .finish_non_exhaustive()
    }
}

/// The number of built-in accounts: root and monitor.
pub const OWN: usize = 2;

impl Accounts {
    /// Loads the accounts. Passwords come from the config, or from files of the data directory, which
    /// the first start creates.
    ///
    /// # Errors
    /// The file that cannot be read or created, and why.
    pub fn load(config: &Config) -> Result<Self, (PathBuf, io::Error)> {
        let own = |given: &Option<String>, name: &str| match given {
            Some(password) => Ok((password.clone(), None)),
            None => {
                let file = config.data.join(name);
                match read_or_create_password(&file) {
                    Ok(password) => Ok((password, Some(file))),
                    Err(error) => Err((file, error)),
                }
            }
        };
        let (root, root_file) = own(&config.password, "password")?;
        let (monitor, monitor_file) = own(&config.monitor_password, "monitor-password")?;
        let account = |user: &str, password, rights| Account {
            user: user.into(),
            host: LOCALHOST.into(),
            plugin: SHA2.into(),
            secret: Secret::Plain(password),
            rights,
            ssl: false,
            locked: false,
        };
        let mut list = vec![
            account(ROOT, root, Rights::ALL),
            account(MONITOR, monitor, Rights::MONITOR),
        ];
        let file = config.data.join("accounts");
        list.extend(storage::load(&file).map_err(|error| (file.clone(), error))?);
        Ok(Self {
            list: PlainMutex::new(list),
            password_cache: PlainMutex::default(),
            seed: RandomState::new(),
            file,
            files: [root_file, monitor_file],
            uid: rustix::process::geteuid().as_raw(),
        })
    }

    /// The file that stores root's password, unless the config gave the password.
    pub fn password_file(&self) -> Option<PathBuf> {
        self.files[0].clone()
    }

    /// All of them.
    pub fn all(&self) -> Vec<Account> {
        self.list.lock().clone()
    }

    /// The account that a user at a host logs in to. `address` is the host's IP address; an account
    /// matches by either.
    pub fn find(&self, user: &str, host: &str, address: Option<&str>) -> Option<Account> {
        let list = self.list.lock();
        // root and monitor may connect from every address that the server listens on.
        if let Some(own) = list[..OWN].iter().find(|account| account.user == user) {
            return Some(own.clone());
        }
        let mut matches: Vec<_> = list[OWN..]
            .iter()
            .filter(|account| {
                let admits = |host| is_like(host, &account.host);
                account.user == user && (admits(host) || address.is_some_and(admits))
            })
            .collect();
        matches.sort_by_key(|account| exactness(&account.host));
        matches.first().map(|account| (*account).clone())
    }

    /// The plugin that the greeting names: caching_sha2_password once a user has it, and before that
    /// mysql_native_password, which every client has built in. (MariaDB's library loads the other one at
    /// its first use, and threads that connect at the same time then sometimes fail with error 1156.)
    pub fn greeting_plugin(&self) -> &'static str {
        let list = self.list.lock();
        match list[OWN..].iter().any(|account| account.plugin == SHA2) {
            true => SHA2,
            false => NATIVE,
        }
    }

    /// The plugin that an unknown user seems to have. It depends only on the name, and is as frequent as
    /// among the existing users.
    pub fn decoy_plugin(&self, user: &str) -> &'static str {
        let list = self.list.lock();
        let has_sha2 = |account: &&Account| account.plugin == SHA2;
        let sha2 = list[OWN..].iter().filter(has_sha2).count();
        let all = list.len() - OWN;
        match self.seed.hash_one(user) % (all.max(1) as u64) < sha2 as u64 {
            true => SHA2,
            false => NATIVE,
        }
    }

    /// The digest that a client proves its password by without sending it, if one is cached.
    pub fn cached_digest(&self, account: &Account) -> Option<CachedDigest> {
        let name = (account.user.clone(), account.host.clone());
        let cached = self.password_cache.lock().get(&name).copied();
        cached.or_else(|| account.secret.cached_digest())
    }

    /// Caches the digest of a password that a client has proved.
    pub fn cache_password(&self, account: &Account, password: &[u8]) {
        let name = (account.user.clone(), account.host.clone());
        // The account may have changed since it was read.
        let list = self.list.lock();
        let same = |now: &&Account| {
            now.user == account.user && now.host == account.host && now.secret == account.secret
        };
        if list.iter().find(same).is_some() {
            self.password_cache
                .lock()
                .insert(name, secret::cached_digest(password));
        }
    }

    /// Changes the accounts, on disk first. Returns the result of `change`.
    pub fn update<R>(
        &self,
        change: impl FnOnce(&mut Vec<Account>) -> tare_mysql::Result<R>,
    ) -> tare_mysql::Result<R> {
        let mut list = self.list.lock();
        let mut changed = list.clone();
        let result = change(&mut changed)?;
        let failed = |what: &Path, error: io::Error| {
            let file = what.display();
            match error.kind() {
                io::ErrorKind::StorageFull => tare_mysql::SqlError::new(
                    1021,
                    format!("Disk full ({file}); free some space and try again"),
                ),
                _ => tare_mysql::SqlError::new(
                    1026,
                    format!("Error writing file '{file}' ({error})"),
                ),
            }
        };
        for (own, file) in self.files.iter().enumerate() {
            if let (Secret::Plain(new), Secret::Plain(old)) =
                (&changed[own].secret, &list[own].secret)
                && new != old
                && let Some(file) = file
            {
                write_atomically(file, &format!("{new}\n"), 0o600)
                    .map_err(|error| failed(file, error))?;
            }
        }
        storage::save(&self.file, &changed[OWN..]).map_err(|error| failed(&self.file, error))?;
        // A changed password has to be proved again.
        let mut password_cache = self.password_cache.lock();
        password_cache.retain(|(user, host), _| {
            let of = |list: &[Account]| {
                let account = list.iter().find(|a| a.user == *user && a.host == *host);
                account.map(|account| account.secret.clone())
            };
            let now = of(&changed);
            now.is_some() && now == of(&list)
        });
        drop(password_cache);
        *list = changed;
        Ok(result)
    }
}

/// The sort key of hosts: exact ones first, then patterns, the most general one last.
fn exactness(host: &str) -> (bool, usize) {
    let wild = host.find(['%', '_']);
    (wild.is_some(), usize::MAX - wild.unwrap_or(host.len()))
}

/// LIKE, without regard to case.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    // Where the last `%` matched from: only that one ever needs to match more.
    let (mut at, mut next, mut retry) = (0, 0, None);
    while at < text.len() {
        match pattern.get(next) {
            Some(b'%') => {
                retry = Some((next + 1, at));
                next += 1;
                continue;
            }
            Some(wanted) if *wanted == b'_' || wanted.eq_ignore_ascii_case(&text[at]) => {
                (at, next) = (at + 1, next + 1);
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = retry else {
            return false;
        };
        (at, next, retry) = (from + 1, after, Some((after, from + 1)));
    }
    pattern[next..].iter().all(|byte| *byte == b'%')
}

fn read_or_create_password(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Ok(text) if text.trim().is_empty() => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is empty: write the password there, or remove it and another one is generated",
        )),
        Ok(text) => {
            // Only the server's user may read it, whoever wrote it.
            fs::set_permissions(file, fs::Permissions::from_mode(0o600))?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0u8; 16];
            random(&mut bytes);
            let password: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            // Atomically: a full disk must leave no empty file.
            write_atomically(file, &format!("{password}\n"), 0o600)?;
            Ok(password)
        }
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_patterns_and_the_most_specific_one_matches() {
        for (text, pattern, like) in [
            ("localhost", "LOCALHOST", true),
            ("10.1.2.3", "10.1.%", true),
            ("10.1.2.3", "10.1.2._", true),
            ("10.1.2.30", "10.1.2._", false),
            ("a.b.example", "%.example", true),
            ("a.example.b", "%.example", false),
            ("aab", "%ab", true),
            ("", "%", true),
            ("x", "", false),
        ] {
            assert_eq!(is_like(text, pattern), like, "{text} {pattern}");
        }
        let mut hosts = ["%", "10.%", "10.1.%", "localhost", "10.1.2.3"];
        hosts.sort_by_key(|host| exactness(host));
        assert_eq!(hosts, ["localhost", "10.1.2.3", "10.1.%", "10.%", "%"]);
    }

    #[test]
    fn an_unknown_user_gets_a_plugin_that_users_have() {
        let account = |user: &str, plugin: &str| Account {
            user: user.into(),
            host: "%".into(),
            plugin: plugin.into(),
            secret: Secret::of(plugin, "p"),
            rights: Rights::NONE,
            ssl: false,
            locked: false,
        };
        let with = |others: &[Account]| {
            let own = [account(ROOT, SHA2), account(MONITOR, SHA2)];
            Accounts {
                list: PlainMutex::new([&own, others].concat()),
                password_cache: PlainMutex::default(),
                seed: RandomState::new(),
                file: PathBuf::new(),
                files: [None, None],
                uid: 0,
            }
        };
        let names: Vec<_> = (0..64).map(|n| format!("nobody{n}")).collect();
        let natives = |accounts: &Accounts| {
            let is_native = |name: &&String| accounts.decoy_plugin(name) == NATIVE;
            names.iter().filter(is_native).count()
        };
        assert_eq!(natives(&with(&[])), 64);
        assert_eq!(natives(&with(&[account("a", SHA2)])), 0);
        assert_eq!(natives(&with(&[account("a", NATIVE)])), 64);
        let both = with(&[account("a", NATIVE), account("b", SHA2)]);
        assert_eq!(
            [with(&[]).greeting_plugin(), both.greeting_plugin()],
            [NATIVE, SHA2]
        );
        for name in &names {
            assert_eq!(both.decoy_plugin(name), both.decoy_plugin(name));
        }
    }
}
