//! The state of a session that SQL functions and other sessions read.

mod numbers;
mod system;
mod user;
mod user_locks;
mod warnings;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub use self::numbers::Numbers;
pub use self::user::{TRACEPARENT, UserVariables};
use self::user_locks::Taken;
pub use self::user_locks::UserLocks;
use self::warnings::Warnings;
use super::points::{self, LOCK_SESSION};
use super::variables::Globals;
use tare::sync::{Mutex, PlainMutex};
use tare_functions::Counted;
use tare_mysql::account::Rights;
use tare_mysql::date::Zone;
use tare_mysql::error::{Result, SqlError};
use tare_store::Control;

/// How a connection is encrypted.
#[derive(Debug)]
pub struct Encryption {
    /// The protocol, as MySQL's Ssl_version has it.
    pub version: &'static str,
    /// The cipher suite, as OpenSSL names it.
    pub cipher: String,
    /// The server's name as the client gave it; empty if it gave none.
    pub server_name: String,
    /// Whether it resumed an earlier session.
    pub is_resumed: bool,
}

/// The state of a session that SQL functions and other sessions read.
#[derive(Debug)]
pub struct SessionState {
    /// The connection's number.
    pub id: u64,
    globals: Arc<Globals>,
    /// What can stop it.
    pub control: Arc<Control>,
    /// How the connection is encrypted, if it is.
    pub tls: OnceLock<Encryption>,
    account: Mutex<(String, String)>,
    matched: Mutex<(String, String, Rights)>,
    database: Mutex<Option<String>>,
    last_insert_id: AtomicI64,
    row_count: AtomicI64,
    found_rows: AtomicI64,
    /// By [`Counted`].
    counts: [AtomicU64; 5],
    /// What AUTO_INCREMENT gives the rows of the statement that inserts them.
    pub numbers: PlainMutex<Option<Numbers>>,
    system: Mutex<HashMap<&'static str, String>>,
    /// @@time_zone, and the zone of that name.
    zone: Mutex<(String, Zone)>,
    /// `@x`.
    pub user_variables: UserVariables,
    /// The warnings of the last statement.
    pub warnings: Warnings,
}

impl SessionState {
    /// The state of a new connection.
    pub fn new(id: u64, globals: Arc<Globals>, control: Arc<Control>) -> Self {
        let state = Self {
            id,
            globals,
            control,
            tls: OnceLock::new(),
            account: Mutex::new(&LOCK_SESSION, Default::default()),
            matched: Mutex::new(&LOCK_SESSION, Default::default()),
            database: Mutex::new(&LOCK_SESSION, Default::default()),
            last_insert_id: AtomicI64::new(0),
            row_count: AtomicI64::new(-1),
            found_rows: AtomicI64::new(0),
            counts: Default::default(),
            numbers: PlainMutex::new(None),
            system: Mutex::new(&LOCK_SESSION, Default::default()),
            zone: Mutex::new(&LOCK_SESSION, ("SYSTEM".into(), Zone::system())),
            user_variables: UserVariables::default(),
            warnings: Warnings::default(),
        };
        state.copy_global_zone();
        state
    }

    /// The server's GET_LOCK locks.
    pub fn user_locks(&self) -> &UserLocks {
        &self.globals.user_locks
    }

    /// User and host.
    pub fn account(&self) -> (String, String) {
        self.account.lock().clone()
    }

    /// Sets the account.
    pub fn set_account(&self, user: &str, host: &str) {
        *self.account.lock() = (user.to_owned(), host.to_owned());
    }

    /// The account that the client logged in to, user and host: CURRENT_USER().
    pub fn current_account(&self) -> (String, String) {
        let matched = self.matched.lock();
        (matched.0.clone(), matched.1.clone())
    }

    /// The rights of that account.
    pub fn rights(&self) -> Rights {
        self.matched.lock().2
    }

    /// Sets the account that the client logged in to.
    pub fn set_current_account(&self, user: &str, host: &str, rights: Rights) {
        *self.matched.lock() = (user.to_owned(), host.to_owned(), rights);
    }

    /// The default database.
    pub fn database(&self) -> Option<String> {
        self.database.lock().clone()
    }

    /// Sets the default database.
    pub fn set_database(&self, name: Option<String>) {
        *self.database.lock() = name;
    }

