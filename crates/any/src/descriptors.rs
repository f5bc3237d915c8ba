//! What is open under each file descriptor.
//!
//! A descriptor that the program opened by a call that is not observed has no state and no entry, and its
//! operations are not recorded. One that it opened while nothing was recorded has a state, and gets its entry
//! at the first operation that is recorded (docs/anyserver-internals.md).

use std::alloc::Layout;
use std::ffi::c_int;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::settings::Active;
use engine::wait::Wait;
use engine::{Kind, Operation, file, socket};

use crate::backend;
use crate::calls::{is_observing, run_unobserved};
use crate::client::Client;
use crate::turn;
use crate::upstream::Upstream;

/// Descriptors from this number on are not recorded.
pub const MAX_DESCRIPTORS: usize = 65_536;

/// What is open.
pub enum Object {
    /// A file.
    File(file::Instance),
    /// A socket; a connection of a client has a session, if its protocol is read.
    Socket(socket::Instance, Option<Box<Client>>),
    /// A connection to an upstream server.
    Upstream(socket::Instance, Upstream),
}

/// An entry of the table. It is created when its number is first used and lives as long as the process, so
/// that one thread can close a descriptor while another one reads it.
#[derive(Default)]
pub struct Descriptor {
    object: Mutex<Option<Object>>,
}

/// The descriptors in a chunk.
const CHUNK: usize = 1024;

/// A part of the table. Zeroes are an empty one. It is created when one of its numbers is first used and lives
/// as long as the process: most programs use few numbers, and some lock their memory.
struct Chunk {
    entries: [AtomicPtr<Descriptor>; CHUNK],
    /// What each descriptor is, for calls that need nothing else.
    states: [AtomicU8; CHUNK],
    /// The number of each file's class, 0 = unknown.
    file_classes: [AtomicU16; CHUNK],
}

static TABLE: [AtomicPtr<Chunk>; MAX_DESCRIPTORS / CHUNK] =
    [const { AtomicPtr::new(ptr::null_mut()) }; MAX_DESCRIPTORS / CHUNK];

/// A descriptor's chunk, if it was created, and its place there.
#[inline(always)]
fn place(descriptor: c_int) -> Option<(&'static Chunk, usize)> {
    let number = usize::try_from(descriptor).ok()?;
    let chunk = TABLE.get(number / CHUNK)?.load(Ordering::Acquire);
    // SAFETY: null, or made by `create_chunk` and never freed.
    unsafe { chunk.as_ref() }.map(|chunk| (chunk, number % CHUNK))
}

/// The same, and creates the chunk if necessary. `None`: the number is too high.
fn create_place(descriptor: c_int) -> Option<(&'static Chunk, usize)> {
    if place(descriptor).is_none() {
        let number = usize::try_from(descriptor).ok()?;
        create_chunk(TABLE.get(number / CHUNK)?);
    }
    place(descriptor)
}

#[cold]
fn create_chunk(place: &AtomicPtr<Chunk>) {
    // Also within Tare's code, where `observe` would do nothing.
    run_unobserved(|| {
        let layout = Layout::new::<Chunk>();
        // SAFETY: the layout has a size; zeroes are a chunk.
        let new: *mut Chunk = unsafe { std::alloc::alloc_zeroed(layout) }.cast();
        let order = Ordering::AcqRel;
        let is_lost = place
            .compare_exchange(ptr::null_mut(), new, order, Ordering::Acquire)
            .is_err();
        if is_lost && !new.is_null() {
            // SAFETY: just created, and another thread was first, so it is nobody's.
            unsafe { std::alloc::dealloc(new.cast(), layout) };
        }
    });
}

/// What a descriptor is: bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State(u8);

impl State {
    /// Nothing that is recorded.
    pub const NONE: Self = Self(0);
    /// A file.
    pub const FILE: Self = Self(1);
    /// A socket whose protocol is not read.
    pub const SOCKET: Self = Self(1 << 1);
    /// A client's connection.
    pub const CLIENT: Self = Self(1 << 2);
    /// A client's connection of which something was not read.
    pub const MISSED: Self = Self(1 << 3);
    /// Opened while nothing was recorded: it has no entry.
    pub const UNSEEN: Self = Self(1 << 4);
    /// A socket that listens.
    const LISTENER: Self = Self(1 << 5);
    /// A socket that is a connection to an upstream server.
    const UPSTREAM: Self = Self(1 << 6);

