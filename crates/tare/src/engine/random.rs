//! Fast random numbers, for sampling.

/// SplitMix64 (Steele, Lea and Flood 2014): its state is a counter, and any state is a good one.
#[derive(Clone, Copy)]
pub(super) struct Random(u64);

impl From<u64> for Random {
    fn from(state: u64) -> Self {
        Self(state)
    }
}

impl Random {
    /// The state, from which it can be created again.
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

    /// The number of events to skip before one is drawn, each with the chance 1/`n`; `n` is above 1.
    pub fn gap(&mut self, n: u32) -> u32 {
        // Above 0, at most 1, in steps of 2^-53.
        let uniform = ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (ln(uniform) / ln(1.0 - 1.0 / f64::from(n))) as u32
    }
}

/// The natural logarithm of a normal number above 0, to eight digits. A call of the C library would
/// bring pages of its code into the caches that the host does not use otherwise.
fn ln(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    const HALF: u64 = 1022 << 52;
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 - 1022;
    // From 0.5 on, below 1; then from 0.707 on, below 1.414.
    let half_to_one = f64::from_bits(bits & !EXPONENT | HALF);
    let (m, exponent) = match half_to_one < std::f64::consts::FRAC_1_SQRT_2 {
        true => (2.0 * half_to_one, exponent - 1),
        false => (half_to_one, exponent),
    };
    // ln m = 2 artanh z, whose series ends here: z is below 0.172.
    let z = (m - 1.0) / (m + 1.0);
    let square = z * z;
    let series = 1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square / 9.0));
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * z * (1.0 + square * series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_library() {
        let mut random = Random::from(1);
        for i in 0..100_000 {
            let x = match i {
                0 => 1.0,
                1 => 0.5,
                2 => 1.0 / (1u64 << 53) as f64,
                _ => (random.next() >> 11).max(1) as f64 / (1u64 << 53) as f64,
            };
            let off = (ln(x) - x.ln()).abs();
            assert!(
                off <= 1e-8 * x.ln().abs() + 1e-12,
                "{x}: {} {}",
                ln(x),
                x.ln()
            );
        }
    }

    #[test]
    fn gaps_have_the_mean_length_of_the_chance() {
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
