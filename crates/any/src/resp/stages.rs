//! The stages of a command. All functions are called in the client's session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{idle, stage};

use super::commands;
use crate::turn;

/// Where a connection's first command is. Commands that are read together are executed together.
#[derive(Default)]
pub struct Progress {
    /// When the execution of what was read last began, 0 = its stages are not recorded.
    began: u64,
    /// When it ended; 0 = it has not.
    ended: Arc<AtomicU64>,
    /// Whether the reply of the first command is written.
    is_writing: bool,
}

impl Progress {
    /// Something was read. `may_execute`: whether the thread executes it now, and it follows no command without a
    /// reply. Reads the clock only if stages are recorded.
    #[inline]
    pub fn read(&mut self, may_execute: impl FnOnce() -> bool) {
        self.began = 0;
        if turn::has_stages() && may_execute() {
            self.begin();
        }
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self) {
        if let Some(stages) = commands::stages()
            && stage::is_timed(stages.execution)
        {
            let now = idle::now();
            self.began = now;
            turn::begin_execution(now, &self.ended);
        }
    }

    /// When the execution of a command that was just read began, 0 = its stages are not recorded.
    pub fn began(&self) -> u64 {
        self.began
    }

    /// The reply to the first command is written.
    #[inline]
    pub fn write(&mut self, is_recorded: impl FnOnce() -> bool) {
        if !self.is_writing && is_recorded() {
            self.enter_write();
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_write(&mut self) {
        let Some(stages) = commands::stages() else {
            return;
        };
        self.is_writing = true;
        let woken = turn::woken();
        match self.ended.load(Ordering::Relaxed) {
            // Another thread writes it before this one has done anything else.
            0 => stage::set_at(stages.write, idle::now()),
            // The thread has polled since: the command waited for something else.
            ended if ended < woken => {
                stage::set_at(stages.blocked, ended);
                stage::set_at(stages.write, woken);
            }
            ended => stage::set_at(stages.write, ended),
        }
    }

    /// The first command ends.
    #[inline]
    pub fn end(&mut self) {
        self.is_writing = false;
    }
}

/// A command's statement has begun: it has queued since it arrived, and was executed from `began` on.
#[cold]
#[inline(never)]
pub fn enter_execution(since: u64, began: u64) {
    if let Some(stages) = commands::stages() {
        stage::set_at(stages.queue, since);
        stage::set_at(stages.execution, began);
    }
}
