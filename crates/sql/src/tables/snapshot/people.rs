//! Threads, accounts, users and hosts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tare_layout::account::{Named, READY};
use tare_layout::control::effective;
use tare_layout::event::{statement as at, word};
use tare_layout::slot::{COMMANDS, CONNECTION_TYPES, LIVE, ring};

use tare_reader::Classes;
use tare_reader::classes::text;

use super::host::Host;
use super::{Made, Snapshot, rows};
use crate::catalog::Filter;
use crate::tables::performance_schema::connections::Connections;
use crate::tables::performance_schema::threads::Thread;

/// A live slot as the snapshot found it.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub number: usize,
    pub thread_id: u64,
    pub bank: usize,
    pub account: usize,
    pub pushed: [u64; ring::RINGS],
    pub wait_depth: usize,
    pub statement_depth: usize,
    pub row: Arc<Thread>,
}

/// How often a slot that changes hands is looked at again before it is passed over.
const TRIES: usize = 16;

impl Host {
    fn name(
        &self,
        used: u32,
        limit: usize,
        i: u32,
        named: impl Fn(usize) -> String,
    ) -> Option<Arc<str>> {
        let i = i as usize;
        (i != 0 && i < self.used(used, limit)).then(|| named(i).into())
    }

    /// The name of a schema, by number.
    pub fn schema(&self, number: u32) -> Option<Arc<str>> {
        let view = self.view();
        let used = view.shared().schemas_used.0.load(Ordering::Acquire);
        let limit = view.geometry().limits.schemas;
        self.name(used, limit, number, |i| text(&view.schema(i).name))
    }

    fn user(&self, number: u32) -> Option<Arc<str>> {
        let view = self.view();
        let used = view.shared().users_used.0.load(Ordering::Acquire);
        let limit = view.geometry().limits.users;
        self.name(used, limit, number, |i| text(&view.user(i).name))
    }

    fn host(&self, number: u32) -> Option<Arc<str>> {
        let view = self.view();
        let used = view.shared().hosts_used.0.load(Ordering::Acquire);
        let limit = view.geometry().limits.hosts;
        self.name(used, limit, number, |i| text(&view.host(i).name))
    }

    /// The accounts, by number; account 0 is that of threads without one.
    pub fn accounts(&self) -> Vec<Connections> {
        let view = self.view();
        let used = view.shared().accounts_used.0.load(Ordering::Acquire);
        let used = self.used(used, view.geometry().limits.accounts);
        let account = |i: usize| {
            let account = view.account(i);
            Connections {
                user: self.user(account.user.load(Ordering::Relaxed)),
                host: self.host(account.host.load(Ordering::Relaxed)),
                current: account.current.load(Ordering::Relaxed) as i64,
                total: account.total.load(Ordering::Relaxed) as i64,
            }
        };
        (0..used).map(account).collect()
    }

    /// Reads a slot; `None` if no thread lives there, or threads come and go too fast.
    fn slot(&self, number: usize, names: &Names) -> Option<Slot> {
        let slot = self.view().slot(number);
        for _ in 0..TRIES {
            if slot.state.load(Ordering::Acquire) != LIVE {
                return None;
            }
            let turn = slot.turn.load(Ordering::Acquire);
            let found = (turn % 2 == 0).then(|| self.read_slot(number, names));
            fence(Ordering::Acquire);
            if slot.turn.load(Ordering::Relaxed) == turn
                && slot.state.load(Ordering::Relaxed) == LIVE
                && let Some(found) = found
            {
                return Some(found);
            }
            std::hint::spin_loop();
        }
        None
    }

