//! The handshake, which ends with an authenticated client.

use std::sync::atomic::Ordering;

use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::packets::HandshakePacket;
use mysql_common::proto::MySerialize;
use tare::thread::Truncation;
use tare_mysql::charset;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::series::Series;
use tare_mysql::wire::login::Login;
use tare_query::set::set_names;

use super::authenticate::authenticate;
use crate::context::SessionContext;
use crate::errors::malformed_packet;
use crate::random::random;
use crate::session::{Client, Session};
use crate::shared::Shared;
use crate::socket::{Socket, Stream};
use crate::state::Encryption;
use crate::variables::Globals;

/// The capabilities of the server without TLS.
pub const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_IGNORE_SPACE)
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_INTERACTIVE)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    .union(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);

/// The size of a request for TLS.
const SSL_REQUEST_BYTES: usize = 32;

/// utf8mb4_general_ci.
const COLLATION: u8 = 45;

/// The uid of the process at the other end of a Unix socket.
pub(super) fn peer_uid(stream: &Stream) -> Option<u32> {
    let Socket::Unix(socket) = stream.socket() else {
        return None;
    };
    let credentials = rustix::net::sockopt::socket_peercred(socket).ok()?;
    Some(credentials.uid.as_raw())
}

/// Twenty random bytes that are printable ASCII, because some clients handle them as text.
pub(super) fn scramble() -> [u8; 20] {
    let mut bytes = [0u8; 20];
    random(&mut bytes);
    bytes.map(|b| b % 93 + 33)
}

pub(super) fn put(client: &mut Client, packet: &impl MySerialize) -> Result<()> {
    packet.serialize(client.writer.begin());
    client.writer.end();
    client.writer.flush().map_err(|_| SqlError::interrupted())
}

pub(super) fn read(client: &mut Client) -> Result<Vec<u8>> {
    let sequence = client.writer.sequence();
    let reader = client.reader.as_mut().ok_or_else(malformed_packet)?;
    let (packet, next) = reader
        .read(sequence)
        .map_err(|_| SqlError::new(1043, "Bad handshake"))?;
    let packet = packet.to_vec();
    client.writer.set_sequence(next);
    Ok(packet)
}

/// Runs a new connection's handshake. The caller sends the client an error.
pub fn handshake(session: &mut Session) -> Result<()> {
    let nonce = scramble();
    let mut first = [0u8; 8];
    first.copy_from_slice(&nonce[..8]);
    let second: Vec<u8> = nonce[8..].iter().copied().chain([0]).collect();
    let greeting = HandshakePacket::new(
        10,
        session.shared.config.series.version().as_bytes(),
        session.state.id as u32,
        first,
        Some(second),
        capabilities(&session.shared),
        COLLATION,
        StatusFlags::SERVER_STATUS_AUTOCOMMIT,
        Some(session.shared.accounts.greeting_plugin().as_bytes()),
    );
    put(&mut session.client, &greeting)?;
    let mut packet = read(&mut session.client)?;
    if is_ssl_request(&packet) {
        encrypt(&mut session.client, &session.connections.context)?;
        packet = read(&mut session.client)?;
    }
    let login = Login::of_handshake(&packet).ok_or_else(|| SqlError::new(1043, "Bad handshake"))?;
    if !login
        .capabilities
        .contains(CapabilityFlags::CLIENT_PROTOCOL_41)
    {
        return Err(SqlError::new(
            1251,
            "Client does not support authentication protocol requested by server; consider upgrading MySQL client",
        ));
    }
    session.client.capabilities = login.capabilities & CAPABILITIES & capabilities(&session.shared);
    require_secure_transport(&session.client, &session.shared.globals)?;
    set_charset(session, login.collation)?;
    publish_attributes(session, &login.attributes);
    let authenticated = authenticate(
        session,
        &login.user,
        login.plugin.as_deref(),
        &login.answer,
        &nonce,
    );
    if let Err(error) = authenticated {
        // The failed connection counts for the account that it asked for.
        tare::thread::set_account(&login.user, &session.state.account().1);
        return Err(error);
    }
    let capacity = session.shared.config.max_connections + usize::from(session.is_root());
    if !session.registration.admit(capacity) {
        return Err(super::too_many_connections());
    }
    finish_login(session, &login.user, login.database)
}

