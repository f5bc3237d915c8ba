//! The governor: sets N of each group that has a budget, from event rates times the cost of one event. A thread of its
//! own; points know nothing of it. See docs/sampling.md.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tare_layout::governor::{DECISIONS, Reason, at};
use tare_layout::line::{LINE_BYTES, Line};
use tare_layout::sampling::{GROUPS, STAGE, STATEMENT, TRANSACTION, WAIT};

use super::running::NOW;
use super::state::Engine;
use super::{clock, own_thread};

/// How often it looks: a rise is answered within two of these.
const TICK: Duration = Duration::from_millis(250);

/// The largest N that it chooses: however dear events are, one cluster in so many is observed, so that what is rare
/// is seen sooner or later.
const LARGEST: u32 = 4096;

/// What was seen in one interval.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Seconds of CPU time that the process used.
    cpu: f64,
    /// Events, observed or not, by group.
    events: [f64; GROUPS],
}

/// Seconds of CPU time that one event of a group takes when it is observed.
type Units = [f64; GROUPS];

/// What a group may cost of all CPU time; `None` = it has no budget.
type Budgets = [Option<f64>; GROUPS];

/// N for each group with a budget. The groups' budgets are one: the largest that any of them names. It is shared so
/// that nobody gets less than an equal share for the sake of one who takes more: who needs less than that is counted
/// whole, and the others share what is left.
fn choose(seen: &Seen, units: &Units, budgets: &Budgets, before: &[u32; GROUPS]) -> [u32; GROUPS] {
    let mut chosen = *before;
    let total = budgets.iter().flatten().fold(0.0, |a: f64, b| a.max(*b)) * seen.cpu;
    let cost = |group: usize| seen.events[group] * units[group];
    let mut groups: Vec<usize> = (0..GROUPS).filter(|i| budgets[*i].is_some()).collect();
    groups.sort_by(|a, b| cost(*a).total_cmp(&cost(*b)));
    let mut left = total;
    for (i, group) in groups.iter().copied().enumerate() {
        let share =
            (left / (groups.len() - i) as f64).min(budgets[group].unwrap_or(0.0) * seen.cpu);
        let spent = cost(group).min(share);
        left -= spent;
        let n = match spent > 0.0 {
            true => (cost(group) / spent).ceil(),
            // Nothing happened, or nothing may be spent: the next interval shows.
            false => continue,
        };
        let n = n.clamp(1.0, f64::from(LARGEST)) as u32;
        // Chance alone moves rates: only what is over the budget, or a quarter below, is worth a change.
        let old = before[group].max(1);
        if n > old || n * 5 < old * 4 {
            chosen[group] = n;
        }
    }
    chosen
}

/// Rates that rise at once and fall slowly, so that a lull does not undo what the next burst needs.
#[derive(Debug, Default)]
struct Smooth([f64; GROUPS]);

impl Smooth {
    fn add(&mut self, rates: [f64; GROUPS]) -> [f64; GROUPS] {
        for (smooth, rate) in self.0.iter_mut().zip(rates) {
            *smooth = rate.max(*smooth * 0.75 + rate * 0.25);
        }
        self.0
    }
}

/// Which process's governor runs for which generation, 0 = none.
static WATCHES: AtomicU64 = AtomicU64::new(0);

