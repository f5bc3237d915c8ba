//! The series of servers that are known: their structures and their entries.
//!
//! Structures are our own declarations, of facts: which field lies where in what the server hands over.
//! `tests/` compares them with what real servers show.

pub mod d1011;
pub mod m57;
pub mod m80;

use std::borrow::Cow;
use std::ffi::{c_char, c_void};

use engine::{Kind, Namespace, TableLock};

use crate::door::c_text;
use crate::door::keys::Registration;
use crate::door::statement::Outcome;
use crate::gate;

/// Every series that this build serves.
pub static ALL: &[&gate::Series] = &[&m57::SERIES, &d1011::SERIES, &m80::SERIES];

/// What of the interface differs between series.
pub trait Series: 'static {
    /// How instruments are registered.
    type Info: Info;

    /// Whether it tells of each error when it is raised.
    const TELLS_ERRORS: bool;

    /// Its table of errors: the symbol, and how many rows it has.
    const ERROR_NAMES: Option<(&'static std::ffi::CStr, usize)> = None;

    /// Where in a metadata lock's key the bytes begin that tell it from others; how many there are stands first.
    const METADATA_BYTES: usize;

    /// A registration's flags as [`flag`] has them.
    fn flags(kind: Kind, flags: u32) -> u32;

    /// Whether the server's own engine enables the instrument at start.
    fn is_enabled(kind: Kind, name: &str, flags: u32) -> bool;

    /// Names of a table and of its indexes; `None` = it is not instrumented.
    ///
    /// # Safety
    /// `share` is NULL or a table's share of this series.
    unsafe fn table_share<'a>(share: *const c_void) -> Option<TableShare<'a>>;

    /// How a table is locked, by the server's number.
    fn table_lock(number: i32) -> Option<TableLock>;

    /// What a metadata lock is on: its kind, schema and name.
    ///
    /// # Safety
    /// `key` is NULL or a metadata lock's key of this series.
    unsafe fn metadata_key<'a>(
        key: *const c_void,
    ) -> Option<(Namespace, Cow<'a, str>, Cow<'a, str>)>;

    /// The same as the bytes that tell one from the other.
    ///
    /// # Safety
    /// As [`Series::metadata_key`].
    unsafe fn metadata_bytes<'a>(key: *const c_void) -> &'a [u8] {
        if key.is_null() {
            return &[];
        }
        // SAFETY: the caller's promise: so many bytes. More than two names, a kind and two zeroes there are
        // in none.
        unsafe {
            let whole = usize::from(field::<u16>(key, 0)).min(2 * 192 + 3);
            std::slice::from_raw_parts(key.cast::<u8>().add(Self::METADATA_BYTES), whole)
        }
    }

    /// The tokens that the server's parser stored; none, where they do not tell statements apart.
    ///
    /// # Safety
    /// `storage` is NULL or a digest's storage of this series.
    unsafe fn tokens<'a>(storage: *const c_void) -> &'a [u8];

    /// How a statement ended.
    ///
    /// # Safety
    /// `diagnostics` is NULL or a diagnostics area of this series.
    unsafe fn outcome<'a>(diagnostics: *const c_void) -> Outcome<'a>;
}

/// A table's names.
#[derive(Clone, Debug)]
pub struct TableShare<'a> {
    /// Its schema.
    pub schema: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Those of its indexes, by their number.
    pub indexes: Vec<Cow<'a, str>>,
}

/// What a server says of an instrument when it registers it.
pub trait Info {
    /// Its name behind the category.
    fn name(&self) -> *const c_char;

    /// The rest.
    ///
    /// # Safety
    /// Its texts are C strings or NULL.
    unsafe fn registration(&self) -> Registration;

    /// Gives it its key.
    ///
    /// # Safety
    /// Where the key goes is writable.
    unsafe fn set_key(&mut self, kind: Kind, key: u32);
}

/// Bits of a registration's flags, as MySQL 8.0 has them.
pub mod flag {
    /// There is one object of this class.
    pub const SINGLETON: u32 = 1;
    /// A statement that is refined later.
    pub const MUTABLE: u32 = 1 << 1;
    /// A class of users' sessions.
    pub const USER: u32 = 1 << 2;
    /// A stage that reports its progress.
    pub const PROGRESS: u32 = 1 << 3;
    /// A rwlock that can be locked in the third way.
    pub const SX: u32 = 1 << 4;
    /// Counted globally only.
    pub const GLOBAL_STATISTICS: u32 = 1 << 5;
}

