//! The thread that ends statements whose time is over or whose client has gone.
//!
//! Statements check that themselves, but one that reads large rows may take long between two checks:
//! SQLite counts steps and does not measure their time.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tare::sync::PlainMutex;
use tare_store::Control;

use crate::points;

/// The time between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The sessions that may run statements.
#[derive(Debug, Default)]
pub struct Keeper {
    controls: PlainMutex<Vec<Weak<Control>>>,
}

impl Keeper {
    /// Watches a session until it ends.
    pub fn watch(&self, control: &Arc<Control>) {
        self.controls.lock().push(Arc::downgrade(control));
    }

    /// Starts the thread. It ends when the keeper is dropped.
    pub fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let keeper = Arc::downgrade(self);
        let run = move || {
            tare::thread::register(&points::THREAD_KEEPER);
            while let Some(keeper) = keeper.upgrade() {
                keeper.end_due_statements();
                drop(keeper);
                std::thread::sleep(CHECK_INTERVAL);
            }
        };
        let name = "statement_keeper".into();
        std::thread::Builder::new().name(name).spawn(run).map(drop)
    }

    fn end_due_statements(&self) {
        let mut working = Vec::new();
        self.controls.lock().retain(|control| {
            let control = control.upgrade();
            let lives = control.is_some();
            working.extend(control.filter(|control| control.is_working()));
            lives
        });
        for control in working {
            control.interrupt_if_due();
        }
    }
}
