//! Samples a segment: reads shared memory and sends nothing to the server.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tare_layout::object::{LockStatus, target};
use tare_layout::sampling::{Rule, STAGE, WAIT};
use tare_layout::slot::COMMANDS;
use tare_layout::{Kind, View};
use tare_mysql::metadata_lock::{conflicts, queues_behind};
use tare_reader::active::{Population, RunningStatement};
use tare_reader::events::Wait;
use tare_reader::objects::Metadata;
use tare_reader::scheduler::{Activity, Scheduler};
use tare_reader::{
    ActiveThread, Banks, Classes, Clock, Names, Segment, active_threads, digests, instances,
    threads,
};

use crate::query::QueryError;
use crate::row_locks::{RowLockWait, RowLocks, mark, may_wait};
use crate::sample::{Moment, Sample, Source, sampled_text};

/// The age at which names are read again. Missing names are read at once.
const NAMES_MAX_AGE: Duration = Duration::from_secs(10);

/// Waits must be this long before their blocker is determined; shorter ones end before it could be
/// reported.
const MIN_BLOCKED_WAIT: Duration = Duration::from_millis(10);

/// The shortest interval between two readings of row locks.
const ROW_LOCKS_INTERVAL: Duration = Duration::from_secs(1);

/// The longest text of a statement that is stored.
const MAX_TEXT_BYTES: usize = 1024;

/// A segment that is sampled.
pub struct SegmentSource {
    segment: Arc<Segment>,
    classes: Classes,
    names: Names,
    named: Instant,
    scheduler: Scheduler,
    row_locks: Box<dyn RowLocks>,
    /// The segment's own row locks, and when they were read.
    own_row_locks: Option<(Vec<RowLockWait>, Instant)>,
}

impl SegmentSource {
    /// The source of an attached segment. `row_locks` name sessions by their connections, and are read if the
    /// segment has no row locks itself.
    pub fn new(segment: Arc<Segment>, row_locks: Box<dyn RowLocks>) -> Self {
        Self {
            row_locks,
            own_row_locks: None,
            classes: Classes::read(segment.view()),
            names: Names::read(segment.view()),
            named: Instant::now(),
            scheduler: Scheduler::new(segment.pid()),
            segment,
        }
    }

    /// Reads names again if they are old or one is missing.
    fn refresh(&mut self, population: &Population) {
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
        let all_named = population.active.iter().all(has_names);
        if !all_named || self.named.elapsed() > NAMES_MAX_AGE {
            self.classes = Classes::read(self.segment.view());
            self.names = Names::read(self.segment.view());
            self.named = Instant::now();
        }
    }

    /// The waits that the server writes into the segment.
    fn own_waits(&self) -> Vec<RowLockWait> {
        let locks = self.segment.row_locks().unwrap_or_default();
        let waits = locks.waits.iter().filter_map(|wait| {
            Some(RowLockWait {
                waiting: wait.requesting.thread?,
                blocking: wait.blocking.thread?,
                wait_ns: None,
            })
        });
        waits.collect()
    }

    /// Who waits for whose row locks, by THREAD_ID, and how long ago that was read.
    fn read_row_locks(&mut self) -> (Vec<RowLockWait>, Duration) {
        if self.segment.has_row_locks() {
            let recent = self.own_row_locks.take();
            let recent = recent.filter(|(_, at)| at.elapsed() < ROW_LOCKS_INTERVAL);
            let (waits, at) = recent.unwrap_or_else(|| (self.own_waits(), Instant::now()));
            self.own_row_locks = Some((waits.clone(), at));
            return (waits, at.elapsed());
        }
        let (waits, read) = self.row_locks.read();
        if waits.is_empty() {
            return (waits, Duration::ZERO);
        }
        let threads = threads(self.segment.view());
        let thread = |connection| {
            let served = threads
                .iter()
                .find(|thread| thread.processlist_id == connection);
            served.map(|thread| thread.id)
        };
        let by_thread = waits.into_iter().filter_map(|wait| {
            Some(RowLockWait {
                waiting: thread(wait.waiting)?,
                blocking: thread(wait.blocking)?,
                ..wait
            })
        });
        (by_thread.collect(), read.elapsed())
    }

    fn sample(
        &self,
        (active, activity): (&ActiveThread, Option<&Activity>),
        clock: Clock,
        now: u64,
        blockers: &mut Blockers,
    ) -> Sample {
        let view = self.segment.view();
        let class = |id: usize| self.classes.get(id).map(|class| Arc::clone(&class.name));
        let age = |start: Option<u64>| {
            start.map(|start| clock.ns(now.saturating_sub(start)).max(0.0) as u64)
        };
        let account = self.names.account(active.account);
        let (digest, text) = match &active.statement {
            Some(running) => digest_or_text(view, running),
            None => (None, None),
        };
        let statement = active.statement.as_ref().map(|running| running.head);
        let wait = active.wait;
        let object = wait.map(|wait| instances::object(view, wait.object));
        let wait_ns = wait.and_then(|wait| age(wait.head.start));
        let is_long = wait_ns.is_some_and(|ns| Duration::from_nanos(ns) > MIN_BLOCKED_WAIT);
        Sample {
            thread_id: active.id,
            thread: class(active.class),
            connection_id: Some(active.processlist_id).filter(|id| *id != 0),
            user: account.and_then(|account| account.user.clone()),
            client: account.and_then(|account| account.host.clone()),
            schema: self.names.schema(active.schema),
            command: COMMANDS.get(active.command).map(|name| Arc::from(*name)),
            statement: statement.and_then(|head| class(head.class)),
            statement_id: statement.map(|head| head.id),
            statement_ns: statement.and_then(|head| age(head.start)),
            digest,
            text,
            stage: (active.stage != 0).then(|| class(active.stage)).flatten(),
            wait: wait.and_then(|wait| class(wait.head.class)),
            operation: (wait.and_then(|wait| wait.operation)).map(|does| Arc::from(does.text())),
            object_schema: object.as_ref().and_then(|object| object.schema.clone()),
            object: object.and_then(|object| match object.begin {
                _ if object.name.is_some() => object.name,
                0 => None,
                begin => Some(format!("{begin:#x}").into()),
            }),
            wait_ns,
            blocker: wait
                .filter(|_| is_long)
                .and_then(|wait| blockers.of(&self.segment, active.id, &wait)),
            state: activity.map(|activity| activity.state),
            system_call: activity.and_then(|activity| activity.system_call.clone()),
            is_exact: Some(is_exact(view)),
        }
    }
}

