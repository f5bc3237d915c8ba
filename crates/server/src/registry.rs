//! The process list: the sessions and what they do.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use tare::sync::PlainMutex;

use super::points::LOCK_REGISTRY;
use super::state::SessionState;
use super::status::{Accounts, By, Cells, Counter, Status};
use tare::sync::Mutex;
use tare_store::Control;

/// A row of SHOW PROCESSLIST.
#[derive(Debug, Clone)]
pub struct Process {
    /// The connection's number.
    pub id: u64,
    /// The user.
    pub user: String,
    /// The host, with the port for TCP.
    pub host: String,
    /// The default database.
    pub database: Option<String>,
    /// Sleep, Query and the like.
    pub command: &'static str,
    /// Since when.
    pub since: Instant,
    /// What it does.
    pub state: &'static str,
    /// The statement.
    pub info: String,
}

#[derive(Debug)]
struct Entry {
    /// This mutex is not instrumented: an event for each statement would have little use, because almost only
    /// the session itself locks it.
    process: PlainMutex<Process>,
    control: Arc<Control>,
    state: Arc<SessionState>,
    status: Status,
    /// Whether it counts against max_connections.
    admitted: AtomicBool,
}

impl Entry {
    /// Whether the login has ended, so that the account is known.
    fn is_logged_in(&self) -> bool {
        self.process.lock().command != "Connect"
    }
}

/// The live sessions, and the counts of those that have ended.
#[derive(Debug, Default)]
struct Sessions {
    live: HashMap<u64, Arc<Entry>>,
    accounts: Accounts,
}

impl Sessions {
    fn logged_in_statuses(&self) -> impl Iterator<Item = ((String, String), &Status)> {
        let logged_in = self.live.values().filter(|e| e.is_logged_in());
        logged_in.map(|e| (e.state.account(), &e.status))
    }
}

/// All connections.
#[derive(Debug)]
pub struct Registry {
    entries: Mutex<Sessions>,
    last: AtomicU64,
    live: AtomicUsize,
    /// The number of sessions that have logged in.
    logged_in: AtomicUsize,
    peak: AtomicUsize,
    peak_at: PlainMutex<SystemTime>,
    aborted: AtomicU64,
}

/// A connection's entry in the process list, which is removed when this is dropped.
#[derive(Debug)]
pub struct Registration {
    registry: Arc<Registry>,
    entry: Arc<Entry>,
    id: u64,
    /// The client has sent COM_QUIT.
    orderly: bool,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            entries: Mutex::new(&LOCK_REGISTRY, Sessions::default()),
            last: AtomicU64::new(0),
            live: AtomicUsize::new(0),
            logged_in: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            peak_at: PlainMutex::new(SystemTime::now()),
            aborted: AtomicU64::new(0),
        }
    }
}