    fn read_slot(&self, number: usize, names: &Names) -> Slot {
        let view = self.view();
        let slot = view.slot(number);
        let account = slot.account.load(Ordering::Relaxed) as usize;
        let connection = slot.processlist_id.load(Ordering::Relaxed);
        let mask = view.thread_masks()[number].load(Ordering::Relaxed);
        let nonzero = |n: u64| (n != 0).then_some(n);
        let statement_depth = slot.statement_depth.load(Ordering::Relaxed) as usize;
        let since = slot.command_since.load(Ordering::Relaxed);
        let seconds =
            |now: u64| (self.clock.ps(now.saturating_sub(since)) / 1_000_000_000_000) as i64;
        let command = slot.command.load(Ordering::Relaxed) as usize;
        let connection_type = slot.connection_type.load(Ordering::Relaxed) as usize;
        let people = names.accounts.get(account);
        let row = Thread {
            thread_id: slot.thread_id.load(Ordering::Relaxed),
            name: names.class(slot.class.load(Ordering::Relaxed) as usize),
            foreground: connection != 0,
            processlist_id: nonzero(connection),
            user: people.and_then(|a| a.user.clone()),
            host: people.and_then(|a| a.host.clone()),
            db: names.schema(slot.schema.load(Ordering::Relaxed)),
            command: (connection != 0)
                .then(|| COMMANDS.get(command).copied())
                .flatten(),
            time_s: self.clock.now().map(seconds),
            state: self.state(slot, names),
            info: self.info(number, statement_depth),
            parent_thread_id: nonzero(slot.parent_id.load(Ordering::Relaxed)),
            instrumented: mask & effective::COUNT != 0,
            history: mask & effective::HISTORY != 0,
            connection_type: CONNECTION_TYPES
                .get(connection_type)
                .copied()
                .filter(|t| !t.is_empty()),
            os_id: nonzero(slot.os_id.load(Ordering::Relaxed)),
        };
        Slot {
            number,
            thread_id: row.thread_id,
            bank: slot.bank.load(Ordering::Relaxed) as usize,
            account,
            pushed: std::array::from_fn(|i| slot.pushed[i].load(Ordering::Relaxed)),
            wait_depth: slot.wait_depth.load(Ordering::Relaxed) as usize,
            statement_depth,
            row: Arc::new(row),
        }
    }

    /// PROCESSLIST_STATE: what the host set, else the stage without `stage/.../`.
    fn state(&self, slot: &tare_layout::slot::Slot, names: &Names) -> Option<Arc<str>> {
        let set = text(&slot.state_text);
        if !set.is_empty() {
            return Some(set.into());
        }
        let stage = slot.stage.load(Ordering::Relaxed) as usize;
        let name = names.class(stage);
        name.splitn(3, '/').nth(2).map(Into::into)
    }

    /// PROCESSLIST_INFO: what the host set, else the outermost statement that runs.
    fn info(&self, number: usize, statement_depth: usize) -> Option<Arc<str>> {
        let slot = self.view().slot(number);
        let set = text(&slot.info);
        if !set.is_empty() {
            return Some(set.into());
        }
        let running = (statement_depth > 0)
            .then(|| slot.statements[0].read())
            .flatten()?;
        let ended = tare_layout::event::Packed::unpack(running[word::PACKED]).span != 0;
        if ended {
            return None;
        }
        self.ring_text(
            number,
            running[at::TEXT_AT],
            running[at::TEXT_LENGTH] as u32 as usize,
        )
    }
}

/// Numbers to names, for reading slots.
pub(super) struct Names {
    pub classes: Classes,
    pub accounts: Arc<Vec<Connections>>,
    pub schemas: Vec<Option<Arc<str>>>,
}

impl Names {
    pub fn class(&self, i: usize) -> Arc<str> {
        self.classes
            .get(i)
            .map_or_else(|| "".into(), |class| class.name.clone())
    }

    pub fn schema(&self, i: u32) -> Option<Arc<str>> {
        self.schemas.get(i as usize).cloned().flatten()
    }
}

impl Snapshot {
    pub(super) fn names(&self, host: &Host) -> &Names {
        self.names.get_or_init(|| {
            let view = host.view();
            let schemas = view.shared().schemas_used.0.load(Ordering::Acquire);
            let schemas = host.used(schemas, view.geometry().limits.schemas);
            Names {
                classes: self.classes(host).clone(),
                accounts: Arc::new(host.accounts()),
                schemas: (0..schemas).map(|i| host.schema(i as u32)).collect(),
            }
        })
    }

