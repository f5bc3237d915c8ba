//! Where a release's entries are in this process, and whether everything about them is as it should be.
//!
//! An entry's code is what the file has, begins a function on a boundary of 16 bytes, and has 16 bytes to
//! itself: then it can be overwritten with a jump. A list of entries that leaves out what the server exports
//! is refused, because an original that stays would take our objects for its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tare_image::{Table, TableError};

use super::host::Host;
use crate::releases::entry::{Entry, Place, ServerHooks};

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
    /// It takes something else, or a slot leads to another function.
    #[error("{0} is not what its slot leads to: this server has another interface")]
    Signature(&'static str),
    /// Not found.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Memory and file differ.
    #[error(
        "the table behind PSI_server is not what the program's file has: another tool has changed it"
    )]
    ChangedTable,
}

/// A function to be replaced.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Where it is in memory.
    pub address: u64,
    /// What comes there.
    pub function: *const (),
    /// What the interface calls it.
    pub name: &'static str,
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

/// Everything that is to be written.
#[derive(Debug)]
pub struct Places {
    /// Code.
    pub targets: Vec<Target>,
}

impl Places {
    /// How many functions.
    pub fn count(&self) -> usize {
        self.targets.len()
    }
}

/// Finds every entry, or says what is wrong with one.
pub fn find(host: &Host, release: &ServerHooks) -> Result<Places, PlaceError> {
    let entries = release.entries;
    for name in release.needs {
        symbol(host, name)?;
    }
    covers_exported_tables(host, entries)?;
    let behind = behind_psi_server(host, entries)?;
    let signatures: HashMap<&str, &str> = release.signatures.iter().copied().collect();
    let mut targets = BTreeMap::<u64, Target>::new();
    let mut kept = BTreeSet::new();
    for entry in entries {
        let address = match entry.place {
            Place::Symbol(name) => host.in_memory(symbol(host, name)?.address),
            Place::Slot { table, index } => slot(host, symbol(host, table)?.address, index),
            Place::Behind { index } => {
                let functions = behind.as_ref().map_or(&[][..], |table| &table.functions);
                let function = functions.get(index).copied();
                host.in_memory(function.ok_or(PlaceError::NoFunction(entry.name))?)
            }
        };
        // The server has no function in that slot, so it cannot call one.
        if address == 0 {
            continue;
        }
        if let Some(name) = signatures.get(entry.name)
            && host.in_memory(symbol(host, name)?.address) != address
        {
            return Err(PlaceError::Signature(entry.name));
        }
        if entry.function.is_null() {
            kept.insert(address);
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
    if let Some(target) = kept.iter().find_map(|address| targets.get(address)) {
        return Err(PlaceError::Shared(target.name, "what stays"));
    }
    let is_known = |address: &u64| targets.contains_key(address) || kept.contains(address);
    covers_exported_functions(host, is_known)?;
    covers_their_functions(host, is_known)?;
    Ok(Places {
        targets: targets.into_values().collect(),
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

/// Functions that are exported by name are to be replaced, all of them.
fn covers_exported_functions(
    host: &Host,
    is_known: impl Fn(&u64) -> bool,
) -> Result<(), PlaceError> {
    let is_of_interface = |name: &str| {
        let name = tare_image::unmangled(name);
        name.starts_with("pfs_")
            && name
                .rsplit_once("_v")
                .is_some_and(|(_, version)| is_number(version) || version == "c")
    };
    let mut missing: Vec<&str> = host
        .image
        .symbols()
        .filter(|(name, symbol)| symbol.is_function && is_of_interface(name))
        .filter(|(_, symbol)| !is_known(&host.in_memory(symbol.address)))
        .map(|(name, _)| name)
        .collect();
    missing.sort_unstable();
    match missing.first() {
        Some(name) => Err(PlaceError::NotServed((*name).to_owned())),
        None => Ok(()),
    }
}

/// Of a table that the server exports, the list has every slot or no slot.
fn covers_exported_tables(host: &Host, entries: &[Entry]) -> Result<(), PlaceError> {
    for (table, symbol) in exported_tables(host) {
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
        if !known.is_empty() {
            is_whole(table, &known, slots(symbol))?;
        }
    }
    Ok(())
}

/// Whatever an exported table leads to is to be replaced.
fn covers_their_functions(host: &Host, is_known: impl Fn(&u64) -> bool) -> Result<(), PlaceError> {
    for (table, symbol) in exported_tables(host) {
        let mut functions = (0..slots(symbol)).map(|index| slot(host, symbol.address, index));
        if !functions.all(|function| function == 0 || is_known(&function)) {
            return Err(PlaceError::NotServed(table.to_owned()));
        }
    }
    Ok(())
}

/// Tables of functions: one for all (until 5.7), or one for each service.
fn exported_tables(host: &Host) -> impl Iterator<Item = (&str, tare_image::Symbol)> {
    let is_table = |name: &str| {
        let service = name
            .strip_prefix("pfs_")
            .and_then(|rest| rest.rsplit_once("_service_v"));
        let version = service.map(|(_, digits)| digits);
        version
            .or_else(|| name.strip_prefix("PFS_v"))
            .is_some_and(is_number)
    };
    host.image
        .symbols()
        .filter(move |(name, symbol)| !symbol.is_function && is_table(name))
}

fn slots(table: tare_image::Symbol) -> usize {
    (table.size / POINTER) as usize
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

/// The table that `PSI_server` will point to, if the release has entries in it, compared with what is in memory.
fn behind_psi_server(host: &Host, entries: &[Entry]) -> Result<Option<Table>, PlaceError> {
    let mut known: Vec<usize> = entries
        .iter()
        .filter_map(|entry| match entry.place {
            Place::Behind { index } => Some(index),
            _ => None,
        })
        .collect();
    if known.is_empty() {
        return Ok(None);
    }
    known.sort_unstable();
    let table = host.image.interface_table(known.len())?;
    is_whole("PSI_server", &known, table.functions.len())?;
    let is_there =
        |(index, &function)| slot(host, table.address, index) == host.in_memory(function);
    match table.functions.iter().enumerate().all(is_there) {
        true => Ok(Some(table)),
        false => Err(PlaceError::ChangedTable),
    }
}
