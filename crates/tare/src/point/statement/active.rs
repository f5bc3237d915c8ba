//! Statements at the level `active`: the thread's line has the innermost one and its text, and each counts
//! in one row when it ends.
//!
//! Such a [`Statement`] has [`active::KEY`] in place of its thread's key, so that whatever else the host
//! reports about it does nothing. Its `bits` are those of the row's class.

use std::ptr;
use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::activity::{self, Activity, TRUNCATED};
use tare_layout::class::{Counter, EventType, counter_cell};
use tare_layout::control::effective;
use tare_layout::name::pack;
use tare_layout::primitive::AtomicU64;
use tare_layout::shared::Lost;
use tare_layout::slot::STATEMENT_DEPTH;

use super::Statement;
use super::running::Running;
use crate::class::Class;
use crate::engine::hot::{self, attached, local_of_statements};
use crate::engine::local::Local;
use crate::engine::settings;
use crate::engine::{active, clock};
use crate::point::active::{First, is_settled};
use crate::point::{stage, transaction};
use crate::source::Source;

/// In the bits of a statement: it has failed.
const FAILED: u8 = effective::HISTORY;
/// The bits that a statement takes over from its row's class.
pub(in crate::point) const BITS: u8 = effective::COUNT | effective::TIME | effective::OTHER_CLOCK;
/// Those of a statement that the counter times, as nearly always.
const COUNTED_BY_COUNTER: u8 = effective::COUNT | effective::TIME;

/// Whether statements that begin now are of the level `active`.
#[inline(always)]
pub(in crate::point) fn is_level(local: &Local) -> bool {
    local.bits(local.number(&active::STATEMENT)) & effective::COUNT != 0
}

/// Begins a statement of the class with this number, if the level is `active`: its bits and its level. The
/// thread's flags of that class are 0.
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub(super) fn begin(local: &Local, number: u16) -> Option<(u8, usize)> {
    let bits = local.bits(local.number(&active::STATEMENT));
    if bits & effective::COUNT == 0 {
        return None;
    }
    let level = local.statements.get();
    if level >= local.engine.statement_depth.min(STATEMENT_DEPTH) {
        local.engine.lose(Lost::NestedStatements, 1);
        return None;
    }
    if bits & effective::SAMPLED != 0 && level == 0 {
        settings::watch_for_windows(&local.engine);
    }
    let start = local.clock(bits, EventType::Statement);
    local.statement_ids[level].set(0);
    local.statement_starts[level].set(start);
    local.statements.set(level + 1);
    let line = &local.slot.activity;
    let mut new = activity::Statement {
        class: number.into(),
        began: start,
        depth: 1,
        ..activity::Statement::default()
    };
    if level != 0 {
        let outer = line.statement();
        local.outer_statements[level].set(outer);
        // Its text follows that of the outer one.
        if outer.class != 0 {
            let words = outer.text_bytes().div_ceil(8) as u32;
            new.text_at = outer.text_at + 8 * words;
            new.depth = outer.depth + 1;
        }
    }
    line.change(|line| line.set(new));
    Some((bits & BITS, level))
}

/// Begins a statement that arrived at `since`, an [`idle::now`](crate::idle::now) of any thread: for hosts
/// in which one thread serves many sessions, and one wait is the idle time of them all. A setting that was
/// changed since then applies to statements that begin later.
#[track_caller]
pub fn start_since(class: &Class, since: u64) -> Statement {
    let Some(local) = local_of_statements() else {
        return Statement::of_none();
    };
    if let Some(statement) = begin_outermost(local, class, since) {
        return statement;
    }
    local.set_idle_end(since);
    let statement = super::begin(local, class, Source::here());
    // The others have taken the edge.
    if let Some(running) = statement
        .running
        .get()
        .filter(|running| running.is_active())
    {
        let is_since = local.edge.replace(0) == since && local.idle_end.replace(0) == since;
        let by_counter = effective::TIME | effective::OTHER_CLOCK;
        if is_since && running.level == 0 && running.bits.get() & by_counter == effective::TIME {
            local.statement_starts[0].set(since);
            local.slot.activity.began.store(since, Ordering::Relaxed);
        }
    }
    statement
}

