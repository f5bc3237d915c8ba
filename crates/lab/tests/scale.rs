//! The statistics on a simulated machine with known costs: starts and turns vary, other programs have
//! bursts, and the machine drifts.
//!
//! The short tests take seconds and detect gross errors. The ignored ones simulate 2,000 runs of each
//! case and check the figures of docs/statistics.md: `cargo test -p tare-lab --release --test scale --
//! --ignored --nocapture`.

use std::collections::BTreeMap;

use fastrand::Rng;
use tare_lab::matrix::Key;
use tare_lab::stats::compare::{Baseline, percent};
use tare_lab::stats::interval::Interval;
use tare_lab::stats::starts::{Costs, Coverage, Start, effect};
use tare_lab::stopping_rule::{ComparisonStarts, StopReason, StoppingRule, Until};

/// The simulated machine. Times in seconds, deviations of logarithms.
struct Machine {
    rng: Rng,
    now: f64,
    /// Between processes.
    process: f64,
    /// Between turns.
    turn: f64,
    /// The end of the current burst of another program, and the start of the next.
    burst: (f64, f64),
    /// The drift of the machine over seconds: a mean-reverting random walk.
    drift: f64,
}

/// The measured time of a turn, and the lead before it.
const TURN: f64 = 0.03;
const LEAD: f64 = 0.03;

/// The time of starting all servers.
const START: f64 = 3.0;

/// Bursts of 50 ms take 15 % of the time, and double the cost of a turn.
const BURST: f64 = 0.05;
const PAUSE: f64 = 0.28;

impl Machine {
    fn new(seed: u64, process: f64, turn: f64) -> Self {
        let rng = Rng::with_seed(seed);
        Self {
            rng,
            now: 0.0,
            process,
            turn,
            burst: (0.0, 0.1),
            drift: 0.0,
        }
    }

