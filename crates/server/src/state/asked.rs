//! What SQL functions ask of the session.

use rusqlite::types::Value;
use tare_functions::Session;
use tare_mysql::date::Zone;

use super::SessionState;
use crate::instruments;

impl Session for SessionState {
    fn version(&self) -> &str {
        self.series().version()
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn thread_id(&self) -> u64 {
        tare::thread::id()
    }

    fn account(&self) -> String {
        self.account()
    }

    fn current_user(&self) -> String {
        let (user, host) = self.matched();
        format!("{user}@{host}")
    }

    fn database(&self) -> Option<String> {
        self.database()
    }

    fn last_insert_id(&self) -> i64 {
        self.last_insert_id()
    }

    fn set_last_insert_id(&self, id: i64) {
        self.set_last_insert_id(id);
    }

    fn row_count(&self) -> i64 {
        self.row_count()
    }

    fn found_rows(&self) -> i64 {
        self.found_rows()
    }

    fn count_updated(&self) {
        self.count_updated();
    }

    fn variable(&self, scope: &str, name: &str) -> Value {
        self.variable(scope, name)
    }

    fn user_variable(&self, name: &str) -> Value {
        self.user_variables.get(name)
    }

    fn set_user_variable(&self, name: &str, value: Value) {
        self.user_variables.set(name, value);
    }

    fn sys_option(&self, name: &str) -> Option<String> {
        self.sys_config().get(name)
    }

    fn instrument_default(&self, name: &str, timed: bool) -> bool {
        instruments::default_of(name, timed)
    }

    fn sql_mode(&self) -> String {
        self.text("sql_mode").unwrap_or_default()
    }

    fn zone(&self) -> Zone {
        self.zone()
    }

    fn warn(&self, code: u16, message: &str) {
        self.warnings.add("Warning", code, message);
    }

    fn must_stop(&self) -> bool {
        self.control.must_stop()
    }

    fn sleep(&self, seconds: f64) -> bool {
        self.sleep(seconds)
    }

    fn try_lock(&self, name: &str) -> bool {
        self.user_locks().try_take(name, self.id)
    }

    fn lock_owner(&self, name: &str) -> Option<u64> {
        self.user_locks().owner(name)
    }

    fn unlock(&self, name: &str) -> Option<bool> {
        self.user_locks().release(name, self.id)
    }

    fn unlock_all(&self) -> u64 {
        self.user_locks().release_all(self.id)
    }
}
