//! Statements: a client's requests, from the first byte to the last.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::Ordering;

use tare_layout::class::{Counter, EventType};
use tare_layout::control::effective;
use tare_layout::event::statement as at;
use tare_layout::shared::Lost;
use tare_layout::slot::STATEMENT_DEPTH;

use super::prepared::{Prepared, Use};
use super::statement_event;
use crate::class::Class;
use crate::digest::Digest;
use crate::engine::clock;
use crate::engine::hot::{local, local_of_statements};
use crate::engine::local::{Local, is_event};
use crate::engine::settings;
use crate::payload::{IS_COMPILED_IN, Payload};
use crate::source::Source;
use tare_layout::Kind;

pub(super) mod active;
mod counters;
mod running;
mod shape;

pub(super) use counters::counter_setters;

pub use active::start_since;
use running::Running;

/// A running statement. When it is dropped, it ends, and with it the thread's stage.
#[must_use = "the statement ends when this is dropped"]
pub struct Statement {
    running: Payload<Running>,
    thread: PhantomData<*const ()>,
}

/// Begins a statement. A host that does not know its kind yet begins it with an abstract class, and
/// [refines](Statement::refine) it later.
///
/// ```
/// tare::classes! {
///     static QUERY: Statement = "statement/abstract/Query", mutable;
///     static SELECT: Statement = "statement/sql/select";
/// }
/// let statement = tare::statement::start(&QUERY);
/// statement.text("SELECT c FROM t WHERE id = 42");
/// statement.refine(&SELECT);
/// statement.rows_sent(1);
/// ```
#[inline(always)]
#[track_caller]
pub fn start(class: &Class) -> Statement {
    start_at(class, Source::here())
}

/// As [`start`], for a host that passes the place in its source, now or [later](Statement::source).
#[inline(always)]
pub fn start_at(class: &Class, source: Source) -> Statement {
    match local_of_statements() {
        Some(local) => begin(local, class, source),
        None => Statement::of_none(),
    }
}

#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
fn begin(local: &Local, class: &Class, source: Source) -> Statement {
    // Rows of other kinds have no counters: the next row would be counted into.
    let is_one = class.kind() == Kind::Statement;
    let statement = is_one.then(|| begin_number(local, local.number(class), source));
    statement.flatten().unwrap_or_else(Statement::of_none)
}

/// The same by the number ([`class_number`](crate::host_lock::class_number)) of a class of statements,
/// which is valid until Tare is stopped. Writes the statement to `place`; false: it is not recorded,
/// and nothing is written.
///
/// # Safety
/// `place` is writable.
#[cfg(feature = "door")]
#[doc(hidden)]
#[inline(always)]
pub unsafe fn start_number_at(place: *mut Statement, number: u16, source: Source) -> bool {
    let statement = local_of_statements().and_then(|local| begin_number(local, number, source));
    match statement {
        Some(statement) => {
            // SAFETY: the caller promises that `place` is writable.
            unsafe { place.write(statement) };
            true
        }
        None => false,
    }
}

#[inline(always)]
fn begin_number(local: &Local, number: u16, source: Source) -> Option<Statement> {
    let mut bits = local.bits(number);
    if bits & effective::COUNT == 0 {
        if active::is_level(local)
            && let Some((bits, level)) = active::begin(local, number)
        {
            return Some(Statement::of(Running::of_active(
                local, number, bits, level,
            )));
        }
        // The level may have ended in between.
        bits = local.bits(number);
        if bits & effective::COUNT == 0 {
            // No other event begins where an earlier one ended.
            local.edge.set(0);
            return None;
        }
    }
    let level = local.statements.get();
    if level >= local.engine.statement_depth.min(STATEMENT_DEPTH) {
        local.engine.lose(Lost::NestedStatements, 1);
        return None;
    }
    if bits & effective::SAMPLED != 0 && level == 0 {
        settings::watch_for_windows(&local.engine);
    }
    let start = if bits & effective::TIME != 0 {
        let start = local.clock_after_idle(bits, EventType::Statement);
        local.set_edge(bits, start);
        start
    } else {
        0
    };
    let id = if is_event(bits) {
        statement_event::begin(local, start, number, level, source)
    } else {
        0
    };
    local.statement_ids[level].set(id);
    local.statement_starts[level].set(start);
    if bits & effective::OTHER_CLOCK != 0 {
        local.statement_cpu[level].set(local.cpu_of_statement());
    }
    let counted = &local.counted[level];
    counted.clear();
    local.statements.set(level + 1);
    local
        .slot
        .statement_depth
        .store(level as u32 + 1, Ordering::Relaxed);
    Some(Statement::of(Running {
        key: local.key,
        id,
        local,
        counted,
        record: match id {
            0 => ptr::null(),
            _ => &local.rings.open_statements[level],
        },
        class: Cell::new(number),
        level: level as u8,
        bits: Cell::new(bits),
        digest: Cell::new(None),
        schema: Cell::new(local.schema.get()),
        prepared: Cell::new(Use::NONE),
        program: local.program.get(),
    }))
}

