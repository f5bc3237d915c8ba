//! The functions that a release's instrument points call, as plain descriptions.

use crate::interface::Fields;

/// The location of a function that the server's instrument points call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// The function with this exported name.
    Symbol(&'static str),
    /// The function that slot `index` of an exported table points to.
    Slot {
        /// The table's symbol.
        table: &'static str,
        /// The slot.
        index: usize,
    },
    /// The function in slot `index` of the table that `PSI_server` will point to.
    Behind {
        /// The slot.
        index: usize,
    },
}

/// A function of the interface, and the one that replaces it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in the interface.
    pub name: &'static str,
    /// Its location.
    pub location: Location,
    /// Our function; NULL = the server's own is not replaced.
    pub function: *const (),
}

// SAFETY: the pointer is to code, which does not change.
unsafe impl Sync for Entry {}

/// The facts about a release: the functions that it calls, and the offsets of its structures.
#[derive(Clone, Copy, Debug)]
pub struct ServerHooks {
    /// The release.
    pub release: tare_image::Release,
    /// All functions that its instrument points may call.
    pub entries: &'static [Entry],
    /// The exported C++ names of functions that tables lead to, by the name of their entry.
    pub signatures: &'static [(&'static str, &'static str)],
    /// The server's functions that ours call.
    pub needs: &'static [&'static str],
    /// The offsets of its structures.
    pub fields: &'static Fields,
    /// Starts Tare's engine. Called before anything is patched.
    pub start: fn(&tare_image::options::UserOptions) -> Result<(), engine::StartError>,
}