/// How instruments are registered in 5.7 and before: stages and statements have their key in the info
/// itself, all others have a pointer to where it goes.
#[repr(C)]
#[derive(Debug)]
pub struct PlainInfo {
    key: Key,
    name: *const c_char,
    flags: u32,
}

/// A key, or where it goes.
#[repr(C)]
union Key {
    here: u32,
    there: *mut u32,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// # Safety
    /// It is of an info of this kind, as the server made it.
    unsafe fn set(&mut self, kind: Kind, key: u32) {
        match kind {
            Kind::Stage | Kind::Statement => self.here = key,
            // SAFETY: the caller's promise.
            _ => unsafe {
                if !self.there.is_null() {
                    *self.there = key;
                }
            },
        }
    }
}

impl Info for PlainInfo {
    fn name(&self) -> *const c_char {
        self.name
    }

    unsafe fn registration(&self) -> Registration {
        Registration {
            flags: self.flags,
            ..Registration::default()
        }
    }

    unsafe fn set_key(&mut self, kind: Kind, key: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.key.set(kind, key) }
    }
}

/// How instruments are registered in 8.0: volatility (stages and statements have none, and nothing in its
/// place) and a sentence of documentation are said, too.
#[repr(C)]
#[derive(Debug)]
pub struct DocumentedInfo {
    plain: PlainInfo,
    documentation: *const c_char,
}

/// What lies behind the flags: volatility, or nothing.
const VOLATILITY: usize = 20;

const _: () = assert!(size_of::<DocumentedInfo>() == 32);

impl Info for DocumentedInfo {
    fn name(&self) -> *const c_char {
        self.plain.name
    }

    unsafe fn registration(&self) -> Registration {
        let at = std::ptr::from_ref(self).cast();
        // SAFETY: the caller's promise; the place is within the structure.
        let (volatility, documentation) =
            unsafe { (field::<u32>(at, VOLATILITY), c_text(self.documentation)) };
        Registration {
            flags: self.plain.flags,
            // Behind a stage's or statement's flags lies whatever lay there.
            volatility: if volatility <= 7 { volatility } else { 0 },
            documentation: documentation.into_owned(),
        }
    }

    unsafe fn set_key(&mut self, kind: Kind, key: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.plain.key.set(kind, key) }
    }
}

/// A word of a structure of the server's.
///
/// # Safety
/// `base` has a `T` at `offset`.
#[inline(always)]
pub(crate) unsafe fn field<T: Copy>(base: *const c_void, offset: usize) -> T {
    // SAFETY: the caller's promise.
    unsafe { base.cast::<u8>().add(offset).cast::<T>().read_unaligned() }
}

/// A text whose address and length stand at these places.
///
/// # Safety
/// As [`field`], and the text is readable as long as `'a` lasts.
pub(crate) unsafe fn text_at<'a>(base: *const c_void, at: usize, length: usize) -> Cow<'a, str> {
    // SAFETY: the caller's promise.
    unsafe { crate::door::text(field(base, at), field::<usize>(base, length)) }
}

/// Bytes up to a zero, at most so many.
///
/// # Safety
/// `base` has so many bytes at `offset`, as long as `'a` lasts.
pub(crate) unsafe fn until_zero<'a>(base: *const c_void, offset: usize, most: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(base.cast::<u8>().add(offset), most) };
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(most);
    &bytes[..length]
}

/// The ways to lock a table of the server's own locks, from 5.7 on. Those that the parser alone knows
/// are none.
pub(crate) fn table_lock(number: i32) -> Option<TableLock> {
    Some(match number {
        2 => TableLock::Read,
        3 => TableLock::ReadWithSharedLocks,
        4 => TableLock::ReadHighPriority,
        5 => TableLock::ReadNoInsert,
        6 => TableLock::WriteAllowWrite,
        8 => TableLock::WriteConcurrentInsert,
        10 => TableLock::WriteLowPriority,
        11 => TableLock::Write,
        _ => return None,
    })
}