/// Begins a statement at this level, if it is the outermost one, and the counter times it, as nearly always. `None`:
/// nothing was done.
#[inline(always)]
fn begin_outermost(local: &Local, class: &Class, since: u64) -> Option<Statement> {
    let bits = local.bits(local.number(&active::STATEMENT));
    let number = local.number(class);
    if bits & BITS != COUNTED_BY_COUNTER
        || local.bits(number) & effective::COUNT != 0
        || class.kind() != Kind::Statement
        || local.statements.get() != 0
        || local.engine.statement_depth == 0
        || local.shared_start(since) == 0
    {
        return None;
    }
    if bits & effective::SAMPLED != 0 {
        settings::watch_for_windows(&local.engine);
    }
    local.edge.set(0);
    local.idle_end.set(0);
    local.statement_ids[0].set(0);
    local.statement_starts[0].set(since);
    local.statements.set(1);
    let new = activity::Statement {
        class: number.into(),
        began: since,
        depth: 1,
        ..activity::Statement::default()
    };
    local.slot.activity.change(|line| line.set(new));
    Some(Statement::of(Running::of_active(
        local,
        number,
        bits & BITS,
        0,
    )))
}

impl Running {
    /// The local, if this is the innermost statement, and began at the level `active`.
    #[inline(always)]
    fn active_local<'a>(&self) -> Option<&'a Local> {
        if self.key != active::KEY {
            return None;
        }
        attached().filter(|local| {
            ptr::eq(ptr::from_ref(*local), self.local)
                && local.statements.get() == usize::from(self.level) + 1
        })
    }

    /// Whether it began at the level `active`.
    #[inline(always)]
    pub(super) fn is_active(&self) -> bool {
        self.key == active::KEY
    }

    /// Changes its class.
    pub(super) fn refine_active_as(&self, class: &Class) {
        if let Some(local) = self.active_local() {
            self.refine_active(local.number(class));
        }
    }

    /// The same by the class's number.
    #[inline(always)]
    pub(super) fn refine_active(&self, number: u16) {
        if let Some(local) = self.active_local() {
            self.class.set(number);
            let class = &local.slot.activity.statement;
            class.store(number.into(), Ordering::Relaxed);
        }
    }

    /// Stores its text, which may be no UTF-8, as far as there is space.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub(super) fn text_active(&self, text: &[u8]) {
        let Some(local) = self.active_local() else {
            return;
        };
        let at = local.slot.activity.text_at.load(Ordering::Relaxed) as usize;
        let area = local.rings.active_text.get(at / 8..).unwrap_or(&[]);
        set_text(local, area, text);
    }

    /// Notes that it has failed.
    #[inline]
    pub(super) fn failed_active(&self) {
        if self.key == active::KEY {
            self.bits.set(self.bits.get() | FAILED);
        }
    }

    /// Ends a statement that began at the level `active`, whatever the level is now.
    #[inline(never)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub(super) fn end_active(&self) {
        let Some(local) = self.active_local() else {
            return;
        };
        let (bits, level) = (self.bits.get(), usize::from(self.level));
        let has_failed = bits & FAILED != 0;
        let now = local.clock(bits, EventType::Statement);
        // The time by the counter, for events of another level that end with the statement.
        let counter_now = match bits & effective::OTHER_CLOCK {
            0 => now,
            _ => 0,
        };
        if level == 0 {
            stage::end_of(local, counter_now);
        }
        if local.autocommit.depth.get() == level + 1 {
            transaction::end_of_statement(local, counter_now, has_failed);
        }
        if bits & effective::COUNT != 0 {
            count(
                local,
                bits,
                local.statement_starts[level].get(),
                now,
                has_failed,
            );
        }
        leave(local, level, now);
    }
}

impl Statement {
    /// Whether it began at the level `active`. Then only its text, its class and its failure matter.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[inline(always)]
    pub fn is_active(&self) -> bool {
        self.running.get().is_some_and(Running::is_active)
    }

    /// Stores its text, which may be no UTF-8, as far as there is space.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[inline(always)]
    pub fn text_active(&self, text: &[u8]) {
        if let Some(running) = self.running.get() {
            running.text_active(text);
        }
    }

    /// Notes that it has failed.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[inline]
    pub fn failed_active(&self) {
        if let Some(running) = self.running.get() {
            running.failed_active();
        }
    }

    /// Ends a statement that began at another level, as one of the level `active`: that was the level for a
    /// while, and the host has not reported all that belongs to it.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    pub fn end_as_active(mut self, has_failed: bool) {
        let Some(running) = self.running.get_mut() else {
            return;
        };
        if let Some(local) = running.local() {
            let bits = running.bits.get();
            if bits & (effective::TIME | effective::COUNT) == effective::TIME | effective::COUNT {
                let now = local.clock(bits, EventType::Statement);
                let start = local.statement_starts[usize::from(running.level)].get();
                count(local, bits, start, now, has_failed);
            }
            running.leave(local);
        }
        running.key = 0;
    }
}

/// The outermost statement of a thread at the level `active`: for a host that switches what its own points
/// call, and gives it a place. Its class, start and text are in the thread's line.
#[derive(Debug)]
pub struct Outermost(*const Activity);

