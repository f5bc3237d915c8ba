//! The numbers that AUTO_INCREMENT gives next, which a rollback does not take back.
//!
//! SQLite keeps the last number in `sqlite_sequence`, whose rows a rollback restores. InnoDB's counter only grows, so
//! it is kept here, for each table that a session has inserted into. Where a table is not listed, its last number in
//! SQLite holds. A session changes a table's number under the write lock of the database.

use std::collections::HashMap;

use tare::sync::PlainMutex;

/// The next number of each table that has one here, by database and table.
#[derive(Debug)]
pub struct NextIds(PlainMutex<HashMap<String, HashMap<String, u64>>>);

impl Default for NextIds {
    fn default() -> Self {
        Self(PlainMutex::new(HashMap::new()))
    }
}

impl NextIds {
    /// The next number of a table.
    pub fn get(&self, database: &str, table: &str) -> Option<u64> {
        self.0.lock().get(database)?.get(table).copied()
    }

    /// Raises the next number of a table; a smaller one changes nothing.
    pub fn raise(&self, database: &str, table: &str, next: u64) {
        let mut all = self.0.lock();
        if let Some(present) = all.get_mut(database).and_then(|all| all.get_mut(table)) {
            *present = next.max(*present);
            return;
        }
        let tables = all.entry(database.to_owned()).or_default();
        tables.insert(table.to_owned(), next);
    }

    /// Forgets a table: it is gone, or SQLite has its number.
    pub fn forget(&self, database: &str, table: &str) {
        if let Some(tables) = self.0.lock().get_mut(database) {
            tables.remove(table);
        }
    }

    /// Forgets the tables of a database.
    pub fn forget_database(&self, database: &str) {
        self.0.lock().remove(database);
    }

    /// The next numbers of a database's tables, by name.
    pub fn of(&self, database: &str) -> HashMap<String, u64> {
        self.0.lock().get(database).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::NextIds;

    #[test]
    fn numbers_only_grow_until_they_are_forgotten() {
        let ids = NextIds::default();
        assert_eq!(ids.get("d", "t"), None);
        ids.raise("d", "t", 5);
        ids.raise("d", "t", 3);
        ids.raise("d", "u", 2);
        assert_eq!(ids.get("d", "t"), Some(5));
        ids.forget("d", "t");
        assert_eq!(ids.get("d", "t"), None);
        assert_eq!(ids.of("d").get("u"), Some(&2));
        ids.forget_database("d");
        assert!(ids.of("d").is_empty());
    }
}
