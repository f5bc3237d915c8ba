//! Stages: the steps of a statement. One clock read ends a stage and begins the next.

use std::sync::atomic::Ordering;

use tare_layout::class::{EventType, property};
use tare_layout::control::effective;
use tare_layout::event::{stage as at, word};
use tare_layout::sampling::STAGE;
use tare_layout::slot::ring;

use crate::class::Class;
use crate::engine::clock;
use crate::engine::hot::{attached, local, local_of_statements};
use crate::engine::local::{Local, is_event, is_plainly_timed, words};
use crate::engine::running::{self, NOW};
use crate::payload::IS_COMPILED_IN;
use crate::source::Source;
use tare_layout::Kind;

/// Enters a stage, leaving the one before.
///
/// ```
/// tare::classes! {
///     static SORTING: Stage = "stage/app/Sorting";
///     static SENDING: Stage = "stage/app/Sending";
/// }
/// tare::stage::set(&SORTING);
/// // ...
/// tare::stage::set(&SENDING);
/// // ...
/// tare::stage::end();
/// ```
#[inline]
#[track_caller]
pub fn set(class: &Class) {
    if !IS_COMPILED_IN {
        return;
    }
    let source = Source::here();
    match local_of_statements() {
        Some(local) if class.kind() == Kind::Stage => enter(local, local.number(class), source),
        Some(_) => {}
        None => end_last(),
    }
}

/// Enters a stage that began at `at`, an [`idle::now`](crate::idle::now), and leaves the one before at that
/// time: for hosts that learn of a stage later. No clock is read, unless stages have one of their own.
#[cfg(feature = "door")]
#[doc(hidden)]
#[track_caller]
pub fn set_at(class: &Class, at: u64) {
    if !IS_COMPILED_IN {
        return;
    }
    let source = Source::here();
    match local_of_statements() {
        Some(local) if class.kind() == Kind::Stage => {
            enter_at(local, local.number(class), at, source);
        }
        Some(_) => {}
        None => end_last(),
    }
}

#[cfg(feature = "door")]
fn enter_at(local: &Local, number: u16, at: u64, source: Source) {
    let (mut bits, mut weight) = (local.bits(number), 1);
    let (before, before_bits) = local.stage.head();
    if (bits | before_bits) & effective::OTHER_CLOCK != 0 {
        return enter(local, number, source);
    }
    if bits & effective::WEIGHED != 0 {
        weight = running::weight(bits, STAGE);
        if weight == 0 {
            bits = 0;
        }
    }
    let stage = &local.slot.activity.stage;
    stage.store(u32::from(number), Ordering::Relaxed);
    local.edge.set(0);
    // Not before its statement, which begins later than its request arrived if a setting has changed since.
    let mut at = at;
    if let Some(level) = local.statements.get().checked_sub(1) {
        at = at.max(local.statement_starts[level].get());
    }
    if before_bits != 0 {
        at = at.max(local.stage.start.get());
        finish(local, before, before_bits, at);
    }
    let source_of_event = is_event(bits).then_some(source);
    begin(local, number, bits, at, source_of_event);
    local.stage_weight.set(weight);
}

/// Whether a stage of this class would be timed if the calling thread entered it now.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline]
pub fn is_timed(class: &Class) -> bool {
    IS_COMPILED_IN
        && local_of_statements()
            .is_some_and(|local| local.bits(local.number(class)) & effective::TIME != 0)
}

/// The same, by the class's number ([`class_number`](crate::host_lock::class_number)), which is valid
/// until Tare is stopped. `source`: the place in the host's source.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline]
pub fn set_number(number: u16, source: Source) {
    if !IS_COMPILED_IN {
        return;
    }
    match local_of_statements() {
        Some(local) => enter(local, number, source),
        None => end_last(),
    }
}

/// The same for almost every change of stages, in as few instructions as possible: both stages are
/// timed and not stored as events, or neither is observed. False: nothing was done; call
/// [`set_number`].
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn try_set_fast(number: u16) -> bool {
    let Some(local) = attached() else {
        return false;
    };
    let bits = local.bits(number);
    let (before, before_bits) = local.stage.head();
    if bits != before_bits || !is_plainly_timed(bits) {
        return before_bits == 0 && try_set_state(local, number, bits);
    }
    let now = clock::cycles();
    let ticks = now.wrapping_sub(local.stage.start.get());
    if local.try_time_fast(before, 0, ticks, 1).is_none() {
        return false;
    }
    local
        .slot
        .activity
        .stage
        .store(u32::from(number), Ordering::Relaxed);
    local.stage.set(number, bits, now, 0);
    true
}

