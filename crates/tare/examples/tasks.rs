//! A server in async Rust with instruments: connections are tasks on four threads of tokio.
//!
//!     cargo run --release -p tare --features tokio --example tasks
//!
//! It works for a minute. Meanwhile query it from another terminal; the program itself answers nothing:
//!
//!     target/release/tare sql -e 'SELECT * FROM sys.waits_global_by_latency'
//!     target/release/tare sql -e 'SELECT thread_id, sql_text FROM performance_schema.events_statements_current'

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tare::sync::asynchronous::Mutex;
use tare::task::{scope, stage, statement};
use tare::thread::ThreadSession;
use tokio::time::{sleep, timeout};

tare::classes! {
    /// A thread of the runtime.
    static WORKER: Thread = "thread/tasks/worker";
    /// A thread of the runtime has no task to poll.
    static IDLE: Idle = "idle", enabled;
    /// A client's connection.
    static CONNECTION: Thread = "thread/tasks/connection";
    /// Guards the cache.
    static LOCK_CACHE: Mutex = "wait/synch/mutex/tasks/LOCK_cache", enabled;
    /// Reading what is not cached.
    static LOADING: Stage = "stage/tasks/Loading", enabled;
    static GET: Statement = "statement/tasks/get", enabled;
}

type Cache = Mutex<HashMap<u64, String>>;

/// Answers a request; cancelled by its caller, it is counted all the same.
async fn get(cache: &Cache, key: u64) -> usize {
    let statement = statement::start(&GET); // lives across .await
    statement.text(&format!("GET {key}"));
    let mut entries = cache.lock().await; // timed only if it waits
    let value = match entries.entry(key) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => {
            let _loading = stage::start(&LOADING);
            sleep(Duration::from_millis(1)).await; // under the lock: this is what Tare shows
            entry.insert(format!("value {key}"))
        }
    };
    statement.rows_sent(1);
    value.len()
}

async fn serve(cache: Arc<Cache>, connection: u64, until: Instant) {
    tare::thread::set_account("client", "localhost");
    tare::thread::set_processlist_id(connection);
    let mut key = connection;
    while Instant::now() < until {
        key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let answer = timeout(Duration::from_millis(50), get(&cache, key >> 48)).await;
        sleep(Duration::from_micros(if answer.is_ok() {
            500
        } else {
            5_000
        }))
        .await;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args()
        .nth(1)
        .map_or(Ok(60), |text| text.parse())?;
    let until = Instant::now() + Duration::from_secs(seconds);
    match tare::start(tare::Config::default()) {
        // Built without instrumentation, these calls do nothing, and the program is the same.
        Ok(()) | Err(tare::StartError::NotCompiledIn) => {}
        Err(error) => return Err(error.into()),
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(4).enable_time();
    let runtime = tare::runtime::register_threads(&mut builder, &WORKER, &IDLE).build()?;
    let cache = Arc::new(Cache::new(&LOCK_CACHE, HashMap::new()));
    println!("pid {}, for {seconds} s", std::process::id());
    runtime.block_on(async {
        let connections: Vec<_> = (1..=16)
            .map(|connection| {
                let session = ThreadSession::new(&CONNECTION);
                tokio::spawn(scope(session, serve(cache.clone(), connection, until)))
            })
            .collect();
        for connection in connections {
            let _ = connection.await;
        }
    });
    tare::stop();
    Ok(())
}
