//! Statement histograms as a thread counts into them.

use std::sync::atomic::{AtomicU64, Ordering};

use tare_layout::fine::{FINE_BLOCK_LINES, Seeds};
use tare_layout::primitive::increment;

use super::fine::{Place, fine_bucket};
use super::local::Local;

impl Local {
    /// Counts a statement of this duration into the histogram whose blocks the cell names; the first
    /// few into its seeds, if it has any. A bucket that wraps adds 2^32 to the shared histogram.
    #[inline]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tare_hot"))]
    pub fn count_fine<'a>(
        &self,
        blocks: &AtomicU64,
        seeds: Option<&AtomicU64>,
        place: Place,
        spill: impl FnOnce() -> &'a [AtomicU64],
    ) {
        let Place { block, within } = place;
        let at = match (blocks.load(Ordering::Relaxed) >> (16 * block)) as u16 {
            0 => match self.count_seed(blocks, seeds, place) {
                Some(at) => at,
                None => return,
            },
            at => usize::from(at),
        };
        // SAFETY: block numbers in such a cell were put there by `fine_block_of`, within the arena.
        let lines = unsafe { std::slice::from_raw_parts(self.line(at), FINE_BLOCK_LINES) };
        if increment(fine_bucket(lines, within))
            && let Some(cell) = spill().get(place.bucket())
        {
            cell.fetch_add(1 << 32, Ordering::Relaxed);
        }
    }

    /// Counts into the seeds. If they are full, returns the block to count into, created if necessary.
    #[cold]
    fn count_seed(
        &self,
        blocks: &AtomicU64,
        seeds: Option<&AtomicU64>,
        place: Place,
    ) -> Option<usize> {
        let _creation = self.begin_creation()?;
        let more = seeds.and_then(|cell| {
            let more = Seeds::from_cell(cell.load(Ordering::Relaxed)).with(place.bucket())?;
            Some((cell, more))
        });
        if let Some((cell, more)) = more {
            cell.store(more.to_cell(), Ordering::Relaxed);
            return None;
        }
        self.engine
            .fine_block_of(self.bank_number.get(), blocks, place.block)
    }
}
