//! The gate: recognises the server, finds its entries, and patches all of them or none.

/// Where the server has one of the functions that its instrument points call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A function that the server exports, under this name.
    Symbol(&'static str),
    /// What slot `index` of an exported table of functions points to.
    Slot {
        /// The table's symbol.
        table: &'static str,
        /// The slot.
        index: usize,
    },
    /// Slot `index` of the table that the server's `PSI_hook` gives.
    Hook {
        /// The slot.
        index: usize,
    },
    /// Slot `index` of the table behind `PSI_server`, whose addresses were learned at an earlier start.
    Learned {
        /// The slot.
        index: usize,
    },
}

/// One function of the interface, and what takes its place.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What the interface calls it.
    pub name: &'static str,
    /// Where the server has it.
    pub place: Place,
    /// Ours.
    pub function: *const (),
}

// SAFETY: the pointer is to code, which does not change.
unsafe impl Sync for Entry {}

/// A series of servers: how it is recognised, and what it calls.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// For the log: "MySQL 5.7".
    pub name: &'static str,
    /// All functions that its instrument points may call.
    pub entries: &'static [Entry],
}

/// Called before `main`, on the only thread.
pub fn open() {}
