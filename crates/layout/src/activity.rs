//! What a thread does now: one cache line of its slot, which the level `active` keeps (docs/active-internals.md).
//!
//! The slot's thread is its only writer. `wait` and `stage` are complete by themselves. The fields about
//! the statement, and its text, belong together: a reader accepts them if [`Activity::sequence`] was even
//! and did not change meanwhile.

use crate::line::LINE_BYTES;
use crate::object::target;
use crate::primitive::{AtomicU32, AtomicU64, Ordering, fence};

/// The line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Activity {
    /// The innermost wait that runs, see [`Waiting`]; 0 = none.
    pub wait: AtomicU64,
    /// Ticks when the innermost statement began; while none runs, when the last one ended.
    pub began: AtomicU64,
    /// Odd while the fields about the statement, or its text, change.
    pub sequence: AtomicU32,
    /// Class of the innermost statement that runs, 0 = none.
    pub statement: AtomicU32,
    /// Where its text begins, in bytes from the start of the slot's `active text`.
    pub text_at: AtomicU32,
    /// Bytes of its text; bit 31: the text was longer ([`TRUNCATED`]).
    pub text_bytes: AtomicU32,
    /// Class of the stage that the thread is in, 0 = none. Written at every level.
    pub stage: AtomicU32,
    /// Number of statements that run, one inside the other.
    pub depth: AtomicU32,
    /// Read by the thread only: in which period of the host's level it last entered a stage, and began a
    /// statement.
    pub periods: [AtomicU32; 2],
    /// Of a thread that serves many sessions in turn: id of the one that it serves now, 0 = none, or unknown.
    pub served: AtomicU64,
    /// Ticks when the poll returned after which it serves that session, 0 = unknown.
    pub served_since: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Activity>() == LINE_BYTES);

/// In [`Activity::text_bytes`]: the text was cut.
pub const TRUNCATED: u32 = 1 << 31;

/// How many times as long as one stored text the area is in which the texts of nested statements follow
/// each other.
pub const TEXTS: usize = 2;

/// The fields about a statement, and where its text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// See [`Activity::statement`].
    pub class: u32,
    /// See [`Activity::began`].
    pub began: u64,
    /// See [`Activity::text_at`].
    pub text_at: u32,
    /// See [`Activity::text_bytes`].
    pub text_bytes: u32,
    /// See [`Activity::depth`].
    pub depth: u32,
}

impl Statement {
    /// Bytes of the text.
    pub const fn text_bytes(&self) -> usize {
        (self.text_bytes & !TRUNCATED) as usize
    }
}

impl Activity {
    /// Changes the fields about the statement, or its text. The caller is the line's only writer.
    #[inline(always)]
    pub fn change(&self, change: impl FnOnce(&Self)) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence
            .store(sequence.wrapping_add(1), Ordering::Relaxed);
        // Pairs with the fence in `read`: a reader that sees a new value also sees that the sequence was
        // odd or is new.
        fence(Ordering::Release);
        change(self);
        // Pairs with the first load in `read`.
        self.sequence
            .store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// Stores the fields about a statement; inside of [`Activity::change`].
    #[inline(always)]
    pub fn set(&self, statement: Statement) {
        self.statement.store(statement.class, Ordering::Relaxed);
        self.began.store(statement.began, Ordering::Relaxed);
        self.text_at.store(statement.text_at, Ordering::Relaxed);
        self.text_bytes
            .store(statement.text_bytes, Ordering::Relaxed);
        self.depth.store(statement.depth, Ordering::Relaxed);
    }

    /// The fields about the statement: for the line's writer, and inside of [`Activity::read`].
    #[inline(always)]
    pub fn statement(&self) -> Statement {
        Statement {
            class: self.statement.load(Ordering::Relaxed),
            began: self.began.load(Ordering::Relaxed),
            text_at: self.text_at.load(Ordering::Relaxed),
            text_bytes: self.text_bytes.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
        }
    }

