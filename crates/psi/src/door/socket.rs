//! Sockets.

use std::ffi::{c_char, c_int, c_void};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::active::Waiting;
use engine::host_lock;
use engine::socket::Instance;
use engine::wait::Wait;
use engine::{Kind, Operation};

use super::exchange::{NONE, catch_panic, end_wait, give, lend_wait, source, take_back};
use super::keys;
use super::level;

/// What the server stores for a socket.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Socket {
    /// The byte that newer servers read before they call: see [`super::flagged`].
    is_enabled: u8,
    /// The word of a wait for a socket of its class at the level `active`.
    word: u64,
    instance: Instance,
    /// Whether its thread waits for the client, which counts as idle time, not as a wait.
    is_idle: AtomicBool,
}

const _: () = assert!(std::mem::offset_of!(Socket, is_enabled) == 0);
const _: () = assert!(size_of::<Wait>() <= 72);

/// The interface's operations, by number.
const OPERATIONS: [Operation; 15] = [
    Operation::Create,
    Operation::Connect,
    Operation::Bind,
    Operation::Close,
    Operation::Send,
    Operation::Recv,
    Operation::Send,
    Operation::Recv,
    Operation::Send,
    Operation::Recv,
    Operation::Seek,
    Operation::SetOption,
    Operation::Stat,
    Operation::Shutdown,
    Operation::Select,
];

impl Socket {
    /// The word of a wait at the level `active`, 0 = unknown.
    #[inline(always)]
    pub(super) fn word_of(&self, operation: c_int) -> u64 {
        match (OPERATIONS.get(operation as usize), self.instance.number()) {
            (Some(&operation), id @ 1..) => {
                Waiting::with_operation(self.word | u64::from(id), operation as u8)
            }
            _ => 0,
        }
    }
}

/// The address and port of the other end.
///
/// # Safety
/// `address` is NULL or readable for `length` bytes.
unsafe fn peer(address: *const libc::sockaddr, length: libc::socklen_t) -> Option<(String, u16)> {
    let length = length as usize;
    if address.is_null() || length < size_of::<libc::sa_family_t>() {
        return None;
    }
    // SAFETY: rule 8 (readable for `length` bytes); read as bytes, whatever its alignment.
    let family = unsafe { (&raw const (*address).sa_family).read_unaligned() };
    match c_int::from(family) {
        libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
            // SAFETY: as above, of this length.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some((ip.to_string(), u16::from_be(v4.sin_port)))
        }
        libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: as above, of this length.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Some((ip.to_string(), u16::from_be(v6.sin6_port)))
        }
        _ => None,
    }
}

pub unsafe extern "C" fn init_socket(
    key: u32,
    descriptor: *const c_int,
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) -> *mut c_void {
    catch_panic(NONE, || {
        let Some(instrument) = keys::of_kind(key, Kind::Socket) else {
            return NONE;
        };
        // SAFETY: rule 6 (NULL, or readable).
        let descriptor = unsafe { descriptor.as_ref() }.copied().unwrap_or(-1);
        let mut instance = Instance::new(instrument.class, descriptor);
        // SAFETY: rule 5 (an address of this length).
        if let Some((ip, port)) = unsafe { peer(address, length) } {
            instance.peer(&ip, port);
        }
        give(Socket {
            is_enabled: 1,
            word: Waiting::numbered(host_lock::class_number(instrument.class), 0, 0),
            instance,
            is_idle: AtomicBool::new(false),
        })
    })
}

pub unsafe extern "C" fn destroy_socket(socket: *mut c_void) {
    // SAFETY: rule 1 (the object is destroyed here).
    drop(catch_panic(None, || unsafe { take_back::<Socket>(socket) }));
}

unsafe fn socket_at<'a>(socket: *mut c_void) -> Option<&'a mut Socket> {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    unsafe { socket.cast::<Socket>().as_mut() }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn start_socket_wait(
    state: *mut c_void,
    socket: *mut c_void,
    operation: c_int,
    _bytes: usize,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    let Some(socket) = (unsafe { socket.cast::<Socket>().as_ref() }) else {
        return NONE;
    };
    if socket.is_idle.load(Ordering::Relaxed) {
        return NONE;
    }
    // SAFETY: rule 8 (the arguments are passed on).
    unsafe { begin(state, socket, operation, file, line) }
}

/// # Safety
/// As [`start_socket_wait`].
#[inline(always)]
pub(super) unsafe fn begin(
    state: *mut c_void,
    socket: &Socket,
    operation: c_int,
    file: *const c_char,
    line: u32,
) -> *mut c_void {
    let Some(&operation) = OPERATIONS.get(operation as usize) else {
        return NONE;
    };
    // SAFETY: rules 3 and 4 (80 bytes, and `file` is a C string).
    unsafe {
        lend_wait(state, || {
            socket.instance.wait_at(operation, source(file, line))
        })
    }
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn end_socket_wait(locker: *mut c_void, bytes: usize) {
    // SAFETY: rule 2 (the event ends here).
    if locker.is_null() || unsafe { level::try_end(locker) } {
        return;
    }
    let learn = |wait: &mut Wait| {
        if bytes != usize::MAX && bytes != 0 {
            wait.bytes(bytes as u64);
        }
    };
    // SAFETY: rule 2 (the event ends here).
    unsafe { end_wait(locker, learn) };
}

#[unsafe(link_section = "tare_hot")]
pub unsafe extern "C" fn set_socket_state(socket: *mut c_void, state: c_int) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(socket) = unsafe { socket.cast::<Socket>().as_ref() } {
        let is_idle = state == 1;
        socket.is_idle.store(is_idle, Ordering::Relaxed);
        socket.instance.idle(is_idle);
    }
}

pub unsafe extern "C" fn set_socket_info(
    socket: *mut c_void,
    _descriptor: *const c_int,
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) {
    catch_panic((), || {
        // SAFETY: rules 1 and 5 (the socket is not destroyed, and its address readable).
        let (socket, peer) = unsafe { (socket_at(socket), peer(address, length)) };
        if let (Some(socket), Some((ip, port))) = (socket, peer) {
            socket.instance.peer(&ip, port);
        }
    });
}

pub unsafe extern "C" fn set_socket_thread_owner(socket: *mut c_void) {
    // SAFETY: rule 1 (NULL, or an object that is not destroyed).
    if let Some(socket) = unsafe { socket.cast::<Socket>().as_ref() } {
        socket.instance.own();
    }
}
