//! Statements in windows and outside of them. All statements are counted, so the number in windows,
//! times N, can be compared with the number of all: windows are made longer or shorter accordingly. See
//! docs/sampling.md, "Windows".

/// The weight of a window's record when the next one closes: some two hundred are remembered.
const DECAY: f64 = 0.995;
/// The prior, that windows are not slower, give or take 5 %, has the weight of this number of
/// statements.
const PRIOR_STATEMENTS: f64 = 400.0;
/// A stratum compensates for this part of the shortfall before it.
const COMPENSATED_PART: f64 = 0.5;
/// A shortfall of more strata than this is ignored, because the load has changed.
const MAX_STRATA: f64 = 4.0;

/// See the module.
#[derive(Default)]
pub(super) struct Pace {
    inside: Rate,
    outside: Rate,
    /// Statements and time at the last record.
    last: Option<(u64, u64)>,
    /// The shortfall: all statements, minus N times those in windows.
    shortfall: f64,
    /// The integral of its square over the recent time, and that time.
    squares: f64,
    ns: f64,
}

/// Recent statements and nanoseconds.
#[derive(Default)]
struct Rate {
    statements: f64,
    ns: f64,
}

impl Rate {
    fn add(&mut self, statements: f64, ns: f64) {
        self.statements = self.statements * DECAY + statements;
        self.ns = self.ns * DECAY + ns;
    }

    fn per_ns(&self) -> f64 {
        self.statements / self.ns.max(1.0)
    }
}

impl Pace {
    /// Records the number of `statements` that have ended, if it is known. `n`: since the last record
    /// there was a window with this N, or none. Returns the statements since then.
    pub fn record(&mut self, statements: Option<u64>, now: u64, n: Option<u32>) -> u64 {
        let before = std::mem::replace(&mut self.last, statements.map(|all| (all, now)));
        let (Some(all), Some((before, since))) = (statements, before) else {
            return 0;
        };
        let ended = all.saturating_sub(before);
        let (rate, weight) = match n {
            Some(n) => (&mut self.inside, f64::from(n)),
            None => (&mut self.outside, 0.0),
        };
        let ns = now.saturating_sub(since) as f64;
        rate.add(ended as f64, ns);
        // It changed linearly between the two records.
        let from = self.shortfall;
        self.shortfall += ended as f64 * (1.0 - weight);
        let mean = (from * from + from * self.shortfall + self.shortfall * self.shortfall) / 3.0;
        self.squares = self.squares * DECAY + mean * ns;
        self.ns = self.ns * DECAY + ns;
        ended
    }

    /// Statements from here on, until the next record, are not sampled.
    pub fn rest(&mut self) {
        self.last = None;
    }

    /// Whether there was a record since the last rest.
    pub fn has_record(&self) -> bool {
        self.last.is_some()
    }

    /// The square of the error of estimates, in statements: the present error, and that at the time
    /// when counting began.
    pub fn square(&self) -> f64 {
        2.0 * self.squares / self.ns.max(1.0)
    }

    /// The length of windows in a stratum of this number of slots of this length, two of which are
    /// windows. Observed events take longer, so that clients who wait for results send less in a
    /// window. A shortfall that the present load could not compensate soon is forgotten.
    pub fn window_ns(&mut self, slots: u64, slot_ns: u64) -> u64 {
        let statements = self.inside.statements.min(self.outside.statements);
        let slot_ns = slot_ns as f64;
        if statements < 1.0 {
            return slot_ns as u64;
        }
        let (inside, outside) = (self.inside.per_ns(), self.outside.per_ns());
        let ratio = (outside / inside).clamp(0.5, 2.0);
        let trust = statements / (statements + PRIOR_STATEMENTS);
        let most = MAX_STRATA * outside * slots as f64 * slot_ns;
        self.shortfall = self.shortfall.clamp(-most, most);
        // A window's statement counts as N statements, and each of the two windows compensates for
        // half.
        let more = COMPENSATED_PART * self.shortfall / slots as f64 / inside;
        let more = more.clamp(-slot_ns / 2.0, slot_ns / 2.0);
        (slot_ns + trust * (slot_ns * (ratio - 1.0) + more)).max(slot_ns / 4.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT_NS: u64 = 5_000_000;
    const SLOTS: u64 = 32;

    /// A pace of one statement each `ns` outside of windows, and one in `inside` in these.
    fn recorded(outside: u64, inside: u64) -> (Pace, u64, u64) {
        let mut pace = Pace::default();
        let (mut statements, mut now) = (0, 0);
        pace.record(Some(statements), now, None);
        for _ in 0..2_000 {
            let windows_ns = 2 * pace.window_ns(SLOTS, SLOT_NS);
            let ns = SLOT_NS * (SLOTS - 2);
            (statements, now) = (statements + ns / outside, now + ns);
            pace.record(Some(statements), now, None);
            (statements, now) = (statements + windows_ns / inside, now + windows_ns);
            pace.record(Some(statements), now, Some(16));
        }
        (pace, statements, now)
    }

    #[test]
    fn windows_are_longer_by_the_factor_by_which_statements_are_slower() {
        let (mut pace, ..) = recorded(50_000, 60_000);
        let window = pace.window_ns(SLOTS, SLOT_NS) as f64 / SLOT_NS as f64;
        assert!((window - 1.2).abs() < 0.03, "{window}");
    }

    #[test]
    fn later_windows_compensate_for_missing_statements_until_the_load_changes() {
        let (mut pace, statements, now) = recorded(50_000, 50_000);
        let usual = pace.window_ns(SLOTS, SLOT_NS);
        let (statements, now) = (statements + 3_000, now + 150_000_000);
        pace.record(Some(statements), now, None);
        let longer = pace.window_ns(SLOTS, SLOT_NS);
        assert!(longer > usual * 5 / 4, "{usual} {longer}");
        // A load that is a thousand times lower would need minutes.
        let mut now = now;
        for statements in statements..statements + 2_000 {
            now += 50_000_000;
            pace.record(Some(statements), now, None);
            pace.record(Some(statements), now, Some(16));
        }
        let window = pace.window_ns(SLOTS, SLOT_NS);
        assert!(window < usual * 11 / 10, "{usual} {window}");
    }

    #[test]
    fn statements_between_unknown_counts_are_ignored() {
        let (mut pace, statements, now) = recorded(50_000, 50_000);
        let before = pace.window_ns(SLOTS, SLOT_NS);
        pace.record(None, now + 1, None);
        assert!(!pace.has_record());
        assert_eq!(pace.record(Some(statements + 100_000), now + 2, None), 0);
        assert_eq!(pace.window_ns(SLOTS, SLOT_NS), before);
    }
}
