//! The segment that the system schemas read: the server's own, or that of another process. When that
//! process ends, the server may attach to its successor.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tare::sync::PlainMutex;
use tare_reader::process::{Stat, stat_line};
use tare_reader::{Segment, Target, discover};

use crate::shared::Shared;
use tare_store::log::{self, Priority};

/// How often the server checks whether the attached process has ended, and whether a successor runs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Seconds that a successor may have started before the end of its predecessor was noticed: on a busy machine
/// the check comes late.
const START_TOLERANCE_SECONDS: f64 = 10.0;

/// The segment that is read, and the process that owns it.
#[derive(Debug)]
pub struct Observed {
    segment: PlainMutex<Option<Arc<Segment>>>,
    /// Whether another process owns it.
    attached: bool,
    /// How many attached processes have ended.
    ends: AtomicU32,
    /// The program of the attached process, and so of its successors.
    program: Option<PathBuf>,
}

/// State of the attached process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedProcess {
    /// Its process id.
    pub pid: u32,
    /// Whether it runs.
    pub runs: bool,
}

impl Observed {
    /// The server's own segment, where it has one.
    pub fn own(segment: Option<Arc<Segment>>) -> Self {
        Self {
            segment: PlainMutex::new(segment),
            attached: false,
            ends: AtomicU32::new(0),
            program: None,
        }
    }

    /// The segment of another process, running or saved.
    pub fn attached(segment: Arc<Segment>) -> Self {
        let program = segment.is_live().then(|| program(segment.pid())).flatten();
        Self {
            segment: PlainMutex::new(Some(segment)),
            attached: true,
            ends: AtomicU32::new(0),
            program,
        }
    }

    /// The segment to read now.
    pub fn segment(&self) -> Option<Arc<Segment>> {
        self.segment.lock().clone()
    }

    /// Whether another process owns the segment.
    pub fn is_attached(&self) -> bool {
        self.attached
    }

    /// How many attached processes have ended.
    pub fn end_count(&self) -> u32 {
        self.ends.load(Ordering::Acquire)
    }

    /// The attached process; `None` if the segment is the server's own.
    pub fn state(&self) -> Option<AttachedProcess> {
        let segment = self.segment().filter(|_| self.attached)?;
        Some(AttachedProcess {
            pid: segment.pid(),
            runs: segment.is_live(),
        })
    }

    /// Attaches to a process of the same program that started after its predecessor `before` had ended
    /// (`ended`: seconds since the machine's start), if there is one.
    fn attach_successor(&self, before: &Segment, ended: f64) -> Option<Arc<Segment>> {
        let program = self.program.as_deref()?;
        let own = std::process::id();
        let successor = discover::find_running()
            .into_iter()
            .filter(|process| process.pid != before.pid() && process.pid != own)
            .filter(|process| is_program(process.pid, program))
            .filter(|process| {
                start_seconds(process.pid)
                    .is_some_and(|start_seconds| start_seconds >= ended - START_TOLERANCE_SECONDS)
            })
            .max_by_key(|process| process.pid)?;
        let segment = Arc::new(Segment::attach(Target::Pid(successor.pid)).ok()?);
        *self.segment.lock() = Some(segment.clone());
        Some(segment)
    }
}

/// The file of a process's program.
fn program(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Seconds from the machine's start to now.
fn uptime() -> f64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_whitespace().next().and_then(|s| s.parse().ok());
    seconds.unwrap_or(0.0)
}

/// Seconds from the machine's start to a process's start.
fn start_seconds(pid: u32) -> Option<f64> {
    let ticks = Stat::parse(&stat_line(pid).ok()?)?.start_ticks()?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// For how many seconds a process has run.
pub fn age_seconds(pid: u32) -> Option<u64> {
    Some((uptime() - start_seconds(pid)?).max(0.0) as u64)
}

/// Whether a process runs this program, even if the program's file was replaced after the start.
fn is_program(pid: u32, wanted: &Path) -> bool {
    let plain = |path: &Path| path.to_string_lossy().replace(" (deleted)", "");
    program(pid).is_some_and(|path| plain(&path) == plain(wanted))
}

fn warn(text: String) {
    log::write(Priority::Warning, "Server", text);
}

/// Watches the attached process until the server stops. Logs its end and, with `follow`, attaches to its
/// successor.
pub fn watch(shared: &Shared) {
    let observed = &shared.observed;
    if !observed.state().is_some_and(|state| state.runs) {
        return;
    }
    while !shared.is_stopping() {
        let Some(segment) = observed.segment() else {
            return;
        };
        if segment.is_live() {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        }
        let (pid, ended) = (segment.pid(), uptime());
        observed.ends.fetch_add(1, Ordering::Release);
        warn(format!(
            "process {pid} has ended; its figures are the last that it had"
        ));
        if !shared.config.follow {
            return;
        }
        while !shared.is_stopping() {
            if let Some(next) = observed.attach_successor(&segment, ended) {
                warn(format!("process {} follows process {pid}", next.pid()));
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}
