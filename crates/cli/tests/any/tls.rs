//! TLS: a certificate for servers, and connections for the clients of these tests.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::finish;

/// Writes `cert.pem` and `key.pem`.
pub fn create_certificate(directory: &Path) {
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=localhost",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
    ]);
    let finished = finish(openssl.current_dir(directory));
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

/// A port on which nobody listens. The kernel gives none of these to a client.
pub fn free_port() -> u16 {
    let mut ports = std::iter::repeat_with(|| fastrand::u16(10_000..32_000));
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a port")
}

/// A connection to a server that listens on this port. What is written to it arrives through TLS: openssl
/// encrypts it. `options`: of `openssl s_client`.
pub fn connect(port: u16, options: &[&str]) -> Option<UnixStream> {
    TcpStream::connect(("127.0.0.1", port)).ok()?;
    let (stream, other) = UnixStream::pair().expect("a pair");
    let output = other.try_clone().expect("cloned");
    let mut openssl = Command::new("openssl");
    openssl.args(["s_client", "-quiet", "-no_ign_eof", "-nocommands"]);
    let address = format!("127.0.0.1:{port}");
    openssl.args(["-connect", &address]).args(options);
    openssl
        .stdin(OwnedFd::from(other))
        .stdout(OwnedFd::from(output))
        .stderr(Stdio::null());
    let mut openssl = openssl.spawn().expect("openssl is installed");
    // It ends with the connection.
    std::thread::spawn(move || openssl.wait());
    Some(stream)
}
