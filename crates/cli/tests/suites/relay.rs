//! Between mysqltest and a server: what a test says to the harness itself is answered here, the rest passes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// A client's or a server's end, whichever kind of socket it is.
pub trait Stream: Read + Write + Send + Sync + Sized + 'static {
    fn again(&self) -> io::Result<Self>;
    fn end(&self);
}

impl Stream for UnixStream {
    fn again(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Stream for TcpStream {
    fn again(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// A packet's header: three bytes of length, one of its number.
const HEADER: usize = 4;
/// The command that has a statement's text.
const COM_QUERY: u8 = 3;
/// A client's first packet asks for TLS with these flags' bit, and is this long then.
const CLIENT_SSL: u32 = 0x0800;
const SSL_REQUEST: usize = 32;

/// Listens until the process ends, on a socket and on a port of its own.
pub struct Relay {
    pub socket: PathBuf,
    pub port: u16,
}

impl Relay {
    /// Begins to pass on what comes to `socket` to the server that listens on `server`.
    pub fn start(socket: &Path, server: &Path) -> Self {
        let server: Arc<Path> = server.into();
        let local = UnixListener::bind(socket).expect("a socket to listen on");
        let to = server.clone();
        thread::spawn(move || {
            for client in local.incoming().map_while(Result::ok) {
                serve(client, &to);
            }
        });
        let remote = TcpListener::bind("127.0.0.1:0").expect("a port to listen on");
        let port = remote.local_addr().expect("a port").port();
        thread::spawn(move || {
            for client in remote.incoming().map_while(Result::ok) {
                let _ = client.set_nodelay(true);
                serve(client, &server);
            }
        });
        Self {
            socket: socket.to_owned(),
            port,
        }
    }
}

/// Two threads pass on what both sides say.
fn serve<C: Stream>(client: C, server: &Path) {
    let Ok(server) = UnixStream::connect(server) else {
        client.end();
        return;
    };
    let (Ok(mut to), Ok(mut from)) = (client.again(), server.try_clone()) else {
        return;
    };
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        to.end();
        from.end();
    });
    thread::spawn(move || {
        let _ = pass(&client, &server);
        client.end();
        Stream::end(&server);
    });
}

/// What a client says, packet by packet.
fn pass<C: Stream>(client: &C, server: &UnixStream) -> io::Result<()> {
    let mut from = client.again()?;
    let mut to = server;
    let login = packet(&mut from)?;
    to.write_all(&login)?;
    let flags = login
        .get(HEADER..HEADER + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_le_bytes);
    if login.len() == HEADER + SSL_REQUEST && flags & CLIENT_SSL != 0 {
        // What follows cannot be read.
        return io::copy(&mut from, &mut to).map(|_| ());
    }
    let mut answer = client.again()?;
    loop {
        let said = packet(&mut from)?;
        match text(&said).is_some_and(is_the_harness) {
            true => answer.write_all(&OK)?,
            false => to.write_all(&said)?,
        }
    }
}

/// OK, with no rows, as the answer to a command.
const OK: [u8; 11] = [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];

/// A call of the harness's own database, where tests leave what its log may say.
fn is_the_harness(sql: &[u8]) -> bool {
    let start = sql.trim_ascii_start();
    start.len() > 9 && start[..9].eq_ignore_ascii_case(b"call mtr.")
}

/// One packet, with its header.
fn packet(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; HEADER];
    from.read_exact(&mut packet)?;
    let length = u32::from_le_bytes([packet[0], packet[1], packet[2], 0]) as usize;
    packet.resize(HEADER + length, 0);
    from.read_exact(&mut packet[HEADER..])?;
    Ok(packet)
}

/// The statement of a packet that has one. The first packet of a command is number 0: what belongs to a
/// login is not.
fn text(packet: &[u8]) -> Option<&[u8]> {
    let (header, body) = packet.split_at(HEADER);
    if header[3] != 0 || body.first() != Some(&COM_QUERY) {
        return None;
    }
    // Where server and client know attributes: none of them, in one set. No statement begins so.
    let text = &body[1..];
    Some(text.strip_prefix(&[0, 1]).unwrap_or(text))
}
