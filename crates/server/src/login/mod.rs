//! Turns an accepted socket into a session that takes commands.

mod authenticate;
mod handshake;

use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use self::handshake::change_user;
use super::host_cache::Failure;
use super::points;
use super::session::{Client, Session};
use super::shared::Shared;
use super::socket::{Stream, Timeouts};
use super::state::SessionState;
use tare_mysql::error::SqlError;
use tare_mysql::wire::reply;
use tare_store::Control;

/// The time that a login may take, TLS included; MySQL's connect_timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum of logins at one time: the oldest of more is disconnected. In pool-of-threads each takes
/// a thread.
const MAX_PENDING_LOGINS: usize = 128;

/// A socket that was accepted.
#[derive(Debug)]
pub struct Incoming {
    /// The socket.
    pub stream: Stream,
    /// The address of the client, for TCP.
    pub peer: Option<SocketAddr>,
}

impl tare_store::Client for Stream {
    fn has_gone(&self) -> bool {
        self.is_gone()
    }

    fn hang_up(&self) {
        self.shutdown(Shutdown::Read);
    }

    fn disconnect(&self) {
        self.shutdown(Shutdown::Both);
    }
}

/// Greets and authenticates a client. `None`: it was refused, and has got the error.
pub fn login(shared: &Arc<Shared>, incoming: Incoming) -> Option<Session> {
    let Incoming { stream, peer } = incoming;
    let stream = Arc::new(stream);
    stream.set_deadline(Some(CONNECT_TIMEOUT));
    stream.set_timeouts(Timeouts {
        idle: CONNECT_TIMEOUT,
        read: CONNECT_TIMEOUT,
        write: CONNECT_TIMEOUT,
    });
    let control = Arc::new(Control::new(stream.clone()));
    shared.keeper.watch(&control);
    let id = shared.registry.next_id();
    // As in MySQL, the Unix socket and the loopback address are localhost.
    let remote = peer.map(|peer| peer.ip().to_canonical());
    let remote = remote.filter(|address| !address.is_loopback());
    let host = remote.map_or_else(|| "localhost".to_owned(), |address| address.to_string());
    let process_host = peer.map_or_else(|| host.clone(), |p| format!("{host}:{}", p.port()));
    let state = Arc::new(SessionState::new(
        id,
        shared.globals.clone(),
        control.clone(),
    ));
    state.set_account("unauthenticated user", &host);
    let registration = shared
        .registry
        .register(id, process_host, control.clone(), state.clone());
    stream.own();
    tare::stage::set(&points::LOGIN);
    tare::thread::set_processlist_id(id);
    tare::thread::set_command(tare::Command::Connect);
    tare::thread::set_connection_type(match peer {
        Some(_) => tare::thread::ConnectionType::TcpIp,
        None => tare::thread::ConnectionType::Socket,
    });
    let client = Client::new(stream);
    let mut session = Session::new(shared.clone(), state, control, registration, client);
    shared
        .registry
        .cut_off_slow_logins(MAX_PENDING_LOGINS, CONNECT_TIMEOUT);
    // One more is reserved for root, who can list and kill the others.
    let most = shared.config.max_connections + 1;
    let full = shared.registry.logged_in() >= most;
    let result = match full {
        true => Err(too_many_connections()),
        false => handshake::handshake(&mut session),
    };
    let too_many = matches!(&result, Err(error) if error.code == 1040);
    if too_many {
        shared.counters.refused.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(peer) = peer.filter(|_| !too_many) {
        let failure = result.as_ref().err().map(|e| failure(e.code));
        shared.hosts.record(peer.ip().to_canonical(), failure);
    }
    if let Err(error) = result {
        if !too_many {
            shared
                .counters
                .aborted_connects
                .fetch_add(1, Ordering::Relaxed);
        }
        reply::error(&mut session.client.writer, &error, !full);
        let _ = session.client.writer.flush();
        return None;
    }
    session.settings.read(&session.state);
    tare::stage::end();
    tare::thread::set_command(tare::Command::Sleep);
    session.send_ok();
    session.client.writer.flush().ok()?;
    if let Some(reader) = &mut session.client.reader {
        reader.set_max_packet(shared.config.max_allowed_packet);
    }
    session.client.stream.set_deadline(None);
    session.client.apply_timeouts(&session.state);
    Some(session)
}

/// Error 1040.
fn too_many_connections() -> SqlError {
    SqlError::new(1040, "Too many connections")
}

/// The column of host_cache that counts an error of a login.
fn failure(code: u16) -> Failure {
    match code {
        1043 | 1115 | 1156 | 1835 => Failure::Handshake,
        1045 => Failure::Authentication,
        1044 | 1049 => Failure::DefaultDatabase,
        1251 => Failure::NoAuthPlugin,
        _ => Failure::Local,
    }
}