/// The capabilities that the greeting offers.
fn capabilities(shared: &Shared) -> CapabilityFlags {
    let mut capabilities = CAPABILITIES;
    // MySQL has them since 8.0.23, and MariaDB never.
    if shared.config.series != Series::V9_7 {
        capabilities.remove(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
    }
    if shared.tls.is_some() {
        capabilities |= CapabilityFlags::CLIENT_SSL;
    }
    capabilities
}

/// Whether a packet requests TLS: it is a login's head without the user's name.
fn is_ssl_request(packet: &[u8]) -> bool {
    let head = packet.get(..4).and_then(|head| head.try_into().ok());
    let flags = head.map(|head| CapabilityFlags::from_bits_truncate(u32::from_le_bytes(head)));
    packet.len() == SSL_REQUEST_BYTES
        && flags.is_some_and(|flags| flags.contains(CapabilityFlags::CLIENT_SSL))
}

/// Begins TLS, which encrypts everything that follows.
fn encrypt(client: &mut Client, context: &SessionContext) -> Result<()> {
    let bad = || SqlError::new(1043, "Bad handshake");
    let config = context.shared.tls.clone().ok_or_else(bad)?;
    let counters = &context.shared.counters;
    counters.tls_accepts.fetch_add(1, Ordering::Relaxed);
    let reader = client.reader.as_mut().ok_or_else(malformed_packet)?;
    let sent = reader.take_rest();
    let stream = &client.stream;
    // TLS itself reports the reason to the client.
    stream.encrypt(config, &sent).map_err(|_| bad())?;
    counters.tls_finished.fetch_add(1, Ordering::Relaxed);
    if let Some(tls) = stream.tls() {
        let resumed = u64::from(tls.is_resumed);
        counters.tls_resumed.fetch_add(resumed, Ordering::Relaxed);
        let _ = context.state.tls.set(Encryption {
            version: tls.version,
            cipher: tls.cipher.clone(),
            server_name: tls.server_name.clone(),
            is_resumed: tls.is_resumed,
        });
    }
    tare::thread::set_connection_type(tare::thread::ConnectionType::Tls);
    Ok(())
}

/// Error 3159: require_secure_transport is ON, and the client does not use TLS.
fn require_secure_transport(client: &Client, globals: &Globals) -> Result<()> {
    let required = globals.get("require_secure_transport");
    if client.stream.is_secure() || required.as_deref() != Some("ON") {
        return Ok(());
    }
    Err(SqlError::new(
        3159,
        "Connections using insecure transport are prohibited while --require_secure_transport=ON.",
    ))
}

/// COM_CHANGE_USER.
pub fn change_user(session: &mut Session, body: &[u8]) -> Result<()> {
    let login = Login::of_change_user(body).ok_or_else(malformed_packet)?;
    set_charset(session, login.collation)?;
    publish_attributes(session, &login.attributes);
    // The nonce of the handshake must not be used twice: the client has to answer a new one.
    authenticate(session, &login.user, None, &[], &scramble())?;
    session.state.set_database(None);
    finish_login(session, &login.user, login.database)
}

/// SET NAMES of the character set that a client names by a collation. As in MySQL, an unknown number is ignored.
fn set_charset(session: &mut Session, collation: Option<u16>) -> Result<()> {
    if let Some(charset) = collation.and_then(charset::of_collation_id) {
        session.state.inherit(set_names(&charset, None)?);
        session.client.apply_charset(&session.state, collation);
    }
    Ok(())
}

/// Publishes the client's attributes in session_connect_attrs.
fn publish_attributes(session: &Session, sent: &[u8]) {
    let truncation = match session.shared.config.series.is_mariadb() {
        true => Truncation::Silent,
        false => Truncation::Marked,
    };
    tare::thread::set_sent_attributes(sent, truncation, &String::from_utf8_lossy);
}

fn finish_login(session: &mut Session, user: &str, database: Option<String>) -> Result<()> {
    if session
        .client
        .capabilities
        .contains(CapabilityFlags::CLIENT_INTERACTIVE)
    {
        let timeout = session.shared.globals.get("interactive_timeout");
        session.state.inherit(vec![("wait_timeout", timeout)]);
    }
    let (_, host) = session.state.account();
    session.state.set_account(user, &host);
    tare::thread::set_account(user, &host);
    if let Some(name) = &database {
        session.use_database(name)?;
    }
    session.registration.set_account(user, database.as_deref());
    Ok(())
}
