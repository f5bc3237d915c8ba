//! What sessions did during the last hour: samples of the threads that run a statement, and of sessions that wait for
//! an event loop, in memory.
//!
//! A thread of the reading process takes them, at one random instant in each tenth of a second. The log takes
//! at most [`MAX_BYTES`]; when samples need more, the oldest ones are dropped first.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::attach::Segment;
use crate::priority;
use crate::schedule::Schedule;
use crate::scheduler::State;
use crate::sessions::{Session, SessionReader};
use crate::task::TICK;

/// Moments per second.
pub const RATE: f64 = 10.0;

/// For how long samples are stored.
pub const MAX_AGE: Duration = Duration::from_secs(3600);

/// The memory that samples take at most.
pub const MAX_BYTES: usize = 64 << 20;

/// Moments between two releases of descriptions that no sample uses.
const MOMENTS_PER_RELEASE: u64 = 600;

/// What a log samples.
pub trait Subject: Send + Sync {
    /// The segment that is read now.
    fn segment(&self) -> Option<Arc<Segment>>;

    /// A statement's text without its values, which the log stores if the segment has no digest; `None` if it
    /// cannot be computed.
    fn normalize(&self, statement: &str) -> Option<String>;

    /// Called by the sampling thread when it begins.
    fn begin_thread(&self) {}
}

/// What the samples of many moments have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Description {
    /// The account's user.
    pub user: Option<Arc<str>>,
    /// The account's host.
    pub host: Option<Arc<str>>,
    /// The default schema.
    pub schema: Option<Arc<str>>,
    /// The instrument of the innermost running statement.
    pub statement: Option<Arc<str>>,
    /// The statement's digest, if the segment has it.
    pub digest: Option<Arc<str>>,
    /// The statement without its values.
    pub digest_text: Option<Arc<str>>,
    /// The instrument of the stage.
    pub stage: Option<Arc<str>>,
    /// The instrument of the wait.
    pub wait: Option<Arc<str>>,
    /// The schema of the table for which the thread waits.
    pub object_schema: Option<Arc<str>>,
    /// The file, table or address for which the thread waits.
    pub object: Option<Arc<str>>,
    /// What the thread did.
    pub state: State,
    /// The system call in which it slept outside of any wait.
    pub system_call: Option<Arc<str>>,
}

impl Description {
    fn bytes(&self) -> usize {
        let texts = [
            &self.user,
            &self.host,
            &self.schema,
            &self.statement,
            &self.digest,
            &self.digest_text,
            &self.stage,
            &self.wait,
            &self.object_schema,
            &self.object,
            &self.system_call,
        ];
        let text = |text: &&Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len() + 16);
        size_of::<Self>() + 32 + texts.iter().map(text).sum::<usize>()
    }
}

/// A thread that ran a statement.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The thread's id.
    pub thread_id: u64,
    /// Its connection's id.
    pub processlist_id: Option<u64>,
    /// For how long the statement had run.
    pub statement_ns: Option<u64>,
    /// The rest.
    pub description: Arc<Description>,
}

/// A moment at which all threads were sampled.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The time.
    pub at: SystemTime,
    /// The same by the clock that nobody sets.
    pub instant: Instant,
    /// The time that it represents, in seconds.
    pub seconds: f64,
    /// The threads that ran a statement.
    pub samples: Box<[Sample]>,
}

impl Moment {
    fn bytes(&self) -> usize {
        size_of::<Self>() + 32 + size_of_val(&*self.samples)
    }
}

/// The moments that are stored, the oldest first.
#[derive(Default)]
struct Moments {
    all: VecDeque<Arc<Moment>>,
    descriptions: HashSet<Arc<Description>>,
    bytes: usize,
    added: u64,
}

impl Moments {
    fn intern(&mut self, description: Description) -> Arc<Description> {
        if let Some(stored) = self.descriptions.get(&description) {
            return Arc::clone(stored);
        }
        self.bytes += description.bytes();
        let description = Arc::new(description);
        self.descriptions.insert(Arc::clone(&description));
        description
    }

