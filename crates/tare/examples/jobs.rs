//! A server in forty lines with instruments: four workers take jobs from a queue.
//!
//!     cargo run --release -p tare --example jobs
//!
//! It works for a minute. Meanwhile query it from another terminal; the program itself answers nothing:
//!
//!     target/release/tare sql -e 'SELECT * FROM sys.waits_global_by_latency'

use std::time::{Duration, Instant};

tare::classes! {
    /// Guards the queue of jobs.
    static LOCK_QUEUE: Mutex = "wait/synch/mutex/jobs/LOCK_queue", enabled;
    /// Reading what a job needs.
    static LOADING: Stage = "stage/jobs/Loading", enabled;
    /// Doing the job.
    static WORKING: Stage = "stage/jobs/Working", enabled;
    static JOB: Statement = "statement/jobs/job", enabled;
}

fn work(queue: &tare::sync::Mutex<u64>, until: Instant) {
    while Instant::now() < until {
        let statement = tare::statement::start(&JOB);
        tare::stage::set(&LOADING);
        let job = {
            let mut next = queue.lock();
            std::thread::sleep(Duration::from_micros(50)); // under the lock: this is what Tare shows
            *next += 1;
            *next
        };
        tare::stage::set(&WORKING);
        statement.text(&format!("RESIZE image {job}"));
        std::thread::sleep(Duration::from_millis(1));
        statement.rows_affected(1);
    } // dropped: the statement ends, and its last stage with it
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
    let queue = tare::sync::Mutex::new(&LOCK_QUEUE, 0);
    println!("pid {}, for {seconds} s", std::process::id());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| work(&queue, until));
        }
    });
    tare::stop();
    Ok(())
}
