//! Samples in a compact form: each distinct text once, and each sample as a row of numbers; and sums
//! over them.

mod past;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tare_history::{Moment, Sample};

use super::class::{CLASSES, class, is_off_cpu, wait_key};
use past::Thinning;

/// The dimensions of samples, as requests name them.
pub const DIMENSIONS: [&str; 10] = [
    "sql", "wait", "user", "host", "schema", "file", "table", "stage", "thread", "process",
];

/// The most samples, of about 130 bytes each.
const MAX_ROWS: usize = 400_000;

/// The most moments: nearly three hours at ten per second.
const MAX_MOMENTS: usize = 100_000;

/// The fewest moments of an average on the curve: of one moment, it is a whole number that means little.
pub const MIN_MOMENTS: usize = 5;

/// The number of a text, from 1; 0 means none.
type Id = u32;

/// A sample.
#[derive(Clone, Copy)]
pub struct Row {
    /// The time, in milliseconds since 1970.
    pub at: i64,
    /// The seconds that it represents.
    pub seconds: f32,
    /// The class of its wait.
    pub class: u8,
    /// Texts by dimension.
    pub keys: [Id; DIMENSIONS.len()],
    /// The wait's operation.
    pub operation: Id,
    /// The wait's object.
    pub object: Id,
    /// The thread's id.
    pub thread: u64,
    /// The connection's id, or 0.
    pub connection: u64,
    /// The blocking thread's id, or 0.
    pub blocker: u64,
    /// The statement's duration so far in nanoseconds.
    pub statement_ns: u64,
    /// The wait's duration so far in nanoseconds.
    pub wait_ns: u64,
}

/// A selection of samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The start, in milliseconds since 1970.
    pub from: i64,
    /// The end, which is excluded.
    pub to: i64,
    /// Only this class.
    pub class: Option<usize>,
    /// Only these texts, by index of the dimension.
    pub keys: Vec<(usize, String)>,
}

/// Sums of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    /// The key.
    pub key: String,
    /// Seconds by class.
    pub classes: [f64; CLASSES.len()],
}

impl Top {
    /// The sum over the classes.
    pub fn seconds(&self) -> f64 {
        self.classes.iter().sum()
    }
}

/// Average active sessions over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The starts of the steps, in milliseconds since 1970.
    pub times: Vec<i64>,
    /// Averages by class; `None` in steps without moments. A step with fewer than [`MIN_MOMENTS`] has the average of
    /// itself and its neighbours.
    pub classes: Vec<Vec<Option<f64>>>,
    /// The length of a step in milliseconds.
    pub step: i64,
}

/// The distinct texts.
#[derive(Default)]
struct Texts {
    all: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, Id>,
}

impl Texts {
    fn id(&mut self, text: &str) -> Id {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let text: Arc<str> = text.into();
        self.all.push(Arc::clone(&text));
        let id = self.all.len() as Id;
        self.ids.insert(text, id);
        id
    }

    fn get(&self, id: Id) -> &str {
        match id {
            0 => "",
            id => &self.all[id as usize - 1],
        }
    }

    fn id_of(&self, text: &str) -> Option<Id> {
        self.ids.get(text).copied()
    }
}

/// Samples and moments, oldest first.
#[derive(Default)]
pub struct Timeline {
    texts: Texts,
    rows: VecDeque<Row>,
    /// The times of moments, and the seconds that they represent.
    moments: VecDeque<(i64, f32)>,
    /// Which moments of a history stay.
    thinning: Thinning,
}

/// Milliseconds since 1970.
pub fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as i64
}

impl Timeline {
    /// Adds a moment with its samples, which represent so many seconds.
    pub fn add(&mut self, moment: &Moment, seconds: f64) {
        let at = millis(moment.at);
        self.add_moment(at, seconds);
        for sample in &moment.samples {
            self.add_sample(at, seconds, sample);
        }
    }

