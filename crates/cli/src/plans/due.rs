//! Of which digests a plan is due: those without one, and those whose time per call changed.

use std::collections::HashMap;
use std::time::Instant;

use tare_history::{GrowthRow, PlanReason, Text};
use tare_mysql::schema::{SYSTEM_SCHEMAS, is_system_schema};

use crate::statistics::Change;

/// Readings of growth that are compared with those before. With readings of ten seconds, this is a minute.
const RECENT: usize = 6;

/// The most readings with which they are compared.
const MAX_BEFORE: usize = 24;

/// The fewest calls in each of both for an interval.
const MIN_CALLS: f64 = 30.0;

/// The least change, as a difference of logarithms: about 10 %. The interval must be beyond it, because a
/// server's speed varies by so much without another plan.
const MIN_CHANGE: f64 = 0.1;

/// The confidence of the interval. There are many digests, and each is compared again and again.
const CONFIDENCE: f64 = 0.999;

/// The most digests that are followed: the largest summary that a server has by default.
const MAX_DIGESTS: usize = 10_000;

/// The most plans in a minute, and at once.
const PLANS_PER_MINUTE: u32 = 6;

/// What an example without EXPLAIN counts as: there are up to 60 in a minute.
const UNEXPLAINED: f64 = 0.1;

/// How often the text of a digest is requested before it is given up.
const MAX_TRIES: u32 = 3;

/// Of which statements plans are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PlanMode {
    /// Of none
    Off,
    /// Once of each
    New,
    /// Once of each, and when its time per call changes
    Changed,
}

/// The default schema, and the digest.
pub type DigestKey = (Option<String>, String);

/// What was read of a digest.
#[derive(Default)]
struct Digest {
    /// Seconds and calls of each reading in which it was called, since the last plan.
    readings: Vec<(f64, f64)>,
    /// Seconds since the last plan.
    seconds: f64,
    has_plan: bool,
    /// Whether the last reading showed another time per call.
    has_changed: bool,
    tries: u32,
    /// No plan is read any more.
    is_given_up: bool,
}

impl Digest {
    fn add(&mut self, seconds: f64, calls: f64) {
        self.seconds += seconds;
        self.readings.push((seconds, calls));
        if self.readings.len() > MAX_BEFORE + RECENT {
            self.readings.remove(0);
        }
    }
}

/// Whether the time per call of the last readings differs from that before, by more than chance and [`MIN_CHANGE`].
fn is_changed(readings: &[(f64, f64)]) -> bool {
    let Some(split) = readings.len().checked_sub(RECENT) else {
        return false;
    };
    let (before, recent) = readings.split_at(split);
    let calls = |part: &[(f64, f64)]| part.iter().map(|(_, calls)| calls).sum::<f64>();
    if calls(before) < MIN_CALLS || calls(recent) < MIN_CALLS {
        return false;
    }
    Change::relative(before, recent).is_some_and(|change| {
        let (low, high) = change.interval(CONFIDENCE);
        low > MIN_CHANGE || high < -MIN_CHANGE
    })
}

/// Follows all digests.
pub struct DueDigests {
    mode: PlanMode,
    digests: HashMap<DigestKey, Digest>,
    /// Whether one may be due. If none was, none is until the next reading.
    may_be_due: bool,
    allowed: f64,
    counted: Instant,
}

impl DueDigests {
    /// Of no digest yet.
    pub fn new(mode: PlanMode, now: Instant) -> Self {
        Self {
            mode,
            digests: HashMap::new(),
            may_be_due: false,
            allowed: PLANS_PER_MINUTE.into(),
            counted: now,
        }
    }

    /// Gives up the digests that have no plan, and those of monitoring tools, without a query.
    pub fn observe_texts(&mut self, texts: &[Text]) {
        for text in texts.iter().filter(|text| !may_have_plan(text)) {
            let key = (text.schema.clone(), text.digest.clone());
            if self.digests.len() < MAX_DIGESTS {
                self.digests.entry(key).or_default().is_given_up = true;
            }
        }
    }

    /// Adds a reading of growth.
    pub fn observe(&mut self, grown: &[GrowthRow]) {
        for row in grown.iter().filter(|row| row.kind == "digest") {
            let (Some(calls), Some(ps)) = (row.sums[0].filter(|calls| *calls > 0), row.sums[1])
            else {
                continue;
            };
            let key = (row.schema.clone(), row.name.clone());
            if self.digests.len() < MAX_DIGESTS || self.digests.contains_key(&key) {
                let digest = self.digests.entry(key).or_default();
                if digest.is_given_up {
                    continue;
                }
                digest.add(ps as f64 * 1e-12, calls as f64);
                let is_followed = self.mode == PlanMode::Changed && digest.has_plan;
                digest.has_changed = is_followed && is_changed(&digest.readings);
            }
        }
        self.may_be_due = true;
    }

