//! A client's connection: its session, and the commands in it.

use std::cell::RefCell;
use std::ffi::{CStr, c_int};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use engine::Command as State;
use engine::statement::Statement;
use engine::thread::{self, ConnectionType, ThreadSession};
use engine::wait::Wait;
use tare_image::CommandProtocol;

use crate::descriptors::Access;
use crate::exports::exported;
use crate::names::{self, classes, is_session};
use crate::session::{Address, Protocol, Session};
use crate::tls::{self, Encryption};
use crate::{http, memcache, mysql, postgres, resp};

/// A connection whose commands are read.
pub struct Client {
    /// `None`: a thread is its session.
    session: Option<ThreadSession>,
    /// Which thread, if it is one only as long as it serves the connection. `None`: it has not begun.
    thread: Option<(u64, Arc<Service>)>,
    is_recorded: bool,
    /// If what the socket carries is encrypted.
    encryption: Option<Encryption>,
    protocol: CommandProtocol,
    place: Place,
    commands: Box<dyn Protocol>,
}

/// Whether it is known where in the connection a request begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Followed,
    /// Bytes were moved that were not read.
    Missed {
        /// Whether the last call has written.
        has_sent: bool,
    },
}

/// What a connection moves, as it is read in the client's session.
pub struct Stream<'c> {
    place: &'c mut Place,
    commands: &'c mut dyn Protocol,
}

impl Stream<'_> {
    /// Bytes were read or written.
    pub fn moved(&mut self, access: Access, bytes: &[u8]) {
        if !self.is_read(access, |commands| commands.is_start(bytes)) {
            return;
        }
        match access {
            Access::In => self.commands.receive(bytes),
            Access::Out => self.commands.send(bytes),
            Access::Other(_) => {}
        }
    }

    /// Bytes were written that nobody saw.
    pub fn send_unseen(&mut self, bytes: u64) {
        if bytes != 0 && self.is_read(Access::Out, |_| false) {
            self.commands.send_unseen(bytes);
        }
    }

    /// Bytes were moved that nobody saw.
    pub fn lose_track(&mut self) {
        self.commands.lose_track();
    }

    /// Whether what was moved is read. A connection of which something was missed is found again at a read
    /// that directly follows a write, if it begins with a request (docs/anyserver-internals.md).
    #[inline]
    fn is_read(&mut self, access: Access, is_start: impl FnOnce(&dyn Protocol) -> bool) -> bool {
        if self.commands.is_lost() {
            return false;
        }
        let Place::Missed { has_sent } = *self.place else {
            return true;
        };
        let follows = has_sent && access == Access::In && is_start(self.commands);
        *self.place = match follows {
            true => Place::Followed,
            false => Place::Missed {
                has_sent: access == Access::Out,
            },
        };
        follows
    }
}

// SAFETY: counted references (Rc) are to what is within the client. Of the other parts only the running
// statement is bound to a thread, if that is the session: no other one serves the connection. Otherwise it is
// bound to the session's place in the segment, which any thread can enter, and is used only in the session
// (`in_session`): the engine compares the place with that of the calling thread.
unsafe impl Send for Client {}

/// Whether MySQL's threads serve connections in turn (pool-of-threads), rather than each its own.
static HAS_POOL: AtomicBool = AtomicBool::new(false);

/// Names of the variable in which the servers store how threads serve connections: each its own (0), one all
/// of them (1), or in turn.
const THREAD_HANDLING: [&CStr; 2] = [
    c"thread_handling",
    c"_ZN26Connection_handler_manager15thread_handlingE",
];
const IN_TURN: u8 = 2;

/// Whether MySQL's threads serve connections in turn, as far as it is known.
fn has_pool() -> bool {
    static ADDRESS: OnceLock<usize> = OnceLock::new();
    let address = *ADDRESS.get_or_init(|| {
        let names = THREAD_HANDLING.iter();
        let address = names.filter_map(|name| exported(name)).next();
        address.map_or(0, |address| address.expose_provenance())
    });
    let variable = ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: the server's variable is a number, whose lowest byte is the first one. It is not changed after the
    // server has begun to accept connections.
    let is_in_turn = !variable.is_null() && unsafe { variable.read_volatile() } >= IN_TURN;
    is_in_turn || HAS_POOL.load(Ordering::Relaxed)
}

