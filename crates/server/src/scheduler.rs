//! The threads that run the sessions' statements.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use polling::{Event, Events, Poller};

use super::blocking::{self, BlockablePool, mark_blocked};
use super::command;
use super::config::ThreadHandling;
use super::login::{self, Incoming};
use super::points::{
    COND_QUEUE, LOCK_IDLE, LOCK_QUEUE, THREAD_ONE_CONNECTION, THREAD_POOL_POLLER,
    THREAD_POOL_WORKER,
};
use super::session::{Next, Session};
use super::shared::Shared;
use super::transaction;
use tare::sync::{Condvar, Mutex};
use tare_store::log::{self, Priority};

/// Stack of a thread that runs statements: sqlparser's recursion is limited to 50 levels, SQLite's
/// expressions to 1000, and a build without optimization takes some KiB for each.
const STACK_BYTES: usize = 8 << 20;
/// How often a pool checks its progress. If no work was taken for as long, it adds a worker: MariaDB's
/// thread_pool_stall_limit, which is 500 ms there.
const STALL_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum of workers of a pool, blocked ones included.
const MAX_WORKERS: usize = 512;

/// Runs sessions.
#[derive(Debug)]
pub enum Scheduler {
    /// A thread for each session.
    Threads(Arc<Shared>),
    /// A pool of threads.
    Pool(Arc<Pool>),
}

impl Scheduler {
    /// Starts the scheduler that the config names.
    pub fn start(shared: &Arc<Shared>) -> io::Result<Self> {
        match shared.config.thread_handling {
            ThreadHandling::OneThreadPerConnection => Ok(Self::Threads(shared.clone())),
            ThreadHandling::PoolOfThreads => Ok(Self::Pool(Pool::start(shared)?)),
        }
    }

    /// Takes over a new connection.
    pub fn add(&self, incoming: Incoming) -> io::Result<()> {
        match self {
            Self::Threads(shared) => {
                let shared = shared.clone();
                shared
                    .counters
                    .threads_created
                    .fetch_add(1, Ordering::Relaxed);
                let parent = tare::thread::id();
                let requested = Instant::now();
                thread::Builder::new()
                    .name("one_connection".into())
                    .stack_size(STACK_BYTES)
                    .spawn(move || {
                        count_slow_launch(&shared, requested);
                        tare::thread::register_child(&THREAD_ONE_CONNECTION, parent);
                        one_connection(&shared, incoming);
                    })
                    .map(drop)
            }
            Self::Pool(pool) => {
                pool.push(Work::Connect(Box::new(incoming)));
                Ok(())
            }
        }
    }

    /// Waits until the last session has ended.
    pub fn join(&self, shared: &Shared) {
        while shared.registry.len() > 0 {
            thread::sleep(Duration::from_millis(2));
        }
        if let Self::Pool(pool) = self {
            pool.stop();
        }
    }
}

/// Counts a thread that took longer to start than slow_launch_time, in seconds.
fn count_slow_launch(shared: &Shared, requested: Instant) {
    let limit = shared.globals.get("slow_launch_time");
    let limit = limit.and_then(|seconds| seconds.parse().ok());
    if limit.is_some_and(|limit| requested.elapsed() > Duration::from_secs(limit)) {
        shared
            .counters
            .slow_launches
            .fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a session on its own thread, from login to end.
fn one_connection(shared: &Arc<Shared>, incoming: Incoming) {
    catch_panic(shared, || {
        if let Some(mut session) = login::login(shared, incoming) {
            while command::serve_one(&mut session) == Next::Continue {}
            transaction::roll_back(&mut session);
        }
    });
}

/// Runs a session's code so that a panic ends only that session. `None` if it panicked.
fn catch_panic<R>(shared: &Shared, run: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => Some(result),
        Err(panic) => {
            let what = panic.downcast_ref::<String>().map(String::as_str);
            let what = what.or_else(|| panic.downcast_ref::<&str>().copied());
            // The panic has printed itself to standard error.
            let text = format!("a session ended by a panic: {}", what.unwrap_or("unknown"));
            log::record(Priority::Error, "Server", text);
            shared.counters.panics.fetch_add(1, Ordering::Relaxed);
            None
        }
    }
}

#[derive(Debug)]
enum Work {
    Connect(Box<Incoming>),
    Serve(Box<Session>),
}

/// Workers that serve all sessions. A session belongs to the poller while it is idle, to the queue while
/// it has a command to read, and to a worker while that runs.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    poller: Poller,
    queue: Mutex<Queue>,
    work: Condvar,
    idle: Mutex<HashMap<usize, Box<Session>>>,
    size: usize,
}