    /// Ends the outermost statement. The sequence does not change: see [`Activity::read`].
    #[inline(always)]
    pub fn end(&self, now: u64) {
        self.statement.store(0, Ordering::Relaxed);
        // Pairs with the first fence in `read`: a reader of this time also reads that no statement runs.
        self.began.store(now, Ordering::Release);
    }

    /// Reads the statement and, with `read_text`, its text. Its class is 0 if it ended meanwhile. `None`: the
    /// writer changed them in each of a few tries, or died while it did.
    pub fn read<T>(&self, read_text: impl Fn(&Statement) -> T) -> Option<(Statement, T)> {
        for _ in 0..MAX_READ_TRIES {
            let sequence = self.sequence.load(Ordering::Acquire);
            if sequence.is_multiple_of(2) {
                let mut statement = self.statement();
                let text = read_text(&statement);
                fence(Ordering::Acquire);
                // It may have ended, or been refined, which does not change the sequence.
                statement.class = self.statement.load(Ordering::Relaxed);
                // A class of the next statement is not read with this sequence.
                fence(Ordering::Acquire);
                if self.sequence.load(Ordering::Relaxed) == sequence {
                    return Some((statement, text));
                }
            }
            core::hint::spin_loop();
        }
        None
    }

    /// Clears the line, for a thread that takes the slot.
    pub fn clear(&self) {
        self.change(|line| line.set(Statement::default()));
        self.wait.store(0, Ordering::Relaxed);
        self.stage.store(0, Ordering::Relaxed);
        self.served.store(0, Ordering::Relaxed);
        for period in &self.periods {
            period.store(0, Ordering::Relaxed);
        }
    }
}

/// A statement's text takes less than a microsecond to store.
#[cfg(not(loom))]
const MAX_READ_TRIES: usize = 64;
#[cfg(loom)]
const MAX_READ_TRIES: usize = 2;

/// The word of a wait. It has one of two forms, by bits 60-63:
///
/// | form | bits 48-59 | bits 0-47 |
/// |---|---|---|
/// | 1 to 14 | class | 0-46 address of the lock, 47 not used by readers |
///
/// | form | bits 40-54 | bits 34-39 | bits 32-33 | bits 0-31 |
/// |---|---|---|---|---|
/// | 15 | class | operation, 0 = unknown | type of [`target`] | id of the object, 0 = unknown |
///
/// The first form is what a server behind the door stores for its locks, so that one store suffices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Instrument class.
    pub class: u16,
    /// Number of an [`Operation`](crate::event::Operation), 0 = unknown.
    pub operation: u8,
    /// The object, see [`target`]; 0 = unknown. An [`OBJECT`](target::OBJECT) is without its part.
    pub object: u64,
    /// The address of the lock in the host, 0 = unknown.
    pub address: u64,
}

/// Where the form of a word is.
pub const FORM_AT: u32 = 60;
/// Where the class of a lock is.
pub const LOCK_CLASS_AT: u32 = 48;
/// The largest class number of a lock's form.
pub const MAX_LOCK_CLASS: u16 = (1 << (FORM_AT - LOCK_CLASS_AT)) - 1;
/// The bits of a lock's address.
pub const ADDRESS_MASK: u64 = (1 << 47) - 1;
const NUMBERED: u64 = 15;
const CLASS_AT: u32 = 40;
const CLASS_MASK: u64 = (1 << 15) - 1;
const OPERATION_AT: u32 = 34;
const OPERATION_MASK: u64 = (1 << 6) - 1;
const TYPE_AT: u32 = 32;
const TYPE_MASK: u64 = 3;

const _: () = assert!(target::DESCRIPTOR <= TYPE_MASK);

impl Waiting {
    /// The word of a wait for an object of [`target`], whose part is left out.
    #[inline(always)]
    pub const fn numbered(class: u16, operation: u8, object: u64) -> u64 {
        NUMBERED << FORM_AT
            | (class as u64 & CLASS_MASK) << CLASS_AT
            | (operation as u64 & OPERATION_MASK) << OPERATION_AT
            | object & ((TYPE_MASK << TYPE_AT) | 0xffff_ffff)
    }