    /// Copies the server's time zone: a later SET GLOBAL affects only later sessions.
    pub fn copy_global_zone(&self) {
        if let Some(zone) = self.globals.get("time_zone") {
            self.system.lock().insert("time_zone", zone);
        }
    }

    /// @@time_zone.
    pub fn zone(&self) -> Zone {
        let name = self.text("time_zone").unwrap_or_default();
        let mut cached = self.zone.lock();
        if cached.0 != name {
            // SET accepts only names of zones.
            let zone = Zone::find(&name).unwrap_or_default();
            *cached = (name, zone);
        }
        cached.1.clone()
    }

    /// LAST_INSERT_ID().
    pub fn last_insert_id(&self) -> i64 {
        self.last_insert_id.load(Ordering::Relaxed)
    }

    /// Sets LAST_INSERT_ID().
    pub fn set_last_insert_id(&self, id: i64) {
        self.last_insert_id.store(id, Ordering::Relaxed);
    }

    /// ROW_COUNT().
    pub fn row_count(&self) -> i64 {
        self.row_count.load(Ordering::Relaxed)
    }

    /// Sets ROW_COUNT().
    pub fn set_row_count(&self, n: i64) {
        self.row_count.store(n, Ordering::Relaxed);
    }

    /// FOUND_ROWS().
    pub fn found_rows(&self) -> i64 {
        self.found_rows.load(Ordering::Relaxed)
    }

    /// Sets FOUND_ROWS().
    pub fn set_found_rows(&self, n: i64) {
        self.found_rows.store(n, Ordering::Relaxed);
    }

    /// Counts something of the row that the statement changes.
    pub fn count(&self, what: Counted) {
        self.counts[what as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns and resets a count.
    pub fn take_count(&self, what: Counted) -> u64 {
        self.counts[what as usize].swap(0, Ordering::Relaxed)
    }

    /// Resets all counts, as when a statement begins.
    pub fn reset_counts(&self) {
        for count in &self.counts {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// The options of schema sys.
    pub fn sys_config(&self) -> &tare_sys::config::SysConfig {
        &self.globals.sys_config
    }

    /// Resets everything except the account, as COM_RESET_CONNECTION does.
    pub fn reset(&self) {
        self.system.lock().clear();
        self.copy_global_zone();
        self.user_variables.clear();
        self.warnings.clear();
        self.user_locks().release_all(self.id);
        self.set_last_insert_id(0);
        self.set_found_rows(0);
        self.set_row_count(-1);
    }

    /// Takes a lock of GET_LOCK, and waits for it at most so long.
    ///
    /// # Errors
    /// The statement was interrupted, or a deadlock.
    pub fn take_user_lock(&self, name: &str, timeout: Option<Duration>) -> Result<bool> {
        let locks = &self.globals.user_locks;
        if locks.try_take(name, self.id) {
            return Ok(true);
        }
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Ok(false);
        }
        let _waits = crate::blocking::mark_blocked();
        tare::stage::set(&points::USER_LOCK);
        // The loop checks for interruptions itself.
        self.control.set_working(false);
        let taken = locks.take(name, self.id, timeout, || self.control.must_stop());
        self.control.set_working(true);
        tare::stage::set(&points::EXECUTING);
        match taken {
            Taken::Yes => Ok(true),
            Taken::Late => Ok(false),
            Taken::Interrupted => Err(self.control.interruption()),
            Taken::Deadlock => Err(SqlError::new(
                3058,
                "Deadlock found when trying to get user-level lock; try rolling back \
                 transaction/releasing locks and restarting lock acquisition.",
            )),
        }
    }

    /// Sleeps. Returns true if it was interrupted.
    pub fn sleep(&self, seconds: f64) -> bool {
        let end = Instant::now() + Duration::from_secs_f64(seconds.min(31_536_000.0));
        let _waits = crate::blocking::mark_blocked();
        tare::stage::set(&points::USER_SLEEP);
        let interrupted = self.sleep_until(end);
        tare::stage::set(&points::EXECUTING);
        interrupted
    }

    fn sleep_until(&self, end: Instant) -> bool {
        // The loop checks for interruptions itself, so that a sleep that has ended is not interrupted.
        self.control.set_working(false);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.control.set_working(true);
                return false;
            }
            if self.control.must_stop() {
                return true;
            }
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
    }
}

impl Drop for SessionState {
    fn drop(&mut self) {
        self.globals.user_locks.release_all(self.id);
    }
}
