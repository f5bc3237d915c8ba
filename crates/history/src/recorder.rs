//! The recorder: looks at jittered moments, asks for growth, and writes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::ask::{Ask, Unanswered};
use crate::error::Error;
use crate::growth::Growth;
use crate::keep::Keep;
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
    pub keep: Keep,
}

/// Why it ended; all that was seen is in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to, or its time was over.
    Stopped,
    /// The server has gone.
    Lost(String),
}

/// What happens meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
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
const STEP: Duration = Duration::from_millis(50);

/// Records one server.
pub struct Recorder<'a> {
    options: Options,
    stop: &'a AtomicBool,
    writer: Writer,
    growth: Growth,
    asked: Instant,
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
            asked: Instant::now(),
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
        ask: &mut dyn Ask,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Ended, Error> {
        let began = Instant::now();
        let (mut written, mut settled, mut looked) = (began, began, began);
        let every = Duration::from_secs_f64(1.0 / self.options.rate);
        let mut ended = self.ask(ask, tell).err();
        let mut moment = 0u32;
        while ended.is_none() {
            // Somewhere in its share of time: what happens every so often is not met in step.
            let share = every.mul_f64(f64::from(moment) + fastrand::f64());
            moment += 1;
            if !self.wait_until(began + share, began) {
                ended = Some(Ended::Stopped);
                break;
            }
            let start = Instant::now();
            match source.look() {
                Ok(seen) => {
                    self.sampling.took += start.elapsed();
                    self.sampling.moments += 1;
                    self.sampling.samples += seen.samples.len() as u64;
                    self.writer.look(&seen, start - looked)?;
                }
                Err(Unanswered::Lost(why) | Unanswered::Refused(why)) => {
                    ended = Some(Ended::Lost(why));
                }
            }
            looked = start;
            if written.elapsed() >= self.options.write_every {
                ended = ended.or(self.ask(ask, tell).err());
                self.tell(written.elapsed(), tell);
                self.writer.write()?;
                written = Instant::now();
            }
            if settled.elapsed() >= self.options.settle_every {
                self.settle()?;
                settled = Instant::now();
            }
        }
        // What was seen until the end counts, too.
        let _ = self.ask(ask, tell);
        self.tell(written.elapsed(), tell);
        self.writer.write()?;
        self.writer.end()?;
        Ok(ended.unwrap_or(Ended::Stopped))
    }

    /// Tells what looking took in this time.
    fn tell(&mut self, within: Duration, tell: &mut dyn FnMut(Told)) {
        let mut sampling = std::mem::take(&mut self.sampling);
        if sampling.moments > 0 {
            sampling.within = within;
            tell(Told::Written(sampling));
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
                Some(left) if !left.is_zero() => thread::sleep(left.min(STEP)),
                _ => return true,
            }
        }
    }

    /// Asks for growth.
    fn ask(&mut self, ask: &mut dyn Ask, tell: &mut dyn FnMut(Told)) -> Result<(), Ended> {
        let answer = self.growth.since(ask);
        for (kind, why) in self.growth.refused() {
            tell(Told::Refused(kind, why));
        }
        match answer {
            Ok((grown, texts)) => {
                let seconds = self.asked.elapsed().as_secs_f64();
                self.asked = Instant::now();
                self.writer.grow(&grown, &texts, SystemTime::now(), seconds);
                Ok(())
            }
            Err(Unanswered::Lost(why) | Unanswered::Refused(why)) => Err(Ended::Lost(why)),
        }
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.writer.settle()?;
        let (directory, host) = (&self.options.directory, &self.options.host);
        (self.options.keep).apply(directory, host, SystemTime::now())?;
        Ok(())
    }
}
