//! From the results of cells to the figures of a report.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::Serialize;

use crate::cell::{self, Measurement, Memory, Outcome};
use crate::matrix::Key;
use crate::probe::{Hour, Loops};
use crate::recipe::Measure;
use crate::run::switch::Twins;
use crate::stats::compare::{Baseline, Comparison, Logs, Moment, Value, logs, spread_percent};
use crate::stats::interval::Interval;
use crate::stats::phase::{self, Phase};
use crate::stats::{mean, median};
use crate::store::Plan;

/// A load that reaches less than this part of the requested rate did not hold it.
const HELD: f64 = 0.95;

/// One configuration of one group, over its repetitions.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The cell.
    #[serde(flatten)]
    pub key: Key,
    /// The number of repetitions with figures.
    pub done: usize,
    /// Why the other repetitions have none.
    #[serde(rename = "troubles")]
    pub failures: Vec<String>,
    /// The mean and interval of each figure.
    pub values: BTreeMap<Measure, Interval>,
    /// The difference of each figure from the baseline.
    pub comparisons: BTreeMap<Measure, Comparison>,
    /// The spread of the recipe's measure between repetitions.
    pub spread_percent: Option<f64>,
    /// Why the row must not be quoted; `None` if it is stable.
    pub unstable: Option<String>,
    /// The phase of the curve by connections.
    pub phase: Option<Phase>,
    /// Means of CPU, context switches and memory.
    pub means: Option<Means>,
    /// The histogram of latencies: milliseconds and count.
    pub histogram: Vec<(f64, u64)>,
    /// The rates of events by type and name.
    pub load: Vec<EventRate>,
    /// The server's answers to the recipe's questions, in the last repetition.
    #[serde(rename = "asked", skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<cell::Answer>,
}

/// Means over repetitions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Means {
    /// The server's user time in microseconds per transaction.
    pub server_user_us: Option<f64>,
    /// The server's system time in microseconds per transaction.
    pub server_system_us: Option<f64>,
    /// The generator's user time in microseconds per transaction.
    pub generator_user_us: f64,
    /// The generator's system time in microseconds per transaction.
    pub generator_system_us: f64,
    /// The machine's CPU in percent.
    pub machine: cell::MachineCpu,
    /// The server's voluntary context switches per transaction.
    pub server_voluntary: f64,
    /// The server's involuntary context switches per transaction.
    pub server_involuntary: f64,
    /// The generator's context switches per transaction.
    pub generator_switches: f64,
    /// Errors per transaction that the load ignored.
    pub errors: f64,
    /// The requested rate.
    pub rate: Option<f64>,
    /// Whether the load held the rate.
    pub rate_held: bool,
    /// The server's memory over time, of the last repetition.
    pub memory: Vec<Memory>,
    /// Throughput in each second, of the last repetition.
    pub each_second: Vec<f64>,
}

/// The rate of one event, over all repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRate {
    /// Its type.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Events per second.
    pub per_second: f64,
    /// Events per statement.
    pub per_statement: f64,
    /// The mean duration in nanoseconds, where the event was timed.
    pub mean_ns: f64,
}

/// The figures of a report.
#[derive(Debug, Serialize)]
pub struct Analysis {
    /// A row for each configuration of each group, in the recipe's order.
    pub rows: Vec<Row>,
    /// The largest difference of an A/A pair in the recipe's measure.
    pub floor_percent: Option<f64>,
    /// The longest unmeasured time at the start of a turn, in milliseconds.
    pub lead_ms: Option<f64>,
    /// The activity of other programs during the measurement.
    pub hour: Hour,
    /// Cells without figures, and the reasons.
    #[serde(rename = "troubles")]
    pub failures: Vec<(String, String)>,
}

