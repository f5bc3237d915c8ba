//! Texts at the level `active`: what a reader gets of a statement is of that statement and of its thread, under
//! statements that last microseconds, threads that end, and writers that are killed.

mod support;

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use support::Running;
use tare::{Config, Rule};
use tare_layout::View;
use tare_layout::control::host::FOLLOWS;
use tare_layout::sampling::GROUPS;
use tare_layout::slot::LIVE;
use tare_reader::{ActiveThread, Clock, Segment, Target, active_threads};

tare::classes! {
    static ABSTRACT: Statement = "statement/texts/abstract", mutable;
    static OUTER: Statement = "statement/texts/outer";
    static NESTED: Statement = "statement/texts/nested";
    static WORKER: Thread = "thread/texts/worker";
}

/// Lengths of texts in bytes. The short ones are much more often used.
const LENGTHS: [usize; 12] = [
    10,
    17,
    64,
    65,
    300,
    1000,
    1023,
    1024,
    1025,
    3000,
    70_000,
    1 << 20,
];

/// Lanes of threads: in each, one thread follows the other.
const LANES: usize = 4;

/// The statements of a thread, before it ends and another thread takes its slot.
const STATEMENTS_OF_THREAD: usize = 50;

fn is_long() -> bool {
    std::env::var_os("TARE_TEST_LONG").is_some()
}

/// A text that describes itself. A kind and the length come first; then, if there is space, the thread, and the
/// clock before and after the statement began; then a letter, as often as the length demands.
struct Text {
    bytes: Vec<u8>,
}

const LENGTH: std::ops::Range<usize> = 1..9;
const THREAD: std::ops::Range<usize> = 9..25;
const BEFORE: std::ops::Range<usize> = 25..41;
const AFTER: std::ops::Range<usize> = 41..57;
const FILLED: usize = 57;

impl Text {
    fn new(kind: u8, length: usize) -> Self {
        let mut bytes = vec![b'a'; length];
        bytes[0] = kind;
        put(&mut bytes, LENGTH, length as u64);
        put(&mut bytes, THREAD, tare::thread::id());
        Self { bytes }
    }

    /// Sets the letter and the times.
    fn describe(&mut self, letter: u8, before: u64, after: u64) -> &str {
        let filled = if self.bytes.len() < FILLED {
            LENGTH.end
        } else {
            FILLED
        };
        self.bytes[filled..].fill(letter);
        put(&mut self.bytes, BEFORE, before);
        put(&mut self.bytes, AFTER, after);
        std::str::from_utf8(&self.bytes).expect("ASCII")
    }
}

fn put(bytes: &mut [u8], at: std::ops::Range<usize>, value: u64) {
    let is_complete = at == LENGTH || bytes.len() >= FILLED;
    if is_complete {
        let digits = format!("{value:0width$x}", width = at.len());
        bytes[at].copy_from_slice(digits.as_bytes());
    }
}

fn number(text: &str, at: std::ops::Range<usize>) -> u64 {
    let digits = &text[at];
    u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{digits} of {text:.60}"))
}

/// One thread's statements: some refined, some with one or two nested statements, some without a text.
fn run_statements(clock: Clock, lane: usize, ended: &AtomicU64) {
    let now = || clock.now().expect("it runs");
    let nest = |text: &mut Text, letter| {
        let before = now();
        let nested = tare::statement::start(&NESTED);
        nested.text(text.describe(letter, before, now()));
        nested
    };
    tare::thread::register(&WORKER);
    tare::thread::set_processlist_id(tare::thread::id() + 1_000_000);
    let mut round = lane + ended.load(Ordering::Relaxed) as usize;
    for _ in 0..STATEMENTS_OF_THREAD {
        let at = round % 100 % LENGTHS.len();
        // Once in a while a long one.
        let length = match (at, round % 50) {
            (10 | 11, 1..) => LENGTHS[at - 6],
            _ => LENGTHS[at],
        };
        let letter = b'a' + (round % 26) as u8;
        let mut outer = Text::new(b'Q', length);
        let before = now();
        let statement = tare::statement::start(&ABSTRACT);
        let after = now();
        if !round.is_multiple_of(7) {
            statement.text(outer.describe(letter, before, after));
        }
        // As a server does that hides a password.
        if round.is_multiple_of(11) {
            let mut hidden = Text::new(b'Q', length / 4 + 10);
            statement.text(hidden.describe(letter, before, after));
        }
        if round.is_multiple_of(2) {
            statement.refine(&OUTER);
        }
        let mut count = 1;
        if round.is_multiple_of(3) {
            let mut texts = [
                Text::new(b'N', length / 2 + 10),
                Text::new(b'M', length / 3 + 10),
            ];
            let [first, second] = &mut texts;
            let nested = nest(first, letter);
            count += 1;
            if round.is_multiple_of(9) {
                drop(nest(second, letter));
                count += 1;
            }
            drop(nested);
        }
        if round.is_multiple_of(25) {
            thread::sleep(std::time::Duration::from_micros(100));
        }
        drop(statement);
        ended.fetch_add(count, Ordering::Relaxed);
        round += 7;
    }
}

