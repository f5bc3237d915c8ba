//! Totals are exact, whatever becomes of the tasks in which spans are open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tare::{Config, Counter, Limits};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tracing::{Dispatch, Instrument, Span, error, info_span};

use crate::support::{Random, Running, scale};

/// What the spans of a test were.
#[derive(Default)]
struct Tally {
    requests: AtomicU64,
    queries: AtomicU64,
    steps: AtomicU64,
}

fn count(cell: &AtomicU64) {
    cell.fetch_add(1, Ordering::Relaxed);
}

fn runtime(threads: usize) -> Runtime {
    let dispatch = tracing::dispatcher::get_default(Dispatch::clone);
    Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_time()
        .on_thread_start(move || {
            std::mem::forget(tracing::dispatcher::set_default(&dispatch));
        })
        .build()
        .expect("a runtime")
}

async fn query(tally: &Tally, turns: u64) {
    let span = info_span!("query", sql = "SELECT a FROM t WHERE b = 1");
    count(&tally.queries);
    let work = async {
        for _ in 0..turns {
            yield_now().await;
        }
    };
    work.instrument(span).await;
}

async fn step(tally: &Tally, turns: u64) {
    let span = info_span!("step");
    count(&tally.steps);
    let work = async {
        for _ in 0..turns {
            yield_now().await;
        }
        error!("a step fails");
    };
    work.instrument(span).await;
}

/// A request that does this and that, closes spans late, and passes some to another task.
async fn request(seed: u64, tally: Arc<Tally>, others: mpsc::UnboundedSender<Span>) {
    let mut random = Random(seed);
    let mut open = Vec::new();
    for _ in 0..random.below(5) {
        let turns = random.below(3);
        match random.below(8) {
            0 => yield_now().await,
            1 => query(&tally, turns).await,
            2 => step(&tally, turns).await,
            3 => {
                tokio::join!(query(&tally, turns), step(&tally, 1), query(&tally, 1));
            }
            4 => {
                tokio::select! {
                    () = query(&tally, turns) => {}
                    () = step(&tally, 1) => {}
                }
            }
            5 => {
                let span = info_span!("step");
                count(&tally.steps);
                open.push(span.clone());
                others.send(span).expect("it receives until all have ended");
            }
            6 => {
                let late = Duration::from_micros(turns * 20);
                let _ = tokio::time::timeout(late, query(&tally, u64::MAX)).await;
            }
            _ => {
                let spawned = tally.clone();
                let part = async move { step(&spawned, turns).await };
                let part = tokio::spawn(part.in_current_span());
                if turns == 0 {
                    part.abort();
                } else {
                    let _ = part.await;
                }
            }
        }
    }
}

#[test]
fn totals_are_exact_whatever_becomes_of_tasks() {
    let mut running = Running::new(
        tare_tracing::layer()
            .sessions("connection")
            .max_sessions(48),
    );
    running.restart(Config::everything().limits(Limits::default().threads(96)));
    let runtime = runtime(8);
    let tally = Arc::new(Tally::default());
    let (tasks, batch) = (scale(10_000, 100_000), 250);
    let aborted = runtime.block_on(async {
        let (others, mut received) = mpsc::unbounded_channel::<Span>();
        let receiver = tokio::spawn(async move {
            let mut parked = Vec::new();
            while let Some(span) = received.recv().await {
                span.in_scope(|| parked.push(span.clone()));
                if parked.len() == 7 {
                    parked.clear();
                }
            }
        });
        let mut random = Random(45);
        let mut aborted = 0;
        for _ in 0..tasks / batch {
            let connections: Vec<_> = (0..8).map(|_| info_span!("connection")).collect();
            let mut spawned = Vec::new();
            for i in 0..batch {
                let work = request(random.below(u64::MAX) | 1, tally.clone(), others.clone());
                count(&tally.requests);
                // A third in connections of which eight run at once.
                let span = match connections.get(i % 24) {
                    Some(connection) => info_span!(parent: connection, "request"),
                    None => info_span!("request"),
                };
                spawned.push(tokio::spawn(work.instrument(span)));
                if random.below(8) == 0 {
                    yield_now().await;
                }
            }
            for task in spawned {
                if random.below(3) == 0 {
                    task.abort();
                }
                if let Err(error) = task.await {
                    assert!(error.is_cancelled(), "{error}");
                    aborted += 1;
                }
            }
        }
        drop(others);
        receiver.await.expect("no panic");
        aborted
    });
    drop(runtime);
    assert!(aborted > 0);
    let counts = [
        ("statement/tracing/request", &tally.requests),
        ("statement/tracing/query", &tally.queries),
        ("stage/tracing/step", &tally.steps),
    ];
    for (name, tally) in counts {
        assert_eq!(running.count(name), tally.load(Ordering::Relaxed), "{name}");
    }
    let digests = running.digests();
    let requests = tally.requests.load(Ordering::Relaxed);
    let queries = tally.queries.load(Ordering::Relaxed);
    assert!(
        digests.contains(&("request".into(), requests)),
        "{digests:?}"
    );
    assert!(digests.contains(&("SELECT `a` FROM `t` WHERE `b` = ?".into(), queries)));
    assert!(running.counter("statement/tracing/request", Counter::Errors) > 0);
    assert_eq!(running.live("thread/tracing/connection"), 0);
    // A session has records for five statements. Nothing else is lost.
    let nested = tare_layout::shared::Lost::NestedStatements as usize;
    let losses = running.losses();
    assert!(losses.iter().all(|(lost, _)| *lost == nested), "{losses:?}");
}