impl Registry {
    /// A number for a new connection.
    pub fn next_id(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// How many of them have logged in.
    pub fn logged_in(&self) -> usize {
        self.logged_in.load(Ordering::Relaxed)
    }

    /// Disconnects logins that take longer than `timeout`, and the oldest ones if more than `most` are in
    /// progress: clients that connect and send nothing must not lock others out.
    pub fn cut_off_slow_logins(&self, most: usize, timeout: Duration) {
        if self.len().saturating_sub(self.logged_in()) < 2 {
            return;
        }
        let now = Instant::now();
        let mut waiting: Vec<(u64, Arc<Entry>, Duration)> = self
            .entries
            .lock()
            .live
            .iter()
            .filter(|(_, entry)| !entry.is_logged_in())
            .map(|(id, entry)| {
                let since = entry.process.lock().since;
                (*id, entry.clone(), now.duration_since(since))
            })
            .collect();
        waiting.sort_by_key(|(id, ..)| *id);
        let beyond = waiting.len().saturating_sub(most);
        for (i, (_, entry, waited)) in waiting.iter().enumerate() {
            if i < beyond || *waited > timeout {
                entry.control.kill();
            }
        }
    }

    /// The largest number of connections at one time.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// When that number was reached.
    pub fn peak_at(&self) -> SystemTime {
        *self.peak_at.lock()
    }

    /// FLUSH STATUS: the current number becomes the peak.
    pub fn flush_peak(&self) {
        self.peak.store(self.len(), Ordering::Relaxed);
        *self.peak_at.lock() = SystemTime::now();
    }

    /// How many sessions have ended without COM_QUIT.
    pub fn aborted(&self) -> u64 {
        self.aborted.load(Ordering::Relaxed)
    }

    /// How many connections there have been.
    pub fn total(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Enters a connection.
    pub fn register(
        self: &Arc<Self>,
        id: u64,
        host: String,
        control: Arc<Control>,
        state: Arc<SessionState>,
    ) -> Registration {
        let process = Process {
            id,
            user: "unauthenticated user".into(),
            host,
            database: None,
            command: "Connect",
            since: Instant::now(),
            state: "login",
            info: String::new(),
        };
        let entry = Arc::new(Entry {
            process: PlainMutex::new(process),
            control,
            state,
            status: Status::default(),
            admitted: AtomicBool::new(false),
        });
        self.entries.lock().live.insert(id, entry.clone());
        let live = self.live.fetch_add(1, Ordering::Relaxed) + 1;
        super::metrics::CONNECTIONS_OPENED.add(1);
        super::metrics::CONNECTIONS.set(live as i64);
        if self.peak.fetch_max(live, Ordering::Relaxed) < live {
            *self.peak_at.lock() = SystemTime::now();
        }
        Registration {
            registry: self.clone(),
            entry,
            id,
            orderly: false,
        }
    }

    /// The counts of the server, including sessions that have ended.
    pub fn status(&self) -> Box<Cells> {
        let entries = self.entries.lock();
        let live = entries.live.values().map(|e| &e.status);
        entries.accounts.total(live)
    }

    /// The counts by account, user or host since the last TRUNCATE.
    pub fn status_by(&self, by: By) -> Vec<((String, String), Box<Cells>)> {
        let entries = self.entries.lock();
        entries.accounts.sums_by(by, entries.logged_in_statuses())
    }

    /// The counts of each live session.
    pub fn status_by_session(&self) -> Vec<(u64, Cells)> {
        let entries = self.entries.lock();
        let logged_in = entries.live.iter().filter(|(_, e)| e.is_logged_in());
        let mut all: Vec<_> = logged_in.map(|(id, e)| (*id, e.status.now())).collect();
        all.sort_by_key(|(id, _)| *id);
        all
    }

    /// TRUNCATE of status_by_account, user or host.
    pub fn truncate_status(&self, by: By) {
        let mut entries = self.entries.lock();
        let Sessions { live, accounts } = &mut *entries;
        let logged_in = live.values().filter(|e| e.is_logged_in());
        accounts.truncate(by, logged_in.map(|e| (e.state.account(), &e.status)));
    }

    /// TRUNCATE of status_by_thread.
    pub fn flush_sessions(&self) {
        for entry in self.entries.lock().live.values() {
            entry.status.flush();
        }
    }

    /// The states of the sessions that have logged in.
    pub fn states(&self) -> Vec<Arc<SessionState>> {
        let entries = self.entries.lock();
        let logged_in = entries.live.values().filter(|e| e.is_logged_in());
        let mut states: Vec<_> = logged_in.map(|e| e.state.clone()).collect();
        states.sort_by_key(|s| s.id);
        states
    }

    /// The process list.
    pub fn list(&self) -> Vec<Process> {
        let entries: Vec<Arc<Entry>> = self.entries.lock().live.values().cloned().collect();
        let mut list: Vec<Process> = entries.iter().map(|e| e.process.lock().clone()).collect();
        list.sort_by_key(|p| p.id);
        list
    }

    /// KILL of another session. Returns false if there is no such connection.
    pub fn kill(&self, id: u64, query_only: bool) -> bool {
        let entry = self.entries.lock().live.get(&id).cloned();
        match entry {
            Some(entry) if query_only => entry.control.kill_query(),
            Some(entry) => entry.control.disconnect(),
            None => return false,
        }
        true
    }

    /// Ends all connections.
    pub fn kill_all(&self) {
        for entry in self.entries.lock().live.values() {
            entry.control.kill();
        }
    }
}

impl Registration {
    /// The session's counters.
    #[inline]
    pub fn status(&self) -> &Status {
        &self.entry.status
    }

    /// COM_QUIT.
    pub fn mark_quit(&mut self) {
        self.orderly = true;
    }

    /// Counts the session against the limit `capacity`. Returns false if it is reached.
    pub fn admit(&self, capacity: usize) -> bool {
        let next = |logged_in: usize| (logged_in < capacity).then_some(logged_in + 1);
        let (relaxed, logged_in) = (Ordering::Relaxed, &self.registry.logged_in);
        let admitted = logged_in.fetch_update(relaxed, relaxed, next).is_ok();
        self.entry.admitted.store(admitted, relaxed);
        admitted
    }

    /// Sets the account when the login has ended.
    pub fn set_account(&self, user: &str, database: Option<&str>) {
        let mut process = self.entry.process.lock();
        process.user = user.to_owned();
        process.database = database.map(str::to_owned);
        process.command = "Sleep";
        process.state = "";
        process.since = Instant::now();
    }

    /// USE.
    pub fn set_database(&self, database: Option<&str>) {
        self.entry.process.lock().database = database.map(str::to_owned);
    }

    /// A statement begins.
    #[inline]
    pub fn begin(&self, command: &'static str, text: &str) {
        let mut process = self.entry.process.lock();
        process.command = command;
        process.state = "executing";
        process.since = Instant::now();
        process.info.clear();
        let mut end = text.len().min(64 << 10);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        process.info.push_str(&text[..end]);
    }

    /// COM_QUERY begins.
    pub fn begin_query(&self, text: &str) {
        self.begin("Query", text);
    }

    /// Records the end of the statement.
    #[inline]
    pub fn end_query(&self, slow: Duration) {
        let now = Instant::now();
        let mut process = self.entry.process.lock();
        if now.duration_since(process.since) >= slow {
            self.entry.status.add(Counter::SlowQueries, 1);
        }
        process.command = "Sleep";
        process.state = "";
        process.since = now;
        process.info.clear();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let logged_in = self.entry.is_logged_in();
        if logged_in && !self.orderly {
            self.registry.aborted.fetch_add(1, Ordering::Relaxed);
        }
        let account = self.entry.state.account();
        let mut entries = self.registry.entries.lock();
        entries.live.remove(&self.id);
        // The counts of a failed login go to its own account, `unauthenticated user`.
        entries.accounts.add_ended(account, &self.entry.status);
        drop(entries);
        let live = self.registry.live.fetch_sub(1, Ordering::Relaxed) - 1;
        if self.entry.admitted.load(Ordering::Relaxed) {
            self.registry.logged_in.fetch_sub(1, Ordering::Relaxed);
        }
        super::metrics::CONNECTIONS.set(live as i64);
    }
}