impl Analysis {
    /// Analyses the results of a plan.
    pub fn of(plan: &Plan, results: &[cell::Result]) -> Self {
        let mut rng = Rng::with_seed(plan.seed);
        let keys = plan.recipe.keys();
        let mut rows = Vec::with_capacity(keys.len());
        let mut start = 0;
        // The keys of a group are adjacent.
        while start < keys.len() {
            let same = keys[start..]
                .iter()
                .take_while(|key| key.load() == keys[start].load())
                .count();
            rows.extend(of_group(
                plan,
                &keys[start..start + same],
                results,
                &mut rng,
            ));
            start += same;
        }
        phases(&mut rows);
        let floors = rows
            .iter()
            .filter_map(|row| row.comparisons.get(&plan.recipe.measure)?.floor_percent);
        let floor_percent = floors.max_by(f64::total_cmp);
        Self {
            failures: failures(results),
            hour: measure_hour(plan, results),
            lead_ms: (results.iter())
                .filter_map(|result| result.outcome.measured()?.lead_ms)
                .max_by(f64::total_cmp),
            floor_percent,
            rows,
        }
    }

    /// Notes on the intervals, the hour, and unmeasured times.
    pub fn notes(&self, plan: &Plan) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(stopping_rule) = &plan.stopping_rule {
            let minutes = stopping_rule.spent / 60.0;
            let confidence = plan.coverage().confidence();
            notes.push(match stopping_rule.ended {
                Some(ended) => format!(
                    "The run stopped after {minutes:.1} min: {}. The intervals of its differences are of {confidence} %; the looks before had 1 % to err.",
                    ended.words()
                ),
                None => format!(
                    "The run was stopped after {minutes:.1} min. The intervals of its differences are of {confidence} % at every look, and so wider."
                ),
            });
        }
        if let Some(words) = self.hour.words() {
            notes.push(format!("The hour was {words}."));
        }
        if let Some(lead) = self.lead_ms {
            notes.push(format!(
                "The first {lead:.0} ms of each turn were not measured."
            ));
        }
        notes
    }

    /// The row of a key.
    pub fn row(&self, key: &Key) -> Option<&Row> {
        self.rows.iter().find(|row| row.key == *key)
    }
}

fn of_group(plan: &Plan, keys: &[Key], results: &[cell::Result], rng: &mut Rng) -> Vec<Row> {
    let all: Vec<Vec<&cell::Result>> = (keys.iter())
        .map(|key| {
            results
                .iter()
                .filter(|result| result.cell.key == *key)
                .collect()
        })
        .collect();
    let values = |at: usize, measure: Measure| -> Vec<Value> {
        let of_cell = |result: &&cell::Result| {
            let repetition = result.cell.repetition;
            let measured = result.outcome.measured();
            let turns = measured.map(|measured| measured.by_turns(measure));
            let moment = move |(turn, value)| (Moment { repetition, turn }, value);
            turns.unwrap_or_default().into_iter().map(moment)
        };
        all[at].iter().flat_map(of_cell).collect()
    };
    let own = plan.recipe.measure;
    let coverage = plan.coverage();
    let group: Vec<Logs> = (0..keys.len()).map(|at| logs(&values(at, own))).collect();
    let mut rows: Vec<Row> = (keys.iter().enumerate())
        .map(|(at, key)| {
            let measured: Vec<&Measurement> = all[at]
                .iter()
                .filter_map(|result| result.outcome.measured())
                .collect();
            let mut failures: Vec<String> = all[at]
                .iter()
                .filter_map(|result| failure(result))
                .collect();
            failures.dedup();
            let spread = spread_percent(&group[at], &group);
            Row {
                key: key.clone(),
                done: measured.len(),
                unstable: unstable(plan, spread, measured.len(), all[at].len()),
                failures,
                values: (Measure::ALL.into_iter())
                    .filter_map(|measure| {
                        let sample: Vec<f64> = (measured.iter())
                            .filter_map(|one| one.value(measure))
                            .collect();
                        (!sample.is_empty()).then(|| (measure, Interval::of(&sample, rng)))
                    })
                    .collect(),
                comparisons: BTreeMap::new(),
                spread_percent: spread,
                phase: None,
                means: means(&measured),
                histogram: histogram(&measured),
                load: load(&measured),
                answers: (measured.last()).map_or_else(Vec::new, |last| last.answers.clone()),
            }
        })
        .collect();
    let is_baseline = |key: &Key, again: bool| {
        plan.recipe.baseline.as_ref() == Some(&key.configuration) && key.again == again
    };
    let place = |again: bool| keys.iter().position(|key| is_baseline(key, again));
    let (Some(first), Some(again)) = (place(false), place(true)) else {
        return rows;
    };
    for measure in Measure::ALL {
        let baseline = Baseline::of(&values(first, measure), &values(again, measure));
        let control = baseline.control(coverage);
        let control = control.as_ref();
        let base_stable = rows[first].unstable.is_none() && rows[again].unstable.is_none();
        for (at, row) in rows.iter_mut().enumerate() {
            let stable = base_stable && row.unstable.is_none();
            let comparison = match at {
                at if at == first => None,
                // The control: the second cell against the first.
                at if at == again => {
                    let first_only = Baseline {
                        first: baseline.first.clone(),
                        again: Logs::new(),
                    };
                    first_only.compare(&baseline.again, control, stable, coverage)
                }
                at => {
                    let twins = Twins::of(&plan.recipe, &keys[first], &keys[at]);
                    // The difference of two processes is no control for one process.
                    let control = control.filter(|_| twins != Twins::First);
                    let values = logs(&values(at, measure));
                    (twins.baseline(&baseline)).compare(&values, control, stable, coverage)
                }
            };
            if let Some(comparison) = comparison {
                row.comparisons.insert(measure, comparison);
            }
        }
    }
    rows
}

