//! The recorder samples threads at jittered moments, queries the growth of counters, and writes both.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tare_reader::{Schedule, priority};

use crate::blocks::LockReading;
use crate::error::Error;
use crate::exact::{Due, ExactWindows};
use crate::growth::Growth;
use crate::plan::{Plan, PlanReader};
use crate::query::{Query, QueryError};
use crate::retention::Retention;
use crate::sample::{Follower, Moment, Sample, Source};
use crate::writer::Writer;

/// Options of a recorder.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory of the history.
    pub directory: PathBuf,
    /// The host's name in paths.
    pub host: String,
    /// The server's name in rows.
    pub server: String,
    /// Moments per second.
    pub rate: f64,
    /// The interval of writing pieces, which is the most that a kill loses.
    pub write_every: Duration,
    /// The interval of joining pieces into files.
    pub settle_every: Duration,
    /// The duration; `None` until it is stopped.
    pub duration: Option<Duration>,
    /// How much is retained.
    pub retention: Retention,
}

/// Why a recorder ended; all its rows are in their files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// It was stopped, or its duration was over.
    Stopped,
    /// The server has gone.
    Lost(String),
}

impl From<QueryError> for EndReason {
    fn from(error: QueryError) -> Self {
        let (QueryError::Lost(why) | QueryError::Refused(why)) = error;
        Self::Lost(why)
    }
}

/// An event of a recorder.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The server refuses the query of this kind of growth.
    Refused(&'static str, String),
    /// Rows were written.
    Written(Sampling),
    /// A part of the server's status cannot be read: a sentence. Each is reported once.
    Unread(String),
    /// Plans cannot be read, or not completely: a sentence. Each is reported once.
    Plan(String),
    /// A sentence of what follows the recorder.
    Follower(String),
    /// An exact window was opened, ended or refused: a line for the log.
    Window(String),
}

/// The cost of sampling since the last event of this kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// The number of moments.
    pub moments: u64,
    /// The number of samples.
    pub samples: u64,
    /// The time that sampling took: reading a segment, or waiting for the server's answers.
    pub took: Duration,
    /// The duration to which this refers.
    pub within: Duration,
}

/// The shortest interval between two readings of locks.
const LOCKS_INTERVAL: Duration = Duration::from_secs(1);

/// The shortest interval between two readings of the server's status.
const STATUS_INTERVAL: Duration = Duration::from_secs(10);

/// The interval at which a waiting recorder checks whether it was stopped.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Records one server.
pub struct Recorder<'a> {
    options: Options,
    stop: &'a AtomicBool,
    writer: Writer,
    growth: Growth,
    last_growth: Instant,
    /// Whether the server has counted all events exactly since the last growth.
    is_exact: Option<bool>,
    windows: Option<ExactWindows>,
    plans: Option<Box<dyn PlanReader>>,
    followers: Vec<&'a mut dyn Follower>,
    sampling: Sampling,
    last_locks: Instant,
    last_status: Option<Instant>,
    /// The sentences about the status and plans that were reported.
    unread: HashSet<String>,
}

impl<'a> Recorder<'a> {
    /// Creates the directory and recovers the pieces of killed recorders. `stop` ends the recorder.
    ///
    /// # Errors
    /// [`Error`].
    pub fn start(options: Options, stop: &'a AtomicBool) -> Result<Self, Error> {
        let now = SystemTime::now();
        Ok(Self {
            stop,
            writer: Writer::start(&options.directory, &options.host, &options.server, now)?,
            growth: Growth::default(),
            last_growth: Instant::now(),
            is_exact: None,
            windows: None,
            plans: None,
            followers: Vec::new(),
            sampling: Sampling::default(),
            last_locks: Instant::now(),
            last_status: None,
            unread: HashSet::new(),
            options,
        })
    }

    /// Opens exact windows.
    #[must_use]
    pub fn with_windows(self, windows: Option<ExactWindows>) -> Self {
        Self { windows, ..self }
    }

    /// Records plans of statements.
    #[must_use]
    pub fn with_plans(self, plans: Option<Box<dyn PlanReader>>) -> Self {
        Self { plans, ..self }
    }

    /// Passes on what is read.
    #[must_use]
    pub fn with_followers(self, followers: Vec<&'a mut dyn Follower>) -> Self {
        Self { followers, ..self }
    }