    /// Takes the digest whose plan should be read next, and why. `None` if none is due, or there were enough lately.
    pub fn next(&mut self, now: Instant) -> Option<(DigestKey, PlanReason)> {
        let rate = f64::from(PLANS_PER_MINUTE);
        let elapsed = now.duration_since(self.counted).as_secs_f64();
        self.allowed = (self.allowed + elapsed * rate / 60.0).min(rate);
        self.counted = now;
        if self.allowed < 1.0 || !self.may_be_due {
            return None;
        }
        let due = self.digests.iter().filter_map(|(key, digest)| {
            let reason = match digest {
                digest if digest.is_given_up => return None,
                // It has been called since the last try.
                digest if !digest.has_plan => (digest.seconds > 0.0).then_some(PlanReason::New)?,
                digest => digest.has_changed.then_some(PlanReason::Changed)?,
            };
            Some((key, digest.seconds, reason))
        });
        // A change is what a reader looks for. Of equals, the one that takes most time.
        let rank = |reason| reason == PlanReason::Changed;
        let first = due.max_by(|a, b| rank(a.2).cmp(&rank(b.2)).then(a.1.total_cmp(&b.1)));
        self.may_be_due = first.is_some();
        let (key, _, reason) = first?;
        let key = key.clone();
        self.allowed -= 1.0;
        Some((key, reason))
    }

    /// EXPLAIN was not sent for the digest that was taken last.
    pub fn return_unexplained(&mut self) {
        self.allowed += 1.0 - UNEXPLAINED;
    }

    /// Sets that a plan, or the reason why there is none, was recorded.
    pub fn set_recorded(&mut self, key: &DigestKey, is_explainable: bool) {
        if let Some(digest) = self.digests.get_mut(key) {
            // The next change is against what is recent now.
            let old = digest.readings.len().saturating_sub(RECENT);
            digest.readings.drain(..old);
            digest.seconds = 0.0;
            digest.has_plan = true;
            digest.has_changed = false;
            digest.tries = 0;
            digest.is_given_up = !is_explainable;
        }
    }

    /// Sets that the server has no text of the digest.
    pub fn set_without_text(&mut self, key: &DigestKey) {
        if let Some(digest) = self.digests.get_mut(key) {
            digest.seconds = 0.0;
            digest.tries += 1;
            digest.is_given_up = digest.tries >= MAX_TRIES;
        }
    }
}