fn failure(result: &cell::Result) -> Option<String> {
    match &result.outcome {
        Outcome::Done(_) => None,
        Outcome::Failed { reason } => Some(format!("failed: {reason}")),
        Outcome::Skipped { reason } => Some(format!("skipped: {reason}")),
    }
}

fn unstable(plan: &Plan, spread: Option<f64>, done: usize, tried: usize) -> Option<String> {
    let above = plan.recipe.run.unstable_above;
    match spread {
        Some(spread) if spread > above => Some(format!(
            "repetitions differ by {spread:.1} %, more than {above} %"
        )),
        _ if done > 0 && done < tried => {
            Some(format!("{} of {tried} repetitions failed", tried - done))
        }
        _ => None,
    }
}

fn means(measured: &[&Measurement]) -> Option<Means> {
    let last = measured.last()?;
    let of = |value: &dyn Fn(&Measurement) -> f64| {
        mean(&measured.iter().map(|each| value(each)).collect::<Vec<_>>())
    };
    let each = |value: &dyn Fn(&Measurement) -> f64| {
        of(&|one: &Measurement| value(one) / one.transactions.max(1.0))
    };
    let server = |value: &dyn Fn(&cell::Cpu) -> f64| {
        let has_cpu = measured.iter().all(|one| one.server.is_some());
        has_cpu.then(|| each(&|one: &Measurement| one.server.as_ref().map_or(0.0, value) * 1e6))
    };
    let rate = last.rate;
    Some(Means {
        server_user_us: server(&|cpu| cpu.user),
        server_system_us: server(&|cpu| cpu.system),
        generator_user_us: each(&|one| one.generator.user * 1e6),
        generator_system_us: each(&|one| one.generator.system * 1e6),
        machine: cell::MachineCpu {
            user: of(&|one| one.machine.user),
            system: of(&|one| one.machine.system),
            idle: of(&|one| one.machine.idle),
            stolen: of(&|one| one.machine.stolen),
        },
        server_voluntary: each(&|one| one.switches.server_voluntary as f64),
        server_involuntary: each(&|one| one.switches.server_involuntary as f64),
        generator_switches: each(&|one| one.switches.generator as f64),
        errors: each(&|one| one.errors as f64),
        rate,
        rate_held: rate.is_none_or(|rate| of(&|one| one.transactions / one.seconds) >= HELD * rate),
        memory: last.memory.clone(),
        each_second: last.each_second.clone(),
    })
}

fn histogram(measured: &[&Measurement]) -> Vec<(f64, u64)> {
    // sysbench's buckets have the same bounds in every run.
    let mut sums: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
    for (value, count) in measured
        .iter()
        .filter_map(|one| one.latency.as_ref())
        .flat_map(|one| &one.histogram)
    {
        sums.entry(value.to_bits()).or_insert((*value, 0)).1 += count;
    }
    sums.into_values().collect()
}

