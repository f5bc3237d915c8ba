//! Making connections.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use engine::{Operation, periods, socket};
use libc::{sockaddr, sockaddr_storage, sockaddr_un, socklen_t};
use tare_image::CommandProtocol;

use super::open::{open_other, open_unseen};
use super::{Running, hooks};
use crate::calls::observe;
use crate::client::Client;
use crate::descriptors::{self, Access, Object, State};
use crate::names::classes;
use crate::session::{Address, ip_text};
use crate::start;
use crate::upstream::Upstream;

/// Reads an address by a function such as getsockname; one of no family if there is none.
fn read_storage(
    descriptor: c_int,
    function: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int,
) -> sockaddr_storage {
    let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
    let mut length = size_of::<sockaddr_storage>() as socklen_t;
    // SAFETY: the storage is as large as `length` says, and zeroes are an address of no family.
    unsafe {
        function(descriptor, storage.as_mut_ptr().cast(), &mut length);
        storage.assume_init()
    }
}

fn read_address(
    descriptor: c_int,
    function: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int,
) -> Address {
    to_address(&read_storage(descriptor, function))
}

/// An address, as the program passes it.
///
/// # Safety
/// NULL, or readable for as many bytes.
unsafe fn copy_address(address: *const sockaddr, length: socklen_t) -> sockaddr_storage {
    let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
    if !address.is_null() {
        let length = (length as usize).min(size_of::<sockaddr_storage>());
        // SAFETY: the caller's promise, and the storage has space for them.
        unsafe {
            storage
                .as_mut_ptr()
                .cast::<u8>()
                .copy_from_nonoverlapping(address.cast(), length);
        }
    }
    // SAFETY: zeroes, and bytes of an address.
    unsafe { storage.assume_init() }
}

fn to_address(storage: &sockaddr_storage) -> Address {
    let address = ptr::from_ref(storage).cast::<u8>();
    match c_int::from(storage.ss_family) {
        libc::AF_UNIX => Address::Unix,
        libc::AF_INET => {
            // SAFETY: the storage is larger and its family is this one.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Address::Ip(ip.into(), u16::from_be(v4.sin_port))
        }
        libc::AF_INET6 => {
            // SAFETY: the storage is larger and its family is this one.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Address::Ip(ip.to_canonical(), u16::from_be(v6.sin6_port))
        }
        _ => Address::Other,
    }
}

/// The name of an upstream server: its address and port, or its Unix socket's path.
fn upstream_name(address: &Address, storage: &sockaddr_storage) -> Option<String> {
    match address {
        Address::Ip(IpAddr::V6(ip), port) => Some(format!("[{ip}]:{port}")),
        Address::Ip(ip, port) => Some(format!("{ip}:{port}")),
        Address::Unix => {
            // SAFETY: the storage is larger and its family is this one.
            let unix = unsafe {
                ptr::from_ref(storage)
                    .cast::<sockaddr_un>()
                    .read_unaligned()
            };
            // A socket without a path has a name that begins with a zero.
            let path = unix.sun_path.map(|byte| byte as u8);
            let end = path
                .iter()
                .position(|&byte| byte == 0)
                .filter(|&end| end != 0)?;
            Some(format!("unix:{}", String::from_utf8_lossy(&path[..end])))
        }
        Address::Other => None,
    }
}

/// Records a socket that listens.
pub(super) fn record_listener(descriptor: c_int) {
    let Some(classes) = classes() else { return };
    let address = read_address(descriptor, libc::getsockname);
    let class = match address {
        Address::Unix => classes.unix_listener,
        _ => classes.tcp_listener,
    };
    put(descriptor, class, &address, None);
}

fn new_instance(
    descriptor: c_int,
    class: &'static engine::Class,
    address: &Address,
) -> socket::Instance {
    let mut instance = socket::Instance::new(class, descriptor);
    if let Address::Ip(ip, port) = address {
        instance.peer(&ip_text(*ip), *port);
    }
    instance
}

