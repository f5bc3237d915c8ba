//! Collects totals, statements one by one, and what pre-empted them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::Instant;

use super::clock::{self, Offset};
use super::follow::{Follower, Statement};
use super::histogram::Histogram;
use super::report::{Report, Scheduling, Sum};
use super::switches::Switches;
use super::totals::Totals;
use crate::observe::sampling::Sampling;
use crate::observe::{ObservedServer, Product, QueryError, integer};

/// A server's threads and their context switches.
struct Scheduler {
    switches: Switches,
    offset: Offset,
    pid: u32,
    /// The thread id of the system by the server's.
    threads: HashMap<u64, u32>,
    /// The server's threads by the system's ids.
    ours: HashSet<u32>,
    scheduling: Scheduling,
}

/// The observed server, and the figures so far.
pub struct Watch {
    /// The server.
    pub observed: ObservedServer,
    /// Whether the level is `active`.
    pub is_active: bool,
    own_thread: Option<u64>,
    began: Instant,
    first: Totals,
    last: (Instant, Totals),
    follower: Option<Follower>,
    followed: Histogram,
    cache: Option<[Histogram; 2]>,
    scheduler: Result<Scheduler, String>,
}

impl Watch {
    /// Starts to watch.
    pub fn start(mut observed: ObservedServer) -> Result<Self, QueryError> {
        let own_thread = super::follow::own_thread(&mut observed)?;
        let has_cache = super::follow::has_query_cache(&mut observed)?;
        let is_active = Sampling::query(&mut observed)?.is_active();
        // The level `active` stores no event.
        let follower = match is_active {
            true => None,
            false => Follower::start(&mut observed, own_thread, has_cache)?,
        };
        let scheduler = match &follower {
            None => Err("the server does not record individual statements".to_owned()),
            Some(_) => Scheduler::start(&mut observed, own_thread)?,
        };
        let totals = Totals::query(&mut observed, own_thread)?;
        let now = Instant::now();
        let mut follower = follower;
        if let Some(follower) = &mut follower {
            follower.skip(&mut observed)?;
        }
        Ok(Self {
            observed,
            is_active,
            own_thread,
            began: now,
            first: totals.clone(),
            last: (now, totals),
            cache: (has_cache && follower.is_some()).then(Default::default),
            follower,
            followed: Histogram::default(),
            scheduler,
        })
    }

    /// Whether statements are followed one by one.
    pub fn follows(&self) -> bool {
        self.follower.is_some()
    }

    /// Reads context switches before the kernel's rings are full and the names of ended threads are lost.
    pub fn read_switches(&mut self) {
        if let Ok(scheduler) = &mut self.scheduler {
            scheduler.read_switches();
        }
    }

    /// Reads the statements that have ended. True if they were so many that the history should be read
    /// more often.
    pub fn follow(&mut self) -> Result<bool, QueryError> {
        let Some(follower) = &mut self.follower else {
            return Ok(false);
        };
        let statements = follower.read(&mut self.observed)?;
        let needs_shorter_pause = statements.len() as u64 > follower.capacity / 4;
        if let Ok(scheduler) = &mut self.scheduler {
            scheduler.assign(&mut self.observed, &statements)?;
        }
        for statement in statements {
            let ps = (statement.end_ps - statement.start_ps) as f64;
            self.followed.add(ps);
            if let (Some([hits, misses]), Some(cached)) = (&mut self.cache, statement.cached) {
                if cached { hits.add(ps) } else { misses.add(ps) }
            }
        }
        Ok(needs_shorter_pause)
    }

    /// Statements since the last call, and the seconds since.
    pub fn interval(&mut self) -> Result<(Sum, f64), QueryError> {
        let totals = Totals::query(&mut self.observed, self.own_thread)?;
        let now = Instant::now();
        let (count, sum_ps) = totals.since(&self.last.1);
        let seconds = now.duration_since(self.last.0).as_secs_f64();
        self.last = (now, totals);
        Ok((Sum { count, sum_ps }, seconds))
    }

