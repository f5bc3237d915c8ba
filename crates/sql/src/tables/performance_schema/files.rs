//! file_summary_by_event_name and file_summary_by_instance.

use std::sync::Arc;

use super::event::*;
use crate::catalog::{Column, I64, Key, Spec, Table, U64, col};

/// File operations by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Io {
    /// All.
    pub all: Stat,
    /// Reads.
    pub read: Stat,
    /// Bytes read.
    pub bytes_read: i64,
    /// Writes.
    pub write: Stat,
    /// Bytes written.
    pub bytes_written: i64,
    /// Open, close, sync, seek and the rest.
    pub misc: Stat,
}

/// The operations of an instrument or of one file.
#[derive(Debug, Clone)]
pub struct FileIo {
    /// The file's path; empty in the summary by event name.
    pub path: Arc<str>,
    /// The instrument.
    pub name: Arc<str>,
    /// The file's address or number; 0 in the summary by event name.
    pub object_instance_begin: u64,
    /// The operations.
    pub io: Io,
}

impl HasStat for FileIo {
    fn stat(&self) -> &Stat {
        &self.io.all
    }
}

const EVENT_NAME: Column<FileIo> = col("EVENT_NAME", "varchar(128)", "The instrument.", |r| {
    (&*r.name).into()
});

/// A row that has operations.
pub trait HasIo: HasStat {
    /// They.
    fn io(&self) -> &Io;
}

impl HasIo for FileIo {
    fn io(&self) -> &Io {
        &self.io
    }
}

/// COUNT_READ to MAX_TIMER_MISC; bytes are of this type.
pub const fn operations<R: HasIo>(bytes: &'static str) -> [Column<R>; 17] {
    [
        col("COUNT_READ", U64, "Reads.", |r| r.io().read.count.into()),
        col("SUM_TIMER_READ", U64, "Their time in all.", |r| {
            r.io().read.sum.into()
        }),
        col("MIN_TIMER_READ", U64, "The shortest.", |r| {
            r.io().read.min.into()
        }),
        col("AVG_TIMER_READ", U64, "The average.", |r| {
            r.io().read.avg().into()
        }),
        col("MAX_TIMER_READ", U64, "The longest.", |r| {
            r.io().read.max.into()
        }),
        col("SUM_NUMBER_OF_BYTES_READ", bytes, "Bytes read.", |r| {
            r.io().bytes_read.into()
        }),
        col("COUNT_WRITE", U64, "Writes.", |r| r.io().write.count.into()),
        col("SUM_TIMER_WRITE", U64, "Their time in all.", |r| {
            r.io().write.sum.into()
        }),
        col("MIN_TIMER_WRITE", U64, "The shortest.", |r| {
            r.io().write.min.into()
        }),
        col("AVG_TIMER_WRITE", U64, "The average.", |r| {
            r.io().write.avg().into()
        }),
        col("MAX_TIMER_WRITE", U64, "The longest.", |r| {
            r.io().write.max.into()
        }),
        col("SUM_NUMBER_OF_BYTES_WRITE", bytes, "Bytes written.", |r| {
            r.io().bytes_written.into()
        }),
        col(
            "COUNT_MISC",
            U64,
            "Other operations: open, close, sync, connect.",
            |r| r.io().misc.count.into(),
        ),
        col("SUM_TIMER_MISC", U64, "Their time in all.", |r| {
            r.io().misc.sum.into()
        }),
        col("MIN_TIMER_MISC", U64, "The shortest.", |r| {
            r.io().misc.min.into()
        }),
        col("AVG_TIMER_MISC", U64, "The average.", |r| {
            r.io().misc.avg().into()
        }),
        col("MAX_TIMER_MISC", U64, "The longest.", |r| {
            r.io().misc.max.into()
        }),
    ]
}

static BY_NAME: Spec<FileIo> = Spec::new(
    "performance_schema",
    "file_summary_by_event_name",
    "File operations by instrument.",
    &[&[EVENT_NAME], &timing(), &operations(I64)],
    |view, filter| view.snapshot.file_summary(filter),
)
.keys(&[Key::Primary(&["EVENT_NAME"])])
.filters(&["EVENT_NAME"])
.expect(50)
.truncate(|view| view.snapshot.truncate_file_summary());

static BY_INSTANCE: Spec<FileIo> = Spec::new(
    "performance_schema",
    "file_summary_by_instance",
    "File operations by file.",
    &[
        &[
            col(
                "FILE_NAME",
                "varchar(512)",
                "The file's path.",
                |r: &FileIo| (&*r.path).into(),
            ),
            EVENT_NAME,
            col("OBJECT_INSTANCE_BEGIN", U64, "The file's number.", |r| {
                r.object_instance_begin.into()
            }),
        ],
        &timing(),
        &operations(I64),
    ],
    |view, filter| view.snapshot.file_instances(filter),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain("FILE_NAME", &["FILE_NAME"]),
    Key::Plain("EVENT_NAME", &["EVENT_NAME"]),
])
.filters(&["EVENT_NAME"])
.expect(200)
.truncate(|view| view.snapshot.truncate_file_instances());

/// A file that was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Its path.
    pub path: Arc<str>,
    /// The instrument.
    pub name: Arc<str>,
    /// How often it is open.
    pub open: u32,
}

static INSTANCES: Spec<Opened> = Spec::new(
    "performance_schema",
    "file_instances",
    "The files that were opened, and how often they are open now.",
    &[&[
        col(
            "FILE_NAME",
            "varchar(512)",
            "The file's path.",
            |r: &Opened| (&*r.path).into(),
        ),
        col("EVENT_NAME", "varchar(128)", "The instrument.", |r| {
            (&*r.name).into()
        }),
        col(
            "OPEN_COUNT",
            "int(10) unsigned",
            "How often it is open.",
            |r| r.open.into(),
        ),
    ]],
    |view, filter| view.snapshot.opened_files(filter),
)
.keys(&[
    Key::Primary(&["FILE_NAME"]),
    Key::Plain("EVENT_NAME", &["EVENT_NAME"]),
])
.filters(&["EVENT_NAME"])
.expect(200);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&BY_NAME, &BY_INSTANCE, &INSTANCES];
