//! Variances of estimates, from the two windows of each stratum. See docs/sampling.md, "Standard
//! errors".

/// The weight of a stratum when the next one ends: some hundred of them are remembered.
const DECAY: f64 = 0.99;

/// Estimates the variance of a stratum's total from the gains of its windows, weights included (Horvitz
/// and Thompson 1952). Two of 2 `smallest` slots are windows, and in each a group is observed with the
/// chance `smallest` / `n`; so a slot is observed with the chance 1/n, and two of them with smallest /
/// (n² (2 smallest - 1)).
pub(super) fn variance(n: u32, smallest: u32, [first, second]: [f64; 2]) -> f64 {
    let left_out = |n: u32| 1.0 - 1.0 / f64::from(n);
    let squares = first * first + second * second;
    (left_out(n) * squares - 2.0 * left_out(smallest) * first * second).max(0.0)
}

/// Recent gains of classes per statement in windows.
#[derive(Default)]
pub(super) struct Shares {
    /// By class: count and sum.
    gained: Vec<[f64; 2]>,
    statements: f64,
}

impl Shares {
    /// Ends a stratum. `ended`: statements in its windows, times N.
    pub fn begin(&mut self, classes: usize, ended: [f64; 2]) {
        self.gained.resize(classes, [0.0; 2]);
        self.gained
            .iter_mut()
            .flatten()
            .for_each(|gained| *gained *= DECAY);
        self.statements = self.statements * DECAY + ended[0] + ended[1];
    }

    /// The class's gains of count and sum per statement, including those in the stratum's windows.
    pub fn of_statement(&mut self, class: usize, counts: [f64; 2], sums: [f64; 2]) -> [f64; 2] {
        let gained = &mut self.gained[class];
        gained[0] += counts[0] + counts[1];
        gained[1] += sums[0] + sums[1];
        match self.statements >= 1.0 {
            true => gained.map(|gained| gained / self.statements),
            false => [0.0; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean over all possible draws equals the variance.
    #[test]
    fn the_variance_is_estimated_without_bias() {
        let slots = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0];
        let total: f64 = slots.iter().sum();
        let (smallest, n) = (3, 3);
        let weight = f64::from(n);
        let (mut errors, mut estimates, mut draws) = (0.0, 0.0, 0.0);
        for i in 0..slots.len() {
            for j in 0..i {
                let (first, second) = (weight * slots[i], weight * slots[j]);
                errors += (first + second - total).powi(2);
                estimates += variance(n, smallest, [first, second]);
                draws += 1.0;
            }
        }
        assert!(
            ((errors - estimates) / draws).abs() < 1e-9,
            "{errors} {estimates}"
        );
    }

    #[test]
    fn the_variance_is_unbiased_for_types_observed_in_some_windows() {
        let slots = [3.0, 1.0, 4.0, 1.0];
        let total: f64 = slots.iter().sum();
        let (smallest, n) = (2, 6);
        let (weight, chance) = (f64::from(n), f64::from(smallest) / f64::from(n));
        let (mut errors, mut estimates) = (0.0, 0.0);
        for i in 0..slots.len() {
            for j in 0..i {
                for is_in in [[true, true], [true, false], [false, true], [false, false]] {
                    let chances = is_in.map(|is_in| if is_in { chance } else { 1.0 - chance });
                    let p = chances[0] * chances[1] / 6.0;
                    let gained =
                        |is_in: bool, slot: usize| if is_in { weight * slots[slot] } else { 0.0 };
                    let (first, second) = (gained(is_in[0], i), gained(is_in[1], j));
                    errors += p * (first + second - total).powi(2);
                    estimates += p * variance(n, smallest, [first, second]);
                }
            }
        }
        assert!((errors - estimates).abs() < 1e-9, "{errors} {estimates}");
    }
}
