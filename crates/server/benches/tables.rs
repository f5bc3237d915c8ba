//! What the tables cost their reader: the top 25 waits of 500 threads with 1,000 classes each, a scan
//! by thread, and giving a connection its catalog.
//!
//! `cargo bench -p tare-server --bench tables`. Medians of as many runs as fit into a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tare_mysql::session::SessionFacts;
use tare_query::catalog::{self};
use tare_reader::Segment;
use tare_rows::source::Source;

const THREADS: usize = 500;
const CLASSES: usize = 1000;

tare::classes! {
    static SESSION: Thread = "thread/bench/session";
}

struct Serving(Arc<Segment>);

impl SessionFacts for Serving {}

impl Source for Serving {
    fn segment(&self) -> Option<Arc<Segment>> {
        Some(self.0.clone())
    }
}

fn measure(what: &str, mut run: impl FnMut()) {
    let begin = Instant::now();
    let mut times: Vec<Duration> = Vec::new();
    while begin.elapsed() < Duration::from_secs(1) || times.len() < 3 {
        let start = Instant::now();
        run();
        times.push(start.elapsed());
    }
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{what:<44} median {median:>10.1?}  worst {worst:>10.1?}  runs {}",
        times.len()
    );
}

fn main() {
    let limits = tare::Limits::default().classes(2048);
    tare::start(tare::Config::everything().limits(limits)).expect("Tare starts");
    let class = |i: usize| -> &'static tare::Class {
        let name: &'static str = format!("wait/synch/cond/bench/{i:04}").leak();
        Box::leak(Box::new(tare::Class::new(tare::Kind::Cond, name, "")))
    };
    let classes: Vec<&'static tare::Class> = (0..CLASSES).map(class).collect();
    let mut sessions: Vec<tare::thread::ThreadSession> = (0..THREADS)
        .map(|_| tare::thread::ThreadSession::new(&SESSION))
        .collect();
    for session in &mut sessions {
        session.run(|| {
            for class in &classes {
                drop(tare::wait::start(class, tare::Operation::Wait));
            }
        })
    }
    let segment = Segment::own(tare::descriptor().unwrap()).expect("the own segment");
    let source: Arc<dyn Source> = Arc::new(Serving(Arc::new(segment)));

    measure("install the catalog", || {
        let conn = Connection::open_in_memory().unwrap();
        catalog::install(&conn, source.clone()).unwrap();
    });

    let conn = Connection::open_in_memory().unwrap();
    let catalog = catalog::install(&conn, source.clone()).unwrap();
    let query = |sql: &str| {
        let _statement = catalog.statement();
        let mut statement = conn.prepare_cached(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        let mut count = 0;
        while rows.next().unwrap().is_some() {
            count += 1;
        }
        count
    };
    let top = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM \
               performance_schema.events_waits_summary_global_by_event_name \
               WHERE COUNT_STAR > 0 ORDER BY SUM_TIMER_WAIT DESC LIMIT 25";
    measure("top 25 waits", || assert_eq!(query(top), 25));
    let by_thread = "SELECT THREAD_ID, SUM(SUM_TIMER_WAIT) FROM \
                     performance_schema.events_waits_summary_by_thread_by_event_name GROUP BY 1";
    measure("waits by thread, all 500,000 rows", || {
        assert!(query(by_thread) >= THREADS)
    });
    let one = "SELECT SUM(COUNT_STAR) FROM performance_schema.events_waits_summary_by_thread_by_event_name \
               WHERE THREAD_ID = 100";
    measure("waits of one thread", || assert_eq!(query(one), 1));
    let threads = "SELECT * FROM performance_schema.threads";
    measure("threads", || assert!(query(threads) >= THREADS));
    let long = "SELECT * FROM performance_schema.events_waits_history_long";
    measure("history_long, 10,000 waits", || assert!(query(long) > 0));
    tare::stop();
}
