//! TLS: offered, reported and required.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, SslOpts};
use tare_server::{Server, StartError};

use super::support::{Directory, PASSWORD, Running, code, config, exec, one, tcp_options};

fn connect(running: &Running, ssl: SslOpts) -> mysql::Result<Conn> {
    Conn::new(tcp_options(running.port(), "root", Some(PASSWORD)).ssl_opts(Some(ssl)))
}

fn unchecked() -> SslOpts {
    SslOpts::default().with_danger_accept_invalid_certs(true)
}

fn checked(ca: &Path) -> SslOpts {
    SslOpts::default().with_root_cert_path(Some(ca.to_owned()))
}

fn status(conn: &mut Conn, name: &str) -> String {
    let sql = format!("SHOW STATUS LIKE '{name}'");
    let row: Option<(String, String)> = conn.query_first(sql).expect("answered");
    row.map(|(_, value)| value).unwrap_or_default()
}

/// Whether TLS is offered: 9.7 no longer has @@have_ssl.
const ENABLED: &str =
    "SELECT VALUE FROM performance_schema.tls_channel_status WHERE PROPERTY = 'Enabled'";

#[test]
fn tls_is_offered_and_reported() {
    for running in [Running::start(), Running::pool()] {
        let mut conn = connect(&running, unchecked()).expect("TLS");
        assert_eq!(status(&mut conn, "Ssl_version"), "TLSv1.3");
        let cipher = status(&mut conn, "Ssl_cipher");
        assert!(cipher.starts_with("TLS_"), "{cipher}");
        let list = status(&mut conn, "Ssl_cipher_list");
        assert!(list.contains(&cipher), "{list}");
        assert_eq!(one(&mut conn, ENABLED), "Yes");
        // Servers of one process share a segment, and so numbers of connections.
        let kind = "SELECT SUM(connection_type = 'SSL/TLS') > 0 FROM performance_schema.threads \
                    WHERE processlist_id = CONNECTION_ID()";
        assert_eq!(one(&mut conn, kind), "1");
        // Texts of more than one TLS record, both ways: nothing remains in a buffer.
        for length in [1, 16_384, 16_385, 1_000_000, 3] {
            let text = "x".repeat(length);
            let sql = format!("SELECT '{text}', LENGTH('{text}')");
            let row: Option<(String, usize)> = conn.query_first(sql).expect("answered");
            assert_eq!(row, Some((text, length)));
        }
        // The client has not resumed a session, but could.
        assert_eq!(status(&mut conn, "Ssl_sessions_reused"), "0");
        assert_eq!(status(&mut conn, "Ssl_session_cache_mode"), "SERVER");
        assert_ne!(status(&mut conn, "Ssl_used_session_cache_entries"), "0");
        let until = status(&mut conn, "Ssl_server_not_after");
        assert_eq!(until, "Jan  1 00:00:00 2120 GMT");
        // The client connects to an address, and so sends no name.
        assert_eq!(status(&mut conn, "Tls_sni_server_name"), "");
        let mut plain = running.tcp("root", Some(PASSWORD)).expect("without TLS");
        assert_eq!(status(&mut plain, "Ssl_cipher"), "");
        assert_eq!(status(&mut plain, "Ssl_version"), "");
        assert_eq!(status(&mut plain, "Ssl_finished_accepts"), "1");
    }
}