#[derive(Debug, Default)]
struct Queue {
    work: VecDeque<Work>,
    /// The number of work items taken so far.
    taken: u64,
    /// Workers that wait for work.
    waiting: usize,
    /// Workers that are not blocked in a session.
    active: usize,
    workers: usize,
    stopping: bool,
    threads: Vec<JoinHandle<()>>,
}

impl BlockablePool for Pool {
    fn worker_blocks(self: Arc<Self>) {
        let mut queue = self.queue.lock();
        queue.active -= 1;
        self.wake_or_spawn(&mut queue);
    }

    fn worker_resumes(&self) {
        self.queue.lock().active += 1;
    }
}

impl Pool {
    fn start(shared: &Arc<Shared>) -> io::Result<Arc<Self>> {
        let size = match shared.config.thread_pool_size {
            0 => thread::available_parallelism().map_or(2, |n| n.get()),
            n => n,
        };
        let pool = Arc::new(Self {
            shared: shared.clone(),
            poller: Poller::new()?,
            queue: Mutex::new(&LOCK_QUEUE, Queue::default()),
            work: Condvar::new(&COND_QUEUE),
            idle: Mutex::new(&LOCK_IDLE, HashMap::new()),
            size,
        });
        {
            let mut queue = pool.queue.lock();
            for _ in 0..size {
                pool.spawn(&mut queue)?;
            }
        }
        let own = pool.clone();
        let handle = thread::Builder::new()
            .name("pool_poller".into())
            .spawn(move || {
                tare::thread::register(&THREAD_POOL_POLLER);
                own.poll();
            })?;
        pool.queue.lock().threads.push(handle);
        Ok(pool)
    }