    /// Adds a moment, and drops those that are too old or too many.
    fn add(&mut self, moment: Moment, max_bytes: usize) {
        let now = moment.instant;
        let is_old = |moment: &Arc<Moment>| now.saturating_duration_since(moment.instant) > MAX_AGE;
        self.bytes += moment.bytes();
        self.all.push_back(Arc::new(moment));
        while self.all.front().is_some_and(is_old) {
            self.drop_oldest(1);
        }
        self.added += 1;
        if self.added.is_multiple_of(MOMENTS_PER_RELEASE) || self.bytes > max_bytes {
            self.release_descriptions();
        }
        while self.bytes > max_bytes && !self.all.is_empty() {
            self.drop_oldest(self.all.len().div_ceil(8));
            self.release_descriptions();
        }
    }

    fn drop_oldest(&mut self, count: usize) {
        for moment in self.all.drain(..count) {
            self.bytes -= moment.bytes();
        }
    }

    fn release_descriptions(&mut self) {
        let bytes = &mut self.bytes;
        self.descriptions.retain(|description| {
            let is_used = Arc::strong_count(description) > 1;
            if !is_used {
                *bytes -= description.bytes();
            }
            is_used
        });
    }
}

/// The log of one subject.
pub struct ActivityLog {
    subject: Box<dyn Subject>,
    reader: Mutex<Option<SessionReader>>,
    moments: Mutex<Moments>,
    has_begun: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ActivityLog {
    /// A log that has not begun.
    pub fn new(subject: impl Subject + 'static) -> Arc<Self> {
        Arc::new(Self {
            subject: Box::new(subject),
            reader: Mutex::default(),
            moments: Mutex::default(),
            has_begun: AtomicBool::new(false),
        })
    }

    /// Begins to sample, in a thread that ends after the log was dropped. Returns whether it began now.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn begin(self: &Arc<Self>) -> io::Result<bool> {
        if self.has_begun.swap(true, Ordering::AcqRel) {
            return Ok(false);
        }
        let log = Arc::downgrade(self);
        let thread = thread::Builder::new().name("activity_log".into());
        match thread.spawn(move || sample_until_dropped(&log)) {
            Ok(_) => Ok(true),
            Err(error) => {
                self.has_begun.store(false, Ordering::Release);
                Err(error)
            }
        }
    }

    /// The moments of the last hour, the oldest first.
    pub fn moments(&self) -> Vec<Arc<Moment>> {
        lock(&self.moments).all.iter().cloned().collect()
    }

    /// Forgets all moments.
    pub fn clear(&self) {
        *lock(&self.moments) = Moments::default();
    }

    /// The sessions that run a statement now, or wait for an event loop, and the time.
    pub fn read_now(&self) -> (SystemTime, Vec<Session>) {
        let mut reader = lock(&self.reader);
        if self.refresh(&mut reader) {
            // The scheduler's times since the threads' start would decide otherwise.
            let running = reader.as_mut().map(|reader| reader.read().active);
            if running.is_some_and(|active| !active.is_empty()) {
                thread::sleep(TICK);
            }
        }
        match reader.as_mut() {
            Some(reader) => {
                let mut sessions = reader.read();
                sessions.active.retain(|session| {
                    session.thread.statement.is_some() || session.blocker.is_some()
                });
                (sessions.at, sessions.active)
            }
            None => (SystemTime::now(), Vec::new()),
        }
    }

    /// Sees to it that the reader is of the current segment; whether it is a new one.
    fn refresh(&self, reader: &mut Option<SessionReader>) -> bool {
        let segment = self.subject.segment();
        let current = reader.as_ref().map(SessionReader::segment);
        if current.map(Arc::as_ptr) == segment.as_ref().map(Arc::as_ptr) {
            return false;
        }
        *reader = segment.map(SessionReader::new);
        reader.is_some()
    }

    /// Samples the threads that run a statement.
    fn sample(&self, schedule: &mut Schedule) {
        let instant = Instant::now();
        let seconds = schedule.represent(instant).as_secs_f64();
        let sessions = {
            let mut reader = lock(&self.reader);
            self.refresh(&mut reader);
            let live = reader.as_mut().filter(|reader| reader.segment().is_live());
            let Some(reader) = live else { return };
            reader.read()
        };
        let describe = |session| Some((session, self.describe(session)?));
        let described: Vec<_> = sessions.active.iter().filter_map(describe).collect();
        let mut moments = lock(&self.moments);
        let samples = described.into_iter().map(|(session, description)| Sample {
            thread_id: session.thread.id,
            processlist_id: session.processlist_id,
            statement_ns: session.statement_ns,
            description: moments.intern(description),
        });
        let moment = Moment {
            at: sessions.at,
            instant,
            seconds,
            samples: samples.collect(),
        };
        moments.add(moment, MAX_BYTES);
    }

