//! The functions that a release's instrument points call, as plain descriptions.

use crate::interface::Fields;

/// Where the server has one of the functions that its instrument points call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A function that the server exports, under this name.
    Symbol(&'static str),
    /// What slot `index` of an exported table of functions points to.
    Slot {
        /// The table's symbol.
        table: &'static str,
        /// The slot.
        index: usize,
    },
    /// Slot `index` of the table that `PSI_server` will point to.
    Behind {
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
    pub location: Location,
    /// Ours; NULL = the server's own stays, because it takes nothing of ours.
    pub function: *const (),
}

// SAFETY: the pointer is to code, which does not change.
unsafe impl Sync for Entry {}

/// What Tare knows about a release: the functions that it calls, and the offsets of its structures.
#[derive(Clone, Copy, Debug)]
pub struct ServerHooks {
    /// The release.
    pub release: tare_image::Release,
    /// All functions that its instrument points may call.
    pub entries: &'static [Entry],
    /// What functions that tables lead to are called where they are exported by their C++ names: each by the name of
    /// its entry.
    pub signatures: &'static [(&'static str, &'static str)],
    /// Functions of the server that ours call.
    pub needs: &'static [&'static str],
    /// Where its structures have what ours read.
    pub fields: &'static Fields,
    /// Starts Tare's engine for it; to be called before anything is patched.
    pub start: fn(&tare_image::options::UserOptions) -> Result<(), engine::StartError>,
}
