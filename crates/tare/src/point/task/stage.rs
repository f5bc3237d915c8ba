//! Stages of tasks: guards, of which several may run at once.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::class::EventType;
use tare_layout::control::effective;
use tare_layout::event::{Packed, Stage as Record, word};
use tare_layout::sampling::STAGE;
use tare_layout::slot::ring;

use super::statement::clock_at_begin;
use crate::class::Class;
use crate::engine::hot::{self, local_of_statements};
use crate::engine::local::{Local, is_event, words};
use crate::engine::running;
use crate::engine::task::Home;
use crate::payload::Payload;
use crate::source::Source;

/// A running stage of a task. When it is dropped, it ends.
#[must_use = "the stage ends when this is dropped"]
#[derive(Debug)]
pub struct Stage {
    /// Ends when it is dropped.
    _running: Payload<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    home: Home,
    /// Its event, as it began; the id is 0 if it is none.
    event: [u64; 8],
    /// The class in its session's state before, if it is in a session.
    before: Option<u32>,
    /// When it began, 0 = not timed.
    start: u64,
    class: u16,
    bits: u8,
    weight: u16,
}

/// Begins a stage, which lasts until the guard is dropped.
///
/// ```
/// tare::classes! { static SORTING: Stage = "stage/app/Sorting"; }
/// # async fn sort() {}
/// # async fn work() {
/// let stage = tare::task::stage::start(&SORTING);
/// sort().await;
/// drop(stage);
/// # }
/// ```
#[inline]
#[track_caller]
pub fn start(class: &Class) -> Stage {
    let source = Source::here();
    let begin = || local_of_statements().and_then(|local| begin(local, class, source));
    Stage {
        _running: Payload::new(begin),
    }
}

fn begin(local: &Local, class: &Class, source: Source) -> Option<Running> {
    if class.kind() != Kind::Stage {
        return None;
    }
    let number = local.number(class);
    let is_in_session = hot::is_in_session();
    let state = &local.slot.activity.stage;
    let before = is_in_session.then(|| state.load(Ordering::Relaxed));
    if is_in_session {
        state.store(number.into(), Ordering::Relaxed);
    }
    let bits = local.bits(number);
    let weight = match bits & effective::COUNT {
        0 => 0,
        _ => running::weight(bits, STAGE),
    };
    // One that is not counted is in PROCESSLIST_STATE only.
    let bits = if weight == 0 { 0 } else { bits };
    let (start, bits) = clock_at_begin(local, bits, EventType::Stage);
    let mut event = [0; 8];
    if is_in_session && is_event(bits) {
        local.task.set(local.current_task());
        let (nesting, source) = (local.nesting_of_stage(), local.source(source));
        event = words(
            local,
            local.next_event_id(),
            start,
            number,
            0,
            nesting,
            source,
        );
        let record = &local.slot.current_stage;
        let is_free =
            record.word(word::ID) == 0 || Packed::unpack(record.word(word::PACKED)).span != 0;
        if is_free {
            record.publish(&event);
        }
    }
    Some(Running {
        home: Home::of(local),
        event,
        before,
        start,
        class: number,
        bits,
        weight,
    })
}

impl Running {
    fn end(&self) {
        let Some(local) = self.home.local() else {
            return;
        };
        let is_home = self.home.is(local);
        if let (true, Some(before)) = (is_home, self.before) {
            let state = &local.slot.activity.stage;
            if state.load(Ordering::Relaxed) == u32::from(self.class) {
                state.store(before, Ordering::Relaxed);
            }
        }
        if self.bits & effective::COUNT == 0 {
            return;
        }
        let now = match self.bits & effective::TIME {
            0 => 0,
            _ => local.clock(self.bits, EventType::Stage),
        };
        let is_timed = local.is_timed(self.bits, self.start, now);
        if let Some(line) = local.row(self.class, 0) {
            match is_timed {
                true => {
                    let ticks = local.elapsed(self.start, now);
                    local.time_weighed(self.class, line, ticks, self.weight);
                }
                false => line.count_weighed(u32::from(self.weight)),
            }
        }
        let id = self.event[word::ID];
        if id == 0 {
            return;
        }
        if is_home {
            let record = Record::default();
            record.publish(&self.event);
            record.set(word::PACKED, local.ended(self.event[word::PACKED], id));
            let end = if is_timed { now } else { 0 };
            record.set(word::END, local.end_word(&record, end));
            let rings = &local.rings;
            local.store_event(ring::STAGES, &record, self.bits, rings.stages, |i| {
                &rings.long_stages[i]
            });
        }
        if let Some(slot) = self.home.slot_elsewhere(local) {
            local.engine.view.slot(slot).current_stage.remove(id);
        }
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}