/// Starts the governor, if it does not run.
pub(super) fn watch(engine: &Arc<Engine>) {
    let own = u64::from(std::process::id()) << 32 | u64::from(engine.generation);
    let before = WATCHES.load(Ordering::Relaxed);
    if before != own
        && WATCHES
            .compare_exchange(before, own, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    {
        let engine = Arc::clone(engine);
        own_thread::start(c"tare-governor", move || govern(&engine));
    }
}

fn govern(engine: &Engine) {
    let units = measured_units();
    let (mut smooth, mut last) = (Smooth::default(), Moment::now(engine));
    while engine.is_ours() && NOW.generation.load(Ordering::Relaxed) == engine.generation {
        std::thread::sleep(TICK);
        let now = Moment::now(engine);
        let seconds = now.at_ns.saturating_sub(last.at_ns).max(1) as f64 / 1e9;
        let per_second = |group: usize| {
            let events = now.represented[group].saturating_sub(last.represented[group]);
            events as f64 / seconds
        };
        let rates = smooth.add(std::array::from_fn(per_second));
        let cpu = now.cpu_ns.saturating_sub(last.cpu_ns) as f64 / 1e9 / seconds;
        let seen = Seen { cpu, events: rates };
        engine.decide(&seen, &units);
        last = now;
    }
}

/// What was counted, and when.
struct Moment {
    at_ns: u64,
    cpu_ns: u64,
    represented: [u64; GROUPS],
}

impl Moment {
    fn now(engine: &Engine) -> Self {
        Self {
            at_ns: clock::monotonic_ns(),
            cpu_ns: process_cpu_ns(),
            represented: engine.tally.read(),
        }
    }
}

fn process_cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Engine {
    /// Sets N of each group with a budget, and writes down what changed and why.
    fn decide(&self, seen: &Seen, units: &Units) {
        let control = self.view.control();
        let thousandths = control.budgets.each_ref().map(|b| b.load(Ordering::SeqCst));
        let budgets = thousandths.map(|b| (b != 0).then(|| f64::from(b) / 100_000.0));
        let before = control
            .sampling
            .each_ref()
            .map(|n| n.load(Ordering::SeqCst).max(1));
        let chosen = choose(seen, units, &budgets, &before);
        for group in (0..GROUPS).filter(|group| chosen[*group] != before[*group]) {
            let cost = seen.events[group] * units[group] / f64::from(before[group]);
            let spent = if seen.cpu > 0.0 { cost / seen.cpu } else { 0.0 };
            let reason = match chosen[group] > before[group] {
                true => Reason::Over,
                false => Reason::Room,
            };
            control.set_rate(group, chosen[group]);
            self.write_down(|line| {
                line.set(at::WHAT, reason as u64 | (group as u64) << 8);
                let rates = u64::from(before[group]) | u64::from(chosen[group]) << 32;
                line.set(at::RATES, rates);
                line.set(at::BUDGET, u64::from(thousandths[group]));
                line.set(at::SPENT, (spent * 100_000.0) as u64);
                line.set(at::EVENTS, seen.events[group] as u64);
                line.set(at::UNIT_PS, (units[group] * 1e12) as u64);
            });
        }
    }

    fn write_down(&self, fill: impl FnOnce(&Line)) {
        let lines = self.view.decisions();
        let newest = lines.iter().map(|line| line.get(at::NUMBER)).max();
        let number = newest.unwrap_or(0) + 1;
        let line = &lines[number as usize % DECISIONS];
        line.cells[at::NUMBER].store(0, Ordering::Release);
        line.set(at::UNIX_NS, clock::unix_ns());
        fill(line);
        line.cells[at::NUMBER].store(number, Ordering::Release);
    }
}

/// What events cost on this machine: reads of the clock, and lines that were not touched for long. An observed event
/// writes a line in the scratch bank, and another one when its cluster is folded.
fn measured_units() -> Units {
    /// More than the nearest caches hold, so that each line has to be fetched.
    const LINES: usize = (1 << 21) / LINE_BYTES;
    let seconds = |ticks: u64| ticks as f64 / clock::calibrate().ticks_per_second as f64;
    let lines: Vec<Line> = std::iter::repeat_with(Line::default).take(LINES).collect();
    let best = |work: &dyn Fn()| {
        let run = || {
            let start = clock::now();
            work();
            clock::now().saturating_sub(start)
        };
        seconds((0..5).map(|_| run()).min().unwrap_or(0))
    };
    let line = best(&|| {
        // A stride that prefetching does not follow: odd, so that all lines are visited.
        let place = Cell::new(0usize);
        for ticks in 0..LINES as u64 {
            place.set((place.get() + 12_345) % LINES);
            black_box(&lines[place.get()]).time(ticks);
        }
    }) / LINES as f64;
    const READS: u32 = 10_000;
    let read = best(&|| (0..READS).for_each(|_| _ = black_box(clock::now()))) / f64::from(READS);
    let mut units = [0.0; GROUPS];
    units[WAIT] = 2.0 * read + 2.0 * line;
    units[STAGE] = read + 2.0 * line;
    // It begins and ends with its statement's reads.
    units[TRANSACTION] = 2.0 * line;
    // Its row's four lines, the digest's own and the text's, and what folding takes.
    units[STATEMENT] = 10.0 * line;
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: Units = [1e-6, 1e-7, 1e-7, 1e-7];

    fn seen(statements: f64, waits: f64, stages: f64) -> Seen {
        Seen {
            cpu: 1.0,
            events: [statements, waits, stages, 0.0],
        }
    }

    fn spent(seen: &Seen, rates: &[u32; GROUPS]) -> f64 {
        (0..GROUPS)
            .map(|i| seen.events[i] * UNITS[i] / f64::from(rates[i]))
            .sum::<f64>()
            / seen.cpu
    }

    #[test]
    fn what_costs_little_is_counted_whole() {
        let seen = seen(100.0, 1_000_000.0, 500.0);
        let budgets = [Some(0.02); GROUPS];
        let chosen = choose(&seen, &UNITS, &budgets, &[1; GROUPS]);
        assert_eq!((chosen[STATEMENT], chosen[STAGE]), (1, 1), "{chosen:?}");
        assert!(chosen[WAIT] > 4);
        let spent = spent(&seen, &chosen);
        assert!((0.015..=0.02).contains(&spent), "{spent}");
    }

    #[test]
    fn equals_share_equally() {
        let seen = seen(0.0, 1e6, 1e6);
        let chosen = choose(&seen, &UNITS, &[Some(0.02); GROUPS], &[1; GROUPS]);
        assert_eq!(chosen[WAIT], chosen[STAGE]);
        assert_eq!(chosen[WAIT], 10);
    }

    #[test]
    fn a_group_without_a_budget_is_left_alone() {
        let budgets = [None, Some(0.01), None, None];
        let before = [7, 1, 3, 1];
        let chosen = choose(&seen(1e6, 1e6, 1e6), &UNITS, &budgets, &before);
        assert_eq!(chosen, [7, 10, 3, 1]);
    }

    #[test]
    fn a_tenfold_rise_is_answered_within_two_seconds_and_a_fall_after_a_while() {
        let budgets = [Some(0.02); GROUPS];
        let (mut smooth, mut rates) = (Smooth::default(), [1; GROUPS]);
        let mut tick = |waits: f64, rates: &mut [u32; GROUPS]| {
            let now = seen(10.0, waits, 0.0);
            let smoothed = Seen {
                events: smooth.add(now.events),
                ..now
            };
            *rates = choose(&smoothed, &UNITS, &budgets, rates);
            spent(&now, rates)
        };
        let ticks = (2_000 / TICK.as_millis()) as usize;
        for waits in [200_000.0, 2_000_000.0, 20_000_000.0] {
            for i in 0..ticks {
                let spent = tick(waits, &mut rates);
                assert!(i == 0 || spent <= 0.02, "{waits} {i}: {spent}");
            }
        }
        let busy = rates[WAIT];
        for _ in 0..20 * ticks {
            tick(200_000.0, &mut rates);
        }
        assert!(rates[WAIT] <= busy / 50, "{rates:?}");
    }

    #[test]
    fn nothing_is_silenced() {
        let chosen = choose(
            &seen(1e9, 1e12, 1e12),
            &UNITS,
            &[Some(1e-5); GROUPS],
            &[1; GROUPS],
        );
        assert!(chosen.iter().all(|n| *n <= LARGEST));
        // Without any load nothing changes.
        let before = [5; GROUPS];
        let idle = Seen {
            cpu: 0.0,
            events: [0.0; GROUPS],
        };
        assert_eq!(
            choose(&idle, &UNITS, &[Some(0.01); GROUPS], &before),
            before
        );
    }

    #[test]
    fn units_are_times() {
        let units = measured_units();
        assert!(
            units.iter().all(|unit| *unit > 0.0 && *unit < 1e-3),
            "{units:?}"
        );
        assert!(units[WAIT] >= units[STAGE]);
    }
}
