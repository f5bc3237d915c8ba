//! TLS: rustls between the packets and the socket.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::{HandshakeKind, ProtocolVersion, ServerConfig, ServerConnection};

use super::Stream;
use tare::sync::PlainMutex;

/// The TLS of a connection. Only the thread that serves the session reads and writes, so that the lock
/// is always free.
pub struct Tls {
    connection: PlainMutex<ServerConnection>,
    /// Protocol version, as MySQL's Ssl_version has it.
    pub version: &'static str,
    /// Cipher suite, as OpenSSL names it.
    pub cipher: String,
    /// The server's name as the client gave it; empty if it gave none.
    pub server_name: String,
    /// Whether it resumed an earlier session.
    pub is_resumed: bool,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls({} {})", self.version, self.cipher)
    }
}

/// The socket itself, unencrypted.
struct Raw<'s>(&'s Stream);

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_raw(buffer)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_raw(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Processes received bytes. Errors are also reported to the client.
fn process_received(connection: &mut ServerConnection, stream: &Stream) -> io::Result<()> {
    let result = connection.process_new_packets();
    send(connection, stream)?;
    result.map(drop).map_err(broken)
}

fn send(connection: &mut ServerConnection, stream: &Stream) -> io::Result<()> {
    while connection.wants_write() {
        connection.write_tls(&mut Raw(stream))?;
    }
    Ok(())
}

impl Tls {
    /// Runs the server's side of the handshake. `sent` is what was read after the client's request: it is
    /// taken as TLS, never as packets in the clear.
    pub fn accept(stream: &Stream, config: Arc<ServerConfig>, sent: &[u8]) -> io::Result<Self> {
        let mut connection = ServerConnection::new(config).map_err(broken)?;
        let mut input = sent.chain(Raw(stream));
        while connection.is_handshaking() {
            if connection.read_tls(&mut input)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            process_received(&mut connection, stream)?;
        }
        if !input.get_ref().0.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let suite = connection.negotiated_cipher_suite();
        let cipher = suite.and_then(|suite| suite.suite().as_str().map(cipher));
        let server_name = connection.server_name().unwrap_or_default().to_owned();
        let is_resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        Ok(Self {
            server_name,
            is_resumed,
            connection: PlainMutex::new(connection),
            version,
            cipher: cipher.unwrap_or_default(),
        })
    }

    /// Reads decrypted bytes: 0 at the end, which many clients do not announce.
    pub fn read(&self, stream: &Stream, buffer: &mut [u8]) -> io::Result<usize> {
        let mut connection = self.connection.lock();
        loop {
            match connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                done => return done,
            }
            if connection.read_tls(&mut Raw(stream))? == 0 {
                return Ok(0);
            }
            process_received(&mut connection, stream)?;
        }
    }

    /// Encrypts and sends.
    pub fn write_all(&self, stream: &Stream, mut bytes: &[u8]) -> io::Result<()> {
        let mut connection = self.connection.lock();
        while !bytes.is_empty() {
            // The writer takes no more than its buffer holds.
            let taken = connection.writer().write(bytes)?;
            bytes = &bytes[taken..];
            send(&mut connection, stream)?;
        }
        Ok(())
    }

    /// Whether decrypted bytes wait here, which polling the socket does not report.
    pub fn has_buffered(&self) -> bool {
        let state = self.connection.lock().process_new_packets();
        state.is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
    }
}

/// A cipher suite's name as OpenSSL, and so MySQL, writes it.
pub fn cipher(standard: &str) -> String {
    if let Some(suite) = standard.strip_prefix("TLS13_") {
        return format!("TLS_{suite}");
    }
    let bare = standard.strip_prefix("TLS_").unwrap_or(standard);
    bare.replace("_WITH_", "_")
        .replace("AES_128", "AES128")
        .replace("AES_256", "AES256")
        .replace("POLY1305_SHA256", "POLY1305")
        .replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::cipher;

    #[test]
    fn ciphers_have_the_names_that_openssl_gives_them() {
        for (standard, openssl) in [
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            (
                "TLS13_CHACHA20_POLY1305_SHA256",
                "TLS_CHACHA20_POLY1305_SHA256",
            ),
            (
                "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                "ECDHE-ECDSA-AES128-GCM-SHA256",
            ),
            (
                "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
                "ECDHE-RSA-CHACHA20-POLY1305",
            ),
        ] {
            assert_eq!(cipher(standard), openssl);
        }
    }
}