/// What a text must agree with.
struct Limits {
    text_bytes: usize,
    classes: [usize; 3],
}

impl Limits {
    fn read(segment: &Segment) -> Self {
        let classes = tare_reader::Classes::read(segment.view());
        let number = |class: &tare::Class| {
            let class = classes.find(class.name());
            class.map_or(0, |class| class.id)
        };
        Self {
            text_bytes: segment.view().geometry().limits.sql_text_bytes,
            classes: [&ABSTRACT, &OUTER, &NESTED].map(number),
        }
    }

    /// Checks a sample; whether it has a text.
    fn check(&self, thread: &ActiveThread, now: u64) -> bool {
        let statement = thread.statement.as_ref().expect("a statement");
        let head = &statement.head;
        let [unrefined, outer, nested] = self.classes;
        assert_eq!(thread.processlist_id, thread.id + 1_000_000);
        assert!(
            head.start.is_none_or(|start| start <= now),
            "it began later"
        );
        let Some(text) = statement.text.as_deref() else {
            return false;
        };
        self.check_text(text, thread.id);
        let (level, classes) = match text.as_bytes()[0] {
            b'Q' => (0, [unrefined, outer]),
            b'N' => (1, [nested; 2]),
            _ => (2, [nested; 2]),
        };
        assert!(
            classes.contains(&head.class),
            "{} of {text:.60}",
            head.class
        );
        assert_eq!(head.level, level, "{text:.60}");
        if let Some(length) = text_length(text) {
            assert_eq!(statement.is_cut, text.len() < length, "{text:.60}");
            if length.min(text.len()) >= FILLED {
                let times = number(text, BEFORE)..=number(text, AFTER);
                let start = head.start.expect("a time, as there is a text");
                assert!(times.contains(&start), "{start} in {text:.60}");
            }
        }
        true
    }

    /// Checks that a text is one that this thread has stored.
    fn check_text(&self, text: &str, thread: u64) {
        let kind = text.as_bytes()[0];
        assert!(matches!(kind, b'Q' | b'N' | b'M'), "{text:.60}");
        let Some(length) = text_length(text) else {
            // Of the third one, little may be left.
            return assert_eq!(kind, b'M', "{text}");
        };
        // The third one gets what the others leave.
        let limit = length.min(self.text_bytes);
        let is_complete = text.len() == limit || kind == b'M' && text.len() < limit;
        assert!(is_complete, "{} bytes of {text:.60}", text.len());
        let filled = match length < FILLED {
            true => LENGTH.end,
            false => FILLED,
        };
        if filled == FILLED && text.len() >= FILLED {
            assert_eq!(number(text, THREAD), thread, "{text:.60}");
        }
        let letters = text.as_bytes().get(filled..).unwrap_or_default();
        let is_one = letters.windows(2).all(|pair| pair[0] == pair[1]);
        assert!(is_one, "{text}");
    }
}

/// The length of the text from which this one was stored.
fn text_length(text: &str) -> Option<usize> {
    (text.len() >= LENGTH.end).then(|| number(text, LENGTH) as usize)
}

fn start_active(config: Config) {
    tare::start(config.sampling(tare::Sampling::default().rules([Rule::Active; GROUPS])))
        .expect("starts");
    tare::watch_settings();
}