    /// Adds a moment without its samples.
    pub fn add_moment(&mut self, at: i64, seconds: f64) {
        self.moments.push_back((at, seconds as f32));
        if self.moments.len() > MAX_MOMENTS {
            self.moments.pop_front();
        }
    }

    /// Adds a sample, unless it is of an idle thread.
    pub fn add_sample(&mut self, at: i64, seconds: f64, sample: &Sample) {
        if is_idle(sample) {
            return;
        }
        if self.rows.len() >= MAX_ROWS {
            self.forget();
        }
        let class = class(sample);
        let wait = wait_key(sample, class);
        // An address is no name for a reader; a lock on a schema has only the schema's name.
        let object = sample.object.as_deref();
        let object = match object.is_some_and(|name| name.starts_with("0x")) {
            true => sample.object_schema.as_deref().or(object),
            false => object,
        };
        let event = (sample.wait.as_deref()).filter(|_| is_off_cpu(class));
        let is_in = |beginning: &str| event.is_some_and(|wait| wait.starts_with(beginning));
        let (is_table, is_file) = (is_in("wait/io/table/"), is_in("wait/io/file/"));
        let table = match (&sample.object_schema, object) {
            (Some(schema), Some(name))
                if (is_table || is_in("wait/lock/")) && name != &**schema =>
            {
                Some(format!("{schema}.{name}"))
            }
            (None, Some(name)) if is_table => Some(name.to_owned()),
            _ => None,
        };
        // The best name of what the thread runs. A process that does not use Tare has only threads.
        let thread = sample.thread.as_deref();
        let process = sample.process_id.map(|pid| pid.to_string());
        let sql = (sample.digest.as_deref())
            .or(sample.text.as_deref())
            .or(sample.statement.as_deref())
            .or(thread.filter(|_| process.is_none()));
        let of_dimension = [
            sql,
            Some(&*wait),
            sample.user.as_deref(),
            sample.client.as_deref(),
            sample.schema.as_deref(),
            object.filter(|_| is_file),
            table.as_deref(),
            sample.stage.as_deref(),
            thread.filter(|_| process.is_some()),
            process.as_deref(),
        ];
        let texts = &mut self.texts;
        let mut id = |text: Option<&str>| text.map_or(0, |text| texts.id(text));
        self.rows.push_back(Row {
            at,
            seconds: seconds as f32,
            class: class as u8,
            keys: of_dimension.map(&mut id),
            operation: id(sample.operation.as_deref()),
            object: id(table.as_deref().or(object)),
            thread: sample.thread_id,
            connection: sample.connection_id.unwrap_or(0),
            blocker: sample.blocker.unwrap_or(0),
            statement_ns: sample.statement_ns.unwrap_or(0),
            wait_ns: sample.wait_ns.unwrap_or(0),
        });
    }

    /// Removes the oldest quarter of the samples.
    fn forget(&mut self) {
        self.rows.drain(..MAX_ROWS / 4);
        self.forget_texts();
    }

    /// Removes the texts that no sample uses.
    fn forget_texts(&mut self) {
        let old = std::mem::take(&mut self.texts);
        for row in &mut self.rows {
            for id in row
                .keys
                .iter_mut()
                .chain([&mut row.operation, &mut row.object])
            {
                if *id != 0 {
                    *id = self.texts.id(old.get(*id));
                }
            }
        }
    }

    /// A text of a row.
    pub fn text(&self, id: Id) -> &str {
        self.texts.get(id)
    }

    /// The times of the first and the last moment, in milliseconds since 1970.
    pub fn span(&self) -> Option<(i64, i64)> {
        Some((self.moments.front()?.0, self.moments.back()?.0))
    }

