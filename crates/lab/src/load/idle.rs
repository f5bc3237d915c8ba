//! Idle connections: the memory of a server at its start, and for each connection.

use std::time::{Duration, Instant};

use super::{Drive, LoadReport};
use crate::cell::Resident;
use crate::connection::Connection;
use crate::error::CellError;
use crate::proc;
use crate::server::RunningServer;

/// Connections that are opened before the measurement: the first ones allocate what all share.
const FIRST_CONNECTIONS: u32 = 8;

/// The time that a server has to become idle.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// Memory of a process, in KiB.
#[derive(Clone, Copy)]
struct MemoryReading {
    all: f64,
    segment: Option<f64>,
}

/// Opens the connections, reads the server's memory, and closes them.
pub(super) fn run(drive: &Drive, running: &mut RunningServer) -> Result<LoadReport, CellError> {
    let begun = Instant::now();
    let pid = running
        .pid
        .ok_or_else(|| CellError::failed("load idle needs a server whose process is here"))?;
    let read_memory = || -> Result<MemoryReading, CellError> {
        std::thread::sleep(SETTLE_TIME);
        drive.interrupt.check()?;
        let stat = proc::stat(pid).ok_or_else(|| CellError::failed("the server has gone"))?;
        Ok(MemoryReading {
            all: stat.resident_kib as f64,
            segment: proc::segment_kib(pid),
        })
    };
    let start = read_memory()?;
    let mut open = Vec::new();
    let mut more = |count: u32| -> Result<(), CellError> {
        for _ in 0..count {
            drive.interrupt.check()?;
            let mut connection = Connection::connect(running.address.options())
                .map_err(CellError::at("an idle connection"))?;
            connection
                .query("SELECT 1")
                .map_err(CellError::at("an idle connection"))?;
            open.push(connection);
        }
        Ok(())
    };
    more(FIRST_CONNECTIONS)?;
    let few = read_memory()?;
    more(drive.connections)?;
    let many = read_memory()?;
    let each = |few: f64, many: f64| (many - few) / f64::from(drive.connections);
    let connection = each(few.all, many.all);
    Ok(LoadReport {
        seconds: begun.elapsed().as_secs_f64(),
        resident: Some(Resident {
            start: start.all,
            connection,
            segment_start: start.segment,
            segment_connection: few
                .segment
                .zip(many.segment)
                .map(|(few, many)| each(few, many)),
        }),
        ..LoadReport::default()
    })
}
