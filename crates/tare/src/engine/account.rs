//! Users, hosts, accounts and schemas: names to numbers.
//!
//! Looked up when a client connects or changes its default schema. Numbers are given in order and
//! never taken back, so that a search is a walk over those in use.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tare_layout::account::{Named, READY};
use tare_layout::shared::Lost;

use super::state::{Engine, lock};

/// An account's number with those of its user and host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Number of the account, 0 = background.
    pub number: u32,
    user: u32,
    host: u32,
}

impl Engine {
    /// The number of a default schema, 0 = none or no room.
    pub fn schema_number(&self, name: &str) -> u32 {
        let used = &self.view.shared().schemas_used.0;
        let limit = self.view.geometry().limits.schemas;
        self.named(name, used, limit, Lost::Schemas, |i| self.view.schema(i))
    }

    fn named(
        &self,
        name: &str,
        used: &AtomicU32,
        limit: usize,
        lost: Lost,
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
            self.lose(lost, 1);
            return 0;
        }
        entry(now).name.set(name);
        entry(now).state.store(READY, Ordering::Release);
        used.store(now as u32 + 1, Ordering::Release);
        now as u32
    }

    /// The account of a user at a host. What does not fit the limits counts as background.
    pub fn account(&self, user: &str, host: &str) -> Account {
        let shared = self.view.shared();
        let limits = &self.view.geometry().limits;
        let user = self.named(user, &shared.users_used.0, limits.users, Lost::Users, |i| {
            self.view.user(i)
        });
        let host = self.named(host, &shared.hosts_used.0, limits.hosts, Lost::Hosts, |i| {
            self.view.host(i)
        });
        if user == 0 && host == 0 {
            return Account::default();
        }
        let used = &shared.accounts_used.0;
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
                if now == limits.accounts {
                    self.lose(Lost::Accounts, 1);
                    return None;
                }
                let account = self.view.account(now);
                account.user.store(user, Ordering::Relaxed);
                account.host.store(host, Ordering::Relaxed);
                account.state.store(READY, Ordering::Release);
                used.store(now as u32 + 1, Ordering::Release);
                Some(now)
            })
        });
        Account {
            number: number.unwrap_or(0) as u32,
            user,
            host,
        }
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
