//! The commands of a connection that run.
//!
//! A command begins when the poll returned after which it was read, and ends when its reply was written.
//! One that suppresses its reply (`noreply`) ends as soon as it is read. A quiet one, which has a reply
//! only if it fails or finds something, ends with a later command's reply, when the server reads again, or
//! when its thread polls.

use std::collections::VecDeque;
use std::mem;

use engine::Command as State;
use engine::statement::{self, Statement};

use super::commands::{self, Command, Kind};
use super::replies::{self, INVALID_ARGUMENTS, Outcome, Reply, UNKNOWN_COMMAND};
use super::requests::{self, Arrival, Fault, Silence};
use crate::request::Request;
use crate::session::{MAX_PENDING, MAX_SPARE, MAX_STORED_BYTES, Protocol, Session, fail, shrink};
use crate::turn::arrived;

/// A command that was read and has had no reply.
struct Pending {
    arrival: Arrival,
    /// When it arrived.
    since: u64,
}

/// How a command has ended.
enum End<'a> {
    /// By this reply.
    Reply(&'a Reply),
    /// The server has executed it, and no reply is known to be its own.
    Executed,
    /// The connection ended before its reply was written.
    Lost,
}

/// The commands of a connection.
pub struct Commands {
    requests: requests::Parser,
    replies: replies::Parser,
    /// Whether nothing is read any more.
    is_lost: bool,
    /// The statement of the first pending command.
    running: Option<Statement>,
    pending: VecDeque<Pending>,
    /// Bytes of memory that the arguments of pending commands take.
    stored: usize,
    /// How many pending commands have a reply in any case.
    answered: usize,
    /// How many commands have ended since the thread polled.
    executed: usize,
    /// The reply to the command whose value is being read.
    refusal: Option<Reply>,
    /// When the bytes arrived that were read last.
    last_arrived: u64,
    session: Session,
}

/// How many commands of a connection the server executes at least before its thread polls again: the
/// default of its option -R.
const REQUESTS_PER_EVENT: usize = 20;

impl Commands {
    /// Those of a connection that has this session.
    pub fn new(session: Session) -> Self {
        Self {
            requests: requests::Parser::default(),
            replies: replies::Parser::default(),
            is_lost: false,
            running: None,
            pending: VecDeque::new(),
            stored: 0,
            answered: 0,
            executed: 0,
            refusal: None,
            last_arrived: 0,
            session,
        }
    }
}

impl Protocol for Commands {
    fn open(&mut self) {
        self.session.set_user("");
        self.session.set_state(State::Sleep);
    }

    fn encrypt(&mut self) {
        self.session.encrypt();
    }