/// Microseconds in ticks, the unit of [`Counter::LockTime`].
#[doc(hidden)]
#[inline]
pub fn ticks_of_us(us: u64) -> u64 {
    let per_second = clock::calibrate().ticks_per_second;
    match us.checked_mul(per_second) {
        Some(product) => product / 1_000_000,
        None => (u128::from(us) * u128::from(per_second) / 1_000_000) as u64,
    }
}

/// Whether the thread has an open statement that is recorded.
#[cfg(feature = "door")]
#[doc(hidden)]
#[cfg_attr(not(feature = "instrument"), inline)]
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub fn is_open() -> bool {
    local().is_some_and(|local| local.statements.get() != 0)
}

impl Statement {
    #[inline(always)]
    fn of(running: Running) -> Self {
        Self {
            running: Payload::of(running),
            thread: PhantomData,
        }
    }

    /// One that is not recorded.
    #[inline(always)]
    fn of_none() -> Self {
        Self::of(Running::of_none())
    }

    /// What is recorded of it, and its thread's local: if the calling thread is that thread, and Tare still
    /// records into the same segment.
    #[inline(always)]
    fn recorded(&self) -> Option<(&Running, &Local)> {
        let running = self.running.get()?;
        Some((running, running.local()?))
    }

    /// Whether anything is recorded: hosts can skip work that is only for Tare.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.running.get().is_some_and(|running| running.key != 0)
    }

    /// Sets the place in the host's source where it began.
    #[inline]
    pub fn source(&self, source: Source) {
        if let Some(running) = self.running.get()
            && running.id != 0
            && let Some(local) = running.local()
            && let Some(record) = running.record(local)
        {
            local.set_source(record, source);
        }
    }

    /// Changes its class, when its kind becomes known.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn refine(&self, class: &Class) {
        let Some(running) = self.running.get() else {
            return;
        };
        if class.kind() != Kind::Statement {
            return;
        }
        match running.local() {
            Some(local) => running.refine_in(local, local.number(class)),
            None => running.refine_active_as(class),
        }
    }

    /// The same by the number of a class of statements, as in [`start_number_at`].
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[inline(always)]
    pub fn refine_number(&self, number: u16) {
        let Some(running) = self.running.get() else {
            return;
        };
        match running.local() {
            Some(local) => running.refine_in(local, number),
            None => running.refine_active(number),
        }
    }

    /// Sets its text, of which the first 1,024 bytes are stored, and computes its digest from it.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn text(&self, text: &str) {
        let Some(running) = self.running.get() else {
            return;
        };
        let Some(local) = running.local() else {
            return running.text_other(text);
        };
        running.store_text(local, text);
        if running.bits.get() & effective::DIGEST != 0 {
            let schema = running.schema.get();
            running.set_digest(local, local.digest_of_text(text, schema));
        }
    }

    /// Sets its text only; its digest is set later, or it has none.
    #[cfg_attr(feature = "instrument", inline(never))]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn text_only(&self, text: &str) {
        let Some(running) = self.running.get() else {
            return;
        };
        let Some(local) = running.local() else {
            return running.text_other(text);
        };
        running.store_text(local, text);
    }

    /// Whether it is counted, by its present class.
    #[inline]
    pub fn is_counted(&self) -> bool {
        self.has_bits(effective::COUNT)
    }

    /// Whether it gets a digest.
    #[inline]
    pub fn wants_digest(&self) -> bool {
        self.has_bits(effective::DIGEST)
    }

    #[inline(always)]
    fn has_bits(&self, bits: u8) -> bool {
        let running = self.running.get();
        running.is_some_and(|running| running.bits.get() & bits != 0)
    }

    /// Whether the table of digests was truncated since its digest was set. MySQL looks up a digest
    /// when the statement ends; a host that sets the text again then is counted in the same table.
    #[inline]
    pub fn has_lost_digest(&self) -> bool {
        let Some((running, local)) = self.recorded() else {
            return false;
        };
        let Some(digest) = running.digest.get() else {
            return false;
        };
        digest.generation != local.engine.digest_generation()
    }

    /// Sets its digest by the tokens of the host's own parser, which distinguish statements just as
    /// well as the text: the text is read only for the first of several with equal tokens. Without
    /// tokens the text is read.
    ///
    /// `verb`: the verb with which the digest begins for a prepared statement, such as `EXECUTE`.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn digest_by_tokens(&self, tokens: &[u8], verb: &str, text: &str) {
        let Some((running, local)) = self.recorded() else {
            return;
        };
        if running.bits.get() & effective::DIGEST != 0 {
            let schema = running.schema.get();
            let digest = local.digest_of_tokens(tokens, verb, text, schema);
            running.set_digest(local, digest);
        }
    }

    /// Ends it without counting it.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn discard(mut self) {
        let Some(running) = self.running.get_mut() else {
            return;
        };
        match running.local() {
            Some(local) => {
                running.leave(local);
                running.key = 0;
            }
            None => running.bits.set(0),
        }
    }

    /// Sets how long it waited for table locks.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn lock_time_us(&self, us: u64) {
        if IS_COMPILED_IN && us != 0 {
            self.set(Counter::LockTime, ticks_of_us(us));
        }
    }

    /// Sets its text and the digest that the host computed when it was prepared.
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn prepared(&self, text: &str, digest: &Digest) {
        self.prepared_with_verb("", text, digest);
    }

    /// Sets its text and its digest as [`prepared`](Self::prepared) does, for a digest of
    /// [`Digest::with_verb`].
    #[cfg_attr(not(feature = "instrument"), inline)]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn prepared_with_verb(&self, verb: &str, text: &str, digest: &Digest) {
        let Some(running) = self.running.get() else {
            return;
        };
        let Some(local) = running.local() else {
            return running.text_other(text);
        };
        running.store_text(local, text);
        if running.bits.get() & effective::DIGEST != 0 {
            let schema = running.schema.get();
            let digest = local.digest_of_prepared(digest, verb, text, schema);
            running.set_digest(local, digest);
        }
    }

    /// Removes its digest: its text is not to be read.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn remove_digest(&self) {
        let Some((running, local)) = self.recorded() else {
            return;
        };
        running.digest.set(None);
        if let Some(record) = running.record(local) {
            record.set(at::DIGEST, 0);
        }
    }

    /// The number of its class in the segment.
    #[cfg(feature = "door")]
    #[doc(hidden)]
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn class_number(&self) -> u16 {
        self.running.get().map_or(0, |running| running.class.get())
    }

    /// Sets its default schema, if that is not the thread's.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn schema(&self, name: &str) {
        let Some((running, local)) = self.recorded() else {
            return;
        };
        let number = local.engine.schema_number(name);
        running.schema.set(number);
        if let Some(record) = running.record(local) {
            let errno = record.word(at::ERROR) & 0xffff_ffff;
            record.set(at::ERROR, errno | u64::from(number) << 32);
        }
    }

    /// Records that the statement executes a prepared statement, for which it counts as well.
    #[inline]
    pub fn executes(&self, prepared: &Prepared) {
        self.uses(prepared, false);
    }

    /// Records that the statement prepares another one.
    #[cfg_attr(not(feature = "instrument"), inline)]
    pub fn prepares(&self, prepared: &Prepared) {
        self.uses(prepared, true);
    }

    #[inline]
    fn uses(&self, prepared: &Prepared, prepares: bool) {
        if let Some((running, local)) = self.recorded() {
            running.prepared.set(prepared.used(local, prepares));
        }
    }
}

impl std::fmt::Debug for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Statement");
        if let Some(running) = self.running.get() {
            debug
                .field("event_id", &running.id)
                .field("level", &running.level);
        }
        debug.finish()
    }
}