    fn normal(&mut self) -> f64 {
        // Box-Muller.
        let radius = (-2.0 * (1.0 - self.rng.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.rng.f64()).cos()
    }

    /// The logarithm of the cost of a turn at this level.
    fn turn(&mut self, level: f64) -> f64 {
        let (from, to) = (self.now + LEAD, self.now + LEAD + TURN);
        let mut hit = 0.0;
        while self.burst.0 < to {
            hit += (self.burst.1.min(to) - self.burst.0.max(from)).max(0.0);
            if self.burst.1 > to {
                break;
            }
            let mut exponential = |mean: f64| -(1.0 - self.rng.f64()).ln() * mean;
            let begin = self.burst.1 + exponential(PAUSE);
            self.burst = (begin, begin + exponential(BURST));
        }
        // 30 % up or down within some ten seconds.
        self.drift = 0.995 * self.drift + 0.03 * self.normal();
        self.now = to;
        level + self.drift + (1.0 + hit / TURN).ln() + self.turn * self.normal()
    }

    /// One start of the baseline, its A/A twin and configurations with these effects. Returns the
    /// difference of each from the pair, and last that of the twin.
    fn start(&mut self, effects: &[f64], blocks: usize, shared: bool) -> Vec<Start> {
        self.now += START;
        let mut levels: Vec<f64> = (0..effects.len() + 2)
            .map(|_| self.process * self.normal())
            .collect();
        if shared {
            // In one process, only the interaction of its memory layout with the settings remains.
            let common = levels[0];
            for level in &mut levels {
                *level = common + *level / 10.0;
            }
        }
        for (level, effect) in levels[2..].iter_mut().zip(effects) {
            *level += effect.ln_1p();
        }
        let mut order: Vec<usize> = (0..levels.len()).collect();
        let mut turns = vec![[Vec::new(), Vec::new()]; effects.len()];
        let mut control = Vec::new();
        let mut costs = vec![0.0; levels.len()];
        for _ in 0..blocks {
            self.rng.shuffle(&mut order);
            for &at in &order {
                costs[at] = self.turn(levels[at]);
            }
            control.push(costs[1] - costs[0]);
            for ([first, again], cost) in turns.iter_mut().zip(&costs[2..]) {
                first.push(cost - costs[0]);
                again.push(cost - costs[1]);
            }
        }
        let each = turns.iter().map(|turns| Start::of_each(turns));
        each.chain([Start::of(&control)]).collect()
    }
}

/// A run as of `tare weigh --until`.
struct Run {
    ended: StopReason,
    seconds: f64,
    intervals: Vec<Interval>,
    /// The number of effects that it calls different.
    different: usize,
    starts: usize,
    turns: usize,
    /// Whether an interim interval excluded zero.
    alarmed: bool,
}

fn run(machine: &mut Machine, effects: &[f64], shared: bool, until: Until) -> Run {
    let began = machine.now;
    let load = "load".to_owned();
    let key = |at: usize| Key {
        server: "s".into(),
        workload: "w".into(),
        connections: 1,
        configuration: format!("c{at}"),
        again: false,
    };
    let mut comparisons: Vec<ComparisonStarts> = (0..effects.len())
        .map(|at| ComparisonStarts {
            key: key(at),
            apart: !shared,
            starts: Vec::new(),
        })
        .collect();
    let mut stopping_rule = StoppingRule::new(until);
    let (mut alarmed, mut control) = (false, Vec::new());
    loop {
        let before = machine.now;
        let blocks = stopping_rule.turns(&load) as usize;
        let mut starts = machine.start(effects, blocks, shared);
        control.extend(starts.pop());
        for (comparison, start) in comparisons.iter_mut().zip(starts) {
            comparison.starts.push(start);
        }
        let took = machine.now - before;
        let block = (took - START) / blocks as f64;
        stopping_rule.record_costs(
            &load,
            Costs {
                start: START,
                block,
            },
        );
        stopping_rule.spent = machine.now - began;
        let groups = BTreeMap::from([(load.clone(), comparisons.clone())]);
        let ended = stopping_rule.decide(&groups);
        let different = |comparison: &ComparisonStarts, coverage: Coverage| {
            let bias = Baseline::bias(&effect(&control, coverage));
            let interval = effect(&comparison.starts, coverage);
            interval.excludes_zero() && interval.mean.abs() > bias
        };
        alarmed |= comparisons
            .iter()
            .any(|comparison| different(comparison, Coverage::Anytime));
        if let Some(ended) = ended {
            let intervals = |comparison: &ComparisonStarts| {
                effect(&comparison.starts, Coverage::Stopped).map(percent)
            };
            return Run {
                different: (comparisons.iter())
                    .filter(|comparison| different(comparison, Coverage::Stopped))
                    .count(),
                starts: control.len(),
                turns: control.iter().map(|start| start.turns).sum(),
                ended,
                seconds: machine.now - began,
                intervals: comparisons.iter().map(intervals).collect(),
                alarmed,
            };
        }
    }
}

/// The totals of many runs.
#[derive(Default)]
struct Tally {
    comparisons: usize,
    covered: usize,
    different: usize,
    /// Runs with at least one difference at the end, and at any look.
    runs_ended: usize,
    runs_looked: usize,
    starts: Vec<usize>,
    turns: usize,
    seconds: Vec<f64>,
    halves: Vec<f64>,
}

/// A case: deviations of processes and turns, whether one process is shared, the effects, and the
/// stopping condition.
struct Case<'a> {
    process: f64,
    turn: f64,
    shared: bool,
    effects: &'a [f64],
    until: Until,
}

fn tally(name: &str, case: &Case, runs: usize) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..runs as u64 {
        let mut machine = Machine::new(seed, case.process, case.turn);
        let run = run(&mut machine, case.effects, case.shared, case.until);
        let different = run.different;
        tally.starts.push(run.starts);
        tally.turns += run.turns;
        tally.different += different;
        tally.runs_ended += usize::from(different > 0);
        tally.runs_looked += usize::from(different > 0 || run.alarmed);
        for (interval, effect) in run.intervals.iter().zip(case.effects) {
            let (low, high) = (
                interval.low.expect("enough"),
                interval.high.expect("enough"),
            );
            let truth = 100.0 * effect;
            tally.comparisons += 1;
            tally.covered += usize::from(low <= truth && truth <= high);
            tally.halves.push((high - low) / 2.0);
            if run.ended == StopReason::Narrow {
                let target = case.until.percent.expect("a target");
                assert!((high - low) / 2.0 <= target + 1e-9);
            }
        }
        tally.seconds.push(run.seconds);
    }
    tally.seconds.sort_by(f64::total_cmp);
    tally.halves.sort_by(f64::total_cmp);
    let starts: usize = tally.starts.iter().sum();
    println!(
        "{name}: {} runs; effect within the interval {:.1} %, called different {:.1} % of comparisons, {:.1} % of runs, \
         at any look {:.1} %; half width {:.2} % (19 of 20 below {:.2}); {:.0} s (19 of 20 below {:.0}), \
         {} starts of {} blocks",
        runs,
        tally.percent(tally.covered),
        tally.percent(tally.different),
        100.0 * tally.runs_ended as f64 / runs as f64,
        100.0 * tally.runs_looked as f64 / runs as f64,
        tally.halves[tally.halves.len() / 2],
        tally.halves[tally.halves.len() * 95 / 100],
        tally.seconds[runs / 2],
        tally.seconds[runs * 95 / 100],
        starts / runs,
        tally.turns / starts,
    );
    tally
}