    /// The selected samples, oldest first.
    pub fn rows<'a>(
        &'a self,
        filter: &Filter,
    ) -> impl DoubleEndedIterator<Item = &'a Row> + use<'a> {
        let first = self.rows.partition_point(|row| row.at < filter.from);
        let end = self
            .rows
            .partition_point(|row| row.at < filter.to)
            .max(first);
        let class = filter.class;
        // An unknown text matches nothing; the empty text matches samples without one.
        let keys: Vec<(usize, Option<Id>)> = (filter.keys.iter())
            .map(|(at, text)| match text.as_str() {
                "" => (*at, Some(0)),
                text => (*at, self.texts.id_of(text)),
            })
            .collect();
        self.rows.range(first..end).filter(move |row| {
            class.is_none_or(|class| usize::from(row.class) == class)
                && keys.iter().all(|(at, id)| Some(row.keys[*at]) == *id)
        })
    }

    /// Average active sessions in steps of this many milliseconds.
    pub fn curve(&self, filter: &Filter, step: i64) -> Curve {
        let first = filter.from.div_euclid(step);
        let steps = (filter.to.div_euclid(step) - first).max(0) as usize;
        let place = |at: i64| (at.div_euclid(step) - first) as usize;
        let mut observed = vec![0.0; steps];
        let mut moments = vec![0; steps];
        let begin = self.moments.partition_point(|(at, _)| *at < first * step);
        for (at, seconds) in self.moments.range(begin..) {
            if let Some(observed) = observed.get_mut(place(*at)) {
                *observed += f64::from(*seconds);
                moments[place(*at)] += 1;
            }
        }
        let pools = pools(&moments);
        let mut active = vec![vec![0.0; steps]; CLASSES.len()];
        let aligned = Filter {
            from: first * step,
            ..filter.clone()
        };
        for row in self.rows(&aligned) {
            if let Some(sum) = active[usize::from(row.class)].get_mut(place(row.at)) {
                *sum += f64::from(row.seconds);
            }
        }
        let average = |sums: Vec<f64>| {
            let mut averages = vec![None; steps];
            for pool in &pools {
                let observed: f64 = observed[pool.clone()].iter().sum();
                let sum: f64 = sums[pool.clone()].iter().sum();
                averages[pool.clone()].fill((observed > 0.0).then(|| sum / observed));
            }
            averages
        };
        Curve {
            times: (0..steps as i64).map(|at| (first + at) * step).collect(),
            classes: active.into_iter().map(average).collect(),
            step,
        }
    }

    /// The `most` keys of a dimension with most time. Samples without a key do not count.
    pub fn top(&self, filter: &Filter, dimension: usize, most: usize) -> Vec<Top> {
        let mut sums: HashMap<Id, [f64; CLASSES.len()]> = HashMap::new();
        for row in self.rows(filter).filter(|row| row.keys[dimension] != 0) {
            let classes = sums.entry(row.keys[dimension]).or_default();
            classes[usize::from(row.class)] += f64::from(row.seconds);
        }
        let mut top: Vec<Top> = (sums.into_iter())
            .map(|(id, classes)| Top {
                key: self.text(id).to_owned(),
                classes,
            })
            .collect();
        top.sort_by(|a, b| (b.seconds().total_cmp(&a.seconds())).then_with(|| a.key.cmp(&b.key)));
        top.truncate(most);
        top
    }

    /// The average seconds that a moment of a range represents; `None` if the range has no moments.
    pub fn seconds_of_moment(&self, from: i64, to: i64) -> Option<f64> {
        let begin = self.moments.partition_point(|(at, _)| *at < from);
        let end = self.moments.partition_point(|(at, _)| *at < to);
        let count = end.saturating_sub(begin);
        (count > 0).then(|| self.observed_seconds(from, to) / count as f64)
    }

    /// The sum of the seconds that the moments of a range represent.
    pub fn observed_seconds(&self, from: i64, to: i64) -> f64 {
        let begin = self.moments.partition_point(|(at, _)| *at < from);
        let within = self.moments.range(begin..).take_while(|(at, _)| *at < to);
        within.map(|(_, seconds)| f64::from(*seconds)).sum()
    }

    /// Average active sessions of a range; `None` if it has no moments.
    pub fn average(&self, from: i64, to: i64) -> Option<f64> {
        let filter = Filter {
            from,
            to,
            ..Filter::default()
        };
        let observed = self.observed_seconds(from, to);
        let active: f64 = (self.rows(&filter)).map(|row| f64::from(row.seconds)).sum();
        (observed > 0.0).then(|| active / observed)
    }

    /// The blocked and the blocking threads of the last moment with a blocked thread.
    pub fn blocking(&self, from: i64, to: i64) -> Vec<Row> {
        let filter = Filter {
            from,
            to,
            ..Filter::default()
        };
        let Some(at) =
            (self.rows(&filter).rev()).find_map(|row| (row.blocker != 0).then_some(row.at))
        else {
            return Vec::new();
        };
        let moment = || self.rows.iter().filter(move |row| row.at == at);
        let is_in =
            |row: &&Row| row.blocker != 0 || moment().any(|other| other.blocker == row.thread);
        moment().filter(is_in).copied().collect()
    }
}

