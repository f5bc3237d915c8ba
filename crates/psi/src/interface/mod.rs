//! The ground floor: what a release's interface declares, and how its structures and texts are read.
//!
//! [`crate::releases`] describes the interface of each release with these types, and [`crate::door`] reads
//! with them what the server hands over.

pub(crate) mod charset;
mod fields;
mod info;
pub(crate) mod text;
pub mod word;

pub use fields::{Area, Digest, Fields, Key as MetadataKey, Outcome, Share, TableShare, Tokens};
pub use info::{DocumentedInfo, Info, PlainInfo, Registration, flag};

use engine::thread::Truncation;
use engine::{Kind, Namespace, ObjectType, TableLock};
use word::Word;

/// A function's name in the interface, and our function.
pub type Function = (&'static str, *const ());

/// What differs between the interfaces of releases.
pub trait Interface: 'static {
    /// The info that registers an instrument.
    type Info: Info;

    /// Whether the server reports each error when it is raised.
    const REPORTS_ERRORS: bool;

    /// Whether the server can fork into the background.
    const DAEMONIZES: bool = false;

    /// Whether its digests have the number of a column in GROUP BY and ORDER BY.
    const DIGESTS_HAVE_POSITIONS: bool = false;

    /// Whether it displays the names of stored programs and of their databases as they were written. Others
    /// display them in lower case.
    const PROGRAMS_ARE_CASE_SENSITIVE: bool = false;

    /// Whether the text that PREPARE prepares is UTF-8. Others report it in the client's character set, as they
    /// report that of a client's own call.
    const PREPARE_IS_UTF8: bool = false;

    /// What clients see of connection attributes that are too large.
    const TRUNCATION: Truncation = Truncation::Silent;

    /// The offsets of its structures.
    const FIELDS: Fields;

    /// Functions whose arguments differ from those of other releases.
    const OWN: &'static [Function] = &[];

    /// The lock of a table by the server's number.
    fn table_lock(number: i32) -> Option<TableLock> {
        table_lock(number)
    }

    /// The type of a stored program by the server's number.
    fn program(number: u32) -> Option<ObjectType> {
        match number {
            1 => Some(ObjectType::Function),
            2 => Some(ObjectType::Procedure),
            3 => Some(ObjectType::Trigger),
            4 => Some(ObjectType::Event),
            _ => None,
        }
    }

    /// The lock word of a class.
    fn word(kind: Kind, name: &str) -> Word {
        Word::of(kind, name)
    }

    /// A registration's flags as bits of [`flag`].
    fn flags(kind: Kind, flags: u32) -> u32 {
        match kind {
            // Memory with this flag is counted globally only.
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

/// The types of objects of metadata locks, by number in 8.0; earlier releases have only the first ones.
pub(crate) const NAMESPACES: [Namespace; 17] = [
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

/// The server's own locks of a table by number, from 5.7 on. Numbers that only the parser uses are none.
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
