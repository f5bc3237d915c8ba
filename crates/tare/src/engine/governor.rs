//! The governor: sets N of each group that has a budget, from event rates times the cost of one event.
//! The thread that opens windows calls it; points do not. See docs/sampling.md.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::Ordering;

use tare_layout::governor::{DECISIONS, Reason, at};
use tare_layout::line::{LINE_BYTES, Line};
use tare_layout::sampling::{GROUPS, MEMORY, STAGE, TRANSACTION, WAIT};

use super::clock;
use super::observed::{self, Observer};
use super::state::Engine;

/// Interval between decisions, in nanoseconds.
const INTERVAL_NS: u64 = 250_000_000;

/// The largest N that it chooses: however expensive events are, there is a window about every half
/// second, so that rare events are observed sooner or later, and a rise soon.
const MAX_N: u32 = 256;

/// The load in one interval.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Seconds of CPU time that the process used.
    cpu: f64,
    /// Events, observed or not, by group.
    events: [f64; GROUPS],
}

/// Seconds of CPU time that one event of a group takes when it is observed.
type Units = [f64; GROUPS];

/// The part of all CPU time that a group may cost; `None` = it has no budget.
type Budgets = [Option<f64>; GROUPS];

/// Chooses N for each group with a budget. The groups share one budget: the largest that any of them
/// has. No group gets less than an equal share because another takes more: a group that needs less than
/// its share is counted completely, and the others share the rest.
fn choose(load: &Load, units: &Units, budgets: &Budgets, before: &[u32; GROUPS]) -> [u32; GROUPS] {
    let mut chosen = *before;
    let total = budgets.iter().flatten().fold(0.0, |a: f64, b| a.max(*b)) * load.cpu;
    let cost = |group: usize| load.events[group] * units[group];
    let mut groups: Vec<usize> = (0..GROUPS).filter(|i| budgets[*i].is_some()).collect();
    groups.sort_by(|a, b| cost(*a).total_cmp(&cost(*b)));
    let mut left = total;
    for (i, group) in groups.iter().copied().enumerate() {
        let share =
            (left / (groups.len() - i) as f64).min(budgets[group].unwrap_or(0.0) * load.cpu);
        let spent = cost(group).min(share);
        left -= spent;
        let n = match spent > 0.0 {
            true => (cost(group) / spent).ceil(),
            // Nothing happened, or nothing may be spent: wait for the next interval.
            false => continue,
        };
        let n = n.clamp(1.0, f64::from(MAX_N)) as u32;
        // Rates vary by chance: change N only if it is over the budget, or a quarter below.
        let old = before[group].max(1);
        if n > old || n * 5 < old * 4 {
            chosen[group] = n;
        }
    }
    chosen
}

/// Whether any group has a budget.
pub(super) fn has_budget(engine: &Engine) -> bool {
    let budgets = &engine.view.control().budgets;
    (budgets.iter()).any(|budget| budget.load(Ordering::SeqCst) != 0)
}

/// Rates that rise at once and fall slowly, so that a lull does not undo what the next burst needs.
#[derive(Debug, Default)]
struct Smooth([f64; GROUPS]);

impl Smooth {
    /// `None`: no window of the group has closed since.
    fn add(&mut self, rates: [Option<f64>; GROUPS]) -> [f64; GROUPS] {
        for (smooth, rate) in self.0.iter_mut().zip(rates) {
            if let Some(rate) = rate {
                *smooth = rate.max(*smooth * 0.75 + rate * 0.25);
            }
        }
        self.0
    }
}

/// The state of the governor.
#[derive(Default)]
pub(super) struct Governor {
    units: Option<Units>,
    smooth: Smooth,
    /// Time of the last decision, and the process's CPU time then.
    last: Option<(u64, u64)>,
    /// Changes since [`Self::take_changes`].
    changes: u32,
}

impl Governor {
    /// Decides, if it is time to. Returns the time of the next decision, if any group has a budget.
    pub fn step(&mut self, engine: &Engine, observer: &mut Observer, now: u64) -> Option<u64> {
        if !has_budget(engine) {
            self.last = None;
            return None;
        }
        let Some((at, cpu_before)) = self.last else {
            self.units.get_or_insert_with(measured_units);
            observer.take_observed(engine, now);
            self.last = Some((now, process_cpu_ns()));
            return Some(now + INTERVAL_NS);
        };
        if now < at + INTERVAL_NS {
            return Some(at + INTERVAL_NS);
        }
        let seconds = (now - at) as f64 / 1e9;
        let cpu_ns = process_cpu_ns();
        let rate =
            |group: observed::GroupEvents| (group.ns > 0.0).then(|| group.events * 1e9 / group.ns);
        let rates = observer.take_observed(engine, now).map(rate);
        let load = Load {
            cpu: cpu_ns.saturating_sub(cpu_before) as f64 / 1e9 / seconds,
            events: self.smooth.add(rates),
        };
        self.last = Some((now, cpu_ns));
        if let Some(units) = &self.units {
            self.changes += engine.decide(&load, units);
        }
        Some(now + INTERVAL_NS)
    }

    /// How often it has changed an N since the last call.
    pub fn take_changes(&mut self) -> u32 {
        std::mem::take(&mut self.changes)
    }
}

