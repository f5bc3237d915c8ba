//! Finds a release's entries in this process, and checks that they can be overwritten.
//!
//! An entry can be overwritten with a jump if its code equals the file's, begins a function on a boundary of
//! 16 bytes, and has 16 bytes to itself. A list of entries that omits a function that the server exports is
//! refused, because the server's own function would take our objects for its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tare_image::{Table, TableError};

use super::host::Host;
use crate::releases::entry::{Entry, Location, ServerHooks};

/// The bytes of code that an entry must have to itself.
pub const TARGET_BYTES: usize = 16;

/// Bytes of a pointer in the server's tables.
const POINTER: u64 = 8;

/// Why an entry cannot be overwritten.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The server does not export it.
    #[error("{0} is not exported by this server: it was stripped, or changed")]
    NoSymbol(String),
    /// No function begins there.
    #[error("{0} does not begin where a function begins: this server was changed")]
    NoFunction(&'static str),
    /// The function is too short, or not aligned.
    #[error("{0} is too short for a jump: this server was built in another way")]
    TooShort(&'static str),
    /// Memory and file differ.
    #[error("{0} is not what the program's file has: another tool has changed it")]
    Changed(&'static str),
    /// Two entries have one address.
    #[error("{0} and {1} are one function in this server: it was built in another way")]
    Shared(&'static str, &'static str),
    /// The server exports a function that is not in the list.
    #[error("this server has {0}, which Tare does not serve")]
    NotServed(String),
    /// The list has more or fewer slots than the table.
    #[error("{table} has {count} slots, and Tare knows {listed}")]
    Slots {
        /// The table.
        table: String,
        /// The slots that the server has.
        count: usize,
        /// The slots in the list.
        listed: usize,
    },
    /// The function takes other arguments, or a slot leads to another function.
    #[error("{0} is not what its slot leads to: this server has another interface")]
    Signature(&'static str),
    /// The table behind `PSI_server` was not found.
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
    /// Its address in memory.
    pub address: u64,
    /// Our function.
    pub function: *const (),
    /// Its name in the interface.
    pub name: &'static str,
}

#[cfg(test)]
impl Target {
    /// A target at any address.
    pub fn for_test(address: u64, function: *const ()) -> Self {
        Self {
            address,
            function,
            name: "test",
        }
    }
}

/// Finds every entry, and checks each.
pub fn find_targets(host: &Host, release: &ServerHooks) -> Result<Vec<Target>, TargetError> {
    let entries = release.entries;
    for name in release.needs {
        symbol(host, name)?;
    }
    check_exported_tables(host, entries)?;
    let behind = read_psi_server_table(host, entries)?;
    let signatures: HashMap<&str, &str> = release.signatures.iter().copied().collect();
    let mut targets = BTreeMap::<u64, Target>::new();
    let mut servers_own = BTreeSet::new();
    for entry in entries {
        let address = match entry.location {
            Location::Symbol(name) => host.in_memory(symbol(host, name)?.address),
            Location::Slot { table, index } => read_slot(host, symbol(host, table)?.address, index),
            Location::Behind { index } => {
                let functions = behind.as_ref().map_or(&[][..], |table| &table.functions);
                let function = functions.get(index).copied();
                host.in_memory(function.ok_or(TargetError::NoFunction(entry.name))?)
            }
        };
        // The server has no function in that slot, so it cannot call one.
        if address == 0 {
            continue;
        }
        if let Some(name) = signatures.get(entry.name)
            && host.in_memory(symbol(host, name)?.address) != address
        {
            return Err(TargetError::Signature(entry.name));
        }
        if entry.function.is_null() {
            servers_own.insert(address);
            continue;
        }
        check_code(host, entry.name, address)?;
        let target = Target {
            address,
            function: entry.function,
            name: entry.name,
        };
        if let Some(other) = targets.insert(address, target)
            && !std::ptr::eq(other.function, entry.function)
        {
            return Err(TargetError::Shared(other.name, entry.name));
        }
    }
    if let Some(target) = servers_own.iter().find_map(|address| targets.get(address)) {
        return Err(TargetError::Shared(target.name, "what stays"));
    }
    let is_handled = |address: &u64| targets.contains_key(address) || servers_own.contains(address);
    check_exported_functions(host, is_handled)?;
    check_functions_in_tables(host, is_handled)?;
    Ok(targets.into_values().collect())
}

fn symbol(host: &Host, name: &str) -> Result<tare_image::Symbol, TargetError> {
    host.image
        .symbol(name)
        .ok_or_else(|| TargetError::NoSymbol(name.to_owned()))
}

/// The pointer in a table's slot, which ld.so has relocated.
fn read_slot(host: &Host, table: u64, index: usize) -> u64 {
    let address = host.in_memory(table + index as u64 * POINTER);
    // SAFETY: the table is a symbol, or was checked to lie in the program's data, which is mapped; it has
    // that slot.
    unsafe { (address as *const u64).read_unaligned() }
}

fn check_code(host: &Host, name: &'static str, address: u64) -> Result<(), TargetError> {
    let linked = host.as_linked(address);
    let length = host.image.function_bytes(linked);
    let length = length.ok_or(TargetError::NoFunction(name))?;
    if !address.is_multiple_of(TARGET_BYTES as u64) || length < TARGET_BYTES as u64 {
        return Err(TargetError::TooShort(name));
    }
    let expected = host.image.bytes(linked, TARGET_BYTES);
    let expected = expected.ok_or(TargetError::NoFunction(name))?;
    // SAFETY: a function of this length begins there, so these bytes are in an executable part of the
    // program, which is mapped.
    let code = unsafe { std::slice::from_raw_parts(address as *const u8, TARGET_BYTES) };
    match code == expected {
        true => Ok(()),
        false => Err(TargetError::Changed(name)),
    }
}

/// Checks that every exported function of the interface is replaced.
fn check_exported_functions(
    host: &Host,
    is_handled: impl Fn(&u64) -> bool,
) -> Result<(), TargetError> {
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
        .filter(|(_, symbol)| !is_handled(&host.in_memory(symbol.address)))
        .map(|(name, _)| name)
        .collect();
    missing.sort_unstable();
    match missing.first() {
        Some(name) => Err(TargetError::NotServed((*name).to_owned())),
        None => Ok(()),
    }
}

/// Checks that the list has every slot or no slot of each table that the server exports.
fn check_exported_tables(host: &Host, entries: &[Entry]) -> Result<(), TargetError> {
    for (table, symbol) in exported_tables(host) {
        let mut listed: Vec<usize> = entries
            .iter()
            .filter_map(|entry| match entry.location {
                Location::Slot { table: its, index } if its == table => Some(index),
                _ => None,
            })
            .collect();
        listed.sort_unstable();
        listed.dedup();
        if !listed.is_empty() {
            check_slots(table, &listed, slot_count(symbol))?;
        }
    }
    Ok(())
}

/// Checks that every function that an exported table leads to is replaced.
fn check_functions_in_tables(
    host: &Host,
    is_handled: impl Fn(&u64) -> bool,
) -> Result<(), TargetError> {
    for (table, symbol) in exported_tables(host) {
        let mut functions =
            (0..slot_count(symbol)).map(|index| read_slot(host, symbol.address, index));
        if !functions.all(|function| function == 0 || is_handled(&function)) {
            return Err(TargetError::NotServed(table.to_owned()));
        }
    }
    Ok(())
}

/// The exported tables of functions: one for all (until 5.7), or one for each service.
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

fn slot_count(table: tare_image::Symbol) -> usize {
    (table.size / POINTER) as usize
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks that the listed slots are 0 to `count` - 1.
fn check_slots(table: &str, listed: &[usize], count: usize) -> Result<(), TargetError> {
    if listed.iter().copied().eq(0..count) {
        return Ok(());
    }
    Err(TargetError::Slots {
        table: table.to_owned(),
        count,
        listed: listed.len(),
    })
}

/// The table that `PSI_server` will point to, if the release has entries in it. It must equal the one in
/// memory.
fn read_psi_server_table(host: &Host, entries: &[Entry]) -> Result<Option<Table>, TargetError> {
    let mut listed: Vec<usize> = entries
        .iter()
        .filter_map(|entry| match entry.location {
            Location::Behind { index } => Some(index),
            _ => None,
        })
        .collect();
    if listed.is_empty() {
        return Ok(None);
    }
    listed.sort_unstable();
    let table = host.image.interface_table(listed.len())?;
    check_slots("PSI_server", &listed, table.functions.len())?;
    let is_unchanged =
        |(index, &function)| read_slot(host, table.address, index) == host.in_memory(function);
    match table.functions.iter().enumerate().all(is_unchanged) {
        true => Ok(Some(table)),
        false => Err(TargetError::ChangedTable),
    }
}
