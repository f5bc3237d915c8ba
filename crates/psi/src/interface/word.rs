//! Lock words, by which a lock is recognised as free without a call.
//!
//! | word | free for readers | free for a writer | for an SX lock | locks |
//! |---|---|---|---|---|
//! | Mutex | 0 | 0 | | glibc's `pthread_mutex_t`, InnoDB's mutexes |
//! | Posix | not (1 and 2) | no bit but 1 | | glibc's `pthread_rwlock_t`, from 2.25 on |
//! | PreferReader | 0 | 0, and no reader holds it | | the server's own, behind a `pthread_mutex_t` |
//! | InnoDb | above 0 | 2^29 | above 2^28 | InnoDB's latches, 5.7 and 8.0 |
//! | OldInnoDb | above 0 | 2^20 | | InnoDB's latches, 5.6 |
//! | OldInnoDbMutex | 0 | 0 | | a byte behind a pointer in InnoDB's mutexes, 5.6 |
//! | Owner | 0 | 0 | | InnoDB's mutexes, 9.7: eight bytes that name the owner |
//! | Unknown | never: timed | | | all others |
//!
//! Only the first byte of a mutex is read, the lowest of its word. (In 5.6 the mutex has only this byte,
//! whose address is used.)
//!
//! A lock that a thread may take twice (InnoDB's) is not free to it the second time: that is counted as
//! contended, with the short time that it took.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use engine::class::READERS_FIRST;
use engine::{Kind, Operation};

/// The kinds of lock words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Word {
    /// See the table above.
    Mutex = 1,
    /// See the table above.
    Posix = 2,
    /// See the table above.
    PreferReader = 3,
    /// See the table above.
    InnoDb = 4,
    /// See the table above.
    OldInnoDb = 5,
    /// See the table above.
    OldInnoDbMutex = 6,
    /// An unknown word: all waits are timed.
    Unknown = 7,
    /// See the table above.
    Owner = 8,
}

/// Classes of the server's own locks that prefer readers. In newer servers their names say so.
const PREFER_READER: [&str; 2] = [
    "wait/synch/rwlock/sql/MDL_lock::rwlock",
    "wait/synch/rwlock/sql/MDL_context::LOCK_waiting_for",
];

impl Word {
    /// The word of locks of a class.
    pub fn of(kind: Kind, name: &str) -> Self {
        match kind {
            Kind::Mutex => Word::Mutex,
            Kind::SxLock => Word::InnoDb,
            Kind::RwLock if PREFER_READER.contains(&name) || name.starts_with(READERS_FIRST) => {
                Word::PreferReader
            }
            Kind::RwLock if name.starts_with("wait/synch/rwlock/innodb/") => Word::InnoDb,
            Kind::RwLock => Word::Posix,
            _ => Word::Unknown,
        }
    }

    /// Its offset in a lock, in bytes.
    pub(crate) fn offset(self) -> usize {
        match self {
            Word::OldInnoDbMutex => 8,
            _ => 0,
        }
    }

    /// This word if it agrees with the table, else `Unknown`.
    pub(crate) fn if_verified(self) -> Self {
        match VERIFIED.load(Ordering::Relaxed) & self.bit() {
            0 => Word::Unknown,
            _ => self,
        }
    }

