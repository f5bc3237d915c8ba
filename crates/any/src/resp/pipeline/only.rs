//! Commands that a client sends alone, as most do: the next one when it has the reply. They are neither stored nor
//! listed. If more arrives, or the reply is not a simple one, the command is listed as the others are.

use std::mem;

use engine::Command as State;

use super::{Commands, Pending, Replies, start_since};
use crate::request::Request;
use crate::resp::commands::{Command, Effect};
use crate::resp::replies;

/// A command that runs, and that has no effect on its connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnlyCommand {
    pub command: &'static Command,
    /// When it arrived.
    since: u64,
    /// When its execution began, 0 = its stages are not recorded.
    pub executed: u64,
}

impl Commands {
    /// Begins the command that has arrived, if it is all that has arrived and nothing else runs. What it does is what
    /// [`begin`](Self::begin) does.
    #[inline]
    pub(super) fn begin_only(&mut self, bytes: &[u8]) -> bool {
        let may_begin = self.only.is_none()
            && self.pending.is_empty()
            && self.queued.is_none()
            && self.mode == Replies::On
            && !self.is_subscribed
            && !self.is_lost
            && self.session.is_recorded();
        if !may_begin {
            self.list_only();
            return false;
        }
        let Some(request) = self.requests.take_single(bytes) else {
            return false;
        };
        let command = self
            .find(&request)
            .filter(|command| command.effect == Effect::None);
        if let Some(command) = command {
            self.has_begun = self.has_begun || !command.begins_session();
            let (since, executed) = (self.since, self.progress.began());
            self.session.set_state(State::Query);
            let times = (since, executed);
            self.running = Some(start_since(command, &request, times, &mut self.session));
            self.only = Some(OnlyCommand {
                command,
                since,
                executed,
            });
        }
        self.requests.give_back(request);
        command.is_some()
    }

    /// Ends the command that was read alone, if it succeeded and its reply is all that is written. What it does is what
    /// [`end`](Self::end) does.
    #[inline]
    pub(super) fn end_only(&mut self, bytes: &[u8]) -> bool {
        if self.only.is_none() {
            return false;
        }
        if !self.replies.is_at_start() || !replies::is_success(bytes) {
            self.list_only();
            return false;
        }
        self.only = None;
        self.progress.end();
        drop(self.running.take());
        self.session.set_state(State::Sleep);
        true
    }

    /// The command that was read alone is listed as others are. Its request is not needed: its statement has begun.
    pub(super) fn list_only(&mut self) {
        if let Some(only) = mem::take(&mut self.only) {
            self.pending.push_back(Pending {
                command: only.command,
                request: Request::default(),
                since: only.since,
                executed: only.executed,
                is_silent: false,
            });
        }
    }
}
