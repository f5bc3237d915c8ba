//! file_summary_by_event_name and file_summary_by_instance.

use super::event::*;
use super::lists::stats;
use crate::describe::{Column, I64, Key, Spec, Table, U64, col};
use crate::record::file::{FileIo, HasIo, Opened};

#[rustfmt::skip] // One column, one line.
const EVENT_NAME: Column<FileIo> = col("EVENT_NAME", "varchar(128)", "The instrument.", |r| (&*r.name).into());

/// COUNT_READ to SUM_NUMBER_OF_BYTES_READ; bytes are of this type.
#[rustfmt::skip] // One column, one line.
pub const fn reads<R: HasIo>(bytes: &'static str) -> [Column<R>; 6] {
    stats!("COUNT_READ", "TIMER_READ", "Reads.", r => r.io().read,
        col("SUM_NUMBER_OF_BYTES_READ", bytes, "Bytes read.", |r| r.io().bytes_read.into()))
}

/// COUNT_WRITE to SUM_NUMBER_OF_BYTES_WRITE, likewise.
#[rustfmt::skip] // One column, one line.
pub const fn writes<R: HasIo>(bytes: &'static str) -> [Column<R>; 6] {
    stats!("COUNT_WRITE", "TIMER_WRITE", "Writes.", r => r.io().write,
        col("SUM_NUMBER_OF_BYTES_WRITE", bytes, "Bytes written.", |r| r.io().bytes_written.into()))
}

/// COUNT_MISC to MAX_TIMER_MISC.
#[rustfmt::skip] // One column, one line.
pub const fn others<R: HasIo>() -> [Column<R>; 5] {
    stats!("COUNT_MISC", "TIMER_MISC", "Other operations, such as open, close, sync and connect.", r => r.io().misc)
}

static BY_NAME: Spec<FileIo> = Spec::new(
    "performance_schema",
    "file_summary_by_event_name",
    "File operations by instrument.",
    &[
        &[EVENT_NAME],
        &timing(),
        &reads(I64),
        &writes(I64),
        &others(),
    ],
    |view, filter| view.snapshot.file_summary(filter),
)
.keys(&[Key::Primary(&["EVENT_NAME"])])
.filters(&["EVENT_NAME"])
.expect(50)
.truncate(|view| view.snapshot.truncate_file_summary());

#[rustfmt::skip] // One column, one line.
static BY_INSTANCE: Spec<FileIo> = Spec::new(
    "performance_schema",
    "file_summary_by_instance",
    "File operations by file.",
    &[
        &[
            col("FILE_NAME", "varchar(512)", "The file's path.", |r: &FileIo| (&*r.path).into()),
            EVENT_NAME,
            col("OBJECT_INSTANCE_BEGIN", U64, "A number that identifies the file object.", |r| r.object_instance_begin.into()),
        ],
        &timing(),
        &reads(I64),
        &writes(I64),
        &others(),
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

#[rustfmt::skip] // One column, one line.
static INSTANCES: Spec<Opened> = Spec::new(
    "performance_schema",
    "file_instances",
    "The files that were opened, and how many times each is open now.",
    &[&[
        col("FILE_NAME", "varchar(512)", "The file's path.", |r: &Opened| (&*r.path).into()),
        col("EVENT_NAME", "varchar(128)", "The instrument.", |r| (&*r.name).into()),
        col("OPEN_COUNT", "int(10) unsigned", "How many times it is open now.", |r| r.open.into()),
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
