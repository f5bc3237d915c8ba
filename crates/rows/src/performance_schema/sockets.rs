//! socket_instances, socket_summary_by_event_name, socket_summary_by_instance.

use super::event::*;
use super::files::{others, reads, writes};
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::socket::{Open, SocketIo};

#[rustfmt::skip] // One column, one line.
static INSTANCES: Spec<Open> = Spec::new(
    "performance_schema",
    "socket_instances",
    "The open sockets, and who is connected to each.",
    &[&[
        col("EVENT_NAME", "varchar(128)", "The instrument.", |r: &Open| (&*r.name).into()),
        col("OBJECT_INSTANCE_BEGIN", U64, "The socket object's address in memory.", |r| r.object_instance_begin.into()),
        null("THREAD_ID", U64, "The thread that serves it; NULL for a listening socket.", |r| Cell::opt(r.thread_id)),
        col("SOCKET_ID", "int(11)", "Its file descriptor.", |r| i64::from(r.descriptor).into()),
        col("IP", "varchar(64)", "The client's IP address, or the address it listens on; empty for a Unix socket.", |r| (&*r.ip).into()),
        col("PORT", "int(11)", "The client's port, or the port it listens on; 0 for a Unix socket.", |r| i64::from(r.port).into()),
        col("STATE", "enum('IDLE','ACTIVE')", "IDLE while its thread waits for the client, else ACTIVE.", |r| r.state.into()),
    ]],
    |view, filter| view.snapshot.sockets(filter),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain("THREAD_ID", &["THREAD_ID"]),
    Key::Plain("SOCKET_ID", &["SOCKET_ID"]),
    Key::Plain("IP", &["IP", "PORT"]),
])
.filters(&["EVENT_NAME"])
.expect(100);

#[rustfmt::skip] // One column, one line.
const EVENT_NAME: Column<SocketIo> = col("EVENT_NAME", "varchar(128)", "The instrument.", |r| (&*r.name).into());

static BY_NAME: Spec<SocketIo> = Spec::new(
    "performance_schema",
    "socket_summary_by_event_name",
    "Socket operations by instrument.",
    &[
        &[EVENT_NAME],
        &timing(),
        &reads(U64),
        &writes(U64),
        &others(),
    ],
    |view, filter| view.snapshot.socket_summary(filter),
)
.keys(&[Key::Primary(&["EVENT_NAME"])])
.filters(&["EVENT_NAME"])
.expect(10)
.truncate(|view| view.snapshot.truncate_socket_summary());

#[rustfmt::skip] // One column, one line.
static BY_INSTANCE: Spec<SocketIo> = Spec::new(
    "performance_schema",
    "socket_summary_by_instance",
    "Socket operations by socket.",
    &[
        &[
            EVENT_NAME,
            col("OBJECT_INSTANCE_BEGIN", U64, "The socket object's address in memory.", |r| r.object_instance_begin.into()),
        ],
        &timing(),
        &reads(U64),
        &writes(U64),
        &others(),
    ],
    |view, filter| view.snapshot.socket_instances(filter),
)
.keys(&[
    Key::Primary(&["OBJECT_INSTANCE_BEGIN"]),
    Key::Plain("EVENT_NAME", &["EVENT_NAME"]),
])
.filters(&["EVENT_NAME"])
.expect(100)
.truncate(|view| view.snapshot.truncate_socket_instances());

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&INSTANCES, &BY_NAME, &BY_INSTANCE];
