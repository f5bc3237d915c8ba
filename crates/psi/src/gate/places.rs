//! Where a series' entries are in this process, and whether everything about them is as it should be.
//!
//! An entry's code is what the file has, begins a function on a boundary of 16 bytes, and has 16 bytes to
//! itself: then it can be overwritten with a jump. A list of entries that leaves out what the server exports
//! is refused, because an original that stays would take our objects for its own.

use std::collections::BTreeMap;
use std::ffi::c_void;

use tare_image::{Learned, LearnedError, Server};

use super::host::Host;
use super::{Entry, Place, Series};

/// What an entry must have to itself.
pub const ROOM: usize = 16;

/// Size of a pointer in the server's tables.
const POINTER: u64 = 8;

/// What does not check out.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Not exported.
    #[error("{0} is not exported by this server: it was stripped, or changed")]
    NoSymbol(String),
    /// Not where a function begins.
    #[error("{0} does not begin where a function begins: this server was changed")]
    NoFunction(&'static str),
    /// Too short or not aligned.
    #[error("{0} has no room for a jump: this server was built in another way")]
    NoRoom(&'static str),
    /// Memory and file differ.
    #[error("{0} is not what the program's file has: another tool has changed it")]
    Changed(&'static str),
    /// Two at one address.
    #[error("{0} and {1} are one function in this server: it was built in another way")]
    Shared(&'static str, &'static str),
    /// Exported, and not in the list.
    #[error("this server has {0}, which Tare does not serve")]
    NotServed(String),
    /// The list has a slot that the table has not, or leaves one out.
    #[error("{table} has {found} slots, and Tare knows {known}")]
    Slots {
        /// The table.
        table: String,
        /// How many the server has.
        found: usize,
        /// How many are in the list.
        known: usize,
    },
    /// Nothing learned, or not readable.
    #[error(transparent)]
    Learned(#[from] LearnedError),
    /// What was learned is not what is there.
    #[error(
        "what was learned about this build is not what it has; remove its file in the cache, and the next `tare run` learns anew"
    )]
    Other,
}

/// A function to be replaced.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Where it is in memory.
    pub address: u64,
    /// What comes there.
    pub function: *const (),
    name: &'static str,
}

#[cfg(test)]
impl Target {
    /// One that was not looked for.
    pub fn for_test(address: u64, function: *const ()) -> Self {
        Self {
            address,
            function,
            name: "test",
        }
    }
}

/// The table that `PSI_hook` is to give.
#[derive(Debug)]
pub struct Hook {
    /// Where the pointer is in memory.
    pub pointer: u64,
    /// The functions, in order.
    pub table: Vec<*const ()>,
}

/// Everything that is to be written.
#[derive(Debug)]
pub struct Places {
    /// Code.
    pub targets: Vec<Target>,
    /// A pointer.
    pub hook: Option<Hook>,
}

impl Places {
    /// How many functions.
    pub fn count(&self) -> usize {
        self.targets.len() + self.hook.as_ref().map_or(0, |hook| hook.table.len())
    }
}

/// Finds every entry, or says what is wrong with one.
pub fn find(host: &Host, series: &Series, server: &Server) -> Result<Places, PlaceError> {
    let entries = series.entries;
    covers_exported_functions(host, entries)?;
    covers_exported_tables(host, entries)?;
    let learned = learned(host, entries, server)?;
    let mut targets = BTreeMap::<u64, Target>::new();
    for entry in entries {
        let address = match entry.place {
            Place::Symbol(name) => host.in_memory(symbol(host, name)?.address),
            Place::Slot { table, index } => slot(host, symbol(host, table)?.address, index),
            Place::Learned { index } => {
                let functions = learned.as_ref().map_or(&[][..], |known| &known.functions);
                let function = functions.get(index).copied();
                host.in_memory(function.ok_or(PlaceError::NoFunction(entry.name))?)
            }
            Place::Hook { .. } => continue,
        };
        // The server has no function in that slot, so it cannot call one.
        if address == 0 {
            continue;
        }
        check(host, entry.name, address)?;
        let target = Target {
            address,
            function: entry.function,
            name: entry.name,
        };
        if let Some(other) = targets.insert(address, target)
            && !std::ptr::eq(other.function, entry.function)
        {
            return Err(PlaceError::Shared(other.name, entry.name));
        }
    }
    let targets = targets.into_values().collect();
    Ok(Places {
        targets,
        hook: hook(host, entries)?,
    })
}

fn symbol(host: &Host, name: &str) -> Result<tare_image::Symbol, PlaceError> {
    host.image
        .symbol(name)
        .ok_or_else(|| PlaceError::NoSymbol(name.to_owned()))
}

/// What a slot of a table holds now; ld.so has relocated it.
fn slot(host: &Host, table: u64, index: usize) -> u64 {
    let address = host.in_memory(table + index as u64 * POINTER);
    // SAFETY: the caller's table is a symbol or was checked to be within the program's data, which is mapped,
    // and has that slot.
    unsafe { (address as *const u64).read_unaligned() }
}

