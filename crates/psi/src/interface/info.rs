//! The infos by which the server registers instruments.

use std::ffi::c_char;

use engine::Kind;

use super::text::{c_text, field};

/// The data of an instrument besides its name.
#[derive(Clone, Debug, Default)]
pub struct Registration {
    /// Bits of [`flag`].
    pub flags: u32,
    /// How short-lived its objects are.
    pub volatility: u32,
    /// One sentence about it.
    pub documentation: String,
}

/// An info that registers an instrument.
pub trait Info {
    /// Its name after the category.
    fn name(&self) -> *const c_char;

    /// Its other data.
    ///
    /// # Safety
    /// Its texts are C strings or NULL.
    unsafe fn registration(&self) -> Registration;

    /// Writes its key.
    ///
    /// # Safety
    /// The key's address is writable.
    unsafe fn set_key(&mut self, kind: Kind, key: u32);
}

/// Bits of a registration's flags, as MySQL 8.0 has them.
pub mod flag {
    /// The class has one object.
    pub const SINGLETON: u32 = 1;
    /// A statement that is refined later.
    pub const MUTABLE: u32 = 1 << 1;
    /// A class of users' sessions.
    pub const USER: u32 = 1 << 2;
    /// A stage that reports its progress.
    pub const PROGRESS: u32 = 1 << 3;
    /// A rwlock with the mode SX.
    pub const SX: u32 = 1 << 4;
    /// Counted globally only.
    pub const GLOBAL_STATISTICS: u32 = 1 << 5;
    /// A rwlock that prefers readers, from 8.0.28 on.
    pub const READERS_FIRST: u32 = 1 << 6;
    /// Memory that counts for a connection's limit, from 8.0.28 on.
    pub const LIMITED: u32 = 1 << 7;
}

/// The info of 5.7 and before: stages and statements have their key in the info itself, all others a pointer
/// to it.
#[repr(C)]
#[derive(Debug)]
pub struct PlainInfo {
    key: Key,
    name: *const c_char,
    flags: u32,
}

/// A key, or a pointer to it.
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
    /// The key is that of an info of this kind, as the server initialised it.
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

/// The info of 8.0, which also has a volatility (uninitialised in stages and statements) and a sentence of
/// documentation.
#[repr(C)]
#[derive(Debug)]
pub struct DocumentedInfo {
    plain: PlainInfo,
    documentation: *const c_char,
}

/// The offset of the volatility, which stages and statements lack.
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
            // Stages and statements have uninitialised bytes there.
            volatility: if volatility <= 8 { volatility } else { 0 },
            documentation: documentation.into_owned(),
        }
    }

    unsafe fn set_key(&mut self, kind: Kind, key: u32) {
        // SAFETY: rule 8 (an info of this kind, whose key is writable).
        unsafe { self.plain.key.set(kind, key) }
    }
}