    /// The description of a session; `None` if it neither runs a statement nor waits for an event loop.
    fn describe(&self, session: &Session) -> Option<Description> {
        let activity = session.activity.as_ref()?;
        let (digest, digest_text) = session.digest.clone().unzip();
        let normalized = || Some(self.subject.normalize(session.text()?)?.into());
        Some(Description {
            user: session.user.clone(),
            host: session.host.clone(),
            schema: session.schema.clone(),
            statement: session.statement.clone(),
            digest,
            digest_text: digest_text.flatten().or_else(normalized),
            stage: session.stage.clone(),
            wait: session.wait.clone(),
            object_schema: session.object_schema.clone(),
            object: session.object.clone(),
            state: activity.state,
            system_call: activity.system_call.clone(),
        })
    }
}

/// The sampling thread.
fn sample_until_dropped(log: &Weak<ActivityLog>) {
    if let Some(log) = log.upgrade() {
        log.subject.begin_thread();
    }
    let mut schedule = Schedule::new(RATE);
    loop {
        let _raised = priority::raise();
        let next = schedule.next(Instant::now());
        thread::sleep(next.saturating_duration_since(Instant::now()));
        let Some(log) = log.upgrade() else { return };
        log.sample(&mut schedule);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(user: &str) -> Description {
        Description {
            user: Some(user.into()),
            host: None,
            schema: None,
            statement: None,
            digest: None,
            digest_text: None,
            stage: None,
            wait: None,
            object_schema: None,
            object: None,
            state: State::OnCpu,
            system_call: None,
        }
    }

    fn add(moments: &mut Moments, instant: Instant, users: &[String], max_bytes: usize) {
        let samples = users.iter().map(|user| Sample {
            thread_id: 1,
            processlist_id: None,
            statement_ns: None,
            description: moments.intern(description(user)),
        });
        let moment = Moment {
            // Somebody sets this clock back all the time.
            at: SystemTime::UNIX_EPOCH,
            instant,
            seconds: 0.1,
            samples: samples.collect(),
        };
        moments.add(moment, max_bytes);
    }

    /// The bytes of what is stored.
    fn sum(moments: &Moments) -> usize {
        let descriptions = moments.descriptions.iter().map(|one| one.bytes());
        let all = moments.all.iter().map(|moment| moment.bytes());
        descriptions.sum::<usize>() + all.sum::<usize>()
    }

    #[test]
    fn samples_share_their_descriptions_and_stay_an_hour() {
        let start = Instant::now();
        let mut moments = Moments::default();
        for second in 0..2 * MAX_AGE.as_secs() {
            let users = [
                "alice".to_owned(),
                format!("u{}", second / MAX_AGE.as_secs()),
            ];
            add(
                &mut moments,
                start + Duration::from_secs(second),
                &users,
                MAX_BYTES,
            );
        }
        assert_eq!(moments.all.len() as u64, MAX_AGE.as_secs() + 1);
        assert_eq!(moments.bytes, sum(&moments));
        assert_eq!(
            moments.descriptions.len(),
            3,
            "one moment has the first hour's"
        );
        let last = start + 3 * MAX_AGE;
        add(&mut moments, last, &[], MAX_BYTES);
        moments.release_descriptions();
        assert_eq!((moments.all.len(), moments.descriptions.len()), (1, 0));
        assert_eq!(moments.bytes, sum(&moments));
    }

    #[test]
    fn memory_is_bounded_and_the_newest_moments_stay() {
        const LIMIT: usize = 100_000;
        let mut moments = Moments::default();
        for number in 0..2_000 {
            let users: Vec<String> = (0..5).map(|user| format!("{number}-{user}")).collect();
            add(&mut moments, Instant::now(), &users, LIMIT);
            assert!(moments.bytes <= LIMIT);
            assert_eq!(moments.bytes, sum(&moments));
        }
        assert!(moments.all.len() > 20, "{}", moments.all.len());
        let newest = moments.all.back().expect("a moment");
        let user = newest.samples[4].description.user.as_deref();
        assert_eq!(user, Some("1999-4"));
    }
}
