//! Spans to a collector with TLS, with headers, compressed.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::receiver::{Request, serve};
use super::{TRACE, record, record_traced, server};
use crate::support::Directory;

/// Writes an authority (NAME-ca.pem), a certificate for this machine that it has signed (NAME.pem) and its key
/// (NAME.key).
pub fn write_certificate(directory: &Path, name: &str) {
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate().expect("a key");
    let pem = authority.self_signed(&key).expect("signed").pem();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let own_key = KeyPair::generate().expect("a key");
    let own = CertificateParams::new(names).expect("names");
    let own = own.signed_by(&own_key, &Issuer::new(authority, key));
    let write = |end: &str, text: String| {
        fs::write(directory.join(format!("{name}{end}")), text).expect("written");
    };
    write("-ca.pem", pem);
    write(".pem", own.expect("signed").pem());
    write(".key", own_key.serialize_pem());
}

fn certificate(path: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path).expect("a certificate")
}

/// A receiver that requires a client's certificate. Ends with the test program.
fn receive_encrypted(directory: &Path) -> (String, Receiver<Request>) {
    let mut clients = RootCertStore::empty();
    clients
        .add(certificate(&directory.join("client-ca.pem")))
        .expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(clients), Arc::clone(&provider));
    let key = PrivateKeyDer::from_pem_file(directory.join("server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(clients.build().expect("a verifier"))
        .with_single_cert(vec![certificate(&directory.join("server.pem"))], key);
    let config = Arc::new(config.expect("a certificate with its key"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!(
        "https://localhost:{}",
        listener.local_addr().expect("bound").port()
    );
    let (send, requests) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let session = ServerConnection::new(Arc::clone(&config)).expect("a session");
            let stream = StreamOwned::new(session, stream.expect("a connection"));
            // A client that does not trust this receiver goes without a request.
            if let Some(request) = serve(stream, "200 OK", "{}") {
                let _ = send.send(request);
            }
        }
    });
    (url, requests)
}

#[test]
fn spans_are_encrypted_and_have_the_headers_of_options_and_environment() {
    let (directory, server) = (Directory::new("otlp"), server());
    for name in ["server", "client", "other"] {
        write_certificate(directory.path(), name);
    }
    let (url, requests) = receive_encrypted(directory.path());
    let command = |system: &str, destination: &str| -> Command {
        let mut command = record(&directory, &server, destination);
        command.args([
            "--otlp-header",
            "X-Tenant: shop",
            "--otlp-header",
            "x-replaced: option",
        ]);
        command.env("SSL_CERT_FILE", directory.path().join(system));
        command.env("SSL_CERT_DIR", "");
        for (name, value) in [
            ("ENDPOINT", &*url),
            (
                "HEADERS",
                "authorization=Bearer%20secret,x-replaced=environment",
            ),
            ("COMPRESSION", "gzip"),
            ("TIMEOUT", "60000"),
            ("CLIENT_CERTIFICATE", "client.pem"),
            ("CLIENT_KEY", "client.key"),
        ] {
            command.env(format!("OTEL_EXPORTER_OTLP_{name}"), value);
        }
        command
    };
    // The system does not trust this receiver.
    let mut untrusted = command("other-ca.pem", &url);
    let messages = record_traced(&directory, &server, &mut untrusted, &mut || true);
    assert!(messages.contains("spans are lost"), "{messages}");
    assert!(messages.contains("certificate"), "{messages}");
    assert!(!messages.contains("secret"), "{messages}");
    assert!(requests.try_recv().is_err());
    // The system trusts it; and the environment names its authority.
    let mut by_variable = command("other-ca.pem", "env");
    by_variable.env("OTEL_EXPORTER_OTLP_CERTIFICATE", "server-ca.pem");
    for mut trusted in [command("server-ca.pem", &url), by_variable] {
        let mut request = None;
        let messages = record_traced(&directory, &server, &mut trusted, &mut || {
            request = request.take().or_else(|| requests.try_recv().ok());
            request.is_some()
        });
        assert!(!messages.contains("lost"), "{messages}");
        let request = request.expect("received");
        assert_eq!(request.path, "/v1/traces");
        for (name, value) in [
            ("authorization", "Bearer secret"),
            ("x-tenant", "shop"),
            ("x-replaced", "option"),
            ("content-encoding", "gzip"),
        ] {
            assert_eq!(request.header(name), Some(value), "{:?}", request.headers);
        }
        let span = &request.body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(span["traceId"], TRACE, "{:#}", request.body);
    }
}

#[test]
fn a_variable_that_cannot_be_used_ends_the_recorder() {
    let (directory, server) = (Directory::new("otlp"), server());
    let mut command = record(&directory, &server, "env");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317");
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let done = command.output().expect("ends");
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(message.contains("OTEL_EXPORTER_OTLP_PROTOCOL"), "{message}");
}
