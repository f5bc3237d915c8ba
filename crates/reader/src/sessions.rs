//! Threads that run a statement or wait, with the names of all that they refer to, and what the scheduler
//! says of them.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tare_layout::Kind;
use tare_layout::slot::COMMANDS;

use crate::active::{ActiveThread, Population, RunningStatement, active_threads};
use crate::attach::Segment;
use crate::classes::Classes;
use crate::event_loop::{QueuedSession, queued_among};
use crate::events::Wait;
use crate::names::Names;
use crate::scheduler::{Activity, Scheduler, State};
use crate::time::Clock;
use crate::{digests, instances};

/// The age at which names are read again. Missing names are read at once.
const NAMES_MAX_AGE: Duration = Duration::from_secs(10);

/// An active thread, with names.
#[derive(Clone, Debug)]
pub struct Session {
    /// The thread as the segment has it.
    pub thread: ActiveThread,
    /// What it does, if it runs a statement.
    pub activity: Option<Activity>,
    /// Name of the thread's instrument.
    pub instrument: Option<Arc<str>>,
    /// Its connection's id.
    pub processlist_id: Option<u64>,
    /// Its account's user.
    pub user: Option<Arc<str>>,
    /// Its account's host.
    pub host: Option<Arc<str>>,
    /// Its default schema.
    pub schema: Option<Arc<str>>,
    /// Its command, as in the process list.
    pub command: Option<&'static str>,
    /// The instrument of the innermost running statement.
    pub statement: Option<Arc<str>>,
    /// For how long the statement has run.
    pub statement_ns: Option<u64>,
    /// The statement's digest, and the digest's text, if the segment has them.
    pub digest: Option<(Arc<str>, Option<Arc<str>>)>,
    /// The instrument of its stage.
    pub stage: Option<Arc<str>>,
    /// The instrument of its wait.
    pub wait: Option<Arc<str>>,
    /// What the wait does.
    pub operation: Option<&'static str>,
    /// The schema of the table for which it waits.
    pub object_schema: Option<Arc<str>>,
    /// The file, table or address for which it waits.
    pub object: Option<Arc<str>>,
    /// For how long it has waited.
    pub wait_ns: Option<u64>,
    /// If it waits for an event loop: the session whose command the loop executes.
    pub blocker: Option<u64>,
}

impl Session {
    /// The statement's text as the client sent it, with its passwords.
    pub fn text(&self) -> Option<&Arc<str>> {
        self.thread.statement.as_ref()?.text.as_ref()
    }

    /// The text of the client's statement, if the running one is nested in it.
    pub fn outer_text(&self) -> Option<&Arc<str>> {
        self.thread.statement.as_ref()?.outer_text.as_ref()
    }
}

/// The active threads of one moment.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// The time.
    pub at: SystemTime,
    /// The number of live threads.
    pub threads: usize,
    /// The active threads. Those that only wait for their client are not among them.
    pub active: Vec<Session>,
}

/// Reads the active threads of a segment, moment by moment.
pub struct SessionReader {
    segment: Arc<Segment>,
    classes: Classes,
    names: Names,
    named: Instant,
    scheduler: Scheduler,
}

impl SessionReader {
    /// A reader of an attached segment.
    pub fn new(segment: Arc<Segment>) -> Self {
        Self {
            classes: Classes::read(segment.view()),
            names: Names::read(segment.view()),
            named: Instant::now(),
            scheduler: Scheduler::new(segment.pid()),
            segment,
        }
    }

    /// The segment that it reads.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// Why states are unknown, in one sentence, if they are.
    pub fn problem(&self) -> Option<&str> {
        self.scheduler.problem()
    }

    /// Reads the threads that are active now. If the writer has ended: those that were active then, whose states
    /// are unknown.
    pub fn read(&mut self) -> Sessions {
        let segment = Arc::clone(&self.segment);
        let (view, clock) = (segment.view(), segment.clock());
        let mut population = active_threads(view);
        let at = SystemTime::now();
        self.scheduler.begin_moment();
        let mut activities = Vec::with_capacity(population.active.len());
        for thread in &mut population.active {
            let runs = thread.statement.is_some();
            activities.push(runs.then(|| match clock.live {
                true => self.scheduler.observe(view, thread),
                // Another process may have its id now.
                false => Activity {
                    state: State::Unknown,
                    system_call: None,
                },
            }));
        }
        let now = clock.now();
        let queued = match clock.live {
            true => queued_among(&segment, &population, now, clock),
            false => Vec::new(),
        };
        self.refresh(&population, &queued);
        let active = population.active.into_iter().zip(activities);
        Sessions {
            at,
            threads: population.threads,
            active: active
                .filter(|(thread, _)| !self.is_idle(thread))
                .map(|(thread, activity)| self.resolve(thread, activity, clock, now))
                .chain(
                    queued
                        .into_iter()
                        .map(|session| self.resolve_queued(session, clock)),
                )
                .collect(),
        }
    }

