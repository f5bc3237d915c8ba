//! Executions of prepared statements as nearly all clients send them: Bind, Describe and Execute of the portal
//! without a name, and Sync, in one part, whose replies the server writes in one part. They are read without
//! [`Messages`](crate::postgres::messages::Messages). What differs is read by the parsers of messages.

use std::rc::Rc;

use engine::Command as State;

use super::Connection;
use crate::postgres::pending::Step;
use crate::postgres::session::MAX_NAME_BYTES;
use crate::postgres::statements::Portal;

/// What a client sends.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'b> {
    /// The statement's name.
    pub statement: &'b [u8],
    /// Whether Describe is among the messages.
    pub is_described: bool,
}

/// What the server answers.
#[derive(Debug, PartialEq, Eq)]
pub struct Replies<'b> {
    /// The command tag.
    pub tag: &'b [u8],
    /// Rows that were sent.
    pub rows: u64,
    /// Whether a transaction is open, as in `ReadyForQuery`.
    pub state: u8,
}

/// An execution that was sent and has no reply.
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    pub is_described: bool,
    /// When it arrived.
    pub since: u64,
}

impl Connection {
    /// Begins the execution of a statement, if that is what has arrived, and all of it, and nothing else runs. What it
    /// does is what [`arrive`](Self::arrive) does with its messages.
    #[inline]
    pub(super) fn begin_execution(&mut self, bytes: &[u8], since: u64) -> bool {
        let may_begin = self.has_begun
            && !self.is_lost
            && !self.is_skipping
            && !self.is_copying
            && self.execution.is_none()
            && self.running.is_none()
            && self.pending.is_empty()
            && self.requests.is_at_start();
        let request = match may_begin {
            true => Request::find(bytes),
            false => None,
        };
        let Some(request) = request else {
            self.expand_execution();
            return false;
        };
        let Some(source) = self.pending.statements.get(request.statement) else {
            return false;
        };
        self.execution = Some(Execution {
            is_described: request.is_described,
            since,
        });
        self.session.set_state(State::Query);
        self.running = Some(self.start_as(source.command, source, since));
        true
    }

    /// Ends the execution that runs, if all its replies are written, and nothing else. What it does is what
    /// [`answer`](Self::answer) does with them.
    #[inline]
    pub(super) fn end_execution(&mut self, bytes: &[u8]) -> bool {
        let Some(Execution { is_described, .. }) = self.execution else {
            return false;
        };
        let replies = match self.replies.is_at_start() {
            true => Replies::find(bytes, is_described),
            false => None,
        };
        let Some(replies) = replies else {
            self.expand_execution();
            return false;
        };
        self.execution = None;
        let portal = match replies.state {
            b'I' => None,
            // It lives as long as the transaction.
            _ => self
                .running
                .as_ref()
                .map(|running| Portal::new(&running.source)),
        };
        self.complete(replies.tag, replies.rows);
        self.transactions.settle(self.commands, replies.state);
        match portal {
            None => self.pending.portals.clear(),
            Some(portal) => drop(self.pending.portals.set(b"", Some(Rc::new(portal)))),
        }
        self.session.set_state(State::Sleep);
        true
    }

    /// What has arrived next, or is answered, is read message by message, and so is what runs.
    pub(super) fn expand_execution(&mut self) {
        let Some(execution) = self.execution.take() else {
            return;
        };
        let Some(running) = &self.running else {
            return;
        };
        let (source, since) = (Rc::clone(&running.source), execution.since);
        let portal = Rc::new(Portal::new(&source));
        let change = self.pending.portals.set(b"", Some(Rc::clone(&portal)));
        self.pending
            .push(Step::Bind(Rc::clone(&source), change), since);
        if execution.is_described {
            self.pending.push(Step::Describe(source), since);
        }
        self.pending.push(Step::Execute(portal), since);
        self.pending.push(Step::Sync, since);
    }
}

impl<'b> Request<'b> {
    /// The execution that these bytes are. `None`: they are something else, or have more or less in them.
    pub fn find(bytes: &'b [u8]) -> Option<Self> {
        let [front @ .., b'S', 0, 0, 0, 4] = bytes else {
            return None;
        };
        let mut rest = front;
        let names = take(&mut rest, b'B')?.strip_prefix(b"\0")?;
        let mut name = names.iter().take(MAX_NAME_BYTES + 1);
        let end = name.position(|&byte| byte == 0)?;
        let is_described = rest.first() == Some(&b'D');
        if is_described && take(&mut rest, b'D')? != b"P\0" {
            return None;
        }
        let execute = take(&mut rest, b'E')?;
        let is_complete = rest.is_empty() && execute.first() == Some(&0);
        is_complete.then_some(Self {
            statement: &names[..end],
            is_described,
        })
    }
}