    /// Records until it is stopped or the server has gone. Growth is that of the server's counters, or of the
    /// source's own if there is no server.
    ///
    /// # Errors
    /// [`Error`]: for instance, the disk is full. Files that were written before stay.
    pub fn record(
        mut self,
        source: &mut dyn Source,
        mut server: Option<&mut dyn Query>,
        notify: &mut dyn FnMut(Event),
    ) -> Result<EndReason, Error> {
        let began = Instant::now();
        let (mut written, mut settled) = (began, began);
        let mut schedule = Schedule::new(self.options.rate);
        let mut ended = self.record_growth(source, &mut server, notify).err();
        while ended.is_none() {
            let next = schedule.next(Instant::now());
            // The next moment may be long after the end of the window.
            let end = self.windows.as_ref().and_then(ExactWindows::end_time);
            if let Some(end) = end.filter(|end| *end < next)
                && self.wait_until(end, began)
            {
                ended = self.end_window(source, &mut server, notify).err();
                if ended.is_some() {
                    break;
                }
            }
            let raised = priority::raise();
            if !self.wait_until(next, began) {
                ended = Some(EndReason::Stopped);
                break;
            }
            let start = Instant::now();
            let moment = source.read_moment();
            drop(raised);
            match moment {
                Ok(moment) => {
                    self.sampling.took += start.elapsed();
                    self.sampling.moments += 1;
                    self.sampling.samples += moment.samples.len() as u64;
                    self.writer.add_moment(&moment, schedule.represent(start))?;
                    self.record_locks(&moment, source);
                    for follower in &mut self.followers {
                        let messages = follower.follow(&moment).into_iter();
                        messages.for_each(|line| notify(Event::Follower(line)));
                    }
                    self.record_status(&moment, source, notify);
                    self.record_plans(&moment, notify);
                    ended = self
                        .follow_level(&moment, source, &mut server, notify)
                        .err();
                }
                Err(error) => ended = Some(error.into()),
            }
            if written.elapsed() >= self.options.write_every {
                ended = ended.or(self.record_growth(source, &mut server, notify).err());
                self.notify_written(written.elapsed(), notify);
                self.writer.write()?;
                written = Instant::now();
            }
            if settled.elapsed() >= self.options.settle_every {
                self.settle()?;
                settled = Instant::now();
            }
        }
        // The last growth counts, too.
        let _ = self.end_window(source, &mut server, notify);
        let _ = self.record_growth(source, &mut server, notify);
        self.notify_written(written.elapsed(), notify);
        self.writer.write()?;
        self.writer.end()?;
        Ok(ended.unwrap_or(EndReason::Stopped))
    }

    /// Reads who waits for whom and deadlocks, unless that was read within the last second.
    fn record_locks(&mut self, moment: &Moment, source: &mut dyn Source) {
        let (start, since) = (Instant::now(), self.last_locks.elapsed());
        if since >= LOCKS_INTERVAL {
            self.last_locks = start;
            let mut locks = source.read_locks(moment);
            add_traces(&mut locks, &moment.samples);
            for follower in &mut self.followers {
                follower.follow_locks(&locks);
            }
            (self.writer).add_blocks(&locks.blocks, moment.at, since.as_secs_f64());
            if let Some(deadlock) = &locks.deadlock {
                self.writer.add_deadlock(deadlock, moment.at);
            }
            self.sampling.took += start.elapsed();
        }
    }

    /// Reads the status of the server, unless that was done within the last ten seconds.
    fn record_status(
        &mut self,
        moment: &Moment,
        source: &mut dyn Source,
        notify: &mut dyn FnMut(Event),
    ) {
        let start = Instant::now();
        if (self.last_status).is_some_and(|last| last.elapsed() < STATUS_INTERVAL) {
            return;
        }
        self.last_status = Some(start);
        let Some(status) = source.read_status() else {
            return;
        };
        self.writer.add_status(&status, moment.at);
        for why in status.unread {
            if self.unread.insert(why.clone()) {
                notify(Event::Unread(why));
            }
        }
        self.sampling.took += start.elapsed();
    }

    /// Takes the plans that were read meanwhile, and lets the reader begin with the next.
    fn record_plans(&mut self, moment: &Moment, notify: &mut dyn FnMut(Event)) {
        let Some(reader) = &mut self.plans else {
            return;
        };
        let running = moment
            .samples
            .iter()
            .filter(|sample| sample.statement.is_some());
        let reading = reader.poll(running.count());
        for plan in reading.plans {
            self.writer.add_plan(&Plan {
                at: moment.at,
                ..plan
            });
        }
        for message in reading.messages {
            if self.unread.insert(message.clone()) {
                notify(Event::Plan(message));
            }
        }
    }