    /// A session that waits for an event loop.
    fn resolve_queued(&self, queued: QueuedSession, clock: Clock) -> Session {
        let program = self.classes.get(queued.thread.class);
        let program = program
            .and_then(|class| class.name.split('/').nth(1))
            .unwrap_or("program");
        let wait = format!("wait/synch/mutex/{program}/event_loop");
        let activity = Activity {
            state: State::Waiting,
            system_call: None,
        };
        Session {
            wait: Some(wait.into()),
            blocker: Some(queued.holder),
            ..self.resolve(queued.thread, Some(activity), clock, None)
        }
    }

    /// Reads names again if they are old or one is missing.
    fn refresh(&mut self, population: &Population, queued: &[QueuedSession]) {
        let has_names = |active: &ActiveThread| {
            let of_statement = active.statement.as_ref().map(|running| running.head.class);
            let of_wait = active.wait.map(|wait| wait.head.class);
            let mut classes = [Some(active.class), of_statement, of_wait]
                .into_iter()
                .flatten();
            classes.all(|class| self.classes.get(class).is_some())
                && self.names.account(active.account).is_some()
                && (active.schema == 0 || self.names.schema(active.schema).is_some())
        };
        let queued = queued.iter().map(|session| &session.thread);
        let all_named = population.active.iter().chain(queued).all(has_names);
        if !all_named || self.named.elapsed() > NAMES_MAX_AGE {
            self.classes = Classes::read(self.segment.view());
            self.names = Names::read(self.segment.view());
            self.named = Instant::now();
        }
    }

    /// Whether it only waits for its client.
    fn is_idle(&self, active: &ActiveThread) -> bool {
        let wait = active.wait.map(|wait| wait.head.class);
        let kind = (wait.and_then(|class| self.classes.get(class))).map(|class| class.kind);
        kind == Some(Kind::Idle) && active.statement.is_none()
    }

    fn resolve(
        &self,
        thread: ActiveThread,
        activity: Option<Activity>,
        clock: Clock,
        now: Option<u64>,
    ) -> Session {
        let view = self.segment.view();
        let class = |id: usize| self.classes.get(id).map(|class| Arc::clone(&class.name));
        let age = |start: Option<u64>| {
            let ticks = now.unwrap_or(0).saturating_sub(start?);
            Some(clock.ns(ticks).max(0.0) as u64)
        };
        let account = self.names.account(thread.account);
        let digest = |running: &RunningStatement| {
            digests::hash_and_text(view, running.digest.0, running.digest.1)
        };
        let statement = thread.statement.as_ref();
        let wait = thread.wait;
        let (object_schema, object) = match wait {
            Some(_) if thread.file.is_some() => (None, thread.file.clone()),
            Some(wait) => self.object(&wait, thread.lock_address),
            None => (None, None),
        };
        Session {
            activity,
            instrument: class(thread.class),
            processlist_id: Some(thread.processlist_id).filter(|id| *id != 0),
            user: account.and_then(|account| account.user.clone()),
            host: account.and_then(|account| account.host.clone()),
            schema: self.names.schema(thread.schema),
            command: COMMANDS.get(thread.command).copied(),
            statement: statement.and_then(|running| class(running.head.class)),
            statement_ns: statement.and_then(|running| age(running.head.start)),
            digest: statement.and_then(digest),
            stage: (thread.stage != 0).then(|| class(thread.stage)).flatten(),
            wait: wait.and_then(|wait| class(wait.head.class)),
            operation: (wait.and_then(|wait| wait.operation)).map(|does| does.text()),
            object_schema,
            object,
            wait_ns: wait.and_then(|wait| age(wait.head.start)),
            blocker: None,
            thread,
        }
    }

    /// Schema and name of a wait's object; of a lock, its address.
    fn object(&self, wait: &Wait, lock_address: u64) -> (Option<Arc<str>>, Option<Arc<str>>) {
        let object = instances::object(self.segment.view(), wait.object);
        let address = match object.begin {
            0 => lock_address,
            begin => begin,
        };
        let name = match address {
            _ if object.name.is_some() => object.name,
            0 => None,
            address => Some(format!("{address:#x}").into()),
        };
        (object.schema, name)
    }
}