fn check(host: &Host, name: &'static str, address: u64) -> Result<(), PlaceError> {
    let linked = host.as_linked(address);
    let room = host.image.room(linked);
    let room = room.ok_or(PlaceError::NoFunction(name))?;
    if !address.is_multiple_of(ROOM as u64) || room < ROOM as u64 {
        return Err(PlaceError::NoRoom(name));
    }
    let expected = host.image.bytes(linked, ROOM);
    let expected = expected.ok_or(PlaceError::NoFunction(name))?;
    // SAFETY: `room` says that these bytes are in an executable part of the program, which is mapped.
    let found = unsafe { std::slice::from_raw_parts(address as *const u8, ROOM) };
    if found == expected {
        Ok(())
    } else {
        Err(PlaceError::Changed(name))
    }
}

/// Of a series whose functions are exported by name, all are to be replaced.
fn covers_exported_functions(host: &Host, entries: &[Entry]) -> Result<(), PlaceError> {
    let listed = |name: &str| {
        entries
            .iter()
            .any(|entry| matches!(entry.place, Place::Symbol(listed) if listed == name))
    };
    let is_of_interface = |name: &str| {
        name.starts_with("pfs_")
            && name
                .rsplit_once("_v")
                .is_some_and(|(_, digits)| is_number(digits))
    };
    let mut missing: Vec<&str> = host
        .image
        .symbols()
        .filter(|(name, symbol)| symbol.is_function && is_of_interface(name) && !listed(name))
        .map(|(name, _)| name)
        .collect();
    missing.sort_unstable();
    match missing.first() {
        Some(name) => Err(PlaceError::NotServed((*name).to_owned())),
        None => Ok(()),
    }
}

/// Of a series that exports tables, every slot of every table.
fn covers_exported_tables(host: &Host, entries: &[Entry]) -> Result<(), PlaceError> {
    let is_table = |name: &str| {
        let service = name
            .strip_prefix("pfs_")
            .and_then(|rest| rest.rsplit_once("_service_v"));
        service.is_some_and(|(_, digits)| is_number(digits))
    };
    for (table, symbol) in host.image.symbols() {
        if symbol.is_function || !is_table(table) {
            continue;
        }
        let mut known: Vec<usize> = entries
            .iter()
            .filter_map(|entry| match entry.place {
                Place::Slot {
                    table: listed,
                    index,
                } if listed == table => Some(index),
                _ => None,
            })
            .collect();
        known.sort_unstable();
        known.dedup();
        if known.is_empty() {
            return Err(PlaceError::NotServed(table.to_owned()));
        }
        is_whole(table, &known, (symbol.size / POINTER) as usize)?;
    }
    Ok(())
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether these are the slots 0 to `found` - 1.
fn is_whole(table: &str, known: &[usize], found: usize) -> Result<(), PlaceError> {
    if known.iter().copied().eq(0..found) {
        return Ok(());
    }
    Err(PlaceError::Slots {
        table: table.to_owned(),
        found,
        known: known.len(),
    })
}

/// What is kept of this build, if the series needs it, compared with what is in memory.
fn learned(host: &Host, entries: &[Entry], server: &Server) -> Result<Option<Learned>, PlaceError> {
    let mut known: Vec<usize> = entries
        .iter()
        .filter_map(|entry| match entry.place {
            Place::Learned { index } => Some(index),
            _ => None,
        })
        .collect();
    if known.is_empty() {
        return Ok(None);
    }
    known.sort_unstable();
    let build_id = server.build_id.as_deref().ok_or(PlaceError::Other)?;
    let learned = Learned::load(build_id)?;
    let slots = learned.functions.len();
    is_whole("PSI_server", &known, slots)?;
    // In the program's initialised data, or it is no table that the linker has filled.
    let table = host.image.bytes(learned.table, slots * POINTER as usize);
    if table.is_none() || !learned.table.is_multiple_of(POINTER) {
        return Err(PlaceError::Other);
    }
    for (index, &function) in learned.functions.iter().enumerate() {
        if slot(host, learned.table, index) != host.in_memory(function) {
            return Err(PlaceError::Other);
        }
    }
    Ok(Some(learned))
}

/// The table for `PSI_hook`, if the series has one.
fn hook(host: &Host, entries: &[Entry]) -> Result<Option<Hook>, PlaceError> {
    let table: BTreeMap<usize, *const ()> = entries
        .iter()
        .filter_map(|entry| match entry.place {
            Place::Hook { index } => Some((index, entry.function)),
            _ => None,
        })
        .collect();
    if table.is_empty() {
        return Ok(None);
    }
    let known: Vec<usize> = table.keys().copied().collect();
    is_whole("PSI_hook", &known, table.len())?;
    let pointer = symbol(host, "PSI_hook")?;
    let address = host.in_memory(pointer.address);
    // SAFETY: the symbol is a pointer variable of the program, which is mapped.
    let now = unsafe { (address as *const u64).read_unaligned() };
    if pointer.size != POINTER || now != 0 {
        return Err(PlaceError::Changed("PSI_hook"));
    }
    Ok(Some(Hook {
        pointer: address,
        table: table.into_values().collect(),
    }))
}

/// What the server takes `PSI_hook` for: one function, which is asked for a version of the interface.
#[repr(C)]
pub struct Bootstrap {
    /// Gives the table of that version, or nothing.
    pub get_interface: extern "C" fn(i32) -> *mut c_void,
}