    pub const UNSEEN_FILE: Self = Self::FILE.with(Self::UNSEEN);
    pub const UNSEEN_LISTENER: Self = Self::SOCKET.with(Self::UNSEEN).with(Self::LISTENER);
    /// A connection that was accepted.
    pub const UNSEEN_CLIENT: Self = Self::CLIENT.with(Self::UNSEEN);
    /// A connection to another program.
    pub const UNSEEN_OUTGOING: Self = Self::SOCKET.with(Self::UNSEEN);

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has one of these bits.
    #[inline(always)]
    pub const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }

    /// Whether it has an entry.
    pub fn has_entry(self) -> bool {
        self != Self::NONE && !self.has(Self::UNSEEN)
    }

    /// Whether a call on it has nothing to record and nothing to read while these kinds are active. A client's
    /// connection is read until it may be left ([`Client::may_miss`]), whatever is off.
    #[inline(always)]
    pub fn is_idle(self, active: Active) -> bool {
        if active.is_none() {
            return !self.has(Self::CLIENT) || self.has(Self::MISSED.with(Self::UNSEEN));
        }
        let kinds = match self {
            Self::NONE => return true,
            _ if self.has(Self::CLIENT) => return false,
            _ if self.has(Self::FILE) => FILES,
            // It may be a connection to an upstream server.
            _ if self.has(Self::UPSTREAM.with(Self::UNSEEN)) => SOCKETS.or(STAGES),
            _ => SOCKETS,
        };
        !active.meets(kinds)
    }
}

/// The kinds that record operations on files.
pub const FILES: Active = Active::of(Kind::File).or(Active::MOMENTS);
/// The kinds that record operations on sockets.
pub const SOCKETS: Active = Active::of(Kind::Socket).or(Active::MOMENTS);

/// The kinds that record what commands do.
const STAGES: Active = Active::of(Kind::Stage);

/// What a descriptor is.
#[inline(always)]
pub fn state(descriptor: c_int) -> State {
    place(descriptor).map_or(State::NONE, |(chunk, at)| {
        State(chunk.states[at].load(Ordering::Relaxed))
    })
}

fn set_state(descriptor: c_int, state: State) {
    let place = match state {
        State::NONE => place(descriptor),
        _ => create_place(descriptor),
    };
    if let Some((chunk, at)) = place {
        chunk.states[at].store(state.0, Ordering::Relaxed);
    }
}

/// The program has opened a descriptor while nothing of its kind was recorded. `state`: one that is unseen.
#[inline]
pub fn open_unseen(descriptor: c_int, state: State) {
    if descriptor >= 0 && is_claimed() {
        set_state(descriptor, state);
        if state.has(State::FILE) {
            set_file_class(descriptor, 0);
        }
    }
}

/// Stores the number of a file's class.
pub fn set_file_class(descriptor: c_int, class: u16) {
    if let Some((chunk, at)) = place(descriptor).filter(|_| is_claimed()) {
        chunk.file_classes[at].store(class, Ordering::Relaxed);
    }
}

/// The number of the class of a file, 0 = unknown.
#[inline(always)]
pub fn file_class(descriptor: c_int) -> u16 {
    place(descriptor).map_or(0, |(chunk, at)| {
        chunk.file_classes[at].load(Ordering::Relaxed)
    })
}

/// A call moves bytes of a client's connection that are not read.
#[inline(always)]
pub fn mark_missed(descriptor: c_int, state: State) {
    if state.has(State::CLIENT) && !state.has(State::MISSED) && is_claimed() {
        set_state(descriptor, state.with(State::MISSED));
    }
}

/// Removes the mark of [`mark_missed`]. `state`: with it.
pub fn unmark_missed(descriptor: c_int, state: State) {
    if is_claimed() {
        set_state(descriptor, State(state.0 & !State::MISSED.0));
    }
}

/// The process whose descriptors these are.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// The descriptor of Tare's own, by which other processes find the segment; -1 = there is none.
static OWN: AtomicI32 = AtomicI32::new(-1);

/// From now on the table is that of the calling process, and then of a child in which Tare continues. `own`:
/// the descriptor of Tare's own.
pub fn claim(own: c_int) {
    OWN.store(own, Ordering::Relaxed);
    extern "C" fn set_process() {
        // SAFETY: getpid has no preconditions.
        PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
    }
    set_process();
    // SAFETY: the handler stores a number.
    unsafe { libc::pthread_atfork(None, None, Some(set_process)) };
}

/// Whether another process may use this memory. Where nobody would know, it may from the start.
static IS_SHARED: AtomicBool = AtomicBool::new(!cfg!(target_arch = "x86_64"));

/// From now on another process may use this memory: a child of vfork or clone.
#[cfg(target_arch = "x86_64")]
pub fn share_with_child() {
    IS_SHARED.store(true, Ordering::Relaxed);
}

/// Whether the table is the calling process's. A child of vfork has descriptors of its own, but its parent's
/// memory. Only then is a system call needed.
fn is_claimed() -> bool {
    if !IS_SHARED.load(Ordering::Relaxed) {
        return true;
    }
    // SAFETY: getpid has no preconditions.
    PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

/// Whether a descriptor is Tare's own, and the program closes it because it closes all.
#[inline(always)]
pub fn is_own(descriptor: c_int) -> bool {
    descriptor == OWN.load(Ordering::Relaxed) && is_observing()
}

/// Tare's own descriptor, if it is one of these and the program closes it.
pub fn own_among(numbers: RangeInclusive<u32>) -> Option<u32> {
    let own = OWN.load(Ordering::Relaxed);
    let number = u32::try_from(own).ok().filter(|_| is_own(own))?;
    numbers.contains(&number).then_some(number)
}

/// The program has replaced a descriptor.
pub fn replace(descriptor: c_int) {
    if descriptor == OWN.load(Ordering::Relaxed) && is_claimed() {
        OWN.store(-1, Ordering::Relaxed);
    }
}

/// A read or a write, or another operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read from a file, receive from a socket.
    In,
    /// Write to a file, send to a socket.
    Out,
    /// Another operation.
    Other(Operation),
}