    /// The report up to the last interval.
    pub fn report(self) -> Report {
        let (end, totals) = &self.last;
        let (count, sum_ps) = totals.since(&self.first);
        let is_tare = self.observed.about.product == Product::Tare;
        let hits = |totals: &Totals| totals.cache_hits.and_then(|hits| u64::try_from(hits).ok());
        let cache_hits = hits(totals)
            .zip(hits(&self.first))
            .map(|(now, before)| now.saturating_sub(before));
        Report {
            seconds: end.duration_since(self.began).as_secs_f64(),
            counted: Sum { count, sum_ps },
            every: is_tare.then(|| totals.histogram_since(&self.first)),
            followed: self.follower.is_some().then_some(self.followed),
            cache: self.cache,
            cache_hits,
            scheduling: Some(self.scheduler.map(|scheduler| {
                let mut scheduling = scheduler.scheduling;
                scheduling.clock_error_ns = scheduler.offset.error_ns();
                scheduling.lost = scheduler.switches.lost;
                scheduling
            })),
            advice: None,
        }
    }
}

impl Scheduler {
    fn start(
        observed: &mut ObservedServer,
        own_thread: Option<u64>,
    ) -> Result<Result<Self, String>, QueryError> {
        let pid = match observed.find_threads()? {
            Ok(pid) => pid,
            Err(why) => return Ok(Err(why)),
        };
        let threads = match threads(observed) {
            Ok(threads) => threads,
            Err(QueryError::Refused(_)) => {
                let server = observed.about.server();
                return Ok(Err(format!(
                    "{server} does not say which thread of the system runs a thread (THREAD_OS_ID, from MySQL 5.7 and MariaDB 10.5 on, or MariaDB's TID)"
                )));
            }
            Err(lost) => return Err(lost),
        };
        let own = tasks(pid);
        if !threads.values().any(|thread| own.contains(thread)) {
            return Ok(Err(format!(
                "the threads of process {pid} are not those that the server reports: it runs in another pid namespace"
            )));
        }
        let Some(offset) = clock::measure(observed, own_thread)? else {
            return Ok(Err("the server does not say when our own statements ran, so its clock cannot be compared".into()));
        };
        let ours = threads.values().copied().chain(own).collect();
        Ok(Switches::start().map(|switches| Self {
            ours,
            switches,
            offset,
            pid,
            threads,
            scheduling: Scheduling::default(),
        }))
    }

    fn read_switches(&mut self) {
        self.switches.read(|thread| self.ours.contains(&thread));
    }

    /// Assigns context switches to statements.
    fn assign(
        &mut self,
        observed: &mut ObservedServer,
        statements: &[Statement],
    ) -> Result<(), QueryError> {
        if statements
            .iter()
            .any(|statement| !self.threads.contains_key(&statement.thread))
        {
            self.threads.extend(threads(observed)?);
        }
        self.ours = self
            .threads
            .values()
            .copied()
            .chain(tasks(self.pid))
            .collect();
        // After the statements were read, so that their switches are in the rings.
        self.read_switches();
        for statement in statements {
            let Some(thread) = self.threads.get(&statement.thread) else {
                continue;
            };
            let (from, to) = (
                self.offset.to_monotonic_ns(statement.start_ps),
                self.offset.to_monotonic_ns(statement.end_ps),
            );
            let ps = (statement.end_ps - statement.start_ps) as f64;
            let switches = self.switches.during(*thread, from, to);
            if switches.is_empty() {
                self.scheduling.undisturbed.add(ps);
            } else {
                self.scheduling.preempted.add(ps);
            }
            for switch in switches {
                *self.scheduling.by.entry(switch.by).or_default() += 1;
            }
        }
        Ok(())
    }
}

fn threads(observed: &mut ObservedServer) -> Result<HashMap<u64, u32>, QueryError> {
    const OS_IDS: &str = "SELECT THREAD_ID, THREAD_OS_ID FROM performance_schema.threads WHERE THREAD_OS_ID IS NOT NULL";
    /// MariaDB before 10.5.
    const TIDS: &str = "SELECT t.THREAD_ID, p.TID FROM performance_schema.threads t \
                        JOIN information_schema.PROCESSLIST p ON p.ID = t.PROCESSLIST_ID WHERE p.TID > 0";
    let rows = match observed.rows(OS_IDS) {
        Err(QueryError::Refused(_)) => observed.rows(TIDS)?,
        answer => answer?,
    };
    Ok(rows
        .iter()
        .filter_map(|row| {
            let number = |at: usize| integer(row.get(at)?);
            Some((
                u64::try_from(number(0)?).ok()?,
                u32::try_from(number(1)?).ok()?,
            ))
        })
        .collect())
}

fn tasks(pid: u32) -> HashSet<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    tasks
        .filter_map(|task| task.file_name().to_str()?.parse().ok())
        .collect()
}