/// The number of the last connection.
static LAST_CONNECTION: AtomicU64 = AtomicU64::new(0);

impl Client {
    /// A connection from this address, on this socket. `None` before the start.
    pub fn new(socket: c_int, address: &Address, protocol: CommandProtocol) -> Option<Self> {
        let classes = classes()?;
        if protocol == CommandProtocol::Postgres {
            // The process that will serve it is not forked yet. Its only thread is the session.
            let session = Session::new(address, true);
            let commands = postgres::pipeline::Connection::new(session)?;
            return Some(Self::of_thread(Box::new(commands), protocol));
        }
        if protocol == CommandProtocol::Mysql && !has_pool() {
            // The thread that greets the client is the session.
            let commands = mysql::pipeline::Connection::new(Session::new(address, true))?;
            return Some(Self::of_thread(Box::new(commands), protocol));
        }
        let mut session = ThreadSession::new(classes.session);
        let is_recorded = session.id() != 0;
        if is_recorded {
            session.set_processlist_id(LAST_CONNECTION.fetch_add(1, Ordering::Relaxed) + 1);
            session.run(|| thread::set_connection_type(address.connection_type()));
        }
        let place = Session::new(address, is_recorded);
        let commands: Box<dyn Protocol> = match protocol {
            CommandProtocol::Redis => Box::new(resp::pipeline::Commands::new(place, socket)),
            CommandProtocol::Http => Box::new(http::pipeline::Requests::new(place)),
            CommandProtocol::Mysql => Box::new(mysql::pipeline::Connection::new(place)?),
            CommandProtocol::Memcached => Box::new(memcache::pipeline::Commands::new(place)),
            // Handled above: its connections have no session here.
            CommandProtocol::Postgres => return None,
        };
        let mut client = Self {
            session: Some(session),
            thread: None,
            is_recorded,
            encryption: None,
            protocol,
            place: Place::Followed,
            commands,
        };
        client.in_session(|commands| commands.open());
        Some(client)
    }

    /// A connection whose session is a thread.
    fn of_thread(commands: Box<dyn Protocol>, protocol: CommandProtocol) -> Self {
        Self {
            session: None,
            thread: None,
            is_recorded: false,
            encryption: None,
            protocol,
            place: Place::Followed,
            commands,
        }
    }

    /// The calling thread serves the connection of a client of MySQL.
    fn serve(&mut self) {
        if self.session.is_some() {
            // It was another one's session before it was known that threads serve in turn.
            return leave_thread();
        }
        let own = thread::os_id();
        match &self.thread {
            Some((thread, _)) if *thread == own => {}
            None => {
                leave_thread();
                let service = Arc::<Service>::default();
                SERVICE.replace(ManuallyDrop::new(Some(Arc::clone(&service))));
                self.thread = Some((own, service));
                names::set_session(true);
                self.commands.repeat(true);
            }
            Some(_) => self.join_pool(),
        }
    }

    /// Another thread than before serves the connection: it gets a session of its own.
    #[cold]
    fn join_pool(&mut self) {
        let Some(classes) = classes() else { return };
        HAS_POOL.store(true, Ordering::Relaxed);
        let session = ThreadSession::new(classes.session);
        self.is_recorded = session.id() != 0;
        (self.session, self.thread) = (Some(session), None);
        let is_recorded = self.is_recorded;
        self.in_session(|commands| commands.repeat(is_recorded));
    }

    /// Calls `work` in the session. If it has no place, `work` is called all the same.
    #[inline]
    pub fn in_session<T>(&mut self, work: impl FnOnce(&mut dyn Protocol) -> T) -> T {
        let commands = &mut *self.commands;
        match &mut self.session {
            Some(session) if self.is_recorded => session.run(|| work(commands)),
            _ => work(commands),
        }
    }

    /// A call has moved bytes, which `moved` reads, and this wait ends with it.
    #[inline]
    pub fn read(&mut self, wait: Option<Wait>, moved: impl FnOnce(&mut Stream)) {
        let mut wait = wait;
        let was_served = self.thread.is_some();
        if self.protocol == CommandProtocol::Mysql && !self.commands.is_lost() {
            // The wait is that of the session in which it began.
            let wait = wait.take();
            self.in_session(|_| drop(wait));
            self.serve();
        }
        let mut place = self.place;
        self.in_session(|commands| {
            drop(wait);
            moved(&mut Stream {
                place: &mut place,
                commands,
            });
        });
        self.place = place;
        // It is a connection of another protocol, which another thread may serve and close.
        if !was_served && self.commands.is_lost() && self.thread.take().is_some() {
            leave_thread();
        }
    }

