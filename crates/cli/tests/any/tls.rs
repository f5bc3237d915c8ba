//! TLS: a certificate for servers, connections for the clients of these tests, and a program that uses it.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use super::programs::compile;
use super::support::{Directory, finish};
use super::{library, rows, statements};

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

/// Runs a program under `tare run` as if it were memcached, so that its connections are read. `options`: of the
/// compiler. Returns what it printed and how many times it served `get`; other commands it has none.
fn run_program(source: &str, options: &[&str]) -> (String, u64) {
    let directory = Directory::new("tls");
    create_certificate(directory.path());
    let libraries = ["-l:libssl.so.3", "-l:libcrypto.so.3"];
    let program = compile(
        &directory,
        source,
        "memcached",
        &[&libraries, options].concat(),
    );
    let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
    let finished = finish(run.arg(library()).arg("--").arg(program));
    assert_eq!(finished.code, Some(0), "{options:?}: {finished:?}");
    assert!(!finished.stderr.contains("TLS"), "{finished:?}");
    let sql = "SELECT EVENT_NAME AS name, COUNT_STAR AS n \
               FROM performance_schema.events_statements_summary_global_by_event_name \
               WHERE COUNT_STAR > 0";
    let counted = statements(&rows(&directory, &["--segment", "segment"], sql));
    let gets = counted.get("statement/memcached/get").copied();
    assert_eq!(counted.len(), 1, "{counted:?}");
    (finished.stdout, gets.unwrap_or_default())
}

#[test]
fn nothing_changes_for_a_program_that_uses_tls() {
    // The dynamic linker resolves functions before the program starts, or when they are called.
    for binding in ["-Wl,-z,now", "-Wl,-z,lazy"] {
        let done = run_program("tls.c", &[binding]);
        assert_eq!(done, ("done\n".to_owned(), 1002), "{binding}");
    }
}

#[test]
fn objects_and_sockets_that_are_used_again_are_those_of_their_next_client() {
    let (printed, counted) = run_program("tls_reuse.c", &[]);
    assert_eq!(printed, format!("{counted}\n"));
}
