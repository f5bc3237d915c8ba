//! `tare ps`: the segments of running programs.

pub mod process;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use tare_layout::LAYOUT_VERSION;
use tare_reader::discover::{self, SegmentFile};
use tare_reader::{Classes, Segment, Target, Thread, threads};

use crate::exit::Failure;
use crate::output::{Cell, Format, Rows};
use crate::sql::{Answer, Local, SqlSession};

/// List the running programs that use Tare
///
/// One row for each segment of a running process that this user may read: process, program, its
/// version, where it listens (TCP ports and sockets) and keeps its data, threads, events counted so
/// far, start of recording (UTC), version of the segment's layout, and the path that --segment takes.
/// Programs with another layout version are listed, but this tare cannot read them.
///
/// With --processes: one row for each process that records, because a program may be several processes
/// with one segment. Role: the name of its first thread.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// List each process of a program that is several
    #[arg(long)]
    processes: bool,
    /// How rows are printed [default: table on a terminal, tsv elsewhere]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

const HELP: &str = "\
Examples:
  tare ps
  tare ps --format json
  tare ps --processes
  tare sql --pid 4711 -e 'SELECT * FROM tare.segments'

A user sees the processes of that user only; root sees all.";

/// All events counted, timed or not.
const QUERY: &str = "\
SELECT program, threads, started,
       (SELECT SUM(COUNT_STAR) FROM performance_schema.events_waits_summary_global_by_event_name),
       (SELECT SUM(COUNT_STAR) FROM performance_schema.events_stages_summary_global_by_event_name),
       (SELECT SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_global_by_event_name),
       (SELECT SUM(COUNT_STAR) FROM performance_schema.events_transactions_summary_global_by_event_name)
FROM tare.segments";

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let running = discover::find_running();
    let rows = match args.processes {
        true => list(
            &["PID", "PROGRAM", "ROLE", "THREADS", "SEGMENT_PID"],
            running.iter().flat_map(process_rows).collect(),
        ),
        false => list(
            &[
                "PID", "PROGRAM", "VERSION", "LISTENS", "DATA", "THREADS", "EVENTS", "STARTED",
                "LAYOUT", "SEGMENT", "REMARK",
            ],
            running.iter().filter_map(row).collect(),
        ),
    };
    let text = rows.to_text(args.format.unwrap_or_else(Format::by_default));
    // A closed pipe is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(ExitCode::SUCCESS)
}

fn list(columns: &[&str], rows: Vec<Vec<Cell>>) -> Rows {
    Rows {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows,
    }
}

/// A row for each process that records into a segment, the one that its header names first.
fn process_rows(segment: &SegmentFile) -> Vec<Vec<Cell>> {
    let attached = Segment::attach(Target::Path(segment.path.clone()));
    let Some(attached) = attached.ok().filter(Segment::is_live) else {
        return Vec::new();
    };
    let classes = Classes::read(attached.view());
    let mut processes: BTreeMap<(bool, u32), Vec<Thread>> = BTreeMap::new();
    for thread in threads(attached.view()) {
        // The number in the header is that in the program's own pid namespace.
        let pid = match thread.process_id {
            id if id == 0 || id == segment.writer => segment.pid,
            other => other,
        };
        let of_process = processes.entry((pid != segment.pid, pid)).or_default();
        of_process.push(thread);
    }
    let program = Cell::Text(program_of(segment.pid).unwrap_or_default());
    let row = |((_, pid), threads): (_, Vec<Thread>)| {
        // Threads are in the order in which they came.
        let class = threads.first().and_then(|thread| classes.get(thread.class));
        let role = class.map(|class| class.name.rsplit('/').next().unwrap_or_default().to_owned());
        vec![
            Cell::Unsigned(u64::from(pid)),
            program.clone(),
            role.map_or(Cell::Null, Cell::Text),
            Cell::Unsigned(threads.len() as u64),
            Cell::Unsigned(segment.pid.into()),
        ]
    };
    processes.into_iter().map(row).collect()
}

/// The row of one segment. `None` if its process has stopped Tare, or has ended since.
fn row(segment: &SegmentFile) -> Option<Vec<Cell>> {
    let (facts, remark) = if segment.layout_version == LAYOUT_VERSION {
        match Segment::attach(Target::Path(segment.path.clone())) {
            Ok(attached) if !attached.is_live() => return None,
            Ok(attached) => match facts(attached) {
                Ok(facts) => (facts, Cell::Null),
                Err(message) => (process_facts(segment.pid)?, Cell::Text(message)),
            },
            Err(error) => (process_facts(segment.pid)?, Cell::Text(error.to_string())),
        }
    } else {
        let remark = format!(
            "layout version {}; this tare reads {LAYOUT_VERSION}: use the tare that the program was built with",
            segment.layout_version
        );
        (process_facts(segment.pid)?, Cell::Text(remark))
    };
    let [program, threads, events, started] = facts;
    let layout = Cell::Unsigned(segment.layout_version.into());
    let path = Cell::Text(segment.path.display().to_string());
    let text_or_null = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
    Some(vec![
        Cell::Unsigned(segment.pid.into()),
        program,
        text_or_null(process::version(segment.pid)),
        text_or_null(Some(process::addresses(segment.pid)).filter(|text| !text.is_empty())),
        text_or_null(process::data(segment.pid).map(|path| path.display().to_string())),
        threads,
        events,
        started,
        layout,
        path,
        remark,
    ])
}

/// Program, threads, events and start from the segment.
fn facts(segment: Segment) -> Result<[Cell; 4], String> {
    let local = Local::new(Arc::new(segment)).map_err(|failure| failure.message)?;
    let mut session = SqlSession::Local(Box::new(local));
    let answer = session.query(QUERY).map_err(|error| error.to_string())?;
    let Answer::Rows(Rows { rows, .. }) = answer else {
        return Err("no answer".to_owned());
    };
    let mut row = rows.into_iter().next().ok_or("no answer")?.into_iter();
    let mut next = || row.next().unwrap_or(Cell::Null);
    let [program, threads, started] = [next(), next(), next()];
    let events = (0..4).map(|_| number(&next())).sum();
    Ok([program, threads, Cell::Unsigned(events), started])
}

fn number(cell: &Cell) -> u64 {
    match cell {
        Cell::Unsigned(n) => *n,
        Cell::Decimal(digits) => digits.parse().unwrap_or(0),
        _ => 0,
    }
}

/// The program's name, if its segment cannot be read. `None` if the process has ended.
fn process_facts(pid: u32) -> Option<[Cell; 4]> {
    Some([
        Cell::Text(program_of(pid)?),
        Cell::Null,
        Cell::Null,
        Cell::Null,
    ])
}

/// The name of a process's program. `None` if the process has ended.
fn program_of(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}
