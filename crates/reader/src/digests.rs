//! Statement digests.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tare_layout::bank::DIGEST_ENTRIES;
use tare_layout::digest::{READY, state};
use tare_layout::line::Tag;
use tare_layout::name::load_bytes;
use tare_layout::primitive::AtomicU64;
use tare_layout::{Kind, View};

use crate::histogram::Histogram;
use crate::line::{Cells, NOTHING, add, cells, shared_cells};
use crate::totals::Banks;

/// The statements of one digest under one default schema. Times are ticks.
#[derive(Clone, Debug)]
pub struct Digest {
    /// Its number; 0 = all that found the table full.
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
    pub histogram: Box<Histogram>,
    /// When it was first seen.
    pub first_seen: u64,
    /// One of its statements.
    pub sample: Sample,
}

/// A digest's sample: one of its statements in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The text, as much as was kept.
    pub text: Option<Arc<str>>,
    /// When it ended.
    pub seen: u64,
    /// What it took.
    pub wait: u64,
}

fn long_text(words: &[AtomicU64], length: u32) -> Option<Arc<str>> {
    let mut bytes = vec![0; (length as usize).min(words.len() * 8)];
    load_bytes(words, &mut bytes);
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into())
}

fn hex(hash: &[AtomicU64; 4]) -> Arc<str> {
    let mut text = String::with_capacity(64);
    for byte in hash
        .iter()
        .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
    {
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}

/// Hash and normalised text of a digest that a statement names; `None` if the table has been
/// truncated since, or it is none.
pub fn named(view: View<'_>, id: u32, generation: u32) -> Option<(Arc<str>, Option<Arc<str>>)> {
    let number = id as usize;
    if number == 0 || number >= view.geometry().limits.digests {
        return None;
    }
    let digest = view.digest(number);
    let ready = digest.state.load(Ordering::Acquire) == state(generation, READY);
    ready.then(|| {
        let length = digest.text_length.load(Ordering::Relaxed);
        (
            hex(&digest.hash),
            long_text(view.digest_text(number), length),
        )
    })
}

/// How many digests the table has now, number 0 included.
pub fn used(view: View<'_>) -> usize {
    let generation = view.control().digest_generation.load(Ordering::Acquire);
    let used = view.shared().digests_used.0.load(Ordering::Acquire);
    match (used >> 32) as u32 == generation {
        true => (used as u32 as usize).min(view.geometry().limits.digests),
        // Nothing was seen since it was truncated; what number 0 holds is of before.
        false => 0,
    }
}

/// The sample of a digest; read again while it is being replaced.
fn sample(view: View<'_>, id: usize) -> Sample {
    let digest = view.digest(id);
    for _ in 0..16 {
        let turn = digest.sample_turn.load(Ordering::Acquire);
        let length = digest.sample_length.load(Ordering::Relaxed);
        let sample = Sample {
            text: long_text(view.digest_sample(id), length),
            seen: digest.sample_seen.load(Ordering::Relaxed),
            wait: digest.sample_wait.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        if turn.is_multiple_of(2) && digest.sample_turn.load(Ordering::Relaxed) == turn {
            return sample;
        }
        std::hint::spin_loop();
    }
    Sample::default()
}

/// What the banks counted for one digest.
struct Sum {
    row: [Cells; 4],
    histogram: Box<Histogram>,
}

impl Banks<'_> {
    /// The digests seen since the table was last truncated, by number; number 0 only if anything
    /// was counted there.
    pub fn digests(&self) -> Vec<Digest> {
        let view = self.view();
        let generation = view.control().digest_generation.load(Ordering::Acquire);
        let sums = self.digest_sums(used(view), generation).into_iter();
        let listed = |(id, sum): (usize, Sum)| {
            let ready = view.digest(id).state.load(Ordering::Acquire) == state(generation, READY);
            // Number 0 is nobody's: it is there in every generation.
            (id == 0 || ready).then(|| self.digest(id, sum))
        };
        let mut digests: Vec<Digest> = sums.enumerate().filter_map(listed).collect();
        digests.retain(|digest| digest.id != 0 || digest.row[0][tare_layout::line::COUNT] != 0);
        digests
    }

    fn digest(&self, id: usize, sum: Sum) -> Digest {
        let view = self.view();
        let entry = view.digest(id);
        let Sum {
            mut row,
            mut histogram,
        } = sum;
        for (i, line) in row.iter_mut().enumerate() {
            let shared = match i {
                0 => shared_cells(&entry.shared[0]),
                _ => cells(&entry.shared[i]),
            };
            add(Kind::Statement, i, line, &shared);
        }
        for (bucket, shared) in histogram.counts.iter_mut().zip(&entry.shared_histogram) {
            *bucket = bucket.wrapping_add(shared.load(Ordering::Relaxed));
        }
        let length = entry.text_length.load(Ordering::Relaxed);
        let own = id != 0;
        Digest {
            id,
            schema: entry.schema.load(Ordering::Relaxed),
            hash: if own { hex(&entry.hash) } else { "".into() },
            text: own
                .then(|| long_text(view.digest_text(id), length))
                .flatten(),
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
        let fresh = || Sum {
            row: [NOTHING, [0; 8], [0; 8], [0; 8]],
            histogram: Box::default(),
        };
        self.unmerged(|| {
            let mut sums: Vec<Sum> = (0..used).map(|_| fresh()).collect();
            for bank in 0..self.count() {
                let arena = view.arena(bank);
                for i in 0..DIGEST_ENTRIES {
                    let entry = view.bank(bank).digests[i].load(Ordering::Acquire);
                    let (id, at) = ((entry >> 32) as usize, usize::from(entry as u16));
                    // The index keeps sixteen bits of the generation.
                    let current = (entry >> 16) as u16 == generation as u16;
                    if entry == 0 || !current || at + 4 > arena.len() {
                        continue;
                    }
                    let whole = Tag::unpack(arena[at].get(0)).is_some_and(|tag| tag.lines == 4);
                    let Some(sum) = sums.get_mut(id).filter(|_| whole) else {
                        continue;
                    };
                    for (i, line) in sum.row.iter_mut().enumerate() {
                        add(Kind::Statement, i, line, &cells(&arena[at + i]));
                    }
                    sum.histogram.add(&self.line_histogram(bank, at));
                }
            }
            sums
        })
    }
}
