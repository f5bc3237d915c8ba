//! The requests of a connection that run, and what they change: its user and database.
//!
//! A request begins when the poll returned after which its first byte was read, and ends when its response
//! was written. The server reads the requests of a pipeline one after the other: those that it has not begun
//! when it closes the connection do not count.

use std::collections::VecDeque;
use std::mem;
use std::net::IpAddr;

use engine::Command as State;
use engine::statement::{self, Statement};
use engine::thread;

use super::methods::{self, Method};
use super::requests::{self, Request};
use super::responses;
use super::stages::Progress;
use super::{proxy, route};
use crate::session::{Protocol, Session, fail, shrink};
use crate::turn::{self, arrived};
use crate::upstream::new_key;

/// The most requests of a connection that have no response yet. The server reads as many as its buffers have
/// space for: four times 8 KiB if the configuration does not say otherwise.
const MAX_PENDING: usize = 4096;

/// Statuses that are numbers of errors.
const ERRORS: std::ops::Range<u16> = responses::ERRORS..600;

/// A request that has begun and has no response.
struct Pending {
    request: Request,
    /// When it arrived.
    since: u64,
}

/// How a request ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Response,
    /// Without a response, or within it.
    Lost,
}

/// The requests of a connection.
pub struct Requests {
    parser: requests::Parser,
    responses: responses::Parser,
    pending: VecDeque<Pending>,
    /// The statement of the first one.
    running: Option<Statement>,
    /// Whether the statement has its text.
    is_described: bool,
    /// What is left of a request that was answered before all of it was read.
    rest: Request,
    /// An empty request, whose memory the next one takes.
    spare: Request,
    /// The stage of the first one.
    progress: Progress,
    key: u64,
    /// Whether nothing was read yet.
    is_new: bool,
    is_lost: bool,
    session: Session,
    host: String,
    /// The client that a header of the PROXY protocol names, until the server has accepted the header.
    proxied: Option<IpAddr>,
}

impl Requests {
    /// Those of a connection that has this session.
    pub fn new(session: Session) -> Self {
        Self {
            parser: requests::Parser::default(),
            responses: responses::Parser::default(),
            pending: VecDeque::new(),
            running: None,
            is_described: false,
            rest: Request::default(),
            spare: Request::default(),
            progress: Progress::default(),
            key: new_key(),
            is_new: true,
            is_lost: false,
            session,
            host: String::new(),
            proxied: None,
        }
    }
}

impl Protocol for Requests {
    fn open(&mut self) {
        self.session.set_user("");
        self.session.set_state(State::Sleep);
    }

    fn encrypt(&mut self) {
        self.session.encrypt();
        self.is_new = true;
    }

    fn receive(&mut self, mut bytes: &[u8]) {
        if mem::take(&mut self.is_new)
            && let Some((header, length)) = proxy::read(bytes)
        {
            self.proxied = header.client;
            bytes = &bytes[length..];
        }
        let since = arrived();
        if self.session.is_recorded() && turn::is_loop() {
            thread::serve_session(since);
        }
        loop {
            let request = match self.pending.back_mut() {
                Some(last) => &mut last.request,
                None => &mut self.rest,
            };
            match self.parser.next(&mut bytes, request) {
                None => break,
                Some(requests::Event::Progress) => {}
                Some(requests::Event::Begin) if self.pending.len() == MAX_PENDING => {
                    return self.lose_track();
                }
                Some(requests::Event::Begin) => self.push(since),
            }
        }
        self.run_first();
    }

    fn begin_send(&mut self) {
        self.progress.begin_write();
    }

    fn send(&mut self, mut bytes: &[u8]) {
        loop {
            if self.pending.is_empty() {
                if bytes.is_empty() {
                    return;
                }
                // The request was not seen, or this is no HTTP/1.
                if !bytes.starts_with(b"HTTP/1") {
                    return self.lose_track();
                }
                self.push(arrived());
            }
            let request = self.pending.front().map(Pending::of_response);
            match self.responses.next(&mut bytes, request.unwrap_or_default()) {
                Ok(None) => return,
                Ok(Some(responses::Event::Head)) => {
                    self.progress.begin_sending();
                    self.set_account();
                }
                Ok(Some(responses::Event::End)) => self.end_response(),
                Ok(Some(responses::Event::Upgrade)) => {
                    self.progress.begin_sending();
                    self.set_account();
                    self.end_first(End::Response);
                    self.pending.clear();
                    return self.lose_track();
                }
                Err(_) => {
                    // HTTP/2, whose requests are not read.
                    if (self.pending.front()).is_some_and(|first| first.request.is_preface) {
                        self.discard_first();
                    }
                    return self.lose_track();
                }
            }
            if self.is_lost {
                return;
            }
        }
    }