/// Sets PROCESSLIST_STATE, if nothing else is to be done: no stage runs, and this one is off or outside
/// of a window of sampling.
#[inline(always)]
fn try_set_state(local: &Local, number: u16, bits: u8) -> bool {
    let is_left_out = match bits & effective::WEIGHED {
        0 => bits == 0,
        _ => running::weight(bits, STAGE) == 0,
    };
    if !is_left_out || NOW.statements.load(Ordering::Relaxed) == 0 {
        return false;
    }
    set_state(local, number);
    true
}

/// Sets PROCESSLIST_STATE only: for a host that knows that stages are not observed now, because its
/// [follower](crate::settings::follow) was called. False: an observed stage runs and must be ended;
/// nothing was done.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn set_state_only(number: u16) -> bool {
    let Some(local) = attached().filter(|local| local.stage.head().1 == 0) else {
        return false;
    };
    set_state(local, number);
    true
}

/// No stage runs, and this one is not counted.
#[inline(always)]
fn set_state(local: &Local, number: u16) {
    local
        .slot
        .activity
        .stage
        .store(u32::from(number), Ordering::Relaxed);
    // The next counted stage does not begin where the statement did, either.
    local.edge.set(0);
}

/// Ends a stage that began before stages were switched off.
#[cold]
#[inline(never)]
fn end_last() {
    if let Some(local) = attached().filter(|local| local.stage.head().1 != 0) {
        end_of(local, 0);
    }
}

#[inline(always)]
fn enter(local: &Local, number: u16, source: Source) {
    let bits = local.bits(number);
    // PROCESSLIST_STATE is set whether or not stages are counted.
    local
        .slot
        .activity
        .stage
        .store(u32::from(number), Ordering::Relaxed);
    if bits & effective::WEIGHED != 0 {
        let weight = running::weight(bits, STAGE);
        if weight == 0 {
            // The next counted stage does not begin where the statement did, either.
            local.edge.set(0);
        }
        if weight != 0 || local.stage.head().1 != 0 {
            enter_weighed(local, number, bits, weight, source);
        }
    } else if bits | local.stage.head().1 != 0 {
        match is_event(bits) {
            true => change_event(local, number, bits, source),
            false => change(local, number, bits),
        }
    } else {
        local.edge.set(0);
    }
}

/// Enters a stage while stages are sampled, or after they were.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn enter_weighed(local: &Local, number: u16, bits: u8, weight: u16, source: Source) {
    let (before, before_bits) = local.stage.head();
    if bits == before_bits && weight != 0 && is_plainly_timed(bits & !effective::WEIGHED) {
        let now = clock::cycles();
        let ticks = now.wrapping_sub(local.stage.start.get());
        let stood_for = local.stage_weight.replace(weight);
        if local.try_time_fast(before, 0, ticks, stood_for).is_some() {
            return local.stage.set(number, bits, now, 0);
        }
        local.stage_weight.set(stood_for);
    }
    let bits = if weight == 0 { 0 } else { bits };
    match is_event(bits) {
        true => change_event(local, number, bits, source),
        false => change(local, number, bits),
    }
    // The previous stage was ended with its own weight.
    local.stage_weight.set(weight);
}

/// Enters a stage that is not stored as an event, or none.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn change(local: &Local, number: u16, bits: u8) {
    change_as(local, number, bits, None);
}

/// Enters a stage that is stored as an event.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn change_event(local: &Local, number: u16, bits: u8, source: Source) {
    change_as(local, number, bits, Some(source));
}

/// `source_of_event`: the place where it begins, if it is stored as an event.
#[inline(always)]
fn change_as(local: &Local, number: u16, bits: u8, source_of_event: Option<Source>) {
    let (before, before_bits) = local.stage.head();
    if before_bits == 0 {
        return begin(
            local,
            number,
            bits,
            clock_at_edge(local, bits),
            source_of_event,
        );
    }
    // If setup_timers was changed between the two, each has a clock of its own.
    let same_clock = (before_bits ^ bits) & effective::OTHER_CLOCK == 0;
    let both = if same_clock {
        before_bits | bits
    } else {
        before_bits
    };
    let mut now = read_clock(local, both);
    finish(local, before, before_bits, now);
    if !same_clock {
        now = read_clock(local, bits);
    }
    begin(local, number, bits, now, source_of_event);
}

/// Ends the stage and enters no other.
#[inline]
pub fn end() {
    let Some(local) = attached() else { return };
    end_of(local, 0);
}

/// Discards the thread's stage, if the host did not report its end. `resumes`: how often the host has begun
/// again to report stages; what began before the last time ended unreported.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub fn forget_missed(resumes: u32) {
    if let Some(local) = attached()
        && local.resumes.get() != resumes
    {
        forget(local, resumes);
    }
}

#[cold]
fn forget(local: &Local, resumes: u32) {
    local.resumes.set(resumes);
    local.slot.activity.stage.store(0, Ordering::Relaxed);
    local.stage.set(0, 0, 0, 0);
}

