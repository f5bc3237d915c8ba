//! A client's session, and what is common to the protocols.

use std::collections::VecDeque;
use std::net::IpAddr;

use engine::Command as State;
use engine::statement::Statement;
use engine::thread::{self, ConnectionType};

use crate::names::classes;

/// The most commands of a connection that have no reply yet. A client that sends more and reads nothing
/// must not fill the memory; its further commands are not read.
pub const MAX_PENDING: usize = 1 << 16;
/// The most bytes of memory for their arguments. Further commands have no text.
pub const MAX_STORED_BYTES: usize = 1 << 20;
/// An empty list of pending commands keeps the memory for so many.
pub const MAX_SPARE: usize = 1024;

/// Frees what an empty list of pending commands has above that.
pub fn shrink<T>(pending: &mut VecDeque<T>) {
    if pending.capacity() > MAX_SPARE {
        *pending = VecDeque::new();
    }
}

/// One end of a socket.
pub enum Address {
    /// IP address and port.
    Ip(IpAddr, u16),
    /// A Unix socket.
    Unix,
    /// Of another family.
    Other,
}

impl Address {
    pub fn connection_type(&self) -> ConnectionType {
        match self {
            Self::Ip(..) => ConnectionType::TcpIp,
            Self::Unix | Self::Other => ConnectionType::Socket,
        }
    }
}

/// What a client sends and gets, as commands. All functions are called in the client's session.
pub trait Protocol {
    /// The connection begins.
    fn open(&mut self);
    /// What is read and written from now on comes from the TLS library.
    fn encrypt(&mut self);
    /// The program has read these bytes.
    fn receive(&mut self, bytes: &[u8]);
    /// The program is about to write.
    fn begin_send(&mut self) {}
    /// The program has written these bytes.
    fn send(&mut self, bytes: &[u8]);
    /// What is known of the session applies from now on to the calling thread, or to the session that it has
    /// entered. `is_recorded`: whether that has a place.
    fn repeat(&mut self, _is_recorded: bool) {}
    /// The program has written so many bytes that nobody has seen.
    fn send_unseen(&mut self, _bytes: u64) {
        self.lose_track();
    }
    /// From now on nothing is read. Commands without a reply end.
    fn lose_track(&mut self);
    /// Whether nothing is read any more.
    fn is_lost(&self) -> bool;
    /// Whether bytes may be left unread from here on, while nothing is recorded: no request waits for its
    /// reply, none has begun, and [`is_start`](Self::is_start) finds a later one.
    fn may_miss(&self) -> bool {
        false
    }
    /// Whether these bytes begin with a request, if bytes before them were not read.
    fn is_start(&self, _bytes: &[u8]) -> bool {
        false
    }
    /// The connection ends on another thread than the one that serves it. Returns the statement that runs there.
    fn abandon(&mut self) -> Option<Statement> {
        None
    }
    /// Whether all commands that run may end without a reply.
    fn is_quiet(&self) -> bool {
        false
    }
    /// The thread that serves a quiet connection has polled again.
    fn end_quiet(&mut self) {}
    /// The connection's key ([`new_key`](crate::upstream::new_key)) if the program may pass its first command on to
    /// another server, and that matters; 0 = not.
    fn key(&self) -> u64 {
        0
    }
    /// The program passes the first command on to another server.
    fn begin_upstream(&mut self) {}
}

/// A client's session in the segment, as its commands change it.
pub struct Session {
    /// Whether the session has a place of its own: a statement can run there while others run elsewhere.
    is_recorded: bool,
    connection_type: ConnectionType,
    host: String,
    user: Option<String>,
    /// Buffers.
    text: String,
    shape: String,
}

impl Session {
    pub fn new(address: &Address, is_recorded: bool) -> Self {
        let host = match address {
            Address::Ip(ip, _) => host_of(*ip),
            Address::Unix | Address::Other => "localhost".to_owned(),
        };
        Self {
            is_recorded,
            connection_type: address.connection_type(),
            host,
            user: None,
            text: String::new(),
            shape: String::new(),
        }
    }

