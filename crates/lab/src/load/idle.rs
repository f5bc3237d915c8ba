//! Connections that ask nothing: what a server takes of memory at its start, and for each of them.

use std::time::{Duration, Instant};

use super::{Drive, Driven};
use crate::ask::Ask;
use crate::cell::Resident;
use crate::proc;
use crate::server::Running;
use crate::trouble::Trouble;

/// The first few pay for what all share: they are open before the others are counted.
const FIRST: u32 = 8;

/// How long a server has to come to rest.
const REST: Duration = Duration::from_millis(500);

/// Memory of a process, in KiB.
#[derive(Clone, Copy)]
struct Seen {
    all: f64,
    segment: Option<f64>,
}

/// Opens them, looks, and closes them.
pub(super) fn run(drive: &Drive, running: &mut Running) -> Result<Driven, Trouble> {
    let begun = Instant::now();
    let pid = running
        .pid
        .ok_or_else(|| Trouble::failed("load idle needs a server whose process is here"))?;
    let look = || -> Result<Seen, Trouble> {
        std::thread::sleep(REST);
        drive.interrupt.check()?;
        let stat = proc::stat(pid).ok_or_else(|| Trouble::failed("the server has gone"))?;
        Ok(Seen {
            all: stat.resident_kib as f64,
            segment: proc::segment_kib(pid),
        })
    };
    let start = look()?;
    let mut open = Vec::new();
    let mut more = |count: u32| -> Result<(), Trouble> {
        for _ in 0..count {
            drive.interrupt.check()?;
            let mut ask = Ask::connect(running.address.options())
                .map_err(Trouble::at("an idle connection"))?;
            ask.query("SELECT 1")
                .map_err(Trouble::at("an idle connection"))?;
            open.push(ask);
        }
        Ok(())
    };
    more(FIRST)?;
    let few = look()?;
    more(drive.connections)?;
    let many = look()?;
    let each = |few: f64, many: f64| (many - few) / f64::from(drive.connections);
    let connection = each(few.all, many.all);
    Ok(Driven {
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
        ..Driven::default()
    })
}
