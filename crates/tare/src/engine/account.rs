//! Users, hosts, accounts and schemas: names to numbers.
//!
//! A name is looked up when a client connects or changes its default schema. Numbers are given in
//! order, and a search goes through those in use. If the table is full, an account, user or host that
//! was truncated and has had no connection since gives its number to another one.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tare_layout::account::{self, CHANGING, NamedEntry, READY, UNLISTED};
use tare_layout::shared::Lost;

use super::freelist;
use super::state::Engine;

/// An account's number with those of its user and host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Number of the account, 0 = background.
    pub number: u32,
    /// The account that events count for: this one, or the background if it is beyond the limit.
    pub counted: u32,
    user: u32,
    host: u32,
}

/// Where an account, a user or a host counts its connections.
#[derive(Clone, Copy)]
struct Row {
    state: &'static AtomicU32,
    current: &'static AtomicU64,
    total: &'static AtomicU64,
    forgotten: &'static AtomicU64,
}

impl From<&'static account::Account> for Row {
    fn from(account: &'static account::Account) -> Self {
        Self {
            state: &account.state,
            current: &account.current,
            total: &account.total,
            forgotten: &account.forgotten,
        }
    }
}

impl From<&'static NamedEntry> for Row {
    fn from(named: &'static NamedEntry) -> Self {
        Self {
            state: &named.state,
            current: &named.current,
            total: &named.total,
            forgotten: &named.forgotten,
        }
    }
}

impl Row {
    /// Counts a connection to an entry, unless the entry has been given to another one.
    fn enter(self, is_still: impl FnOnce() -> bool) -> bool {
        // SeqCst, as in `take`: either this thread sees that the row changes, or the other thread sees
        // this connection.
        self.current.fetch_add(1, Ordering::SeqCst);
        let entered = self.state.load(Ordering::SeqCst) == READY && is_still();
        if !entered {
            self.current.fetch_sub(1, Ordering::Relaxed);
        }
        entered
    }

    /// Whether it was truncated and has had no connection since.
    fn is_forgotten(self) -> bool {
        let total = self.total.load(Ordering::Relaxed);
        total != 0
            && total == self.forgotten.load(Ordering::Relaxed)
            && self.current.load(Ordering::SeqCst) == 0
    }

    /// Gives a forgotten entry to another one, and counts its first connection. One thread at a time.
    fn take(self, fill: impl FnOnce()) -> bool {
        if !self.is_forgotten() {
            return false;
        }
        self.state.store(CHANGING, Ordering::SeqCst);
        let is_free = self.is_forgotten();
        if is_free {
            fill();
            self.current.fetch_add(1, Ordering::Relaxed);
        }
        self.state.store(READY, Ordering::SeqCst);
        is_free
    }
}

/// A table of accounts, users or hosts, and the entry to look up in it.
struct Table<E, I, F, M> {
    used: &'static AtomicU32,
    /// How many entries are listed.
    limit: usize,
    row: E,
    is: I,
    fill: F,
    /// Whether a forgotten row may be given to another one; prepares it for that.
    may_take: M,
}

impl<E, I, F, M> Table<E, I, F, M>
where
    E: Fn(usize) -> Row,
    I: Fn(usize) -> bool,
    F: Fn(usize),
    M: Fn(usize) -> bool,
{
    /// Finds or creates the entry and counts a connection. Returns its number; `None` if the table is
    /// full even beyond the limit.
    fn enter(&self, engine: &Engine) -> Option<u32> {
        let find = |from: usize, to: usize| {
            (from..to).find(|&i| (self.is)(i) && (self.row)(i).enter(|| (self.is)(i)))
        };
        let used = self.used.load(Ordering::Acquire) as usize;
        let number = find(1, used.min(self.limit)).or_else(|| {
            let _one_at_a_time = engine.lock(&engine.registering);
            let now = self.used.load(Ordering::Relaxed) as usize;
            find(1, now.min(self.limit))
                .or_else(|| self.take_forgotten(now))
                .or_else(|| find(self.limit, now))
                .or_else(|| self.new_entry(now))
        })?;
        u32::try_from(number).ok()
    }

    /// Takes a forgotten entry, if all listed entries are in use.
    fn take_forgotten(&self, now: usize) -> Option<usize> {
        if now < self.limit {
            return None;
        }
        (1..self.limit).find(|&i| {
            let row = (self.row)(i);
            row.is_forgotten() && (self.may_take)(i) && row.take(|| (self.fill)(i))
        })
    }

    /// Creates an entry.
    fn new_entry(&self, now: usize) -> Option<usize> {
        if now >= self.limit + UNLISTED {
            return None;
        }
        let row = (self.row)(now);
        (self.fill)(now);
        row.current.fetch_add(1, Ordering::Relaxed);
        row.state.store(READY, Ordering::Release);
        self.used.store(now as u32 + 1, Ordering::Release);
        Some(now)
    }
}

