//! The status of the server over time.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tare_history::{STATUS_TABLES, ServerStatus, Value as Cell, own_columns};

/// The most readings: an hour of them.
const MAX_READINGS: usize = 360;

/// The columns that the page leaves out.
const HIDDEN: [&str; 2] = ["digest", "transaction_id"];

/// Readings, oldest first.
#[derive(Default)]
pub struct StatusReadings {
    readings: VecDeque<(i64, Value)>,
}

impl StatusReadings {
    /// Adds a reading.
    pub fn add(&mut self, at: i64, status: &ServerStatus) {
        if self.readings.len() >= MAX_READINGS {
            self.readings.pop_front();
        }
        self.readings.push_back((at, of_status(status)));
    }

    /// The last reading before a time, or else the first one.
    pub fn latest(&self, to: i64) -> Value {
        let mut newest = self.readings.iter().rev();
        let before = newest.find(|(at, _)| *at < to);
        match before.or_else(|| self.readings.front()) {
            Some((at, status)) => json!({ "at": at, "status": status }),
            None => json!({ "at": null, "status": null }),
        }
    }
}

fn of_status(status: &ServerStatus) -> Value {
    let tables = STATUS_TABLES.iter().map(|table| {
        let names = own_columns(table).map(|column| column.name);
        let names: Vec<&str> = names.filter(|name| !HIDDEN.contains(name)).collect();
        let rows = status.select(table.name, &names).into_iter();
        let rows: Vec<Vec<Value>> = rows
            .map(|row| row.into_iter().map(of_cell).collect())
            .collect();
        json!({ "name": table.name, "columns": names, "rows": rows })
    });
    let tables: Vec<Value> = tables.collect();
    json!({ "tables": tables, "unread": status.unread })
}

fn of_cell(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Long(n) => json!(n),
        Cell::Double(x) => json!(x),
        Cell::Text(text) => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use tare_history::ConnectionGroup;

    use super::*;

    #[test]
    fn a_reading_is_that_of_the_selected_time() {
        let mut readings = StatusReadings::default();
        assert_eq!(readings.latest(5)["at"], Value::Null);
        for (at, count) in [(10, 1), (20, 2)] {
            let group = ConnectionGroup {
                user: Some("app".into()),
                count,
                ..ConnectionGroup::default()
            };
            let status = ServerStatus {
                connections: vec![group],
                ..ServerStatus::default()
            };
            readings.add(at, &status);
        }
        let counts = [5, 15, 30].map(|to| {
            let reading = readings.latest(to);
            let tables = reading["status"]["tables"]
                .as_array()
                .expect("tables")
                .iter();
            let table = tables.clone().find(|table| table["name"] == "connections");
            table.expect("a table")["rows"][0][3].as_u64()
        });
        assert_eq!(counts, [Some(1), Some(1), Some(2)]);
    }
}
