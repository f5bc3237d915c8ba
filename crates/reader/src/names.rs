//! Accounts, users, hosts and schemas: the names behind the numbers in slots and events.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::View;
use tare_layout::account::{self, READY, UNLISTED};
use tare_layout::primitive::{AtomicU32, AtomicU64};

use crate::classes::text;

/// A user at a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The user; `None` = none (background threads, and accounts beyond the limit).
    pub user: Option<Arc<str>>,
    /// The host, likewise.
    pub host: Option<Arc<str>>,
    /// Number of the user, 0 = none.
    pub user_number: u32,
    /// Number of the host, 0 = none.
    pub host_number: u32,
    /// Connections now.
    pub current: u64,
    /// Connections ever, since the table was truncated.
    pub total: u64,
    /// Whether its table lists it: not if it has had no connection since a truncation, or is beyond the
    /// limit.
    pub listed: bool,
}

/// A user or a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameEntry {
    /// Its name.
    pub name: Arc<str>,
    /// Connections now.
    pub current: u64,
    /// Connections ever, since the table was truncated.
    pub total: u64,
    /// Whether its table lists it: not if it has had no connection since a truncation, or is beyond the
    /// limit.
    pub listed: bool,
}

/// The names of a segment at one moment.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By number; number 0 is that of threads without an account.
    pub accounts: Vec<Account>,
    /// By number - 1.
    pub users: Vec<Option<NameEntry>>,
    /// By number - 1.
    pub hosts: Vec<Option<NameEntry>>,
    /// By number - 1.
    pub schemas: Vec<Option<NameEntry>>,
}

fn used(count: &AtomicU32, limit: usize) -> usize {
    (count.load(Ordering::Acquire) as usize).min(limit)
}

fn entry(entry: &account::NamedEntry, is_within_limit: bool) -> Option<NameEntry> {
    (entry.state.load(Ordering::Acquire) == READY).then(|| {
        let (current, total, listed) = counts(&entry.current, &entry.total, &entry.forgotten);
        NameEntry {
            name: text(&entry.name).into(),
            current,
            total,
            listed: listed && is_within_limit,
        }
    })
}

/// Connections now, those since the truncation, and whether the entry is listed.
fn counts(current: &AtomicU64, total: &AtomicU64, forgotten: &AtomicU64) -> (u64, u64, bool) {
    let current = current.load(Ordering::Relaxed);
    let total = total.load(Ordering::Relaxed);
    let forgotten = forgotten.load(Ordering::Relaxed);
    let since = total.saturating_sub(forgotten).max(current);
    (current, since, since != 0 || forgotten == 0)
}

fn name_of(all: &[Option<NameEntry>], number: u32) -> Option<Arc<str>> {
    let entry = all.get((number as usize).checked_sub(1)?)?;
    entry.as_ref().map(|entry| entry.name.clone())
}

impl Names {
    /// Reads the names that the host has registered until now.
    pub fn read(view: View<'_>) -> Self {
        let (shared, limits) = (view.shared(), view.geometry().limits);
        let mut names = Names {
            users: (1..used(&shared.users_used.0, limits.users + UNLISTED))
                .map(|i| entry(view.user(i), i < limits.users))
                .collect(),
            hosts: (1..used(&shared.hosts_used.0, limits.hosts + UNLISTED))
                .map(|i| entry(view.host(i), i < limits.hosts))
                .collect(),
            schemas: (1..used(&shared.schemas_used.0, limits.schemas))
                .map(|i| entry(view.schema(i), true))
                .collect(),
            accounts: Vec::new(),
        };
        let account = |i: usize| {
            let account = view.account(i);
            // Hostile bytes may have a number without a name: it counts as none.
            let resolve = |all: &[Option<NameEntry>], number: u32| match name_of(all, number) {
                Some(name) => (number, Some(name)),
                None => (0, None),
            };
            let (user_number, user) = resolve(&names.users, account.user.load(Ordering::Relaxed));
            let (host_number, host) = resolve(&names.hosts, account.host.load(Ordering::Relaxed));
            let (current, total, listed) =
                counts(&account.current, &account.total, &account.forgotten);
            Account {
                user,
                host,
                user_number,
                host_number,
                current,
                total,
                listed: listed && i < limits.accounts,
            }
        };
        names.accounts = (0..used(&shared.accounts_used.0, limits.accounts + UNLISTED))
            .map(account)
            .collect();
        names
    }

    /// The account with this number; `None` if it is newer than these names.
    pub fn account(&self, number: u32) -> Option<&Account> {
        self.accounts.get(number as usize)
    }

    /// The schema with this number.
    pub fn schema(&self, number: u32) -> Option<Arc<str>> {
        name_of(&self.schemas, number)
    }
}
