//! Draws events of a thread: each with the same chance, and at next to no cost for those that are not drawn.

use std::cell::Cell;

use super::clock;
use super::random::Random;

/// A thread's draws. All zeroes before the first.
pub(super) struct Draws {
    /// N (bits 32-63), and how many events are skipped before the next one is drawn.
    next: Cell<u64>,
    /// State of the generator, 0 = nothing was drawn yet.
    random: Cell<u64>,
}

impl Draws {
    pub const fn new() -> Self {
        Self {
            next: Cell::new(0),
            random: Cell::new(0),
        }
    }

    /// Decides whether the present event is drawn: one in `n` is, `n` above 1.
    #[inline(always)]
    pub fn draw_next(&self, n: u32) -> bool {
        !self.try_skip(n) && self.draw(n)
    }

    /// Skips the present event, if the last draw decided so. False: nothing was done; call
    /// [`Self::draw_next`].
    #[inline(always)]
    pub fn try_skip(&self, n: u32) -> bool {
        let next = self.next.get();
        let is_skipped = (next >> 32) as u32 == n && next as u32 != 0;
        if is_skipped {
            self.next.set(next - 1);
        }
        is_skipped
    }

    /// Draws which event comes next, when the last drawn one has come or N has changed.
    #[inline(never)]
    fn draw(&self, n: u32) -> bool {
        let mut random = Random::from(match self.random.get() {
            0 => std::ptr::from_ref(self).addr() as u64 ^ clock::now(),
            state => state,
        });
        // A draw under another N does not count: draws are independent of those before.
        let has_come = (self.next.get() >> 32) as u32 == n;
        let is_now = has_come || random.gap(n) == 0;
        let gap = random.gap(n);
        self.random.set(random.state());
        self.next.set(u64::from(n) << 32 | u64::from(gap));
        is_now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_n_is_drawn_whatever_n_was_before() {
        let draws = Draws::new();
        const EVENTS: u32 = 400_000;
        let mut drawn = [0u32; 2];
        for i in 0..EVENTS {
            // N changes before most draws under 1000 have come.
            let which = (i / 50 % 2) as usize;
            drawn[which] += u32::from(draws.draw_next([16, 1000][which]));
        }
        for (drawn, n) in drawn.into_iter().zip([16.0, 1000.0]) {
            let expected = f64::from(EVENTS / 2) / n;
            // Five standard errors: each test draws again.
            let off = (f64::from(drawn) - expected).abs();
            assert!(off < 5.0 * expected.sqrt(), "{drawn} of {expected}");
        }
    }
}