impl Engine {
    /// The number of a default schema, 0 = none, or the table is full.
    pub fn schema_number(&self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let used = &self.view.shared().schemas_used.0;
        let find = |from: usize, to: usize| (from..to).find(|&i| self.view.schema(i).name.is(name));
        let listed = used.load(Ordering::Acquire) as usize;
        if let Some(number) = find(1, listed) {
            return number as u32;
        }
        let _one_at_a_time = self.lock(&self.registering);
        let now = used.load(Ordering::Relaxed) as usize;
        if let Some(number) = find(listed, now) {
            return number as u32;
        }
        if now == self.view.geometry().limits.schemas {
            self.lose(Lost::Schemas, 1);
            return 0;
        }
        let schema = self.view.schema(now);
        schema.name.set(name);
        schema.state.store(READY, Ordering::Release);
        used.store(now as u32 + 1, Ordering::Release);
        now as u32
    }

    /// The number of a user or host, with a connection counted; 0 = none, or the table is full. `of`
    /// returns its number in an account.
    fn named(
        &self,
        name: &str,
        used: &'static AtomicU32,
        limit: usize,
        entry: impl Fn(usize) -> &'static NamedEntry,
        of: impl Fn(&account::Account) -> &AtomicU32,
    ) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let is_unused = |number: usize| {
            let accounts = self.view.shared().accounts_used.0.load(Ordering::Acquire) as usize;
            (1..accounts).all(|i| {
                let account = self.view.account(i);
                let is_its = of(account).load(Ordering::Relaxed) as usize == number;
                !is_its || Row::from(account).is_forgotten()
            })
        };
        let table = Table {
            used,
            limit,
            row: |i| Row::from(entry(i)),
            is: |i| entry(i).name.is(name),
            fill: |i| entry(i).name.set(name),
            may_take: is_unused,
        };
        table.enter(self).unwrap_or(0)
    }

    /// The account of a user at a host, to be followed by [`Engine::connected`]. One beyond the limit
    /// has a number, but is not listed; if even those numbers are used up, it counts as background.
    pub fn account(&self, user: &str, host: &str) -> Account {
        let (shared, view) = (self.view.shared(), self.view);
        let limits = &self.view.geometry().limits;
        let names = (user, host);
        let user = self.named(
            user,
            &shared.users_used.0,
            limits.users,
            |i| view.user(i),
            |account| &account.user,
        );
        let host = self.named(
            host,
            &shared.hosts_used.0,
            limits.hosts,
            |i| view.host(i),
            |account| &account.host,
        );
        let is_client = (user, host) != (0, 0);
        let number = is_client.then(|| self.pair(user, host)).flatten();
        let is_listed = |number: u32, limit: usize| number != 0 && (number as usize) < limit;
        let row = number.filter(|&number| is_listed(number, limits.accounts));
        if row.is_none() && is_client {
            self.lose(Lost::Accounts, 1);
        }
        // As in MySQL, a lost user or host is counted when the account is new.
        let is_connected = row.is_some_and(|number| {
            let row = view.account(number as usize);
            row.total.load(Ordering::Relaxed) != row.forgotten.load(Ordering::Relaxed)
        });
        for (name, number, limit, lost) in [
            (names.0, user, limits.users, Lost::Users),
            (names.1, host, limits.hosts, Lost::Hosts),
        ] {
            if !is_connected && !name.is_empty() && !is_listed(number, limit) {
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

    /// The number of the account of these two, with a connection counted, unless the table is full.
    fn pair(&self, user: u32, host: u32) -> Option<u32> {
        let view = self.view;
        let table = Table {
            used: &view.shared().accounts_used.0,
            limit: view.geometry().limits.accounts,
            row: |i| Row::from(view.account(i)),
            is: |i| {
                let account = view.account(i);
                account.user.load(Ordering::Relaxed) == user
                    && account.host.load(Ordering::Relaxed) == host
            },
            fill: |i| {
                let account = view.account(i);
                account.user.store(user, Ordering::Relaxed);
                account.host.store(host, Ordering::Relaxed);
            },
            may_take: |i| {
                self.leave_banks(i);
                true
            },
        };
        table.enter(self)
    }

    /// Gives the banks of a forgotten account, with their counts, to the background: users and hosts
    /// that were not truncated still include them, and the next account begins without counts.
    fn leave_banks(&self, number: usize) {
        let account = self.view.account(number);
        while let Some(bank) = freelist::pop(&account.free_banks, |i| self.bank_link(i)) {
            self.rename_bank(bank, 0);
            self.give_bank(bank);
        }
    }

    /// Counts a connection of this account.
    pub fn connected(&self, account: Account) {
        self.connections(account, |row| {
            row.total.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Counts the end of a connection.
    pub fn disconnected(&self, account: Account) {
        self.connections(account, |row| {
            row.current.fetch_sub(1, Ordering::Release);
        });
    }

    /// The same, for the account of a thread whose process is dead.
    pub(super) fn disconnect_number(&self, number: u32) {
        let account = self.view.account(number as usize);
        self.disconnected(Account {
            number,
            counted: 0,
            user: account.user.load(Ordering::Relaxed),
            host: account.host.load(Ordering::Relaxed),
        });
    }

    /// Calls `count` for the account, its user and its host.
    #[inline(always)]
    fn connections(&self, account: Account, count: impl Fn(Row)) {
        if account.number != 0 {
            count(self.view.account(account.number as usize).into());
        }
        if account.user != 0 {
            count(self.view.user(account.user as usize).into());
        }
        if account.host != 0 {
            count(self.view.host(account.host as usize).into());
        }
    }
}
