//! Waits of tasks: a future that is counted, and timed only if it is not ready at once.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use tare_layout::Kind;
use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{Operation, Wait as Record, wait as at, word};
use tare_layout::sampling::WAIT;
use tare_layout::slot::ring;

use super::statement::clock_at_begin;
use crate::class::Class;
use crate::engine::active::local_of_moments;
use crate::engine::hot::{self, local_of_waits};
use crate::engine::local::{Local, is_event, words};
use crate::engine::running;
use crate::engine::task::Home;
use crate::payload::Payload;
use crate::point::lock_wait::{LockWait, count_unmarked};
use crate::point::wait::fits;
use crate::source::Source;

/// What a task waits for.
pub(crate) trait Subject {
    /// Its class.
    fn class(&self) -> &'static Class;

    /// The numbers of its class and its instance (0 = none) in the segment.
    fn numbers(&self, local: &Local) -> (u16, u32);
}

impl Subject for &'static Class {
    fn class(&self) -> &'static Class {
        self
    }

    fn numbers(&self, local: &Local) -> (u16, u32) {
        (local.number(self), 0)
    }
}

/// A future with the output of another, which is counted as a wait: see [`future`](crate::wait::future).
#[must_use = "futures do nothing unless they are polled"]
pub struct WaitFuture<F, S = &'static Class> {
    // Ends before the future is dropped, which may free what others wait for.
    wait: Payload<Awaited<S>>,
    future: F,
}

/// What a task waits for, and how far it is.
struct Awaited<S> {
    state: State,
    subject: S,
    operation: Operation,
    source: Source,
}

/// The state of a wait.
enum State {
    /// The future was not polled yet.
    New,
    /// It was polled and was not ready.
    Running(Running),
    /// Nothing is recorded any more.
    Done,
}

/// Counts a future as a wait. If it is ready at its first poll, no clock is read; if not, the wait is timed
/// from then until it is ready, or dropped. It may be polled on any thread (docs/async.md).
///
/// ```
/// tare::classes! { static LOCK_CACHE: Mutex = "wait/synch/mutex/app/LOCK_cache"; }
/// # async fn lock() {}
/// # async fn work() {
/// tare::wait::future(&LOCK_CACHE, tare::Operation::Lock, lock()).await;
/// # }
/// ```
#[inline]
#[track_caller]
pub fn future<F: Future>(class: &'static Class, operation: Operation, future: F) -> WaitFuture<F> {
    wait_for(Payload::of(class), operation, Source::here(), future)
}

/// The future `future`, as a wait for `subject`.
pub(crate) fn wait_for<F, S: Subject>(
    subject: Payload<S>,
    operation: Operation,
    source: Source,
    future: F,
) -> WaitFuture<F, S> {
    WaitFuture {
        wait: subject.map(|subject| Awaited {
            state: State::New,
            subject,
            operation,
            source,
        }),
        future,
    }
}

impl<F: Future, S: Subject + Unpin> Future for WaitFuture<F, S> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: rule 1 (only the future is pinned, and is pinned again).
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: rule 1.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        let Some(wait) = this.wait.get_mut() else {
            return future.poll(context);
        };
        let is_first = matches!(wait.state, State::New);
        if is_first {
            wait.state = State::begin_if_timed(&wait.subject, wait.operation, wait.source);
        }
        let poll = future.poll(context);
        match (&poll, &mut wait.state) {
            (Poll::Ready(_), State::New) => count_at_once(&wait.subject, wait.operation),
            (Poll::Pending, State::New) => {
                let running = Running::begin(&wait.subject, wait.operation, wait.source);
                wait.state = running.map_or(State::Done, State::Running);
            }
            (Poll::Pending, State::Running(running)) => running.is_contended = true,
            (Poll::Pending, State::Done) | (Poll::Ready(_), _) => {}
        }
        if poll.is_ready() {
            wait.state = State::Done;
        }
        poll
    }
}

impl<F, S> fmt::Debug for WaitFuture<F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("WaitFuture");
        let operation = self.wait.get().map(|wait| wait.operation);
        debug.field("operation", &operation).finish_non_exhaustive()
    }
}

impl State {
    /// Begins the wait before the first poll, if all waits of the class are timed.
    #[inline]
    fn begin_if_timed<S: Subject>(subject: &S, operation: Operation, source: Source) -> Self {
        let is_timed = local_of_waits().is_some_and(|local| {
            let class = local.number(subject.class());
            local.bits(class) & effective::EVERY != 0
        });
        if !is_timed {
            return Self::New;
        }
        match Running::begin(subject, operation, source) {
            Some(mut running) => {
                running.is_contended = false;
                Self::Running(running)
            }
            None => Self::Done,
        }
    }
}

/// Counts a wait whose future was ready at once.
#[inline]
pub(crate) fn count_at_once<S: Subject>(subject: &S, operation: Operation) {
    let Some(local) = local_of_waits() else {
        return;
    };
    let (class, instance) = subject.numbers(local);
    let (bits, line) = (local.bits(class), operation.line());
    if bits & effective::COUNT == 0 || !fits(subject.class().kind(), line) {
        return;
    }
    match running::weight(bits, WAIT) {
        0 => {}
        weight => count_unmarked(local, class, line, instance, weight),
    }
}

/// A wait that runs.
struct Running {
    home: Home,
    kind: Recorded,
    /// The future was not ready when it was first polled.
    is_contended: bool,
}