    /// The word of this number.
    #[inline(always)]
    pub(crate) fn from_u8(number: u8) -> Self {
        match number {
            1 => Word::Mutex,
            2 => Word::Posix,
            3 => Word::PreferReader,
            4 => Word::InnoDb,
            5 => Word::OldInnoDb,
            6 => Word::OldInnoDbMutex,
            8 => Word::Owner,
            _ => Word::Unknown,
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The words that agree with the table, a bit for each number.
static VERIFIED: AtomicU16 = AtomicU16::new(0);

/// Checks whether the C library's locks agree with the table; InnoDB's do where the release says so. Called
/// before any other thread runs.
pub fn self_check(innodb: bool) {
    let mut verified = match innodb {
        true => {
            Word::InnoDb.bit()
                | Word::OldInnoDb.bit()
                | Word::OldInnoDbMutex.bit()
                | Word::Owner.bit()
        }
        false => 0,
    };
    let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
    let at = (&raw mut mutex).cast::<AtomicU32>();
    // SAFETY: a mutex of this function's own, aligned to more than a word.
    let is_mutex = unsafe {
        let free = is_mutex_free(at);
        libc::pthread_mutex_lock(&raw mut mutex);
        let held = !is_mutex_free(at);
        libc::pthread_mutex_unlock(&raw mut mutex);
        free && held && is_mutex_free(at)
    };
    if is_mutex {
        verified |= Word::Mutex.bit() | Word::PreferReader.bit();
    }
    let mut rwlock = libc::PTHREAD_RWLOCK_INITIALIZER;
    let at = (&raw mut rwlock).cast::<AtomicU32>();
    // SAFETY: a rwlock of this function's own, aligned to more than a word.
    let is_posix = unsafe {
        let free_for = || {
            let word = (*at).load(Ordering::Relaxed);
            (posix_read(word), posix_write(word))
        };
        let mut as_expected = free_for() == (true, true);
        for _ in 0..2 {
            libc::pthread_rwlock_rdlock(&raw mut rwlock);
            as_expected &= free_for() == (true, false);
            libc::pthread_rwlock_unlock(&raw mut rwlock);
            as_expected &= free_for() == (true, true);
            libc::pthread_rwlock_wrlock(&raw mut rwlock);
            as_expected &= free_for() == (false, false);
            libc::pthread_rwlock_unlock(&raw mut rwlock);
            as_expected &= free_for() == (true, true);
        }
        as_expected
    };
    if is_posix {
        verified |= Word::Posix.bit();
    }
    VERIFIED.store(verified, Ordering::Relaxed);
}

/// Bit 0: it is a writer's turn; bit 1: a writer has it; bit 2: readers wait; the rest counts readers.
const fn posix_read(word: u32) -> bool {
    word & 3 != 3
}

const fn posix_write(word: u32) -> bool {
    word & !1 == 0
}

/// The offset of the readers' count in the server's own lock, after a mutex and a condition of 40 and 48
/// bytes.
const READERS: usize = 88 / 4;
/// The word of a free InnoDB latch, and the value that it must exceed for SX.
const INNODB_FREE: u32 = 1 << 29;
const INNODB_SX: i32 = 1 << 28;
/// The word of a free latch in 5.6. It has eight bytes, of which the lower four are enough.
const OLD_INNODB_FREE: u32 = 1 << 20;

/// # Safety
/// `at` is the address of a mutex's word.
#[inline(always)]
pub(crate) unsafe fn is_mutex_free(at: *const AtomicU32) -> bool {
    // SAFETY: rule 8 (a mutex has its word there). Values are 0, 1 and 2.
    unsafe { &*at.cast::<AtomicU8>() }.load(Ordering::Relaxed) == 0
}

/// As [`is_mutex_free`], for a mutex whose word may have eight bytes.
///
/// # Safety
/// As [`is_mutex_free`], with a word of this kind.
#[inline(always)]
pub(crate) unsafe fn is_mutex_free_as(word: Word, at: *const AtomicU32) -> bool {
    match word {
        // SAFETY: rule 8 (a mutex has its word there, aligned to eight bytes).
        Word::Owner => unsafe { &*at.cast::<AtomicU64>() }.load(Ordering::Relaxed) == 0,
        // SAFETY: rule 8 (a mutex has its word there).
        _ => unsafe { is_mutex_free(at) },
    }
}

/// # Safety
/// `at` is a lock of this kind, and no mutex.
#[inline(always)]
pub(crate) unsafe fn is_free(word: Word, at: *const AtomicU32, operation: Operation) -> bool {
    // SAFETY: rule 8 (a lock begins with a word of four bytes).
    let value = unsafe { &*at }.load(Ordering::Relaxed);
    let reads = matches!(operation, Operation::ReadLock | Operation::SharedLock);
    match word {
        Word::Posix if reads => posix_read(value),
        Word::Posix => posix_write(value),
        Word::InnoDb if reads => value as i32 > 0,
        Word::InnoDb if operation == Operation::SharedExclusiveLock => value as i32 > INNODB_SX,
        Word::InnoDb => value == INNODB_FREE,
        Word::OldInnoDb if reads => value as i32 > 0,
        Word::OldInnoDb => value == OLD_INNODB_FREE,
        Word::PreferReader if reads => value == 0,
        Word::PreferReader => {
            // SAFETY: a lock of this kind has its readers there.
            let readers = unsafe { &*at.add(READERS) };
            value == 0 && readers.load(Ordering::Relaxed) == 0
        }
        Word::Mutex | Word::OldInnoDbMutex | Word::Owner | Word::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_agrees_with_the_table() {
        self_check(true);
        for word in [
            Word::Mutex,
            Word::Posix,
            Word::PreferReader,
            Word::InnoDb,
            Word::OldInnoDb,
            Word::OldInnoDbMutex,
            Word::Owner,
        ] {
            assert_eq!(Word::from_u8(word as u8), word);
            assert_eq!(word.if_verified(), word);
        }
    }

    fn free(kind: Word, word: i32, operation: Operation) -> bool {
        let word = AtomicU32::new(word as u32);
        // SAFETY: a word.
        unsafe { is_free(kind, &raw const word, operation) }
    }

    #[test]
    fn words_of_innodbs_latches() {
        let free = |word, operation| free(Word::InnoDb, word, operation);
        use Operation::{ExclusiveLock as X, SharedExclusiveLock as Sx, SharedLock as S};
        // Free, two readers, SX, X, a writer that waits for readers.
        for (word, s, sx, x) in [
            (1 << 29, true, true, true),
            ((1 << 29) - 2, true, true, false),
            (1 << 28, true, false, false),
            (0, false, false, false),
            (-2, false, false, false),
        ] {
            assert_eq!(
                (free(word, S), free(word, Sx), free(word, X)),
                (s, sx, x),
                "{word:#x}"
            );
        }
    }
    #[test]
    fn words_of_innodbs_latches_in_5_6() {
        use Operation::{ReadLock as S, WriteLock as X};
        // Free, two readers, X, X twice, a writer that waits for readers.
        for (word, s, x) in [
            (1 << 20, true, true),
            ((1 << 20) - 2, true, false),
            (0, false, false),
            (-(1 << 20), false, false),
            (-2, false, false),
        ] {
            let free_now = [S, X].map(|operation| free(Word::OldInnoDb, word, operation));
            assert_eq!(free_now, [s, x], "{word:#x}");
        }
    }
}
