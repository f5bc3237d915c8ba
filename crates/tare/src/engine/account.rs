//! Users, hosts, accounts and schemas: names to numbers.
//!
//! Looked up when a client connects or changes its default schema. Numbers are given in order and
//! never taken back, so that a search is a walk over those in use.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tare_layout::account::{Named, READY, UNLISTED};
use tare_layout::shared::Lost;

use super::state::{Engine, lock};

/// An account's number with those of its user and host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Number of the account, 0 = background.
    pub number: u32,
    /// For which account events count: this one, or the background if it is beyond the limit.
    pub counted: u32,
    user: u32,
    host: u32,
}

impl Engine {
    /// The number of a default schema, 0 = none or no room.
    pub fn schema_number(&self, name: &str) -> u32 {
        let used = &self.view.shared().schemas_used.0;
        let limit = self.view.geometry().limits.schemas;
        let number = self.named(name, used, limit, |i| self.view.schema(i));
        if number == 0 && !name.is_empty() {
            self.lose(Lost::Schemas, 1);
        }
        number
    }

    /// The number of a name, 0 = none or no room.
    fn named(
        &self,
        name: &str,
        used: &AtomicU32,
        limit: usize,
        entry: impl Fn(usize) -> &'static Named,
    ) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let find = |from: usize, to: usize| (from..to).find(|&i| entry(i).name.is(name));
        let seen = used.load(Ordering::Acquire) as usize;
        if let Some(number) = find(1, seen) {
            return number as u32;
        }
        let _one_at_a_time = lock(&self.registering);
        let now = used.load(Ordering::Relaxed) as usize;
        if let Some(number) = find(seen, now) {
            return number as u32;
        }
        if now == limit {
            return 0;
        }
        entry(now).name.set(name);
        entry(now).state.store(READY, Ordering::Release);
        used.store(now as u32 + 1, Ordering::Release);
        now as u32
    }

    /// The account of a user at a host. One beyond the limit is known, but not listed; what does not fit even there
    /// counts as background.
    pub fn account(&self, user: &str, host: &str) -> Account {
        let (shared, view) = (self.view.shared(), &self.view);
        let limits = &view.geometry().limits;
        let names = (user, host);
        let all = limits.users + UNLISTED;
        let user = self.named(user, &shared.users_used.0, all, |i| view.user(i));
        let all = limits.hosts + UNLISTED;
        let host = self.named(host, &shared.hosts_used.0, all, |i| view.host(i));
        let is_client = (user, host) != (0, 0);
        let number = is_client.then(|| self.pair(user, host)).flatten();
        let is_listed = |number: u32, limit: usize| number != 0 && (number as usize) < limit;
        let row = number.filter(|&number| is_listed(number, limits.accounts));
        if row.is_none() && is_client {
            self.lose(Lost::Accounts, 1);
        }
        // Its user and host are looked for when an account is new, as in MySQL.
        let is_known = row.is_some_and(|number| {
            let row = view.account(number as usize);
            row.total.load(Ordering::Relaxed) != row.forgotten.load(Ordering::Relaxed)
        });
        for (name, number, limit, lost) in [
            (names.0, user, limits.users, Lost::Users),
            (names.1, host, limits.hosts, Lost::Hosts),
        ] {
            if !is_known && !name.is_empty() && !is_listed(number, limit) {
                self.lose(lost, 1);
            }
        }
        Account {
            number: number.unwrap_or(0),
            counted: row.unwrap_or(0),
            user,
            host,
        }
    }

    /// The number of the account of these two, if there is room for it.
    fn pair(&self, user: u32, host: u32) -> Option<u32> {
        let used = &self.view.shared().accounts_used.0;
        let find = |from: usize, to: usize| {
            (from..to).find(|&i| {
                let account = self.view.account(i);
                account.user.load(Ordering::Relaxed) == user
                    && account.host.load(Ordering::Relaxed) == host
            })
        };
        let seen = used.load(Ordering::Acquire) as usize;
        let number = find(1, seen).or_else(|| {
            let _one_at_a_time = lock(&self.registering);
            let now = used.load(Ordering::Relaxed) as usize;
            find(seen, now).or_else(|| {
                if now == self.view.geometry().limits.accounts + UNLISTED {
                    return None;
                }
                let account = self.view.account(now);
                account.user.store(user, Ordering::Relaxed);
                account.host.store(host, Ordering::Relaxed);
                account.state.store(READY, Ordering::Release);
                used.store(now as u32 + 1, Ordering::Release);
                Some(now)
            })
        })?;
        u32::try_from(number).ok()
    }

    /// Counts a connection of this account.
    pub fn connected(&self, account: Account) {
        self.connections(account, |current, total| {
            current.fetch_add(1, Ordering::Relaxed);
            total.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Counts the end of one.
    pub fn disconnected(&self, account: Account) {
        self.connections(account, |current, _| {
            current.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Those of the account, its user and its host: now, and ever.
    #[inline(always)]
    fn connections(&self, account: Account, count: impl Fn(&AtomicU64, &AtomicU64)) {
        if account.number != 0 {
            let row = self.view.account(account.number as usize);
            count(&row.current, &row.total);
        }
        if account.user != 0 {
            let row = self.view.user(account.user as usize);
            count(&row.current, &row.total);
        }
        if account.host != 0 {
            let row = self.view.host(account.host as usize);
            count(&row.current, &row.total);
        }
    }
}
