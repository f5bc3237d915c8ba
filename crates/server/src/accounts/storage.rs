//! The file of the data directory that stores the accounts which clients have created.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};
use tare_mysql::account::Rights;

use super::Account;
use super::secret::{NATIVE, SHA2, Secret};
use crate::certificate::write_atomically;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut all = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (i, byte) in all.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(all)
}

/// Parses the hash of a mysql_native_password as MySQL writes it: `*` and forty hexadecimal digits.
pub fn parse_native_hash(text: &str) -> Option<Secret> {
    text.strip_prefix('*').and_then(bytes).map(Secret::Native)
}

fn to_json(account: &Account) -> Value {
    let (secret, salt) = match &account.secret {
        Secret::Native(hash) => (hex(hash), String::new()),
        Secret::Sha2(salt, hash) => (hex(hash), hex(salt)),
        Secret::Plain(_) | Secret::Empty => Default::default(),
    };
    let mut rights = account.rights;
    let held = rights.named().into_iter().filter(|(_, has)| **has);
    let held: Vec<_> = held.map(|(name, _)| name).collect();
    json!({
        "user": account.user,
        "host": account.host,
        "plugin": account.plugin,
        "secret": secret,
        "salt": salt,
        "rights": held,
        "ssl": account.ssl,
        "locked": account.locked,
    })
}

fn from_json(value: &Map<String, Value>) -> Option<Account> {
    let text = |name: &str| value.get(name)?.as_str();
    let yes = |name: &str| value.get(name)?.as_bool();
    let plugin = text("plugin").filter(|plugin| [NATIVE, SHA2].contains(plugin))?;
    let secret = match (plugin, text("secret")?) {
        (_, "") => Secret::Empty,
        (NATIVE, hash) => Secret::Native(bytes(hash)?),
        (_, hash) => Secret::Sha2(bytes(text("salt")?)?, bytes(hash)?),
    };
    let mut rights = Rights::NONE;
    for held in value.get("rights")?.as_array()? {
        let held = held.as_str()?;
        let (_, right) = rights.named().into_iter().find(|(name, _)| *name == held)?;
        *right = true;
    }
    Some(Account {
        user: text("user")?.to_owned(),
        host: text("host")?.to_owned(),
        plugin: plugin.to_owned(),
        secret,
        rights,
        ssl: yes("ssl")?,
        locked: yes("locked")?,
    })
}

/// Reads the file. Without a file there are no accounts.
pub fn load(path: &Path) -> io::Result<Vec<Account>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let damaged = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is damaged: put its last backup there, or remove it and create the users again",
        )
    };
    let all: Value = serde_json::from_slice(&text).map_err(|_| damaged())?;
    let all = all
        .get("accounts")
        .and_then(Value::as_array)
        .ok_or_else(damaged)?;
    all.iter()
        .map(|one| one.as_object().and_then(from_json).ok_or_else(damaged))
        .collect()
}

/// Replaces the file atomically: a temporary file in its directory is written, synced and renamed.
pub fn save(path: &Path, accounts: &[Account]) -> io::Result<()> {
    let all: Vec<Value> = accounts.iter().map(to_json).collect();
    write_atomically(path, &format!("{:#}\n", json!({ "accounts": all })), 0o600)
}