fn check_texts(rule: Rule, text_bytes: usize, samples: u64) {
    let running = Running::with(|config| {
        config.sampling.rules = [rule; GROUPS];
        config.limits.threads = 64;
        config.limits.sql_text_bytes = text_bytes;
    });
    tare::watch_settings();
    let segment = &running.segment;
    while segment.view().control().host.load(Ordering::SeqCst) & FOLLOWS == 0 {
        thread::yield_now();
    }
    segment.set_sampling(0, rule).expect("the host follows");
    for class in [&ABSTRACT, &OUTER, &NESTED] {
        drop(tare::statement::start(class));
    }
    let limits = Limits::read(segment);
    let clock = segment.clock();
    let (done, ended) = (AtomicBool::new(false), AtomicU64::new(3));
    let (mut read, mut with_text) = (0, 0);
    thread::scope(|scope| {
        for lane in 0..LANES {
            let (done, ended) = (&done, &ended);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let thread = || run_statements(clock, lane, ended);
                    thread::scope(|scope| scope.spawn(thread).join()).expect("no panic");
                }
            });
        }
        // Writers end if a check fails.
        let _end = EndOnDrop(&done);
        for round in 0_u32.. {
            for thread in active_threads(segment.view()).active {
                read += 1;
                with_text += u64::from(limits.check(&thread, clock.now().expect("it runs")));
            }
            if round.is_multiple_of(16) {
                for thread in tare_reader::threads(segment.view()) {
                    let text = thread.info.as_deref();
                    text.iter()
                        .for_each(|text| limits.check_text(text, thread.id));
                }
            }
            if read >= samples {
                break;
            }
        }
    });
    assert!(with_text > samples / 1000, "{with_text} of {read}");
    let totals = running.global();
    let counted = [
        "tare/active",
        "texts/abstract",
        "texts/outer",
        "texts/nested",
    ]
    .map(|name| {
        let row = totals.row(running.class(&format!("statement/{name}")));
        row.map_or(0, |row| row[0][tare_layout::line::COUNT])
    });
    let ended = ended.into_inner();
    match rule {
        Rule::Active => assert_eq!(counted, [ended, 0, 0, 0]),
        _ => assert_eq!((counted[0], counted.iter().sum()), (0, ended)),
    }
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_text_is_never_torn() {
    let samples = if is_long() { 10_000_000 } else { 200_000 };
    check_texts(Rule::Active, 1024, samples);
}

#[test]
fn a_long_text_is_never_torn() {
    let samples = if is_long() { 1_000_000 } else { 20_000 };
    check_texts(Rule::Active, 65_536, samples);
}

#[test]
fn a_text_of_an_exact_level_is_never_torn() {
    let samples = if is_long() { 10_000_000 } else { 200_000 };
    check_texts(Rule::Every, 1024, samples);
}

/// Names the segment of a child of [`a_killed_writer_leaves_no_torn_text`].
const CHILD: &str = "TARE_TEST_TEXTS_CHILD";

/// Not a test of its own: the program that is killed.
#[test]
fn killed_process() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    start_active(Config::everything().segment(path));
    let segment = Segment::own(tare::descriptor().expect("it runs")).expect("attached");
    let (clock, ended) = (segment.clock(), AtomicU64::new(0));
    thread::scope(|scope| {
        for lane in 0..LANES {
            let ended = &ended;
            scope.spawn(move || {
                loop {
                    let thread = || run_statements(clock, lane, ended);
                    thread::scope(|scope| scope.spawn(thread).join()).expect("no panic");
                }
            });
        }
    });
}

struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Slots whose thread was changing its statement.
fn half_changed(view: View<'_>) -> usize {
    let used = view.shared().slots_used.0.load(Ordering::Acquire) as usize;
    let live = (0..used).map(|number| view.slot(number));
    let live = live.filter(|slot| slot.state.load(Ordering::Acquire) == LIVE);
    live.filter(|slot| slot.activity.sequence.load(Ordering::Acquire) % 2 == 1)
        .count()
}

#[test]
fn a_killed_writer_leaves_no_torn_text() {
    let rounds = if is_long() { 300 } else { 6 };
    let (mut texts, mut half) = (0, 0);
    for round in 0..rounds {
        let name = format!("tare-texts-{}.segment", std::process::id());
        let path: PathBuf = std::env::temp_dir().join(name);
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "killed_process", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .spawn();
        let mut child = KillOnDrop(child.expect("it starts"));
        let attach = || Segment::attach(Target::Path(path.clone())).ok();
        // Statements of the first settings are not of the level.
        let segment = loop {
            if let Some(segment) = attach()
                && !active_threads(segment.view()).active.is_empty()
                && Limits::read(&segment)
                    .classes
                    .iter()
                    .all(|class| *class != 0)
            {
                break segment;
            }
            let ended = child.0.try_wait().expect("a child");
            assert!(ended.is_none(), "it has ended");
            thread::yield_now();
        };
        assert!(segment.is_live());
        let limits = Limits::read(&segment);
        let clock = segment.clock();
        let check = |segment: &Segment, now| {
            let threads = active_threads(segment.view()).active;
            let checked = threads.iter().filter(|thread| limits.check(thread, now));
            checked.count()
        };
        for _ in 0..100 * (round + 1) {
            check(&segment, u64::MAX);
        }
        child.0.kill().expect("killed");
        assert_eq!(child.0.wait().expect("it ends").signal(), Some(9));
        let now = Clock {
            live: true,
            ..clock
        }
        .now()
        .expect("a time");
        let segment = attach().expect("the segment is there");
        std::fs::remove_file(&path).expect("removed");
        texts += check(&segment, now);
        half += half_changed(segment.view());
    }
    println!("{texts} texts and {half} half changed lines after {rounds} kills");
    assert!(texts > 0 || half > 0);
}
