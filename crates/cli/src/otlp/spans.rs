//! Statements, followed from sample to sample.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tare_history::{Block, Holder, Moment, Sample, Text};
use tare_mysql::traceparent::TraceContext;

/// The most events of a span: OpenTelemetry's default limit.
const MAX_EVENTS: usize = 128;

/// The most texts of digests that are remembered.
const MAX_TEXTS: usize = 10_000;

/// A wait that began within a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitEvent {
    /// When it began; when it was first sampled, if it is not timed.
    pub began: SystemTime,
    /// What is waited for, as in table `samples`.
    pub wait: Arc<str>,
    pub operation: Option<Arc<str>>,
    pub object_schema: Option<Arc<str>>,
    pub object: Option<Arc<str>>,
    /// THREAD_ID of the session that blocks it.
    pub blocker: Option<u64>,
    /// How long it had lasted when it was last sampled.
    pub duration: Duration,
}

/// A statement that was longer than the threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub trace_id: u128,
    pub span_id: u64,
    /// The caller's span, 0 = none.
    pub parent_id: u64,
    /// The last sample.
    pub sample: Sample,
    /// The digest's text, or the statement's without passwords.
    pub text: Option<Arc<str>>,
    pub began: SystemTime,
    /// When it was last sampled.
    pub ended: SystemTime,
    /// It ended at most so much later; `None` if the recorder ended before.
    pub within: Option<Duration>,
    pub waits: Vec<WaitEvent>,
    /// Waits beyond the limit.
    pub dropped_waits: u32,
    /// Who blocked it, and the text of that session's statement.
    pub blocker: Option<Holder>,
}

/// The statements that run.
pub struct Statements {
    threshold: Duration,
    running: HashMap<u64, Span>,
    texts: HashMap<String, Arc<str>>,
    random: RandomState,
    spans: u64,
}

impl Statements {
    pub fn new(threshold: Duration) -> Self {
        Self {
            threshold,
            running: HashMap::new(),
            texts: HashMap::new(),
            random: RandomState::new(),
            spans: 0,
        }
    }

    /// Remembers the texts of digests.
    pub fn follow_texts(&mut self, texts: &[Text]) {
        for text in texts
            .iter()
            .take(MAX_TEXTS.saturating_sub(self.texts.len()))
        {
            let shared = text.text.as_str().into();
            self.texts.insert(text.digest.clone(), shared);
        }
    }

    /// Remembers who blocks the statements that run.
    pub fn follow_locks(&mut self, blocks: &[Block]) {
        for block in blocks {
            if let (Some(span), Some(holder)) =
                (self.running.get_mut(&block.waiter.thread_id), &block.holder)
            {
                span.blocker = Some(holder.clone());
            }
        }
    }

    /// Takes a moment, and passes on the statements that have ended.
    pub fn follow(&mut self, moment: &Moment, send: &mut dyn FnMut(Span)) {
        let mut before = std::mem::take(&mut self.running);
        for sample in &moment.samples {
            if sample.statement.is_none() || sample.connection_id.is_none() {
                continue;
            }
            let age = Duration::from_nanos(sample.statement_ns.unwrap_or(0));
            let began = moment.at - age;
            let mut span = match before.remove(&sample.thread_id) {
                // At the level `active` statements have no id: it began before it was sampled.
                Some(span)
                    if span.sample.statement_id == sample.statement_id
                        && span.sample.statement == sample.statement
                        && (sample.statement_ns.is_none() || began <= span.ended) =>
                {
                    span
                }
                other => {
                    if let Some(ended) = other {
                        self.end(ended, Some(moment.at), send);
                    }
                    self.begin(sample, began)
                }
            };
            observe_wait(&mut span, sample, moment.at);
            span.ended = moment.at;
            span.sample = sample.clone();
            self.running.insert(sample.thread_id, span);
        }
        for (_, span) in before {
            self.end(span, Some(moment.at), send);
        }
    }

    /// Passes on all statements that run.
    pub fn end_all(&mut self, send: &mut dyn FnMut(Span)) {
        for (_, span) in std::mem::take(&mut self.running) {
            self.end(span, None, send);
        }
    }

    fn begin(&mut self, sample: &Sample, began: SystemTime) -> Span {
        let mut random = || loop {
            self.spans += 1;
            // The keys are random in each process.
            let id = self.random.hash_one(self.spans);
            if id != 0 {
                return id;
            }
        };
        let own = u128::from(random()) << 64 | u128::from(random());
        Span {
            trace_id: sample.trace.map_or(own, |trace| trace.trace_id),
            span_id: random(),
            parent_id: sample.trace.map_or(0, |trace| trace.span_id),
            sample: sample.clone(),
            text: None,
            began,
            ended: began,
            within: None,
            waits: Vec::new(),
            dropped_waits: 0,
            blocker: None,
        }
    }

    fn end(&self, mut span: Span, now: Option<SystemTime>, send: &mut dyn FnMut(Span)) {
        // The caller has decided that this trace is not recorded.
        let is_left_out = span
            .sample
            .trace
            .and_then(|trace: TraceContext| trace.is_sampled)
            == Some(false);
        let duration = span.ended.duration_since(span.began).unwrap_or_default();
        if is_left_out || duration < self.threshold {
            return;
        }
        span.within = now.and_then(|now| now.duration_since(span.ended).ok());
        let of_digest = span
            .sample
            .digest
            .as_deref()
            .and_then(|digest| self.texts.get(digest));
        span.text = span.sample.text.clone().or_else(|| of_digest.cloned());
        send(span);
    }
}

/// Adds the wait of a sample, unless it goes on.
fn observe_wait(span: &mut Span, sample: &Sample, at: SystemTime) {
    let Some(wait) = &sample.wait else {
        return;
    };
    let duration = sample.wait_ns.map(Duration::from_nanos);
    let began = at - duration.unwrap_or_default();
    let last_sampled = span.ended;
    if let Some(last) = span.waits.last_mut()
        && (&last.wait, &last.object, &last.object_schema)
            == (wait, &sample.object, &sample.object_schema)
        && began <= last_sampled
    {
        last.duration = at.duration_since(last.began).unwrap_or_default();
        last.blocker = sample.blocker.or(last.blocker);
        return;
    }
    if span.waits.len() == MAX_EVENTS {
        span.dropped_waits += 1;
        return;
    }
    span.waits.push(WaitEvent {
        // InnoDB's time of a row lock is in full seconds, and may be before the statement.
        began: began.max(span.began),
        wait: Arc::clone(wait),
        operation: sample.operation.clone(),
        object_schema: sample.object_schema.clone(),
        object: sample.object.clone(),
        blocker: sample.blocker,
        duration: duration.unwrap_or_default(),
    });
}
