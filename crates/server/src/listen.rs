//! The sockets that clients connect to.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use polling::{Event, Events, PollMode};
use tare::Operation;

use super::login::Incoming;
use super::points::{SERVER_TCPIP, SERVER_UNIX};
use super::scheduler::Scheduler;
use super::start::StartError;
use super::stop::Stop;
use crate::socket::{Socket, Stream};

const UNIX_KEY: usize = 0;
const TCP_KEY: usize = 1;

fn point(tcp: &TcpListener) -> tare::socket::Instance {
    let mut point = tare::socket::Instance::new(&SERVER_TCPIP, tcp.as_raw_fd());
    if let Ok(address) = tcp.local_addr() {
        point.peer(&address.ip().to_string(), address.port());
    }
    point
}

/// The listening sockets.
#[derive(Debug)]
pub struct Listeners {
    unix: UnixListener,
    path: PathBuf,
    tcp: Option<TcpListener>,
    stop: Stop,
    /// Their instruments: of the Unix socket, and of TCP.
    points: (tare::socket::Instance, Option<tare::socket::Instance>),
}

impl Listeners {
    /// Listens. Replaces a socket file on which no server listens: a killed server leaves one.
    pub fn bind(path: &Path, tcp: Option<SocketAddr>, stop: Stop) -> Result<Self, StartError> {
        let failed = |address: String| move |source| StartError::Listen { address, source };
        let path_text = path.display().to_string();
        if fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket()) {
            if UnixStream::connect(path).is_ok() {
                return Err(failed(path_text)(io::Error::from(io::ErrorKind::AddrInUse)));
            }
            fs::remove_file(path).map_err(failed(path_text.clone()))?;
        }
        let unix = UnixListener::bind(path).map_err(failed(path_text.clone()))?;
        unix.set_nonblocking(true).map_err(failed(path_text))?;
        let tcp = match tcp {
            None => None,
            Some(address) => {
                let tcp = TcpListener::bind(address).map_err(failed(address.to_string()));
                let address = address.to_string();
                let tcp =
                    tcp.and_then(|t| t.set_nonblocking(true).map(|()| t).map_err(failed(address)));
                match tcp {
                    Ok(tcp) => Some(tcp),
                    Err(error) => {
                        let _ = fs::remove_file(path);
                        return Err(error);
                    }
                }
            }
        };
        let own = tare::socket::Instance::new(&SERVER_UNIX, unix.as_raw_fd());
        let points = (own, tcp.as_ref().map(point));
        Ok(Self {
            points,
            unix,
            path: path.to_owned(),
            tcp,
            stop,
        })
    }

    /// The TCP address.
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().and_then(|t| t.local_addr().ok())
    }

    /// Accepts connections until a stop is requested.
    pub fn run(&self, scheduler: &Scheduler) {
        let poller = self.stop.poller();
        // SAFETY: the listeners live as long as `self`, and are taken out of the poller below.
        unsafe {
            let _ = poller.add_with_mode(
                self.unix.as_raw_fd(),
                Event::readable(UNIX_KEY),
                PollMode::Level,
            );
            if let Some(tcp) = &self.tcp {
                let _ = poller.add_with_mode(
                    tcp.as_raw_fd(),
                    Event::readable(TCP_KEY),
                    PollMode::Level,
                );
            }
        }
        let mut events = Events::new();
        while !self.stop.is_requested() {
            events.clear();
            let _ = poller.wait(&mut events, None);
            for event in events.iter() {
                match self.accept(event.key) {
                    Ok(incoming) => {
                        // If no thread can be started, the client sees its connection closed.
                        let _ = scheduler.add(incoming);
                    }
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                    // No descriptor is free: existing connections go on, and free some when they end.
                    Err(_) => std::thread::sleep(Duration::from_millis(20)),
                }
            }
        }
        let _ = poller.delete(&self.unix);
        if let Some(tcp) = &self.tcp {
            let _ = poller.delete(tcp);
        }
        let _ = fs::remove_file(&self.path);
    }

    fn accept(&self, key: usize) -> io::Result<Incoming> {
        match (key, &self.tcp) {
            (TCP_KEY, Some(tcp)) => {
                let (socket, peer) = {
                    let _wait = self.points.1.as_ref().map(|p| p.wait(Operation::Accept));
                    tcp.accept()?
                };
                socket.set_nonblocking(false)?;
                socket.set_nodelay(true)?;
                Ok(Incoming {
                    stream: Stream::new(Socket::Tcp(socket)),
                    peer: Some(peer),
                })
            }
            _ => {
                let (socket, _) = {
                    let _wait = self.points.0.wait(Operation::Accept);
                    self.unix.accept()?
                };
                socket.set_nonblocking(false)?;
                Ok(Incoming {
                    stream: Stream::new(Socket::Unix(socket)),
                    peer: None,
                })
            }
        }
    }
}