    /// The live slots, by thread id.
    pub(super) fn slots(&self, host: &Host) -> &Arc<Vec<Slot>> {
        self.slots.get_or_init(|| {
            let view = host.view();
            let used = view.shared().slots_used.0.load(Ordering::Acquire);
            let used = host.used(used, view.geometry().limits.threads);
            // Names after the slots' numbers would be older than what refers to them: a new account's
            // name is read anew where it is missing.
            let names = self.names(host);
            let mut slots: Vec<Slot> = (0..used).filter_map(|i| host.slot(i, names)).collect();
            slots.sort_by_key(|slot| slot.thread_id);
            Arc::new(slots)
        })
    }

    /// threads.
    pub fn threads(&self, filter: &Filter) -> Made<Thread> {
        let Some(host) = &self.host else {
            return super::none();
        };
        let (id, connection) = (filter.number("THREAD_ID"), filter.number("PROCESSLIST_ID"));
        rows(
            self.slots(host),
            |slot| slot.row.as_ref().clone(),
            move |slot| {
                id.admits(&slot.thread_id)
                    && (connection == crate::catalog::Admit::All
                        || slot
                            .row
                            .processlist_id
                            .is_some_and(|n| connection.admits(&n)))
            },
        )
    }

    /// accounts.
    pub fn accounts(&self) -> Made<Connections> {
        let Some(host) = &self.host else {
            return super::none();
        };
        let mut accounts = self.names(host).accounts.as_ref().clone();
        if let Some(background) = accounts.first_mut() {
            *background = self.background(host);
        }
        Ok(Box::new(accounts.into_iter()))
    }

    /// users.
    pub fn users(&self) -> Made<Connections> {
        let Some(host) = &self.host else {
            return super::none();
        };
        let view = host.view();
        let used = view.shared().users_used.0.load(Ordering::Acquire);
        let used = host.used(used, view.geometry().limits.users);
        let user = |row: Connections, name| Connections {
            user: Some(name),
            ..row
        };
        self.named(host, (1..used).map(|i| view.user(i)), user)
    }

    /// hosts.
    pub fn hosts(&self) -> Made<Connections> {
        let Some(host) = &self.host else {
            return super::none();
        };
        let view = host.view();
        let used = view.shared().hosts_used.0.load(Ordering::Acquire);
        let used = host.used(used, view.geometry().limits.hosts);
        let named = |row: Connections, name| Connections {
            host: Some(name),
            ..row
        };
        self.named(host, (1..used).map(|i| view.host(i)), named)
    }

    fn named<'a>(
        &self,
        host: &Host,
        names: impl Iterator<Item = &'a Named>,
        with: impl Fn(Connections, Arc<str>) -> Connections,
    ) -> Made<Connections> {
        let mut rows = vec![self.background(host)];
        for named in names.filter(|n| n.state.load(Ordering::Acquire) == READY) {
            let row = Connections {
                user: None,
                host: None,
                current: named.current.load(Ordering::Relaxed) as i64,
                total: named.total.load(Ordering::Relaxed) as i64,
            };
            rows.push(with(row, text(&named.name).into()));
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// The row of threads without an account. They make no connection, so they are counted by
    /// their ids: all that were given, less those that connections took.
    fn background(&self, host: &Host) -> Connections {
        let slots = self.slots(host);
        let current = slots.iter().filter(|s| s.account == 0).count() as i64;
        let given = host
            .view()
            .shared()
            .next_thread_id
            .0
            .load(Ordering::Relaxed)
            .saturating_sub(1);
        let connected: i64 = self
            .names(host)
            .accounts
            .iter()
            .skip(1)
            .map(|a| a.total)
            .sum();
        Connections {
            user: None,
            host: None,
            current,
            total: (given as i64 - connected).max(current),
        }
    }

    /// Slot numbers by thread id.
    pub(super) fn slot_numbers(&self, host: &Host) -> HashMap<u64, usize> {
        self.slots(host)
            .iter()
            .map(|slot| (slot.thread_id, slot.number))
            .collect()
    }
}