    fn send_unseen(&mut self, bytes: u64) {
        match self.responses.skip(bytes) {
            Ok(true) => self.end_response(),
            Ok(false) => {}
            Err(_) => self.lose_track(),
        }
    }

    fn lose_track(&mut self) {
        self.is_lost = true;
        self.pending.truncate(1);
        if !self.pending.is_empty() {
            let end = match self.responses.ends_with_connection() {
                true => End::Response,
                false => End::Lost,
            };
            self.end_first(end);
        }
        self.pending = VecDeque::new();
        self.parser = requests::Parser::default();
        self.responses = responses::Parser::default();
        self.session.set_state(State::Sleep);
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn may_miss(&self) -> bool {
        let is_between = self.parser.is_at_start() && !self.responses.is_within();
        self.is_lost || self.pending.is_empty() && is_between
    }

    fn is_start(&self, bytes: &[u8]) -> bool {
        requests::is_start(bytes)
    }

    fn key(&self) -> u64 {
        match self.progress.may_pass_on() {
            true => self.key,
            false => 0,
        }
    }

    fn begin_upstream(&mut self) {
        self.progress.begin_upstream();
    }
}

impl Requests {
    /// A request begins.
    fn push(&mut self, since: u64) {
        let request = mem::take(&mut self.spare);
        self.pending.push_back(Pending { request, since });
    }

    /// Begins the statement of the first request, and describes it as soon as its headers are read.
    fn run_first(&mut self) {
        let Some(first) = self.pending.front().filter(|_| self.session.is_recorded()) else {
            return;
        };
        let is_new = self.running.is_none();
        if self.is_described || !is_new && !first.request.has_headers {
            return;
        }
        if is_new {
            self.session.set_state(State::Query);
        }
        let statement = self.take_statement();
        self.running = statement;
    }

    /// The statement of the first request, with what is known of the request.
    fn take_statement(&mut self) -> Option<Statement> {
        let Self {
            pending,
            running,
            is_described,
            session,
            host,
            progress,
            ..
        } = self;
        let first = pending.front()?;
        let Request {
            has_headers,
            target,
            is_target_cut,
            ..
        } = &first.request;
        if *has_headers && *host != first.request.host {
            host.clone_from(&first.request.host);
            session.set_database(host);
        }
        let method = first.method()?;
        let statement = match running.take() {
            None => {
                let statement = statement::start_since(method.class, first.since);
                progress.begin(first.since);
                statement
            }
            Some(statement) => {
                if !*is_described {
                    statement.refine(method.class);
                }
                statement
            }
        };
        if *has_headers && !mem::replace(is_described, true) {
            progress.end_reading();
            session.describe(
                &statement,
                |text| route::write_text(method.name, target, *is_target_cut, text),
                |shape| route::write_shape(method.name, target, *is_target_cut, shape),
            );
        }
        Some(statement)
    }

    /// The server has accepted the names that the client and the first request have, or refused them.
    fn set_account(&mut self) {
        let status = self.responses.head().status;
        // A server that expects no header of the PROXY protocol takes it for a malformed request.
        if status != 400
            && let Some(client) = self.proxied.take()
        {
            self.session.set_host(client);
        }
        if let Some(first) = self.pending.front() {
            let user = first.request.user.as_deref();
            let is_refused = status == 401;
            self.session
                .set_user(user.filter(|_| !is_refused).unwrap_or_default());
        }
    }

    /// The response to the first request was written.
    fn end_response(&mut self) {
        let is_complete = (self.pending.front()).is_some_and(|first| first.request.is_complete);
        // After a malformed request nobody knows where the next one begins.
        let is_last = self.responses.head().closes || !is_complete && self.parser.is_malformed();
        self.end_first(End::Response);
        if is_last {
            self.pending.clear();
            return self.lose_track();
        }
        if self.pending.is_empty() {
            shrink(&mut self.pending);
            self.session.set_state(State::Sleep);
        }
        self.run_first();
    }

    /// Ends the statement of the first request.
    fn end_first(&mut self, end: End) {
        let statement = self.take_statement();
        self.is_described = false;
        if let Some(Pending { mut request, .. }) = self.pending.pop_front() {
            request.clear();
            self.spare = request;
        }
        let Some(statement) = statement else { return };
        let head = self.responses.head();
        match end {
            End::Response if ERRORS.contains(&head.status) => {
                statement.error(head.status.into(), "HY000", &head.line);
            }
            End::Response if head.status >= ERRORS.end => fail(&statement, &head.line),
            End::Response => {}
            End::Lost if self.responses.is_within() => {
                fail(&statement, "the connection was closed within the response");
            }
            End::Lost => fail(&statement, "the connection was closed without a response"),
        }
    }

