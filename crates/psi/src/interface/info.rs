//! Instruments as the server registers them.

use std::ffi::c_char;

use engine::Kind;

use super::text::{c_text, field};

/// What a server says of an instrument besides its name.
#[derive(Clone, Debug, Default)]
pub struct Registration {
    /// Bits of [`flag`].
    pub flags: u32,
    /// How short its objects live.
    pub volatility: u32,
    /// One sentence.
    pub documentation: String,
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
    /// A rwlock that lets readers go first, from 8.0.28 on.
    pub const READERS_FIRST: u32 = 1 << 6;
    /// Memory that a connection may not have too much of, from 8.0.28 on.
    pub const LIMITED: u32 = 1 << 7;
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
            // SAFETY: rule 8 (an info of this kind).
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
        // SAFETY: rule 8 (an info of this kind, whose key is writable).
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
        // SAFETY: rule 8 (C strings or NULL); the offset is within the structure.
        let (volatility, documentation) =
            unsafe { (field::<u32>(at, VOLATILITY), c_text(self.documentation)) };
        Registration {
            flags: self.plain.flags,
            // Behind a stage's or statement's flags lies whatever lay there.
            volatility: if volatility <= 8 { volatility } else { 0 },
            documentation: documentation.into_owned(),
        }
    }

    unsafe fn set_key(&mut self, kind: Kind, key: u32) {
        // SAFETY: rule 8 (an info of this kind, whose key is writable).
        unsafe { self.plain.key.set(kind, key) }
    }
}
