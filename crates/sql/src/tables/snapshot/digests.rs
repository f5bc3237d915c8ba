//! Statement digests.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use tare_layout::Kind;
use tare_layout::bank::DIGEST_ENTRIES;
use tare_layout::digest::{READY, state};
use tare_layout::line::{EXTRA, MAX, Tag};
use tare_layout::name::load_bytes;
use tare_layout::primitive::AtomicU64;

use tare_reader::Histogram;
use tare_reader::line::{Cells, NOTHING, add, cells, shared_cells};

use super::host::Host;
use super::summaries::statement_sums;
use super::{Made, Snapshot, none, rows};
use crate::tables::performance_schema::digests::Digest;

/// A digest's sums and histogram.
struct Sum {
    row: [Cells; 4],
    histogram: Box<Histogram>,
}

impl Sum {
    fn new() -> Self {
        let mut row = [[0; 8]; 4];
        row[0] = NOTHING;
        Sum {
            row,
            histogram: Box::default(),
        }
    }
}

/// Text of the segment, with its length held to what is there.
fn long_text(words: &[AtomicU64], length: u32) -> Option<Arc<str>> {
    let mut bytes = vec![0; (length as usize).min(words.len() * 8)];
    load_bytes(words, &mut bytes);
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into())
}

fn hex(hash: &[AtomicU64; 4]) -> Arc<str> {
    use std::fmt::Write;
    let mut text = String::with_capacity(64);
    for byte in hash
        .iter()
        .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
    {
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}

impl Host {
    fn generation(&self) -> u32 {
        self.view()
            .control()
            .digest_generation
            .load(Ordering::Acquire)
    }

    /// How many digests this generation has, number 0 included.
    pub(super) fn digests_used(&self) -> usize {
        let view = self.view();
        let used = view.shared().digests_used.0.load(Ordering::Acquire);
        match (used >> 32) as u32 == self.generation() {
            true => self.used(used as u32, view.geometry().limits.digests),
            // Nothing was seen since the table was truncated.
            false => 1,
        }
    }

    fn is_ready(&self, id: usize) -> bool {
        let known = self.view().digest(id).state.load(Ordering::Acquire);
        known == state(self.generation(), READY)
    }

    /// Sums of the threads' own rows, by digest.
    fn sum_digests(&self, used: usize) -> Vec<Sum> {
        self.banks().unmerged(|| {
            let (view, generation) = (self.view(), self.generation() as u16);
            let mut sums: Vec<Sum> = (0..used).map(|_| Sum::new()).collect();
            for number in 0..self.banks_used() {
                let arena = view.arena(number);
                for i in 0..DIGEST_ENTRIES {
                    let entry = view.bank(number).digests[i].load(Ordering::Acquire);
                    let (id, at) = ((entry >> 32) as usize, usize::from(entry as u16));
                    if entry == 0 || (entry >> 16) as u16 != generation || at + 4 > arena.len() {
                        continue;
                    }
                    let tagged = Tag::unpack(arena[at].get(0)).is_some_and(|tag| tag.lines == 4);
                    let Some(sum) = sums.get_mut(id).filter(|_| tagged) else {
                        continue;
                    };
                    for (i, line) in sum.row.iter_mut().enumerate() {
                        add(Kind::Statement, i, line, &cells(&arena[at + i]));
                    }
                    sum.histogram.add(&self.banks().line_histogram(number, at));
                }
            }
            sums
        })
    }

    /// The sample's text, when and how long; read again while it is being replaced.
    fn sample(&self, id: usize) -> (Option<Arc<str>>, u64, u64) {
        let digest = self.view().digest(id);
        for _ in 0..16 {
            let turn = digest.sample_turn.load(Ordering::Acquire);
            let length = digest.sample_length.load(Ordering::Relaxed);
            let text = long_text(self.view().digest_sample(id), length);
            let seen = digest.sample_seen.load(Ordering::Relaxed);
            let wait = digest.sample_wait.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            if turn % 2 == 0 && digest.sample_turn.load(Ordering::Relaxed) == turn {
                return (text, seen, wait);
            }
            std::hint::spin_loop();
        }
        (None, 0, 0)
    }

    fn digest_row(&self, id: usize, mut sum: Sum, schema: Option<Arc<str>>) -> Digest {
        let (view, clock) = (self.view(), &self.clock);
        let digest = view.digest(id);
        for (i, line) in sum.row.iter_mut().enumerate() {
            let shared = match i {
                0 => shared_cells(&digest.shared[0]),
                _ => cells(&digest.shared[i]),
            };
            add(Kind::Statement, i, line, &shared);
        }
        for (bucket, shared) in sum
            .histogram
            .counts
            .iter_mut()
            .zip(&digest.shared_histogram)
        {
            *bucket = bucket.wrapping_add(shared.load(Ordering::Relaxed));
        }
        let first = digest.first_seen.load(Ordering::Relaxed);
        let last = sum.row[0][EXTRA].max(first);
        let moment = |ticks: u64| if ticks == 0 { 0 } else { self.unix_us(ticks) };
        let at = |share| {
            sum.histogram
                .quantile(share)
                .map_or(0, |t| clock.ps(t.min(sum.row[0][MAX])))
        };
        let (sample_text, seen, wait) = self.sample(id);
        let text_length = digest.text_length.load(Ordering::Relaxed);
        Digest {
            schema,
            digest: (id != 0).then(|| hex(&digest.hash)),
            text: (id != 0)
                .then(|| long_text(view.digest_text(id), text_length))
                .flatten(),
            sums: statement_sums(clock, Kind::Statement, &sum.row),
            first_seen_us: moment(first),
            last_seen_us: moment(last),
            quantiles: [at(0.95), at(0.99), at(0.999)],
            sample_text,
            sample_seen_us: moment(seen),
            sample_timer_wait: clock.ps(wait),
        }
    }
}

impl Snapshot {
    /// DIGEST and DIGEST_TEXT of a statement's record.
    pub(super) fn digest_of(&self, host: &Host, word: u64) -> (Option<Arc<str>>, Option<Arc<str>>) {
        let (id, generation) = (word as u32 as usize, (word >> 32) as u32);
        let view = host.view();
        if id == 0 || id >= view.geometry().limits.digests {
            return (None, None);
        }
        let digest = view.digest(id);
        if digest.state.load(Ordering::Acquire) != state(generation, READY) {
            return (None, None);
        }
        let length = digest.text_length.load(Ordering::Relaxed);
        (
            Some(hex(&digest.hash)),
            long_text(view.digest_text(id), length),
        )
    }

    /// events_statements_summary_by_digest.
    pub fn digests(&self) -> Made<Digest> {
        let Some(host) = &self.host else {
            return none();
        };
        let all = self.digests.get_or_init(|| {
            let used = host.digests_used();
            let names = self.names(host);
            let row = |(id, sum): (usize, Sum)| {
                // "All else" is a row once something was counted there.
                let listed = if id == 0 { true } else { host.is_ready(id) };
                let schema = host.view().digest(id).schema.load(Ordering::Relaxed);
                let row = listed.then(|| host.digest_row(id, sum, names.schema(schema)))?;
                (id != 0 || row.sums.stat.count != 0).then_some(row)
            };
            let sums = host.sum_digests(used).into_iter().enumerate();
            Arc::new(sums.filter_map(row).collect())
        });
        rows(all, Clone::clone, |_| true)
    }
}
