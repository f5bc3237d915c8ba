//! Statement digests.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tare_layout::bank::DIGEST_ENTRIES;
use tare_layout::digest::{CUT, READY, SAMPLE_CUT, state};
use tare_layout::fine::DIGESTS;
use tare_layout::line::{COUNT, TAG, Tag};
use tare_layout::name::load_bytes;
use tare_layout::primitive::AtomicU64;
use tare_layout::{Kind, View};

use crate::fine::{Adder, Additions, SparseHistogram};
use crate::line::{Cells, EMPTY_TIME_LINE, add, cells, shared_cells};
use crate::totals::Banks;

/// The statements of one digest under one default schema. Times are ticks.
#[derive(Clone, Debug)]
pub struct Digest {
    /// Its number; 0 = all statements that found the table full.
    pub id: usize,
    /// The schema, 0 = none.
    pub schema: u32,
    /// The hash in hexadecimal digits; empty for number 0.
    pub hash: Arc<str>,
    /// The normalised text.
    pub text: Option<Arc<str>>,
    /// A statement's row: the time line, and three lines of counters.
    pub row: [Cells; 4],
    /// Its latencies.
    pub histogram: SparseHistogram,
    /// When its row was created, by its first statement.
    pub first_seen: u64,
    /// One of its statements.
    pub sample: Sample,
}

/// A digest's sample: one of its statements in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The text, as far as it is stored.
    pub text: Option<Arc<str>>,
    /// When it ended.
    pub end: u64,
    /// How long it took.
    pub wait: u64,
}

fn long_text(words: &[AtomicU64], length: u32) -> Option<Arc<str>> {
    let mut bytes = vec![0; (length as usize).min(words.len() * 8)];
    load_bytes(words, &mut bytes);
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into())
}

/// The end of a text that was cut, as in MySQL.
pub const ELLIPSIS: &str = "...";

/// Marks a text that was cut. The mark replaces its last characters, so that its length does not grow.
pub(crate) fn mark_cut(text: Arc<str>, cut: bool) -> Arc<str> {
    if !cut {
        return text;
    }
    let end = tare_layout::name::floor_boundary(&text, text.len().saturating_sub(ELLIPSIS.len()));
    format!("{}{ELLIPSIS}", &text[..end]).into()
}

/// The normalised text of a digest; if the text was cut, with the ellipsis at its end.
fn normalised(view: View<'_>, id: usize) -> Option<Arc<str>> {
    let digest = view.digest(id);
    let length = digest.text_length.load(Ordering::Relaxed);
    let text = long_text(view.digest_text(id), length)?;
    match digest.text_flags.load(Ordering::Relaxed) & CUT {
        0 => Some(text),
        _ => Some(format!("{text} {ELLIPSIS}").into()),
    }
}