impl<'b> Replies<'b> {
    /// The replies that these bytes are, if the statement succeeded and they are all. `None`: they are something
    /// else, or have more or less in them.
    pub fn find(bytes: &'b [u8], is_described: bool) -> Option<Self> {
        let [front @ .., b'Z', 0, 0, 0, 5, state] = bytes else {
            return None;
        };
        let mut rest = front;
        take(&mut rest, b'2')?;
        if is_described && take(&mut rest, b'T').is_none() {
            take(&mut rest, b'n')?;
        }
        let mut rows = 0;
        while take(&mut rest, b'D').is_some() {
            rows += 1;
        }
        let [tag @ .., 0] = take(&mut rest, b'C')? else {
            return None;
        };
        let is_complete = rest.is_empty() && tag.len() <= MAX_TAG_BYTES && !tag.contains(&0);
        is_complete.then_some(Self {
            tag,
            rows,
            state: *state,
        })
    }
}

/// The longest tag.
const MAX_TAG_BYTES: usize = 64;

/// The body of the first message, if it has this type and is complete. Moves behind it.
#[inline(always)]
fn take<'b>(bytes: &mut &'b [u8], kind: u8) -> Option<&'b [u8]> {
    let ([first, length @ ..], rest) = bytes.split_first_chunk::<5>()?;
    // A length counts its own four bytes.
    let length = (u32::from_be_bytes(*length) as usize).checked_sub(4)?;
    let (body, rest) = rest.split_at_checked(length)?;
    if *first != kind {
        return None;
    }
    *bytes = rest;
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::messages::message;

    fn join(messages: &[&Vec<u8>]) -> Vec<u8> {
        messages
            .iter()
            .flat_map(|message| message.iter().copied())
            .collect()
    }

    #[test]
    fn only_complete_executions_are_read() {
        let bind = message(b'B', b"\0s1\0\0\0\0\0\0\0");
        let describe = message(b'D', b"P\0");
        let execute = message(b'E', b"\0\0\0\0\0");
        let sync = message(b'S', b"");
        let complete = [&bind[..], &describe, &execute, &sync].concat();
        let request = Request {
            statement: b"s1",
            is_described: true,
        };
        assert_eq!(Request::find(&complete), Some(request));
        let other = [&bind[..], &execute, &sync].concat();
        let request = Request {
            statement: b"s1",
            is_described: false,
        };
        assert_eq!(Request::find(&other), Some(request));
        for end in 0..complete.len() {
            assert_eq!(Request::find(&complete[..end]), None, "{end}");
            assert_eq!(Request::find(&complete[end + 1..]), None, "{end}");
        }
        for messages in [
            &[&bind, &describe, &describe, &execute, &sync][..],
            &[&bind, &execute, &execute, &sync],
            &[&bind, &message(b'D', b"S\0"), &execute, &sync],
            &[&message(b'B', b"p\0s1\0\0\0"), &execute, &sync],
            &[&message(b'B', b"\0s1"), &execute, &sync],
            &[&bind, &message(b'E', b"p\0\0\0\0\0"), &sync],
            &[&bind, &execute, &message(b'F', b""), &sync],
            &[&bind, &execute, &sync, &sync],
        ] {
            assert_eq!(Request::find(&join(messages)), None, "{messages:?}");
        }

        let row = message(b'D', b"Z\0\0\0\x05I");
        let done = [message(b'C', b"SELECT 2\0"), message(b'Z', b"T")].concat();
        let bound = message(b'2', b"");
        let columns = message(b'T', b"x");
        let complete = [&bound[..], &columns, &row, &row, &done].concat();
        let replies = Replies {
            tag: b"SELECT 2",
            rows: 2,
            state: b'T',
        };
        assert_eq!(Replies::find(&complete, true), Some(replies));
        assert_eq!(Replies::find(&complete, false), None);
        let none = [&bound[..], &message(b'n', b""), &done].concat();
        assert_eq!(
            Replies::find(&none, true).map(|replies| replies.rows),
            Some(0)
        );
        for end in 0..complete.len() {
            assert_eq!(Replies::find(&complete[..end], true), None, "{end}");
            assert_eq!(Replies::find(&complete[end + 1..], true), None, "{end}");
        }
        for messages in [
            &[&bound, &columns, &message(b'E', b"\0"), &done][..],
            &[&bound, &columns, &message(b'N', b"\0"), &done],
            &[&bound, &columns, &done, &done],
            &[&bound, &columns, &row[..9].to_vec(), &done],
        ] {
            assert_eq!(Replies::find(&join(messages), true), None);
        }
    }
}
