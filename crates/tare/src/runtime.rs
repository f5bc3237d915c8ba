//! The threads of tokio's runtimes: in the feature `tokio`.

use std::cell::Cell;

use tare_layout::event::Operation;
use tokio::runtime::Builder;

use crate::class::Class;
use crate::wait::Wait;

thread_local! {
    /// The idle time of a thread that is parked.
    static PARKED: Cell<Option<Wait>> = const { Cell::new(None) };
}

/// Registers the threads of the runtime that is built: each has a slot from its start, of this class, and an
/// idle time of class `idle` while it is parked, because no task is ready.
///
/// It sets the builder's hooks `on_thread_start`, `on_thread_park`, `on_thread_unpark` and `on_thread_stop`.
///
/// ```
/// tare::classes! {
///     static WORKER: Thread = "thread/app/worker";
///     static IDLE: Idle = "idle";
/// }
/// let mut builder = tokio::runtime::Builder::new_multi_thread();
/// let runtime = tare::runtime::register_threads(&mut builder, &WORKER, &IDLE).build()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn register_threads<'a>(
    builder: &'a mut Builder,
    class: &'static Class,
    idle: &'static Class,
) -> &'a mut Builder {
    builder
        .on_thread_start(move || crate::thread::register(class))
        .on_thread_park(move || PARKED.set(Some(crate::wait::start(idle, Operation::Idle))))
        .on_thread_unpark(end_idle_time)
        .on_thread_stop(end_idle_time)
}

fn end_idle_time() {
    drop(PARKED.take());
}
