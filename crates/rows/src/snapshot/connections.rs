//! threads, accounts, users, hosts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tare_layout::attributes::pairs;
use tare_layout::sizes;
use tare_layout::slot::{COMMANDS, CONNECTION_TYPES};
use tare_reader::names::{Account, NameEntry};
use tare_reader::{ConnectionTable, Names, Scope, Selection, Thread as Slot};

use super::host::Host;
use super::truncate::write_result;
use super::{RowsResult, Snapshot, WriteResult, none, rows};
use crate::filter::{Admit, Filter};
use crate::performance_schema::attributes::Attribute;
use crate::performance_schema::connections::Connections;
use crate::record::thread::Thread;

impl Snapshot {
    pub(super) fn names(&self, host: &Host) -> &Names {
        self.names.get_or_init(|| Names::read(host.view()))
    }

    /// The live threads, by id.
    pub(super) fn slots(&self, host: &Host) -> &Arc<Vec<Slot>> {
        self.slots
            .get_or_init(|| Arc::new(tare_reader::threads(host.view())))
    }

    pub(super) fn class_name(&self, host: &Host, class: usize) -> Arc<str> {
        let class = self.classes(host).get(class);
        class.map_or_else(|| "".into(), |class| class.name.clone())
    }

    fn thread(&self, host: &Host, slot: &Slot) -> Thread {
        let nonzero = |n: u64| (n != 0).then_some(n);
        let names = self.names(host);
        let account = names.account(slot.account);
        let foreground = slot.processlist_id != 0;
        let seconds = |now: u64| {
            let ps = host.clock.ps(now.saturating_sub(slot.command_since));
            (ps / 1_000_000_000_000) as i64
        };
        let connection = CONNECTION_TYPES.get(slot.connection_type).copied();
        Thread {
            thread_id: slot.id,
            name: self.class_name(host, slot.class),
            foreground,
            processlist_id: nonzero(slot.processlist_id),
            user: account.and_then(|a| a.user.clone()),
            host: account.and_then(|a| a.host.clone()),
            db: names.schema(slot.schema),
            command: COMMANDS.get(slot.command).copied().filter(|_| foreground),
            time_s: host
                .clock
                .now()
                .filter(|_| slot.command < COMMANDS.len())
                .map(seconds),
            state: slot
                .state
                .clone()
                .or_else(|| self.stage_name(host, slot.stage)),
            info: slot.info.clone(),
            parent_thread_id: nonzero(slot.parent_id),
            instrumented: slot.instrumented,
            history: slot.history,
            connection_type: connection.filter(|name| !name.is_empty()),
            os_id: nonzero(slot.os_id),
        }
    }

    /// PROCESSLIST_STATE of a stage: its name without `stage/.../`.
    fn stage_name(&self, host: &Host, stage: usize) -> Option<Arc<str>> {
        let name = (stage != 0).then(|| self.class_name(host, stage))?;
        name.splitn(3, '/').nth(2).map(Into::into)
    }

    /// threads.
    pub fn threads(&self, filter: &Filter) -> RowsResult<Thread> {
        let Some(host) = &self.host else {
            return none();
        };
        let all = self.threads.get_or_init(|| {
            let slots = self.slots(host).iter();
            Arc::new(slots.map(|slot| self.thread(host, slot)).collect())
        });
        let (id, connection) = (filter.number("THREAD_ID"), filter.number("PROCESSLIST_ID"));
        rows(all, Clone::clone, move |row: &Thread| {
            let of = match connection {
                Admit::All => true,
                _ => row.processlist_id.is_some_and(|n| connection.admits(&n)),
            };
            of && id.admits(&row.thread_id)
        })
    }

    /// The thread that serves a connection.
    pub fn thread_id(&self, connection_id: Option<u64>) -> Option<u64> {
        let slots = self.slots(self.host.as_ref()?);
        let connection = connection_id.filter(|id| *id != 0)?;
        let slot = slots.iter().find(|s| s.processlist_id == connection)?;
        Some(slot.id)
    }