/// Whether a digest may have a plan of tables of an application. Its text may be cut anywhere, so this reads
/// words only. It keeps COMMIT, SET and the like out of the table; whether EXPLAIN may be sent,
/// [`super::check`] decides.
fn may_have_plan(text: &Text) -> bool {
    let normalized = text.text.to_lowercase();
    let names_system_schema = SYSTEM_SCHEMAS.iter().any(|name| {
        normalized.contains(&format!("`{name}` .")) || normalized.contains(&format!(" {name} ."))
    });
    let is_of_system = names_system_schema || text.schema.as_deref().is_some_and(is_system_schema);
    let mut words = normalized.split(|c: char| !c.is_ascii_alphanumeric());
    let has = |word: &str| normalized.split_whitespace().any(|one| one == word);
    let is_explainable = match words.find(|word| !word.is_empty()) {
        Some("select" | "with") => has("from"),
        Some("insert") => has("select"),
        Some("update" | "delete") => true,
        _ => false,
    };
    is_explainable && !is_of_system
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn row(name: &str, calls: u64, us_per_call: u64) -> GrowthRow {
        let mut sums = [None; tare_history::SUMS];
        (sums[0], sums[1]) = (Some(calls), Some(calls * us_per_call * 1_000_000));
        GrowthRow {
            kind: "digest",
            schema: Some("shop".to_owned()),
            name: name.to_owned(),
            sums,
            value: None,
        }
    }

    fn taken(due: &mut DueDigests, now: Instant) -> Option<(String, PlanReason)> {
        let (key, reason) = due.next(now)?;
        due.set_recorded(&key, true);
        Some((key.1, reason))
    }

    #[test]
    fn new_digests_are_due_once_and_the_slowest_first() {
        let now = Instant::now();
        let mut due = DueDigests::new(PlanMode::New, now);
        due.observe(&[row("a", 10, 100), row("b", 10, 300), row("c", 10, 200)]);
        let order: Vec<_> = (0..4)
            .map(|_| taken(&mut due, now).map(|(name, _)| name))
            .collect();
        assert_eq!(
            order,
            [Some("b".into()), Some("c".into()), Some("a".into()), None]
        );
        due.observe(&[row("a", 10, 100)]);
        assert_eq!(taken(&mut due, now), None);
    }

    #[test]
    fn statements_without_plans_and_of_monitoring_tools_are_left_out() {
        let now = Instant::now();
        let mut due = DueDigests::new(PlanMode::New, now);
        let texts = [
            "SELECT * FROM `shop` . `orders`",
            "( SELECT ? FROM `t` )",
            "INSERT INTO `t` SELECT * FROM `u`",
            "SELECT `a` FROM `performance_schema` . `threads`",
            "SELECT * FROM performance_schema . threads",
            "EXPLAIN SELECT * FROM `t`",
            "SELECT @@version",
            "INSERT INTO `t` VALUES (...)",
            "CREATE TABLE `t` SELECT * FROM `u`",
        ];
        let text = |text: &&str| Text {
            schema: Some("shop".into()),
            digest: (*text).to_owned(),
            text: (*text).to_owned(),
        };
        due.observe_texts(&texts.iter().map(text).collect::<Vec<_>>());
        due.observe(&texts.map(|text| row(text, 1, 1)));
        let mut names: Vec<_> = (0..9)
            .filter_map(|_| taken(&mut due, now))
            .map(|(name, _)| name)
            .collect();
        names.sort();
        assert_eq!(names, [texts[1], texts[2], texts[0]]);
    }

    #[test]
    fn there_are_six_plans_in_a_minute() {
        let mut now = Instant::now();
        let mut due = DueDigests::new(PlanMode::New, now);
        let rows: Vec<_> = (0..20).map(|n| row(&n.to_string(), 1, 1)).collect();
        due.observe(&rows);
        assert_eq!(
            (0..20).filter(|_| taken(&mut due, now).is_some()).count(),
            6
        );
        now += Duration::from_secs(9);
        assert_eq!(taken(&mut due, now), None);
        now += Duration::from_secs(2);
        assert!(taken(&mut due, now).is_some());
        now += Duration::from_secs(3600);
        assert_eq!(
            (0..20).filter(|_| taken(&mut due, now).is_some()).count(),
            6
        );
        // Statements that may not be explained cost less.
        now += Duration::from_secs(3600);
        let rows: Vec<_> = (20..99).map(|n| row(&n.to_string(), 1, 1)).collect();
        due.observe(&rows);
        let read = (0..79).filter(|_| {
            let is_taken = taken(&mut due, now).is_some();
            if is_taken {
                due.return_unexplained();
            }
            is_taken
        });
        assert!((40..60).contains(&read.count()));
    }

    #[test]
    fn a_plan_is_due_again_when_the_time_per_call_changes() {
        let now = Instant::now();
        let mut due = DueDigests::new(PlanMode::Changed, now);
        let mut only_new = DueDigests::new(PlanMode::New, now);
        // The time per call varies by a few percent.
        let noise = [0, 3, 1, 4, 2, 5];
        for reading in 0..30 {
            let rows = [row("a", 100, 100 + noise[reading % 6])];
            due.observe(&rows);
            only_new.observe(&rows);
            let expected = (reading == 0).then(|| ("a".to_owned(), PlanReason::New));
            assert_eq!(taken(&mut due, now), expected, "{reading}");
            assert_eq!(taken(&mut only_new, now), expected);
        }
        let mut changes = 0;
        for reading in 0..30 {
            let rows = [row("a", 100, 300 + noise[reading % 6])];
            due.observe(&rows);
            only_new.observe(&rows);
            if let Some((_, reason)) = taken(&mut due, now + Duration::from_secs(60)) {
                assert_eq!(reason, PlanReason::Changed);
                changes += 1;
            }
            assert_eq!(taken(&mut only_new, now), None);
        }
        assert!((1..=3).contains(&changes), "{changes}");
    }

    #[test]
    fn a_small_change_is_none() {
        let now = Instant::now();
        let mut due = DueDigests::new(PlanMode::Changed, now);
        // It never varies, so that its interval is a point.
        let mut reasons = |us_per_call| {
            let readings = (0..30).filter_map(|_| {
                due.observe(&[row("a", 100, us_per_call)]);
                taken(&mut due, now).map(|(_, reason)| reason)
            });
            readings.collect::<Vec<_>>()
        };
        assert_eq!(reasons(100), [PlanReason::New]);
        assert_eq!(reasons(109), []);
        assert!(reasons(140).contains(&PlanReason::Changed));
    }

    #[test]
    fn a_digest_without_a_text_is_given_up() {
        let now = Instant::now();
        let mut due = DueDigests::new(PlanMode::New, now);
        let mut tries = 0;
        for _ in 0..10 {
            due.observe(&[row("a", 1, 1)]);
            if let Some((key, _)) = due.next(now + Duration::from_secs(600)) {
                due.set_without_text(&key);
                tries += 1;
            }
        }
        assert_eq!(tries, MAX_TRIES);
    }
}
