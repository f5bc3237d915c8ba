//! Measures how long it takes to find the 25 longest waits of 500 threads with 1,000 classes each, while a
//! load runs. Writes target/bench/reader.json.
//!
//!     cargo run --release -p tare-reader --example top25
//!
//! The reader attaches as another process would, to this process's own segment, and reads
//! performance_schema's global waits: it sums 500,000 rows, sorts, and takes 25. It also measures a floor (a
//! plain sum over as many bytes in memory) and a control that must be slower (the same rows, thread by
//! thread). On a machine with fewer processors than busy threads the reader waits for a processor: `top25_ms`
//! includes that, `top25_cpu_ms` does not.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tare::thread::ThreadSession;
use tare_layout::Kind;
use tare_layout::line::SUM;
use tare_reader::{Banks, Classes, Segment, Selection, Target};

const THREADS: usize = 500;
const CLASSES: usize = 1_000;
/// Sessions whose threads go on while the reader reads.
const LOADED: usize = 64;
const LOADERS: usize = 2;
const ROUNDS: usize = 200;

tare::classes! {
    static SESSION: Thread = "thread/bench/session";
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    tare::start(
        tare::Config::default()
            .limits(
                tare::Limits::default()
                    .classes(CLASSES + 64)
                    // A row and one histogram block for each class, and some have two.
                    .arena_lines(10 * (CLASSES + 64)),
            )
            .instruments([("%", tare::Setting::On)]),
    )?;
    let classes: &'static [tare::Class] = Box::leak(
        (0..CLASSES)
            .map(|i| {
                let name = Box::leak(format!("wait/lock/metadata/bench/{i}").into_boxed_str());
                tare::Class::new(Kind::MetadataLock, name, "")
            })
            .collect(),
    );
    let wait = |class: &tare::Class| {
        drop(tare::wait::start(class, tare::Operation::MetadataLock));
    };
    let mut sessions: Vec<ThreadSession> =
        (0..THREADS).map(|_| ThreadSession::new(&SESSION)).collect();
    for session in &mut sessions {
        session.run(|| {
            classes.iter().for_each(wait);
        })
    }

    let stop = AtomicBool::new(false);
    let events = AtomicU64::new(0);
    let figures = std::thread::scope(|scope| {
        let mut loaded = sessions.split_off(THREADS - LOADED);
        let chunk = LOADED / LOADERS;
        while !loaded.is_empty() {
            let mut own = loaded.split_off(loaded.len() - chunk);
            let (stop, events) = (&stop, &events);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    for session in &mut own {
                        session.run(|| {
                            classes.iter().for_each(wait);
                            events.fetch_add(CLASSES as u64, Ordering::Relaxed);
                        })
                    }
                }
            });
        }
        let figures = measure(&events);
        stop.store(true, Ordering::Relaxed);
        figures
    })?;
    drop(sessions);
    println!("{figures}");
    let directory = std::path::Path::new("target/bench");
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join("reader.json"), figures)?;
    Ok(())
}

fn measure(events: &AtomicU64) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let begin = Instant::now();
    let segment = Segment::attach(Target::Pid(std::process::id()))?;
    let attach = begin.elapsed();
    let view = segment.view();

    let top = || {
        let classes = Classes::read(view);
        let waits = Selection::new(&classes, |kind| {
            !matches!(kind, Kind::Stage | Kind::Statement)
        });
        let totals = Banks::new(view, segment.is_live()).global(&waits);
        let mut rows: Vec<(u64, usize)> = totals
            .rows()
            .map(|(class, row)| (row[0][SUM], class))
            .collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        rows.truncate(25);
        assert_eq!(rows.len(), 25);
        rows
    };
    // The first time, the kernel maps the pages: some 40 MB of them, 4 KiB at a time.
    let begin = Instant::now();
    black_box(top());
    let first = begin.elapsed();

    let plain: Vec<u64> = vec![1; THREADS * CLASSES * 8];
    let before = (events.load(Ordering::Relaxed), Instant::now());
    let (mut with_load, mut cpu, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (begin, cpu_begin) = (Instant::now(), cpu_time());
        black_box(top());
        with_load.push(begin.elapsed());
        cpu.push(cpu_time() - cpu_begin);
        let begin = Instant::now();
        black_box(plain.iter().fold(0u64, |sum, n| sum.wrapping_add(*n)));
        floor.push(begin.elapsed());
    }
    let rate =
        (events.load(Ordering::Relaxed) - before.0) as f64 / before.1.elapsed().as_secs_f64();

    let classes = Classes::read(view);
    let waits = Selection::new(&classes, |_| true);
    let banks = Banks::new(view, true);
    let mut each_thread = Vec::new();
    for _ in 0..ROUNDS / 20 {
        let begin = Instant::now();
        for slot in 0..THREADS + LOADERS + 1 {
            let bank = view.slot(slot).bank.load(Ordering::Relaxed) as usize;
            black_box(banks.thread(&waits, slot, bank));
        }
        each_thread.push(begin.elapsed());
    }
    Ok(format!(
        "{{\n  \"threads\": {THREADS},\n  \"classes\": {CLASSES},\n  \"load_events_per_second\": {rate:.0},\n  \
         \"attach_ms\": {},\n  \"first_top25_ms\": {},\n  \"top25_ms\": {},\n  \"top25_cpu_ms\": {},\n  \"floor_ms\": {},\n  \
         \"each_thread_ms\": {}\n}}\n",
        ms(attach),
        ms(first),
        spread(with_load),
        spread(cpu),
        spread(floor),
        spread(each_thread),
    ))
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn ms(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

/// Median and the middle 90 %.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    format!(
        "{{\"median\": {}, \"p5\": {}, \"p95\": {}}}",
        at(0.5),
        at(0.05),
        at(0.95)
    )
}