impl Tally {
    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.comparisons as f64
    }
}

fn until(percent: f64) -> Until {
    Until {
        percent: Some(percent),
        seconds: None,
    }
}

fn time(seconds: f64) -> Until {
    Until {
        percent: None,
        seconds: Some(seconds),
    }
}

const NINE: [f64; 8] = [0.0, 0.005, 0.01, 0.02, 0.05, 0.0, 0.02, 0.1];

/// The cases of docs/statistics.md.
fn cases() -> Vec<(&'static str, Case<'static>)> {
    let case = |process, shared, effects, until| Case {
        process,
        turn: 0.06,
        shared,
        effects,
        until,
    };
    let same = &[0.0][..];
    let two = &[0.02][..];
    vec![
        (
            "A/A, one process, --until 1%",
            case(0.03, true, same, until(1.0)),
        ),
        (
            "A/A, two processes, --until 1%",
            case(0.03, false, same, until(1.0)),
        ),
        (
            "A/A, one process, --for 2m",
            case(0.03, true, same, time(120.0)),
        ),
        (
            "A/A, two processes, --for 2m",
            case(0.03, false, same, time(120.0)),
        ),
        (
            "2 %, one process, --until 1%",
            case(0.03, true, two, until(1.0)),
        ),
        (
            "2 %, two processes, --until 1%",
            case(0.03, false, two, until(1.0)),
        ),
        (
            "2 %, one process, --for 10m",
            case(0.03, true, two, time(600.0)),
        ),
        (
            "2 %, two processes, --for 10m",
            case(0.03, false, two, time(600.0)),
        ),
        (
            "nine, one process, --for 30m",
            case(0.03, true, &NINE, time(1800.0)),
        ),
        (
            "nine, one process, --until 1.5%",
            case(0.03, true, &NINE, until(1.5)),
        ),
    ]
}

#[test]
#[ignore = "2,000 runs of each: minutes; make test-long"]
fn two_thousand_runs_of_each() {
    for (name, case) in cases() {
        let runs = if case.effects.len() > 1 { 250 } else { 2_000 };
        let tally = tally(name, &case, runs);
        let covered = tally.percent(tally.covered);
        // If one start in five is shorter than the others (--for), the interval is somewhat too wide.
        let most = if case.effects == [0.02] { 97.0 } else { 98.5 };
        assert!((93.0..=most).contains(&covered), "{name}: {covered} %");
        if case.effects == [0.0] {
            assert!(tally.runs_looked as f64 <= 0.05 * runs as f64, "{name}");
        }
        if case.effects == [0.02] && case.until.seconds.is_none() {
            assert!(tally.different as f64 >= 0.95 * runs as f64, "{name}");
        }
    }
}

#[test]
fn a_hundred_runs_of_each() {
    for (name, case) in cases()
        .into_iter()
        .filter(|(_, case)| case.effects.len() == 1)
    {
        let runs = 100;
        let tally = tally(name, &case, runs);
        // If the true coverage is 95 %, 88 or fewer of 100 intervals cover with a probability of 1 in
        // 200.
        assert!(tally.covered >= 89, "{name}");
        if case.effects == [0.0] {
            assert!(tally.runs_looked <= 11, "{name}");
        } else if case.until.seconds.is_none() {
            assert!(tally.different >= 88, "{name}");
        }
    }
}
