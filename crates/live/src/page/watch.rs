//! The thread that looks: at jittered moments, into the timeline. Between them it asks what the page
//! wants to know of statements, and what instrumentation costs.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tare_history::{Answer, Unanswered};

use super::timeline::Timeline;
use crate::proc::{cpu_seconds, resident_bytes};
use crate::watched::{Open, Watched};

/// What the page shows, as it is now.
#[derive(Default)]
pub struct Seen {
    /// Samples.
    pub timeline: Timeline,
    /// Texts of digests.
    pub texts: HashMap<String, String>,
    /// What it costs.
    pub cost: Cost,
    /// What is watched; none: history alone.
    pub target: Option<Target>,
}

/// What is watched.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Its name and version.
    pub name: String,
    /// Why it does not answer, if so.
    pub trouble: Option<String>,
}

/// Shares of one processor, but for those of the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Looking.
    pub look: Option<f64>,
    /// This process.
    pub own: Option<f64>,
    /// Its memory.
    pub bytes: Option<f64>,
    /// Instrumentation in the server, of the server's CPU time.
    pub instrumentation: Option<f64>,
}

/// What several threads share.
pub type Shared = Arc<Mutex<Seen>>;

/// The lock; what a thread that panicked left is whole enough to be shown.
pub fn lock(shared: &Shared) -> MutexGuard<'_, Seen> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Statements that the page asks, and where their answers go.
pub type Asked = (String, Sender<Result<Answer, String>>);

/// Texts and cost are asked for so often.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// One that was lost is tried again so often.
const TRY_EVERY: Duration = Duration::from_secs(2);

/// Texts that one question asks for.
const MOST_TEXTS: usize = 100;

/// Looks until nobody listens any more.
pub struct Watch {
    shared: Shared,
    open: Open,
    every: Duration,
    watched: Option<Watched>,
    looked: Instant,
    /// Time spent looking since the cost was told.
    took: Duration,
    told: Instant,
    before: Before,
    /// Digests that were asked for already.
    known: HashSet<String>,
    /// Those of them whose text nobody knew.
    wanted: HashSet<String>,
}

/// Sums when the cost was told last.
#[derive(Clone, Copy, Default)]
struct Before {
    own: Option<f64>,
    server: Option<f64>,
    instrumentation: Option<f64>,
}

impl Watch {
    /// Looks so many times a second.
    pub fn new(shared: Shared, open: Open, rate: f64) -> Self {
        Self {
            shared,
            open,
            every: Duration::from_secs_f64(1.0 / rate),
            watched: None,
            looked: Instant::now(),
            took: Duration::ZERO,
            told: Instant::now(),
            before: Before::default(),
            known: HashSet::new(),
            wanted: HashSet::new(),
        }
    }

