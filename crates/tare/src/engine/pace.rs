//! Statements in windows and outside of them. All of them are counted, so it is known how far those in windows, times
//! N, are from all: windows are made longer or shorter by it. See docs/sampling.md, "Windows".

/// What is left, a window later, of what a window has told: some two hundred of them are remembered.
const KEPT: f64 = 0.995;
/// What was known beforehand is worth so many statements: that windows are not slower, give or take 5 %.
const BEFOREHAND: f64 = 400.0;
/// A stratum makes up for this part of what those before it left.
const AT_ONCE: f64 = 0.5;
/// More strata than these are not made up for: the load has changed meanwhile.
const STRATA: f64 = 4.0;

/// See the module.
#[derive(Default)]
pub(super) struct Pace {
    inside: Rate,
    outside: Rate,
    /// Statements and time when this was told last.
    last: Option<(u64, u64)>,
    /// All statements, less N times those in windows.
    short: f64,
    /// The integral of its square over time, of late, and that time.
    squares: f64,
    ns: f64,
}

/// Statements and nanoseconds of late.
#[derive(Default)]
struct Rate {
    statements: f64,
    ns: f64,
}

impl Rate {
    fn add(&mut self, statements: f64, ns: f64) {
        self.statements = self.statements * KEPT + statements;
        self.ns = self.ns * KEPT + ns;
    }

    fn per_ns(&self) -> f64 {
        self.statements / self.ns.max(1.0)
    }
}

impl Pace {
    /// So many `statements` have ended, if that could be told. Since this was told last there was a window, which
    /// stands for `n`, or with `None` there was none. Gives what ended meanwhile.
    pub fn tell(&mut self, statements: Option<u64>, now: u64, n: Option<u32>) -> u64 {
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
        // It went from one to the other in a straight line.
        let from = self.short;
        self.short += ended as f64 * (1.0 - weight);
        let mean = (from * from + from * self.short + self.short * self.short) / 3.0;
        self.squares = self.squares * KEPT + mean * ns;
        self.ns = self.ns * KEPT + ns;
        ended
    }

    /// What ends from here on, until it is told again, is not sampled.
    pub fn rest(&mut self) {
        self.last = None;
    }

    /// Whether it was told since the last rest.
    pub fn is_told(&self) -> bool {
        self.last.is_some()
    }

    /// How many statements estimates may be off by, squared: at any time as many as now, and as many when somebody
    /// began to count.
    pub fn square(&self) -> f64 {
        2.0 * self.squares / self.ns.max(1.0)
    }

    /// How long windows of a stratum are to be that has so many slots, each so long, two of which are windows: what is
    /// observed takes longer, so that clients who wait for their answers send less in a window. What the load that there
    /// is now could not make up for soon is forgotten.
    pub fn window_ns(&mut self, slots: u64, slot_ns: u64) -> u64 {
        let known = self.inside.statements.min(self.outside.statements);
        let slot_ns = slot_ns as f64;
        if known < 1.0 {
            return slot_ns as u64;
        }
        let (inside, outside) = (self.inside.per_ns(), self.outside.per_ns());
        let ratio = (outside / inside).clamp(0.5, 2.0);
        let trust = known / (known + BEFOREHAND);
        let most = STRATA * outside * slots as f64 * slot_ns;
        self.short = self.short.clamp(-most, most);
        // In windows N statements count for what one does here, and half of it is for each of two.
        let more = AT_ONCE * self.short / slots as f64 / inside;
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
    fn seen(outside: u64, inside: u64) -> (Pace, u64, u64) {
        let mut pace = Pace::default();
        let (mut statements, mut now) = (0, 0);
        pace.tell(Some(statements), now, None);
        for _ in 0..2_000 {
            let windows_ns = 2 * pace.window_ns(SLOTS, SLOT_NS);
            let ns = SLOT_NS * (SLOTS - 2);
            (statements, now) = (statements + ns / outside, now + ns);
            pace.tell(Some(statements), now, None);
            (statements, now) = (statements + windows_ns / inside, now + windows_ns);
            pace.tell(Some(statements), now, Some(16));
        }
        (pace, statements, now)
    }

    #[test]
    fn windows_are_as_much_longer_as_statements_are_slower_in_them() {
        let (mut pace, ..) = seen(50_000, 60_000);
        let window = pace.window_ns(SLOTS, SLOT_NS) as f64 / SLOT_NS as f64;
        assert!((window - 1.2).abs() < 0.03, "{window}");
    }

    #[test]
    fn what_windows_lack_is_made_up_for_but_not_once_the_load_has_changed() {
        let (mut pace, statements, now) = seen(50_000, 50_000);
        let usual = pace.window_ns(SLOTS, SLOT_NS);
        let (statements, now) = (statements + 3_000, now + 150_000_000);
        pace.tell(Some(statements), now, None);
        let longer = pace.window_ns(SLOTS, SLOT_NS);
        assert!(longer > usual * 5 / 4, "{usual} {longer}");
        // A load that is a thousand times as low would need minutes for it.
        let mut now = now;
        for statements in statements..statements + 2_000 {
            now += 50_000_000;
            pace.tell(Some(statements), now, None);
            pace.tell(Some(statements), now, Some(16));
        }
        let window = pace.window_ns(SLOTS, SLOT_NS);
        assert!(window < usual * 11 / 10, "{usual} {window}");
    }

    #[test]
    fn what_could_not_be_told_is_of_neither() {
        let (mut pace, statements, now) = seen(50_000, 50_000);
        let before = pace.window_ns(SLOTS, SLOT_NS);
        pace.tell(None, now + 1, None);
        assert!(!pace.is_told());
        assert_eq!(pace.tell(Some(statements + 100_000), now + 2, None), 0);
        assert_eq!(pace.window_ns(SLOTS, SLOT_NS), before);
    }
}
