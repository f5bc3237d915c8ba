//! The server's certificate for TLS: configured, or created at the first start in the data directory.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::time::ASN1Time;

use super::config::Config;
use super::tls_sessions::Sessions;

/// The certificate, and TLS set up with it.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The configuration of connections.
    pub tls: Arc<ServerConfig>,
    /// What SHOW STATUS reports of TLS.
    pub status: TlsStatus,
    /// The authority's certificate, which clients may check the server's with, if this server created it.
    pub ca: Option<PathBuf>,
    /// The server's certificate.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What SHOW STATUS reports of TLS.
#[derive(Debug, Clone)]
pub struct TlsStatus {
    /// The sessions that clients may resume.
    pub sessions: Arc<Sessions>,
    /// The certificate is valid from this moment, written as OpenSSL writes it:
    /// `Jan  1 00:00:00 2120 GMT`.
    pub not_before: String,
    /// The certificate is valid until this moment.
    pub not_after: String,
}

/// A file that cannot be used, and why.
pub type FileError = (PathBuf, io::Error);

/// MySQL's names of the files that it creates itself.
const CA: &str = "ca.pem";
const CERT: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";

/// Loads the certificate that the config names, or the data directory's.
pub fn load(config: &Config) -> Result<Certificate, FileError> {
    let (ca, cert, key) = match (&config.ssl_cert, &config.ssl_key) {
        (Some(cert), Some(key)) => (None, cert.clone(), key.clone()),
        _ => {
            let data = &config.data;
            let (ca, cert, key) = (data.join(CA), data.join(CERT), data.join(KEY));
            if !cert.exists() || !key.exists() {
                create(&ca, &cert, &key)?;
            }
            (ca.exists().then_some(ca), cert, key)
        }
    };
    let bad = |path: &Path, what: &str| {
        let error = io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        (path.to_owned(), error)
    };
    let text = fs::read(&cert).map_err(|error| (cert.clone(), error))?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| bad(&cert, "no certificate in PEM"))?;
    let text = fs::read(&key).map_err(|error| (key.clone(), error))?;
    let private = PrivateKeyDer::from_pem_slice(&text);
    let private = private.map_err(|_| bad(&key, "no private key in PEM"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let [not_before, not_after] = validity(&chain[0]).unwrap_or_default();
    let mut tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_no_client_auth())
        .and_then(|builder| builder.with_single_cert(chain, private))
        .map_err(|error| bad(&cert, &format!("{error} (its key is {})", key.display())))?;
    let sessions = Arc::new(Sessions::default());
    tls.session_storage = sessions.clone();
    Ok(Certificate {
        tls: Arc::new(tls),
        status: TlsStatus {
            sessions,
            not_before,
            not_after,
        },
        ca,
        cert,
        key,
    })
}

/// The first and the last moment at which a certificate is valid.
fn validity(certificate: &[u8]) -> Option<[String; 2]> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let validity = certificate.validity();
    let text = |time: ASN1Time| time.to_string().replace("+00:00", "GMT");
    Some([text(validity.not_before), text(validity.not_after)])
}

/// Creates an authority, and a certificate that it signs for this machine. The authority's key is not
/// stored: it signs nothing else.
fn create(ca: &Path, cert: &Path, key: &Path) -> Result<(), FileError> {
    let issue_error = |error: rcgen::Error| (cert.to_owned(), io::Error::other(error));
    let (authority, server, server_key) = issue().map_err(issue_error)?;
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    write_atomically(ca, &authority, 0o644).map_err(at(ca))?;
    write_atomically(key, &server_key, 0o600).map_err(at(key))?;
    // Written last: if it exists, the other files do.
    write_atomically(cert, &server, 0o644).map_err(at(cert))
}

fn issue() -> Result<(String, String, String), rcgen::Error> {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    // A long time: the certificates are as safe as the key, which never leaves this machine.
    let (from, until) = (date_time_ymd(2020, 1, 1), date_time_ymd(2120, 1, 1));
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.not_before = from;
    authority.not_after = until;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let subject = &mut authority.distinguished_name;
    subject.push(
        DnType::CommonName,
        "Tare_Server_Auto_Generated_CA_Certificate",
    );
    let authority_key = KeyPair::generate()?;
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".into(), "::1".into()];
    if name != "localhost" && name.is_ascii() && !name.is_empty() {
        names.push(name);
    }
    let mut server = CertificateParams::new(names)?;
    server.not_before = from;
    server.not_after = until;
    server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let subject = &mut server.distinguished_name;
    subject.push(
        DnType::CommonName,
        "Tare_Server_Auto_Generated_Server_Certificate",
    );
    let server_key = KeyPair::generate()?;
    let authority_pem = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);
    let server_pem = server.signed_by(&server_key, &issuer)?.pem();
    Ok((authority_pem, server_pem, server_key.serialize_pem()))
}

/// Writes a file of the data directory atomically, with its final permissions from the first byte on.
pub fn write_atomically(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    // Appended, so that `password` and `password.pem` get different names.
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let aside = PathBuf::from(aside);
    let _ = fs::remove_file(&aside);
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&aside)
        .and_then(|mut out| {
            out.write_all(text.as_bytes())?;
            out.sync_all()
        })
        .and_then(|()| fs::rename(&aside, path));
    match written {
        // Syncing the directory makes the name survive a power failure.
        Ok(()) => match path.parent() {
            Some(parent) => fs::File::open(parent)?.sync_all(),
            None => Ok(()),
        },
        Err(error) => {
            let _ = fs::remove_file(&aside);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificates_dates_are_read_as_openssl_writes_them() {
        let (_, server, _) = issue().expect("a certificate");
        let der = CertificateDer::from_pem_slice(server.as_bytes()).expect("PEM");
        let expected = ["Jan  1 00:00:00 2020 GMT", "Jan  1 00:00:00 2120 GMT"];
        assert_eq!(validity(&der).expect("dates"), expected);
        assert_eq!(validity(&der[..200]), None);
    }
}