    /// session_connect_attrs; of one account's connections where it is given.
    pub fn attributes(
        &self,
        filter: &Filter,
        of: Option<(String, String)>,
    ) -> RowsResult<Attribute> {
        let Some(host) = &self.host else {
            return none();
        };
        let connection = filter.number("PROCESSLIST_ID");
        let mut rows = Vec::new();
        for slot in self.slots(host).iter() {
            if slot.processlist_id == 0 || !connection.admits(&slot.processlist_id) {
                continue;
            }
            let account = self.names(host).account(slot.account);
            let user = account.and_then(|a| a.user.as_deref()).unwrap_or_default();
            let from = account.and_then(|a| a.host.as_deref()).unwrap_or_default();
            if of
                .as_ref()
                .is_some_and(|of| (of.0.as_str(), of.1.as_str()) != (user, from))
            {
                continue;
            }
            let text = |bytes| Arc::from(String::from_utf8_lossy(bytes));
            let attributes = pairs(&slot.attributes).enumerate();
            rows.extend(attributes.map(|(i, (name, value))| Attribute {
                processlist_id: slot.processlist_id,
                name: text(name),
                value: (!value.is_empty()).then(|| text(value)),
                ordinal_position: i as i64,
            }));
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// accounts.
    pub fn accounts(&self) -> RowsResult<Connections> {
        let Some(host) = &self.host else {
            return none();
        };
        if host.has_none_of(sizes::ACCOUNTS) {
            return none();
        }
        let row = |a: &Account| Connections {
            user: a.user.clone(),
            host: a.host.clone(),
            current: a.current as i64,
            total: a.total as i64,
        };
        let mut accounts = vec![self.background(host)];
        let listed = self
            .names(host)
            .accounts
            .iter()
            .skip(1)
            .filter(|a| a.listed);
        accounts.extend(listed.map(row));
        Ok(Box::new(accounts.into_iter()))
    }

    /// users.
    pub fn users(&self) -> RowsResult<Connections> {
        let Some(host) = &self.host else {
            return none();
        };
        let user = |name| Connections {
            user: Some(name),
            ..Connections::default()
        };
        self.named(host, sizes::USERS, &self.names(host).users, user)
    }

    /// hosts.
    pub fn hosts(&self) -> RowsResult<Connections> {
        let Some(host) = &self.host else {
            return none();
        };
        let named = |name| Connections {
            host: Some(name),
            ..Connections::default()
        };
        self.named(host, sizes::HOSTS, &self.names(host).hosts, named)
    }

    fn named(
        &self,
        host: &Host,
        size: usize,
        names: &[Option<NameEntry>],
        row: impl Fn(Arc<str>) -> Connections,
    ) -> RowsResult<Connections> {
        if host.has_none_of(size) {
            return none();
        }
        let mut rows = vec![self.background(host)];
        for named in names.iter().flatten().filter(|n| n.listed) {
            rows.push(Connections {
                current: named.current as i64,
                total: named.total as i64,
                ..row(named.name.clone())
            });
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// TRUNCATE accounts, users, hosts. As in MySQL, accounts go with users and hosts, and with each
    /// the sums of what they did, and those by thread.
    pub fn truncate_connections(&self, whose: ConnectionTable) -> WriteResult {
        let host = self.require_host()?;
        let (tables, scopes): (&[ConnectionTable], &[Scope]) = match whose {
            ConnectionTable::Accounts => (
                &[ConnectionTable::Accounts],
                &[Scope::Account, Scope::Thread],
            ),
            ConnectionTable::Users => (
                &[ConnectionTable::Accounts, ConnectionTable::Users],
                &[Scope::Account, Scope::User, Scope::Thread],
            ),
            ConnectionTable::Hosts => (
                &[ConnectionTable::Accounts, ConnectionTable::Hosts],
                &[Scope::Account, Scope::Host, Scope::Thread],
            ),
        };
        for table in tables {
            write_result(host.segment.truncate_connections(*table))?;
        }
        let everything = Selection::new(self.classes(host), |_| true);
        for scope in scopes {
            write_result(host.segment.truncate_classes(*scope, &everything))?;
        }
        Ok(())
    }

    /// The row of threads without an account. They make no connection, so they are counted by their
    /// ids: all that were given, less those that connections took.
    fn background(&self, host: &Host) -> Connections {
        let current = self.slots(host).iter().filter(|s| s.account == 0).count() as u64;
        let next = host
            .view()
            .shared()
            .next_thread_id
            .0
            .load(Ordering::Relaxed);
        let accounts = self.names(host).accounts.iter().skip(1);
        let connected = accounts.fold(0u64, |sum, a| sum.saturating_add(a.total));
        let total = next
            .saturating_sub(1)
            .saturating_sub(connected)
            .max(current);
        Connections {
            user: None,
            host: None,
            current: current as i64,
            total: total as i64,
        }
    }
}
