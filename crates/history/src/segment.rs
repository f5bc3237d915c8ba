//! Samples a segment: reads shared memory and sends nothing to the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tare_layout::View;
use tare_layout::object::{LockStatus, target};
use tare_layout::sampling::{Rule, STAGE, WAIT};
use tare_mysql::metadata_lock::{conflicts, queues_behind};
use tare_mysql::traceparent::TraceContext;
use tare_reader::events::Wait;
use tare_reader::objects::Metadata;
use tare_reader::sessions::{Session, SessionReader};
use tare_reader::{Banks, Segment, instances, threads};

use crate::blocks::LockReading;
use crate::query::QueryError;
use crate::row_locks::{RowLockWait, RowLocks, has_row_waits, mark, may_wait};
use crate::sample::{Moment, Sample, Source, sampled_text};
use crate::status::ServerStatus;

/// Waits must be this long before their blocker is determined; shorter ones end before it could be
/// reported.
const MIN_BLOCKED_WAIT: Duration = Duration::from_millis(10);

/// The shortest interval between two readings of row locks.
const ROW_LOCKS_INTERVAL: Duration = Duration::from_secs(1);

/// The longest text of a statement that is stored.
const MAX_TEXT_BYTES: usize = 1024;

/// A segment that is sampled.
pub struct SegmentSource {
    sessions: SessionReader,
    row_locks: Box<dyn RowLocks>,
    /// The segment's own row locks, and when they were read.
    own_row_locks: Option<(Vec<RowLockWait>, Instant)>,
}

impl SegmentSource {
    /// The source of an attached segment. `row_locks` name sessions by their connections, and are read if the
    /// segment has no row locks itself.
    pub fn new(segment: Arc<Segment>, row_locks: Box<dyn RowLocks>) -> Self {
        Self {
            sessions: SessionReader::new(segment),
            row_locks,
            own_row_locks: None,
        }
    }

    fn segment(&self) -> &Segment {
        self.sessions.segment()
    }

    /// The waits that the server writes into the segment.
    fn own_waits(&self) -> Vec<RowLockWait> {
        let locks = self.segment().row_locks().unwrap_or_default();
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
        if self.segment().has_row_locks() {
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
        let threads = threads(self.segment().view());
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

    fn sample(&self, session: Session, is_exact: bool, blockers: &mut Blockers) -> Sample {
        let segment = self.segment();
        let trace = [session.outer_text(), session.text()].into_iter().flatten();
        let trace = trace
            .filter_map(|text| TraceContext::of_statement(text))
            .next()
            .or_else(|| TraceContext::parse(session.thread.traceparent.as_deref()?));
        let (digest, text) = match session.digest {
            Some((hash, _)) => (Some(hash), None),
            None => (None, session.text().map(|text| cut(sampled_text(text)))),
        };
        let thread = session.thread;
        let is_long =
            (session.wait_ns).is_some_and(|ns| Duration::from_nanos(ns) > MIN_BLOCKED_WAIT);
        Sample {
            thread_id: thread.id,
            thread: session.instrument,
            connection_id: session.processlist_id,
            user: session.user,
            client: session.host,
            schema: session.schema,
            command: session.command.map(Into::into),
            statement: session.statement,
            statement_id: thread.statement.map(|running| running.head.id),
            statement_ns: session.statement_ns,
            digest,
            text,
            stage: session.stage,
            wait: session.wait,
            operation: session.operation.map(Into::into),
            object_schema: session.object_schema,
            object: session.object,
            wait_ns: session.wait_ns,
            blocker: (thread.wait.filter(|_| is_long))
                .and_then(|wait| blockers.of(segment, thread.id, &wait))
                .or(session.blocker),
            state: session.activity.as_ref().map(|activity| activity.state),
            system_call: session.activity.and_then(|activity| activity.system_call),
            is_exact: Some(is_exact),
            process_id: None,
            trace,
        }
    }
}

impl Source for SegmentSource {
    fn read_moment(&mut self) -> Result<Moment, QueryError> {
        if !self.segment().is_live() {
            return Err(QueryError::Lost("the server has ended".to_owned()));
        }
        let sessions = self.sessions.read();
        let is_exact = is_exact(self.segment().view());
        let mut blockers = Blockers::default();
        let active = sessions.active.into_iter();
        let mut samples: Vec<Sample> = active
            .map(|session| self.sample(session, is_exact, &mut blockers))
            .collect();
        if may_wait(&samples) {
            let (waits, age) = self.read_row_locks();
            mark(&mut samples, &waits, age);
        }
        Ok(Moment {
            at: sessions.at,
            threads: Some(sessions.threads as u64),
            is_exact: Some(is_exact),
            samples,
        })
    }

    fn attached(&self) -> Option<&Arc<Segment>> {
        Some(self.sessions.segment())
    }

    fn read_status(&mut self) -> Option<ServerStatus> {
        self.row_locks.read_status()
    }

    fn read_locks(&mut self, moment: &Moment) -> LockReading {
        self.row_locks.read_locks(has_row_waits(&moment.samples))
    }

    fn unknown_states(&self) -> Option<String> {
        self.sessions.problem().map(str::to_owned)
    }
}

/// Whether all waits and stages are counted.
pub(crate) fn is_exact(view: View<'_>) -> bool {
    let is_every = |group: &usize| view.control().rule(*group) == Rule::Every;
    [WAIT, STAGE].iter().all(is_every)
}

/// As much of a text as is stored.
fn cut(text: Arc<str>) -> Arc<str> {
    match text.len() {
        0..=MAX_TEXT_BYTES => text,
        _ => text[..text.floor_char_boundary(MAX_TEXT_BYTES)].into(),
    }
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
