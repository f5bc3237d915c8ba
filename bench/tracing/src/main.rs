//! What a span costs: opened, entered, left and closed.
//!
//!     cd bench/tracing && cargo run --release [ROUNDS [MODE]]
//!
//! Each round runs every mode once, in an order that is drawn anew: first those without Tare, then those with
//! it. A mode runs 1,000 spans, which is less than the queue of OpenTelemetry's batch processor has, so that
//! none is dropped; then it flushes what it has stored.
//! `wall` is the time of the spans in the thread that runs them. `cpu` is the processor time of the process, with
//! the flush: the work of exporters' threads is in it. Both are per span. Output: the median and the quartiles of
//! all rounds, in nanoseconds.
//!
//! The floor is an empty loop. A span that is disabled is the negative control: it must be next to nothing.

use std::hint::black_box;
use std::time::{Duration, Instant};

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use tracing::{Dispatch, dispatcher, info_span};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry;

const SPANS: usize = 1_000;

/// An exporter that drops what it gets.
#[derive(Debug)]
struct NoExporter;

impl SpanExporter for NoExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        drop(black_box(batch));
        Ok(())
    }
}

struct NoReporter;

impl fastrace::collector::Reporter for NoReporter {
    fn report(&mut self, spans: Vec<fastrace::collector::SpanRecord>) {
        drop(black_box(spans));
    }
}

/// A span without fields that is inside of no other.
#[inline(never)]
fn root() {
    for _ in 0..SPANS {
        let _span = black_box(info_span!("request")).entered();
    }
}

/// A span with a text and its normal form.
#[inline(never)]
fn root_with_text() {
    for i in 0..SPANS {
        let text = if i & 1 == 0 {
            "GET /users/1"
        } else {
            "GET /users/2"
        };
        let span = info_span!("request", shape = "GET /users/{id}", text = black_box(text));
        let _span = span.entered();
    }
}

/// Spans inside of another one.
#[inline(never)]
fn inner() {
    let _root = info_span!("request").entered();
    for _ in 0..SPANS {
        let _span = black_box(info_span!("step")).entered();
    }
}

fn fastrace_root() {
    for _ in 0..SPANS {
        let root = fastrace::Span::root("request", fastrace::collector::SpanContext::random());
        let _guard = black_box(root).set_local_parent();
    }
}

fn fastrace_root_with_text() {
    for i in 0..SPANS {
        let text = if i & 1 == 0 {
            "GET /users/1"
        } else {
            "GET /users/2"
        };
        let root = fastrace::Span::root("request", fastrace::collector::SpanContext::random())
            .with_properties(|| [("shape", "GET /users/{id}"), ("text", black_box(text))]);
        let _guard = black_box(root).set_local_parent();
    }
}

fn fastrace_inner() {
    let root = fastrace::Span::root("request", fastrace::collector::SpanContext::random());
    let _guard = root.set_local_parent();
    for _ in 0..SPANS {
        let _span = black_box(fastrace::local::LocalSpan::enter_with_local_parent("step"));
    }
}

fn floor() {
    for i in 0..SPANS {
        black_box(i);
    }
}

/// What runs, and what is measured of it.
struct Mode {
    name: String,
    dispatch: Dispatch,
    work: fn(),
    flush: Box<dyn Fn()>,
    /// Whether Tare records meanwhile.
    tare: bool,
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

/// The processor time of the process, with all its threads.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Mode {
    fn run(&mut self) {
        dispatcher::with_default(&self.dispatch, || {
            // Once more before, so that caches are warm.
            (self.work)();
            (self.flush)();
            let cpu = cpu_time();
            let begin = Instant::now();
            (self.work)();
            self.wall
                .push(begin.elapsed().as_nanos() as f64 / SPANS as f64);
            (self.flush)();
            let cpu = cpu_time().saturating_sub(cpu);
            self.cpu.push(cpu.as_nanos() as f64 / SPANS as f64);
        });
    }
}

/// Median and quartiles.
fn summary(values: &mut [f64]) -> String {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    format!("{:8.1} ({:.1} to {:.1})", at(0.5), at(0.25), at(0.75))
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(201, |n| n.parse().expect("a number of rounds"));
    let only = std::env::args().nth(2);
    fastrace::set_reporter(NoReporter, fastrace::collector::Config::default());
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(NoExporter)
        .build();
    let opentelemetry = || {
        let tracer = provider.tracer("bench");
        Dispatch::new(registry().with(tracing_opentelemetry::layer().with_tracer(tracer)))
    };
    let with_tare = || Dispatch::new(registry().with(tare_tracing::layer()));
    let nothing = || -> Box<dyn Fn()> { Box::new(|| ()) };
    let flush = || -> Box<dyn Fn()> {
        let provider = provider.clone();
        Box::new(move || provider.force_flush().expect("it exports"))
    };
    let flush_fastrace = || -> Box<dyn Fn()> { Box::new(fastrace::flush) };

    let mut modes = Vec::new();
    let mut add = |name, dispatch, work, flush, tare| {
        let (wall, cpu) = (Vec::new(), Vec::new());
        modes.push(Mode {
            name,
            dispatch,
            work,
            flush,
            tare,
            wall,
            cpu,
        });
    };
    add(
        "floor".into(),
        Dispatch::none(),
        floor as fn(),
        nothing(),
        false,
    );
    add(
        "root, no subscriber".into(),
        Dispatch::none(),
        root,
        nothing(),
        false,
    );
    let workloads = [
        ("root", root as fn(), fastrace_root as fn()),
        ("text", root_with_text, fastrace_root_with_text),
        ("inner", inner, fastrace_inner),
    ];
    for (name, work, of_fastrace) in workloads {
        let mode = |what: &str| format!("{name}, {what}");
        add(
            mode("registry"),
            Dispatch::new(registry()),
            work,
            nothing(),
            false,
        );
        add(
            mode("tare-tracing, Tare stopped"),
            with_tare(),
            work,
            nothing(),
            false,
        );
        add(mode("tare-tracing"), with_tare(), work, nothing(), true);
        add(
            mode("tracing-opentelemetry"),
            opentelemetry(),
            work,
            flush(),
            false,
        );
        add(
            mode("fastrace"),
            Dispatch::none(),
            of_fastrace,
            flush_fastrace(),
            false,
        );
    }
    modes.retain(|mode| only.as_ref().is_none_or(|only| mode.name == *only));
    let mut order: Vec<usize> = (0..modes.len()).collect();
    let mut random = 45_u64;
    for _ in 0..rounds {
        for i in (1..order.len()).rev() {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            order.swap(i, (random >> 33) as usize % (i + 1));
        }
        // First those without Tare, then those with it.
        for i in &order {
            if !modes[*i].tare {
                modes[*i].run();
            }
        }
        if modes.iter().any(|mode| mode.tare) {
            tare::start(tare::Config::default()).expect("Tare starts");
            for i in &order {
                if modes[*i].tare {
                    modes[*i].run();
                }
            }
            tare::stop();
        }
    }
    println!("{rounds} rounds of {SPANS} spans; nanoseconds per span: median (quartiles)");
    println!("{:34} {:>28} {:>28}", "", "wall", "cpu, with the flush");
    for mode in &mut modes {
        let (wall, cpu) = (summary(&mut mode.wall), summary(&mut mode.cpu));
        println!("{:34} {wall:>28} {cpu:>28}", mode.name);
    }
}
