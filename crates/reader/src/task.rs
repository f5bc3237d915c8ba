//! A thread's files below `/proc/PID/task/TID`, which stay open because they are read at each moment of sampling.
//!
//! `schedstat` has the thread's CPU time, and the time for which it was ready to run without a CPU. Whether it
//! sleeps is in `syscall`, with the system call, if this process may read it (ptrace rights); otherwise in
//! `stat`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};

use crate::process::Stat;

/// CPU time and time without a CPU of a thread since its start, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accounting {
    pub cpu: u64,
    pub delay: u64,
    /// How often it got a CPU.
    pub slices: u64,
}

impl Accounting {
    /// Reads schedstat; `None` if the kernel counts nothing.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || fields.next()?.ok();
        let (cpu, delay, slices) = (next()?, next()?, next()?);
        (slices != 0).then_some(Self { cpu, delay, slices })
    }

    /// What was added since `before`. Another thread that has the same id by now counts from zero.
    pub fn since(self, before: Self) -> Self {
        if self.cpu < before.cpu || self.slices < before.slices {
            return self;
        }
        Self {
            cpu: self.cpu - before.cpu,
            delay: self.delay.saturating_sub(before.delay),
            slices: self.slices - before.slices,
        }
    }

    /// The share of CPU time in this. A thread that got no CPU time waited for one.
    fn cpu_share(self) -> f64 {
        let (cpu, delay) = (self.cpu as f64, self.delay as f64);
        if cpu == 0.0 { 0.0 } else { cpu / (cpu + delay) }
    }
}

/// The kernel adds the CPU time of a thread that runs at its ticks, which are at most this far apart.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// The share of CPU time is that since a reading at least this long ago: the kernel adds the time without a CPU
/// only when the thread gets one. Before there is such a reading, one that is a [`TICK`] old is used.
const SHARE_PERIOD: Duration = Duration::from_millis(250);

/// The accounting of a thread that sleeps is read when it wakes, or when the last reading is older than this.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Of the time in which a thread could run lately, the share in which it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuShare {
    /// The reading from which the share counts; `None`: from the thread's start.
    before: Option<Accounting>,
    /// A later one, from which the share will count, and its time.
    next: Option<(Accounting, Instant)>,
}

impl CpuShare {
    /// Whether the accounting has to be read. Of a thread that sleeps, the share is not used.
    pub fn is_needed(&self, sleep: Sleep) -> bool {
        let is_recent = self.next.is_some_and(|(_, at)| at.elapsed() < MAX_AGE);
        sleep.is_asleep != Some(true) || !is_recent
    }

    /// The share, from what is counted now, if the kernel counts it.
    pub fn update(&mut self, accounting: Option<Accounting>) -> Option<f64> {
        let now = accounting?;
        let period = self.before.map_or(TICK, |_| SHARE_PERIOD);
        if self.next.is_none_or(|(_, at)| at.elapsed() >= period) {
            self.before = self.next.map(|(before, _)| before);
            self.next = Some((now, Instant::now()));
        }
        Some(now.since(self.before.unwrap_or_default()).cpu_share())
    }
}

/// Whether a thread sleeps, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sleep {
    /// Whether it sleeps.
    pub is_asleep: Option<bool>,
    /// The number of the system call in which it sleeps; -1: it sleeps in none, for instance for a page.
    pub system_call: Option<i64>,
}

/// Threads of one process whose files stay open, two for each; those of others are opened each time.
const MAX_OPEN: usize = 200;

/// File descriptors that are left to the rest of this process.
const RESERVED_DESCRIPTORS: u64 = 64;

/// Of how many threads files are open, and may be.
#[derive(Debug)]
pub(crate) struct OpenThreads {
    count: usize,
    limit: usize,
}

impl OpenThreads {
    /// None, and as many as this process may open files for.
    pub fn new() -> Self {
        Self::with_limit(max_open(getrlimit(Resource::Nofile).current))
    }

    pub fn with_limit(limit: usize) -> Self {
        Self { count: 0, limit }
    }

    /// Whether the files of another thread are opened each time.
    pub fn is_full(&self) -> bool {
        self.count >= self.limit
    }

    /// Keeps the files of one more thread open if there may be one more.
    pub fn retain(&mut self, files: TaskFiles) -> Option<TaskFiles> {
        let has_space = !self.is_full();
        self.count += usize::from(has_space);
        has_space.then_some(files)
    }

    /// Closes the files of a thread.
    pub fn close(&mut self, files: Option<TaskFiles>) {
        self.count -= usize::from(files.is_some());
    }
}

/// How many threads may have open files if this process may open so many.
fn max_open(descriptors: Option<u64>) -> usize {
    let left = descriptors.map_or(u64::MAX, |all| all.saturating_sub(RESERVED_DESCRIPTORS));
    usize::try_from(left / 4).map_or(MAX_OPEN, |threads| threads.min(MAX_OPEN))
}