fn load(measured: &[&Measurement]) -> Vec<EventRate> {
    let seconds: f64 = measured.iter().map(|one| one.seconds).sum();
    let statements: f64 = measured.iter().map(|one| one.statements()).sum();
    let mut sums: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for event in measured.iter().flat_map(|one| &one.events) {
        let sum = sums.entry((&event.kind, &event.name)).or_default();
        *sum = (sum.0 + event.count, sum.1 + event.sum_ps);
    }
    let mut rates: Vec<EventRate> = (sums.into_iter())
        .map(|((kind, name), (count, sum_ps))| EventRate {
            kind: kind.into(),
            name: name.into(),
            per_second: count as f64 / seconds,
            per_statement: count as f64 / statements.max(1.0),
            mean_ns: sum_ps as f64 / 1e3 / count as f64,
        })
        .collect();
    rates.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
    rates
}

/// Assigns the phases of each curve by connections.
fn phases(rows: &mut [Row]) {
    let mut curves: BTreeMap<(String, String, String), Vec<(u32, usize)>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if row.values.contains_key(&Measure::Throughput) {
            let curve = (
                row.key.server.clone(),
                row.key.workload.clone(),
                row.key.label(),
            );
            curves
                .entry(curve)
                .or_default()
                .push((row.key.connections, at));
        }
    }
    for mut curve in curves.into_values() {
        curve.sort_unstable();
        let throughput: Vec<f64> = curve
            .iter()
            .map(|(_, at)| rows[*at].values[&Measure::Throughput].mean)
            .collect();
        let phases = phase::phases(&throughput).unwrap_or_default();
        for ((_, at), phase) in curve.into_iter().zip(phases) {
            rows[at].phase = Some(phase);
        }
    }
}

fn measure_hour(plan: &Plan, results: &[cell::Result]) -> Hour {
    let measured = || (results.iter()).filter_map(|result| result.outcome.measured());
    let turns = measured().flat_map(|measured| &measured.turns);
    let cpus = plan.machine.cpus.max(1) as f64;
    let (mut others, mut stolen, mut seconds) = (0.0, 0.0, 0.0);
    for one in measured() {
        // Busy time of neither the cell's server nor its load.
        let own = one.generator.seconds + one.server.map_or(0.0, |cpu| cpu.seconds);
        others += (one.machine.user + one.machine.system) / 100.0 * one.seconds - own / cpus;
        stolen += one.machine.stolen / 100.0 * one.seconds;
        seconds += one.seconds;
    }
    let others = 100.0 * others / seconds;
    Hour {
        loops: Loops::of(&turns.map(|turn| turn.probe_ns).collect::<Vec<_>>()),
        // Ticks of 10 ms may sum to slightly below zero; far below zero means a server on another
        // machine.
        others: (others > -5.0).then(|| others.max(0.0)),
        stolen: if seconds > 0.0 {
            100.0 * stolen / seconds
        } else {
            0.0
        },
    }
}

fn failures(results: &[cell::Result]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for result in results {
        if let Some(why) = failure(result) {
            all.push((
                format!(
                    "{}, repetition {}",
                    result.cell.key.title(),
                    result.cell.repetition
                ),
                why,
            ));
        }
    }
    all
}

/// The mean and the half width of its interval, as reports print them.
pub fn format_interval(interval: &Interval) -> String {
    let digits = |x: f64| match x.abs() {
        x if x >= 1000.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x => format!("{x:.3}"),
    };
    match (interval.low, interval.high) {
        (Some(low), Some(high)) if high - low >= 200.0 => {
            // With an interval this wide, tenths mean nothing.
            format!("{:.0} ± {:.0}", interval.mean, (high - low) / 2.0)
        }
        (Some(low), Some(high)) => {
            format!("{} ± {}", digits(interval.mean), digits((high - low) / 2.0))
        }
        _ => digits(interval.mean),
    }
}

/// The median of the stolen time over the rows, in percent.
pub fn stolen(rows: &[Row]) -> f64 {
    let stolen: Vec<f64> = rows
        .iter()
        .filter_map(|row| Some(row.means.as_ref()?.machine.stolen))
        .collect();
    if stolen.is_empty() {
        0.0
    } else {
        median(&stolen)
    }
}
