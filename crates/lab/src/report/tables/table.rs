//! A table of texts.

/// A table.
pub struct Table {
    /// Above it.
    pub title: String,
    /// Its columns.
    pub heading: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// Below it.
    pub note: String,
}

impl Table {
    /// Without the columns of places that say the same in every row; the title says it once.
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