    /// Whether a statement can run in it while others run elsewhere.
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// The calling thread serves the connection and nothing else. Its process's number is the connection's.
    pub fn serve_by_thread(&self) {
        let Some(classes) = classes() else { return };
        // From here on it has a place, as a child of the thread that forked.
        if thread::id() != 0 {
            thread::register(classes.session);
            thread::set_processlist_id(std::process::id().into());
            thread::set_connection_type(self.connection_type);
        }
    }

    /// The connection is encrypted.
    pub fn encrypt(&mut self) {
        self.connection_type = ConnectionType::Tls;
        if self.is_recorded {
            thread::set_connection_type(self.connection_type);
        }
    }

    /// Another session takes its place.
    pub fn repeat(&mut self, is_recorded: bool) {
        self.is_recorded = is_recorded;
        if is_recorded {
            thread::set_connection_type(self.connection_type);
        }
        if let Some(user) = self.user.take() {
            self.set_user(&user);
        }
    }

    pub fn set_user(&mut self, user: &str) {
        if self.is_recorded && self.user.as_deref() != Some(user) {
            self.user = Some(user.to_owned());
            thread::set_account(user, &self.host);
        }
    }

    /// A proxy has named its client.
    pub fn set_host(&mut self, client: IpAddr) {
        self.host = host_of(client);
        let user = self.user.take().unwrap_or_default();
        self.set_user(&user);
    }

    pub fn set_database(&self, name: &str) {
        if self.is_recorded {
            thread::set_db(name);
        }
    }

    pub fn set_state(&self, state: State) {
        if self.is_recorded {
            thread::set_command(state);
        }
    }

    /// Sets the attributes that are not empty.
    pub fn set_attributes(&self, attributes: &[(&str, &str)]) {
        if !self.is_recorded {
            return;
        }
        let lines = attributes.iter().filter(|(_, value)| !value.is_empty());
        let lines: Vec<String> = lines
            .map(|(name, value)| attribute_line(name, value))
            .collect();
        thread::set_attributes(&lines.join("\n"));
    }

    /// Sets a statement's text and its normalised form, where they are recorded.
    pub fn describe(
        &mut self,
        statement: &Statement,
        write_text: impl FnOnce(&mut String),
        write_shape: impl FnOnce(&mut String),
    ) {
        if !statement.is_recorded() {
            return;
        }
        self.text.clear();
        write_text(&mut self.text);
        statement.text_only(&self.text);
        if statement.wants_digest() && !statement.is_active() {
            self.shape.clear();
            write_shape(&mut self.shape);
            statement.digest_by_shape(&self.shape, &self.text);
        }
    }
}

/// An attribute in one line, also if the client's text has several.
fn attribute_line(name: &str, value: &str) -> String {
    format!("{name}={value}").replace(['\n', '\r'], " ")
}

/// The name of a client's host.
fn host_of(ip: IpAddr) -> String {
    match ip.is_loopback() {
        true => "localhost".to_owned(),
        false => ip_text(ip),
    }
}

/// An address as text. For IPv4, which most connections have, this takes a tenth of the time of `to_string`.
pub fn ip_text(ip: IpAddr) -> String {
    let IpAddr::V4(ip) = ip else {
        return ip.to_string();
    };
    let mut text = String::with_capacity("255.255.255.255".len());
    for (at, octet) in ip.octets().into_iter().enumerate() {
        if at != 0 {
            text.push('.');
        }
        for unit in [100, 10, 1] {
            if octet >= unit || unit == 1 {
                text.push(char::from(b'0' + octet / unit % 10));
            }
        }
    }
    text
}

/// MySQL's number for errors that have none: ER_UNKNOWN_ERROR.
pub const UNKNOWN_ERROR: u32 = 1105;

/// A statement was answered by an error with this text.
pub fn fail(statement: &Statement, text: &str) {
    statement.error(UNKNOWN_ERROR, "HY000", text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_usual() {
        for octet in 0..=255u8 {
            let ip = IpAddr::from([octet, 0, 255, 255 - octet]);
            assert_eq!(ip_text(ip), ip.to_string());
        }
        let ip: IpAddr = "2001:db8::1".parse().expect("an address");
        assert_eq!(ip_text(ip), "2001:db8::1");
    }

    #[test]
    fn an_attribute_is_no_second_one() {
        assert_eq!(attribute_line("_pid", "1\r\nuser=x"), "_pid=1  user=x");
    }
}