impl Access {
    /// Whether it moves bytes.
    #[inline(always)]
    pub fn moves_bytes(self) -> bool {
        !matches!(self, Self::Other(_))
    }

    pub fn of_file(self) -> Operation {
        match self {
            Self::In => Operation::Read,
            Self::Out => Operation::Write,
            Self::Other(operation) => operation,
        }
    }

    fn of_socket(self) -> Operation {
        match self {
            Self::In => Operation::Recv,
            Self::Out => Operation::Send,
            Self::Other(operation) => operation,
        }
    }
}

/// The entry of a descriptor, if one was ever created.
#[inline(always)]
pub fn get(descriptor: c_int) -> Option<&'static Descriptor> {
    let (chunk, at) = place(descriptor)?;
    // SAFETY: null, or an entry of `get_or_create`, which is never freed.
    unsafe { chunk.entries[at].load(Ordering::Acquire).as_ref() }
}

/// The entry of a descriptor, which is created if necessary. `None`: the number is too high.
fn get_or_create(descriptor: c_int) -> Option<&'static Descriptor> {
    let (chunk, at) = create_place(descriptor)?;
    let place = &chunk.entries[at];
    if place.load(Ordering::Acquire).is_null() {
        let new = Box::into_raw(Box::<Descriptor>::default());
        let order = Ordering::AcqRel;
        if place
            .compare_exchange(ptr::null_mut(), new, order, Ordering::Acquire)
            .is_err()
        {
            // SAFETY: just created, and another thread was first, so it is nobody's.
            drop(unsafe { Box::from_raw(new) });
        }
    }
    get(descriptor)
}

/// Records what was opened under a descriptor. Returns what was recorded there before.
pub fn put(descriptor: c_int, object: Object) -> Option<Object> {
    if !is_claimed() {
        return None;
    }
    let state = match &object {
        Object::File(_) => State::FILE,
        Object::Socket(_, None) => State::SOCKET,
        Object::Upstream(..) => State::SOCKET.with(State::UPSTREAM),
        Object::Socket(_, Some(_)) => State::CLIENT,
    };
    let before = get_or_create(descriptor)?.lock().replace(object);
    // It may have that of the file which had the number before.
    set_file_class(descriptor, 0);
    set_state(descriptor, state);
    before
}

/// Removes what is recorded under a descriptor.
pub fn take(descriptor: c_int) -> Option<Object> {
    if !is_claimed() {
        return None;
    }
    let is_empty = !state(descriptor).has_entry();
    set_state(descriptor, State::NONE);
    get(descriptor).filter(|_| !is_empty)?.lock().take()
}

impl Descriptor {
    /// Locks what is open.
    pub fn lock(&self) -> MutexGuard<'_, Option<Object>> {
        self.object.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Object {
    /// Begins an operation, if it is recorded. That of a client's connection belongs to the client's session.
    pub fn wait(&mut self, access: Access, active: Active) -> Option<Wait> {
        if turn::has_stages() && matches!(access, Access::Out | Access::Other(Operation::Connect)) {
            self.begin_send();
        }
        let wait = match self {
            Self::File(_) if !active.meets(FILES) => return None,
            Self::Socket(..) | Self::Upstream(..) if !active.meets(SOCKETS) => return None,
            Self::File(file) => match backend::file_event() {
                Some(class) => file.wait_as(class, access.of_file()),
                None => file.wait(access.of_file()),
            },
            Self::Socket(socket, None) | Self::Upstream(socket, _) => {
                socket.wait(access.of_socket())
            }
            Self::Socket(socket, Some(client)) => {
                client.in_session(|_| socket.wait(access.of_socket()))
            }
        };
        Some(wait).filter(Wait::is_running)
    }

    /// The program connects, or is about to write, and stages are recorded. What it writes to a file or a client is no
    /// part of a command's execution: it is a log of changes, or a reply.
    #[cold]
    #[inline(never)]
    fn begin_send(&mut self) {
        match self {
            Self::File(_) => turn::end_execution(),
            Self::Socket(_, None) => {}
            Self::Socket(_, Some(client)) => {
                turn::end_execution();
                client.in_session(|commands| commands.begin_send());
            }
            Self::Upstream(_, upstream) => upstream.send(),
        }
    }

    /// The client whose connection it is, if its protocol is read.
    pub fn client(&mut self) -> Option<&mut Client> {
        match self {
            Self::Socket(_, client) => client.as_deref_mut(),
            Self::File(_) | Self::Upstream(..) => None,
        }
    }

    /// The program has received bytes, unless it is no connection to an upstream server.
    pub fn receive_upstream(&mut self) {
        if let Self::Upstream(_, upstream) = self {
            upstream.receive();
        }
    }
}
