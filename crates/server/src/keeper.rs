//! The thread that ends statements whose time is over, or whose client has gone. They look themselves,
//! too, but one that reads large rows may not come to it for long: SQLite counts steps, and not what each
//! of them takes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tare::sync::PlainMutex;
use tare_store::Control;

use crate::points;

/// Between two looks.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Whoever may run statements.
#[derive(Debug, Default)]
pub struct Keeper {
    controls: PlainMutex<Vec<Weak<Control>>>,
}

impl Keeper {
    /// A session begins.
    pub fn watch(&self, control: &Arc<Control>) {
        self.controls.lock().push(Arc::downgrade(control));
    }

    /// Starts the thread. It ends when nobody else has the keeper.
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
            working.extend(control.filter(|control| control.works()));
            lives
        });
        for control in working {
            control.end_if_due();
        }
    }
}
