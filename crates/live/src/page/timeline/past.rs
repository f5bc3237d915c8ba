//! The moments and samples of a history. Of a long range, every n-th moment stays, and represents the time of those
//! that are left out. So the complete range is visible, and its memory has a limit.

use tare_history::Sample;

use super::{MAX_MOMENTS, MAX_ROWS, Timeline};

/// Which moments stay.
#[derive(Default)]
pub struct Thinning {
    /// The moments that were added.
    added: usize,
    /// Of so many moments one stays: 2 to the power of this.
    halvings: u32,
}

impl Timeline {
    /// Adds a moment of a history. All moments of the history precede its samples.
    pub fn add_past_moment(&mut self, at: i64, seconds: f64) {
        let is_stored = self
            .thinning
            .added
            .is_multiple_of(1 << self.thinning.halvings);
        self.thinning.added += 1;
        match self.moments.back_mut() {
            Some((_, sum)) if !is_stored => *sum += seconds as f32,
            _ => self.moments.push_back((at, seconds as f32)),
        }
        if self.moments.len() > MAX_MOMENTS {
            self.thin();
        }
    }

    /// Adds a sample of a history, if its moment stays.
    pub fn add_past_sample(&mut self, at: i64, seconds: f64, sample: &Sample) {
        // With one moment there is nothing to leave out.
        if self.rows.len() >= MAX_ROWS && self.moments.len() > 1 {
            self.thin();
        }
        let represented = match self.thinning.halvings {
            0 => Some(seconds),
            _ => self.represented_seconds(at).map(f64::from),
        };
        if let Some(seconds) = represented {
            self.add_sample(at, seconds, sample);
        }
    }

    /// The seconds that the moment of a time represents, if there is one.
    fn represented_seconds(&self, at: i64) -> Option<f32> {
        let place = self.moments.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(self.moments[place].1)
    }

    /// Leaves out every second moment, with its samples.
    fn thin(&mut self) {
        self.thinning.halvings += 1;
        let moments = std::mem::take(&mut self.moments);
        for (number, (at, seconds)) in moments.into_iter().enumerate() {
            match self.moments.back_mut() {
                Some((_, sum)) if number % 2 == 1 => *sum += seconds,
                _ => self.moments.push_back((at, seconds)),
            }
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain_mut(|row| match self.represented_seconds(row.at) {
            Some(seconds) => {
                row.seconds = seconds;
                true
            }
            None => false,
        });
        self.rows = rows;
        self.forget_texts();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Filter;
    use super::*;

    /// Two sessions in each of so many seconds, and a third one in the second half of them.
    fn read(seconds: i64) -> Timeline {
        let mut timeline = Timeline::default();
        for second in 0..seconds {
            timeline.add_past_moment(second * 1000, 1.0);
        }
        for second in 0..seconds {
            let sessions = if second < seconds / 2 { 2 } else { 3 };
            for thread_id in 0..sessions {
                let sample = Sample {
                    thread_id,
                    digest: Some("a".into()),
                    ..Sample::default()
                };
                timeline.add_past_sample(second * 1000, 1.0, &sample);
            }
        }
        timeline
    }

    #[test]
    fn a_long_range_is_complete_with_fewer_moments() {
        for seconds in [1_000, 250_000] {
            let timeline = read(seconds);
            assert!(timeline.moments.len() <= MAX_MOMENTS, "{seconds}");
            assert!(timeline.rows.len() <= MAX_ROWS, "{seconds}");
            let end = seconds * 1000;
            assert!(timeline.span().is_some_and(|(first, last)| {
                first == 0 && last >= end - (1000 << timeline.thinning.halvings)
            }));
            let observed = timeline.observed_seconds(0, end);
            assert!((observed - seconds as f64).abs() < 1e-6, "{observed}");
            for (from, to, sessions) in [(0, end / 2, 2.0), (end / 2 + 16_000, end, 3.0)] {
                let average = timeline.average(from, to).expect("an average");
                assert!((average - sessions).abs() < 1e-6, "{seconds}: {average}");
            }
            let filter = Filter {
                to: end,
                ..Filter::default()
            };
            let top = timeline.top(&filter, 0, 1);
            let (sum, expected) = (top[0].seconds(), 2.5 * seconds as f64);
            assert!((sum / expected - 1.0).abs() < 1e-3, "{sum}");
        }
    }
}