/// Whether a sample is of a background thread that waits for work, as nearly all of them do all the time.
fn is_idle(sample: &Sample) -> bool {
    let wait = sample.wait.as_deref();
    sample.statement.is_none()
        && sample.connection_id.is_none()
        && wait.is_some_and(|wait| wait.starts_with("wait/synch/cond/"))
}

/// Ranges of adjacent steps that have at least [`MIN_MOMENTS`] together, unless gaps surround them. Steps without
/// moments are in none.
fn pools(moments: &[usize]) -> Vec<Range<usize>> {
    let mut pools: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, count) in moments.iter().enumerate().filter(|(_, count)| **count > 0) {
        match pools.last_mut() {
            Some((pool, sum)) if pool.end == at && *sum < MIN_MOMENTS => {
                pool.end += 1;
                *sum += count;
            }
            _ => pools.push((at..at + 1, *count)),
        }
    }
    // The last one before a gap has no step to wait for.
    let mut complete: Vec<Range<usize>> = Vec::new();
    for (pool, sum) in pools {
        match complete.last_mut() {
            Some(last) if last.end == pool.start && sum < MIN_MOMENTS => last.end = pool.end,
            _ => complete.push(pool),
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tare_history::State;

    use super::*;

    fn sample(thread: u64, wait: Option<&str>, sql: &str) -> Sample {
        Sample {
            thread_id: thread,
            state: wait.is_none().then_some(State::OnCpu),
            wait: wait.map(Into::into),
            digest: Some(sql.into()),
            user: Some("root".into()),
            object_schema: wait.map(|_| "shop".into()),
            object: wait.map(|_| "t".into()),
            ..Sample::default()
        }
    }

    fn timeline() -> Timeline {
        let mut timeline = Timeline::default();
        for second in 10..20 {
            let mut samples = vec![sample(1, None, "a")];
            if second >= 15 {
                samples.push(Sample {
                    blocker: Some(1),
                    ..sample(2, Some("wait/lock/metadata/sql/mdl"), "b")
                });
            }
            let at = UNIX_EPOCH + Duration::from_secs(second);
            timeline.add(
                &Moment {
                    at,
                    threads: None,
                    is_exact: None,
                    samples,
                },
                1.0,
            );
        }
        timeline
    }

    fn all() -> Filter {
        Filter {
            from: 0,
            to: 30_000,
            ..Filter::default()
        }
    }

    #[test]
    fn a_curve_averages_active_sessions_over_moments() {
        let curve = timeline().curve(&all(), 5000);
        assert_eq!(curve.times, [0, 5000, 10_000, 15_000, 20_000, 25_000]);
        let (cpu, lock) = (&curve.classes[0], &curve.classes[3]);
        assert_eq!(cpu, &[None, None, Some(1.0), Some(1.0), None, None]);
        assert_eq!(lock, &[None, None, Some(0.0), Some(1.0), None, None]);
    }

    #[test]
    fn an_average_has_five_moments_unless_gaps_surround_it() {
        let with_gaps = pools(&[5, 4, 6, 7, 0, 2, 0, 3, 9, 1]);
        assert_eq!(with_gaps, [0..1, 1..3, 3..4, 5..6, 7..10]);
        // A step of one second has one moment.
        let mut filter = all();
        (filter.from, filter.to) = (12_000, 19_000);
        let curve = timeline().curve(&filter, 1000);
        let lock: Vec<_> = curve.classes[3].iter().flatten().copied().collect();
        assert_eq!(lock, [4.0 / 7.0; 7], "of seven moments");
        assert_eq!(timeline().seconds_of_moment(0, 30_000), Some(1.0));
        assert_eq!(timeline().seconds_of_moment(0, 5000), None);
    }

    #[test]
    fn selected_samples_are_summed_by_class() {
        let timeline = timeline();
        let top = timeline.top(&all(), 0, 10);
        let seconds: Vec<_> = top.iter().map(|top| (&*top.key, top.seconds())).collect();
        assert_eq!(seconds, [("a", 10.0), ("b", 5.0)]);
        let mut filter = all();
        filter.keys = vec![(0, "b".into())];
        let tables = timeline.top(&filter, 6, 10);
        assert_eq!((&*tables[0].key, tables[0].classes[3]), ("shop.t", 5.0));
        filter.keys = vec![(0, "nobody's".into())];
        assert_eq!(timeline.rows(&filter).count(), 0);
        assert_eq!(timeline.top(&all(), 0, 1).len(), 1);
        assert_eq!(timeline.observed_seconds(10_000, 12_000), 2.0);
    }

    #[test]
    fn background_threads_that_wait_for_work_are_not_active() {
        let mut timeline = Timeline::default();
        let wait = Some("wait/synch/cond/mysys/COND_timer");
        let idle = sample(1, wait, "a");
        timeline.add_sample(1, 1.0, &idle);
        assert_eq!(timeline.rows.len(), 0);
        let session = Sample {
            connection_id: Some(7),
            ..idle.clone()
        };
        timeline.add_sample(1, 1.0, &session);
        timeline.add_sample(1, 1.0, &sample(2, Some("wait/io/file/innodb/x"), "a"));
        assert_eq!(timeline.rows.len(), 2);
    }

    #[test]
    fn a_process_without_statements_has_threads() {
        let mut timeline = Timeline::default();
        let sample = Sample {
            thread_id: 8,
            process_id: Some(7),
            thread: Some("worker".into()),
            state: Some(State::Blocked),
            system_call: Some("futex".into()),
            ..Sample::default()
        };
        timeline.add_sample(1, 1.0, &sample);
        let of = |name: &str| {
            let dimension = DIMENSIONS.iter().position(|of| *of == name).expect(name);
            let top = timeline.top(&all(), dimension, 9);
            top.into_iter().map(|top| top.key).collect::<Vec<_>>()
        };
        assert_eq!(
            (of("thread"), of("process")),
            (vec!["worker".into()], vec!["7".into()])
        );
        assert_eq!(
            (of("wait"), of("sql")),
            (vec!["(blocked in futex)".into()], vec![])
        );
    }

    #[test]
    fn blocked_sessions_are_listed_with_their_blockers() {
        let rows = timeline().blocking(0, 30_000);
        let threads: Vec<_> = rows.iter().map(|row| (row.thread, row.blocker)).collect();
        assert_eq!(threads, [(1, 0), (2, 1)]);
        assert!(timeline().blocking(0, 15_000).is_empty());
    }

    #[test]
    fn the_oldest_samples_are_removed_with_their_texts() {
        let mut timeline = Timeline::default();
        for n in 0..=MAX_ROWS {
            let sql = if n < MAX_ROWS / 4 { "old" } else { "new" };
            timeline.add_sample(n as i64, 1.0, &sample(1, None, sql));
        }
        assert_eq!(timeline.rows.len(), MAX_ROWS * 3 / 4 + 1);
        assert_eq!(timeline.texts.id_of("old"), None);
        let top = timeline.top(
            &Filter {
                to: i64::MAX,
                ..Filter::default()
            },
            0,
            9,
        );
        assert_eq!(top[0].key, "new");
    }
}
