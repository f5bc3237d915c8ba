//! The series of servers that are known: their structures and their entries.
//!
//! Structures are our own declarations, of facts: which field lies where in what the server hands over.
//! `tests/` compares them with what real servers show.

pub mod d1011;
mod fields;
mod functions;
pub mod m56;
pub mod m57;
pub mod m80;

use std::ffi::c_char;

use engine::{Kind, Namespace, ObjectType, TableLock};

use crate::door::c_text;
use crate::door::keys::Registration;
use crate::door::word::Word;
use crate::gate;

use fields::field;
pub use fields::{Area, Digest, Fields, Key as MetadataKey, Share, TableShare};
pub use functions::Function;

/// The structures and entries of a series.
pub fn of(series: tare_image::Series) -> &'static gate::Series {
    match series {
        tare_image::Series::Mysql56 => &m56::SERIES,
        tare_image::Series::Mysql57 => &m57::SERIES,
        tare_image::Series::Mysql80 => &m80::SERIES,
        tare_image::Series::Mariadb1011 => &d1011::SERIES,
    }
}

/// What of the interface differs between series.
pub trait Series: 'static {
    /// How instruments are registered.
    type Info: Info;

    /// Whether it tells of each error when it is raised.
    const TELLS_ERRORS: bool;

    /// Whether it can fork to go into the background.
    const DAEMONIZES: bool = false;

    /// Its table of errors: the symbol, and how many rows it has.
    const ERROR_NAMES: Option<(&'static std::ffi::CStr, usize)> = None;

    /// Where its structures have what the interface hands over.
    const FIELDS: Fields;

    /// Functions that take something else than those of other series.
    const OWN: &'static [Function] = &[];

    /// Its numbers of the ways to lock a table.
    fn table_lock(number: i32) -> Option<TableLock> {
        table_lock(number)
    }

    /// Its numbers of the types of stored programs.
    fn program(number: u32) -> Option<ObjectType> {
        match number {
            1 => Some(ObjectType::Function),
            2 => Some(ObjectType::Procedure),
            3 => Some(ObjectType::Trigger),
            4 => Some(ObjectType::Event),
            _ => None,
        }
    }

    /// How locks of a class are seen to be free.
    fn word(kind: Kind, name: &str) -> Word {
        Word::of(kind, name)
    }

    /// A registration's flags as [`flag`] has them.
    fn flags(kind: Kind, flags: u32) -> u32 {
        match kind {
            // Of memory, the flag says that it is counted for the server as a whole.
            Kind::Memory if flags & 1 != 0 => flag::GLOBAL_STATISTICS,
            Kind::Memory => 0,
            _ => flags & (flag::SINGLETON | flag::MUTABLE | flag::PROGRESS | flag::SX),
        }
    }

    /// Whether the server's own engine enables the instrument at start.
    fn is_enabled(kind: Kind, name: &str, flags: u32) -> bool {
        match kind {
            Kind::Stage => flags & flag::PROGRESS != 0,
            Kind::Memory => name.starts_with("memory/performance_schema/"),
            Kind::Transaction | Kind::MetadataLock => false,
            kind => kind.enabled_by_default(),
        }
    }
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

/// What metadata locks are on, by number, in 8.0; before it as far as there were such locks.
const NAMESPACES: [Namespace; 17] = [
    Namespace::Global,
    Namespace::Tablespace,
    Namespace::Schema,
    Namespace::Table,
    Namespace::Function,
    Namespace::Procedure,
    Namespace::Trigger,
    Namespace::Event,
    Namespace::Commit,
    Namespace::UserLevelLock,
    Namespace::LockingService,
    Namespace::Srid,
    Namespace::AclCache,
    Namespace::ColumnStatistics,
    Namespace::BackupLock,
    Namespace::ResourceGroups,
    Namespace::ForeignKey,
];

/// The ways to lock a table of the server's own locks, from 5.7 on. Those that the parser alone knows
/// are none.
fn table_lock(number: i32) -> Option<TableLock> {
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
