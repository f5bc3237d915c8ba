//! The sums of counters by account, including sessions that have ended.

use std::collections::HashMap;

use super::{CELLS, Cells, Status, add, subtract};

/// What counters are summed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// User and host.
    Account,
    /// User.
    User,
    /// Host.
    Host,
}

/// User and host; empty if not summed by it.
type Key = (String, String);

impl By {
    /// The key that an account's counts are summed under.
    fn key(self, (user, host): &Key) -> Key {
        match self {
            By::Account => (user.clone(), host.clone()),
            By::User => (user.clone(), String::new()),
            By::Host => (String::new(), host.clone()),
        }
    }
}

/// The sums of sessions that have ended.
#[derive(Default)]
pub struct Accounts {
    left: HashMap<Key, Box<Cells>>,
    /// The sums at the last TRUNCATE of the table by account, user or host.
    bases: [HashMap<Key, Box<Cells>>; 3],
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accounts").finish_non_exhaustive()
    }
}

impl Accounts {
    /// Adds the counts of a session that has ended.
    pub fn add_ended(&mut self, account: Key, status: &Status) {
        let sum = self
            .left
            .entry(account)
            .or_insert_with(|| Box::new([0; CELLS]));
        add(sum, &status.total());
    }

    fn sums<'a>(
        &self,
        by: By,
        live: impl Iterator<Item = (Key, &'a Status)>,
    ) -> HashMap<Key, Box<Cells>> {
        let mut sums: HashMap<Key, Box<Cells>> = HashMap::new();
        let mut plus = |account: &Key, cells: &Cells| {
            let sum = sums
                .entry(by.key(account))
                .or_insert_with(|| Box::new([0; CELLS]));
            add(sum, cells);
        };
        for (account, cells) in &self.left {
            plus(account, cells);
        }
        for (account, status) in live {
            plus(&account, &status.total());
        }
        sums
    }

    /// The sums since the last [`Accounts::truncate`].
    pub fn sums_by<'a>(
        &self,
        by: By,
        live: impl Iterator<Item = (Key, &'a Status)>,
    ) -> Vec<(Key, Box<Cells>)> {
        let mut sums = self.sums(by, live);
        for (key, base) in &self.bases[by as usize] {
            if let Some(sum) = sums.get_mut(key) {
                subtract(sum, base);
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|a, b| a.0.cmp(&b.0));
        sums
    }

    /// Makes the current sums the baseline of [`Accounts::sums_by`].
    pub fn truncate<'a>(&mut self, by: By, live: impl Iterator<Item = (Key, &'a Status)>) {
        self.bases[by as usize] = self.sums(by, live);
    }

    /// The server's total.
    pub fn total<'a>(&self, live: impl Iterator<Item = &'a Status>) -> Box<Cells> {
        let mut sum = Box::new([0; CELLS]);
        for cells in self.left.values() {
            add(&mut sum, cells);
        }
        for status in live {
            add(&mut sum, &status.total());
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counter, value};
    use super::*;

    fn account(user: &str) -> Key {
        (user.into(), "localhost".into())
    }

    #[test]
    fn an_ended_session_stays_in_its_accounts_sum() {
        let mut accounts = Accounts::default();
        let (gone, live) = (Status::default(), Status::default());
        gone.add(Counter::Questions, 3);
        live.add(Counter::Questions, 4);
        accounts.add_ended(account("a"), &gone);
        let sessions = || [(account("a"), &live)].into_iter();
        let questions = |sums: &[(Key, Box<Cells>)]| value(&sums[0].1, Counter::Questions);
        for by in [By::Account, By::User, By::Host] {
            assert_eq!(questions(&accounts.sums_by(by, sessions())), 7);
        }
        accounts.truncate(By::User, sessions());
        live.add(Counter::Questions, 1);
        assert_eq!(questions(&accounts.sums_by(By::User, sessions())), 1);
        assert_eq!(questions(&accounts.sums_by(By::Host, sessions())), 8);
        let total = accounts.total(std::iter::once(&live));
        assert_eq!(value(&total, Counter::Questions), 8);
    }
}
