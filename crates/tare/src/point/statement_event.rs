//! Statements as events: records in events_statements_current, _history and _history_long.

use tare_layout::class::Counter;
use tare_layout::event::{Nesting, Statement as Record, statement as at, word};
use tare_layout::slot::ring;

use super::text;
use crate::engine::local::{Local, words};
use crate::source::Source;

/// Begins the event of the innermost statement. Returns its id.
#[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
pub fn begin(local: &Local, start: u64, class: u16, level: usize, source: Source) -> u64 {
    let id = local.next_event_id();
    let outer = local.nesting_of_statement();
    let nesting = match level {
        0 => outer,
        // A transaction that began in the outer statement, as a trigger's does, is the inner one.
        _ => match local.statement_ids[level - 1].get() {
            statement if statement < outer.0 => outer,
            statement => (statement, Nesting::Statement),
        },
    };
    let source = local.source(source);
    let mut words: [u64; at::COUNTERS] = words(local, id, start, class, 0, nesting, source);
    words[word::PACKED] |= (level as u64 + u64::from(local.task.get().level())) << 32;
    words[at::ERROR] = u64::from(local.schema.get()) << 32;
    words[at::TEXT_AND_PROGRAM] = u64::from(local.program.get()) << 32;
    local.rings.open_statements[level].publish_first(&words);
    id
}

/// Ends the event of a statement, and copies it to the histories that the flags name.
#[inline(always)]
pub fn end(local: &Local, record: &Record, id: u64, now: u64, bits: u8) {
    record.set(word::PACKED, local.ended(record.word(word::PACKED), id));
    record.set(word::END, local.end_word(record, now));
    let (view, events) = (&local.engine.view, local.rings.statements);
    local.store_event(ring::STATEMENTS, record, bits, events, |place| {
        let event = view.long_statement(place);
        // A reader of the old record must not read the new text.
        event.clear();
        let length = at::text_bytes(record.word(at::TEXT_AND_PROGRAM));
        let text = view.long_text(place);
        text::copy(local, record.word(at::TEXT_AT), length, text);
        let message = record.word(at::MESSAGE);
        let (from, length) = (message & ((1 << 48) - 1), (message >> 48) as usize);
        text::copy(local, from, length, view.long_message(place));
        event
    });
}

/// Counts the CPU time since a statement began, if both ends are known.
#[cold]
#[inline(never)]
pub fn count_cpu(local: &Local, level: usize, id: u64) {
    let began = local.statement_cpu[level].get();
    if began == 0 {
        return;
    }
    let now = local.cpu_of_statement();
    if now == 0 {
        return;
    }
    let (i, used) = (Counter::CpuTime as usize, now.saturating_sub(began));
    local.counted[level].change(i, |_| used);
    if id != 0 {
        local.rings.open_statements[level].set(at::COUNTERS + i, used);
    }
}