    fn receive(&mut self, bytes: &[u8]) {
        // Since its thread polled, the server has executed all that it had read before.
        let arrived = arrived();
        if arrived != self.last_arrived {
            while self.requests.is_between() && !self.pending.is_empty() {
                self.end_first(End::Executed);
            }
            (self.executed, self.last_arrived) = (0, arrived);
        }
        let mut parser = mem::take(&mut self.requests);
        match parser.read(bytes, |arrival| self.begin(arrival)) {
            Ok(()) if !self.is_lost => self.requests = parser,
            _ => self.lose_track(),
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        let mut parser = mem::take(&mut self.replies);
        parser.read(bytes, |reply| self.end(reply));
        self.replies = parser;
    }

    fn lose_track(&mut self) {
        self.is_lost = true;
        while let Some(first) = self.pending.front() {
            let end = match first.arrival.silence {
                Silence::Never => End::Lost,
                Silence::Always | Silence::Maybe => End::Executed,
            };
            self.end_first(end);
        }
        self.requests = requests::Parser::default();
        self.replies = replies::Parser::default();
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn may_miss(&self) -> bool {
        let is_between = self.requests.is_at_start() && self.replies.is_between();
        self.is_lost || self.pending.is_empty() && is_between
    }

    fn is_start(&self, bytes: &[u8]) -> bool {
        let mut first = None;
        let read = requests::Parser::default().read(bytes, |arrival| {
            first.get_or_insert(arrival.command.name);
        });
        read.is_ok() && first.is_some_and(|name| name != commands::OTHER)
    }

    fn is_quiet(&self) -> bool {
        // Within a value, or when the client does not read, replies of earlier commands may not be written
        // yet.
        let is_between = self.requests.is_between() && self.replies.is_between();
        !self.pending.is_empty() && self.answered == 0 && is_between
    }

    fn end_quiet(&mut self) {
        if !self.is_quiet() {
            return;
        }
        while self.executed < REQUESTS_PER_EVENT && !self.pending.is_empty() {
            self.end_first(End::Executed);
        }
        self.executed = 0;
    }
}

impl Commands {
    /// A command has arrived.
    fn begin(&mut self, mut arrival: Arrival) {
        if self.is_lost {
            return;
        }
        if self.pending.len() == MAX_PENDING {
            return self.lose_track();
        }
        match self.stored + arrival.request.size() {
            stored if stored <= MAX_STORED_BYTES => self.stored = stored,
            _ => arrival.request = Request::default(),
        }
        self.answered += usize::from(arrival.silence == Silence::Never);
        self.pending.push_back(Pending {
            arrival,
            since: self.last_arrived,
        });
        if self.pending.len() == 1 {
            self.session.set_state(State::Query);
            self.run_first();
        }
        if let Some(reply) = self.refusal.take()
            && self
                .pending
                .back()
                .is_some_and(|last| last.may_have(&reply))
        {
            while self.pending.len() > 1 {
                self.end_first(End::Executed);
            }
            self.end_with(&reply);
        }
    }

    /// Begins the statement of the first command, and ends those that get no reply.
    fn run_first(&mut self) {
        while let Some(first) = self.pending.front() {
            if first.arrival.silence != Silence::Always {
                if self.session.is_recorded() {
                    self.running = Some(first.start(&mut self.session));
                }
                return;
            }
            self.finish_first(End::Executed);
        }
        shrink(&mut self.pending);
        self.session.set_state(State::Sleep);
    }

    /// A reply was written. It is the first command's that may have it, and those before have none.
    fn end(&mut self, reply: &Reply) {
        // The server may refuse a value before it has read it.
        let is_refusal = reply.outcome() == Outcome::Error && !self.requests.is_between();
        let mut candidates = self.pending.iter().take(MAX_SPARE);
        let before = candidates.position(|pending| {
            let is_sure = pending.arrival.silence == Silence::Never || reply.packet.is_some();
            (is_sure || !is_refusal) && pending.may_have(reply)
        });
        let Some(before) = before else {
            if is_refusal {
                self.refusal = Some(reply.clone());
            }
            return;
        };
        let left = self.pending.len() - before;
        while self.pending.len() > left {
            self.end_first(End::Executed);
        }
        self.end_with(reply);
    }

    /// Ends the first command by its reply.
    fn end_with(&mut self, reply: &Reply) {
        let Some(first) = self.pending.front() else {
            return;
        };
        let (name, size) = (first.command().name, first.arrival.request.size());
        let answered = usize::from(first.arrival.silence == Silence::Never);
        if let Some(packet) = reply.packet {
            // The last packet of statistics has no key.
            if name == "stats" && packet.has_key {
                return;
            }
            // The server closes the connection, and does not execute what follows: it takes the body of an
            // unknown packet for the next one.
            let has_body = first.arrival.request.count() > 1;
            if packet.status == INVALID_ARGUMENTS || packet.status == UNKNOWN_COMMAND && has_body {
                self.pending.truncate(1);
                (self.stored, self.answered) = (size, answered);
                self.is_lost = true;
            }
        }
        self.end_first(End::Reply(reply));
        // Messages follow.
        if name == "watch" && reply.outcome() == Outcome::Done {
            self.lose_track();
        }
    }

    /// Ends the first command, and begins the next.
    fn end_first(&mut self, end: End) {
        self.finish_first(end);
        self.run_first();
    }

    fn finish_first(&mut self, end: End) {
        let Some(pending) = self.pending.pop_front() else {
            return;
        };
        self.executed += 1;
        self.answered -= usize::from(pending.arrival.silence == Silence::Never);
        let statement = match self.running.take() {
            Some(statement) => statement,
            None => pending.start(&mut self.session),
        };
        self.stored -= pending.arrival.request.size();
        let (examined, sent, affected) = pending.rows(&end);
        for (rows, set) in [
            (examined, Statement::rows_examined as fn(&Statement, u64)),
            (sent, Statement::rows_sent),
            (affected, Statement::rows_affected),
        ] {
            if rows != 0 {
                set(&statement, rows);
            }
        }
        if let End::Reply(reply) = end
            && reply.outcome() == Outcome::Error
        {
            fail(&statement, &String::from_utf8_lossy(&reply.line));
        }
        self.requests.reuse(pending.arrival.request);
    }
}

impl Pending {
    fn command(&self) -> &'static Command {
        self.arrival.command
    }

    /// Starts its statement.
    fn start(&self, session: &mut Session) -> Statement {
        let (command, request) = (self.command(), &self.arrival.request);
        let statement = statement::start_since(command.class, self.since);
        if request.count() != 0 {
            session.describe(
                &statement,
                |text| command.write_text(request, text),
                |shape| command.write_shape(request, shape),
            );
        }
        statement
    }

    /// Whether a reply may be this command's.
    fn may_have(&self, reply: &Reply) -> bool {
        match (self.arrival.packet, reply.packet) {
            (Some((code, number)), Some(packet)) => {
                return packet.code == code && packet.number == number;
            }
            (None, None) => {}
            _ => return false,
        }
        let (command, word) = (self.command(), reply.word());
        let is_quiet = match self.arrival.silence {
            Silence::Always => return false,
            Silence::Maybe => true,
            Silence::Never => false,
        };
        if reply.outcome() == Outcome::Error {
            return self.may_fail(&reply.line);
        }
        let is_possible = match command.name {
            "mg" if is_quiet => matches!(word, b"VA" | b"HD"),
            "mg" | "ms" | "md" | "ma" if !is_quiet => {
                matches!(word, b"VA" | b"HD" | b"EN" | b"NF" | b"NS" | b"EX")
            }
            "ms" | "md" | "ma" => matches!(word, b"NF" | b"NS" | b"EX"),
            "mn" => word == b"MN",
            "me" => matches!(word, b"ME" | b"EN"),
            _ if command.kind == Kind::Get => word == b"END",
            _ if command.kind == Kind::Store => {
                matches!(word, b"STORED" | b"NOT_STORED" | b"EXISTS" | b"NOT_FOUND")
            }
            "delete" => matches!(word, b"DELETED" | b"NOT_FOUND"),
            "touch" => matches!(word, b"TOUCHED" | b"NOT_FOUND"),
            "incr" | "decr" => word == b"NOT_FOUND" || word.first().is_some_and(u8::is_ascii_digit),
            "version" => word == b"VERSION",
            // The end of `lru_crawler mgdump` is EN.
            _ => !matches!(word, b"VA" | b"HD" | b"NF" | b"NS" | b"EX" | b"MN" | b"ME"),
        };
        let request = &self.arrival.request;
        if !is_possible || !command.is_meta() || request.count() == 0 {
            return is_possible;
        }
        // The reply repeats the opaque token.
        let mut flags = (2..request.stored()).map(|at| request.argument(at));
        let mut answered = reply.line.split(|&byte| byte == b' ');
        let is_token = |flag: &&[u8]| flag.starts_with(b"O");
        flags.find(is_token) == answered.find(is_token)
    }

    /// Whether this command may have failed with an error of this text, or it is a later command's.
    fn may_fail(&self, line: &[u8]) -> bool {
        let text = String::from_utf8_lossy(line);
        let has = |part: &str| text.contains(part);
        let (command, fault) = (self.command(), self.arrival.fault);
        if line == b"ERROR" {
            return fault == Fault::Arguments || command.kind == Kind::Other && !command.is_meta();
        }
        if has("bad command line format") {
            return fault == Fault::Format;
        }
        match command.kind {
            // Arguments that only other commands have.
            _ if command.is_meta() && (has("exptime") || has("delta")) => false,
            Kind::Store => !has("non-numeric"),
            Kind::Number => !has("bad data chunk") && !has("too large"),
            _ => !has("non-numeric") && !has("bad data chunk") && !has("too large"),
        }
    }

    /// How many keys the server has counted, how many values it has sent, and whether it has changed an item.
    fn rows(&self, end: &End) -> (u64, u64, u64) {
        let Arrival {
            command,
            silence,
            counted,
            packet,
            ..
        } = &self.arrival;
        let (counted, is_line) = (*counted, packet.is_none());
        let outcome = match end {
            End::Reply(reply) => reply.outcome(),
            End::Lost => return (0, 0, 0),
            // What it has found or changed is not known.
            End::Executed if *silence != Silence::Maybe => return (counted, 0, 0),
            End::Executed if command.kind == Kind::Get => Outcome::Missing,
            End::Executed => Outcome::Done,
        };
        let is_invalidation = || {
            let request = &self.arrival.request;
            command.name == "md" && (2..request.stored()).any(|at| request.argument(at) == b"I")
        };
        match (command.kind, outcome) {
            (Kind::Other, _) => (0, 0, 0),
            (Kind::Get, _) if is_line && !command.is_meta() => {
                let values = match end {
                    End::Reply(reply) => reply.values,
                    _ => 0,
                };
                (counted, values, 0)
            }
            (Kind::Get, Outcome::Done) => (counted, 1, 0),
            (Kind::Delete, Outcome::Done) if is_invalidation() => (0, 0, 1),
            (_, Outcome::Done) => (counted, 0, 1),
            (_, Outcome::Missing) => (counted, 0, 0),
            (Kind::Store, Outcome::Exists | Outcome::NotStored) => (counted, 0, 0),
            (Kind::Delete, Outcome::Exists) if is_line => (counted, 0, 0),
            (Kind::Store, Outcome::Error) => {
                // The server has counted it before it found that no line end follows the value.
                let is_counted =
                    matches!(end, End::Reply(reply) if reply.line.ends_with(b"bad data chunk"));
                (u64::from(is_counted && counted != 0), 0, 0)
            }
            _ => (0, 0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memcache::binary;
    use crate::random::Random;
    use crate::session::Address;

    fn commands() -> Commands {
        commands::create("test");
        Commands::new(Session::new(&Address::Unix, false))
    }

    #[test]
    fn a_client_that_reads_no_reply_takes_bounded_memory() {
        let mut commands = commands();
        let long = format!("get {}\r\n", "x".repeat(200) + &" y".repeat(99));
        commands.receive(long.repeat(5000).as_bytes());
        assert!(commands.stored <= MAX_STORED_BYTES && commands.stored > MAX_STORED_BYTES / 2);
        assert_eq!(commands.pending.len(), 5000);
        // The clock is the arrival, as no thread polls: each read ends what was read before.
        commands.receive(&b"mn\r\n".repeat(MAX_PENDING));
        assert_eq!(commands.pending.len(), MAX_PENDING);
        commands.send(&b"MN\r\n".repeat(MAX_PENDING));
        assert_eq!((commands.pending.len(), commands.stored), (0, 0));
        commands.receive(&b"mn\r\n".repeat(MAX_PENDING + 1));
        assert!(commands.is_lost && commands.pending.is_empty());
        assert_eq!(commands.stored, 0);
    }

    #[test]
    fn any_requests_and_replies_leave_bounded_memory() {
        let packet = |direction: u8, code: u8, status: u8, body: &[u8]| {
            let mut header = [0; binary::HEADER_BYTES];
            (header[0], header[1], header[3]) = (direction, code, body.len() as u8);
            (header[7], header[11]) = (status, body.len() as u8);
            [&header[..], body].concat()
        };
        let quiet = packet(binary::REQUEST, 0x09, 0, b"k");
        let unknown = packet(binary::REQUEST, 0x77, 0, b"k");
        let noop = packet(binary::REQUEST, 0x0a, 0, b"");
        let hit = packet(binary::REPLY, 0x09, 0, b"k");
        let refused = packet(binary::REPLY, 0x77, 0x81, b"Unknown command");
        let ended = packet(binary::REPLY, 0x0a, 0, b"");
        let of_lines: &[&[u8]] = &[
            b"get a\r\n",
            b"set a 0 0 2\r\nab\r\n",
            b"set a 0 0 2 noreply\r\nab\r\n",
            b"set a 0 0 9999\r\n",
            b"mg a q O1\r\n",
            b"ms a 1 q\r\nx\r\n",
            b"mn\r\n",
            b"stats\r\n",
            b"watch\r\n",
            b"quit\r\n",
            b"\0",
        ];
        let of_packets: &[&[u8]] = &[&quiet, &unknown, &noop];
        let replies: &[&[u8]] = &[
            b"END\r\n",
            b"STORED\r\n",
            b"VALUE a 0 1\r\nx\r\n",
            b"HD\r\n",
            b"EN\r\n",
            b"VA 1 O1\r\nx\r\n",
            b"MN\r\n",
            b"ERROR\r\n",
            b"OK\r\n",
            b"SERVER_ERROR object too large for cache\r\n",
            &hit,
            &refused,
            &ended,
        ];
        for seed in 0..3000 {
            let (mut random, mut commands) = (Random::new(seed), commands());
            let requests = random.pick(&[of_lines, of_packets]);
            commands.open();
            for _ in 0..12 {
                match random.below(5) {
                    0 | 1 => commands.receive(&random.bytes(requests, 4)),
                    2 | 3 => commands.send(&random.bytes(replies, 4)),
                    _ => commands.end_quiet(),
                }
                let pending = || commands.pending.iter().map(|pending| &pending.arrival);
                let stored: usize = pending().map(|arrival| arrival.request.size()).sum();
                let answered = pending().filter(|arrival| arrival.silence == Silence::Never);
                assert_eq!(commands.stored, stored, "{seed}");
                assert_eq!(commands.answered, answered.count(), "{seed}");
            }
            commands.lose_track();
            assert!(commands.pending.is_empty() && commands.stored == 0);
        }
    }

    #[test]
    fn a_connection_may_be_left_between_commands_only() {
        let mut commands = commands();
        assert!(commands.may_miss());
        for byte in b"set a 0 0 2\r\nab\r\n" {
            commands.receive(&[*byte]);
            assert!(!commands.may_miss());
        }
        commands.send(b"STORED\r");
        assert!(!commands.may_miss());
        commands.send(b"\n");
        assert!(commands.may_miss());
        assert!(commands.is_start(b"get a\r\n") && commands.is_start(b"set a 0 0 2\r\nab\r\nget"));
        for other in [
            &b"set a 0 0 2\r\na"[..],
            b"et a\r\n",
            b"get a",
            b"ab\r\nget a\r\n",
            b"\x80",
        ] {
            assert!(!commands.is_start(other), "{other:?}");
        }
    }

    #[test]
    fn replies_find_their_commands() {
        let mut commands = commands();
        let left = |commands: &Commands| -> Vec<&str> {
            commands
                .pending
                .iter()
                .map(|pending| pending.command().name)
                .collect()
        };
        commands.receive(b"mg a q\r\nmg b q v O7\r\nset k 0 0 1 noreply\r\nx\r\nget k\r\nms c 1 q\r\nx\r\nversion\r\n");
        assert_eq!(left(&commands), ["mg", "mg", "set", "get", "ms", "version"]);
        commands.send(b"VA 1 O7\r\nx\r\n");
        // One that has no reply at all ends with the one before.
        assert_eq!(left(&commands), ["get", "ms", "version"]);
        commands.send(b"END\r\nVERSION 1\r\n");
        assert!(left(&commands).is_empty());
        // The server refuses a value before it has read it.
        commands.receive(b"ms c 1 q\r\nx\r\nset k 0 0 9999999\r\nxx");
        commands.send(b"SERVER_ERROR object too large for cache\r\n");
        assert_eq!(left(&commands), ["ms"]);
        assert!(!commands.is_quiet());
        let mut rest = vec![b'x'; 9_999_997];
        rest.extend(b"\r\nms d 1 q\r\nx\r\n");
        commands.receive(&rest);
        assert_eq!(left(&commands), ["ms"]);
        assert!(commands.is_quiet());
        commands.end_quiet();
        assert!(left(&commands).is_empty());
    }
}