    /// The first request is none.
    fn discard_first(&mut self) {
        self.pending.pop_front();
        self.is_described = false;
        if let Some(statement) = self.running.take() {
            statement.discard();
        }
    }
}

impl Pending {
    fn method(&self) -> Option<&'static Method> {
        self.request.method.or_else(|| methods::find(b""))
    }

    fn of_response(&self) -> responses::Request {
        responses::Request {
            without_body: self
                .request
                .method
                .is_some_and(|method| method.name == "HEAD"),
            without_headers: self.request.is_simple,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::session::Address;

    fn requests() -> Requests {
        methods::create("test");
        Requests::new(Session::new(&Address::Unix, false))
    }

    const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    #[test]
    fn responses_find_their_requests() {
        let mut requests = requests();
        requests.receive(&GET.repeat(3));
        assert_eq!(requests.pending.len(), 3);
        requests.send(&OK[..20]);
        requests.send(&[&OK[20..], &OK[..OK.len() - 2]].concat());
        assert_eq!(requests.pending.len(), 2);
        requests.send_unseen(1);
        requests.send_unseen(1);
        assert_eq!(requests.pending.len(), 1);
        // A response before all of the request was read.
        requests.send(OK);
        requests.receive(b"POST /b HTTP/1.1\r\nContent-Length: 40\r\n\r\nGET /no");
        requests.send(OK);
        assert!(requests.pending.is_empty());
        requests.receive(&[&[b'x'; 33], GET].concat());
        assert_eq!(requests.pending.len(), 1);
        // What the server does not read any more.
        requests.receive(GET);
        requests.send(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        assert!(requests.is_lost && requests.pending.is_empty());
    }

    #[test]
    fn a_connection_may_be_left_between_requests_only() {
        let mut requests = requests();
        assert!(requests.may_miss());
        let post = b"POST /b HTTP/1.1\r\nContent-Length: 2\r\n\r\nab";
        for byte in &post[..post.len() - 1] {
            requests.receive(&[*byte]);
            assert!(!requests.may_miss());
        }
        for byte in OK {
            requests.send(&[*byte]);
            assert!(!requests.may_miss());
        }
        // It was answered before all of it was read.
        requests.receive(b"b");
        assert!(requests.may_miss());
    }

    #[test]
    fn other_protocols_are_not_read() {
        let mut upgraded = requests();
        upgraded.receive(GET);
        upgraded.send(b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x05");
        assert!(upgraded.is_lost);
        let settings = [0, 0, 18, 4, 0, 0, 0, 0, 0];
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        let mut second = requests();
        second.receive(preface);
        assert_eq!(second.pending.len(), 1);
        second.send(&settings);
        assert!(second.is_lost && second.pending.is_empty());
        let mut second = requests();
        second.send(&settings);
        assert!(second.is_lost);
        // A server that has no HTTP/2 answers.
        let mut first = requests();
        first.receive(preface);
        first.send(b"HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        assert!(first.is_lost && first.pending.is_empty());
    }

    #[test]
    fn a_client_that_reads_no_response_takes_bounded_memory() {
        let mut requests = requests();
        requests.receive(&GET.repeat(MAX_PENDING));
        assert_eq!(requests.pending.len(), MAX_PENDING);
        requests.receive(GET);
        assert!(requests.is_lost && requests.pending.capacity() == 0);
    }

    /// Any bytes in both directions.
    #[test]
    fn any_bytes_leave_bounded_memory() {
        let pieces: &[&[u8]] = &[
            GET,
            OK,
            b"\r\n",
            b"\0\xff",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            b"HTTP/1.0 200 OK\r\n\r\n",
            b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            b"POST /b HTTP/1.1\r\nContent-Length: 10\r\n\r\n",
            b"HEAD /c HTTP/1.1\r\nAuthorization: Basic YW5uOg==\r\n\r\n",
            b"GET /old\r\n",
            b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n",
        ];
        for seed in 0..2000 {
            let (mut random, mut requests) = (Random::new(seed), requests());
            requests.open();
            for _ in 0..20 {
                match random.below(9) {
                    0..4 => requests.receive(&random.bytes(pieces, 2)),
                    4..8 => requests.send(&random.bytes(pieces, 2)),
                    _ => requests.send_unseen(random.below(9) as u64),
                }
                if requests.is_lost {
                    assert!(requests.pending.is_empty());
                    break;
                }
            }
            requests.lose_track();
            assert!(requests.pending.is_empty() && requests.running.is_none());
        }
    }
}
