//! A table of texts.

/// A table.
pub struct Table {
    /// The title above the table.
    pub title: String,
    /// The headings of the columns.
    pub heading: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The note below the table.
    pub note: String,
}

impl Table {
    /// Moves server, workload and connections to the title if all rows have the same.
    pub(super) fn narrow(mut self) -> Self {
        for place in ["server", "workload", "connections"] {
            let Some(at) = self.heading.iter().position(|heading| heading == place) else {
                continue;
            };
            let Some(value) = self.rows.first().map(|row| row[at].clone()) else {
                continue;
            };
            if self.rows.iter().any(|row| row[at] != value) {
                continue;
            }
            let unit = if place == "connections" {
                " connections"
            } else {
                ""
            };
            self.title.push_str(&format!(", {value}{unit}"));
            self.heading.remove(at);
            for row in &mut self.rows {
                row.remove(at);
            }
        }
        self
    }
}