fn put(
    descriptor: c_int,
    class: &'static engine::Class,
    address: &Address,
    mut client: Option<Box<Client>>,
) {
    let instance = new_instance(descriptor, class, address);
    if let Some(client) = &mut client {
        client.in_session(|_| instance.own());
    }
    drop(descriptors::put(
        descriptor,
        Object::Socket(instance, client),
    ));
}

/// Records a connection that was accepted.
pub(super) fn record_client(descriptor: c_int) {
    let Some(classes) = classes() else { return };
    let address = read_address(descriptor, libc::getpeername);
    let client = start::protocol().and_then(|protocol| Client::new(descriptor, &address, protocol));
    put(descriptor, classes.client, &address, client.map(Box::new));
}

/// Records a connection to another program.
pub(super) fn record_outgoing(descriptor: c_int) {
    record_connection(descriptor, &read_storage(descriptor, libc::getpeername));
}

/// Runs a call that accepts a connection.
#[inline(always)]
fn accept_with(listener: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let running = Running::begin(listener, Access::Other(Operation::Accept));
    let descriptor = call();
    running.end(None, |_| {});
    if descriptor >= 0 {
        match periods::active_kinds().is_none() && start::may_accept_unseen() {
            true => open_unseen(descriptor, State::UNSEEN_CLIENT),
            false => _ = observe(|| record_client(descriptor)),
        }
    }
    descriptor
}

/// Runs a call that opens a connection to another program.
#[inline(always)]
fn connect_with(
    descriptor: c_int,
    (address, length): (*const sockaddr, socklen_t),
    call: impl FnOnce() -> c_int,
) -> c_int {
    match periods::active_kinds().is_none() {
        true => open_unseen(descriptor, State::UNSEEN_OUTGOING),
        false => {
            observe(|| {
                // SAFETY: rule 2 (NULL, or an address of this length).
                let storage = unsafe { copy_address(address, length) };
                record_connection(descriptor, &storage);
            });
        }
    }
    let running = Running::begin(descriptor, Access::Other(Operation::Connect));
    let result = call();
    running.end(None, |_| {});
    result
}

/// Records a connection to another program.
fn record_connection(descriptor: c_int, storage: &sockaddr_storage) {
    let Some(classes) = classes() else { return };
    let address = to_address(storage);
    let upstream = (start::protocol() == Some(CommandProtocol::Http) && is_stream(descriptor))
        .then(|| upstream_name(&address, storage))
        .flatten();
    match upstream {
        None => put(descriptor, classes.outgoing, &address, None),
        Some(name) => {
            let instance = new_instance(descriptor, classes.upstream(&name), &address);
            let object = Object::Upstream(instance, Upstream::default());
            drop(descriptors::put(descriptor, object));
        }
    }
}

/// Whether a socket is a stream: others are those of DNS and of logs.
fn is_stream(descriptor: c_int) -> bool {
    let mut kind: c_int = 0;
    let mut length = size_of::<c_int>() as socklen_t;
    // SAFETY: `kind` is as large as `length` says.
    let result = unsafe {
        libc::getsockopt(
            descriptor,
            libc::SOL_SOCKET,
            libc::SO_TYPE,
            (&raw mut kind).cast(),
            &mut length,
        )
    };
    result == 0 && kind == libc::SOCK_STREAM
}

hooks! {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int { |call| open_other(call) }
    fn listen(fd: c_int, backlog: c_int) -> c_int {
        |call| {
            let result = call();
            if result == 0 {
                match periods::active_kinds().is_none() {
                    true => open_unseen(fd, State::UNSEEN_LISTENER),
                    false => _ = observe(|| record_listener(fd)),
                }
            }
            result
        }
    }
    fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
        |call| accept_with(fd, call)
    }
    fn accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
        |call| accept_with(fd, call)
    }
    fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
        |call| connect_with(fd, (address, length), call)
    }
}