    /// Bytes were moved that were not read.
    pub fn miss(&mut self) {
        self.place = Place::Missed { has_sent: false };
    }

    /// Whether it may be left unread from here on, while nothing is recorded.
    pub fn may_miss(&self) -> bool {
        self.commands.may_miss()
    }

    /// The calling thread has read or written the socket. If it was the TLS library, all that the socket
    /// carries is encrypted from now on.
    #[inline]
    pub fn detect_encryption(&mut self, socket: c_int) {
        let Some(ssl) = tls::record(socket) else {
            return;
        };
        match &mut self.encryption {
            Some(encryption) => encryption.replace(ssl),
            None => {
                self.encryption = Some(Encryption::new(ssl));
                self.in_session(|commands| commands.encrypt());
            }
        }
    }

    pub fn is_encrypted(&self) -> bool {
        self.encryption.is_some()
    }

    /// What the socket carries, if this connection of the TLS library encrypts it.
    pub fn encryption_of(&self, ssl: usize) -> Option<&Encryption> {
        self.encryption
            .as_ref()
            .filter(|encryption| encryption.is_of(ssl))
    }

    fn lose_track(&mut self) {
        self.in_session(|commands| commands.lose_track());
    }

    /// See [`Protocol::key`].
    pub fn key(&self) -> u64 {
        self.commands.key()
    }

    /// Whether all commands that run may end without a reply.
    pub fn is_quiet(&self) -> bool {
        self.commands.is_quiet()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let is_of_thread = self.protocol == CommandProtocol::Mysql && self.session.is_none();
        match &self.thread {
            // MySQL closes the connection that it kills on the thread that kills.
            Some((thread, service)) if *thread != thread::os_id() => {
                service.end(self.commands.abandon());
            }
            None if is_of_thread => {}
            // Its commands were executed: the program closes the connection.
            _ => {
                self.lose_track();
                if self.thread.is_some() {
                    leave_thread();
                }
            }
        }
    }
}

/// A thread's service of a connection.
#[derive(Default)]
struct Service {
    /// Whether another thread has closed the connection.
    has_ended: AtomicBool,
    /// The statement that ran then.
    running: Mutex<Option<Abandoned>>,
}

/// A statement that its thread ends.
struct Abandoned(Statement);

// SAFETY: only the thread that has begun it uses it (`settle`). If that never comes to it, it is never dropped.
unsafe impl Send for Abandoned {}

thread_local! {
    /// The calling thread's service. Without a destructor, so that it can be used at any time in a thread's life.
    static SERVICE: RefCell<ManuallyDrop<Option<Arc<Service>>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

impl Service {
    /// Another thread has closed the connection while this statement ran.
    fn end(&self, running: Option<Statement>) {
        let mut cell = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *cell = running.map(Abandoned);
        self.has_ended.store(true, Ordering::Release);
    }
}

/// If another thread has closed the connection that the calling thread served, it is no session any more.
#[inline]
pub fn settle() {
    if is_session() && has_ended() {
        leave_thread();
    }
}

fn has_ended() -> bool {
    SERVICE.with_borrow(|service| {
        let service = service.as_ref();
        service.is_some_and(|service| service.has_ended.load(Ordering::Acquire))
    })
}

/// The calling thread is no session any more.
fn leave_thread() {
    if !is_session() {
        return;
    }
    let service = ManuallyDrop::into_inner(SERVICE.replace(ManuallyDrop::new(None)));
    if let Some(service) = service {
        let mut running = service
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // It does not count: its result was not sent.
        if let Some(Abandoned(statement)) = running.take() {
            statement.discard();
        }
    }
    thread::set_command(State::Sleep);
    thread::set_account("", "");
    thread::set_db("");
    thread::set_attributes("");
    thread::set_processlist_id(0);
    thread::set_connection_type(ConnectionType::Background);
    names::set_session(false);
}
