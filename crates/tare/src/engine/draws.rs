//! Which events of a thread are drawn, where each is by the same chance and the others are to cost next to nothing.

use std::cell::Cell;

use super::clock;
use super::random::Random;

/// A thread's draws. All zeroes before the first.
pub(super) struct Draws {
    /// N (bits 32-63), and how many events are left out before the next one is drawn.
    next: Cell<u64>,
    /// What is drawn from, 0 = nothing was drawn, yet.
    random: Cell<u64>,
}

impl Draws {
    pub const fn new() -> Self {
        Self {
            next: Cell::new(0),
            random: Cell::new(0),
        }
    }

    /// Whether the event that comes now is drawn, of which one in `n` is, `n` above 1.
    #[inline(always)]
    pub fn is_drawn(&self, n: u32) -> bool {
        !self.is_left_out(n) && self.draw(n)
    }

    /// Whether the event that comes now was left out when one was drawn last. False: nothing is known of it, and nothing
    /// was done; [`Self::is_drawn`] is to be asked.
    #[inline(always)]
    pub fn is_left_out(&self, n: u32) -> bool {
        let next = self.next.get();
        let is_left_out = (next >> 32) as u32 == n && next as u32 != 0;
        if is_left_out {
            self.next.set(next - 1);
        }
        is_left_out
    }

    /// Draws the next one, when this one has come or N has changed.
    #[inline(never)]
    fn draw(&self, n: u32) -> bool {
        let mut random = Random::from(match self.random.get() {
            0 => std::ptr::from_ref(self).addr() as u64 ^ clock::now(),
            state => state,
        });
        // What was drawn under another N says nothing: whether one is drawn does not depend on those before.
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
            // It changes before most of what was drawn under 1000 has come.
            let which = (i / 50 % 2) as usize;
            drawn[which] += u32::from(draws.is_drawn([16, 1000][which]));
        }
        for (drawn, n) in drawn.into_iter().zip([16.0, 1000.0]) {
            let expected = f64::from(EVENTS / 2) / n;
            // Five standard errors: each test draws anew.
            let off = (f64::from(drawn) - expected).abs();
            assert!(off < 5.0 * expected.sqrt(), "{drawn} of {expected}");
        }
    }
}