fn process_cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Engine {
    /// Sets N of each group with a budget, and records each change with its reason. Returns the number
    /// of changes.
    fn decide(&self, load: &Load, units: &Units) -> u32 {
        let control = self.view.control();
        let thousandths = control.budgets.each_ref().map(|b| b.load(Ordering::SeqCst));
        let budgets = thousandths.map(|b| (b != 0).then(|| f64::from(b) / 100_000.0));
        let before = control
            .sampling
            .each_ref()
            .map(|n| n.load(Ordering::SeqCst).max(1));
        let chosen = choose(load, units, &budgets, &before);
        let mut changes = 0;
        for group in (0..GROUPS).filter(|group| chosen[*group] != before[*group]) {
            let cost = load.events[group] * units[group] / f64::from(before[group]);
            let spent = if load.cpu > 0.0 { cost / load.cpu } else { 0.0 };
            let reason = match chosen[group] > before[group] {
                true => Reason::Over,
                false => Reason::Headroom,
            };
            control.set_rate(group, chosen[group]);
            changes += 1;
            self.write_down(|line| {
                line.set(at::WHAT, reason as u64 | (group as u64) << 8);
                let rates = u64::from(before[group]) | u64::from(chosen[group]) << 32;
                line.set(at::RATES, rates);
                line.set(at::BUDGET, u64::from(thousandths[group]));
                line.set(at::SPENT, (spent * 100_000.0) as u64);
                line.set(at::EVENTS, load.events[group] as u64);
                line.set(at::UNIT_PS, (units[group] * 1e12) as u64);
            });
        }
        changes
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

/// Measures the cost of events on this machine: reads of the clock, and accesses to lines that are not
/// in the near caches: an event's own, and its histogram's.
fn measured_units() -> Units {
    /// More than the near caches hold, so that each line has to be fetched.
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
    // It shares the clock reads of its statement.
    units[TRANSACTION] = 2.0 * line;
    // One line at the allocation and one at the free.
    units[MEMORY] = 2.0 * line;
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: Units = [1e-7; GROUPS];

    fn load(waits: f64, stages: f64, transactions: f64) -> Load {
        Load {
            cpu: 1.0,
            events: [waits, stages, transactions, 0.0],
        }
    }

    fn spent(load: &Load, rates: &[u32; GROUPS]) -> f64 {
        (0..GROUPS)
            .map(|i| load.events[i] * UNITS[i] / f64::from(rates[i]))
            .sum::<f64>()
            / load.cpu
    }

    #[test]
    fn a_cheap_group_is_counted_completely() {
        let load = load(1_000_000.0, 500.0, 1_000.0);
        let budgets = [Some(0.02); GROUPS];
        let chosen = choose(&load, &UNITS, &budgets, &[1; GROUPS]);
        assert_eq!((chosen[STAGE], chosen[TRANSACTION]), (1, 1), "{chosen:?}");
        assert!(chosen[WAIT] > 4);
        let spent = spent(&load, &chosen);
        assert!((0.015..=0.02).contains(&spent), "{spent}");
    }

    #[test]
    fn equals_share_equally() {
        let load = load(1e6, 1e6, 0.0);
        let chosen = choose(&load, &UNITS, &[Some(0.02); GROUPS], &[1; GROUPS]);
        assert_eq!(chosen[WAIT], chosen[STAGE]);
        assert_eq!(chosen[WAIT], 10);
    }

    #[test]
    fn a_group_without_a_budget_does_not_change() {
        let budgets = [Some(0.01), None, None, None];
        let before = [1, 7, 3, 5];
        let chosen = choose(&load(1e6, 1e6, 1e6), &UNITS, &budgets, &before);
        assert_eq!(chosen, [10, 7, 3, 5]);
    }

    #[test]
    fn a_tenfold_rise_is_followed_within_two_seconds_and_a_fall_later() {
        let budgets = [Some(0.02); GROUPS];
        let (mut smooth, mut rates) = (Smooth::default(), [1; GROUPS]);
        let mut tick = |waits: f64, rates: &mut [u32; GROUPS]| {
            let now = load(waits, 10.0, 0.0);
            let smoothed = Load {
                events: smooth.add(now.events.map(Some)),
                ..now
            };
            *rates = choose(&smoothed, &UNITS, &budgets, rates);
            spent(&now, rates)
        };
        let ticks = (2_000_000_000 / INTERVAL_NS) as usize;
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
    fn every_group_has_some_windows() {
        let chosen = choose(
            &load(1e9, 1e12, 1e12),
            &UNITS,
            &[Some(1e-5); GROUPS],
            &[1; GROUPS],
        );
        assert!(chosen.iter().all(|n| *n <= MAX_N));
        // Without any load nothing changes.
        let before = [5; GROUPS];
        let idle = Load {
            cpu: 0.0,
            events: [0.0; GROUPS],
        };
        assert_eq!(
            choose(&idle, &UNITS, &[Some(0.01); GROUPS], &before),
            before
        );
    }

    #[test]
    fn event_costs_are_plausible_times() {
        let units = measured_units();
        assert!(
            units.iter().all(|unit| *unit > 0.0 && *unit < 1e-3),
            "{units:?}"
        );
        assert!(units[WAIT] >= units[STAGE]);
    }
}
