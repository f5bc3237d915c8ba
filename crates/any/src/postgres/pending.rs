//! Messages that wait for their replies, and the names that they change.

use std::collections::VecDeque;
use std::rc::Rc;

use super::statements::{Change, Names, Portal, Source, StoredText};
use crate::session::shrink;

/// A message that was read and has had no reply.
pub struct Pending {
    pub step: Step,
    /// When it arrived.
    pub since: u64,
}

/// What a message asks for.
pub enum Step {
    /// A simple query: the statement that is next, and the text behind it.
    Query(Option<Rc<Source>>, Rest),
    Parse(Rc<Source>, Change<Source>),
    Bind(Rc<Source>, Change<Portal>),
    Describe(Rc<Source>),
    Execute(Rc<Portal>),
    CloseStatement(Change<Source>),
    ClosePortal(Change<Portal>),
    Sync,
    FunctionCall,
    /// The client has ended a COPY.
    CopyEnd,
    /// The client ends the session.
    Terminate,
}

/// The statements of a simple query that have not begun.
#[derive(Default)]
pub struct Rest {
    pub text: Option<StoredText>,
    /// Where the next one begins.
    pub at: usize,
    /// Whether the end of the text is missing.
    pub is_cut: bool,
}

impl Rest {
    /// The text that has not begun. `None`: it is not stored.
    pub fn as_str(&self) -> Option<&str> {
        match &self.text {
            None => Some(""),
            Some(text) => Some(&text.as_str()[self.at..]).filter(|_| !text.is_left_out()),
        }
    }
}

/// The messages of a connection. Names are as they are behind the last one.
#[derive(Default)]
pub struct Queue {
    pending: VecDeque<Pending>,
    pub statements: Names<Source>,
    pub portals: Names<Portal>,
}

impl Queue {
    pub fn first(&self) -> Option<&Pending> {
        self.pending.front()
    }

    pub fn first_mut(&mut self) -> Option<&mut Pending> {
        self.pending.front_mut()
    }

    pub fn len(&self) -> usize {
        self.pending.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn push(&mut self, step: Step, since: u64) {
        self.pending.push_back(Pending { step, since });
    }

    /// Removes the first message, which is answered.
    pub fn pop(&mut self) {
        self.pending.pop_front();
    }

    /// Frees memory that an empty queue does not need.
    pub fn shrink(&mut self) {
        shrink(&mut self.pending);
    }

    /// The server reads a COPY's data. It ignores the Syncs that come before its end. Returns whether the
    /// end has not come.
    pub fn begin_copy(&mut self) -> bool {
        let (mut is_first, mut is_copying) = (true, true);
        self.pending.retain(|pending| match pending.step {
            _ if std::mem::take(&mut is_first) => true,
            Step::Sync => !is_copying,
            Step::CopyEnd => !std::mem::take(&mut is_copying),
            _ => true,
        });
        is_copying
    }

    /// The server skips messages up to the next Sync: what they would have changed is as before. Returns
    /// whether that Sync has not come.
    pub fn skip(&mut self) -> bool {
        let is_sync = |pending: &Pending| matches!(pending.step, Step::Sync);
        let sync = self.pending.iter().position(is_sync);
        let end = sync.unwrap_or(self.pending.len());
        self.undo();
        self.redo(end);
        self.pending.drain(..end);
        sync.is_none()
    }

    /// The server waits for a request: the first one that ends so is done, and all before it.
    pub fn end_request(&mut self) {
        let ends = |pending: &Pending| {
            matches!(
                pending.step,
                Step::Query(..) | Step::Sync | Step::FunctionCall
            )
        };
        let end = self.pending.iter().position(ends);
        self.pending.drain(..end.map_or(0, |end| end + 1));
    }

    /// A statement has removed this prepared statement, or all. Messages that wait come after that.
    pub fn deallocate(&mut self, name: Option<&[u8]>) {
        self.undo();
        match name {
            Some(name) => drop(self.statements.set(name, None)),
            None => self.statements.clear(),
        }
        self.redo(0);
    }

    /// Undoes what the messages change.
    fn undo(&mut self) {
        for number in (0..self.pending.len()).rev() {
            self.swap(number);
        }
    }

    /// Does again what the messages from this one on change.
    fn redo(&mut self, start: usize) {
        for number in start..self.pending.len() {
            self.swap(number);
        }
    }

    /// Undoes what a message changes, or does it again.
    fn swap(&mut self, number: usize) {
        match &mut self.pending[number].step {
            Step::Parse(_, change) | Step::CloseStatement(change) => self.statements.swap(change),
            Step::Bind(_, change) | Step::ClosePortal(change) => self.portals.swap(change),
            _ => {}
        }
    }

    /// The names that the messages change.
    #[cfg(test)]
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.pending
            .iter()
            .filter_map(|pending| match &pending.step {
                Step::Parse(_, change) | Step::CloseStatement(change) => Some(change.name()),
                Step::Bind(_, change) | Step::ClosePortal(change) => Some(change.name()),
                _ => None,
            })
    }

    /// Messages that the queue has memory for.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.pending.capacity()
    }
}