/// What is recorded of a wait.
enum Recorded {
    /// It is counted.
    Counted {
        wait: LockWait,
        kind: Kind,
        line: usize,
        weight: u16,
        /// Its event, as it began; the id is 0 if it is none.
        event: [u64; 8],
        /// Its record in its session's slot.
        record: Option<usize>,
    },
    /// It began at the level `active`: the word in its session's line.
    Active(u64),
}

impl Running {
    /// Begins a wait; `None`: it is not recorded.
    #[inline(never)]
    fn begin<S: Subject>(subject: &S, operation: Operation, source: Source) -> Option<Self> {
        let kind = subject.class().kind();
        let Some(local) = local_of_waits() else {
            return Self::begin_active(subject, operation);
        };
        let (class, instance) = subject.numbers(local);
        let (bits, line) = (local.bits(class), operation.line());
        if bits & effective::COUNT == 0 || !fits(kind, line) {
            return None;
        }
        let weight = running::weight(bits, WAIT);
        if weight == 0 {
            return None;
        }
        let is_in_session = hot::is_in_session();
        if is_in_session {
            // No other event begins where an earlier one ended.
            local.edge.set(0);
        }
        let (start, bits) = clock_at_begin(local, bits, event_type(kind));
        let (mut event, mut record) = ([0; 8], None);
        if is_in_session && is_event(bits) {
            local.task.set(local.current_task());
            let (nesting, source) = (local.nesting(), local.source(source));
            let id = local.next_event_id();
            event = words(local, id, start, class, operation as u8, nesting, source);
            event[at::OBJECT] = u64::from(instance);
            event[at::BYTES] = at::NO_BYTES;
            record = local.take_wait_record();
            if let Some(record) = record {
                local.slot.waits[record].publish(&event);
            }
        }
        let wait = LockWait {
            class,
            instance,
            bits,
            start,
            event: 0,
        };
        Some(Self {
            home: Home::of(local),
            kind: Recorded::Counted {
                wait,
                kind,
                line,
                weight,
                event,
                record,
            },
            is_contended: true,
        })
    }

    /// Begins a wait at the level `active`.
    #[cold]
    fn begin_active<S: Subject>(subject: &S, operation: Operation) -> Option<Self> {
        let local = local_of_moments().filter(|_| hot::is_in_session())?;
        let (class, instance) = subject.numbers(local);
        local.begin_wait(class, subject.class().kind(), operation, instance.into())?;
        let word = local.slot.activity.wait.load(Ordering::Relaxed);
        Some(Self {
            home: Home::of(local),
            kind: Recorded::Active(word),
            is_contended: true,
        })
    }

    fn end(&self) {
        let Some(local) = self.home.local() else {
            return;
        };
        match &self.kind {
            Recorded::Active(word) => {
                if let Some(slot) = self.home.slot_elsewhere(local) {
                    let wait = &local.engine.view.slot(slot).activity.wait;
                    let _ = wait.compare_exchange(*word, 0, Ordering::Relaxed, Ordering::Relaxed);
                }
            }
            Recorded::Counted {
                wait,
                kind,
                line,
                weight,
                event,
                record,
            } => {
                let bits = wait.bits;
                let now = match bits & effective::TIME {
                    0 => 0,
                    _ => local.clock(bits, event_type(*kind)),
                };
                let is_timed = local.is_timed(bits, wait.start, now);
                let ticks = match is_timed {
                    true => local.elapsed(wait.start, now),
                    false => 0,
                };
                let time = (is_timed, ticks);
                match kind.is_lock() {
                    // The rows of locks count those that were contended, and those that were timed.
                    true => wait.count(local, *weight, time, self.is_contended, None),
                    false => count(local, wait, *line, time, *weight),
                }
                if event[word::ID] != 0 {
                    let end = if is_timed { now } else { 0 };
                    self.end_event(local, event, *record, end, bits);
                }
            }
        }
    }

    fn end_event(
        &self,
        local: &Local,
        event: &[u64; 8],
        record: Option<usize>,
        end: u64,
        bits: u8,
    ) {
        let id = event[word::ID];
        if self.home.is(local) {
            let ended = Record::default();
            ended.publish(event);
            ended.set(word::PACKED, local.ended(event[word::PACKED], id));
            ended.set(word::END, local.end_word(&ended, end));
            let rings = &local.rings;
            local.store_event(ring::WAITS, &ended, bits, rings.waits, |i| {
                &rings.long_waits[i]
            });
            // If it was removed, another wait may have it.
            if let Some(record) = record.filter(|record| local.slot.waits[*record].remove(id)) {
                local.give_wait_record(record);
            }
        } else if let (Some(record), Some(slot)) = (record, self.home.slot_elsewhere(local)) {
            local.engine.view.slot(slot).waits[record].remove(id);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

const fn event_type(kind: Kind) -> EventType {
    match kind {
        Kind::Idle => EventType::Idle,
        _ => EventType::Wait,
    }
}

/// Counts a wait that is not for a lock.
fn count(local: &Local, wait: &LockWait, line: usize, (is_timed, ticks): (bool, u64), weight: u16) {
    if let Some(row) = local.row(wait.class, line) {
        match is_timed {
            true => local.time_weighed(wait.class, row, ticks, weight),
            false => row.count_weighed(u32::from(weight)),
        }
    }
    if wait.instance != 0 {
        local.time_instance(wait.instance, line, ticks, 0, weight);
    }
}