impl Outermost {
    /// Begins a statement of the class with this number. `None`: nothing was done, because another one runs,
    /// or it is the thread's first in this period, or is not timed by the counter: call
    /// [`start_number_at`](super::start_number_at), and then [`note_period`](crate::active::note_period) if
    /// it [is active](Statement::is_active).
    #[inline(always)]
    pub fn begin(number: u16, period: u32) -> Option<Self> {
        let local = attached()?;
        let line = &local.slot.activity;
        let bits = local.bits(local.number(&active::STATEMENT)) & BITS;
        if bits != COUNTED_BY_COUNTER
            || local.statements.get() != 0
            || !is_settled(line, First::Statement, period)
        {
            return None;
        }
        local.statements.set(1);
        let new = activity::Statement {
            class: number.into(),
            began: clock::cycles(),
            depth: 1,
            ..activity::Statement::default()
        };
        line.change(|line| line.set(new));
        Some(Self(line))
    }

    /// Its line, if it is the thread's innermost statement.
    #[inline(always)]
    fn line(&self) -> Option<&Activity> {
        hot::activity()
            .filter(|line| ptr::eq(*line, self.0) && line.depth.load(Ordering::Relaxed) == 1)
    }

    /// The local of its thread, if it is its innermost statement.
    #[inline(always)]
    fn local<'a>(&self) -> Option<&'a Local> {
        attached()
            .filter(|local| ptr::eq(&local.slot.activity, self.0) && local.statements.get() == 1)
    }

    /// Changes its class.
    #[inline(always)]
    pub fn refine(&self, number: u16) {
        if let Some(line) = self.line() {
            line.statement.store(number.into(), Ordering::Relaxed);
        }
    }

    /// Stores its text, which may be no UTF-8, as far as there is space.
    #[inline(always)]
    pub fn text(&self, text: &[u8]) {
        if let Some(local) = self.local() {
            set_text(local, local.rings.active_text, text);
        }
    }

    /// Ends it, whatever the level is now.
    #[inline(always)]
    pub fn end(&self, has_failed: bool) {
        let Some(local) = self.local() else { return };
        let line = &local.slot.activity;
        let now = clock::cycles();
        stage::end_of(local, now);
        if local.autocommit.depth.get() == 1 {
            transaction::end_of_statement(local, now, has_failed);
        }
        let start = line.began.load(Ordering::Relaxed);
        count(local, COUNTED_BY_COUNTER, start, now, has_failed);
        leave(local, 0, now);
    }
}

/// Stores the text of the innermost statement in its part of the area.
#[inline(always)]
pub(in crate::point) fn set_text(local: &Local, area: &[AtomicU64], text: &[u8]) {
    let limit = local.rings.active_text_bytes.min(8 * area.len());
    let stored = &text[..text.len().min(limit)];
    let is_cut = u32::from(stored.len() < text.len());
    local.slot.activity.change(|line| {
        store(area, stored);
        let bytes = stored.len() as u32 | (is_cut * TRUNCATED);
        line.text_bytes.store(bytes, Ordering::Relaxed);
    });
}

/// Stores bytes in words.
#[inline(always)]
fn store(area: &[AtomicU64], bytes: &[u8]) {
    let (words, rest) = bytes.as_chunks();
    for (cell, word) in area.iter().zip(words) {
        cell.store(u64::from_le_bytes(*word), Ordering::Relaxed);
    }
    if !rest.is_empty()
        && let Some(cell) = area.get(words.len())
    {
        cell.store(pack(rest), Ordering::Relaxed);
    }
}

/// Counts a statement in the row of all of them.
#[inline(always)]
pub(in crate::point) fn count(local: &Local, bits: u8, start: u64, now: u64, has_failed: bool) {
    let class = local.number(&active::STATEMENT);
    let ticks = now.wrapping_sub(start);
    if bits & BITS == COUNTED_BY_COUNTER
        && !has_failed
        && local.try_time_fast(class, 0, ticks, 1).is_some()
    {
        return;
    }
    let Some(row) = local.complete_row(class) else {
        return;
    };
    match local.is_timed(bits, start, now) {
        true => local.time(class, &row[0], local.elapsed(start, now)),
        false => row[0].count(),
    }
    if has_failed {
        let (line, cell) = counter_cell(Counter::Errors as usize);
        row[line].add(cell, 1);
    }
}

/// The statement of this level is over.
#[inline(always)]
fn leave(local: &Local, level: usize, now: u64) {
    local.statements.set(level);
    let line = &local.slot.activity;
    if level == 0 {
        line.end(now);
        return;
    }
    let outer = local.outer_statements[level].get();
    line.change(|line| line.set(outer));
}
