//! Plans of statements: EXPLAIN on a connection of its own, and for `tare record` in a thread of its own.
//! docs/plans.md describes them.

mod check;
mod due;
mod mask;
mod read;
mod tokens;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tare_history::{GrowthRow, PlanReader, PlanReading, PlanReason, Text};
use tare_reader::Segment;

use crate::observe::{ObservedServer, Product};
use crate::ps::process;
use crate::sql::Target;
pub use due::PlanMode;
use due::{DigestKey, DueDigests};
pub use read::{ExampleReader, Outcome, queries};

/// No plan is requested while more sessions run a statement.
const MAX_ACTIVE_SESSIONS: usize = 32;

/// How long no plan is read after one took too long.
const PAUSE_AFTER_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a server is left alone that cannot be reached.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);

/// A digest whose plan is requested.
struct Request {
    key: DigestKey,
    reason: PlanReason,
}

/// What became of it.
struct Answer {
    key: DigestKey,
    outcome: Outcome,
    /// Whether EXPLAIN was sent.
    is_explained: bool,
    /// A sentence for the log.
    message: Option<String>,
}

/// A reader of a target's plans; `None` if it is no MySQL or MariaDB.
pub fn reader(
    target: &Target,
    observed: &ObservedServer,
    segment: Option<Arc<Segment>>,
) -> Option<ExampleReader> {
    match (segment, observed.about.product) {
        (Some(segment), _) => {
            process::server_release(segment.pid())?;
            Some(ExampleReader::of_segment(segment))
        }
        (None, Product::Tare) => None,
        (None, _) => Some(ExampleReader::of_server(target.clone())),
    }
}

/// Reads plans in a thread.
pub struct PlanThread {
    due: DueDigests,
    requests: SyncSender<Request>,
    answers: Receiver<Answer>,
    is_busy: bool,
    pause_until: Option<Instant>,
    sent: HashSet<String>,
}

impl PlanThread {
    /// For a target; `None` if it is no MySQL or MariaDB, or plans are off.
    pub fn start(
        mode: PlanMode,
        target: &Target,
        observed: &ObservedServer,
        segment: Option<Arc<Segment>>,
    ) -> Option<Self> {
        if mode == PlanMode::Off {
            return None;
        }
        let reader = reader(target, observed, segment)?;
        // One request and one answer at a time.
        let (requests, taken) = sync_channel(1);
        let (given, answers) = sync_channel(1);
        let run = move || answer_requests(reader, &taken, &given);
        thread::Builder::new()
            .name("tare-plans".into())
            .spawn(run)
            .ok()?;
        Some(Self {
            due: DueDigests::new(mode, Instant::now()),
            requests,
            answers,
            is_busy: false,
            pause_until: None,
            sent: HashSet::new(),
        })
    }

    fn take(&mut self, answer: Answer, reading: &mut PlanReading) {
        self.is_busy = false;
        let key = &answer.key;
        if !answer.is_explained {
            self.due.return_unexplained();
        }
        let effect = match &answer.outcome {
            Outcome::Plan(_) | Outcome::TimedOut(_) => "plans are not complete",
            Outcome::NoText | Outcome::Unreachable => "plans are not recorded",
        };
        match answer.outcome {
            Outcome::Plan(plan) => {
                self.due.set_recorded(key, plan.problem.is_none());
                reading.plans.push(plan);
            }
            Outcome::TimedOut(plan) => {
                self.due.set_recorded(key, false);
                self.pause_until = Some(Instant::now() + PAUSE_AFTER_TIMEOUT);
                reading.plans.push(plan);
            }
            Outcome::NoText => self.due.set_without_text(key),
            // The digest is still due.
            Outcome::Unreachable => {
                self.pause_until = Some(Instant::now() + PAUSE_AFTER_FAILURE);
            }
        }
        let message = answer.message.into_iter();
        let message = message.map(|why| format!("{effect}: {why}"));
        (reading.messages).extend(message.filter(|message| self.sent.insert(message.clone())));
    }
}

/// The thread. It ends when the recorder does.
fn answer_requests(
    mut reader: ExampleReader,
    requests: &Receiver<Request>,
    answers: &SyncSender<Answer>,
) {
    for request in requests {
        let (outcome, message) = reader.read(&request.key, request.reason);
        let is_explained = reader.is_explained;
        let answer = Answer {
            key: request.key,
            outcome,
            is_explained,
            message,
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

impl PlanReader for PlanThread {
    fn observe(&mut self, grown: &[GrowthRow], texts: &[Text]) {
        self.due.observe_texts(texts);
        self.due.observe(grown);
    }

    fn poll(&mut self, active: usize) -> PlanReading {
        let mut reading = PlanReading::default();
        match self.answers.try_recv() {
            Ok(answer) => self.take(answer, &mut reading),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        let now = Instant::now();
        let is_paused = self.pause_until.is_some_and(|until| now < until);
        if !self.is_busy
            && !is_paused
            && active <= MAX_ACTIVE_SESSIONS
            && let Some((key, reason)) = self.due.next(now)
        {
            self.is_busy = self.requests.try_send(Request { key, reason }).is_ok();
        }
        reading
    }
}