#[test]
fn the_certificate_is_created_once_and_can_be_checked() {
    let directory = Directory::new();
    let path = |name: &str| directory.path().join(name);
    let mut first = None;
    for _ in 0..2 {
        let server = Server::start(config(&directory)).expect("starts");
        let certificate = std::fs::read(path("server-cert.pem")).expect("made");
        assert_eq!(
            *first.get_or_insert_with(|| certificate.clone()),
            certificate
        );
        let mode = std::fs::metadata(path("server-key.pem")).expect("made");
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        drop(server);
    }
    assert!(!path("ca-key.pem").exists(), "nobody can sign another one");
    let running = Running::start();
    let own = running.directory.path().join("ca.pem");
    let mut conn = connect(&running, checked(&own)).expect("127.0.0.1 is in it");
    assert_eq!(one(&mut conn, "SELECT 1"), "1");
    assert!(
        connect(&running, checked(&path("ca.pem"))).is_err(),
        "another authority"
    );
    assert!(
        connect(&running, SslOpts::default()).is_err(),
        "known to nobody"
    );
    // The certificate of one server may be given to another, with its key and no other.
    let given = Running::with(|config| {
        config.ssl_cert = Some(path("server-cert.pem"));
        config.ssl_key = Some(path("server-key.pem"));
    });
    connect(&given, checked(&path("ca.pem"))).expect("the given one");
    let other = Directory::new();
    let mut wrong = config(&other);
    wrong.ssl_cert = Some(path("server-cert.pem"));
    wrong.ssl_key = Some(running.directory.path().join("server-key.pem"));
    let error = Server::start(wrong).expect_err("they do not belong together");
    assert!(matches!(error, StartError::Certificate { .. }), "{error}");
    let mut none = config(&other);
    none.ssl_cert = Some(path("password"));
    none.ssl_key = Some(path("server-key.pem"));
    assert!(matches!(
        Server::start(none),
        Err(StartError::Certificate { .. })
    ));
}

#[test]
fn unencrypted_clients_are_refused_if_tls_is_required() {
    let running = Running::with(|config| config.require_secure_transport = true);
    assert_eq!(code(running.tcp("root", Some(PASSWORD))), 3159);
    connect(&running, unchecked()).expect("TLS");
    let mut root = running.root();
    exec(&mut root, "SET GLOBAL require_secure_transport = OFF");
    running.tcp("root", Some(PASSWORD)).expect("not demanded");
    exec(&mut root, "SET GLOBAL require_secure_transport = ON");
    assert_eq!(code(running.tcp("root", Some(PASSWORD))), 3159);
}

#[test]
fn tls_can_be_disabled() {
    let running = Running::with(|config| config.ssl = false);
    assert!(connect(&running, unchecked()).is_err());
    let mut root = running.root();
    assert_eq!(one(&mut root, ENABLED), "No");
    assert!(!running.directory.path().join("server-key.pem").exists());
}

/// The packet that requests TLS.
fn request() -> Vec<u8> {
    let mut packet = vec![32, 0, 0, 1];
    // CLIENT_PROTOCOL_41, CLIENT_SSL, CLIENT_SECURE_CONNECTION, CLIENT_PLUGIN_AUTH
    packet.extend_from_slice(&0x0008_8a00_u32.to_le_bytes());
    packet.extend_from_slice(&[0; 28]);
    packet
}

fn greeted(running: &Running) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", running.port())).expect("connects");
    let mut head = [0; 4];
    stream.read_exact(&mut head).expect("greeted");
    let mut greeting = vec![0; usize::from(head[0])];
    stream.read_exact(&mut greeting).expect("greeted");
    stream
}

#[test]
fn bytes_after_the_tls_request_are_taken_as_tls() {
    let running = Running::start();
    let mut stream = greeted(&running);
    // A login in the clear, as an attacker between client and server would insert it.
    let mut sent = request();
    let login =
        b"\x00\x8a\x08\x00\0\0\0\x01\x2d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0root\0\0";
    sent.extend_from_slice(&[login.len() as u8, 0, 0, 2]);
    sent.extend_from_slice(login);
    stream.write_all(&sent).expect("sent");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    // An alert of TLS, not an OK packet.
    assert_eq!(answer.first(), Some(&21), "{answer:?}");
    connect(&running, unchecked()).expect("the server goes on");
}

#[test]
fn slow_logins_are_cut_off() {
    let running = &Running::start();
    let send_slowly = |begin: Vec<u8>| {
        let mut stream = greeted(running);
        stream.write_all(&begin).expect("sent");
        stream
            .set_read_timeout(Some(Duration::from_millis(500)))
            .expect("set");
        // A byte each half second never exceeds the limit of one read; only the login's limit ends it.
        let cut = (0..240).any(|i| {
            let sent = stream.write_all(if i == 0 { &[22] } else { &[3] });
            let received = stream.read(&mut [0; 512]);
            sent.is_err() || matches!(received, Ok(n) if n < 512)
        });
        assert!(cut, "after two minutes");
    };
    // At the same time: each takes the ten seconds of the limit.
    std::thread::scope(|scope| {
        for begin in [vec![0xff, 0xff, 0, 1], request()] {
            scope.spawn(move || send_slowly(begin));
        }
    });
}