    /// Runs.
    pub fn run(mut self, asked: &Receiver<Asked>) {
        let began = Instant::now();
        let mut moment = 0u32;
        loop {
            // Somewhere in its share of time: what happens every so often is not met in step.
            let share = self.every.mul_f64(f64::from(moment) + fastrand::f64());
            moment = moment.wrapping_add(1);
            let next = began + share;
            loop {
                let left = next.saturating_duration_since(Instant::now());
                match asked.recv_timeout(left) {
                    Ok((sql, reply)) => {
                        // Whoever asked may have gone.
                        let _ = reply.send(self.answer(&sql));
                    }
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            if let Err(why) = self.look() {
                self.watched = None;
                let mut seen = lock(&self.shared);
                seen.cost = Cost::default();
                seen.target.get_or_insert_default().trouble = Some(why);
                drop(seen);
                std::thread::sleep(TRY_EVERY);
            }
        }
    }

    fn answer(&mut self, sql: &str) -> Result<Answer, String> {
        let watched = self.watched.as_mut().ok_or("the server does not answer")?;
        watched.ask.ask(sql).map_err(told)
    }

    fn look(&mut self) -> Result<(), String> {
        if self.watched.is_none() {
            let watched = (self.open)()?;
            lock(&self.shared).target = Some(Target {
                name: format!("{} {}", watched.name, watched.version),
                trouble: None,
            });
            self.watched = Some(watched);
            self.looked = Instant::now();
            self.before = Before::default();
            self.tell()?;
        }
        let Some(watched) = &mut self.watched else {
            return Ok(());
        };
        let start = Instant::now();
        let moment = watched.source.look().map_err(told)?;
        self.took += start.elapsed();
        let seconds = (start - self.looked).as_secs_f64();
        self.looked = start;
        // The first moment stands for nothing yet.
        if seconds > 0.0 {
            lock(&self.shared).timeline.add(&moment, seconds);
        }
        let digests = moment
            .samples
            .into_iter()
            .filter_map(|sample| sample.digest);
        let unknown = digests.filter(|digest| !self.known.contains(&**digest));
        let mut unknown: Vec<_> = unknown.map(|digest| digest.to_string()).collect();
        unknown.sort();
        unknown.dedup();
        unknown.truncate(MOST_TEXTS);
        self.wanted.extend(unknown.iter().cloned());
        self.known.extend(unknown.iter().cloned());
        self.texts(&unknown)?;
        if self.told.elapsed() >= ASK_EVERY {
            self.tell()?;
            // Those that nobody knew when they were seen first.
            let wanted: Vec<_> = self.wanted.iter().take(MOST_TEXTS).cloned().collect();
            self.texts(&wanted)?;
        }
        Ok(())
    }

    /// Asks for the texts of digests. A digest may be no more than its hexadecimal digits.
    fn texts(&mut self, digests: &[String]) -> Result<(), String> {
        let is_digest = |digest: &&String| digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let list: Vec<String> = (digests.iter().filter(is_digest))
            .map(|digest| format!("'{digest}'"))
            .collect();
        let (Some(watched), false) = (&mut self.watched, list.is_empty()) else {
            return Ok(());
        };
        // The summary has it once a first execution has ended; until then, the thread that runs it.
        for table in ["summary_by_digest", "current"] {
            let sql = format!(
                "SELECT DIGEST, DIGEST_TEXT FROM performance_schema.events_statements_{table} WHERE DIGEST IN ({})",
                list.join(", ")
            );
            match watched.ask.ask(&sql) {
                Ok(rows) => {
                    let mut seen = lock(&self.shared);
                    for row in rows {
                        if let [Some(digest), Some(text)] = &row[..] {
                            self.wanted.remove(digest);
                            seen.texts.insert(digest.clone(), text.clone());
                        }
                    }
                }
                Err(Unanswered::Refused(_)) => {}
                Err(Unanswered::Lost(why)) => return Err(why),
            }
            if !digests.iter().any(|digest| self.wanted.contains(digest)) {
                break;
            }
        }
        Ok(())
    }

    /// Tells what it costs since the last time.
    fn tell(&mut self) -> Result<(), String> {
        let within = self.told.elapsed().as_secs_f64();
        self.told = Instant::now();
        let Some(watched) = &mut self.watched else {
            return Ok(());
        };
        let mut now = Before {
            own: cpu_seconds("self"),
            server: (watched.pid).and_then(|pid| cpu_seconds(&pid.to_string())),
            instrumentation: None,
        };
        if watched.is_tare {
            let sum = watched
                .ask
                .ask("SELECT SUM(sum_cost) FROM tare.cost_by_event_name");
            match sum {
                Ok(rows) => {
                    let text = rows.first().and_then(|row| row.first()?.as_deref());
                    let ps: Option<f64> = text.and_then(|text| text.parse().ok());
                    now.instrumentation = ps.map(|ps| ps * 1e-12);
                }
                Err(Unanswered::Refused(_)) => {}
                Err(Unanswered::Lost(why)) => return Err(why),
            }
        }
        let grew = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        let server = grew(now.server, self.before.server).filter(|cpu| *cpu > 0.0);
        let instrumentation = grew(now.instrumentation, self.before.instrumentation);
        lock(&self.shared).cost = Cost {
            look: (within > 0.0).then(|| self.took.as_secs_f64() / within),
            own: grew(now.own, self.before.own).map(|cpu| cpu / within.max(1e-3)),
            bytes: resident_bytes(),
            instrumentation: instrumentation.zip(server).map(|(cost, cpu)| cost / cpu),
        };
        self.before = now;
        self.took = Duration::ZERO;
        Ok(())
    }
}

fn told(error: Unanswered) -> String {
    match error {
        Unanswered::Lost(why) | Unanswered::Refused(why) => why,
    }
}
