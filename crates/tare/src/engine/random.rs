//! Random numbers: quick ones, for what is drawn.

/// SplitMix64 (Steele, Lea and Flood 2014): its state is a counter, and any state is a good one.
#[derive(Clone, Copy)]
pub(super) struct Random(u64);

impl From<u64> for Random {
    fn from(state: u64) -> Self {
        Self(state)
    }
}

impl Random {
    /// What it is made from again.
    pub fn state(self) -> u64 {
        self.0
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// At least 0, below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// How many are left out before one is drawn, where each is by the chance 1/`n`; `n` is above 1.
    pub fn gap(&mut self, n: u32) -> u32 {
        // Above 0, at most 1, in steps of 2^-53.
        let uniform = ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (uniform.ln() / (-1.0 / f64::from(n)).ln_1p()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_as_long_as_chance_makes_them() {
        let mut random = Random::from(7);
        for n in [2u32, 16, 1000] {
            const DRAWS: u32 = 100_000;
            let gaps: Vec<u32> = (0..DRAWS).map(|_| random.gap(n)).collect();
            let mean = gaps.iter().map(|gap| f64::from(*gap)).sum::<f64>() / f64::from(DRAWS);
            let expected = f64::from(n - 1);
            // Standard deviation of a gap: sqrt(n (n - 1)). Four standard errors.
            let error = (f64::from(n) * expected / f64::from(DRAWS)).sqrt();
            assert!((mean - expected).abs() < 4.0 * error, "{n}: {mean}");
            let none = gaps.iter().filter(|gap| **gap == 0).count() as f64 / f64::from(DRAWS);
            let p = 1.0 / f64::from(n);
            let error = (p * (1.0 - p) / f64::from(DRAWS)).sqrt();
            assert!((none - p).abs() < 4.0 * error, "{n}: {none}");
        }
    }
}