fn hex(hash: &[AtomicU64; 4]) -> Arc<str> {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    // Formatting would be slow: a full table has 320,000 of these bytes.
    let digits = |byte: u8| [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
    let words = hash.iter().map(|word| word.load(Ordering::Relaxed));
    let text: String = words.flat_map(u64::to_le_bytes).flat_map(digits).collect();
    text.into()
}

/// Hash and normalised text of a digest that a statement names; `None` if its number belongs to another
/// digest now, or it is none.
pub fn hash_and_text(
    view: View<'_>,
    id: u32,
    incarnation: u32,
) -> Option<(Arc<str>, Option<Arc<str>>)> {
    let number = id as usize;
    if number == 0 || number >= view.geometry().limits.digests {
        return None;
    }
    let digest = view.digest(number);
    let ready = digest.state.load(Ordering::Acquire) == state(incarnation, READY);
    ready.then(|| (hex(&digest.hash), normalised(view, number)))
}

/// The number of digests in the table, including number 0.
pub fn used(view: View<'_>) -> usize {
    let generation = view.control().digest_generation.load(Ordering::Acquire);
    let used = view.shared().digests_used.0.load(Ordering::Acquire);
    match (used >> 32) as u32 == generation {
        true => (used as u32 as usize).min(view.geometry().limits.digests),
        // No statement ended since the table was truncated; number 0 is of before.
        false => 0,
    }
}

/// The sample of a digest; read again while it is being replaced.
fn sample(view: View<'_>, id: usize) -> Sample {
    let digest = view.digest(id);
    for _ in 0..16 {
        let sequence = digest.sample_sequence.load(Ordering::Acquire);
        let length = digest.sample_length.load(Ordering::Relaxed);
        let cut = length & SAMPLE_CUT != 0;
        let text = long_text(view.digest_sample(id), length & !SAMPLE_CUT);
        let sample = Sample {
            text: text.map(|text| mark_cut(text, cut)),
            end: digest.sample_end.load(Ordering::Relaxed),
            wait: digest.sample_wait.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        if sequence.is_multiple_of(2) && digest.sample_sequence.load(Ordering::Relaxed) == sequence
        {
            return sample;
        }
        std::hint::spin_loop();
    }
    Sample::default()
}

/// What the banks counted for one digest.
struct Sum {
    row: [Cells; 4],
    histogram: Additions,
}

/// How often a reader tries while a digest is evicted before it reads all the same. An eviction takes some
/// microseconds; a writer that was killed in one leaves the sequence odd for ever.
const MAX_EVICTION_READS: usize = 1000;

impl Banks<'_> {
    /// The digests since the table was last truncated, by number; number 0 only if it has counted something.
    pub fn digests(&self) -> Vec<Digest> {
        let view = self.view();
        let generation = view.control().digest_generation.load(Ordering::Acquire);
        let read = || {
            let sums = self.digest_sums(used(view), generation).into_iter();
            let mut adder = Adder::new();
            let listed = |(id, sum): (usize, Sum)| {
                let entry = view.digest(id);
                let ready = entry.state.load(Ordering::Acquire) as u32 == READY as u32
                    && entry.generation.load(Ordering::Relaxed) == generation;
                // Number 0 exists in every generation.
                (id == 0 || ready).then(|| self.digest(id, sum, &mut adder))
            };
            let mut digests: Vec<Digest> = sums.enumerate().filter_map(listed).collect();
            // A digest whose first statement still runs has counted nothing.
            digests.retain(|digest| digest.row[0][COUNT] != 0);
            digests
        };
        let sequence = &view.shared().digest_sequence.0;
        for _ in 0..MAX_EVICTION_READS {
            let before = sequence.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let digests = read();
                fence(Ordering::Acquire);
                if sequence.load(Ordering::Relaxed) == before {
                    return digests;
                }
            }
            std::thread::yield_now();
        }
        read()
    }

    fn digest(&self, id: usize, sum: Sum, adder: &mut Adder) -> Digest {
        let view = self.view();
        let entry = view.digest(id);
        let Sum { mut row, histogram } = sum;
        for (i, line) in row.iter_mut().enumerate() {
            let shared = match i {
                0 => shared_cells(&entry.shared[0]),
                _ => cells(&entry.shared[i]),
            };
            add(Kind::Statement, i, line, &shared);
        }
        // If nothing was counted, the pages may not be allocated yet. (A row that wraps spills there, too.)
        let is_shared = entry.shared[0].get(COUNT) != 0 || row[0][COUNT] >> 32 != 0;
        let (mut shared, mut truncated): (&[_], &[_]) = (&[], &[]);
        if is_shared {
            shared = view.digest_histogram(id);
            if self.fine_truncated(DIGESTS) {
                truncated = view.digest_histogram_truncated(id);
            }
        }
        let histogram = adder.sum(&histogram, shared, truncated);
        let own = id != 0;
        Digest {
            id,
            schema: entry.schema.load(Ordering::Relaxed),
            hash: if own { hex(&entry.hash) } else { "".into() },
            text: own.then(|| normalised(view, id)).flatten(),
            row,
            histogram,
            first_seen: entry.first_seen.load(Ordering::Relaxed),
            sample: if own {
                sample(view, id)
            } else {
                Sample::default()
            },
        }
    }

    /// Sums of the threads' own rows, by number.
    fn digest_sums(&self, used: usize, generation: u32) -> Vec<Sum> {
        let view = self.view();
        let limit = view.geometry().limits.digests;
        let fresh = || Sum {
            row: [EMPTY_TIME_LINE, [0; 8], [0; 8], [0; 8]],
            histogram: Additions::default(),
        };
        self.unmerged(|| {
            let mut sums: Vec<Sum> = (0..used).map(|_| fresh()).collect();
            for bank in 0..self.count() {
                let arena = view.arena(bank);
                for i in 0..DIGEST_ENTRIES {
                    let entry = view.bank(bank).digests[i].load(Ordering::Acquire);
                    let (id, at) = ((entry >> 32) as usize, usize::from(entry as u16));
                    if entry == 0 || at + 4 > arena.len() {
                        continue;
                    }
                    let is_complete =
                        Tag::unpack(arena[at].get(TAG)).is_some_and(|tag| tag.lines == 4);
                    // A row of an older generation is ignored.
                    if !is_complete || arena[at + 1].get(TAG) != u64::from(generation) {
                        continue;
                    }
                    // The counts of an evicted digest belong to number 0.
                    let lives = (id < limit).then(|| view.digest(id).state.load(Ordering::Acquire));
                    let lives = lives.is_some_and(|state| {
                        state as u32 == READY as u32 && (state >> 32) as u16 == (entry >> 16) as u16
                    });
                    let Some(sum) = sums.get_mut(if lives { id } else { 0 }) else {
                        continue;
                    };
                    for (i, line) in sum.row.iter_mut().enumerate() {
                        add(Kind::Statement, i, line, &cells(&arena[at + i]));
                    }
                    self.add_fine_of_digest(bank, at, &mut sum.histogram);
                }
            }
            sums
        })
    }
}