    fn spawn(self: &Arc<Self>, queue: &mut Queue) -> io::Result<()> {
        let (own, requested) = (self.clone(), Instant::now());
        let handle = thread::Builder::new()
            .name("pool_worker".into())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                count_slow_launch(&own.shared, requested);
                tare::thread::register(&THREAD_POOL_WORKER);
                let created = &own.shared.counters.threads_created;
                created.fetch_add(1, Ordering::Relaxed);
                own.worker();
            })?;
        queue.threads.retain(|t| !t.is_finished());
        queue.threads.push(handle);
        queue.workers += 1;
        queue.active += 1;
        Ok(())
    }

    /// Wakes or starts a worker for the work that waits, if one may run.
    fn wake_or_spawn(self: &Arc<Self>, queue: &mut Queue) {
        if queue.work.is_empty() || queue.stopping {
            return;
        }
        if queue.waiting > 0 {
            self.work.notify_one();
        } else if queue.active < self.size && queue.workers < MAX_WORKERS {
            // If no thread can be started, the work waits until a blocked worker is free.
            let _ = self.spawn(queue);
        }
    }

    /// Adds a worker if all are busy with long statements. It ends when it has nothing to do.
    fn add_worker(self: &Arc<Self>, queue: &mut Queue) {
        if !queue.work.is_empty() && queue.waiting == 0 && queue.workers < MAX_WORKERS {
            // If no thread can be started, the work waits until a worker is free.
            let _ = self.spawn(queue);
        }
    }

    fn push(self: &Arc<Self>, work: Work) {
        let mut queue = self.queue.lock();
        queue.work.push_back(work);
        self.wake_or_spawn(&mut queue);
    }

    fn worker(self: &Arc<Self>) {
        blocking::set_pool_of_thread(Some(self.clone()));
        loop {
            let work = {
                let mut queue = self.queue.lock();
                loop {
                    // Workers that were added while others were blocked end when those run again.
                    let spare = queue.active > self.size && queue.work.is_empty();
                    if queue.stopping || spare {
                        queue.active -= 1;
                        queue.workers -= 1;
                        drop(queue);
                        blocking::set_pool_of_thread(None);
                        return;
                    }
                    if let Some(work) = queue.work.pop_front() {
                        queue.taken += 1;
                        break work;
                    }
                    queue.waiting += 1;
                    self.work.wait(&mut queue);
                    queue.waiting -= 1;
                }
            };
            self.serve(work);
        }
    }

    fn serve(self: &Arc<Self>, work: Work) {
        let session = match work {
            Work::Connect(incoming) => {
                let mut thread = tare::thread::ThreadSession::new(&THREAD_ONE_CONNECTION);
                let login = catch_panic(&self.shared, || {
                    thread.run(|| {
                        // The client may take long to answer the greeting.
                        let _waits = mark_blocked();
                        login::login(&self.shared, *incoming)
                    })
                });
                login.flatten().map(|mut session| {
                    session.thread = Some(thread);
                    Box::new(session)
                })
            }
            Work::Serve(mut session) => catch_panic(&self.shared, move || {
                let mut thread = session.thread.take()?;
                let mut session = thread.run(|| {
                    session.client.stream.idle(false);
                    let mut live = command::serve_one(&mut session) == Next::Continue;
                    // The worker goes on with a client that has already sent more.
                    while live && session.client.has_buffered() {
                        live = command::serve_one(&mut session) == Next::Continue;
                    }
                    if !live {
                        // In the session's instrumented thread, so that its end is recorded there.
                        transaction::roll_back(&mut session);
                        return None;
                    }
                    Some(session)
                })?;
                session.thread = Some(thread);
                Some(session)
            })
            .flatten(),
        };
        if let Some(session) = session {
            session.client.stream.idle(true);
            self.wait_for_client(session);
        }
    }

    /// Leaves a session to the poller until its client sends something.
    fn wait_for_client(self: &Arc<Self>, mut session: Box<Session>) {
        if self.shared.is_stopping() {
            return;
        }
        let key = session.state.id as usize;
        let stream = session.client.stream.clone();
        let is_polled = std::mem::replace(&mut session.client.polled, true);
        let event = Event::readable(key);
        // Held until the poller has the socket: its event may come before the session is inserted.
        let mut idle = self.idle.lock();
        idle.insert(key, session);
        let result = if is_polled {
            self.poller.modify(stream.as_fd(), event)
        } else {
            // SAFETY: the socket stays open while the session lives; epoll, the only poller on
            // Linux, forgets a socket by itself when its last descriptor is closed.
            unsafe { self.poller.add(stream.as_raw_fd(), event) }
        };
        let failed = if result.is_err() {
            idle.remove(&key)
        } else {
            None
        };
        drop(idle);
        drop(failed);
    }

    fn poll(self: &Arc<Self>) {
        let mut events = Events::new();
        let mut checked = Instant::now();
        let mut taken = 0;
        loop {
            events.clear();
            let _ = self.poller.wait(&mut events, Some(STALL_INTERVAL));
            {
                let mut queue = self.queue.lock();
                if queue.stopping {
                    return;
                }
                if checked.elapsed() >= STALL_INTERVAL {
                    if taken == queue.taken {
                        self.add_worker(&mut queue);
                    }
                    taken = queue.taken;
                    checked = Instant::now();
                }
            }
            for event in events.iter() {
                let session = self.idle.lock().remove(&event.key);
                if let Some(session) = session {
                    self.push(Work::Serve(session));
                }
            }
            if self.shared.is_stopping() {
                let idle: Vec<Box<Session>> = self.idle.lock().drain().map(|(_, s)| s).collect();
                for mut session in idle {
                    transaction::roll_back(&mut session);
                }
            }
        }
    }

    fn stop(&self) {
        let threads = {
            let mut queue = self.queue.lock();
            queue.stopping = true;
            queue.work.clear();
            std::mem::take(&mut queue.threads)
        };
        self.work.notify_all();
        let _ = self.poller.notify();
        for thread in threads {
            let _ = thread.join();
        }
    }
}
