//! The process list: who is connected and what they do.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use tare::sync::PlainMutex;

use super::points::LOCK_REGISTRY;
use crate::storage::Control;
use crate::storage::sync::Mutex;

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
    /// A session's own, but for who lists the processes: not worth an event at each statement.
    process: PlainMutex<Process>,
    control: Arc<Control>,
}

/// All connections.
#[derive(Debug)]
pub struct Registry {
    entries: Mutex<HashMap<u64, Arc<Entry>>>,
    last: AtomicU64,
    live: AtomicUsize,
    peak: AtomicUsize,
}

/// A connection's place in the process list; dropped, it is gone.
#[derive(Debug)]
pub struct Registration {
    registry: Arc<Registry>,
    entry: Arc<Entry>,
    id: u64,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            entries: Mutex::new(&LOCK_REGISTRY, HashMap::new()),
            last: AtomicU64::new(0),
            live: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
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

    /// How many there have been at once, at most.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// How many there have been.
    pub fn total(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Enters a connection.
    pub fn register(
        self: &Arc<Self>,
        id: u64,
        host: String,
        control: Arc<Control>,
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
        });
        self.entries.lock().insert(id, entry.clone());
        let live = self.live.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(live, Ordering::Relaxed);
        super::metrics::CONNECTIONS_MADE.add(1);
        super::metrics::CONNECTIONS.set(live as i64);
        Registration {
            registry: self.clone(),
            entry,
            id,
        }
    }

    /// The process list.
    pub fn list(&self) -> Vec<Process> {
        let entries: Vec<Arc<Entry>> = self.entries.lock().values().cloned().collect();
        let mut list: Vec<Process> = entries.iter().map(|e| e.process.lock().clone()).collect();
        list.sort_by_key(|p| p.id);
        list
    }

    /// KILL. False when there is no such connection.
    pub fn kill(&self, id: u64, query_only: bool) -> bool {
        let entry = self.entries.lock().get(&id).cloned();
        match entry {
            Some(entry) if query_only => entry.control.kill_query(),
            Some(entry) => entry.control.kill(),
            None => return false,
        }
        true
    }

    /// Ends all connections.
    pub fn kill_all(&self) {
        for entry in self.entries.lock().values() {
            entry.control.kill();
        }
    }
}

impl Registration {
    /// The account, once it is known.
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

    /// It has ended.
    #[inline]
    pub fn end_query(&self) {
        let mut process = self.entry.process.lock();
        process.command = "Sleep";
        process.state = "";
        process.since = Instant::now();
        process.info.clear();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.registry.entries.lock().remove(&self.id);
        let live = self.registry.live.fetch_sub(1, Ordering::Relaxed) - 1;
        super::metrics::CONNECTIONS.set(live as i64);
    }
}
