//! The recorder: looks at jittered moments, asks for growth, and writes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::error::Error;
use crate::growth::Growth;
use crate::query::{Query, QueryError};
use crate::retention::Retention;
use crate::sample::Source;
use crate::writer::Writer;

/// How it records.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to.
    pub directory: PathBuf,
    /// What the host is called in paths.
    pub host: String,
    /// What the server is called in rows.
    pub server: String,
    /// Moments a second.
    pub rate: f64,
    /// How often rows are written: what a kill loses at most.
    pub write_every: Duration,
    /// How often what is written becomes a file in its place.
    pub settle_every: Duration,
    /// For how long, if not until it is stopped.
    pub duration: Option<Duration>,
    /// What is kept.
    pub retention: Retention,
}

/// Why it ended; all that was seen is in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// It was asked to, or its time was over.
    Stopped,
    /// The server has gone.
    Lost(String),
}

/// What happens meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Growth of this kind cannot be recorded here.
    Refused(&'static str, String),
    /// Rows were written.
    Written(Sampling),
}

/// What looking took since the last time that this was told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// Moments.
    pub moments: u64,
    /// Rows of samples.
    pub samples: u64,
    /// What they took altogether: of a segment the time of this process, of a server its answers.
    pub took: Duration,
    /// In how long.
    pub within: Duration,
}

/// Whether it was stopped is looked at this often.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Records one server.
pub struct Recorder<'a> {
    options: Options,
    stop: &'a AtomicBool,
    writer: Writer,
    growth: Growth,
    last_growth: Instant,
    sampling: Sampling,
}

impl<'a> Recorder<'a> {
    /// Makes the directory, and puts in its place what a killed recorder has left. `stop` ends it.
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
            sampling: Sampling::default(),
            options,
        })
    }

    /// Records until it is stopped or the server has gone.
    ///
    /// # Errors
    /// [`Error`]: the disk is full, for instance. What was written before is whole and stays.
    pub fn record(
        mut self,
        source: &mut dyn Source,
        server: &mut dyn Query,
        notify: &mut dyn FnMut(Event),
    ) -> Result<EndReason, Error> {
        let began = Instant::now();
        let (mut written, mut settled, mut last_moment) = (began, began, began);
        let every = Duration::from_secs_f64(1.0 / self.options.rate);
        let mut ended = self.record_growth(server, notify).err();
        let mut number = 0u32;
        while ended.is_none() {
            // Somewhere in its share of time: what happens every so often is not met in step.
            let share = every.mul_f64(f64::from(number) + fastrand::f64());
            number += 1;
            if !self.wait_until(began + share, began) {
                ended = Some(EndReason::Stopped);
                break;
            }
            let start = Instant::now();
            match source.read_moment() {
                Ok(moment) => {
                    self.sampling.took += start.elapsed();
                    self.sampling.moments += 1;
                    self.sampling.samples += moment.samples.len() as u64;
                    self.writer.add_moment(&moment, start - last_moment)?;
                }
                Err(QueryError::Lost(why) | QueryError::Refused(why)) => {
                    ended = Some(EndReason::Lost(why));
                }
            }
            last_moment = start;
            if written.elapsed() >= self.options.write_every {
                ended = ended.or(self.record_growth(server, notify).err());
                self.notify_written(written.elapsed(), notify);
                self.writer.write()?;
                written = Instant::now();
            }
            if settled.elapsed() >= self.options.settle_every {
                self.settle()?;
                settled = Instant::now();
            }
        }
        // What was seen until the end counts, too.
        let _ = self.record_growth(server, notify);
        self.notify_written(written.elapsed(), notify);
        self.writer.write()?;
        self.writer.end()?;
        Ok(ended.unwrap_or(EndReason::Stopped))
    }

    /// Tells what looking took in this time.
    fn notify_written(&mut self, within: Duration, notify: &mut dyn FnMut(Event)) {
        let mut sampling = std::mem::take(&mut self.sampling);
        if sampling.moments > 0 {
            sampling.within = within;
            notify(Event::Written(sampling));
        }
    }

    /// Sleeps; false when it is to end.
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

    /// Asks for growth.
    fn record_growth(
        &mut self,
        server: &mut dyn Query,
        notify: &mut dyn FnMut(Event),
    ) -> Result<(), EndReason> {
        let answer = self.growth.since(server);
        for (kind, why) in self.growth.refused() {
            notify(Event::Refused(kind, why));
        }
        match answer {
            Ok((grown, texts)) => {
                let seconds = self.last_growth.elapsed().as_secs_f64();
                self.last_growth = Instant::now();
                self.writer
                    .add_growth(&grown, &texts, SystemTime::now(), seconds);
                Ok(())
            }
            Err(QueryError::Lost(why) | QueryError::Refused(why)) => Err(EndReason::Lost(why)),
        }
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.writer.settle()?;
        let (directory, host) = (&self.options.directory, &self.options.host);
        (self.options.retention).apply(directory, host, SystemTime::now())?;
        Ok(())
    }
}