/// Sets the progress of the stage.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn progress(completed: u64, estimated: u64) {
    let Some(local) = local() else { return };
    if local.stage.id.get() != 0 {
        local.slot.current_stage.set(at::COMPLETED, completed);
        local.slot.current_stage.set(at::ESTIMATED, estimated);
    }
}

/// Whether the thread is in a stage that reports its progress.
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn reports_progress() -> bool {
    let Some(local) = local() else { return false };
    let (class, bits) = local.stage.head();
    let properties = &local.engine.view.class(usize::from(class)).properties;
    bits != 0 && properties.load(Ordering::Relaxed) & property::PROGRESS != 0
}

/// Address of the progress, which the host writes itself: two words, work completed and estimated. They
/// are the thread's for as long as it lives. `None` if no event is recorded.
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn progress_words() -> Option<*mut u64> {
    const { assert!(at::ESTIMATED == at::COMPLETED + 1) };
    let local = local()?;
    if local.stage.id.get() == 0 {
        return None;
    }
    Some(local.slot.current_stage.address(at::COMPLETED))
}

/// Leaves the thread's stage, if it is in one, at `now` by the counter (0 = unknown).
#[inline(always)]
pub(crate) fn end_of(local: &Local, now: u64) {
    local.slot.activity.stage.store(0, Ordering::Relaxed);
    let (before, bits) = local.stage.head();
    if bits != 0 {
        end_counted(local, before, bits, now);
    }
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn end_counted(local: &Local, before: u16, bits: u8, now: u64) {
    let is_usable =
        now != 0 && bits & (effective::TIME | effective::OTHER_CLOCK) == effective::TIME;
    let now = if is_usable {
        now
    } else {
        read_clock(local, bits)
    };
    finish(local, before, bits, now);
    local.stage.set(0, 0, 0, 0);
}

#[inline(always)]
fn clock_at_edge(local: &Local, bits: u8) -> u64 {
    if bits & effective::TIME == 0 {
        return 0;
    }
    match local.statements.get() {
        // The edge is where another event ended.
        0 => local.clock(bits, EventType::Stage),
        _ => local.clock_at_edge(bits, EventType::Stage),
    }
}

#[inline(always)]
fn read_clock(local: &Local, bits: u8) -> u64 {
    if bits & effective::TIME != 0 {
        local.clock(bits, EventType::Stage)
    } else {
        0
    }
}

#[inline(always)]
fn begin(local: &Local, class: u16, bits: u8, now: u64, source_of_event: Option<Source>) {
    if bits & effective::COUNT == 0 {
        return local.stage.set(0, 0, 0, 0);
    }
    let start = if bits & effective::TIME != 0 { now } else { 0 };
    let mut id = 0;
    if let Some(source) = source_of_event {
        id = local.next_event_id();
        let (nesting, source) = (local.nesting_of_stage(), local.source(source));
        let words = words(local, id, start, class, 0, nesting, source);
        local.slot.current_stage.publish(&words);
    }
    local.stage.set(class, bits, start, id);
}

#[inline(always)]
fn finish(local: &Local, class: u16, bits: u8, now: u64) {
    match bits & (effective::OTHER_CLOCK | effective::WEIGHED) {
        0 => finish_as(local, class, bits, now, 1),
        _ => finish_other(local, class, bits, now),
    }
}

/// The same for a stage that counts as several, or that another clock times.
#[inline(never)]
fn finish_other(local: &Local, class: u16, bits: u8, now: u64) {
    let weight = match bits & effective::WEIGHED {
        0 => 1,
        _ => local.stage_weight.get(),
    };
    let bits = match bits & effective::OTHER_CLOCK {
        0 => bits,
        _ => local.bits_at_end(bits, local.stage.start.get(), now),
    };
    finish_as(local, class, bits, now, weight);
}

#[inline(always)]
fn finish_as(local: &Local, class: u16, bits: u8, now: u64, weight: u16) {
    let timed = bits & effective::TIME != 0;
    if let Some(line) = local.row(class, 0) {
        if timed {
            let ticks = local.elapsed(local.stage.start.get(), now);
            local.time_weighed(class, line, ticks, weight);
        } else {
            line.count_weighed(u32::from(weight));
        }
    }
    let id = local.stage.id.get();
    if id == 0 {
        return;
    }
    let record = &local.slot.current_stage;
    record.set(word::PACKED, local.ended(record.word(word::PACKED), id));
    let end = if timed { now } else { 0 };
    record.set(word::END, local.end_word(record, end));
    let rings = &local.rings;
    local.store_event(ring::STAGES, record, bits, rings.stages, |i| {
        &rings.long_stages[i]
    });
}
