//! The figures of a server, and advice: a sentence that names a setting and the figure that the setting is about.

mod innodb;
mod list;
mod readings;
mod sessions;
mod statements;
#[cfg(test)]
mod tests;

use tare_history::StatusFigure;

use self::list::List;
pub use self::readings::{Counters, Readings};

/// The figures in the order of areas.
pub fn figures(readings: &Readings<'_>) -> Vec<StatusFigure> {
    let mut list = List {
        readings,
        figures: Vec::new(),
    };
    list.add_buffer_pool();
    list.add_log();
    list.add_innodb();
    list.add_temporary_tables();
    list.add_binary_log();
    list.add_sessions();
    list.add_replication();
    list.figures
}