    /// Opens and ends exact windows. Growth is recorded at each change of the level.
    fn follow_level(
        &mut self,
        moment: &Moment,
        source: &mut dyn Source,
        server: &mut Option<&mut dyn Query>,
        notify: &mut dyn FnMut(Event),
    ) -> Result<(), EndReason> {
        if self.is_exact.is_some_and(|is| Some(is) != moment.is_exact) {
            self.record_growth(source, server, notify)?;
        }
        self.is_exact = moment.is_exact;
        let (Some(windows), Some(sql)) = (&mut self.windows, server.as_mut()) else {
            return Ok(());
        };
        match windows.follow(moment, &mut **sql, &mut |line| notify(Event::Window(line)))? {
            Due::Nothing => Ok(()),
            Due::Open => self.open_window(source, server, notify),
            Due::End => self.end_window(source, server, notify),
        }
    }

    fn open_window(
        &mut self,
        source: &mut dyn Source,
        server: &mut Option<&mut dyn Query>,
        notify: &mut dyn FnMut(Event),
    ) -> Result<(), EndReason> {
        self.record_growth(source, server, notify)?;
        if let (Some(windows), Some(sql)) = (&mut self.windows, server.as_mut()) {
            windows.open(&mut **sql, &mut |line| notify(Event::Window(line)))?;
            self.is_exact = Some(windows.is_exact());
        }
        Ok(())
    }

    fn end_window(
        &mut self,
        source: &mut dyn Source,
        server: &mut Option<&mut dyn Query>,
        notify: &mut dyn FnMut(Event),
    ) -> Result<(), EndReason> {
        let open = self.windows.as_mut().filter(|windows| windows.is_open());
        let (Some(windows), Some(sql)) = (open, server.as_mut()) else {
            return Ok(());
        };
        let ended = windows.end(&mut **sql, &mut |line| notify(Event::Window(line)));
        let is_exact = windows.is_exact();
        self.record_growth(source, server, notify)?;
        self.is_exact = Some(is_exact);
        Ok(ended?)
    }

    /// Reports the cost of sampling in this time.
    fn notify_written(&mut self, within: Duration, notify: &mut dyn FnMut(Event)) {
        let mut sampling = std::mem::take(&mut self.sampling);
        if sampling.moments > 0 {
            sampling.within = within;
            notify(Event::Written(sampling));
        }
    }

    /// Sleeps until a time; false if the recorder has to end.
    fn wait_until(&self, when: Instant, began: Instant) -> bool {
        loop {
            let over = (self.options.duration).is_some_and(|most| began.elapsed() >= most);
            if over || self.stop.load(Ordering::Relaxed) {
                return false;
            }
            match when.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => thread::sleep(left.min(STOP_POLL_INTERVAL)),
                _ => return true,
            }
        }
    }

    /// Reads growth and adds it to the rows.
    fn record_growth(
        &mut self,
        source: &mut dyn Source,
        server: &mut Option<&mut dyn Query>,
        notify: &mut dyn FnMut(Event),
    ) -> Result<(), EndReason> {
        // Growth is of the time until here: digests are read first, and the queries may take long.
        let (at, start) = (SystemTime::now(), Instant::now());
        let answer = match server {
            Some(server) => self.growth.since(&mut **server),
            None => Ok((self.growth.since_totals(source.read_totals()), Vec::new())),
        };
        for (kind, why) in self.growth.refused() {
            notify(Event::Refused(kind, why));
        }
        match answer {
            Ok((grown, texts)) => {
                let seconds = (start - self.last_growth).as_secs_f64();
                self.last_growth = start;
                let meanwhile = (seconds, self.is_exact);
                self.writer.add_growth(&grown, &texts, at, meanwhile);
                (self.writer).add_indexes(&self.growth.take_indexes(), at);
                for follower in &mut self.followers {
                    follower.follow_texts(&texts);
                }
                if let Some(plans) = &mut self.plans {
                    plans.observe(&grown, &texts);
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.writer.settle()?;
        let (directory, host) = (&self.options.directory, &self.options.host);
        (self.options.retention).apply(directory, host, SystemTime::now())?;
        Ok(())
    }
}

/// Adds the traces of the statements that run to sessions whose statement has none in its text.
fn add_traces(locks: &mut LockReading, samples: &[Sample]) {
    let trace = |thread: u64| {
        let sample = samples.iter().find(|sample| sample.thread_id == thread)?;
        sample.trace
    };
    for block in &mut locks.blocks {
        let holder = block.holder.as_mut().map(|holder| &mut holder.party);
        for party in [Some(&mut block.waiter), holder].into_iter().flatten() {
            party.trace = party.trace.or_else(|| trace(party.thread_id));
        }
    }
}
