//! Seconds that threads spent in something, with a standard error, from samples at random moments.
//!
//! A moment represents some seconds, `w`. Of a category, for instance a wait, `x` threads were in it at the
//! moment. The estimate of the time in the category is the sum of `w x`. docs/active-internals.md derives its standard
//! error.

use std::collections::HashMap;
use std::hash::Hash;

/// An estimate of time. The true value is within two standard errors in about 95 % of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The number of samples: threads in the category, of all moments.
    pub samples: u64,
    /// The time in the category, in seconds. A share of it, if the estimate is one of a share.
    pub value: f64,
    /// The standard error of `value`, in the same unit.
    pub standard_error: f64,
}

/// Samples of one period, by category.
#[derive(Clone, Debug)]
pub struct Moments<K> {
    /// The time of each moment, and the seconds that it represents.
    moments: Vec<(f64, f64)>,
    /// Moments at which threads were in a category, and how many.
    categories: HashMap<K, Vec<(usize, u32)>>,
}

impl<K> Default for Moments<K> {
    fn default() -> Self {
        Self {
            moments: Vec::new(),
            categories: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash> Moments<K> {
    /// Begins a moment at a time, in seconds since any one, which represents so many seconds. Moments come in
    /// the order of time.
    pub fn begin(&mut self, at: f64, seconds: f64) {
        self.moments.push((at, seconds));
    }

    /// Adds a thread that was in this category at the last moment that began.
    pub fn add(&mut self, category: K) {
        let Some(now) = self.moments.len().checked_sub(1) else {
            return;
        };
        let counts = self.categories.entry(category).or_default();
        match counts.last_mut() {
            Some((moment, count)) if *moment == now => *count += 1,
            _ => counts.push((now, 1)),
        }
    }

    /// The seconds that all moments represent.
    pub fn seconds(&self) -> f64 {
        self.moments.iter().map(|(_, seconds)| seconds).sum()
    }

    /// The time in each category that was sampled, in seconds.
    pub fn estimates(&self) -> impl Iterator<Item = (&K, Estimate)> {
        let design = Design::new(&self.moments);
        self.categories.iter().map(move |(category, counts)| {
            let error = design.error(changes(counts, self.moments.len()));
            (category, self.estimate(counts, error))
        })
    }

    /// The share that each category has of the time in all of them. A thread is in one category at a moment.
    pub fn shares(&self) -> impl Iterator<Item = (&K, Estimate)> {
        let design = Design::new(&self.moments);
        let mut all = vec![0.0; self.moments.len()];
        for (moment, count) in self.categories.values().flatten() {
            all[*moment] += f64::from(*count);
        }
        let time: f64 = (all.iter().zip(&self.moments))
            .map(|(x, (_, w))| x * w)
            .sum();
        self.categories.iter().map(move |(category, counts)| {
            let mut share = self.estimate(counts, 0.0);
            share.value /= time;
            // The error of a ratio is that of what is left when the share of all is subtracted.
            let mut rest: Vec<f64> = all.iter().map(|all| -share.value * all).collect();
            for (moment, count) in counts {
                rest[*moment] += f64::from(*count);
            }
            let steps = rest.windows(2).zip(1..);
            share.standard_error = design.error(steps.map(|(x, at)| (at, x[1] - x[0]))) / time;
            (category, share)
        })
    }

    fn estimate(&self, counts: &[(usize, u32)], standard_error: f64) -> Estimate {
        let time = |(moment, count): &(usize, u32)| self.moments[*moment].1 * f64::from(*count);
        Estimate {
            samples: counts.iter().map(|(_, count)| u64::from(*count)).sum(),
            value: counts.iter().map(time).sum(),
            standard_error,
        }
    }
}

/// By how much a count changed from each moment to the next, where it did: the later moment and the change.
fn changes(counts: &[(usize, u32)], moments: usize) -> impl Iterator<Item = (usize, f64)> {
    let next = move |at: usize| counts.get(at).map_or(moments, |(moment, _)| *moment);
    counts
        .iter()
        .enumerate()
        .flat_map(move |(at, &(moment, count))| {
            let before = match at.checked_sub(1).map(|before| counts[before]) {
                Some((last, count)) if last + 1 == moment => f64::from(count),
                _ => 0.0,
            };
            let up = (moment > 0).then(|| (moment, f64::from(count) - before));
            let down = (next(at + 1) > moment + 1 && moment + 1 < moments)
                .then(|| (moment + 1, -f64::from(count)));
            up.into_iter().chain(down)
        })
}

/// The fewest moments between which a count changed that show how the change depends on the time between them.
const MIN_CHANGES: f64 = 20.0;

/// What the error of all categories depends on.
struct Design {
    /// The time from each moment to the next.
    gaps: Vec<f64>,
    mean: f64,
    /// The sum of the squares of the gaps' distances from the mean.
    spread: f64,
    /// What the constant part of the variogram is multiplied by to get the variance of the sum, and what its
    /// slope is.
    constant: f64,
    slope: f64,
}

impl Design {
    fn new(moments: &[(f64, f64)]) -> Self {
        let pairs = moments.windows(2);
        let gaps: Vec<f64> = pairs.map(|pair| pair[1].0 - pair[0].0).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let all: f64 = moments.iter().map(|(_, seconds)| seconds).sum();
        // By how much the time is ahead of what moments represented: its integral, and that of its square.
        let mut ahead = 0.0;
        let (mut integral, mut of_square) = (0.0, 0.0);
        for (gap, (_, seconds)) in gaps.iter().zip(moments) {
            ahead -= seconds;
            let then = ahead + gap;
            integral += (then.powi(2) - ahead.powi(2)) / 2.0;
            of_square += (then.powi(3) - ahead.powi(3)) / 3.0;
            ahead = then;
        }
        let between = mean * gaps.len() as f64;
        let about_mean = of_square - integral.powi(2) / between;
        Self {
            spread: gaps.iter().map(|gap| (gap - mean).powi(2)).sum(),
            constant: moments.iter().map(|(_, seconds)| seconds * seconds).sum(),
            slope: 2.0 * about_mean * all / between,
            gaps,
            mean,
        }
    }

    /// The standard error of the time in a category whose count changed like this.
    fn error(&self, changes: impl Iterator<Item = (usize, f64)>) -> f64 {
        let (mut number, mut sum, mut by_gap) = (0.0, 0.0, 0.0);
        for (at, change) in changes.filter(|(_, change)| *change != 0.0) {
            let half_square = change * change / 2.0;
            number += 1.0;
            sum += half_square;
            by_gap += half_square * (self.gaps[at - 1] - self.mean);
        }
        if number == 0.0 {
            return 0.0;
        }
        // The variogram is the line of least squares through the half squares.
        let average = sum / self.gaps.len() as f64;
        let slope = match number < MIN_CHANGES || self.spread == 0.0 {
            true => 0.0,
            // Its constant part is not negative.
            false => (by_gap / self.spread).min(average / self.mean),
        };
        let constant = average - slope * self.mean;
        let variance = constant * self.constant + slope * self.slope;
        variance.max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(of: &Moments<&str>, category: &str) -> Estimate {
        let mut all = of.estimates();
        all.find(|(name, _)| **name == category).expect("sampled").1
    }

    #[test]
    fn a_sum_has_the_seconds_of_its_moments() {
        let mut moments = Moments::default();
        moments.add("before any moment");
        for (at, seconds, categories) in [
            (0.5, 0.5, vec!["a", "a", "b"]),
            (0.75, 0.25, vec![]),
            (0.875, 0.125, vec!["a"]),
            (1.0, 0.125, vec!["b", "a"]),
        ] {
            moments.begin(at, seconds);
            categories.into_iter().for_each(|name| moments.add(name));
        }
        assert_eq!(moments.seconds(), 1.0);
        assert_eq!(moments.estimates().count(), 2);
        let (a, b) = (estimate(&moments, "a"), estimate(&moments, "b"));
        assert_eq!((a.samples, a.value), (4, 1.25));
        assert_eq!((b.samples, b.value), (2, 0.625));
        // The changes of a are -2, 1, 0, those of b -1, 0, 1.
        let squares = 0.5_f64.powi(2) + 0.25_f64.powi(2) + 2.0 * 0.125_f64.powi(2);
        let error = |half_squares: f64| (half_squares / 3.0 * squares).sqrt();
        assert!((a.standard_error - error(2.5)).abs() < 1e-12, "{a:?}");
        assert!((b.standard_error - error(1.0)).abs() < 1e-12, "{b:?}");
        let shares: f64 = moments.shares().map(|(_, share)| share.value).sum();
        assert!((shares - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_never_changes_has_no_error() {
        let mut moments = Moments::default();
        for at in 0..100 {
            moments.begin(f64::from(at) / 10.0, 0.1);
            moments.add("one");
            moments.add("one");
        }
        let one = estimate(&moments, "one");
        assert_eq!((one.samples, one.standard_error), (200, 0.0));
        assert!((one.value - 20.0).abs() < 1e-9);
        let share = moments.shares().next().expect("one").1;
        assert_eq!((share.value, share.standard_error), (1.0, 0.0));
        let none = Moments::<u8>::default();
        assert_eq!((none.estimates().count(), none.shares().count()), (0, 0));
    }

    /// A thread that alternates between being in a category and not, for random times.
    struct Process {
        /// The mean time in it and out of it, and a second pair, which it uses in some turns.
        dwell: [[f64; 2]; 2],
        /// The share of turns with the second pair.
        second: f64,
        /// Whether times are exponential; otherwise they are the means.
        is_random: bool,
    }

    impl Process {
        /// The times at which it enters or leaves, up to `end`. It is out before the first one.
        fn changes(&self, end: f64, random: &mut fastrand::Rng) -> Vec<f64> {
            let (mut at, mut changes) = (-10.0 * random.f64(), Vec::new());
            let mut pair = 0;
            while at < end {
                if changes.len() % 2 == 0 {
                    pair = usize::from(random.f64() < self.second);
                }
                let mean = self.dwell[pair][(changes.len() + 1) % 2];
                at += match self.is_random {
                    true => -mean * (1.0 - random.f64()).ln(),
                    false => mean,
                };
                changes.push(at);
            }
            changes
        }
    }

    /// The time until `at` in the category.
    fn time(changes: &[f64], at: f64) -> f64 {
        let stays = changes.chunks(2).map(|stay| {
            let end = stay.get(1).copied().unwrap_or(f64::INFINITY);
            (end.min(at) - stay[0]).max(0.0)
        });
        stays.sum()
    }

    /// In which part of the windows the true values are within two standard errors: of times, and of shares.
    /// Half of the threads are in "a" when they are in the category, the others in "b".
    fn coverage(process: &Process, moments: usize) -> [f64; 2] {
        const THREADS: usize = 4;
        const WINDOWS: usize = 200;
        let mut random = fastrand::Rng::with_seed(43);
        let end = moments as f64;
        let mut within = [0; 2];
        for _ in 0..WINDOWS {
            let threads: Vec<Vec<f64>> = (0..THREADS)
                .map(|_| process.changes(end, &mut random))
                .collect();
            let mut sampled = Moments::default();
            // As tare record draws them: one moment in each interval.
            for moment in 0..moments {
                let at = moment as f64 + random.f64();
                sampled.begin(at, 1.0);
                for (thread, changes) in threads.iter().enumerate() {
                    if changes.partition_point(|change| *change <= at) % 2 == 1 {
                        sampled.add(["a", "b"][thread % 2]);
                    }
                }
            }
            let exact: Vec<f64> = (threads.iter())
                .map(|changes| time(changes, end) - time(changes, 0.0))
                .collect();
            let exact_a: f64 = exact.iter().step_by(2).sum();
            let is_within = |(_, estimate): (&&str, Estimate), exact: f64| {
                (estimate.value - exact).abs() <= 2.0 * estimate.standard_error
            };
            let is_a = |one: &(&&str, Estimate)| *one.0 == "a";
            let share = exact_a / exact.iter().sum::<f64>();
            let times = sampled.estimates().find(is_a);
            let shares = sampled.shares().find(is_a);
            within[0] += usize::from(times.is_some_and(|time| is_within(time, exact_a)));
            within[1] += usize::from(shares.is_some_and(|one| is_within(one, share)));
        }
        within.map(|within| within as f64 / WINDOWS as f64)
    }

    #[test]
    fn intervals_have_the_true_values_in_95_percent() {
        const NONE: [f64; 2] = [0.0, 0.0];
        for (name, dwell, second, is_random) in [
            ("shorter than gaps", [[0.05, 0.1], NONE], 0.0, true),
            ("seldom", [[0.05, 0.4], NONE], 0.0, true),
            ("as long as gaps", [[1.0, 1.0], NONE], 0.0, true),
            ("longer", [[10.0, 10.0], NONE], 0.0, true),
            ("short and long", [[0.1, 0.1], [8.0, 1.0]], 0.02, true),
            ("periodic", [[3.0, 4.0], NONE], 0.0, false),
            ("in step with moments", [[0.5, 0.5], NONE], 0.0, false),
        ] {
            let process = Process {
                dwell,
                second,
                is_random,
            };
            let both = coverage(&process, 300);
            println!("{name}: {both:?}");
            // Four standard errors of 200 windows around 0.95 are 0.06.
            let range = 0.91..=0.995;
            assert!(both.iter().all(|part| range.contains(part)), "{name}");
        }
        // Few changes do not show that they are far from each other.
        let process = Process {
            dwell: [[100.0, 100.0], NONE],
            second: 0.0,
            is_random: true,
        };
        assert!(coverage(&process, 300)[0] > 0.95);
    }
}