impl Source for SegmentSource {
    fn read_moment(&mut self) -> Result<Moment, QueryError> {
        if !self.segment.is_live() {
            return Err(QueryError::Lost("the server has ended".to_owned()));
        }
        let mut population = active_threads(self.segment.view());
        let at = SystemTime::now();
        self.scheduler.begin_moment();
        let mut activities = Vec::with_capacity(population.active.len());
        for active in &mut population.active {
            let runs = active.statement.is_some();
            let view = self.segment.view();
            activities.push(runs.then(|| self.scheduler.observe(view, active)));
        }
        let clock = self.segment.clock();
        let now = clock.now().unwrap_or(0);
        self.refresh(&population);
        let is_idle = |active: &ActiveThread| {
            let wait = active.wait.map(|wait| wait.head.class);
            let kind = (wait.and_then(|class| self.classes.get(class))).map(|class| class.kind);
            kind == Some(Kind::Idle) && active.statement.is_none()
        };
        let mut blockers = Blockers::default();
        let all = population.active.iter().zip(&activities);
        let active = all.filter(|(active, _)| !is_idle(active));
        let mut samples: Vec<Sample> = active
            .map(|(active, activity)| {
                self.sample((active, activity.as_ref()), clock, now, &mut blockers)
            })
            .collect();
        if may_wait(&samples) {
            let (waits, age) = self.read_row_locks();
            mark(&mut samples, &waits, age);
        }
        Ok(Moment {
            at,
            threads: Some(population.threads as u64),
            samples,
        })
    }

    fn unknown_states(&self) -> Option<String> {
        self.scheduler.problem().map(str::to_owned)
    }
}

/// Whether all waits and stages are counted.
fn is_exact(view: View<'_>) -> bool {
    let is_every = |group: &usize| view.control().rule(*group) == Rule::Every;
    [WAIT, STAGE].iter().all(is_every)
}

/// A statement's digest, or its text if it has none.
fn digest_or_text(
    view: View<'_>,
    running: &RunningStatement,
) -> (Option<Arc<str>>, Option<Arc<str>>) {
    let (id, generation) = running.digest;
    if let Some((hash, _)) = digests::hash_and_text(view, id, generation) {
        return (Some(hash), None);
    }
    let text = running.text.as_deref().map(sampled_text);
    let text = text.map(|text| match text.len() {
        0..=MAX_TEXT_BYTES => text,
        _ => text[..text.floor_char_boundary(MAX_TEXT_BYTES)].into(),
    });
    (None, text)
}

/// The holders of locks, read once for each moment with a long wait.
#[derive(Default)]
struct Blockers {
    metadata: Option<Vec<Metadata>>,
    rows: Option<instances::Rows>,
}

impl Blockers {
    fn of(&mut self, segment: &Segment, thread: u64, wait: &Wait) -> Option<u64> {
        match target::of(wait.object) {
            target::METADATA_LOCK => {
                let banks = Banks::new(segment.view(), true);
                let locks = self.metadata.get_or_insert_with(|| banks.metadata_locks());
                let wanted = locks
                    .iter()
                    .find(|lock| lock.owner == thread && lock.status == LockStatus::Pending)?;
                let same = |lock: &&Metadata| {
                    (lock.on, &lock.schema, &lock.name, &lock.column)
                        == (wanted.on, &wanted.schema, &wanted.name, &wanted.column)
                };
                // A holder, or else a session that waits for a lock before which this one is not granted.
                let wants = wanted.kind.text();
                let blocks = |status, excludes: fn(&str, &str) -> bool| {
                    let mut others = locks.iter().filter(same);
                    others.find(|lock| {
                        lock.owner != thread
                            && lock.status == status
                            && excludes(wants, lock.kind.text())
                    })
                };
                blocks(LockStatus::Granted, conflicts)
                    .or_else(|| blocks(LockStatus::Pending, queues_behind))
                    .map(|lock| lock.owner)
            }
            target::INSTANCE => {
                let rows = self.rows.get_or_insert_with(|| {
                    let view = segment.view();
                    Banks::new(view, true).instance_rows(&threads(view))
                });
                rows.owner(wait.object as u32)
                    .filter(|owner| *owner != thread)
            }
            _ => None,
        }
    }
}