    /// A word of [`numbered`](Self::numbered) without operation, with this one.
    #[inline(always)]
    pub const fn with_operation(word: u64, operation: u8) -> u64 {
        word | (operation as u64) << OPERATION_AT
    }

    /// Whether a word is of a wait for a metadata lock. A thread that waits for one sleeps on a condition,
    /// which says less.
    #[inline(always)]
    pub const fn is_for_metadata_lock(word: u64) -> bool {
        word >> FORM_AT == NUMBERED && word >> TYPE_AT & TYPE_MASK == target::METADATA_LOCK
    }

    /// Reads a word; every word is a wait or none.
    pub const fn unpack(word: u64) -> Option<Self> {
        Some(match word >> FORM_AT {
            0 => return None,
            NUMBERED => Self {
                class: (word >> CLASS_AT & CLASS_MASK) as u16,
                operation: (word >> OPERATION_AT & OPERATION_MASK) as u8,
                object: match word as u32 {
                    0 => 0,
                    id => id as u64 | (word >> TYPE_AT & TYPE_MASK) << 32,
                },
                address: 0,
            },
            _ => Self {
                class: (word >> LOCK_CLASS_AT) as u16 & MAX_LOCK_CLASS,
                operation: 0,
                object: 0,
                address: word & ADDRESS_MASK,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_waits_are_read_as_they_are_written() {
        for (class, operation, object) in [
            (1, 20, 0),
            (32_767, 63, u64::from(u32::MAX)),
            (300, 48, target::object(7, 0)),
            (9, 54, target::metadata_lock(41)),
            (9, 20, target::descriptor(0)),
            (9, 20, target::descriptor(i32::MAX)),
        ] {
            let word = Waiting::numbered(class, operation, object);
            let expected = Waiting {
                class,
                operation,
                object,
                address: 0,
            };
            assert_eq!(Waiting::unpack(word), Some(expected));
            let is_metadata = target::of(object) == target::METADATA_LOCK;
            assert_eq!(Waiting::is_for_metadata_lock(word), is_metadata);
        }
        // The part is left out.
        let word = Waiting::numbered(3, 49, target::object(7, 9));
        let object = Waiting::unpack(word).expect("a wait").object;
        assert_eq!(object, target::object(7, 0));
        let lock = 1 << FORM_AT | 0xabc << LOCK_CLASS_AT | 1 << 47 | 0x7fff_1234_5678;
        let expected = Waiting {
            class: 0xabc,
            operation: 0,
            object: 0,
            address: 0x7fff_1234_5678,
        };
        assert_eq!(Waiting::unpack(lock), Some(expected));
        assert!(!Waiting::is_for_metadata_lock(lock));
        assert_eq!(Waiting::unpack(0), None);
        assert_eq!(Waiting::unpack(0x7fff_1234_5678), None, "an address");
    }

    #[test]
    fn a_statement_that_changes_is_not_read() {
        let line = Activity::default();
        let statement = Statement {
            class: 5,
            began: 1000,
            text_at: 8,
            text_bytes: 3 | TRUNCATED,
            depth: 1,
        };
        line.change(|line| line.set(statement));
        assert_eq!(line.read(Statement::text_bytes), Some((statement, 3)));
        line.change(|line| assert_eq!(line.read(|_| ()), None));
        // It changes while the text is read, once.
        let is_first = core::cell::Cell::new(true);
        let read = line.read(|now| {
            if is_first.replace(false) {
                line.change(|line| line.statement.store(6, Ordering::Relaxed));
            }
            now.class
        });
        assert_eq!(read.map(|(_, class)| class), Some(6));
        // It ends while the text is read.
        let read = line.read(|_| line.end(2000));
        assert_eq!(read.map(|(now, ())| now.class), Some(0));
        line.clear();
        assert_eq!(line.read(|_| ()), Some((Statement::default(), ())));
    }
}