/// The open files of a thread.
#[derive(Debug)]
pub(crate) struct TaskFiles {
    schedstat: Option<File>,
    sleep: File,
    /// Whether `sleep` is `syscall`; otherwise it is `stat`.
    has_system_call: bool,
}

impl TaskFiles {
    /// Opens and reads the files of a thread. `may_read_system_calls` becomes false if that is not allowed.
    ///
    /// # Errors
    /// The thread has ended, or may not be read at all.
    pub fn open(directory: &Path, may_read_system_calls: &mut bool) -> io::Result<(Self, Sleep)> {
        let is_denied = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        if *may_read_system_calls {
            match File::open(directory.join("syscall")) {
                Ok(sleep) => {
                    let files = Self::with(directory, sleep, true)?;
                    match files.read_sleep() {
                        // Opening is allowed where reading is not.
                        Err(error) if is_denied(&error) => *may_read_system_calls = false,
                        sleep => return Ok((files, sleep?)),
                    }
                }
                Err(error) if is_denied(&error) => *may_read_system_calls = false,
                // A kernel without it.
                Err(_) => {}
            }
        }
        let files = Self::with(directory, File::open(directory.join("stat"))?, false)?;
        let sleep = files.read_sleep()?;
        Ok((files, sleep))
    }

    fn with(directory: &Path, sleep: File, has_system_call: bool) -> io::Result<Self> {
        let schedstat = match File::open(directory.join("schedstat")) {
            // A kernel without it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            file => Some(file?),
        };
        Ok(Self {
            schedstat,
            sleep,
            has_system_call,
        })
    }

    /// Reads whether the thread sleeps.
    ///
    /// # Errors
    /// The thread has ended, or may not be read.
    pub fn read_sleep(&self) -> io::Result<Sleep> {
        let mut buffer = [0; 1024];
        let text = read_text(&self.sleep, &mut buffer)?;
        let (is_asleep, system_call) = match self.has_system_call {
            true => parse_system_call(text),
            false => (Stat::parse(text).map(|stat| stat.is_asleep()), None),
        };
        Ok(Sleep {
            is_asleep,
            system_call,
        })
    }

    /// Reads its CPU time; `None` if the kernel counts nothing.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn read_accounting(&self) -> io::Result<Option<Accounting>> {
        let mut buffer = [0; 128];
        match &self.schedstat {
            Some(file) => Ok(Accounting::parse(read_text(file, &mut buffer)?)),
            None => Ok(None),
        }
    }
}

/// Reads `syscall`: whether the thread sleeps, and in which system call.
fn parse_system_call(text: &str) -> (Option<bool>, Option<i64>) {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    match (first, first.parse()) {
        ("running", _) => (Some(false), None),
        (_, Ok(number)) => (Some(true), Some(number)),
        _ => (None, None),
    }
}

/// A file's text, as far as the buffer holds it.
fn read_text<'b>(file: &File, buffer: &'b mut [u8]) -> io::Result<&'b str> {
    let length = file.read_at(buffer, 0)?;
    let text = &buffer[..length];
    // Only the name of a program, which comes early in stat, may be anything but ASCII.
    let start = match std::str::from_utf8(text) {
        Ok(_) => Some(0),
        Err(_) => text.iter().rposition(|byte| *byte == b')'),
    };
    let text = start.and_then(|start| std::str::from_utf8(&text[start..]).ok());
    text.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_from_what_was_added() {
        let at = |cpu, delay| Accounting {
            cpu,
            delay,
            slices: 2,
        };
        let share = |now: Accounting, before| now.since(before).cpu_share();
        assert_eq!(share(at(50, 10), at(20, 0)), 0.75);
        assert_eq!(share(at(50, 10), at(50, 10)), 0.0, "it got no CPU time");
        assert_eq!(share(at(50, 10), at(50, 0)), 0.0);
        assert_eq!(share(at(6, 2), at(50, 10)), 0.75, "of another thread");
        assert_eq!(at(50, 10).since(at(20, 4)).cpu, 30);
        assert_eq!(at(5, 1).since(at(50, 10)), at(5, 1), "of another thread");
        assert_eq!(Accounting::parse("70 30 2\n"), Some(at(70, 30)));
        for nothing in ["0 0 0\n", "", "70 30", "x 1 2"] {
            assert_eq!(Accounting::parse(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn open_files_are_bounded_by_the_limit_of_descriptors() {
        assert_eq!((max_open(None), max_open(Some(1024))), (MAX_OPEN, MAX_OPEN));
        assert_eq!((max_open(Some(100)), max_open(Some(20))), (9, 0));
    }

    #[test]
    fn the_system_call_of_a_thread_implies_that_it_sleeps() {
        let futex = "202 0x7f0 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7f1\n";
        assert_eq!(parse_system_call(futex), (Some(true), Some(202)));
        assert_eq!(parse_system_call("running\n"), (Some(false), None));
        assert_eq!(
            parse_system_call("-1 0x7ffd 0x7f1\n"),
            (Some(true), Some(-1))
        );
        assert_eq!(parse_system_call(""), (None, None));
    }
}
